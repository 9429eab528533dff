"""`python load.py URL CONNECTIONS REQUESTS`: echo calls over raw connections; prints requests per second.

It reads and writes bytes that are made beforehand, so that it costs less than the servers that it measures.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from typing import Any
from urllib.parse import urlsplit

from mcp_bindings.runtime.http_headers import METHOD_HEADER, NAME_HEADER, VERSION_HEADER

VERSION = "2026-07-28"


def request(host: str, path: str) -> bytes:
    """An echo call, headers and all."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": VERSION,
        "io.modelcontextprotocol/clientInfo": {"name": "load", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    params = {"name": "echo", "arguments": {"text": "hello"}, "_meta": meta}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).encode()
    headers = {
        "Host": host,
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "Content-Length": str(len(body)),
        VERSION_HEADER: VERSION,
        METHOD_HEADER: "tools/call",
        NAME_HEADER: "echo",
    }
    head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"POST {path} HTTP/1.1\r\n{head}\r\n".encode() + body


class Connection(asyncio.Protocol):
    """Sends the next request when it has an answer."""

    def __init__(self, data: bytes, remaining: list[int], done: asyncio.Future[None]) -> None:
        self.data = data
        self.remaining = remaining
        self.done = done
        self.buffer = b""
        self.transport: Any = None

    def connection_made(self, transport: Any) -> None:
        self.transport = transport
        transport.write(self.data)

    def connection_lost(self, error: Exception | None) -> None:
        self.fail("the server hung up")

    def fail(self, reason: str) -> None:
        if not self.done.done():
            self.done.set_exception(RuntimeError(reason))

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        head, separator, body = self.buffer.partition(b"\r\n\r\n")
        if not separator:
            return
        length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
        if len(body) < length:
            return
        if b" 200 " not in head[:20] or b'"hello"' not in body:
            self.fail(repr(self.buffer))
            return
        self.buffer = b""
        self.remaining[0] -= 1
        if self.remaining[0] > 0:
            self.transport.write(self.data)
        elif not self.done.done():
            self.done.set_result(None)


async def main(url: str, connections: int, requests: int) -> float:
    """Requests per second."""
    parts = urlsplit(url)
    loop, remaining = asyncio.get_running_loop(), [requests]
    done: asyncio.Future[None] = loop.create_future()
    data = request(parts.netloc, parts.path)
    began = time.perf_counter()
    for _ in range(connections):
        await loop.create_connection(lambda: Connection(data, remaining, done), parts.hostname, parts.port)
    await done
    return requests / (time.perf_counter() - began)


if __name__ == "__main__":
    try:
        from uvloop import run  # the less this costs, the more of the machine is the server's
    except ImportError:
        from asyncio import run
    print(run(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))))
