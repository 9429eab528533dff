"""Messages on their way out, gathered into few writes."""

from __future__ import annotations

from typing import Final

import anyio

from .failures import ConnectionClosed
from .pipes import ByteWriter

HIGH_WATER: Final = 1024 * 1024
"""How many bytes may wait before those who send more have to wait."""

_SOON: Final = 64 * 1024


class Outbox:
    """The queue in front of a byte stream; one message per line.

    `put` never blocks, and never writes: whoever puts calls `flush` (write now, as far as that goes without waiting) or
    `nudge` (let the tasks that are ready add theirs first), and awaits `room` where it could otherwise put without end.
    """

    def __init__(self, writer: ByteWriter) -> None:
        self._writer = writer
        self._messages: list[bytes] = []
        self._size = 0
        self._rest = memoryview(b"")
        self._writing = False
        self._awake = anyio.Event()
        self._drained: anyio.Event | None = None
        self.closed = False

    @property
    def full(self) -> bool:
        """Whether senders should wait for `room`."""
        return self._size >= HIGH_WATER

    @property
    def pending(self) -> int:
        """How many bytes wait."""
        return self._size

    def put(self, message: bytes) -> None:
        """Queue one message. Raises ConnectionClosed if the stream is closed."""
        if self.closed:
            raise ConnectionClosed("the connection is closed")
        if b"\n" in message:
            # Legal between the tokens of a payload that came in as text, and only there: a line break inside a string
            # is written as an escape.
            message = message.replace(b"\n", b" ")
        self._messages.append(message)
        self._size += len(message) + 1

    def nudge(self) -> None:
        """Have everything written once the tasks that are ready now have run."""
        if self._size:
            self._awake.set()

    def flush(self) -> None:
        """Write what the stream takes at once; the rest follows by itself."""
        if self._writing or self.closed or not self._size:
            return
        try:
            self._write_some(self._next())
        except OSError:
            self.close()
            return
        if self._size:
            self._awake.set()

    async def room(self) -> None:
        """Wait while too much is queued, unless the stream is closed."""
        while self.full:
            await self._progress()

    async def run(self) -> None:
        """Write for as long as the stream lives."""
        try:
            while not self.closed:
                if not self._size:
                    await self._awake.wait()
                    self._awake = anyio.Event()
                await self._drain()
        except OSError:
            pass
        finally:
            self.close()

    async def finish(self) -> None:
        """Wait until everything is written, or the stream is closed."""
        while self._size:
            await self._progress()

    def close(self) -> None:
        """Take no more, drop what waits."""
        self.closed = True
        self._messages.clear()
        self._rest = memoryview(b"")
        self._size = 0
        self._awake.set()
        self._report()

    async def _progress(self) -> None:
        self._awake.set()
        if self._drained is None:
            self._drained = anyio.Event()
        await self._drained.wait()

    async def _drain(self) -> None:
        while self._size and not self.closed:
            data = self._next()
            if self._write_some(data):
                continue
            self._writing = True
            try:
                self._wrote(await self._writer.write(data))
            finally:
                self._writing = False

    def _next(self) -> memoryview:
        if not self._rest:
            self._messages.append(b"")
            self._rest = memoryview(b"\n".join(self._messages))
            self._messages.clear()
        return self._rest

    def _write_some(self, data: memoryview) -> int:
        written = self._writer.write_now(data)
        self._wrote(written)
        return written

    def _wrote(self, count: int) -> None:
        self._rest = self._rest[count:]
        self._size -= count
        if not self.full:
            self._report()

    def _report(self) -> None:
        if self._drained is not None:
            self._drained.set()
            self._drained = None
