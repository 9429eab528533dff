"""A server with every fixture that the official conformance suite asks for, on the generated stubs.

Run as `python everything.py STYLE PORT`. It is the same text for all styles.
"""

from __future__ import annotations

import json
import secrets
import sys
from collections.abc import Awaitable, Callable, Mapping
from importlib import import_module
from typing import Any, TypeAlias

import anyio

from mcp_bindings.runtime import http
from mcp_bindings.runtime.failures import McpError, invalid_params

STYLE = sys.argv[1] if __name__ == "__main__" else "msgspec"
revision = import_module(f"mcp_bindings.{STYLE}.v2026_07_28")
types: Any = revision.types

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
SILENCE = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA="

NOTHING: dict[str, Any] = {"type": "object", "additionalProperties": False}
DIALECT_SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}
REGION_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"region": {"type": "string", "x-mcp-header": "Region", "description": "Where to run"}},
}

Server: Any = revision.Server
Handler: TypeAlias = Callable[[Any, Any, Any], Awaitable[Any]]
TOOLS: dict[str, tuple[str, dict[str, Any], Handler]] = {}


def tool(description: str, schema: Mapping[str, Any] = NOTHING) -> Callable[[Handler], Handler]:
    def add(handler: Handler) -> Handler:
        TOOLS[handler.__name__] = description, dict(schema), handler
        return handler

    return add


def text(content: str, **members: Any) -> Any:
    return types.CallToolResult(content=[types.TextContent(text=content)], **members)


def embedded(uri: str, mime_type: str, content: str) -> Any:
    return types.EmbeddedResource(resource=types.TextResourceContents(uri=uri, mime_type=mime_type, text=content))


# --- what tools answer -----------------------------------------------------------------------------------------------


@tool("Returns a text")
async def test_simple_text(server: Any, params: Any, ctx: Any) -> Any:
    return text("This is a simple text response for testing.")


@tool("Returns an image")
async def test_image_content(server: Any, params: Any, ctx: Any) -> Any:
    return types.CallToolResult(content=[types.ImageContent(data=PIXEL, mime_type="image/png")])


@tool("Returns a sound")
async def test_audio_content(server: Any, params: Any, ctx: Any) -> Any:
    return types.CallToolResult(content=[types.AudioContent(data=SILENCE, mime_type="audio/wav")])


@tool("Returns a resource")
async def test_embedded_resource(server: Any, params: Any, ctx: Any) -> Any:
    content = "This is an embedded resource content."
    return types.CallToolResult(content=[embedded("test://embedded-resource", "text/plain", content)])


@tool("Returns several kinds of content")
async def test_multiple_content_types(server: Any, params: Any, ctx: Any) -> Any:
    value = json.dumps({"test": "data", "value": 123})
    return types.CallToolResult(
        content=[
            types.TextContent(text="Multiple content types test:"),
            types.ImageContent(data=PIXEL, mime_type="image/png"),
            embedded("test://mixed-content-resource", "application/json", value),
        ]
    )


@tool("Fails in the way of tools")
async def test_error_handling(server: Any, params: Any, ctx: Any) -> Any:
    return text("This tool intentionally returns an error for testing", is_error=True)


@tool("Reports progress")
async def test_tool_with_progress(server: Any, params: Any, ctx: Any) -> Any:
    for progress in (0, 50, 100):
        await ctx.progress(progress, total=100)
        await anyio.sleep(0.05)
    return text("Done")


@tool("Has a schema with the keywords of JSON Schema 2020-12", DIALECT_SCHEMA)
async def json_schema_2020_12_tool(server: Any, params: Any, ctx: Any) -> Any:
    return text("Valid, for all we know")


@tool("Wants an argument in a header", REGION_SCHEMA)
async def test_x_mcp_header(server: Any, params: Any, ctx: Any) -> Any:
    return text(f"Region: {(params.arguments or {}).get('region')}")


@tool("Needs a client that samples")
async def test_missing_capability(server: Any, params: Any, ctx: Any) -> Any:
    ctx.require("sampling")
    return text("The client can sample")


@tool("Asks for input, never in a request of its own")
async def test_streaming_elicitation(server: Any, params: Any, ctx: Any) -> Any:
    return ctx.input_required({"user_name": ask("What is your name?", name=types.StringSchema())})


@tool("Logs, for those who want to hear it")
async def test_logging_tool(server: Any, params: Any, ctx: Any) -> Any:
    await ctx.log("info", "The tool was called")
    return text("Logged")


@tool("Changes the list of tools")
async def test_trigger_tool_change(server: Any, params: Any, ctx: Any) -> Any:
    await server.notify_tool_list_changed()
    return text("Changed")


@tool("Changes the list of prompts")
async def test_trigger_prompt_change(server: Any, params: Any, ctx: Any) -> Any:
    await server.notify_prompt_list_changed()
    return text("Changed")


# --- what tools ask --------------------------------------------------------------------------------------------------


def ask(message: str, **properties: Any) -> Any:
    schema = types.ElicitRequestFormParamsRequestedSchema(properties=properties, required=list(properties))
    return types.ElicitRequest(params=types.ElicitRequestFormParams(message=message, requested_schema=schema))


def ask_name() -> Any:
    return ask("What is your name?", name=types.StringSchema())


def ask_model(question: str) -> Any:
    messages = [types.SamplingMessage(role="user", content=types.TextContent(text=question))]
    return types.CreateMessageRequest(params=types.CreateMessageRequestParams(messages=messages, max_tokens=100))


def answers(params: Any, *keys: str) -> list[Any] | None:
    """The answers to these questions, unless one is missing."""
    given = params.input_responses or {}
    return [given[key] for key in keys] if all(key in given for key in keys) else None


@tool("Asks the user for a name")
async def test_input_required_result_elicitation(server: Any, params: Any, ctx: Any) -> Any:
    if (given := answers(params, "user_name")) is None:
        return ctx.input_required({"user_name": ask_name()})
    return text(f"Hello, {(given[0].content or {}).get('name', 'stranger')}!")


@tool("Asks a model")
async def test_input_required_result_sampling(server: Any, params: Any, ctx: Any) -> Any:
    if (given := answers(params, "capital_question")) is None:
        return ctx.input_required({"capital_question": ask_model("What is the capital of France?")})
    return text(f"{given[0].model} has answered")


@tool("Asks for the roots")
async def test_input_required_result_list_roots(server: Any, params: Any, ctx: Any) -> Any:
    if (given := answers(params, "client_roots")) is None:
        return ctx.input_required({"client_roots": types.ListRootsRequest()})
    return text(", ".join(root.uri for root in given[0].roots))


@tool("Carries state from round to round")
async def test_input_required_result_request_state(server: Any, params: Any, ctx: Any) -> Any:
    if answers(params, "confirm") is None or params.request_state is None:
        question = ask("Go on?", ok=types.BooleanSchema())
        return ctx.input_required({"confirm": question}, state=ctx.seal("confirming"))
    ctx.unseal(params.request_state)
    return text("state-ok")


@tool("Asks for several things at once")
async def test_input_required_result_multiple_inputs(server: Any, params: Any, ctx: Any) -> Any:
    if answers(params, "user_name", "greeting", "client_roots") is None or params.request_state is None:
        questions = {
            "user_name": ask_name(),
            "greeting": ask_model("Greet the user."),
            "client_roots": types.ListRootsRequest(),
        }
        return ctx.input_required(questions, state=ctx.seal("several"))
    ctx.unseal(params.request_state)
    return text("Thank you for everything")


@tool("Asks twice")
async def test_input_required_result_multi_round(server: Any, params: Any, ctx: Any) -> Any:
    step = ctx.unseal(params.request_state) if params.request_state is not None else 0
    if step == 0 or (step == 1 and answers(params, "step1") is None):
        return ctx.input_required({"step1": ask_name()}, state=ctx.seal(1))
    if step == 1 or answers(params, "step2") is None:
        question = ask("Which colour do you like?", colour=types.StringSchema())
        return ctx.input_required({"step2": question}, state=ctx.seal(2))
    return text("Thank you for both")


@tool("Refuses state that it has not signed")
async def test_input_required_result_tampered_state(server: Any, params: Any, ctx: Any) -> Any:
    if params.request_state is None:
        return ctx.input_required({"confirm": ask("Go on?", ok=types.BooleanSchema())}, state=ctx.seal("genuine"))
    ctx.unseal(params.request_state)
    return text("The state is genuine")


@tool("Asks only for what the client can answer")
async def test_input_required_result_capabilities(server: Any, params: Any, ctx: Any) -> Any:
    if params.input_responses:
        return text("Thank you")
    return ctx.input_required({"user_name": ask_name(), "greeting": ask_model("Greet the user.")})


# --- resources and prompts -------------------------------------------------------------------------------------------

RESOURCES: dict[str, tuple[str, str, dict[str, str]]] = {
    "test://static-text": ("text", "text/plain", {"text": "This is the content of the static text resource."}),
    "test://static-binary": ("binary", "image/png", {"blob": PIXEL}),
}
TEMPLATE = "test://template/{id}/data"


def message(content: Any) -> Any:
    return types.PromptMessage(role="user", content=content)


def prompt(description: str, *arguments: str) -> dict[str, Any]:
    return {
        "description": description,
        "arguments": [types.PromptArgument(name=name, required=True) for name in arguments] or None,
    }


PROMPTS = {
    "test_simple_prompt": prompt("A prompt"),
    "test_prompt_with_arguments": prompt("A prompt with arguments", "arg1", "arg2"),
    "test_prompt_with_embedded_resource": prompt("A prompt with a resource", "resourceUri"),
    "test_prompt_with_image": prompt("A prompt with an image"),
    "test_input_required_result_prompt": prompt("A prompt that asks first"),
}


class Everything(Server):  # type: ignore[misc]
    """Every fixture of the suite."""

    logging = True
    tools_list_changed = True
    prompts_list_changed = True
    resources_list_changed = True
    resources_subscribe = True

    async def list_tools(self, params: Any, ctx: Any) -> Any:
        tools = [
            types.Tool(name=name, description=description, input_schema=schema)
            for name, (description, schema, _) in TOOLS.items()
        ]
        return types.ListToolsResult(tools=tools)

    async def call_tool(self, params: Any, ctx: Any) -> Any:
        if params.name not in TOOLS:
            raise invalid_params(f"there is no tool {params.name!r}")
        return await TOOLS[params.name][2](self, params, ctx)

    async def list_resources(self, params: Any, ctx: Any) -> Any:
        resources = [
            types.Resource(uri=uri, name=name, mime_type=mime_type, description=f"A static {name} resource")
            for uri, (name, mime_type, _) in RESOURCES.items()
        ]
        return types.ListResourcesResult(resources=resources)

    async def list_resource_templates(self, params: Any, ctx: Any) -> Any:
        template = types.ResourceTemplate(uri_template=TEMPLATE, name="data", description="Data by its id")
        return types.ListResourceTemplatesResult(resource_templates=[template])

    async def read_resource(self, params: Any, ctx: Any) -> Any:
        uri = params.uri
        if uri in RESOURCES:
            _, mime_type, content = RESOURCES[uri]
            kind = types.TextResourceContents if "text" in content else types.BlobResourceContents
            return types.ReadResourceResult(contents=[kind(uri=uri, mime_type=mime_type, **content)])
        before, _, after = TEMPLATE.partition("{id}")
        if uri.startswith(before) and uri.endswith(after) and len(uri) > len(before) + len(after):
            id = uri[len(before) : -len(after)]
            data = json.dumps({"id": id, "templateTest": True, "data": f"Data for ID: {id}"})
            contents = types.TextResourceContents(uri=uri, mime_type="application/json", text=data)
            return types.ReadResourceResult(contents=[contents])
        raise McpError(-32602, "Resource not found", {"uri": uri})

    async def list_prompts(self, params: Any, ctx: Any) -> Any:
        return types.ListPromptsResult(prompts=[types.Prompt(name=name, **more) for name, more in PROMPTS.items()])

    async def get_prompt(self, params: Any, ctx: Any) -> Any:
        given = params.arguments or {}
        wanted = PROMPTS.get(params.name)
        if wanted is None:
            raise invalid_params(f"there is no prompt {params.name!r}")
        missing = [argument.name for argument in wanted["arguments"] or () if argument.name not in given]
        if missing:
            raise invalid_params(f"the prompt needs {', '.join(missing)}")
        match params.name:
            case "test_prompt_with_arguments":
                content = f"Prompt with arguments: arg1='{given['arg1']}', arg2='{given['arg2']}'"
                return types.GetPromptResult(messages=[message(types.TextContent(text=content))])
            case "test_prompt_with_embedded_resource":
                resource = embedded(given["resourceUri"], "text/plain", "Embedded resource content for testing.")
                question = types.TextContent(text="Please process the embedded resource above.")
                return types.GetPromptResult(messages=[message(resource), message(question)])
            case "test_prompt_with_image":
                image = types.ImageContent(data=PIXEL, mime_type="image/png")
                question = types.TextContent(text="Please analyze the image above.")
                return types.GetPromptResult(messages=[message(image), message(question)])
            case "test_input_required_result_prompt" if answers(params, "user_context") is None:
                return ctx.input_required({"user_context": ask("What is it about?", context=types.StringSchema())})
            case _:
                content = "This is a simple prompt for testing."
                return types.GetPromptResult(messages=[message(types.TextContent(text=content))])

    async def complete(self, params: Any, ctx: Any) -> Any:
        known = ["paris", "park", "party"]
        found = [value for value in known if value.startswith(params.argument.value)]
        completion = types.CompleteResultCompletion(values_=found, total=len(found), has_more=False)
        return types.CompleteResult(completion=completion)


def everything() -> Any:
    """A server, ready to be served."""
    info = types.Implementation(name="everything", version="1.0.0")
    return Everything(info=info, secret=secrets.token_bytes(32))


if __name__ == "__main__":
    http.serve(everything(), port=int(sys.argv[2]))
