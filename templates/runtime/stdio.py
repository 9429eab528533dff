"""The stdio transport: a client that starts its server as a subprocess, and a server on its own standard streams."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator, Callable, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import IO, Final, Literal, TypeAlias

import anyio

from . import pipes
from .lines import MESSAGE_LIMIT, LineSplitter, TooLong
from .peer import Opening, Peer
from .server_base import ServerBase
from .stream_server import CONCURRENCY, GRACE, serve_stream

log = logging.getLogger("mcp.client")

__all__ = ["StdioTransport", "connect", "serve", "serve_async"]

PATIENCE: Final = 2.0
"""How many seconds a server has for each step of its end: after its input was closed, and after being told to stop."""

_LAST_WORDS: Final = 0.5
"""How many seconds a server's stderr may stay open when the server is gone: its children may have it."""

Stderr: TypeAlias = "Callable[[str], None] | IO[bytes] | IO[str] | int | None"
"""Where a server's stderr goes: a function that takes its lines, a file, `subprocess.DEVNULL`, or None for our own."""


# --- the client's side -----------------------------------------------------------------------------------------------


def connect(
    command: str | os.PathLike[str],
    *args: str | os.PathLike[str],
    env: Mapping[str, str] | None = None,
    cwd: str | os.PathLike[str] | None = None,
    stderr: Stderr = None,
    message_limit: int = MESSAGE_LIMIT,
    patience: float = PATIENCE,
) -> StdioTransport:
    """A transport to a server that is started as a subprocess, and ends with the connection.

    `env` replaces the environment, which is inherited otherwise.
    """
    return StdioTransport((command, *args), env, cwd, stderr, message_limit, patience)


class StdioTransport:
    """Starts a server and reaches it through its standard streams."""

    form: Literal["json", "object"] = "json"

    def __init__(
        self,
        command: tuple[str | os.PathLike[str], ...],
        env: Mapping[str, str] | None,
        cwd: str | os.PathLike[str] | None,
        stderr: Stderr,
        message_limit: int,
        patience: float,
    ) -> None:
        self._command = command
        self._env = env
        self._cwd = cwd
        self._stderr = stderr
        self._limit = message_limit
        self._patience = patience

    @asynccontextmanager
    async def open(self, opening: Opening, /) -> AsyncGenerator[Peer, None]:
        """Run the server for as long as the context lasts. Raises OSError if it cannot be started."""
        from .stream_client import StreamPeer  # servers do without

        process = subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE if callable(self._stderr) else self._stderr,
            env=self._env,
            cwd=self._cwd,
            bufsize=0,
            # Signals reach the server's children as well, and a Ctrl-C at our terminal does not reach the server.
            start_new_session=sys.platform != "win32",
        )
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            reader, writer = pipes.reader(process.stdout.fileno()), pipes.writer(process.stdin.fileno())
            peer = StreamPeer(opening, reader, writer, self._limit)
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(peer.run, lambda: _obituary(process))
                told = anyio.Event()
                if callable(self._stderr):
                    assert process.stderr is not None
                    tasks.start_soon(_pass_on, pipes.reader(process.stderr.fileno()), self._stderr, told)
                else:
                    told.set()
                try:
                    yield peer
                finally:
                    with anyio.CancelScope(shield=True):
                        with anyio.move_on_after(self._patience):
                            await peer.flush()
                        peer.close("the connection was closed")
                        process.stdin.close()
                        # Meanwhile the reader goes on: a server that cannot get rid of its output could not end.
                        await _end(process, self._patience)
                        with anyio.move_on_after(_LAST_WORDS):
                            await told.wait()
                    tasks.cancel_scope.cancel()
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
            for stream in (process.stdin, process.stdout, process.stderr):
                if stream is not None:
                    stream.close()


async def _end(process: subprocess.Popen[bytes], patience: float) -> None:
    """See a process off whose input is closed: wait, then ask it to stop, then kill it."""
    if await _exited(process, patience) is not None:
        return
    _signal(process, signal.SIGTERM)
    if sys.platform != "win32" and await _exited(process, patience) is None:
        _signal(process, signal.SIGKILL)
    await _exited(process, patience)


def _signal(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    if sys.platform == "win32":
        process.terminate()
        return
    with suppress(ProcessLookupError):
        os.killpg(process.pid, number)


async def _exited(process: subprocess.Popen[bytes], patience: float) -> int | None:
    """The exit status, or None if the process runs on."""
    pause = 0.001
    with anyio.move_on_after(patience):
        while process.poll() is None:
            await anyio.sleep(pause)
            pause = min(2 * pause, 0.05)
    return process.returncode


async def _obituary(process: subprocess.Popen[bytes]) -> str:
    status = await _exited(process, 0.5)
    if status is None:
        return "the server closed its output"
    return f"the server exited with status {status}" if status >= 0 else f"the server was killed by signal {-status}"


async def _pass_on(reader: pipes.ByteReader, take: Callable[[str], None], told: anyio.Event) -> None:
    lines = LineSplitter()
    more = True
    while more:
        chunk = await reader.read()
        more = bool(chunk)
        for line in lines.feed(chunk) if more else lines.end():
            try:
                take((line.head if isinstance(line, TooLong) else line).decode(errors="replace"))
            except Exception:
                log.exception("What takes the server's stderr failed")
    told.set()


# --- the server's side -----------------------------------------------------------------------------------------------


def serve(
    server: ServerBase,
    *,
    message_limit: int = MESSAGE_LIMIT,
    concurrency: int = CONCURRENCY,
    grace: float = GRACE,
) -> None:
    """Serve one client on this process's standard streams, until it closes our input.

    Whatever else is written to stdout meanwhile goes to stderr, and nothing else can read stdin.
    """

    async def main() -> None:
        await serve_async(server, message_limit=message_limit, concurrency=concurrency, grace=grace)

    anyio.run(main)


async def serve_async(
    server: ServerBase,
    *,
    message_limit: int = MESSAGE_LIMIT,
    concurrency: int = CONCURRENCY,
    grace: float = GRACE,
) -> None:
    """The same in an event loop that runs already."""
    with _claimed() as (stdin, stdout):
        await serve_stream(
            server,
            pipes.reader(stdin),
            pipes.writer(stdout),
            message_limit=message_limit,
            concurrency=concurrency,
            grace=grace,
        )


@contextmanager
def _claimed() -> Generator[tuple[int, int], None, None]:
    """Descriptors of our own for the standard streams, while 0 reads nothing and 1 leads to stderr."""
    stdin, stdout = os.dup(0), os.dup(1)
    blocking = os.get_blocking(stdout) if sys.platform != "win32" else True
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    try:
        os.dup2(2, 1)
    except OSError:
        os.dup2(null, 1)
    os.close(null)
    try:
        yield stdin, stdout
    finally:
        with suppress(OSError, ValueError, AttributeError):
            sys.stdout.flush()  # what was printed belongs to stderr, too
        if sys.platform != "win32":
            os.set_blocking(stdout, blocking)
        os.dup2(stdin, 0)
        os.dup2(stdout, 1)
        os.close(stdin)
        os.close(stdout)
