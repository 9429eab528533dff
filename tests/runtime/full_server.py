"""A server that implements every method, in any style: `python full_server.py <style>` serves it on stdio."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

import anyio

from mcp_bindings.runtime.failures import McpError


def make(style: str) -> Any:
    rev = import_module(f"mcp_bindings.{style}.v2026_07_28")
    types = rev.types

    def form(message: str) -> Any:
        schema = types.ElicitRequestFormParamsRequestedSchema(
            properties={"name": types.StringSchema()}, required=["name"]
        )
        return types.ElicitRequest(params=types.ElicitRequestFormParams(message=message, requested_schema=schema))

    class Full(rev.Server):  # type: ignore[misc]
        logging = True
        tools_list_changed = True
        prompts_list_changed = True
        resources_list_changed = True
        resources_subscribe = True

        async def list_tools(self, params: Any, ctx: Any) -> Any:
            names = ("echo", "steps", "ask", "change", "sleep", "fail") if params.cursor == "more" else ()
            tools = [types.Tool(name=name, input_schema={"type": "object"}) for name in names]
            return types.ListToolsResult(tools=tools, next_cursor=None if names else "more", ttl_ms=1000)

        async def call_tool(self, params: Any, ctx: Any) -> Any:
            arguments = params.arguments or {}
            text = "done"
            match params.name:
                case "echo":
                    text = arguments["text"]
                case "steps":
                    for step in (0.0, 50.0, 100.0):
                        await ctx.progress(step, total=100, message="on the way")
                        await ctx.log("info", {"step": step})
                case "ask":
                    answer = (params.input_responses or {}).get("who")
                    if not isinstance(answer, types.ElicitResult):
                        return ctx.input_required({"who": form("What is your name?")}, state=ctx.seal("asked"))
                    assert ctx.unseal(params.request_state) == "asked"
                    text = f"{answer.action} {(answer.content or {}).get('name')}"
                case "change":
                    await self.notify_tool_list_changed()
                    await self.notify_prompt_list_changed()
                    await self.notify_resource_list_changed()
                    await self.notify_resource_updated(uri="file:///a/b")
                case "sleep":
                    await anyio.sleep(600)
                case "fail":
                    raise McpError(-32602, "as asked", {"uri": "x"})
                case name:
                    raise McpError(-32602, f"Unknown tool: {name}")
            return types.CallToolResult(content=[types.TextContent(text=text)], structured_content={"text": text})

        async def list_resources(self, params: Any, ctx: Any) -> Any:
            return types.ListResourcesResult(resources=[types.Resource(name="a", uri="file:///a")])

        async def list_resource_templates(self, params: Any, ctx: Any) -> Any:
            template = types.ResourceTemplate(name="t", uri_template="file:///{name}")
            return types.ListResourceTemplatesResult(resource_templates=[template])

        async def read_resource(self, params: Any, ctx: Any) -> Any:
            if params.uri != "file:///a":
                raise McpError(-32602, "no such resource", {"uri": params.uri})
            return types.ReadResourceResult(contents=[types.TextResourceContents(uri=params.uri, text="é")])

        async def list_prompts(self, params: Any, ctx: Any) -> Any:
            return types.ListPromptsResult(prompts=[types.Prompt(name="p")])

        async def get_prompt(self, params: Any, ctx: Any) -> Any:
            content = types.TextContent(text=repr(params.arguments))
            return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=content)])

        async def complete(self, params: Any, ctx: Any) -> Any:
            values = [params.argument.value + "!"]
            return types.CompleteResult(completion=types.CompleteResultCompletion(values_=values, total=1))

    return Full(info=types.Implementation(name="full", version="1"), instructions="Ask anything.", secret="secret")


if __name__ == "__main__":
    from mcp_bindings.runtime import stdio

    stdio.serve(make(sys.argv[1]))
