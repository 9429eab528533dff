"""The official SDK's low-level server with a bit of everything, on stdio."""

from __future__ import annotations

import anyio
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ResourceUpdated, ToolsListChanged
from mcp.shared.exceptions import MCPError

bus = InMemorySubscriptionBus()


async def list_tools(ctx, params):
    return types.ListToolsResult(tools=[types.Tool(name="echo", input_schema={"type": "object"})])


async def call_tool(ctx, params):
    arguments = params.arguments or {}
    text = "done"
    match params.name:
        case "echo":
            text = arguments["text"]
        case "steps":
            for step in (0, 50, 100.5):
                await ctx.session.report_progress(step, 100, "on the way")
        case "ask":
            answer = (params.input_responses or {}).get("who")
            if answer is None:
                form = {"type": "object", "properties": {"name": {"type": "string"}}}
                request = types.ElicitRequest(
                    params=types.ElicitRequestFormParams(message="Who?", requested_schema=form)
                )
                return types.InputRequiredResult(input_requests={"who": request}, request_state="the state")
            assert params.request_state == "the state"
            text = f"{answer.action} {(answer.content or {}).get('name')}"
        case "change":
            await bus.publish(ToolsListChanged())
            await bus.publish(ResourceUpdated(uri="file:///a"))
        case "sleep":
            await anyio.sleep(600)
        case "fail":
            raise MCPError(-32602, "as asked", {"uri": "x"})
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)])


async def list_resources(ctx, params):
    return types.ListResourcesResult(resources=[types.Resource(name="a", uri="file:///a")])


async def list_templates(ctx, params):
    template = types.ResourceTemplate(name="t", uri_template="file:///{name}")
    return types.ListResourceTemplatesResult(resource_templates=[template])


async def read_resource(ctx, params):
    return types.ReadResourceResult(contents=[types.TextResourceContents(uri=params.uri, text="é")])


async def list_prompts(ctx, params):
    return types.ListPromptsResult(prompts=[types.Prompt(name="p")])


async def get_prompt(ctx, params):
    content = types.TextContent(type="text", text=repr(params.arguments))
    return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=content)])


async def complete(ctx, params):
    return types.CompleteResult(completion=types.Completion(values=[params.argument.value + "!"]))


async def main() -> None:
    server = Server(
        "sdk",
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_list_resource_templates=list_templates,
        on_read_resource=read_resource,
        on_list_prompts=list_prompts,
        on_get_prompt=get_prompt,
        on_completion=complete,
        on_subscriptions_listen=ListenHandler(bus),
    )
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


if __name__ == "__main__":
    anyio.run(main)
