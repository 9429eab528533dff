"""Our clients with the servers of others, and the other way round, over stdio."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from mcp_bindings.runtime import stdio
from mcp_bindings.runtime.failures import McpError, RequestTimeout
from runtime.bounded import bounded
from runtime.world import STYLES, info, revision

pytest.importorskip("mcp", reason="the official SDK is not installed")

HERE = Path(__file__).parent
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"  # what the others run on


pytestmark = pytest.mark.anyio


@pytest.fixture(params=STYLES)
def style(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@asynccontextmanager
async def client(style: str, script: str) -> AsyncGenerator[Any, None]:
    rev = revision(style)

    class Handlers(rev.ClientHandlers):  # type: ignore[misc]
        async def elicit(self, params: Any) -> Any:
            return rev.types.ElicitResult(action="accept", content={"name": "Ann"})

    transport = stdio.connect(sys.executable, str(HERE / script), env=ENVIRONMENT, patience=10)
    async with rev.AsyncClient(transport, info=info(style), handlers=Handlers()) as one:
        yield one


async def text(one: Any, tool: str, **arguments: Any) -> str:
    result = await one.call_tool(name=tool, arguments=arguments)
    return str(result.content[0].text)


@bounded
async def test_our_client_and_the_official_server(style: str) -> None:
    types = revision(style).types
    async with client(style, "sdk_server.py") as one:
        discovered = await one.discover()
        assert "2026-07-28" in discovered.supported_versions
        assert discovered.capabilities.tools is not None
        assert [tool.name async for tool in one.iter_tools()] == ["echo"]
        assert [prompt.name async for prompt in one.iter_prompts()] == ["p"]
        assert [resource.uri async for resource in one.iter_resources()] == ["file:///a"]
        assert [template.name async for template in one.iter_resource_templates()] == ["t"]
        assert (await one.read_resource(uri="file:///a")).contents[0].text == "é"
        assert (await one.get_prompt(name="p", arguments={"a": "b"})).messages[0].content.text == "{'a': 'b'}"
        argument = types.CompleteRequestParamsArgument(name="a", value="x")
        completed = await one.complete(ref=types.PromptReference(name="p"), argument=argument)
        assert completed.completion.values_ == ["x!"]
        steps: list[Any] = []
        await one.call_tool(name="steps", on_progress=steps.append)
        assert [(step.progress, step.total, step.message) for step in steps] == [
            (step, 100, "on the way") for step in (0, 50, 100.5)
        ]
        assert await text(one, "ask") == "accept Ann"
        with pytest.raises(McpError) as caught:
            await one.call_tool(name="fail")
        assert (caught.value.code, caught.value.message, caught.value.data) == (-32602, "as asked", {"uri": "x"})
        with pytest.raises(McpError) as caught:
            await one.call("no/such")
        assert caught.value.code == -32601
        with pytest.raises(RequestTimeout):
            await one.call_tool(name="sleep", timeout=0.1)
        async with one.listen(tools_list_changed=True, resource_subscriptions=["file:///a"]) as stream:
            assert stream.filter == types.SubscriptionFilter(
                tools_list_changed=True, resource_subscriptions=["file:///a"]
            )
            await one.call_tool(name="change")
            assert isinstance(await stream.__anext__(), types.ToolListChangedNotification)
            assert isinstance(await stream.__anext__(), types.ResourceUpdatedNotification)
        assert await text(one, "echo", text="é\u2028\n") == "é\u2028\n"


@bounded
async def test_the_official_client_and_our_server(style: str) -> None:
    from mcp.client.client import Client
    from mcp.client.stdio import StdioServerParameters, stdio_client
    from mcp.shared.exceptions import MCPError
    from mcp.shared.subscriptions import ResourceUpdated, ToolsListChanged
    from mcp_types import ElicitResult, PromptReference

    async def elicit(context: Any, params: Any) -> Any:
        return ElicitResult(action="accept", content={"name": "Ann"})

    logs: list[Any] = []

    async def log(params: Any) -> None:
        logs.append(params.data)

    parameters = StdioServerParameters(
        command=sys.executable, args=[str(HERE / "full_server.py"), style], env=ENVIRONMENT
    )
    async with Client(
        stdio_client(parameters), elicitation_callback=elicit, logging_callback=log, log_level="info"
    ) as one:
        assert one.protocol_version == "2026-07-28"
        assert one.server_info is not None
        assert one.server_info.name == "full"
        assert one.instructions == "Ask anything."
        first = await one.list_tools()
        assert (first.tools, first.next_cursor) == ([], "more")
        assert [tool.name for tool in (await one.list_tools(cursor="more")).tools][:2] == ["echo", "steps"]
        assert [resource.name for resource in (await one.list_resources()).resources] == ["a"]
        assert [template.name for template in (await one.list_resource_templates()).resource_templates] == ["t"]
        assert [prompt.name for prompt in (await one.list_prompts()).prompts] == ["p"]
        assert (await one.read_resource("file:///a")).contents[0].text == "é"  # type: ignore[union-attr]
        assert (await one.get_prompt("p", {"a": "b"})).messages[0].content.text == "{'a': 'b'}"  # type: ignore[union-attr]
        completed = await one.complete(PromptReference(type="ref/prompt", name="p"), {"name": "a", "value": "x"})
        assert completed.completion.values == ["x!"]
        steps: list[Any] = []

        async def progress(progress: float, total: float | None, message: str | None) -> None:
            steps.append((progress, total, message))

        called = await one.call_tool("steps", progress_callback=progress)
        assert called.structured_content == {"text": "done"}
        assert steps == [(step, 100, "on the way") for step in (0, 50, 100)]
        assert logs == [{"step": step} for step in (0, 50, 100)]
        assert (await one.call_tool("ask")).structured_content == {"text": "accept Ann"}
        with pytest.raises(MCPError) as caught:
            await one.call_tool("fail")
        assert (caught.value.error.code, caught.value.error.data) == (-32602, {"uri": "x"})
        with anyio.move_on_after(0.2) as scope:
            await one.call_tool("sleep")
        assert scope.cancelled_caught
        async with one.listen(tools_list_changed=True, resource_subscriptions=["file:///a"]) as stream:
            assert stream.honored.tools_list_changed
            await one.call_tool("change")
            assert isinstance(await stream.__anext__(), ToolsListChanged)
            assert await stream.__anext__() == ResourceUpdated(uri="file:///a/b")
        assert (await one.call_tool("echo", {"text": "é\u2028\n"})).structured_content == {"text": "é\u2028\n"}


@bounded
async def test_our_client_and_fastmcp(style: str) -> None:
    pytest.importorskip("fastmcp", reason="FastMCP is not installed")
    async with client(style, "fastmcp_server.py") as one:
        assert "2026-07-28" in (await one.discover()).supported_versions
        assert {tool.name async for tool in one.iter_tools()} == {"echo", "steps", "fail"}
        assert await text(one, "echo", text="é") == "é"
        steps: list[float] = []
        await one.call_tool(name="steps", arguments={}, on_progress=lambda step: steps.append(step.progress))
        assert steps == [0, 50, 100]
        assert (await one.call_tool(name="fail", arguments={})).is_error
        assert (await one.read_resource(uri="file:///a")).contents[0].text == "é"
        assert (await one.get_prompt(name="p", arguments={"a": "b"})).messages[0].content.text == "prompt b"


@bounded
async def test_fastmcp_and_our_server(style: str) -> None:
    pytest.importorskip("fastmcp", reason="FastMCP is not installed")
    from fastmcp import Client
    from fastmcp.client.transports import StdioTransport

    transport = StdioTransport(sys.executable, [str(HERE / "full_server.py"), style], env=ENVIRONMENT)
    async with Client(transport) as one:
        assert [tool.name for tool in await one.list_tools()][:1] in (["echo"], [])
        result = await one.call_tool("echo", {"text": "é"})
        assert result.structured_content == {"text": "é"}
        assert [prompt.name for prompt in await one.list_prompts()] == ["p"]
        assert (await one.read_resource("file:///a"))[0].text == "é"  # type: ignore[union-attr]
