"""Arguments in headers: what a schema may ask for, and what is sent and accepted."""

from __future__ import annotations

from typing import Any

import pytest

from mcp_bindings.runtime import http_params as params
from mcp_bindings.runtime.failures import McpError
from mcp_bindings.runtime.http_headers import read_headers


def schema(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def marked(name: Any, type: Any = "string") -> dict[str, Any]:
    return {"type": type, "x-mcp-header": name}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (schema(), []),
        (True, []),
        (None, []),
        (schema(r=marked("Region")), [(("r",), "Mcp-Param-Region", "string")]),
        (schema(n=marked("N", "integer"), b=marked("Method", "boolean")), [(("n",), "Mcp-Param-N", "integer"),
                                                                         (("b",), "Mcp-Param-Method", "boolean")]),
        (schema(a=schema(b=marked("X"))), [(("a", "b"), "Mcp-Param-X", "string")]),
        # A property of that name is none of our business, and neither is data.
        ({"type": "object", "properties": {"x-mcp-header": {"type": "string"}}}, []),
        (schema(a={"type": "object", "default": {"x-mcp-header": ""}, "enum": [{"x-mcp-header": 1}]}), []),
        (schema(a={"const": {"properties": {"b": marked("")}}}), []),
        (schema(a={"$ref": "#/$defs/none"}), []),
        (schema(properties=marked("P"), items=marked("I")), [(("properties",), "Mcp-Param-P", "string"),
                                                           (("items",), "Mcp-Param-I", "string")]),
        (schema(a=marked("!#$%&'*+-.^_`|~0aZ")), [(("a",), "Mcp-Param-!#$%&'*+-.^_`|~0aZ", "string")]),
    ],
)  # fmt: skip
def test_annotations(given: Any, expected: list[tuple[tuple[str, ...], str, str]]) -> None:
    assert [(each.path, each.header, each.type) for each in params.find_annotations(given)] == expected


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (schema(a=marked("")), "cannot be part"),
        (schema(a=marked("a b")), "cannot be part"),
        (schema(a=marked("a:b")), "cannot be part"),
        (schema(a=marked("Größe")), "cannot be part"),
        (schema(a=marked("a\tb")), "cannot be part"),
        (schema(a=marked("a\n")), "cannot be part"),
        (schema(a=marked("a\r\nEvil: x")), "cannot be part"),
        (schema(a=marked(7)), "not a string"),
        (schema(a=marked(None)), "not a string"),
        (schema(a=marked(10**5000)), "not a string"),
        (schema(a=marked("A", "number")), "only a string"),
        (schema(a=marked("A", "object")), "only a string"),
        (schema(a=marked("A", "array")), "only a string"),
        (schema(a=marked("A", "null")), "only a string"),
        (schema(a=marked("A", ["string", "null"])), "only a string"),
        (schema(a={"x-mcp-header": "A"}), "only a string"),
        (schema(a=marked("A"), b=marked("A")), "another property"),
        (schema(a=marked("Region"), b=schema(c=marked("REGION"))), "another property"),
        ({"type": "object", "x-mcp-header": "A"}, "where no property"),
        (schema(a={"type": "array", "items": marked("A")}), "where no property"),
        (schema(a={"type": "array", "items": schema(b=marked("A"))}), "where no property"),
        (schema(a={"type": "array", "prefixItems": [marked("A")]}), "where no property"),
        ({"anyOf": [schema(a=marked("A"))]}, "where no property"),
        ({"if": schema(a=marked("A"))}, "where no property"),
        ({"$defs": {"a": marked("A")}}, "where no property"),
        ({"additionalProperties": marked("A")}, "where no property"),
        ({"patternProperties": {".*": marked("A")}}, "where no property"),
        ({"not": {"allOf": [{"dependentSchemas": {"a": marked("A")}}]}}, "where no property"),
    ],
)
def test_annotations_that_no_header_can_follow(given: Any, reason: str) -> None:
    with pytest.raises(params.InvalidAnnotation, match=reason):
        params.find_annotations(given)


def test_a_schema_of_any_depth_is_read() -> None:
    deep: dict[str, Any] = {}
    for _ in range(50_000):
        deep = {"properties": {"a": deep}, "not": {}}
    assert params.find_annotations(deep) == ()


ALL = params.find_annotations(
    schema(
        s=marked("S"), n=marked("N", "integer"), b=marked("B", "boolean"), deep=schema(inner=marked("Inner")), free={}
    )
)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({}, {}),
        ({"free": "x", "other": 1}, {}),
        ({"s": None, "n": None, "b": None, "deep": None}, {}),
        ({"s": "", "n": 0, "b": False, "deep": {"inner": "x"}}, {"S": "", "N": "0", "B": "false", "Inner": "x"}),
        ({"n": -7, "b": True}, {"N": "-7", "B": "true"}),
        ({"n": 2**70}, {"N": str(2**70)}),
        ({"n": 42.0}, {"N": "42"}),
        ({"s": " x"}, {"S": "=?base64?IHg=?="}),
        ({"s": {"not": "a string"}, "deep": "no object"}, {}),
        ({"s": [1], "deep": {"inner": {}}}, {}),
    ],
)
def test_arguments_are_repeated(arguments: dict[str, Any], expected: dict[str, str]) -> None:
    assert dict(params.param_headers(ALL, arguments)) == {f"Mcp-Param-{key}": value for key, value in expected.items()}
    sent = [(name.encode(), value.encode()) for name, value in params.param_headers(ALL, arguments)]
    params.check_params(ALL, arguments, read_headers(sent))


@pytest.mark.parametrize(
    ("arguments", "header"),
    [
        ({"n": 42}, (b"mcp-param-n", b"42.0")),
        ({"n": 42}, (b"mcp-param-n", b"42.000")),
        ({"n": 42}, (b"mcp-param-n", b"042")),
        ({"n": 0}, (b"mcp-param-n", b"-0")),
        ({"n": 2**70}, (b"mcp-param-n", b"%d.0" % 2**70)),
        ({"s": "Hello"}, (b"mcp-param-s", b"=?base64?SGVsbG8=?=")),
        ({"s": "=?base64?SGVsbG8="}, (b"mcp-param-s", b"=?base64?SGVsbG8=")),
        ({"s": "SGVsbG8=?="}, (b"mcp-param-s", b"SGVsbG8=?=")),
        ({}, (b"mcp-param-unknown", b"\xff")),
    ],
)
def test_headers_that_fit(arguments: dict[str, Any], header: tuple[bytes, bytes]) -> None:
    params.check_params(ALL, arguments, read_headers([header]))


@pytest.mark.parametrize(
    ("arguments", "raw", "reason"),
    [
        ({"s": "x"}, [], "Mcp-Param-S is missing"),
        ({"s": ""}, [], "Mcp-Param-S is missing"),
        ({"s": "x"}, [(b"mcp-param-s", b"y")], "differs"),
        ({"s": "x"}, [(b"mcp-param-s", b"X")], "differs"),
        ({"s": "x"}, [(b"mcp-param-s", b"x"), (b"mcp-param-s", b"x")], "more than once"),
        ({"s": "Hello"}, [(b"mcp-param-s", b"=?base64?SGVsbG8?=")], "Base64"),
        ({"s": "Hello"}, [(b"mcp-param-s", b"=?base64?SGVs!!!bG8=?=")], "Base64"),
        ({"s": "é"}, [(b"mcp-param-s", "é".encode())], "ASCII"),
        ({"s": "a"}, [(b"mcp-param-s", b"a\x01")], "control"),
        ({}, [(b"mcp-param-s", b"x")], "does not have"),
        ({"s": None}, [(b"mcp-param-s", b"null")], "does not have"),
        ({"b": True}, [(b"mcp-param-b", b"True")], "differs"),
        ({"n": 42}, [(b"mcp-param-n", b"42.5")], "differs"),
        ({"n": 42}, [(b"mcp-param-n", b"4.2e1")], "differs"),
        ({"n": 42}, [(b"mcp-param-n", b"-42")], "differs"),
        ({"n": 1}, [(b"mcp-param-n", b"true")], "differs"),
        ({"s": "42"}, [(b"mcp-param-s", b"42.0")], "differs"),
        ({"n": 2**70}, [(b"mcp-param-n", b"%d" % (2**70 + 1))], "differs"),
        ({"s": {"a": 1}}, [(b"mcp-param-s", b"x")], "does not have"),
    ],
)
def test_headers_that_do_not_fit(arguments: dict[str, Any], raw: list[tuple[bytes, bytes]], reason: str) -> None:
    with pytest.raises(McpError, match=reason) as caught:
        params.check_params(ALL, arguments, read_headers(raw))
    assert caught.value.code == -32020
