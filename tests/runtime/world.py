"""Servers, clients and raw connections for tests."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from importlib import import_module
from typing import Any

import anyio

from mcp_bindings.runtime import pipes
from mcp_bindings.runtime.peer import Opening, Peer
from mcp_bindings.runtime.stream_client import StreamPeer
from mcp_bindings.runtime.stream_server import serve_stream

STYLES = ("pydantic", "msgspec")
VERSION = "2026-07-28"
META: dict[str, Any] = {
    "io.modelcontextprotocol/protocolVersion": VERSION,
    "io.modelcontextprotocol/clientCapabilities": {},
}
SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"


def revision(style: str) -> Any:
    """The package of 2026-07-28 in a style."""
    return import_module(f"mcp_bindings.{style}.v2026_07_28")


def info(style: str, name: str = "test") -> Any:
    """An Implementation."""
    return revision(style).types.Implementation(name=name, version="1")


def text_result(style: str, text: str) -> Any:
    """A CallToolResult with one text."""
    types = revision(style).types
    return types.CallToolResult(content=[types.TextContent(text=text)])


def request(id: Any, method: str, *, meta: Any = META, **params: Any) -> dict[str, Any]:
    """A request on the wire."""
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": {**params, "_meta": meta}}


def call(id: Any, tool: str, *, meta: Any = META, **arguments: Any) -> dict[str, Any]:
    """A tools/call request on the wire."""
    return request(id, "tools/call", meta=meta, name=tool, arguments=arguments)


class Line:
    """One end of a connection, in raw lines."""

    def __init__(self, reading: int, writing: int) -> None:
        self._reader = pipes.reader(reading)
        self._writing = writing
        self._buffer = b""

    async def send(self, *messages: Any) -> None:
        """Write messages; bytes as they are, anything else as a JSON line."""
        data = b"".join(m if isinstance(m, bytes) else json.dumps(m).encode() + b"\n" for m in messages)
        await anyio.to_thread.run_sync(_write_all, self._writing, data)

    async def receive(self) -> Any:
        """The next message; None at the end of the stream."""
        while b"\n" not in self._buffer:
            chunk = await self._reader.read()
            if not chunk:
                return None
            self._buffer += chunk
        line, _, self._buffer = self._buffer.partition(b"\n")
        return json.loads(line)

    async def ask(self, message: Any) -> Any:
        """Send a message and receive one."""
        await self.send(message)
        return await self.receive()

    async def silent(self) -> bool:
        """Whether nothing comes before the answer to a question that is asked now."""
        answer = await self.ask(request("are you there?", "server/discover"))
        return bool(answer["id"] == "are you there?")

    def hang_up(self) -> None:
        """Send no more."""
        if self._writing >= 0:
            os.close(self._writing)
            self._writing = -1


def _write_all(fd: int, data: bytes) -> None:
    view = memoryview(data)
    with suppress(BrokenPipeError):
        while view:
            view = view[os.write(fd, view) :]


@asynccontextmanager
async def served(server: Any, **options: Any) -> AsyncGenerator[Line, None]:
    """A raw connection to a server that runs here, on real pipes."""
    server_in, to_server = os.pipe()
    from_server, server_out = os.pipe()
    line = Line(from_server, to_server)

    async def serve() -> None:
        try:
            await serve_stream(server, pipes.reader(server_in), pipes.writer(server_out), **options)
        finally:
            os.close(server_out)

    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(serve)
            yield line
            line.hang_up()
    finally:
        line.hang_up()
        os.close(server_in)
        os.close(from_server)


@asynccontextmanager
async def connected(
    style: str, heard: list[Any] | None = None, **options: Any
) -> AsyncGenerator[tuple[Peer, Line], None]:
    """A StreamPeer, and the raw line at the place of its server."""
    server_in, to_server = os.pipe()
    from_server, server_out = os.pipe()
    line = Line(server_in, server_out)
    collected: list[Any] = [] if heard is None else heard
    opening = Opening(revision(style).codec.frame, lambda method, payload: collected.append((method, payload)))
    peer = StreamPeer(opening, pipes.reader(from_server), pipes.writer(to_server), options.pop("limit", 1 << 20))

    async def explain() -> str:
        return "the server hung up"

    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(peer.run, explain)
            yield peer, line
            tasks.cancel_scope.cancel()
    finally:
        line.hang_up()
        os.close(server_in)
        os.close(from_server)
        os.close(to_server)
