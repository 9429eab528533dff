"""What strict type checkers say of a user's code: nothing where it is right, and something wherever it is wrong."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from roundtrip.surfaces import STYLES
from styles.checkers import CHECKERS, check

RIGHT = """
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, assert_type

from typing_extensions import assert_never

from mcp_bindings.{style}.v2025_11_25 import codec as older_codec, types as older
from mcp_bindings.{style}.v2026_07_28 import codec, types
from mcp_bindings.{style}.v2026_07_28.types import CallToolResult, ContentBlock, TextContent
from mcp_bindings.runtime import UNSET, DecodeError, UnsetType


def construct() -> CallToolResult:
    text = TextContent(text="hello")
    same = TextContent(type="text", text="hello", annotations=types.Annotations(audience=["user"], priority=0))
    link = types.ResourceLink(name="r", uri="file:///r", size=0, description=None)
    meta = types.ResultMetaObject(
        {{"com.example/trace": "7"}}, server_info=types.Implementation(name="s", version="1")
    )
    return CallToolResult(content=[text, same, link], structured_content=None, is_error=False, meta=meta)


def more() -> list[object]:
    progress = types.ProgressNotificationParams(progress_token=1, progress=0.5, total=1)
    tool = types.Tool(name="t", input_schema={{"type": "object"}}, icons=[types.Icon(src="data:,")], title=None)
    meta = types.RequestMetaObject(
        protocol_version="2026-07-28", client_capabilities=types.ClientCapabilities(), progress_token="t"
    )
    params = types.CallToolRequestParams(name="t", meta=meta, arguments={{"a": [1, 1.0, None]}})
    request = types.CallToolRequest(id=1, params=params)
    listed = types.ListToolsResult(tools=[tool], ttl_ms=5, cache_scope="public")
    asked = types.InputRequiredResult(
        input_requests={{"a": types.ListRootsRequest()}}, request_state="s"
    )
    response = types.JSONRPCResultResponse(id="1", result=construct())
    task = older.Task(task_id="t", status="working", created_at="0", last_updated_at="0", ttl=None)
    return [progress, request, listed, asked, response, task, older.ListToolsRequest(id=1)]


def read(result: CallToolResult) -> str:
    assert_type(result.content, list[ContentBlock])
    assert_type(result.result_type, str)
    assert_type(result.is_error, bool | None)
    if result.structured_content is UNSET:
        return "absent"
    if result.meta is not None:
        assert_type(result.meta.server_info, types.Implementation | None)
        value: object = result.meta["com.example/trace"]
        known: Mapping[str, Any] = result.meta
        return f"{{value}} {{len(known)}} {{list(result.meta)}} {{'x' in result.meta}} {{result.meta.get('x', 0)}}"
    return ", ".join(describe(block) for block in result.content)


def describe(block: ContentBlock) -> str:
    match block:
        case TextContent(text=text):
            assert_type(text, str)
            return text
        case types.ImageContent(mime_type=mime_type) | types.AudioContent(mime_type=mime_type):
            return mime_type
        case types.EmbeddedResource(resource=types.TextResourceContents(text=text)):
            return text
        case types.EmbeddedResource(resource=types.BlobResourceContents(blob=blob)):
            return blob
        case types.EmbeddedResource():
            return block.type
        case types.ResourceLink():
            return f"{{block.uri}} {{(block.size or 0) + 1}}"
        case _:
            assert_never(block)


def narrow(block: ContentBlock) -> int:
    if isinstance(block, types.TextContent):
        return len(block.text)
    if block.type == "image":
        assert_type(block, types.ImageContent)
        return len(block.data)
    return 0


def ask(value: object) -> str:
    if isinstance(value, types.ContentBlock):
        return value.type
    return value if isinstance(value, types.RequestId) and isinstance(value, str) else ""


def decode(data: bytes, value: object) -> None:
    assert_type(codec.decode(CallToolResult, value), CallToolResult)
    assert_type(codec.decode_json(types.ListToolsResult, data), types.ListToolsResult)
    block: ContentBlock = codec.decode(ContentBlock, value)
    wire: object = codec.encode(block)
    assert_type(codec.encode_json(wire), bytes)
    assert_type(codec.matches(ContentBlock, block), bool)
    assert_type(codec.replace(construct(), is_error=None), CallToolResult)
    frame = codec.frame(data)
    if frame.kind == "request":
        assert_type(frame.id, str | int | None)
        assert_type(frame.method, str | None)
    try:
        older_codec.decode(older.InitializeResult, value)
    except DecodeError as error:
        assert_type(error.path, tuple[str | int, ...])
        print(error.definition, error.reason)


def inherit(result: types.Result, contents: types.ResourceContents) -> None:
    print(result.result_type, contents.uri)


def absent(value: types.JSONValue | UnsetType) -> types.RequestId:
    return 0 if value is UNSET else "1"


inherit(construct(), types.TextResourceContents(uri="u:t", text="t"))
inherit(types.ListToolsResult(tools=[]), types.BlobResourceContents(uri="u:b", blob=""))
levels: list[types.LoggingLevel] = ["debug", "emergency"]
role: types.Role = "user"
print(more(), read(construct()), ask, decode, narrow, absent, levels, role)
"""

WRONG = """
from __future__ import annotations

from mcp_bindings.{style}.v2026_07_28 import codec, types

types.TextContent(text=5)  # error
types.TextContent(text="x", txt="y")  # error
types.TextContent()  # error
types.TextContent("x")  # error
types.TextContent(type="image", text="x")  # error
types.TextContent(text="x", _meta={{}})  # error
types.TextContent(text=None)  # error
types.ImageContent(data="", mimeType="image/png")  # error
types.Tool(name="t", inputSchema={{}})  # error
types.Tool(name="t")  # error
types.Tool(name="t", input_schema=[])  # error
types.Annotations(audience="user")  # error
types.Annotations(audience=["system"])  # error
types.Annotations(priority="high")  # error
types.CallToolResult(content=[types.Implementation(name="n", version="v")])  # error
types.CallToolResult(content=types.TextContent(text="x"))  # error
types.ListToolsResult(tools=[], ttl_ms="5")  # error
types.ListToolsResult(tools=[], cache_scope="shared")  # error
types.RequestMetaObject(protocol_version="v")  # error
types.EmbeddedResource(resource=types.ResourceContents(uri="u:r"))  # error
types.JSONRPCResultResponse(id=1.5, result=types.EmptyResult())  # error
types.JSONRPCResultResponse(id=1, result=types.TextContent(text="x"))  # error
types.NoSuchType  # error

text = types.TextContent(text="x")
text.text = "y"  # error
text.type = "text"  # error
text.meta = None  # error
print(text.txt)  # error
print(text.mimeType)  # error
print(text.annotations.audience)  # error
number: int = text.text  # error
result: types.CallToolResult = codec.decode(types.ListToolsResult, {{}})  # error
wrong: types.ListToolsResult = codec.decode_json(types.CallToolResult, b"{{}}")  # error
data: str = codec.encode_json(text)  # error
codec.decode(types.TextContent)  # error
codec.decode_json(types.TextContent, {{}})  # error
replaced: types.ImageContent = codec.replace(text, text="y")  # error
level: types.LoggingLevel = "verbose"  # error
role: types.Role = "system"  # error
token: types.ProgressToken = 1.5  # error


def read(block: types.ContentBlock) -> str:
    return block.text  # error


def size(link: types.ResourceLink) -> int:
    return link.size + 1  # error


def schema(tool: types.Tool) -> str:
    return tool.input_schema  # error


def fine(link: types.ResourceLink) -> int:
    return link.size or 0
"""


def marked(text: str) -> set[int]:
    return {number for number, line in enumerate(text.splitlines(), 1) if line.endswith("# error")}


@pytest.mark.parametrize("checker", CHECKERS)
def test_users_are_told_when_they_are_wrong(checker: str, tmp_path: Path, subtests: pytest.Subtests) -> None:
    """The right file passes, the wrong one fails where it says so and nowhere else; in every style."""
    package = importlib.import_module("mcp_bindings")
    assert package.__file__ is not None
    texts = {"right": RIGHT, "wrong": WRONG}
    files = {f"{name}_{style}.py": text.format(style=style) for name, text in texts.items() for style in STYLES}
    found = check(checker, tmp_path, files, Path(package.__file__).parent.parent)
    for style in STYLES:
        with subtests.test(style):
            assert found.get(f"right_{style}.py", {}) == {}
            told = found.get(f"wrong_{style}.py", {})
            lines = WRONG.splitlines()
            unexpected = {f"{n}: {lines[n - 1]}": told[n] for n in sorted(told.keys() - marked(WRONG))}
            missed = [f"{n}: {lines[n - 1]}" for n in sorted(marked(WRONG) - told.keys())]
            assert (unexpected, missed) == ({}, [])
