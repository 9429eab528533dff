"""Sessions in memory and on stdio: round trips per second, start and memory of a server, against the official SDK."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import asynccontextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import anyio

import mcp_bindings

from .measure import Row, less, more
from .session_servers import official, ours

# -P: the modules beside it must not stand in for those of the standard library.
SERVER = ("-P", str(Path(__file__).with_name("session_servers.py")))
STYLES = ("msgspec", "pydantic")
WHO = (*STYLES, "official")
ROUNDS = 5
TEXT = "x" * 200


def rows() -> Iterator[Row]:
    """All rows. Peers take turns, so that a busy moment hits both."""
    figures = anyio.run(rates)
    for what, bars in (
        ("in memory, one by one", (5.0, 2.0)),
        ("stdio, 64 at once", (20.0, 10.0)),
        ("stdio, one by one", (4.0, 3.0)),
    ):
        for style, bar in zip(STYLES, bars, strict=True):
            yield more(f"round trips {what}: {style} / SDK", figures[what, style], figures[what, "official"], "/s", bar)
    started: dict[str, list[float]] = {who: [] for who in WHO}
    for _ in range(ROUNDS + 2):
        for who in WHO:
            with Server(who) as server:
                started[who].append(server.started * 1000)
    median = {who: statistics.median(values) for who, values in started.items()}
    for style, bar in zip(STYLES, (0.25, 0.45), strict=True):
        yield less(f"stdio server, spawn to first answer: {style} / SDK", median[style], median["official"], "ms", bar)
    memory = {who: resident_after(who, 100_000 if who in STYLES else 5_000) for who in WHO}
    for style, bar in zip(STYLES, (0.5, 0.65), strict=True):
        first, last = memory[style]
        title = f"stdio server's memory after 100,000 requests: {style} / SDK"
        yield less(title, last, memory["official"][1], "MB", bar)
        yield less("  against its memory after 1,000", last, first, "MB", 1.05)


async def rates() -> dict[tuple[str, str], float]:
    """Round trips per second by measure and by who serves."""
    found: dict[tuple[str, str], list[float]] = {}
    for _ in range(ROUNDS):
        for who in WHO:
            quick = who != "official"
            async with in_memory(who) as call:
                await rate(call, 1, 300)
                found.setdefault(("in memory, one by one", who), []).append(
                    await rate(call, 1, 8000 if quick else 1500)
                )
            async with on_stdio(who) as call:
                await rate(call, 1, 100)
                found.setdefault(("stdio, one by one", who), []).append(await rate(call, 1, 1500 if quick else 400))
                found.setdefault(("stdio, 64 at once", who), []).append(await rate(call, 64, 12_800 if quick else 1280))
    return {key: statistics.median(values) for key, values in found.items()}


async def rate(call: Callable[[], Any], concurrent: int, count: int) -> float:
    """Calls per second by so many tasks at once."""

    async def some() -> None:
        for _ in range(count // concurrent):
            assert (await call()).content[0].text == TEXT

    start = time.perf_counter()
    async with anyio.create_task_group() as tasks:
        for _ in range(concurrent):
            tasks.start_soon(some)
    return count / (time.perf_counter() - start)


@asynccontextmanager
async def in_memory(who: str) -> AsyncGenerator[Callable[[], Any], None]:
    """Calls of a server in this process. Ours cross over as JSON; the SDK's do without."""
    if who == "official":
        from mcp.client.client import Client

        async with Client(official()) as client:
            yield lambda: client.call_tool("echo", {"text": TEXT})
        return
    from mcp_bindings.runtime import memory

    async with client_of(who, memory.connect(ours(who))) as client:
        yield lambda: client.call_tool(name="echo", arguments={"text": TEXT})


@asynccontextmanager
async def on_stdio(who: str) -> AsyncGenerator[Callable[[], Any], None]:
    """Calls of a server in a process of its own, by a client of the same make."""
    if who == "official":
        from mcp.client.client import Client
        from mcp.client.stdio import StdioServerParameters, stdio_client

        command = StdioServerParameters(command=sys.executable, args=[*SERVER, who], env=environment())
        async with Client(stdio_client(command)) as client:
            yield lambda: client.call_tool("echo", {"text": TEXT})
        return
    from mcp_bindings.runtime import stdio

    async with client_of(who, stdio.connect(sys.executable, *SERVER, who, env=environment())) as client:
        yield lambda: client.call_tool(name="echo", arguments={"text": TEXT})


def client_of(style: str, transport: Any) -> Any:
    """A client of ours."""
    revision = import_module(f"mcp_bindings.{style}.v2026_07_28")
    return revision.AsyncClient(transport, info=revision.types.Implementation(name="bench", version="1"))


class Server:
    """A server in a process of its own, spoken to in raw lines; `started` is how long its first answer took."""

    def __init__(self, who: str) -> None:
        start = time.perf_counter()
        line = [sys.executable, *SERVER, who]
        self.process = subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment())
        self.ask(1)
        self.started = time.perf_counter() - start

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *args: object) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(30)

    def ask(self, count: int) -> None:
        """Send so many requests at once, and wait for as many answers."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        meta = {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        }
        params = {"name": "echo", "arguments": {"text": TEXT}, "_meta": meta}
        asked = ({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params} for id in range(count))
        self.process.stdin.write(b"".join(json.dumps(request).encode() + b"\n" for request in asked))
        self.process.stdin.flush()
        for _ in range(count):
            assert b'"result"' in self.process.stdout.readline()

    def resident(self) -> float:
        """Its resident memory in MB."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.partition("VmRSS:")[2].split()[0]) / 1024


def resident_after(who: str, count: int) -> tuple[float, float]:
    """A server's memory after 1,000 requests, and after all."""
    with Server(who) as server:
        for _ in range(50):
            server.ask(20)
        first = server.resident()
        for _ in range(count // 50 - 20):
            server.ask(50)
        return first, server.resident()


def environment() -> dict[str, str]:
    """The environment in which the generated package is found."""
    return {**os.environ, "PYTHONPATH": str(Path(mcp_bindings.__file__).parents[1])}
