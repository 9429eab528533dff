"""Decisions about what is on the wire: metadata, capabilities, addresses, rounds, envelopes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from mcp_bindings.runtime import capabilities, messages, rounds
from mcp_bindings.runtime.failures import (
    InvalidMessage,
    McpError,
    invalid_params,
    missing_capability,
    unsupported_version,
)
from mcp_bindings.runtime.meta import check_version, retry_version, version_of, with_meta
from mcp_bindings.runtime.peer import as_json, as_object, to_json
from mcp_bindings.runtime.routing import address_of, id_in_head

V = "io.modelcontextprotocol/protocolVersion"
C = "io.modelcontextprotocol/clientCapabilities"


# --- metadata --------------------------------------------------------------------------------------------------------


def test_version() -> None:
    assert version_of({"_meta": {V: "2026-07-28", C: {}}}) == "2026-07-28"


@pytest.mark.parametrize(
    ("params", "reason"),
    [
        (None, "_meta is missing"),
        ({}, "_meta is missing"),
        ({"_meta": None}, "_meta: expected an object, got null"),
        ({"_meta": []}, "_meta: expected an object, got an array"),
        ({"_meta": {}}, f"_meta: required member {V} is missing"),
        ({"_meta": {V: 3, C: {}}}, f"_meta[{V}]: expected a string, got 3"),
        ({"_meta": {V: "x"}}, f"_meta: required member {C} is missing"),
        ({"_meta": {V: "x", C: True}}, f"_meta[{C}]: expected an object, got true"),
    ],
)
def test_incomplete_metadata(params: dict[str, Any] | None, reason: str) -> None:
    with pytest.raises(McpError) as caught:
        version_of(params)
    assert (caught.value.code, caught.value.message) == (-32602, f"Invalid params: {reason}")


def test_unserved_version() -> None:
    with pytest.raises(McpError) as caught:
        check_version("1999-01-01", ("2026-07-28",))
    assert caught.value.code == -32022
    assert caught.value.data == {"requested": "1999-01-01", "supported": ["2026-07-28"]}
    check_version("2026-07-28", ("2026-07-28",))


@pytest.mark.parametrize(
    ("data", "mine", "expected"),
    [
        ({"supported": ["2026-07-28", "2025-11-25"], "requested": "x"}, ["x", "2026-07-28"], "2026-07-28"),
        ({"supported": ["b", "a"]}, ["a", "b"], "a"),
        ({"supported": ["b"]}, ["a"], None),
        ({"supported": "a"}, ["a"], None),
        ({"supported": [1, None]}, ["a"], None),
        ({}, ["a"], None),
        (None, ["a"], None),
        ([], ["a"], None),
    ],
)
def test_version_to_retry_with(data: Any, mine: list[str], expected: str | None) -> None:
    assert retry_version(McpError(-32022, "no", data), mine) == expected


def test_with_meta_leaves_the_original_alone() -> None:
    params = {"a": 1, "_meta": {"x": 1, "y": 2}}
    assert with_meta(params, {"y": 3}) == {"a": 1, "_meta": {"x": 1, "y": 3}}
    assert params == {"a": 1, "_meta": {"x": 1, "y": 2}}
    assert with_meta({}, {"y": 3}) == {"_meta": {"y": 3}}


# --- capabilities ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("declared", "path", "expected"),
    [
        ({"sampling": {}}, "sampling", True),
        ({}, "sampling", False),
        ({"sampling": {}}, "sampling.tools", False),
        ({"sampling": {"tools": {}}}, "sampling.tools", True),
        ({"elicitation": {}}, "elicitation.form", True),
        ({"elicitation": {}}, "elicitation.url", False),
        ({"elicitation": {"url": {}}}, "elicitation.form", False),
        ({"elicitation": {"url": {}, "form": {}}}, "elicitation.form", True),
        ({}, "elicitation.form", False),
        ({"tools": {"listChanged": False}}, "tools.listChanged", False),
        ({"tools": {"listChanged": True}}, "tools.listChanged", True),
        ({"extensions": {"com.example/x.y": {}}}, "extensions.com.example/x.y", True),
        ({"extensions": {}}, "extensions.com.example/x.y", False),
        ({"roots": None}, "roots", False),
        ({"roots": 5}, "roots.x", False),
    ],
)
def test_has(declared: dict[str, Any], path: str, expected: bool) -> None:
    assert capabilities.has(declared, path) is expected


def test_require_names_all_that_is_missing() -> None:
    with pytest.raises(McpError) as caught:
        capabilities.require({"roots": {}}, "roots", "elicitation.url", "extensions.com.example/x", "sampling")
    assert caught.value.code == -32021
    assert caught.value.data == {
        "requiredCapabilities": {"elicitation": {"url": {}}, "extensions": {"com.example/x": {}}, "sampling": {}}
    }
    assert "elicitation.url, extensions.com.example/x, sampling" in caught.value.message


def test_switches() -> None:
    class Owner:
        logging = True
        tools_list_changed = True
        prompts_list_changed = True
        off = False

    switches: dict[str, dict[str, Any]] = {
        "logging": {"logging": {}},
        "tools_list_changed": {"tools": {"listChanged": True}},
        "prompts_list_changed": {"prompts": {"listChanged": True}},
        "off": {"off": {}},
        "unknown": {"unknown": {}},
    }
    wire: dict[str, Any] = {"tools": {}}
    capabilities.switch_on(wire, Owner(), switches)
    assert wire == {"tools": {"listChanged": True}, "logging": {}}
    assert switches["logging"] == {"logging": {}}


@pytest.mark.parametrize(
    ("method", "params", "expected"),
    [
        ("elicitation/create", {"message": "m"}, ("elicitation.form",)),
        ("elicitation/create", {"mode": "form"}, ("elicitation.form",)),
        ("elicitation/create", {"mode": "url"}, ("elicitation.url",)),
        ("sampling/createMessage", {}, ("sampling",)),
        ("sampling/createMessage", {"tools": []}, ("sampling", "sampling.tools")),
        ("sampling/createMessage", {"toolChoice": {}}, ("sampling", "sampling.tools")),
        ("roots/list", {}, ("roots",)),
        ("x", {}, ()),
    ],
)
def test_needed_for_input(method: str, params: dict[str, Any], expected: tuple[str, ...]) -> None:
    assert capabilities.needed_for(method, params) == expected


# --- addresses -------------------------------------------------------------------------------------------------------

SUB = "io.modelcontextprotocol/subscriptionId"


@pytest.mark.parametrize(
    ("method", "params", "expected"),
    [
        ("notifications/progress", {"progressToken": 4}, ("token", 4)),
        ("notifications/progress", {"progressToken": "4"}, ("token", "4")),
        ("notifications/progress", {"progressToken": 4.0}, ("token", 4)),
        ("notifications/progress", {"progressToken": 4.5}, None),
        ("notifications/progress", {"progressToken": True}, None),
        ("notifications/progress", {}, None),
        ("notifications/cancelled", {"requestId": 0}, ("id", 0)),
        ("notifications/cancelled", {"requestId": None}, None),
        ("notifications/tools/list_changed", {"_meta": {SUB: ""}}, ("id", "")),
        ("notifications/tools/list_changed", {"_meta": {SUB: 0}}, ("id", 0)),
        ("notifications/tools/list_changed", {"_meta": {}}, None),
        ("notifications/tools/list_changed", {"_meta": 3}, None),
        ("notifications/message", {}, None),
    ],
)
def test_address(method: str, params: dict[str, Any], expected: Any) -> None:
    found = address_of(method, params)
    assert found == expected
    assert found is None or type(found[1]) is type(expected[1])


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        (b'{"jsonrpc":"2.0","id":12,"result":{"x', 12),
        (b' { "jsonrpc" : "2.0" , "id" : -3 , "re', -3),
        (b'{"jsonrpc":"2.0","id":"a b","result":{"x', "a b"),
        (b'{"jsonrpc":"2.0","id":"a\\"b","result":{"x', None),
        (b'{"jsonrpc":"2.0","id":1.5,"result":{"x', None),
        (b'{"jsonrpc":"2.0","id":12', None),
        (b'{"jsonrpc":"2.0","result":{"id":12,"x', None),
        (b"garbage", None),
    ],
)
def test_id_of_a_message_cut_short(head: bytes, expected: str | int | None) -> None:
    assert id_in_head(head) == expected


# --- rounds ----------------------------------------------------------------------------------------------------------


def test_inputs_asked_for() -> None:
    result = {
        "resultType": "input_required",
        "inputRequests": {
            "a": {"method": "roots/list"},
            "b": {"method": "elicitation/create", "params": {"message": "m"}},
        },
    }
    assert rounds.asked(result) == {"a": ("roots/list", {}), "b": ("elicitation/create", {"message": "m"})}
    assert rounds.asked({"resultType": "input_required", "requestState": ""}) == {}


@pytest.mark.parametrize(
    "result",
    [
        {},
        {"inputRequests": []},
        {"inputRequests": {"a": 5}},
        {"inputRequests": {"a": {}}},
        {"inputRequests": {"a": {"method": "m", "params": []}}},
    ],
)
def test_inputs_that_make_no_sense(result: dict[str, Any]) -> None:
    with pytest.raises(InvalidMessage):
        rounds.asked(result)


def test_next_round() -> None:
    first = {"name": "t", "inputResponses": {"old": 1}, "requestState": "old", "_meta": {"x": 1}}
    assert rounds.next_params(first, {"requestState": ""}, {"a": {}}) == {
        "name": "t",
        "_meta": {"x": 1},
        "inputResponses": {"a": {}},
        "requestState": "",
    }
    assert rounds.next_params(first, {}, {"a": {}}) == {"name": "t", "_meta": {"x": 1}, "inputResponses": {"a": {}}}
    with pytest.raises(InvalidMessage):
        rounds.next_params(first, {"requestState": 5}, {})
    assert rounds.pause(0) < rounds.pause(3) <= rounds.pause(100)


# --- envelopes -------------------------------------------------------------------------------------------------------


def test_envelopes() -> None:
    assert json.loads(messages.request("é", "m", {"a": [1, 1.0, None]})) == {
        "jsonrpc": "2.0",
        "id": "é",
        "method": "m",
        "params": {"a": [1, 1.0, None]},
    }
    assert messages.request(1, "m", b'{"a": 1.0}') == b'{"jsonrpc":"2.0","id":1,"method":"m","params":{"a": 1.0}}'
    assert json.loads(messages.notification("m", None)) == {"jsonrpc": "2.0", "method": "m"}
    assert json.loads(messages.result(0, {})) == {"jsonrpc": "2.0", "id": 0, "result": {}}
    assert json.loads(messages.error(None, invalid_params("x"))) == {
        "jsonrpc": "2.0",
        "error": {"code": -32602, "message": "Invalid params: x"},
    }
    assert json.loads(messages.error("", McpError(5, "m", None)))["error"] == {"code": 5, "message": "m", "data": None}


def test_error_data_that_is_not_json() -> None:
    circular: list[Any] = []
    circular.append(circular)
    for data in (object(), float("nan"), circular):
        assert json.loads(messages.error(1, McpError(5, "m", data)))["error"] == {"code": 5, "message": "m"}


@pytest.mark.parametrize(
    "wire",
    [
        {},
        {"code": "5", "message": "m"},
        {"code": 5},
        {"code": True, "message": "m"},
        {"code": 1.5, "message": "m"},
        {"code": 5, "message": None},
    ],
)
def test_errors_that_are_none(wire: dict[str, Any]) -> None:
    with pytest.raises(InvalidMessage):
        McpError.from_wire(wire)


def test_errors_survive_the_wire() -> None:
    for error in (
        McpError(0, ""),
        McpError(-1, "m", None),
        unsupported_version("a", ["b"]),
        missing_capability({"x": {}}),
    ):
        again = McpError.from_wire(json.loads(to_json(error.to_wire())))
        assert (again.code, again.message, again.data) == (error.code, error.message, error.data)
    assert McpError.from_wire({"code": 2.0, "message": "m"}).code == 2


def test_payloads() -> None:
    assert as_json({"é": "\u2028"}) == '{"é":"\u2028"}'.encode()
    assert as_json({"s": "\ud83d"}) == b'{"s":"\\ud83d"}'
    assert as_object(b'{"a":1.0,"a":2}') == {"a": 2}
    for bad in (b"[]", b"nan", b'{"a":NaN}', b"{", b"\xff", b"[" * 100_000):
        with pytest.raises(InvalidMessage):
            as_object(bad)
    with pytest.raises(ValueError, match="compliant"):
        as_json({"a": float("inf")})
