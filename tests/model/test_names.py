"""Python names for wire names: readable, distinct, and never in the way of what a module needs."""

from __future__ import annotations

import builtins
import keyword

import pytest

from inline import STRING, model, obj
from mcp_bindgen import ir, names

SNAKE = {
    "inputSchema": "input_schema",
    "CallToolRequest": "call_tool_request",
    "JSONRPCError": "jsonrpc_error",
    "sampling/createMessage": "sampling/create_message",
    "oneOf": "one_of",
    "ttlMs": "ttl_ms",
    "URLElicitation": "url_elicitation",
}
ATTRIBUTES = {
    "_meta": "meta",
    "$schema": "schema_",
    "io.modelcontextprotocol/protocolVersion": "protocol_version",
    "a/b": "a_b",
    "$x": "x",
    "": "empty",
    "class": "class_",
    "json": "json_",
    "copy": "copy_",
    "model_config": "model_config_",
    "field": "field",
    "str": "str_",
    "2fa": "n2fa",
    "Annotated": "annotated",
    "é": "empty",
}


@pytest.mark.parametrize(("text", "expected"), SNAKE.items())
def test_snake(text: str, expected: str) -> None:
    assert names.snake(text) == expected


@pytest.mark.parametrize(("wire", "expected"), ATTRIBUTES.items())
def test_attribute(wire: str, expected: str) -> None:
    assert names.attribute(wire) == expected


@pytest.mark.parametrize("attribute", ["input_schema", "name", "ttl_ms", "one_of"])
def test_camel_is_the_way_back(attribute: str) -> None:
    assert names.snake(names.camel(attribute)) == attribute


def test_exact_spelling_keeps_the_name() -> None:
    protocol = model({"A": obj("", inputSchema=STRING, input_schema=STRING, InputSchema=STRING)})
    given = names.name_all(protocol).attributes["A"]
    assert given["input_schema"] == "input_schema"
    assert len(set(given.values())) == 3


def test_a_derived_record_keeps_the_names_of_its_base() -> None:
    protocol = model({"A": obj("fooBar", fooBar=STRING), "B": obj("fooBar foo_bar", fooBar=STRING, foo_bar=STRING)})
    given = names.name_all(protocol).attributes
    assert given["A"]["fooBar"] == given["B"]["fooBar"] == "foo_bar"
    assert given["B"]["foo_bar"] == "foo_bar_"


def test_every_name_is_a_distinct_identifier(protocol: ir.Protocol) -> None:
    given = names.name_all(protocol)
    for record, attributes in given.attributes.items():
        assert len(set(attributes.values())) == len(attributes), record
        assert all(name.isidentifier() and not keyword.iskeyword(name) for name in attributes.values()), record
    assert len(set(given.classes.values())) == len(given.classes)
    assert not set(given.classes.values()) & {name for name in dir(builtins) if name[0].islower()}


def test_definitions_keep_their_names(protocol: ir.Protocol) -> None:
    given = names.name_all(protocol).classes
    assert all(python == definition for definition, python in given.items())


def test_methods_are_named_after_their_definitions() -> None:
    from conftest import protocol_of

    given = {m.wire: m.name for m in protocol_of("2026-07-28").methods}
    assert given["tools/call"] == "call_tool"
    assert given["server/discover"] == "discover"
    assert given["subscriptions/listen"] == "listen"
    assert given["notifications/tools/list_changed"] == "tool_list_changed"
    assert given["elicitation/create"] == "elicit"
