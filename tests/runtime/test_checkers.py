"""What strict type checkers say of servers and clients: nothing of right ones, and something of every mistake."""

from __future__ import annotations

from pathlib import Path

import pytest

import mcp_bindings
from runtime.world import STYLES
from styles.checkers import CHECKERS, check

RIGHT = """
from mcp_bindings.{style}.v2026_07_28 import AsyncClient, Client, ClientHandlers, Server, ServerContext, methods, types
from mcp_bindings.runtime import McpError, memory, stdio


class Mine(Server):
    async def call_tool(
        self, params: types.CallToolRequestParams, ctx: ServerContext
    ) -> types.CallToolResult | types.InputRequiredResult:
        await ctx.progress(0.5, total=1)
        await ctx.log("info", {{"a": 1}})
        if ctx.client_info is not None:
            print(ctx.client_info.name, ctx.meta.protocol_version, ctx.client_capabilities.elicitation)
        schema = types.ElicitRequestFormParamsRequestedSchema(properties={{}})
        form = types.ElicitRequestFormParams(message="m", requested_schema=schema)
        return ctx.input_required({{"a": types.ElicitRequest(params=form)}}, state=ctx.seal(1))

    async def list_tools(self, params: types.PaginatedRequestParams, ctx: ServerContext) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[])


class Handlers(ClientHandlers):
    elicitation_url = True

    async def elicit(self, params: types.ElicitRequestParams) -> types.ElicitResult:
        return types.ElicitResult(action="accept", content={{"a": 1.5}})


async def main() -> None:
    info = types.Implementation(name="n", version="1")
    server = Mine(info=info)
    stdio.serve(server)
    async with AsyncClient(memory.connect(server), info=info, handlers=Handlers()) as client:
        result = await client.call_tool(name="x", arguments={{"a": None}}, on_progress=lambda step: print(step.progress))
        for content in result.content:
            match content:
                case types.TextContent(text=text):
                    print(text.upper())
                case _:
                    pass
        async for tool in client.iter_tools():
            print(tool.name.upper())
        async with client.listen(tools_list_changed=True) as stream:
            print(stream.filter.tools_list_changed)
            async for event in stream:
                if isinstance(event, types.ResourceUpdatedNotification):
                    print(event.params.uri.upper())
        once = await client.call_tool_once(name="x")
        if isinstance(once, types.InputRequiredResult):
            print(once.request_state)


def blocking(server: Mine, info: types.Implementation) -> None:
    with Client(memory.connect(server), info=info) as client:
        for tool in client.iter_tools():
            print(tool.name.upper())
        with client.listen(tools_list_changed=True) as stream:
            for event in stream:
                print(event.method)
    print(methods.CALL_TOOL.wire, McpError(1, "m").code)
"""  # noqa: E501

WRONG = """
from mcp_bindings.{style}.v2026_07_28 import AsyncClient, ClientHandlers, Server, ServerContext, types
from mcp_bindings.runtime import memory


class Mine(Server):
    async def call_tool(self, params: types.GetPromptRequestParams, ctx: ServerContext) -> types.CallToolResult:  # error
        raise NotImplementedError

    async def list_tools(self, params: types.PaginatedRequestParams, ctx: ServerContext) -> types.CallToolResult:  # error
        raise NotImplementedError

    def list_prompts(self, params: types.PaginatedRequestParams, ctx: ServerContext) -> types.ListPromptsResult:  # error
        raise NotImplementedError


class Handlers(ClientHandlers):
    async def elicit(self, params: types.ElicitRequestParams) -> types.ListRootsResult:  # error
        raise NotImplementedError


async def main() -> None:
    Mine(info="x")  # error
    server = Mine(info=types.Implementation(name="n", version="1"))
    AsyncClient(memory.connect(server))  # error
    async with AsyncClient(memory.connect(server), info=types.Implementation(name="n", version="1")) as client:
        await client.call_tool(nam="x")  # error
        await client.call_tool(name=5)  # error
        print((await client.call_tool(name="x")).contents)  # error
        client.listen(tools_changed=True)  # error
"""  # noqa: E501


@pytest.mark.parametrize("checker", CHECKERS)
def test_servers_and_clients(checker: str, tmp_path: Path) -> None:
    texts = {"right": RIGHT, "wrong": WRONG}
    files = {f"{name}_{style}.py": text.format(style=style) for name, text in texts.items() for style in STYLES}
    found = check(checker, tmp_path, files, Path(str(mcp_bindings.__file__)).parent.parent)
    mistakes = {number for number, line in enumerate(WRONG.splitlines(), 1) if line.endswith("# error")}
    for style in STYLES:
        assert found.get(f"right_{style}.py", {}) == {}
        assert set(found.get(f"wrong_{style}.py", {})) == mistakes
