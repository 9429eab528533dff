"""The reference decoder: what it builds, what it refuses, and what it says."""

from __future__ import annotations

import copy
import sys
from collections import OrderedDict
from enum import IntEnum
from typing import Any

import pytest

from loading import runtime

from .table import DEFINITIONS

d, p = runtime("definitions"), runtime("plans")
decoding = runtime("decoding")
DecodeError = runtime("errors").DecodeError


class Port(IntEnum):
    HTTP = 80


def build(name: str, members: dict[str, Any], extras: dict[str, Any], raw: dict[str, Any]) -> Any:
    return (name, members, extras)


def decode(type: Any, value: Any, **options: Any) -> Any:
    return decoding.decode(DEFINITIONS, type, value, build, **options)


def message(type: Any, value: Any, **options: Any) -> str:
    with pytest.raises(DecodeError) as caught:
        decode(type, value, **options)
    return str(caught.value)


NAN, INF = float("nan"), float("inf")
META = {"com.example/version": "1"}


# --- accepted --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("type", "value", "expected"),
    [
        (d.String(), "", ""),
        (d.String(), "file:///ü", "file:///ü"),
        (d.Integer(), 0, 0),
        (d.Integer(), 2.0, 2),
        (d.Integer(), -0.0, 0),
        (d.Integer(), 9007199254740993001, 9007199254740993001),
        (d.Integer(), 1e20, 10**20),
        (d.Integer(), Port.HTTP, 80),
        (d.Integer(minimum=0, maximum=2), 0, 0),
        (d.Integer(minimum=0, maximum=2), 2.0, 2),
        (d.Integer(minimum=0.5), 1, 1),
        (d.Number(), 5, 5),
        (d.Number(), 5.0, 5.0),
        (d.Number(), 10**400, 10**400),
        (d.Number(minimum=0, maximum=1), 1, 1),
        (d.Number(minimum=0, maximum=1), 0.0, 0.0),
        (d.Boolean(), False, False),
        (d.Null(), None, None),
        (d.Const("text"), "text", "text"),
        (d.Const(-32022), -32022, -32022),
        (d.Const(1), 1.0, 1),
        (d.Const(0), -0.0, 0),
        (d.Const(True), True, True),
        (d.Const(False), False, False),
        (d.Const(""), "", ""),
        (d.Const(None), None, None),
        (d.Enum(("a", "b")), "b", "b"),
        (d.Enum(("a", "b"), open=True), "c", "c"),
        (d.Enum(("a",), True), "", ""),
        (d.Anything(), None, None),
        (d.Anything(), {"a": [1, 1.0, True, None]}, {"a": [1, 1.0, True, None]}),
        (d.ListOf(d.Integer()), [], []),
        (d.ListOf(d.Integer(), 2), [1.0, 2], [1, 2]),
        (d.ListOf(d.Integer(), max_items=0), [], []),
        (d.MapOf(d.Number()), {"": 1, "ü": 2.0}, {"": 1, "ü": 2.0}),
        (d.MapOf(d.Integer()), OrderedDict(b=2.0, a=1), {"b": 2, "a": 1}),
        (d.Ref("Text"), "x", "x"),
        ("Text", "x", "x"),
        ("Token", "1", "1"),
        ("Token", 1.0, 1),
        ("Setting", 10.0, 10),
        ("Setting", 10.5, 10.5),
        ("Setting", None, None),
        ("Setting", ["a"], ["a"]),
        ("Block", {"type": "text", "text": ""}, ("TextBlock", {"type": "text", "text": ""}, {})),
        ("Ask", {"message": "?"}, ("AskForm", {"message": "?"}, {})),
        ("Ask", {"message": "?", "mode": "form"}, ("AskForm", {"message": "?", "mode": "form"}, {})),
        ("Ask", {"url": "u", "mode": "url"}, ("AskUrl", {"mode": "url", "url": "u"}, {})),
        ("Contents", {"text": "", "uri": "u"}, ("TextContents", {"uri": "u", "text": ""}, {})),
        ("Contents", {"uri": "u", "blob": "b"}, ("BlobContents", {"uri": "u", "blob": "b"}, {})),
        # both marks: the plan's order decides, the other one is an undeclared member
        ("Contents", {"uri": "u", "blob": 1, "text": "t"}, ("TextContents", {"uri": "u", "text": "t"}, {"blob": 1})),
        ("Choice", {"type": "string"}, ("Plain", {"type": "string"}, {})),
        ("Choice", {"type": "string", "enum": []}, ("Single", {"type": "string", "enum": []}, {})),
        ("OneOrMany", [], []),
        ("OneOrMany", {"type": "text", "text": "t"}, ("TextBlock", {"type": "text", "text": "t"}, {})),
        ("OneOrMany", [{"message": "?"}], [("AskForm", {"message": "?"}, {})]),
        ("Outcome", {"id": 1, "status": "info", "ttl": None}, ("Task", {"id": 1, "status": "info", "ttl": None}, {})),
        ("Outcome", {"items": [], "id": 1}, ("Page", {"items": []}, {"id": 1})),
        ("Outcome", {"status": 5}, ("Empty", {}, {"status": 5})),
        ("Caps", {"free": None, "list": False}, ("Caps", {"list": False, "free": None}, {})),
    ],
)
def test_accepted(type: Any, value: Any, expected: Any) -> None:
    decoded = decode(type, value)
    assert decoded == expected
    assert typed(decoded) == typed(expected)


def typed(value: Any) -> Any:
    """`value` with the types that == ignores."""
    if isinstance(value, dict):
        return {key: typed(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [typed(inner) for inner in value]
    return (int if isinstance(value, Port) else value.__class__, repr(int(value) if isinstance(value, Port) else value))


def test_members_come_in_declared_order_and_extras_in_wire_order() -> None:
    seen = []
    raw = {"z": 1, "caps": {}, "a": None, "com.example/version": "1", "": ""}
    decoding.decode(DEFINITIONS, "Meta", raw, lambda *arguments: seen.append(arguments))
    name, members, extras, given = seen[-1]
    assert name == "Meta"
    assert list(members) == ["com.example/version", "caps"]
    assert list(extras.items()) == [("z", 1), ("a", None), ("", "")]
    assert given is raw


def test_what_build_returns_is_used_as_it_is() -> None:
    assert decoding.decode(DEFINITIONS, "Block", {"type": "text", "text": "t"}, lambda *_: None) is None


def test_an_error_in_build_is_not_disguised() -> None:
    def broken(*_: Any) -> Any:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        decoding.decode(DEFINITIONS, "Caps", {}, broken)


def test_containers_are_new_and_free_values_are_not() -> None:
    raw: dict[str, Any] = {
        "name": "n",
        "arguments": {"a": [1]},
        "content": [{"uri": "u", "text": "t"}],
        "structured": [{}],
    }
    _, members, _ = decode("CallParams", raw)
    assert members["arguments"] == raw["arguments"]
    assert members["arguments"] is not raw["arguments"]
    assert members["arguments"]["a"] is raw["arguments"]["a"]
    assert members["content"] is not raw["content"]
    assert members["structured"] is raw["structured"]


def test_opaque_records_are_checked_and_returned_untouched() -> None:
    built = []
    raw = {"z": {"$ref": "#"}, "type": "object", "limit": 2.0, "caps": {"list": True}, "required": ["b", "a"]}
    decoded = decoding.decode(DEFINITIONS, "Schema", raw, lambda name, *_: built.append(name))
    assert decoded is raw
    assert list(raw) == ["z", "type", "limit", "caps", "required"]
    assert type(raw["limit"]) is float
    assert built == []  # nothing inside is built either


def test_the_input_is_never_changed() -> None:
    raw = {"method": "tools/call", "params": {"name": "n", "_meta": {**META, "x": {}, "progressToken": 1.0}, "q": [1]}}
    before = copy.deepcopy(raw)
    decode("Call", raw)
    assert typed(raw) == typed(before)


def test_check_builds_nothing() -> None:
    assert decoding.check(DEFINITIONS, "Caps", {"list": True}) is None
    with pytest.raises(DecodeError, match=r"^Caps: list: expected a boolean, got 1$"):
        decoding.check(DEFINITIONS, "Caps", {"list": 1})


# --- refused: kinds --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("type", "value", "text"),
    [
        (d.String(), 5, "string: expected a string, got 5"),
        (d.String(), None, "string: expected a string, got null"),
        (d.String(), b"x", "string: expected a string, got a value of the Python type bytes, which is not JSON"),
        (d.Integer(), True, "integer: expected an integer, got true"),
        (d.Integer(), 1.5, "integer: expected an integer, got 1.5"),
        (d.Integer(), "1", "integer: expected an integer, got a string"),
        (d.Integer(), NAN, "integer: expected an integer, got NaN, which is not a JSON number"),
        (d.Integer(), INF, "integer: expected an integer, got Infinity, which is not a JSON number"),
        (d.Integer(minimum=0), -1, "integer: expected an integer of at least 0, got -1"),
        (d.Integer(maximum=9), 10.0, "integer: expected an integer of at most 9, got 10"),
        pytest.param(
            d.Integer(0, 9),
            -(10**5000),
            "integer: expected an integer from 0 to 9, got a very large integer",
            id="huge",
        ),
        (d.Integer(0, 9), False, "integer: expected an integer from 0 to 9, got false"),
        (d.Number(), True, "number: expected a number, got true"),
        (d.Number(), "1", "number: expected a number, got a string"),
        (d.Number(), NAN, "number: expected a number, got NaN, which is not a JSON number"),
        (d.Number(), -INF, "number: expected a number, got -Infinity, which is not a JSON number"),
        (
            d.Number(minimum=0),
            -INF,
            "number: expected a number of at least 0, got -Infinity, which is not a JSON number",
        ),
        (d.Number(0, 1), 1.5, "number: expected a number from 0 to 1, got 1.5"),
        (d.Number(0, 1), [], "number: expected a number from 0 to 1, got an array"),
        (d.Boolean(), 0, "boolean: expected a boolean, got 0"),
        (d.Boolean(), 1.0, "boolean: expected a boolean, got 1.0"),
        (d.Boolean(), "true", "boolean: expected a boolean, got a string"),
        (d.Null(), 0, "null: expected null, got 0"),
        (d.Null(), False, "null: expected null, got false"),
        (d.Null(), {}, "null: expected null, got an object"),
        (d.Const("text"), "Text", 'const: expected "text", got "Text"'),
        (d.Const("text"), None, 'const: expected "text", got null'),
        (d.Const("1"), 1, 'const: expected "1", got 1'),
        (d.Const(1), True, "const: expected 1, got true"),
        (d.Const(0), False, "const: expected 0, got false"),
        (d.Const(1), "1", 'const: expected 1, got "1"'),
        (d.Const(1), 1.5, "const: expected 1, got 1.5"),
        (d.Const(True), 1, "const: expected true, got 1"),
        (d.Const(True), 1.0, "const: expected true, got 1.0"),
        (d.Const(False), 0, "const: expected false, got 0"),
        (d.Const(False), None, "const: expected false, got null"),
        (d.Const(None), False, "const: expected null, got false"),
        (d.Const("x"), "y" * 61, f'const: expected "x", got "{"y" * 60}…"'),
        (d.Enum(("a", "b", "c")), "d", 'enum: expected "a", "b" or "c", got "d"'),
        (d.Enum(("a", "b")), "A", 'enum: expected "a" or "b", got "A"'),
        (d.Enum(("a",)), ["a"], 'enum: expected "a", got an array'),
        (d.Enum(("1",)), 1, 'enum: expected "1", got 1'),
        (d.Enum(("a",), open=True), 1, "enum: expected a string, got 1"),
        (d.ListOf(d.String()), {}, "array of string: expected an array, got an object"),
        (d.ListOf(d.String()), "ab", "array of string: expected an array, got a string"),
        (
            d.ListOf(d.String()),
            ("a",),
            "array of string: expected an array, got a value of the Python type tuple, which is not JSON",
        ),
        (d.ListOf(d.String()), ["a", 1], "array of string: [1]: expected a string, got 1"),
        (d.ListOf(d.Anything(), 2), [1, 2, 3], "array of anything: expected at most 2 items, got 3"),
        (d.MapOf(d.String()), [], "map of string: expected an object, got an array"),
        (d.MapOf(d.String()), {"a": "", "b": None}, "map of string: b: expected a string, got null"),
        (d.MapOf(d.Anything()), {1: "x"}, "map of anything: expected strings as keys, got 1"),
        (d.MapOf(d.Boolean()), {"": 0}, 'map of boolean: [""]: expected a boolean, got 0'),
        (d.Ref("Text"), 1, "Text: expected a string, got 1"),
        (d.ListOf(d.Ref("Caps")), [{}, 1], "array of Caps: [1]: expected an object, got 1"),
    ],
)
def test_refused_kinds(type: Any, value: Any, text: str) -> None:
    assert message(type, value) == text


# --- refused: records and paths --------------------------------------------------------------------------------------


def call(**params: Any) -> dict[str, Any]:
    return {"method": "tools/call", "params": params}


@pytest.mark.parametrize(
    ("type", "value", "text"),
    [
        ("Call", [], "Call: expected an object, got an array"),
        ("Call", None, "Call: expected an object, got null"),
        ("Call", {"params": {"name": "n"}}, "Call: method: required member is missing"),
        ("Call", {"method": "tools/list", "params": {}}, 'Call: method: expected "tools/call", got "tools/list"'),
        ("Call", {"method": "tools/call"}, "Call: params: required member is missing"),
        ("Call", {"method": "tools/call", "params": None}, "Call: params: expected an object, got null"),
        ("Call", call(), "Call: params.name: required member is missing"),
        ("Call", call(name="n", arguments=[]), "Call: params.arguments: expected an object, got an array"),
        (
            "Call",
            call(name="n", arguments=None),
            "Call: params.arguments: expected an object, got null (leave an optional member out instead)",
        ),
        ("Call", call(name=None), "Call: params.name: expected a string, got null"),
        ("Call", dict([*call(name="n").items(), (5, 1)]), "Call: expected strings as keys, got 5"),
        ("Call", call(name="n", _meta={}), 'Call: params._meta["com.example/version"]: required member is missing'),
        (
            "Call",
            call(name="n", _meta={**META, "progressToken": True}),
            "Call: params._meta.progressToken: expected a string or an integer, got true",
        ),
        (
            "Call",
            call(name="n", _meta={**META, "progressToken": None}),
            "Call: params._meta.progressToken: expected a string or an integer, got null"
            " (leave an optional member out instead)",
        ),
        (
            "Call",
            call(name="n", content=[{"uri": "u", "text": ""}, {"uri": "u", "text": 0}]),
            "Call: params.content[1].text: expected a string, got 0",
        ),
        ("Tool", {"name": "t", "inputSchema": []}, "Tool: inputSchema: expected an object, got an array"),
        ("Tool", {"name": "t", "inputSchema": {}}, "Tool: inputSchema.type: required member is missing"),
        (
            "Tool",
            {"name": "t", "inputSchema": {"type": "object", "required": None}},
            "Tool: inputSchema.required: expected an array, got null (leave an optional member out instead)",
        ),
        (
            "Tool",
            {"name": "t", "inputSchema": {"type": "object", "required": [None]}},
            "Tool: inputSchema.required[0]: expected a string, got null",
        ),
        (
            "Tool",
            {"name": "t", "inputSchema": {"type": "object", "caps": {"list": "no"}}},
            "Tool: inputSchema.caps.list: expected a boolean, got a string",
        ),
        (
            "Tool",
            {"name": "t", "inputSchema": {"type": "object", 1: 1}},
            "Tool: inputSchema: expected strings as keys, got 1",
        ),
        ("Tool", {"name": "t", "inputSchema": {"type": "object"}, "": 1}, 'Tool: [""]: expected a boolean, got 1'),
        ("Grid", [[True], [False, 0]], "Grid: [1][1]: expected a boolean, got 0"),
        (
            "Tree",
            {"name": "a", "children": [{"name": "b"}, {"name": "c", "children": [{}]}]},
            "Tree: children[1].children[0].name: required member is missing",
        ),
    ],
)
def test_refused_members(type: Any, value: Any, text: str) -> None:
    assert message(type, value) == text


# --- refused: unions -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("type", "value", "text"),
    [
        ("Token", 1.5, "Token: expected a string or an integer, got 1.5"),
        ("Token", True, "Token: expected a string or an integer, got true"),
        ("Token", NAN, "Token: expected a string or an integer, got NaN, which is not a JSON number"),
        ("Setting", {}, "Setting: expected an integer, a number, null or an array, got an object"),
        ("Setting", 11, "Setting: expected an integer of at most 10, got 11"),
        ("Setting", 11.0, "Setting: expected an integer of at most 10, got 11"),
        ("Setting", INF, "Setting: expected a number, got Infinity, which is not a JSON number"),
        ("Block", "text", "Block: expected an object, got a string"),
        ("Block", {}, 'Block: type: required member is missing, expected "text" or "link"'),
        ("Block", {"type": "video"}, 'Block: type: expected "text" or "link", got "video"'),
        ("Block", {"type": None}, 'Block: type: expected "text" or "link", got null'),
        ("Block", {"type": ["text"]}, 'Block: type: expected "text" or "link", got an array'),
        ("Block", {"type": {}}, 'Block: type: expected "text" or "link", got an object'),
        # the tag has decided: only its arm counts, whatever else is there
        ("Block", {"type": "text", "uri": "u"}, "Block: text: required member is missing"),
        ("Block", {"type": "link", "text": "t"}, "Block: uri: required member is missing"),
        (
            "Blocks",
            [{"type": "text", "text": "t"}, {"type": "video"}],
            'Blocks: [1].type: expected "text" or "link", got "video"',
        ),
        ("Ask", {"message": "?", "mode": "telepathy"}, 'Ask: mode: expected "form", got "telepathy"'),
        ("Ask", {"message": "?", "mode": 5}, 'Ask: mode: expected "form", got 5'),
        ("Ask", {"message": "?", "mode": "url"}, "Ask: url: required member is missing"),
        ("Ask", [], "Ask: expected an object, got an array"),
        ("Contents", {"uri": "u"}, 'Contents: expected an object with "text" or "blob"'),
        ("Contents", {"uri": "u", "blob": "b", "text": None}, "Contents: text: expected a string, got null"),
        ("Choice", {"type": "array"}, 'Choice: expected an object with "items.enum"'),
        ("Choice", {"type": "array", "items": []}, 'Choice: expected an object with "items.enum"'),
        ("Choice", {"type": "array", "items": {"enum": [1]}}, "Choice: items.enum[0]: expected a string, got 1"),
        ("OneOrMany", "x", "OneOrMany: expected an object or an array, got a string"),
        ("OneOrMany", [5], "OneOrMany: [0]: expected an object, got 5"),
        ("OneOrMany", [{}], 'OneOrMany: [0]: expected an object with "type", "message" or "url"'),
        ("OneOrMany", [{"message": "?"}, {"mode": "url"}], "OneOrMany: [1].url: required member is missing"),
        ("Strict", {"id": 1}, 'Strict: expected an object with "id" and "status" (Task) or "items" (Page)'),
        ("Strict", 1, "Strict: expected an object, got 1"),
        ("Strict", {"id": 1, "status": "info", "items": []}, "Strict: ttl: required member is missing"),
    ],
)
def test_refused_unions(type: Any, value: Any, text: str) -> None:
    assert message(type, value) == text


def test_a_union_without_a_name_is_called_by_its_arms() -> None:
    assert message(DEFINITIONS["Token"], []) == "string | integer: expected a string or an integer, got an array"


def test_long_lists_of_alternatives_are_cut() -> None:
    assert message(d.Enum(tuple(f"v{n}" for n in range(40))), "x").endswith('"v14", "v15" or 24 more, got "x"')


# --- errors as values ------------------------------------------------------------------------------------------------


def test_the_error_has_parts() -> None:
    with pytest.raises(DecodeError) as caught:
        decode("Call", call(name="n", content=[{"uri": 1, "text": ""}]))
    assert caught.value.definition == "Call"
    assert caught.value.path == ("params", "content", 0, "uri")
    assert caught.value.reason == "expected a string, got 1"
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


def test_a_given_path_is_continued() -> None:
    assert (
        message("Caps", {"list": 0}, path=("result", "items", 3))
        == "Caps: result.items[3].list: expected a boolean, got 0"
    )
    assert message("Caps", 0, path=("result",)) == "Caps: result: expected an object, got 0"


# --- depth -----------------------------------------------------------------------------------------------------------


def nested(depth: int) -> Any:
    value: Any = 1
    for level in range(depth):
        value = [value] if level % 2 else {"k": value}
    return value


def test_nesting_is_followed_to_a_limit() -> None:
    value = nested(decoding.DEEPEST - 1)
    assert decode("Nest", value) == value
    with pytest.raises(DecodeError, match=r"nested too deeply$") as caught:
        decode("Nest", nested(decoding.DEEPEST))
    assert len(caught.value.path) == decoding.DEEPEST


@pytest.mark.parametrize("depth", [500, 100_000])
def test_hostile_nesting_is_an_ordinary_error(depth: int) -> None:
    tree: dict[str, Any] = {"name": "leaf"}
    for _ in range(depth):
        tree = {"name": "t", "children": [tree]}
    assert message("Tree", tree).endswith("nested too deeply")
    assert message("Nest", nested(depth)).endswith("nested too deeply")


def test_a_caller_close_to_the_recursion_limit_gets_an_ordinary_error_too() -> None:
    def descend(levels: int) -> str:
        return descend(levels - 1) if levels else message("Nest", nested(90))

    used = len(list(iter_frames()))
    assert descend(sys.getrecursionlimit() - used - 150).endswith("nested too deeply")


def iter_frames() -> Any:
    frame = sys._getframe()
    while frame is not None:
        yield frame
        frame = frame.f_back  # type: ignore[assignment]


def test_a_table_that_goes_in_circles_ends() -> None:
    circle = {"A": d.Ref("B"), "B": d.Ref("A")}
    with pytest.raises(DecodeError, match="nested too deeply"):
        decoding.check(circle, "A", 1)


def test_a_value_that_contains_itself_ends() -> None:
    tree: dict[str, Any] = {"name": "t"}
    tree["children"] = [tree]
    assert message("Tree", tree).endswith("nested too deeply")


# --- attempt ---------------------------------------------------------------------------------------------------------


def recorder(accept: set[str]) -> tuple[list[str], Any]:
    asked: list[str] = []

    def attempt(name: str, value: dict[str, Any]) -> Any:
        asked.append(name)
        return f"native {name}" if name in accept else decoding.NOT_BUILT

    return asked, attempt


def test_attempt_is_asked_for_every_record_but_the_outermost() -> None:
    asked, attempt = recorder(set())
    value = call(name="n", content=[{"uri": "u", "text": "t"}, {"uri": "u", "blob": "t"}], _meta={**META, "caps": {}})
    assert decode("Call", value, attempt=attempt) == decode("Call", value)
    assert asked == ["CallParams", "TextContents", "BlobContents", "Meta", "Caps"]


def test_what_attempt_builds_is_not_looked_into() -> None:
    asked, attempt = recorder({"Caps", "BlobContents"})
    value = call(name="n", content=[{"uri": "u", "blob": 5}], _meta={**META, "caps": 5, "x": 1})
    value["params"]["_meta"]["caps"] = {"list": "whatever"}
    _, members, _ = decode("Call", value, attempt=attempt)
    _, params, _ = members["params"]
    assert params["content"] == ["native BlobContents"]
    assert params["_meta"] == ("Meta", {**META, "caps": "native Caps"}, {"x": 1})
    assert asked == ["CallParams", "BlobContents", "Meta", "Caps"]


def test_attempt_is_not_asked_again_for_the_outermost_record_of_a_union() -> None:
    asked, attempt = recorder({"LinkBlock", "Meta"})
    assert decode("Block", {"type": "link", "uri": "u", "_meta": {}}, attempt=attempt) == (
        "LinkBlock",
        {"type": "link", "uri": "u", "_meta": "native Meta"},
        {},
    )
    assert asked == ["Meta"]


def test_attempt_may_build_none_or_anything_falsy() -> None:
    value = {"type": "link", "uri": "u", "_meta": {}}
    assert decode("Block", value, attempt=lambda *_: None)[1]["_meta"] is None


def test_attempt_has_no_part_in_opaque_records() -> None:
    asked, attempt = recorder({"Schema", "Caps"})
    text = message("Tool", {"name": "t", "inputSchema": {"type": "object", "caps": 5}}, attempt=attempt)
    assert text == "Tool: inputSchema.caps: expected an object, got 5"
    assert asked == []


def test_attempt_never_sees_what_is_not_an_object() -> None:
    asked, attempt = recorder({"Meta"})
    assert message("Block", {"type": "link", "uri": "u", "_meta": []}, attempt=attempt).startswith(
        "Block: _meta: expected"
    )
    assert asked == []


def test_an_unknown_name_is_a_mistake_in_the_table() -> None:
    with pytest.raises(KeyError):
        decode("Unheard", 1)
