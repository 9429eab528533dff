"""The one exception that a user's mistake raises; the command line prints it as one message and exits 1."""

from __future__ import annotations

import json
from typing import Any


class BindgenError(Exception):
    """A bad input: where it is, what is wrong with it, and what would settle it.

    `where` is a file, or a file and a JSON pointer joined by `#`. `fix` is a sentence or an overlay line.
    """

    def __init__(self, where: str, reason: str, fix: str = "") -> None:
        super().__init__(where, reason, fix)
        self.where = where
        self.reason = reason
        self.fix = fix

    def __str__(self) -> str:
        text = f"{self.where}: {self.reason}"
        return f"{text}\n  to settle it: {self.fix}" if self.fix else text


class StaleEntry(BindgenError):
    """An overlay entry that matches nothing: `entry` of `section`."""

    def __init__(self, file: str, section: str, entry: str, reason: str) -> None:
        super().__init__(f"{file}#{section}", f"{entry}: {reason}", f"drop the entry {entry!r} from {section!r}")
        self.section = section
        self.entry = entry
        self.why = reason


class Unranked(BindgenError):
    """A union at `site` with arms that nothing tells apart; `order` is the proposed ranking."""

    def __init__(self, file: str, site: str, order: tuple[str, ...]) -> None:
        entry = json.dumps({site: {"order": order, "reason": "…"}}, ensure_ascii=False)
        reason = f"nothing tells {', '.join(sorted(order))} apart in the union {site}"
        super().__init__(f"{file}#unions", reason, f"rank them in unions: {entry}")
        self.site = site
        self.order = order


class RecursiveAlias(BindgenError):
    """A name for a type that contains itself without an object of its own between: `pointer` is where it stands."""

    def __init__(self, file: str, overlay: str, pointer: str, old: Any) -> None:
        row: dict[str, Any] = {"pointer": pointer, "old": old, "new": {}, "reason": "…"}
        entry = json.dumps(row, ensure_ascii=False)
        fix = f"if it is any JSON value, add to corrections in {overlay}: {entry}"
        super().__init__(f"{file}#{pointer}", "a type that contains itself", fix)
        self.pointer = pointer
        self.old = old
