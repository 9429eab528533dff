"""Codecs: what is JSON and what is not, numbers, depth, errors, frames, and the first use in several threads."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest

from conftest import LATEST, REVISIONS
from mcp_bindings.runtime import UNSET
from mcp_bindings.runtime.errors import DecodeError
from mcp_bindings.runtime.frames import FrameError
from roundtrip.surfaces import STYLES, SURFACES, exact, surface
from styles.samples import kinds, largest, smallest

NOT_JSON = [
    ("NaN", "NaN is not a JSON number"),
    ("Infinity", "Infinity is not a JSON number"),
    ("-Infinity", "-Infinity is not a JSON number"),
    ("01", "not valid JSON"),
    ("+1", "not valid JSON"),
    (".5", "not valid JSON"),
    ("1.", "not valid JSON"),
    ("'x'", "not valid JSON"),
    ("True", "not valid JSON"),
    ("nul", "not valid JSON"),
    ('"\n"', "not valid JSON"),
    (r'"\x41"', "not valid JSON"),
    ("[1,]", "not valid JSON"),
    ('{"a":1,}', "not valid JSON"),
    ("{a: 1}", "not valid JSON"),
    ("/* c */ 1", "not valid JSON"),
    ("1 2", "not valid JSON"),
    ("", "not valid JSON"),
]
RESULT = '{"content":[],"resultType":"complete","structuredContent":%s}'


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize(("text", "reason"), NOT_JSON)
@pytest.mark.parametrize("place", ["structuredContent", "isError", "undeclared", "before"])
def test_what_is_not_json(style: str, text: str, reason: str, place: str) -> None:
    """In free-form members, in typed ones and in those that nobody knows: the message as a whole is refused."""
    package = surface(style, LATEST)
    others = '"content":[],"resultType":"complete"'
    data = f'{{"{place}":{text},{others}}}' if place == "before" else f'{{{others},"{place}":{text}}}'
    for form in (data, data.encode()):
        with pytest.raises(DecodeError, match=reason) as caught:
            package.codec.decode_json(package.types.CallToolResult, form)
        assert caught.value.definition == "CallToolResult"
        assert caught.value.path == ()


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize(
    ("number", "reason"), [("1e400", "out of range"), ("-1e999", "range"), ("1" * 5000, "too long")]
)
def test_numbers_that_python_does_not_have(style: str, number: str, reason: str) -> None:
    """They are JSON, but no message may come to hold an infinity because of them; where they are dropped, let them."""
    package = surface(style, LATEST)
    for free in (number, f"[{number}]", f'{{"k":{number}}}'):
        with pytest.raises(DecodeError, match=reason):
            package.codec.decode_json(package.types.CallToolResult, RESULT % free)
    with pytest.raises(DecodeError, match=reason):
        package.codec.decode_json(package.types.RequestId, number)
    with pytest.raises(DecodeError, match=reason):
        package.codec.decode_json(package.types.ResultMetaObject, f'{{"k":{number}}}')
    if STYLES[style].keeps_unknown:
        with pytest.raises(DecodeError, match=reason):
            package.codec.decode_json(package.types.Annotations, f'{{"undeclared":{number}}}')


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("data", [b"", b" ", b"{", b'{"content":[]', b'{"content":[]}}', b"{}{}", b"\0", b"nul"])
def test_broken_text(style: str, data: bytes) -> None:
    package = surface(style, LATEST)
    for type in (package.types.CallToolResult, package.types.ContentBlock, package.types.RequestId):
        with pytest.raises(DecodeError, match="not valid JSON"):
            package.codec.decode_json(type, data)


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize(
    "raw", [b"\xff", b"\xc3", b"\xc3(", b"\xed\xa0\xbd", b"\xf5\x80\x80\x80", b"\xc0\x80"], ids=lambda raw: raw.hex()
)
@pytest.mark.parametrize(
    "template",
    [
        b'{"content":[{"type":"text","text":"%b"}],"resultType":"complete"}',
        b'{"content":[],"resultType":"complete","structuredContent":{"k":"%b"}}',
        b'{"content":[],"resultType":"complete","structuredContent":{"%b":1}}',
        b'{"content":[],"resultType":"complete","_meta":{"%b":"x"}}',
        b'{"content":[],"resultType":"complete","undeclared":["%b"]}',
        b'{"content":[],"resultType":"complete","%b":1}',
    ],
)
def test_invalid_utf8(style: str, raw: bytes, template: bytes) -> None:
    package = surface(style, LATEST)
    with pytest.raises(DecodeError, match="not valid UTF-8"):
        package.codec.decode_json(package.types.CallToolResult, template % raw)


@pytest.mark.parametrize("style", STYLES)
def test_text_is_text_whatever_it_says(style: str) -> None:
    """Strings that look like numbers, escapes, other scripts, control characters, separators; long texts too."""
    package = surface(style, LATEST)
    strings = ["NaN", "Infinity", "null", "-Infinity, NaN", "1e400", "\u2028", "\u0000", "𝄞", 'é/\\"', "NaN" * 20_000]
    for string in strings:
        for free in (string, [string], {string: string}):
            wire = {"content": [{"type": "text", "text": string}], "resultType": "complete", "structuredContent": free}
            for data in (json.dumps(wire), json.dumps(wire, ensure_ascii=False).encode()):
                value = package.codec.decode_json(package.types.CallToolResult, data)
                assert value.content[0].text == string
                assert exact(value.structured_content) == exact(free)
                assert exact(json.loads(package.codec.encode_json(value))) == exact(wire)
                assert exact(package.codec.encode(value)) == exact(wire)


@pytest.mark.parametrize("style", STYLES)
def test_nan_in_a_long_text(style: str) -> None:
    package = surface(style, LATEST)
    data = RESULT % json.dumps({"text": "NaN Infinity " * 10_000, "number": math.nan})
    with pytest.raises(DecodeError, match="NaN is not a JSON number"):
        package.codec.decode_json(package.types.CallToolResult, data)


@pytest.mark.parametrize("style", STYLES)
def test_whitespace(style: str) -> None:
    package = surface(style, LATEST)
    wire = {"content": [{"type": "text", "text": "x"}], "resultType": "complete"}
    for data in (f" \r\n\t{json.dumps(wire, indent=2)}\r\n ", json.dumps(wire, separators=(",", ":"))):
        assert package.codec.encode(package.codec.decode_json(package.types.CallToolResult, data)) == wire
        assert package.codec.encode(package.codec.decode_json(package.types.CallToolResult, data.encode())) == wire
    assert b"\n" not in package.codec.encode_json(package.types.TextContent(text="a\nb"))


@pytest.mark.parametrize("style", STYLES)
def test_the_last_of_duplicate_keys_counts(style: str) -> None:
    """In records, in tags, in open maps, in free-form objects, on the fast way and on the slow one."""
    package = surface(style, LATEST)
    types, read = package.types, package.codec.decode_json
    block = read(types.ContentBlock, '{"type":"image","text":"a","type":"text","text":"b"}')
    assert block == types.TextContent(text="b")
    with pytest.raises(DecodeError):
        read(types.TextContent, '{"type":"text","text":"a","text":null}')
    meta = read(types.ResultMetaObject, '{"k":1,"k":2,"io.modelcontextprotocol/serverInfo":{"name":"n","version":"v"}}')
    assert meta["k"] == 2
    assert read(types.JSONValue, '{"a":1,"b":0,"a":2}') == {"a": 2, "b": 0}
    progress = read(types.JSONRPCRequest, '{"jsonrpc":"2.0","id":"x","id":7.0,"method":"m"}')
    assert exact(progress.id) == exact(7)


# --- Python values that are not JSON ---


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize(
    "odd",
    [math.nan, math.inf, -math.inf, {1, 2}, b"bytes", object(), UNSET, 1j, Decimal("1.5"), UUID(int=1), {1: "a"}, len],
    ids=lambda odd: type(odd).__name__,
)
def test_objects_that_are_no_json(style: str, odd: Any) -> None:
    """decode takes what a JSON parser makes. Where the schema says what it wants, nothing else will do."""
    package = surface(style, LATEST)
    types = package.types
    for type, value in (
        (types.TextContent, {"type": "text", "text": odd}),
        (types.TextContent, {"type": odd, "text": "x"}),
        (types.Annotations, {"audience": odd}),
        (types.Annotations, {"audience": [odd]}),
        (types.CallToolResult, {"content": [], "resultType": "complete", "isError": odd}),
        (types.CallToolResult, {"content": odd, "resultType": "complete"}),
        (types.ProgressNotificationParams, {"progressToken": odd, "progress": 1}),
        (types.ProgressNotificationParams, {"progressToken": 1, "progress": odd}),
        (types.Resource, {"name": "r", "uri": "u:r", "size": odd}),
        (types.RequestId, odd),
        (types.ContentBlock, odd),
    ):
        with pytest.raises(DecodeError):
            package.codec.decode(type, value)


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize(
    "odd", [math.nan, math.inf, -math.inf, object(), UNSET, len], ids=lambda odd: type(odd).__name__
)
def test_free_form_objects_that_cannot_be_written(style: str, odd: Any) -> None:
    """What no JSON stands for is refused when read, not when it is written one day."""
    package = surface(style, LATEST)
    types = package.types
    for type, value in (
        (types.CallToolResult, {"content": [], "resultType": "complete", "structuredContent": odd}),
        (types.CallToolResult, {"content": [], "resultType": "complete", "structuredContent": [{"k": odd}]}),
        (types.Tool, {"name": "t", "inputSchema": {"type": "object", "x": odd}}),
        (types.ResultMetaObject, {"k": odd}),
        (types.JSONValue, odd),
    ):
        with pytest.raises(DecodeError):
            package.codec.decode(type, value)


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_numbers_that_json_does_not_have_are_not_written(style: str, number: float) -> None:
    """At the latest when encoding; where constructors check, earlier."""
    package = surface(style, LATEST)
    types = package.types
    for make in (
        lambda: types.ProgressNotificationParams(progress_token=1, progress=number),
        lambda: types.CallToolResult(content=[], structured_content={"k": [number]}),
        lambda: types.ResultMetaObject({"k": number}),
        lambda: types.Tool(name="t", input_schema={"type": "object", "default": number}),
        lambda: types.CallToolResult(content=[], meta=types.ResultMetaObject({"k": number})),
    ):
        for encode in (package.codec.encode, package.codec.encode_json):
            with pytest.raises(ValueError, match=r"(?i)nan|inf|finite|out of range"):
                encode(make())
    for encode in (package.codec.encode, package.codec.encode_json):
        with pytest.raises(ValueError, match=r"(?i)nan|inf|finite|out of range"):
            encode({"k": number})
        assert encode(types.TextContent(text="null NaN Infinity"))


@pytest.mark.parametrize("style", STYLES)
def test_unset_is_never_written_by_mistake(style: str) -> None:
    """In free-form data it is an error, not a string or a null."""
    package = surface(style, LATEST)
    with pytest.raises((TypeError, ValueError)):
        package.codec.encode_json(package.types.CallToolResult(content=[], structured_content={"k": UNSET}))


# --- numbers ---

INTEGERS = [0, -1, 2**31, 2**53 + 1, -(2**63), 2**63, 2**64, 2**64 + 1, -(2**63) - 1, 10**30, -(10**40)]


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("number", INTEGERS)
def test_integers_are_exact(style: str, number: int) -> None:
    package = surface(style, LATEST)
    types, codec = package.types, package.codec
    for type, wire in (
        (types.RequestId, number),
        (types.ProgressNotificationParams, {"progressToken": number, "progress": number, "total": number}),
        (types.JSONRPCRequest, {"jsonrpc": "2.0", "id": number, "method": "m"}),
        (types.Resource, {"name": "r", "uri": "u:r", "size": number}),
        (types.JSONValue, [number, {"k": number}]),
        (types.NumberSchema, {"type": "number", "minimum": number, "default": number}),
        (types.Tool, {"name": "t", "inputSchema": {"type": "object", "default": number}}),
        (types.ElicitResult, {"action": "accept", "content": {"n": number}}),
        (types.Error, {"code": number, "message": "m", "data": [number]}),
    ):
        for value in (codec.decode(type, wire), codec.decode_json(type, json.dumps(wire))):
            assert exact(codec.encode(value)) == exact(wire)
            assert exact(json.loads(codec.encode_json(value))) == exact(wire)


@pytest.mark.parametrize("style", STYLES)
def test_constructed_integers_are_exact(style: str) -> None:
    package = surface(style, LATEST)
    for number in INTEGERS:
        made = package.types.ProgressNotificationParams(progress_token=number, progress=number)
        assert exact(package.codec.encode(made)) == exact({"progressToken": number, "progress": number})


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("number", [5, 5.0, 0, 0.0, -0.0, 0.5, 1e300, 1e-300, -7, 2**53 + 1])
def test_numbers_keep_their_kind(style: str, number: float) -> None:
    """Where any number may be, 5 is not 5.0. -0.0 keeps its sign."""
    package = surface(style, LATEST)
    types, codec = package.types, package.codec
    for type, wire in (
        (types.ProgressNotificationParams, {"progressToken": "t", "progress": number}),
        (types.NumberSchema, {"type": "number", "minimum": number, "maximum": number, "default": number}),
        (types.ElicitResult, {"action": "accept", "content": {"n": number}}),
        (types.JSONValue, number),
    ):
        for value in (codec.decode(type, wire), codec.decode_json(type, json.dumps(wire))):
            assert json.dumps(codec.encode(value), sort_keys=True) == json.dumps(wire, sort_keys=True)
            assert json.dumps(json.loads(codec.encode_json(value)), sort_keys=True) == json.dumps(wire, sort_keys=True)


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize(
    ("type", "wire", "integer"),
    [
        ("RequestId", 3.0, 3),
        ("RequestId", 1e3, 1000),
        ("Resource", {"name": "r", "uri": "u:r", "size": 3.0}, {"name": "r", "uri": "u:r", "size": 3}),
        ("Error", {"code": -32600.0, "message": ""}, {"code": -32600, "message": ""}),
        (
            "ListToolsResult",
            {"tools": [], "resultType": "complete", "ttlMs": 5.0, "cacheScope": "public"},
            {"tools": [], "resultType": "complete", "ttlMs": 5, "cacheScope": "public"},
        ),
        (
            "UntitledMultiSelectEnumSchema",
            {"type": "array", "items": {"type": "string", "enum": ["a"]}, "minItems": 1.0},
            {"type": "array", "items": {"type": "string", "enum": ["a"]}, "minItems": 1},
        ),
    ],
)
def test_integers_may_be_written_as_floats(style: str, type: str, wire: Any, integer: Any) -> None:
    package = surface(style, LATEST)
    for value in (
        package.codec.decode(getattr(package.types, type), wire),
        package.codec.decode_json(getattr(package.types, type), json.dumps(wire)),
    ):
        assert exact(package.codec.encode(value)) == exact(integer)
        assert value == package.codec.decode(getattr(package.types, type), integer)


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("number", [True, False, "1", 1.5, -0.5, None, [1], 1e300 * 1.1e-300])
def test_what_is_no_integer(style: str, number: Any) -> None:
    package = surface(style, LATEST)
    for type, wire in (
        (package.types.Resource, {"name": "r", "uri": "u:r", "size": number}),
        (package.types.Error, {"code": number, "message": ""}),
    ):
        for decode, form in ((package.codec.decode, wire), (package.codec.decode_json, json.dumps(wire))):
            with pytest.raises(DecodeError, match="expected an integer"):
                decode(type, form)


# --- depth and size ---


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("opening", ["[", '{"k":'])
@pytest.mark.parametrize("depth", [50, 1_000, 100_000])
def test_deep_nesting_does_not_crash(style: str, opening: str, depth: int) -> None:
    """Deeper than anyone needs is refused, or read whole; 50 levels are read."""
    package = surface(style, LATEST)
    closing = {"[": "]", '{"k":': "}"}[opening]
    deep = opening * depth + "1" + closing * depth
    for type, data in (
        (package.types.CallToolResult, RESULT % deep),
        (package.types.JSONValue, deep),
        (package.types.Tool, f'{{"name":"t","inputSchema":{{"type":"object","x":{deep}}}}}'),
        (package.types.ContentBlock, deep),
        (package.types.CallToolResult, f'{{"content":[],"resultType":"complete","undeclared":{deep}}}'),
        (package.types.ResultMetaObject, f'{{"k":{deep}}}'),
    ):
        try:
            value = package.codec.decode_json(type, data)
        except DecodeError:
            assert depth > 50 or type is package.types.ContentBlock
        else:
            try:
                package.codec.encode_json(value)
            except (ValueError, RecursionError):
                assert depth > 50


@pytest.mark.parametrize("style", STYLES)
def test_deep_objects_do_not_crash(style: str) -> None:
    package = surface(style, LATEST)
    deep: Any = 1
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(DecodeError):
        package.codec.decode(package.types.JSONValue, deep)
    with pytest.raises(DecodeError):
        package.codec.decode(
            package.types.CallToolResult, {"content": [], "resultType": "x", "structuredContent": deep}
        )
    circular: list[Any] = []
    circular.append(circular)
    with pytest.raises(DecodeError):
        package.codec.decode(package.types.JSONValue, circular)
    while isinstance(deep, list):  # taken apart from outside: freeing it at once would recurse
        deep = deep[0]


@pytest.mark.parametrize("style", STYLES)
def test_large_messages(style: str) -> None:
    package = surface(style, LATEST)
    wire = {
        "resultType": "complete",
        "content": [{"type": "text", "text": f"{n} " * 50} for n in range(2_000)],
        "structuredContent": {"n": list(range(10_000))},
        "_meta": {"com.example/x": "é" * 50_000},
    }
    value = package.codec.decode_json(package.types.CallToolResult, json.dumps(wire))
    assert exact(json.loads(package.codec.encode_json(value))) == exact(wire)


@pytest.mark.parametrize("style", STYLES)
def test_decoded_values_are_not_shared_with_the_input(style: str) -> None:
    """Changing what was decoded, or what was encoded, later on does not change the message."""
    package = surface(style, LATEST)
    free = {"k": [1]}
    wire = {"resultType": "complete", "content": [], "structuredContent": free, "_meta": {"m": free}}
    before = json.dumps(wire)
    value = package.codec.decode(package.types.CallToolResult, wire)
    assert json.dumps(wire) == before
    encoded = package.codec.encode(value)
    encoded["structuredContent"]["k"].append(2)
    encoded["content"].append(3)
    assert json.dumps(package.codec.encode(value), sort_keys=True) == json.dumps(json.loads(before), sort_keys=True)


# --- errors ---


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize(
    ("revision", "type", "wire", "path", "reason", "text"),
    [
        (
            LATEST,
            "TextContent",
            {"type": "text"},
            ("text",),
            "required member is missing",
            "TextContent: text: required member is missing",
        ),
        (
            LATEST,
            "CallToolResult",
            {"resultType": "complete", "content": [{"type": "text", "text": ""}, {"type": "text", "text": 5}]},
            ("content", 1, "text"),
            "expected a string, got 5",
            "CallToolResult: content[1].text: expected a string, got 5",
        ),
        (
            "2025-11-25",
            "CallToolRequest",
            {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "t", "arguments": [1]}},
            ("params", "arguments"),
            None,
            "CallToolRequest: params.arguments: expected an object, got an array",
        ),
        (
            LATEST,
            "ResultMetaObject",
            {"a": 1, "io.modelcontextprotocol/serverInfo": {"name": "n"}},
            ("io.modelcontextprotocol/serverInfo", "version"),
            "required member is missing",
            'ResultMetaObject: ["io.modelcontextprotocol/serverInfo"].version: required member is missing',
        ),
        (
            LATEST,
            "Annotations",
            {"priority": 1.5},
            ("priority",),
            "expected a number from 0 to 1, got 1.5",
            "Annotations: priority: expected a number from 0 to 1, got 1.5",
        ),
        (LATEST, "TextContent", [], (), "expected an object, got an array", None),
        (LATEST, "TextContent", None, (), "expected an object, got null", None),
        (LATEST, "RequestId", None, (), None, None),
        (LATEST, "Role", "system", (), 'expected "assistant" or "user", got "system"', None),
        (LATEST, "JSONObject", [], (), "expected an object, got an array", None),
        (
            LATEST,
            "InputResponses",
            {"a": {"action": "no"}},
            ("a", "action"),
            'expected "accept", "cancel" or "decline", got "no"',
            None,
        ),
    ],
)
def test_errors(
    style: str, revision: str, type: str, wire: Any, path: Any, reason: str | None, text: str | None
) -> None:
    package = surface(style, revision)
    for decode, form in ((package.codec.decode, wire), (package.codec.decode_json, json.dumps(wire))):
        with pytest.raises(DecodeError) as caught:
            decode(getattr(package.types, type), form)
        error = caught.value
        assert isinstance(error, ValueError)
        assert error.definition == type
        assert error.path == path
        if reason is not None:
            assert error.reason == reason
        if text is not None:
            assert str(error) == text
        assert error.__cause__ is None


@pytest.mark.parametrize("revision", REVISIONS)
def test_styles_say_the_same(revision: str) -> None:
    """Of one thing wrong anywhere in the largest message of every definition."""
    first, *others = STYLES
    for name in [kind.record.name for kind in kinds(first, revision)]:
        sample = largest(revision, name)
        for key in sample:
            broken = {**sample, key: {"": [{}]} if isinstance(sample[key], list | str) else [{}]}
            texts = {style: error_of(style, revision, name, broken) for style in (first, *others)}
            assert len(set(texts.values())) == 1, texts


def error_of(style: str, revision: str, name: str, value: Any) -> str | None:
    kind = next(kind for kind in kinds(style, revision) if kind.record.name == name)
    try:
        kind.decode(value)
    except DecodeError as error:
        return str(error)
    return None


@pytest.mark.parametrize("style", STYLES)
def test_types_that_are_no_definitions(style: str) -> None:
    """Lists, unions and scalars of one's own are decoded too; errors then name the type as well as they can."""
    package = surface(style, LATEST)
    types, codec = package.types, package.codec
    assert codec.decode(list[types.TextContent], [{"type": "text", "text": "x"}]) == [types.TextContent(text="x")]
    assert codec.decode_json(dict[str, int], b'{"a":1}') == {"a": 1}
    for type, wrong in ((list[types.TextContent], [{"type": "image"}]), (dict[str, int], {"a": "1"}), (int, True)):
        with pytest.raises(DecodeError):
            codec.decode(type, wrong)


# --- frames ---

RPC = {"jsonrpc": "2.0"}


def payload_of(frame: Any) -> Any:
    return None if frame.payload is None else json.loads(bytes(frame.payload))


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize(
    ("message", "kind", "id", "method", "payload"),
    [
        ({"id": 1, "method": "ping"}, "request", 1, "ping", None),
        ({"id": "1", "method": "ping", "params": {}}, "request", "1", "ping", {}),
        ({"id": 0, "method": "m", "params": {"a": [1, 1.0, None]}}, "request", 0, "m", {"a": [1, 1.0, None]}),
        ({"id": "", "method": "", "params": {}}, "request", "", "", {}),
        ({"id": 0.0, "method": "m"}, "request", 0, "m", None),
        ({"id": -(2**70), "method": "m"}, "request", -(2**70), "m", None),
        ({"id": "007", "result": {}}, "result", "007", None, {}),
        ({"id": 1e3, "result": {"r": ""}}, "result", 1000, None, {"r": ""}),
        ({"id": 1, "error": {"code": -32601, "message": "no"}}, "error", 1, None, {"code": -32601, "message": "no"}),
        ({"error": {"code": 0}}, "error", None, None, {"code": 0}),
        ({"id": None, "error": {"code": 0}}, "error", None, None, {"code": 0}),
        ({"method": "n"}, "notification", None, "n", None),
        ({"method": "n", "params": {"result": {}, "id": 7, "method": "x"}}, "notification", None, "n", ...),
        ({"method": "é", "params": {"é": "\u2028"}}, "notification", None, "é", {"é": "\u2028"}),
        ({"id": 1, "result": {}, "extra": [1], "params": 5}, "result", 1, None, {}),
        ({"id": 1, "method": "m", "params": {"n": 10**30}}, "request", 1, "m", {"n": 10**30}),
        ({"id": 1, "method": "m", "params": {"s": '}\n,{"id":2}'}}, "request", 1, "m", ...),
    ],
)
@pytest.mark.parametrize("order", ["as is", "reversed", "spaced", "escaped"])
def test_frames(style: str, message: Any, kind: str, id: Any, method: Any, payload: Any, order: str) -> None:
    """The kind is in the keys that are present, not in their order, and never in what is inside the payload."""
    whole = {**RPC, **message}
    if order == "reversed":
        whole = dict(reversed(whole.items()))
    texts = {"spaced": json.dumps(whole, indent=1), "escaped": json.dumps(whole).replace("method", "m\\u0065thod")}
    text = texts.get(order, json.dumps(whole, ensure_ascii=False, separators=(",", ":")))
    if order == "escaped" and payload is ... and "params" in message:
        pytest.skip("the payload would be escaped, too")
    for data in (text.encode(), text):
        frame = surface(style, LATEST).codec.frame(data)
        assert (frame.kind, frame.id, frame.method) == (kind, id, method)
        assert type(frame.id) is type(id)
        assert exact(payload_of(frame)) == exact(message["params"] if payload is ... else payload)


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize(
    ("message", "code", "id", "about"),
    [
        ({"id": None, "method": "m"}, -32600, None, "id"),
        ({"id": True, "method": "m"}, -32600, None, "id"),
        ({"id": False, "result": {}}, -32600, None, "id"),
        ({"id": 1.5, "method": "m"}, -32600, None, "id"),
        ({"id": [], "method": "m"}, -32600, None, "id"),
        ({"id": {}, "method": "m"}, -32600, None, "id"),
        ({"id": None, "result": {}}, -32600, None, "id"),
        ({"result": {}}, -32600, None, "id"),
        ({"id": 5}, -32600, 5, "method"),
        ({}, -32600, None, "method"),
        ({"id": 5, "method": 1}, -32600, 5, "method"),
        ({"id": 5, "method": None, "params": {}}, -32600, 5, "method"),
        ({"id": 5, "result": {}, "error": {}}, -32600, 5, "only one"),
        ({"id": 5, "method": "m", "result": {}}, -32600, 5, "only one"),
        ({"method": "m", "error": {}}, -32600, None, "only one"),
        ({"id": 5, "method": "m", "params": []}, -32602, 5, "params"),
        ({"id": 5, "method": "m", "params": None}, -32602, 5, "params"),
        ({"id": 5, "method": "m", "params": "{}"}, -32602, 5, "params"),
        ({"method": "m", "params": 0}, -32600, None, "params"),
        ({"id": 5, "result": None}, -32600, 5, "result"),
        ({"id": 5, "result": []}, -32600, 5, "result"),
        ({"id": 5, "error": "no"}, -32600, 5, "error"),
        ({"jsonrpc": "1.0", "id": 5, "method": "m"}, -32600, 5, "jsonrpc"),
        ({"jsonrpc": 2.0, "id": 5, "method": "m"}, -32600, 5, "jsonrpc"),
        ({"jsonrpc": 2, "id": 5, "result": {}}, -32600, 5, "jsonrpc"),
        ({"jsonrpc": None, "method": "m"}, -32600, None, "jsonrpc"),
    ],
)
def test_refused_frames(style: str, message: Any, code: int, id: Any, about: str) -> None:
    for whole in ({**RPC, **message}, dict(reversed({**RPC, **message}.items()))):
        for data in (json.dumps(whole).encode(), json.dumps(whole, indent=1)):
            with pytest.raises(FrameError, match=about) as caught:
                surface(style, LATEST).codec.frame(data)
            assert (caught.value.code, caught.value.id) == (code, id)


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b'{"id":5,"method":"m"}', -32600),
        (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600),
        (b"[]", -32600),
        (b"null", -32600),
        (b'"ping"', -32600),
        (b"5", -32600),
        (b"", -32700),
        (b"{", -32700),
        (b'{"jsonrpc":"2.0","id":1,"method":"m"', -32700),
        (b'{"jsonrpc":"2.0","id":1,"method":"m"}}', -32700),
        (b'{"jsonrpc":"2.0","id":1,"method":"m"} {}', -32700),
        (b'{"jsonrpc":"2.0","id":1,"method":"m","params":{"k":}}', -32700),
        (b'{"jsonrpc":"2.0","id":1,"method":"m","params":{"k":1}', -32700),
        (b'{"jsonrpc":"2.0","id":1,"method":"m","params":{"k":NaN}}', -32700),
        (b'{"jsonrpc":"2.0","id":1,"method":"m","params":{"k":-Infinity}}', -32700),
        (b'{"jsonrpc":"2.0","id":1,"method":"m","params":{"k":"\xff"}}', -32700),
        (b'{"jsonrpc":"2.0","id":1,"method":"m","params":{"\xc3":1}}', -32700),
        (b'{"jsonrpc":"2.0","id":1,"method":"\xff"}', -32700),
        (b'{"jsonrpc":"2.0","id":1,"result":{"k":"\xed\xa0\xbd"}}', -32700),
        (b'{"jsonrpc":"2.0","id":1,"method":"m","params":{"k":"\n"}}', -32700),
        (b'{"jsonrpc":"2.0","id":1,"method":"m","params":{"k":01}}', -32700),
        (b'{"jsonrpc":"2.0","id":NaN,"method":"m"}', -32700),
    ],
)
def test_text_that_is_no_message(style: str, data: bytes, code: int) -> None:
    with pytest.raises(FrameError) as caught:
        surface(style, LATEST).codec.frame(data)
    assert caught.value.code == code


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize(
    ("text", "id", "method", "payload"),
    [
        ('{"jsonrpc":"2.0","id":1,"id":2,"method":"m"}', 2, "m", None),
        ('{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":1},"params":{"b":2}}', 1, "m", {"b": 2}),
        ('{"params":{"a":1},"jsonrpc":"2.0","id":1,"method":"m","params":{"b":2}}', 1, "m", {"b": 2}),
        ('{"jsonrpc":"1.0","jsonrpc":"2.0","id":1,"method":"x","method":"m","params":{}}', 1, "m", {}),
        ('{"jsonrpc":"2.0","id":1,"method":"m","params":5,"params":{}}', 1, "m", {}),
        ('{"jsonrpc":"2.0","params":{"k":1},"id":1,"method":"m","\\u0070arams":{"k":2}}', 1, "m", {"k": 2}),
    ],
)
def test_the_last_of_duplicate_keys_counts_in_frames(style: str, text: str, id: Any, method: str, payload: Any) -> None:
    frame = surface(style, LATEST).codec.frame(text.encode())
    assert (frame.id, frame.method, payload_of(frame)) == (id, method, payload)


@pytest.mark.parametrize(("style", "revision"), SURFACES)
def test_frames_carry_decodable_payloads(style: str, revision: str) -> None:
    """The payload of a frame goes into decode_json as it is."""
    package = surface(style, revision)
    result = smallest(revision, "ListToolsResult")
    frame = package.codec.frame(json.dumps({**RPC, "id": 1, "result": result}))
    assert package.codec.encode(package.codec.decode_json(package.types.ListToolsResult, frame.payload)) == result


@pytest.mark.parametrize("style", STYLES)
def test_deep_frames_do_not_crash(style: str) -> None:
    deep = "[" * 100_000 + "]" * 100_000
    for text in (
        f'{{"jsonrpc":"2.0","id":1,"method":"m","params":{{"k":{deep}}}}}',
        f'{{"jsonrpc":"2.0","id":{deep},"method":"m"}}',
        deep,
    ):
        with pytest.raises(FrameError):
            surface(style, LATEST).codec.frame(text)


# --- first use in several threads ---

THREADS = """
import json, sys, threading
style, revision, names, samples = json.loads(sys.stdin.read())
from importlib import import_module
package = import_module(f"mcp_bindings.{style}.{revision}")
barrier = threading.Barrier(8)
outcomes = []

def work(number):
    barrier.wait()
    try:
        for name, sample in zip(names, samples):
            type = getattr(package.types, name)
            codec = package.codec
            value = codec.decode_json(type, json.dumps(sample)) if number % 2 else codec.decode(type, sample)
            assert package.codec.encode(value) == sample, name
            made = package.types.TextContent(text="x") if number % 3 else package.types.CallToolResult(content=[])
            package.codec.encode(made)
        outcomes.append(None)
    except BaseException as error:
        outcomes.append(f"{type(error).__name__}: {error}")

sys.setswitchinterval(1e-5)
threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print(json.dumps(outcomes))
"""


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("attempt", range(3))
def test_first_use_in_several_threads(style: str, attempt: int) -> None:
    """Modules load and classes are built on first use, here by eight threads at the same moment."""
    names = [
        "CallToolResult",
        "ListToolsResult",
        "ServerResult",
        "CallToolRequest",
        "ContentBlock",
        "RequestMetaObject",
    ]
    names = names[attempt:] + names[:attempt]
    samples = [largest(LATEST, name) for name in names]
    run = subprocess.run(
        [sys.executable, "-c", THREADS],
        input=json.dumps([style, "v2026_07_28", names, samples]),
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert json.loads(run.stdout) == [None] * 8
