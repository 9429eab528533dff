"""Following the cursors of a list that comes in pages."""

from __future__ import annotations

from typing import Final

from .failures import PaginationLoop

PAGE_LIMIT: Final = 10_000
"""How many pages a list may have."""


class Pages:
    """Where a walk through the pages of a list stands. An empty string is a cursor like any other; None is the end."""

    __slots__ = ("_seen", "cursor", "more")

    def __init__(self) -> None:
        self.cursor: str | None = None
        self.more = True
        self._seen: set[str] = set()

    def advance(self, next_cursor: str | None) -> None:
        """Go to the next page. Raises PaginationLoop if it was visited before, or if there is no end to them."""
        self.cursor = next_cursor
        if next_cursor is None:
            self.more = False
            return
        if next_cursor in self._seen:
            raise PaginationLoop(f"the server's cursors lead in a circle: {next_cursor!r} came twice")
        self._seen.add(next_cursor)
        if len(self._seen) >= PAGE_LIMIT:
            raise PaginationLoop(f"the server's list does not end within {PAGE_LIMIT} pages")
