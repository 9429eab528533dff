"""The servers that the session measures compare, on stdio: `python session_servers.py pydantic|msgspec|official`."""

from __future__ import annotations

import sys
from typing import Any


def ours(style: str) -> Any:
    """An echo server of ours."""
    if style == "msgspec":
        from mcp_bindings.msgspec.v2026_07_28 import Server, types
    else:
        from mcp_bindings.pydantic.v2026_07_28 import Server, types  # type: ignore[assignment]

    class Echo(Server):
        async def call_tool(self, params: Any, ctx: Any) -> Any:
            return types.CallToolResult(content=[types.TextContent(text=params.arguments["text"])])

    return Echo(info=types.Implementation(name="echo", version="1"))


def official() -> Any:
    """The official SDK's low-level server."""
    import mcp_types as types
    from mcp.server.lowlevel import Server

    async def list_tools(ctx: Any, params: Any) -> Any:
        return types.ListToolsResult(tools=[types.Tool(name="echo", input_schema={"type": "object"})])

    async def call_tool(ctx: Any, params: Any) -> Any:
        return types.CallToolResult(content=[types.TextContent(type="text", text=params.arguments["text"])])

    return Server("echo", on_list_tools=list_tools, on_call_tool=call_tool)


def main(who: str) -> None:
    """Serve on stdio."""
    if who != "official":
        from mcp_bindings.runtime import stdio

        stdio.serve(ours(who))
        return

    import anyio
    from mcp.server.stdio import stdio_server

    async def serve() -> None:
        server = official()
        async with stdio_server() as (reading, writing):
            await server.run(reading, writing, server.create_initialization_options())

    anyio.run(serve)


if __name__ == "__main__":
    main(sys.argv[1])
