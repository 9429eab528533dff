"""The servers that the HTTP measures compare, for uvicorn's `--factory`: `http_servers:ours` and `:official`."""

from __future__ import annotations

from typing import Any


def ours() -> Any:
    """An echo server of ours, in msgspec style."""
    from mcp_bindings.msgspec.v2026_07_28 import Server, types
    from mcp_bindings.runtime import http

    class Echo(Server):
        async def list_tools(self, params: Any, ctx: Any) -> Any:
            return types.ListToolsResult(tools=[types.Tool(name="echo", input_schema={"type": "object"})])

        async def call_tool(self, params: Any, ctx: Any) -> Any:
            return types.CallToolResult(content=[types.TextContent(text=params.arguments["text"])])

    return http.app(Echo(info=types.Implementation(name="echo", version="1")))


def official() -> Any:
    """The official SDK's low-level server, answering JSON."""
    import mcp_types as types
    from mcp.server.lowlevel import Server

    async def list_tools(ctx: Any, params: Any) -> Any:
        return types.ListToolsResult(tools=[types.Tool(name="echo", input_schema={"type": "object"})])

    async def call_tool(ctx: Any, params: Any) -> Any:
        return types.CallToolResult(content=[types.TextContent(type="text", text=params.arguments["text"])])

    server = Server("echo", on_list_tools=list_tools, on_call_tool=call_tool)
    return server.streamable_http_app(json_response=True, stateless_http=True)


async def bare(scope: Any, receive: Any, send: Any) -> None:
    """An application that answers without looking: what the web server alone can do."""
    if scope["type"] != "http":
        await receive()
        await send({"type": f"{scope['type']}.startup.complete"})
        await receive()
        await send({"type": f"{scope['type']}.shutdown.complete"})
        return
    while (await receive()).get("more_body"):
        pass
    body = b'{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","content":[{"type":"text","text":"hello"}]}}'
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})
