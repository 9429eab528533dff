"""Reading and writing file descriptors from an event loop.

Pipes and sockets are watched for readiness, so that no thread takes part. What cannot be watched (regular files,
terminals, anything but sockets on Windows) is read and written in threads.
"""

from __future__ import annotations

import os
import stat
import sys
from collections import deque
from threading import Semaphore, Thread
from typing import Final, Protocol

import anyio
import anyio.lowlevel

_CHUNK: Final = 256 * 1024


class ByteReader(Protocol):
    """The receiving end of a byte stream."""

    async def read(self) -> bytes:
        """The bytes that are there, at least one; none at the end of the stream."""
        ...


class ByteWriter(Protocol):
    """The sending end of a byte stream."""

    def write_now(self, data: memoryview) -> int:
        """Write what fits without waiting, and say how much that was. Raises OSError if the stream is broken."""
        ...

    async def write(self, data: memoryview) -> int:
        """Wait until something can be written, write it and say how much that was."""
        ...


def reader(fd: int) -> ByteReader:
    """The best reader for this descriptor."""
    return _ReadyReader(fd) if _watchable(fd) else _ThreadReader(fd)


def writer(fd: int) -> ByteWriter:
    """The best writer for this descriptor. A watchable one becomes non-blocking; `os.set_blocking` undoes that."""
    if not _watchable(fd):
        return _ThreadWriter(fd)
    os.set_blocking(fd, False)
    return _ReadyWriter(fd)


def _watchable(fd: int) -> bool:
    mode = os.fstat(fd).st_mode
    # A terminal could be watched, but shares its mode with everyone who has it open, so it must stay blocking.
    return sys.platform != "win32" and (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode))


class _ReadyReader:
    def __init__(self, fd: int) -> None:
        self._fd = fd

    async def read(self) -> bytes:
        while True:
            await anyio.wait_readable(self._fd)
            try:
                return os.read(self._fd, _CHUNK)
            except BlockingIOError:
                continue  # someone else has read it
            except ConnectionError:
                return b""


class _ReadyWriter:
    def __init__(self, fd: int) -> None:
        self._fd = fd

    def write_now(self, data: memoryview) -> int:
        try:
            return os.write(self._fd, data)
        except BlockingIOError:
            return 0

    async def write(self, data: memoryview) -> int:
        await anyio.wait_writable(self._fd)
        return self.write_now(data)


class _ThreadReader:
    """Reads in a thread of its own: a read that never returns then hinders neither cancellation nor exit."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._chunks: deque[bytes] = deque()
        self._arrived = anyio.Event()
        self._turn = Semaphore(0)
        self._asked = False
        self._thread: Thread | None = None

    async def read(self) -> bytes:
        while not self._chunks:
            self._arrived = anyio.Event()
            if not self._asked:
                self._asked = True
                self._turn.release()
            if self._thread is None:
                run, token = self._run, anyio.lowlevel.current_token()
                self._thread = Thread(target=run, args=(token,), name="mcp reader", daemon=True)
                self._thread.start()
            await self._arrived.wait()
        # The end of the stream is the last chunk, and stays.
        return self._chunks.popleft() if self._chunks[0] else b""

    def _run(self, token: anyio.lowlevel.EventLoopToken) -> None:
        from anyio.from_thread import run_sync

        chunk = b" "
        while chunk:
            self._turn.acquire()
            try:
                chunk = os.read(self._fd, _CHUNK)
            except OSError:
                chunk = b""
            try:
                run_sync(self._arrive, chunk, token=token)
            except RuntimeError:
                return  # the event loop is gone

    def _arrive(self, chunk: bytes) -> None:
        self._chunks.append(chunk)
        self._asked = False
        self._arrived.set()


class _ThreadWriter:
    def __init__(self, fd: int) -> None:
        self._fd = fd

    def write_now(self, data: memoryview) -> int:
        return 0

    async def write(self, data: memoryview) -> int:
        return await anyio.to_thread.run_sync(os.write, self._fd, data)
