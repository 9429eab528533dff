"""Descriptions of the schema made readable: the links that the schema's own generator mangled."""

from __future__ import annotations

import re
from collections.abc import Collection

_LINK = re.compile(r"\{@link\s+([^{}]*?)\s*\}")


def repair(text: str, definitions: Collection[str]) -> str:
    """`{@link CallToolRequesttools/call}` -> `tools/call` in backticks; the label if there is one, else the name.

    The separator between name and label is lost in the schema file, so the longest definition name wins.
    """

    def show(match: re.Match[str]) -> str:
        target = match.group(1)
        if "|" in target:
            return _code(target.split("|", 1)[1].strip())
        names = [name for name in definitions if target.startswith(name)]
        name = max(names, key=len, default="")
        label = target[len(name) :].strip()
        if label.startswith("."):
            return _code(target)
        return _code(label or target)

    return _LINK.sub(show, text).strip()


def _code(text: str) -> str:
    return text if "`" in text else f"`{text}`"
