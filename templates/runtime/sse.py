"""Server-sent events, on the way out."""

from __future__ import annotations

from typing import Final

KEEP_ALIVE: Final = b": keep-alive\n\n"
"""A comment: tells everyone on the way that the stream lives, and nobody anything else."""

HEADERS: Final = [
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-cache, no-transform"),
    (b"x-accel-buffering", b"no"),
]
"""What keeps a stream from being held back on its way."""


def event(message: bytes) -> bytes:
    """The event that carries a message, in one `data` line: simple readers know no others."""
    if b"\n" in message or b"\r" in message:
        # Legal between the tokens of a payload that came in as text, and only there: a line break inside a string is
        # written as an escape.
        message = message.replace(b"\r", b" ").replace(b"\n", b" ")
    return b"data: %b\n\n" % message
