"""The application of one of several worker processes: for uvicorn's `--factory`. Settings are in the environment."""

from __future__ import annotations

import os
from typing import Any

from mcp_bindings.runtime import http
from web import make_server, revision


def app() -> Any:
    """A server whose tools say which process they run in."""
    style = os.environ.get("STYLE", "msgspec")
    types: Any = revision(style).types
    server = make_server(style, secret=os.environ["SECRET"])
    notifier = http.RedisNotifier(os.environ["REDIS_URL"]) if "REDIS_URL" in os.environ else None
    application = http.app(server, notifier=notifier)
    original = server.call_tool

    async def call_tool(params: Any, ctx: Any) -> Any:
        match params.name:
            case "listeners":
                text = f"{os.getpid()} {len(application.session.hub)}"
            case "change":
                await server.notify_tool_list_changed()
                text = str(os.getpid())
            case "ask":
                if not params.input_responses:
                    server.log[:] = [str(os.getpid())]
                    return await original(params, ctx)
                first = ctx.unseal(params.request_state)["worker"][0]
                text = f"{first} {os.getpid()}"
            case _:
                return await original(params, ctx)
        return types.CallToolResult(content=[types.TextContent(text=text)])

    server.call_tool = call_tool
    return application
