"""Over HTTP with others: the official SDK and FastMCP, in both directions."""

from __future__ import annotations

from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.routing import Mount, Route

from mcp_bindings.runtime import http
from mcp_bindings.runtime.failures import McpError
from web import STYLES, client, in_uvicorn, make_server

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def official_server() -> Any:
    import mcp_types as types
    from mcp.server.lowlevel import Server
    from mcp.shared.exceptions import MCPError

    schema = {"type": "object", "properties": {"text": {"type": "string", "x-mcp-header": "Text"}}}

    async def list_tools(ctx: Any, params: Any) -> Any:
        return types.ListToolsResult(tools=[types.Tool(name="echo", input_schema=schema)])

    async def call_tool(ctx: Any, params: Any) -> Any:
        if params.name != "echo":
            raise MCPError(-32602, "Unknown tool", {"name": params.name})
        await ctx.session.report_progress(0.5, 1.0) if hasattr(ctx.session, "report_progress") else None
        return types.CallToolResult(content=[types.TextContent(type="text", text=params.arguments["text"])])

    return Server("official", on_list_tools=list_tools, on_call_tool=call_tool).streamable_http_app()


def fastmcp_server() -> Any:
    import fastmcp

    server: Any = fastmcp.FastMCP("fast")

    @server.tool
    def echo(text: str) -> str:
        return text

    return server.http_app(path="/mcp")


@pytest.mark.parametrize("style", STYLES)
async def test_our_client_with_the_official_server(style: str) -> None:
    with in_uvicorn(official_server()) as url:
        async with client(style, url) as ours:
            assert (await ours.discover()).supported_versions[-1:]
            # First without the schema: the server wants a header, and the client finds out which.
            assert (await ours.call_tool(name="echo", arguments={"text": "é"})).content[0].text == "é"
            assert [tool.name for tool in (await ours.list_tools()).tools] == ["echo"]
            with pytest.raises(McpError) as caught:
                await ours.call_tool(name="none")
            assert (caught.value.code, caught.value.data) == (-32602, {"name": "none"})


@pytest.mark.parametrize("style", STYLES)
async def test_our_client_with_fastmcp(style: str) -> None:
    with in_uvicorn(fastmcp_server()) as url:
        async with client(style, url) as ours:
            assert [tool.name for tool in (await ours.list_tools()).tools] == ["echo"]
            assert (await ours.call_tool(name="echo", arguments={"text": "é"})).content[0].text == "é"


@pytest.mark.parametrize("style", STYLES)
async def test_the_official_client_with_our_server(style: str) -> None:
    from mcp.client.client import Client

    heard: list[Any] = []

    async def progress(progress: float, total: float | None, message: str | None) -> None:
        heard.append(progress)

    with in_uvicorn(http.app(make_server(style))) as url:
        async with Client(url) as theirs:
            assert "echo" in [tool.name for tool in (await theirs.list_tools()).tools]
            assert (await theirs.call_tool("echo", {"text": "é"})).content[0].text == "é"
            assert (await theirs.call_tool("ünï", {"text": "x"})).content[0].text == "x"
            assert (await theirs.call_tool("region", {"region": "eu", "n": 1, "text": "x"})).content[0].text == "x"
            await theirs.call_tool("talk", {}, progress_callback=progress)
            assert heard == [0, 1, 2]
            assert (await theirs.read_resource("test://a")).contents[0].text == "content"


@pytest.mark.parametrize("style", STYLES)
async def test_fastmcp_with_our_server(style: str) -> None:
    import fastmcp

    with in_uvicorn(http.app(make_server(style))) as url:
        async with fastmcp.Client(url) as theirs:
            assert "echo" in [tool.name for tool in await theirs.list_tools()]
            assert (await theirs.call_tool("echo", {"text": "é"})).content[0].text == "é"


@pytest.mark.parametrize("style", STYLES)
async def test_mounted_in_another_application(style: str) -> None:
    app = http.app(make_server(style))
    outer = Starlette(
        routes=[Route("/exact", endpoint=app), Mount("/below", app=app)], lifespan=lambda outer: app.lifespan()
    )
    with in_uvicorn(outer) as url:
        for path in ("/exact", "/below/", "/below"):  # the last one is redirected
            async with client(style, url.replace("/mcp", path)) as ours:
                assert (await ours.call_tool(name="echo", arguments={"text": "x"})).content[0].text == "x"
