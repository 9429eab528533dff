"""What happens to messages that msgspec refuses: they are mended, or the reference decoder decides."""

from __future__ import annotations

import contextlib
import copy
import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import msgspec
import pytest

from conftest import LATEST, ROOT
from mcp_bindgen.names import module
from mcp_bindings.msgspec.message import reader
from mcp_bindings.msgspec.repair import mend
from mcp_bindings.runtime.decoding import NOT_BUILT, decode
from mcp_bindings.runtime.errors import DecodeError

PACKAGE = import_module(f"mcp_bindings.msgspec.{module(LATEST)}")
TYPES, CODEC = PACKAGE.types, PACKAGE.codec
KEY = "io.modelcontextprotocol"

META = {f"{KEY}/protocolVersion": "v", f"{KEY}/clientCapabilities": {"roots": {}}}
TRACE = {"traceparent": "00-1", "com.example/trace.id": {"a": [1.0, None]}, "": 0}
SERVER = {f"{KEY}/serverInfo": {"name": "n", "version": "1"}}
LIST = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
CALL = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}


def call(**params: Any) -> dict[str, Any]:
    return {**CALL, "params": {"name": "t", **params}}


MENDED: list[tuple[str, Any]] = [
    ("CallToolRequest", call(_meta={**META, **TRACE})),
    ("CallToolRequest", call(_meta={**TRACE, **META, f"{KEY}/clientCapabilities": {"x": 1, "roots": {}, "y.z/w": 2}})),
    ("CallToolRequest", {**call(_meta=META), "id": 7.0}),
    ("CallToolRequest", {**call(_meta={**META, **TRACE, "progressToken": 2.0}), "id": -0.0}),
    ("RequestMetaObject", {**META, **TRACE}),
    ("ResultMetaObject", {"` - at `$.x": 1, "a`b": 2, "$[0].x": 3}),
    ("ResultMetaObject", {**SERVER, "x": None}),
    ("ClientCapabilities", {"com.example/a.b[0]": {}, "roots": {}}),
    ("ListToolsResult", {**LIST, "ttlMs": 3.0, "tools": [], "_meta": {"x": 1}}),
    ("ListToolsResultResponse", {"jsonrpc": "2.0", "id": 1, "result": {**LIST, "tools": [], "_meta": TRACE}}),
    ("ListResourcesResult", {**LIST, "resources": [{"name": "a", "uri": "u"}, {"name": "b", "uri": "u", "size": 5.0}]}),
    ("ProgressNotificationParams", {"progressToken": 1e3, "progress": 1.0, "_meta": {"x": 1}}),
    ("TextContent", {"type": "text", "text": "t", "annotations": {"priority": 1.0}}),
]
LEFT: list[tuple[str, Any]] = [
    ("CallToolRequest", {**call(_meta={**META, **TRACE}), "id": 1.5}),
    ("CallToolRequest", {**call(_meta={**META, f"{KEY}/clientInfo": {"name": "n"}, **TRACE})}),
    ("CallToolRequest", call(_meta=TRACE)),
    ("ListToolsResult", {**LIST, "ttlMs": -1.0, "tools": []}),
    ("ListResourcesResult", {**LIST, "resources": [{"name": "a", "uri": "u", "size": 5.0}] * 20}),
    (
        "CallToolResultResponse",
        {"jsonrpc": "2.0", "id": 1, "result": {"resultType": "", "content": [], "_meta": TRACE}},
    ),
    ("InputResponses", {"a": {"role": "user", "model": "m", "content": []}, "b": {"roots": 7}}),
    ("RequestId", 7.0),
    ("ClientRequest", {**CALL, "params": {"name": "t", "_meta": {**META, "x": 1}}}),
]


def by_table(name: str, value: Any) -> Any:
    """What the reference decoder alone makes of a value, or says about it."""
    table = import_module(f"mcp_bindings.definitions.{module(LATEST)}").DEFINITIONS
    try:
        return decode(table, name, value, CODEC.decode.__self__._build)
    except ValueError as error:
        return str(error)


def refusal(type: Any, data: bytes) -> Exception | None:
    try:
        reader(type)(data)
    except msgspec.ValidationError as error:
        return error
    return None


@pytest.mark.parametrize(("name", "value"), MENDED, ids=[f"{name}-{i}" for i, (name, _) in enumerate(MENDED)])
def test_everyday_oddities_are_mended(name: str, value: Any) -> None:
    """Without the table. Fails if msgspec words its errors in another way one day: then mend has to learn it."""
    data = json.dumps(value).encode()
    error = refusal(getattr(TYPES, name), data)
    expected = by_table(name, value)
    assert not isinstance(expected, str)
    if error is not None:
        assert mend(getattr(TYPES, name), json.loads(data), error) == expected
    assert CODEC.decode_json(getattr(TYPES, name), data) == expected
    assert CODEC.decode(getattr(TYPES, name), value) == expected


@pytest.mark.parametrize(("name", "value"), LEFT, ids=[f"{name}-{i}" for i, (name, _) in enumerate(LEFT)])
def test_the_rest_is_left_to_the_reference_decoder(name: str, value: Any) -> None:
    data = json.dumps(value).encode()
    error = refusal(getattr(TYPES, name), data)
    assert error is not None
    assert mend(getattr(TYPES, name), json.loads(data), error) is NOT_BUILT
    expected = by_table(name, value)
    for read, form in ((CODEC.decode_json, data), (CODEC.decode, value)):
        if isinstance(expected, str):
            with pytest.raises(DecodeError) as caught:
                read(getattr(TYPES, name), form)
            assert str(caught.value) == expected
        else:
            assert read(getattr(TYPES, name), form) == expected


def test_decoding_changes_nothing_of_the_callers() -> None:
    for name, value in (*MENDED, *LEFT):
        before = copy.deepcopy(value)
        with contextlib.suppress(ValueError):
            CODEC.decode(getattr(TYPES, name), value)
        assert value == before


COMMON = {
    "CallToolRequest": call(_meta=META),
    "ListToolsResult": {**LIST, "tools": [{"name": "t", "inputSchema": {"type": "object", "$schema": "s"}}]},
    "ReadResourceResult": {**LIST, "contents": [{"uri": "u", "text": "t"}, {"uri": "u", "blob": ""}]},
    "ClientRequest": call(_meta=META),
    "ContentBlock": {"type": "text", "text": "t"},
    "Role": "user",
    "RequestMetaObject": {**META, **TRACE},
}


@pytest.mark.parametrize("name", COMMON)
def test_ordinary_messages_do_not_need_the_table(name: str) -> None:
    """In a fresh process: what is decided natively does not load the definitions."""
    code = f"""
import sys
from mcp_bindings.msgspec.{module(LATEST)} import codec, types
value = codec.decode_json(types.{name}, sys.argv[1])
codec.encode_json(value), codec.matches(types.{name}, value)
assert not any("definitions.v" in name for name in sys.modules)
"""
    path = f"import sys; sys.path.insert(0, {str(ROOT / 'generated')!r})\n"
    subprocess.run([sys.executable, "-c", path + code, json.dumps(COMMON[name])], check=True)


def test_types_load_only_what_is_asked_for() -> None:
    code = f"""
import sys
sys.path.insert(0, {str(Path(ROOT / "generated"))!r})
from mcp_bindings.msgspec.{module(LATEST)}.types import Tool
loaded = [name for name in sys.modules if ".types." in name and name.startswith("mcp_bindings.")]
assert loaded == ["mcp_bindings.msgspec.{module(LATEST)}.types.shared"], loaded
"""
    subprocess.run([sys.executable, "-c", code], check=True)
