"""Capability objects on the wire: asking, building, comparing. A path names one: `tools`, `elicitation.url`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from .failures import missing_capability
from .plain import an_object


def has(capabilities: dict[str, Any], path: str) -> bool:
    """Whether these capabilities include the one at `path`. Present means supported, save for switches that are off."""
    node: object = capabilities
    for step in _steps(path):
        inner = an_object(node)
        if inner is None:
            return False
        if step not in inner:
            # An elicitation capability that names no mode means forms.
            return path == "elicitation.form" and "url" not in inner and "elicitation" in capabilities
        node = inner[step]
    return node is not False and node is not None


def require(capabilities: dict[str, Any], *paths: str) -> None:
    """Raise the McpError that names everything missing, unless the client declared all of it."""
    missing = [path for path in paths if not has(capabilities, path)]
    if missing:
        raise missing_capability(from_paths(missing))


def from_paths(paths: Iterable[str]) -> dict[str, Any]:
    """The capabilities object that holds these paths, with empty objects at their ends."""
    root: dict[str, Any] = {}
    for path in paths:
        *parents, last = _steps(path)
        node = root
        for step in parents:
            node = node.setdefault(step, {})
        node.setdefault(last, {})
    return root


def switch_on(capabilities: dict[str, Any], owner: object, switches: Mapping[str, dict[str, Any]]) -> None:
    """Add what the owner's attributes switch on. Details go where their family is: they mean nothing without it."""
    for attribute, addition in switches.items():
        if getattr(owner, attribute, False):
            for family, value in addition.items():
                if not value:
                    capabilities.setdefault(family, value)
                elif family in capabilities:
                    capabilities[family] = {**capabilities[family], **value}


def needed_for(method: str, params: Mapping[str, Any]) -> tuple[str, ...]:
    """What a client must have declared before a server may ask it this."""
    match method:
        case "elicitation/create":
            return ("elicitation.url",) if params.get("mode") == "url" else ("elicitation.form",)
        case "sampling/createMessage":
            tools = "tools" in params or "toolChoice" in params
            return ("sampling", "sampling.tools") if tools else ("sampling",)
        case "roots/list":
            return ("roots",)
        case _:
            return ()


def _steps(path: str) -> list[str]:
    first, dot, rest = path.partition(".")
    if dot and first in ("extensions", "experimental"):
        return [first, rest]  # their keys have dots of their own
    return path.split(".")
