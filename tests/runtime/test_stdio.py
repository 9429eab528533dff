"""The stdio transport with real subprocesses."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from mcp_bindings.runtime import stdio
from mcp_bindings.runtime.failures import ConnectionClosed, McpError, MessageTooLarge, RequestTimeout
from runtime.bounded import bounded
from runtime.world import META, STYLES, call, info, request, revision

pytestmark = pytest.mark.anyio

SERVER = str(Path(__file__).with_name("stdio_server.py"))
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}


@pytest.fixture(params=STYLES)
def style(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@asynccontextmanager
async def client(style: str, mode: str = "", **options: Any) -> AsyncGenerator[Any, None]:
    transport = stdio.connect(sys.executable, SERVER, style, mode, env=ENVIRONMENT, **options)
    async with revision(style).AsyncClient(transport, info=info(style)) as one:
        yield one


async def text(one: Any, tool: str, **arguments: Any) -> str:
    result = await one.call_tool(name=tool, arguments=arguments)
    return str(result.content[0].text)


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    with open(f"/proc/{pid}/stat") as file:
        return file.read().rpartition(")")[2].split()[0] != "Z"


async def gone(pid: int) -> None:
    while is_running(pid):
        await anyio.sleep(0.01)


@bounded
async def test_there_and_back(style: str) -> None:
    async with client(style, "noisy") as one:
        assert await text(one, "echo", text="é\u2028\n\U0001f600") == "é\u2028\n\U0001f600"
        assert [tool.name async for tool in one.iter_tools()] == ["echo"]
        with pytest.raises(McpError):
            await one.list_prompts()
        with pytest.raises(RequestTimeout):
            await one.call_tool(name="sleep", arguments={"seconds": 600}, timeout=0.05)
        assert await text(one, "echo", text="still there") == "still there"
        pid = int(await text(one, "pid"))
    await gone(pid)


@bounded
async def test_stray_output_stays_off_the_wire(style: str) -> None:
    lines: list[str] = []
    async with client(style, stderr=lines.append) as one:
        assert await text(one, "noise") == "''"
        await one.call_tool(name="stderr")
        assert await text(one, "echo", text="fine") == "fine"
    assert sorted(lines) == ["a stray child", "a stray print", "a stray write", "in two lines", "to stderr"]


@bounded
async def test_servers_that_do_not_exist(style: str) -> None:
    with pytest.raises(FileNotFoundError):
        async with revision(style).AsyncClient(stdio.connect("/no/such/server"), info=info(style)):
            raise AssertionError


@bounded
async def test_servers_that_die(style: str) -> None:
    async with client(style) as one:
        with pytest.raises(ConnectionClosed, match="exited with status 3"):
            await one.call_tool(name="exit", arguments={"status": 3})
        with pytest.raises(ConnectionClosed):
            await one.call_tool(name="echo", arguments={"text": "x"})
    async with client(style) as one:
        pid = int(await text(one, "pid"))
        async with anyio.create_task_group() as tasks:

            async def waiting() -> None:
                with pytest.raises(ConnectionClosed, match="killed by signal 9"):
                    await one.call_tool(name="sleep", arguments={"seconds": 600})

            tasks.start_soon(waiting)
            await one.discover()
            os.kill(pid, 9)


@pytest.mark.parametrize("mode", ["lingering", "deaf"])
@bounded
async def test_servers_that_do_not_want_to_go(style: str, mode: str) -> None:
    async with client(style, mode, patience=0.1) as one:
        pid = int(await text(one, "pid"))
        child = int(await text(one, "child"))
    await gone(pid)
    await gone(child)


@bounded
async def test_leaving_with_requests_in_flight(style: str) -> None:
    async with client(style, patience=0.2) as one, anyio.create_task_group() as tasks:
        pid = int(await text(one, "pid"))
        for _ in range(10):
            tasks.start_soon(lambda: one.call_tool(name="sleep", arguments={"seconds": 600}))
        await one.discover()
        tasks.cancel_scope.cancel()
    await gone(pid)


@bounded
async def test_messages_that_are_too_long(style: str) -> None:
    async with client(style, message_limit=1 << 20) as one:
        assert len(await text(one, "big", size=1_000_000)) == 1_000_000
        with pytest.raises(MessageTooLarge, match="1048576"):
            await one.call_tool(name="big", arguments={"size": 20_000_000})
        assert await text(one, "echo", text="fine") == "fine"
        assert len(await text(one, "echo", text="x" * 1_000_000)) == 1_000_000


@bounded
async def test_a_hundred_megabytes() -> None:
    async with client("msgspec") as one:
        with pytest.raises(McpError, match="longer than the limit"):
            await one.call_tool(name="echo", arguments={"text": "x" * 100_000_000})
        assert await text(one, "echo", text="fine") == "fine"


@bounded
async def test_many_at_once(style: str) -> None:
    async with client(style) as one:
        results: list[str] = []

        async def some(first: int) -> None:
            for number in range(first, first + 20):
                results.append(await text(one, "echo", text=f"{number} {'x' * 1000}"))

        async with anyio.create_task_group() as tasks:
            for first in range(0, 2000, 20):
                tasks.start_soon(some, first)
        assert sorted(int(result.split()[0]) for result in results) == list(range(2000))


def test_regular_files_instead_of_pipes(style: str, tmp_path: Path) -> None:
    """Input and output that no event loop can watch."""
    asked = [call(1, "echo", text="é"), call(2, "big", size=300_000), request("x", "server/discover")]
    (tmp_path / "in").write_text("\n".join(map(json.dumps, asked)))
    with open(tmp_path / "in") as source, open(tmp_path / "out", "wb") as target:
        done = subprocess.run([sys.executable, SERVER, style], stdin=source, stdout=target, env=ENVIRONMENT, timeout=30)
    assert done.returncode == 0
    answers = [json.loads(line) for line in (tmp_path / "out").read_bytes().splitlines()]
    assert sorted(answer["id"] for answer in answers if answer["id"] != "x") == [1, 2]
    assert all("result" in answer for answer in answers)


def test_shell_style(style: str) -> None:
    """Ask, close the input, read the answers."""
    asked = json.dumps(call(1, "echo", text="x", meta=META)).encode()
    done = subprocess.run(
        [sys.executable, SERVER, style], input=asked, capture_output=True, env=ENVIRONMENT, timeout=30
    )
    assert json.loads(done.stdout)["result"]["content"][0]["text"] == "x"
    assert done.stdout.endswith(b"\n")
    assert done.stdout.count(b"\n") == 1
    assert done.stderr == b""


def test_blocking(style: str) -> None:
    rev = revision(style)
    transport = stdio.connect(sys.executable, SERVER, style, env=ENVIRONMENT)
    with rev.Client(transport, info=info(style)) as one:
        assert one.call_tool(name="echo", arguments={"text": "x"}).content[0].text == "x"
        assert [tool.name for tool in one.iter_tools()] == ["echo"]
        pid = int(one.call_tool(name="pid").content[0].text)
        with pytest.raises(RequestTimeout):
            one.call_tool(name="sleep", arguments={"seconds": 600}, timeout=0.05)
    assert not is_running(pid)
    with pytest.raises(ConnectionClosed):
        one.discover()
