"""Bytes to lines: the framing of stdio, without any IO."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

MESSAGE_LIMIT: Final = 64 * 1024 * 1024
"""How long a message may be, in bytes, unless a transport is told otherwise."""

_HEAD: Final = 512
_BOM: Final = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class TooLong:
    """A line beyond the limit, known by its beginning only; the rest is skipped."""

    head: bytes


class LineSplitter:
    """Cuts a byte stream into messages.

    Lines end at the byte 0x0A and nowhere else. A CR before it, a byte order mark and blank lines are dropped; whatever
    else a line holds is for others to judge. Partial lines wait for their rest.
    """

    __slots__ = ("_limit", "_parts", "_size", "_skipping")

    def __init__(self, limit: int = MESSAGE_LIMIT) -> None:
        self._limit = limit
        self._parts: list[bytes] = []
        self._size = 0
        self._skipping = False

    def feed(self, chunk: bytes) -> list[bytes | TooLong]:
        """The lines that `chunk` completes."""
        *complete, rest = chunk.split(b"\n")
        lines: list[bytes | TooLong] = []
        for part in complete:
            if self._parts or self._skipping:
                self._take(part, lines)
                part = b"".join(self._parts)
                self._parts.clear()
                self._size = 0
                if self._skipping:
                    self._skipping = False
                    continue
            elif len(part) > self._limit:
                lines.append(TooLong(part[:_HEAD]))
                continue
            self._add(part, lines)
        if rest:
            self._take(rest, lines)
        return lines

    def end(self) -> list[bytes | TooLong]:
        """What is left when the stream has ended: its last line, if that lacks its end."""
        return self.feed(b"\n")

    def _take(self, part: bytes, lines: list[bytes | TooLong]) -> None:
        """Keep a piece of a line that is not complete yet, unless it gets too long."""
        if self._skipping:
            return
        self._parts.append(part)
        self._size += len(part)
        if self._size > self._limit:
            lines.append(TooLong(b"".join(self._parts)[:_HEAD]))
            self._parts.clear()
            self._size = 0
            self._skipping = True

    @staticmethod
    def _add(line: bytes, lines: list[bytes | TooLong]) -> None:
        if line.startswith(_BOM):
            line = line[len(_BOM) :]
        line = line.removesuffix(b"\r")
        if line and not line.isspace():
            lines.append(line)
