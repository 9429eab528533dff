"""The one exception that a user's mistake raises; the command line prints it as one message and exits 1."""

from __future__ import annotations


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
