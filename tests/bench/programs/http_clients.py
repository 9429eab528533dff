"""`python http_clients.py ours|official|httpx2 URL CONCURRENT REQUESTS`: echo calls; prints requests per second."""

from __future__ import annotations

import sys
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager

import anyio
from load import request


@asynccontextmanager
async def ours(url: str) -> AsyncGenerator[Callable[[], Awaitable[object]], None]:
    from mcp_bindings.msgspec.v2026_07_28 import AsyncClient, types
    from mcp_bindings.runtime import http

    info = types.Implementation(name="load", version="1")
    async with AsyncClient(http.connect(url), info=info) as client:
        yield lambda: client.call_tool(name="echo", arguments={"text": "hello"})


@asynccontextmanager
async def official(url: str) -> AsyncGenerator[Callable[[], Awaitable[object]], None]:
    from mcp.client.client import Client

    async with Client(url) as client:
        yield lambda: client.call_tool("echo", {"text": "hello"})


@asynccontextmanager
async def httpx2(url: str) -> AsyncGenerator[Callable[[], Awaitable[object]], None]:
    """The library alone, with the same pools: what our client could reach at best."""
    from contextlib import AsyncExitStack

    from mcp_bindings.runtime.http_pool import Pools, default_client

    head, _, body = request("", "").partition(b"\r\n\r\n")
    pairs = [line.decode().split(": ", 1) for line in head.splitlines()[1:]]
    headers = {name: value for name, value in pairs if name not in ("Host", "Content-Length")}
    pools = Pools(default_client())

    async def call() -> None:
        with pools.lease() as pool:
            await pool.client.post(url, content=body, headers=headers)

    async with AsyncExitStack() as stack:
        stack.push_async_callback(pools.close)
        yield call


async def main(who: str, url: str, concurrent: int, requests: int) -> None:
    async with {"ours": ours, "official": official, "httpx2": httpx2}[who](url) as call:
        left = requests

        async def work() -> None:
            nonlocal left
            while left > 0:
                left -= 1
                await call()

        for _ in range(20):
            await call()
        began = time.perf_counter()
        async with anyio.create_task_group() as tasks:
            for _ in range(concurrent):
                tasks.start_soon(work)
        print(requests / (time.perf_counter() - began))


if __name__ == "__main__":
    anyio.run(main, sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
