"""What goes wrong when a value is read."""

from __future__ import annotations

from collections.abc import Iterable

from .kinds import quoted


class DecodeError(ValueError):
    """A value is not what its definition says.

    `definition` names what was being decoded, `path` leads from there to the spot (wire names and list indices), and
    `reason` says what is wrong with it. As text: `CallToolRequest: params.arguments: expected an object, got an array`.
    """

    definition: str
    path: tuple[str | int, ...]
    reason: str

    def __init__(self, definition: str, path: tuple[str | int, ...], reason: str) -> None:
        super().__init__(definition, path, reason)
        self.definition = definition
        self.path = path
        self.reason = reason

    def __str__(self) -> str:
        return ": ".join(part for part in (self.definition, path_text(self.path), self.reason) if part)


def path_text(path: Iterable[str | int]) -> str:
    """A path as a developer would write it: `content[1].resource._meta["com.example/key"]`."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        elif step.isidentifier():
            text += f".{quoted(step)[1:-1]}" if text else quoted(step)[1:-1]
        else:
            text += f"[{quoted(step)}]"
    return text
