"""Several worker processes serve one server: rounds land anywhere, notifications reach everyone."""

from __future__ import annotations

import logging
import os
import shutil
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

import mcp_bindings
from mcp_bindings.runtime import http
from mcp_bindings.runtime.failures import McpError
from web import await_port, client, free_port, make_server, revision

pytestmark = pytest.mark.anyio
WORKERS = 4


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@contextmanager
def redis_server(folder: Path, port: int) -> Generator[None, None, None]:
    program = shutil.which("redis-server")
    if program is None:
        pytest.skip("there is no redis-server here (Debian package: redis-server)")
    options = ["--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", str(folder)]
    process = subprocess.Popen([program, *options], stdout=subprocess.DEVNULL)
    try:
        await_port(port)
        yield
    finally:
        process.terminate()
        process.wait(10)


@contextmanager
def workers(log: Path, **settings: str) -> Generator[str, None, None]:
    port = free_port()
    folders = [str(Path(mcp_bindings.__file__).parents[1]), str(Path(__file__).parents[1])]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(folders), "SECRET": "one key for all", **settings}
    line = [sys.executable, "-m", "uvicorn", "--factory", "web_workers:app", "--workers", str(WORKERS)]
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*line, "--port", str(port), "--log-level", "warning"], env=env, stdout=output, stderr=output
        )
    try:
        await_port(port, 60)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        began = time.monotonic()
        process.terminate()
        process.wait(30)
        assert time.monotonic() - began < 20


async def once(url: str, name: str) -> str:
    """A tool's text, over a connection of its own: any worker may take it."""
    async with client("msgspec", url) as ours:
        text: str = (await ours.call_tool(name=name)).content[0].text
        return text


async def eventually(condition: Callable[[], bool], seconds: float = 20) -> None:
    with anyio.fail_after(seconds):
        while not condition():
            await anyio.sleep(0.05)


@asynccontextmanager
async def listeners(url: str, count: int) -> AsyncGenerator[list[int], None]:
    """Listens over as many connections; how many events each has had."""
    heard = [0] * count

    async def listen(ours: Any, index: int, ready: anyio.Event) -> None:
        async with ours.listen(tools_list_changed=True) as events:
            ready.set()
            async for _ in events:
                heard[index] += 1

    async with AsyncExitStack() as stack:
        tasks = await stack.enter_async_context(anyio.create_task_group())
        for index in range(count):
            ready = anyio.Event()
            ours = await stack.enter_async_context(client("msgspec", url))
            tasks.start_soon(listen, ours, index, ready)
            await ready.wait()
        yield heard
        tasks.cancel_scope.cancel()


async def test_rounds_land_anywhere(tmp_path: Path) -> None:
    bindings = revision("msgspec")

    class Handlers(bindings.ClientHandlers):  # type: ignore[misc, name-defined]
        async def elicit(self, params: Any) -> Any:
            return bindings.types.ElicitResult(action="accept", content={"name": "x"})

    pairs: set[tuple[str, str]] = set()
    with workers(tmp_path / "log") as url:
        for _ in range(100):
            # One client per round, so that each round is over a connection of its own.
            async with client("msgspec", url, handlers=Handlers()) as first:
                question = await first.call_tool_once(name="ask")
            async with client("msgspec", url, handlers=Handlers()) as second:
                answer = bindings.types.ElicitResult(action="accept", content={"name": "x"})
                result = await second.call_tool_once(
                    name="ask", input_responses={"q": answer}, request_state=question.request_state
                )
            began, ended = result.content[0].text.split()
            pairs.add((began, ended))
            if len({each for each, _ in pairs}) > 1 and any(one != other for one, other in pairs):
                break
        else:
            pytest.fail(f"all rounds landed on the same worker: {pairs}")
        async with client("msgspec", url, handlers=Handlers()) as forger:
            with pytest.raises(McpError, match="requestState"):
                await forger.call_tool_once(
                    name="ask", input_responses={"q": answer}, request_state=question.request_state + "x"
                )


async def test_notifications_reach_everyone_and_redis_may_come_and_go(tmp_path: Path) -> None:
    port, log = free_port(), tmp_path / "log"
    count = 12
    with workers_and_redis(log, tmp_path, port) as (url, stop_redis):
        async with listeners(url, count) as heard:
            found: dict[str, int] = {}
            for _ in range(200):
                worker, number = (await once(url, "listeners")).split()
                found[worker] = int(number)
                if sum(found.values()) == count:
                    break
            assert sum(found.values()) == count
            assert len([number for number in found.values() if number]) > 1, "all listens are on one worker"

            await once(url, "change")
            await eventually(lambda: heard == [1] * count)

            stop_redis()
            await eventually(lambda: "Redis is lost" in log.read_text())
            before = list(heard)
            worker = await once(url, "change")
            await eventually(lambda: sum(heard) >= sum(before) + found.get(worker, 0))
            await anyio.sleep(0.3)
            assert sum(heard) == sum(before) + found.get(worker, 0), "others cannot have heard of it yet"

            with redis_server(tmp_path, port):
                await eventually(lambda: log.read_text().count("Redis is back") == WORKERS)
                before = list(heard)
                await once(url, "change")
                await eventually(lambda: all(now > then for now, then in zip(heard, before, strict=True)))
                assert log.read_text().count("Redis is lost") == WORKERS


@contextmanager
def workers_and_redis(log: Path, folder: Path, port: int) -> Generator[tuple[str, Callable[[], None]], None, None]:
    """Workers with a Redis server that can be stopped before they are."""
    redis = redis_server(folder, port)
    redis.__enter__()
    stopped = False

    def stop() -> None:
        nonlocal stopped
        stopped = True
        redis.__exit__(None, None, None)

    try:
        with workers(log, REDIS_URL=f"redis://127.0.0.1:{port}") as url:
            yield url, stop
    finally:
        if not stopped:
            stop()


async def test_the_notifier_gives_up_nothing_but_the_oldest(tmp_path: Path) -> None:
    notifier = http.RedisNotifier("redis://127.0.0.1:1")
    for number in range(2000):
        notifier.announce("notifications/resources/updated", {"uri": f"test://{number}"})
        notifier.announce("notifications/resources/updated", {"uri": f"test://{number}"})
    assert len(notifier._waiting) == 1000


async def test_what_is_no_notification_is_passed_over(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Two applications in one process, and a stranger on their channel."""
    import redis.asyncio

    port = free_port()
    with redis_server(tmp_path, port):
        url = f"redis://127.0.0.1:{port}"
        servers = [make_server(), make_server()]
        apps = [http.app(server, notifier=http.RedisNotifier(url, channel="c")) for server in servers]
        heard: list[tuple[str, Any]] = []
        apps[1].session.hub.publish = lambda spec, params: heard.append((spec.wire, dict(params)))  # type: ignore[method-assign]
        async with AsyncExitStack() as stack:
            for app in apps:
                await stack.enter_async_context(app.lifespan())
            async with redis.asyncio.from_url(url) as stranger:
                with anyio.fail_after(10):
                    while (await stranger.pubsub_numsub("c"))[0][1] < 2:
                        await anyio.sleep(0.02)
                with caplog.at_level(logging.WARNING):
                    for junk in (b"\xff", b"{}", b'["x","tools/call",{}]', b'["x",5,{}]', b'["x","nope",[]]'):
                        await stranger.publish("c", junk)
                    await servers[0].notify_resource_updated(uri="test://é")
                    await eventually(lambda: bool(heard), 10)
        assert heard == [("notifications/resources/updated", {"uri": "test://é"})]
        assert "no notification" in caplog.text
        assert not servers[0].hubs - {apps[0].session.hub}
