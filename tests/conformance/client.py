"""A client that does what the official conformance suite asks of clients, on the generated proxies.

Run by the suite as `python client.py STYLE URL`. What is to be done is in the environment. The scenarios of
authorization run on our client, too, with the official SDK's OAuth provider as its httpx2 auth.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Awaitable, Callable
from importlib import import_module
from typing import Any, TypeAlias

import anyio

from mcp_bindings.runtime import http
from mcp_bindings.runtime.failures import McpError, SessionError

STYLE, URL = sys.argv[1:3]
CONTEXT: dict[str, Any] = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")
revision = import_module(f"mcp_bindings.{STYLE}.v2026_07_28")
types: Any = revision.types

Scenario: TypeAlias = Callable[[Any], Awaitable[None]]
SCENARIOS: dict[str, Scenario] = {}


def scenario(name: str) -> Callable[[Scenario], Scenario]:
    def add(function: Scenario) -> Scenario:
        SCENARIOS[name] = function
        return function

    return add


class Handlers(revision.ClientHandlers):  # type: ignore[misc, name-defined]
    """A user who agrees to everything, and a model with nothing to say."""

    async def elicit(self, params: Any) -> Any:
        return types.ElicitResult(action="accept", content={"confirmed": True})

    async def create_message(self, params: Any) -> Any:
        return types.CreateMessageResult(role="assistant", content=types.TextContent(text=""), model="none")

    async def list_roots(self, params: Any) -> Any:
        return types.ListRootsResult(roots=[])


def connected(auth: Any = None) -> Any:
    info = types.Implementation(name="conformance-client", version="1.0.0")
    return revision.AsyncClient(http.connect(URL, auth=auth), info=info, handlers=Handlers(), timeout=30)


# --- scenarios -------------------------------------------------------------------------------------------------------


@scenario("tools_call")
async def tools_call(client: Any) -> None:
    await client.list_tools()
    await client.call_tool(name="add_numbers", arguments={"a": 5, "b": 3})


@scenario("request-metadata")
async def request_metadata(client: Any) -> None:
    await client.discover()
    await client.list_tools()


@scenario("sep-2322-client-request-state")
async def request_state(client: Any) -> None:
    await client.list_tools()
    for name in ("echo_state", "unrelated", "no_state", "no_result_type"):
        await client.call_tool(name=f"test_mrtr_{name}", arguments={})


@scenario("http-standard-headers")
async def standard_headers(client: Any) -> None:
    for tool in (await client.list_tools()).tools:
        await client.call_tool(name=tool.name, arguments={})
    for resource in (await client.list_resources()).resources:
        await client.read_resource(uri=resource.uri)
    for prompt in (await client.list_prompts()).prompts:
        await client.get_prompt(name=prompt.name)


@scenario("http-custom-headers")
async def custom_headers(client: Any) -> None:
    await client.list_tools()
    for call in CONTEXT["toolCalls"]:
        try:
            await client.call_tool(name=call["name"], arguments=call["arguments"])
        except (McpError, SessionError) as error:
            print(call["name"], error, file=sys.stderr)


@scenario("http-invalid-tool-headers")
async def invalid_tool_headers(client: Any) -> None:
    for tool in (await client.list_tools()).tools:
        schema = tool.input_schema
        arguments = {name: example(schema["properties"][name]) for name in schema.get("required", ())}
        try:
            await client.call_tool(name=tool.name, arguments=arguments)
        except (McpError, SessionError) as error:
            print(tool.name, error, file=sys.stderr)


@scenario("json-schema-ref-no-deref")
async def list_tools_only(client: Any) -> None:
    await client.list_tools()


@scenario("json-schema-2020-12-preservation")
async def preservation(client: Any) -> None:
    tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    schema = tools["json_schema_2020_12_tool"].input_schema
    await client.call_tool(name="json_schema_echo", arguments={"schema": schema})


async def authorized(client: Any) -> None:
    for tool in (await client.list_tools()).tools[:1]:
        await client.call_tool(name=tool.name, arguments={})


def example(schema: dict[str, Any]) -> Any:
    """A value of a schema's type."""
    return {"string": "x", "integer": 0, "number": 0, "boolean": False, "object": {}, "array": [], "null": None}.get(
        schema.get("type", ""), "x"
    )


async def main(name: str) -> None:
    if name.startswith("auth/"):
        from oauth import provider

        async with connected(await provider(name, URL, CONTEXT)) as client:
            await authorized(client)
        return
    async with connected() as client:
        await SCENARIOS[name](client)


if __name__ == "__main__":
    anyio.run(main, os.environ["MCP_CONFORMANCE_SCENARIO"])
