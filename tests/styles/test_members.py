"""What happens to members that the schema does not declare, and to what it leaves open or opaque."""

from __future__ import annotations

import contextlib
import copy
import json
import pickle
from collections.abc import ItemsView, KeysView, Mapping, ValuesView
from typing import Any

import pytest

from conftest import LATEST, REVISIONS, protocol_of
from mcp_bindgen import ir
from mcp_bindings.runtime import definitions
from mcp_bindings.runtime.errors import DecodeError
from roundtrip.surfaces import STYLES, SURFACES, exact, surface, table
from styles.samples import FREE, Kind, accepted, kinds, largest, refuses, smallest

UNDECLARED: dict[str, Any] = {
    "com.example/x": FREE,
    "": 0,
    "zz": None,
    "a a": [],
    "$ref": "#/nowhere",
    "type_": False,
    "self": 1.0,
    "extras": {"a": 1},
    "copy": "c",
    "json": {},
    "model_config": 1,
    "model_fields_set": 2,
    "model_extra": 3,
    "__class__": "x",
    "__dict__": {},
    "__pydantic_extra__": {},
    "__struct_fields__": [],
    "keys": ["keys"],
    "get": 10**30,
}
"""Names that a careless implementation would trip over."""


def undeclared(kind: Kind) -> dict[str, Any]:
    """Members that `kind` does not declare: awkward names, and the Python names of those it does declare."""
    names = dict.fromkeys((name for name in kind.attributes.values() if name not in kind.record.wires), "not it")
    return {key: value for key, value in UNDECLARED.items() if key not in kind.record.wires} | names


def ways(kind: Kind, value: Any) -> list[Any]:
    return [kind.decode(value), kind.codec.decode_json(kind.cls, json.dumps(value).encode())]


@pytest.mark.parametrize(("style", "revision"), SURFACES)
def test_undeclared_members(style: str, revision: str) -> None:
    """Kept as they are or dropped, as style.toml says; always kept by open maps. Declared ones are never affected."""
    for kind in kinds(style, revision):
        for sample in (smallest, largest):
            wire = sample(revision, kind.record.name)
            extra = undeclared(kind)
            keeps = STYLES[style].keeps_unknown or kind.record.kind == "open"
            plain = kind.decode(wire)
            for message in ({**wire, **extra}, {**extra, **wire}):
                for value in ways(kind, message):
                    back = kind.codec.encode(value)
                    assert exact(back) == exact({**wire, **extra} if keeps else wire), str(kind)
                    assert [key for key in back if key in extra] == (list(extra) if keeps else []), "the order"
                    for attribute in kind.attributes.values():
                        assert getattr(value, attribute) == getattr(plain, attribute), f"{kind}.{attribute}"
                    assert pickle.loads(pickle.dumps(value)) == value == copy.deepcopy(value)
                    assert exact(kind.codec.encode(pickle.loads(pickle.dumps(value)))) == exact(back)
                    if keeps:
                        assert value != plain


@pytest.mark.parametrize(("style", "revision"), SURFACES)
def test_wrong_declared_members_are_no_undeclared_ones(style: str, revision: str) -> None:
    """Keeping what is unknown must not mean keeping what is wrong."""
    for kind in kinds(style, revision):
        wire = smallest(revision, kind.record.name)
        for field in kind.record.fields:
            if not isinstance(field.type, definitions.Anything) and field.required:
                with pytest.raises(DecodeError):
                    kind.decode({**{key: wire[key] for key in wire if key != field.wire}, **undeclared(kind)})


# --- open maps -------------------------------------------------------------------------------------------------------

OPEN = [(s, r) for s, r in SURFACES if any(record.kind == "open" for record in protocol_of(r).records)]


def open_kinds(style: str, revision: str) -> list[Kind]:
    return [kind for kind in kinds(style, revision) if kind.record.kind == "open"]


@pytest.mark.parametrize(("style", "revision"), OPEN)
@pytest.mark.parametrize("extra", [{}, {"z/b": [1, 1.0], "z/a": None, "": {"k": ""}}], ids=["plain", "extra"])
def test_open_maps_are_mappings(style: str, revision: str, extra: dict[str, Any]) -> None:
    for kind in open_kinds(style, revision):
        for sample in (smallest, largest):
            wire = {**sample(revision, kind.record.name), **extra}
            for value in ways(kind, wire):
                assert isinstance(value, Mapping), str(kind)
                assert len(value) == len(wire)
                assert set(value) == wire.keys()
                assert bool(value) == bool(wire)
                assert isinstance(value.keys(), KeysView)
                assert isinstance(value.items(), ItemsView)
                assert isinstance(value.values(), ValuesView)
                assert list(value.keys()) == list(value)
                assert list(value.items()) == list(zip(value.keys(), value.values(), strict=True))
                assert [key for key in value if key in extra] == list(extra)
                for key, member in wire.items():
                    assert key in value
                    assert exact(kind.codec.encode(value[key])) == exact(member), f"{kind}[{key!r}]"
                    assert exact(kind.codec.encode(value.get(key))) == exact(member)
                for wire_name, attribute in kind.attributes.items():
                    if wire_name in wire:
                        assert value[wire_name] == getattr(value, attribute)
                    else:
                        assert wire_name not in value
                for absent in ("no such key", *(a for w, a in kind.attributes.items() if a != w)):
                    assert absent not in value, f"{kind}: {absent}"
                    assert value.get(absent) is None
                    assert value.get(absent, 7) == 7
                    with pytest.raises(KeyError):
                        value[absent]
                assert exact(kind.codec.encode(dict(value))) == exact(wire)
                assert exact(kind.codec.encode({**value})) == exact(wire)
                assert exact(dict(value.extras)) == exact(extra)


@pytest.mark.parametrize(("style", "revision"), OPEN)
def test_open_maps_are_made_with_extra_keys(style: str, revision: str) -> None:
    extra = {"com.example/b": [1.0], "com.example/a": None}
    for kind in open_kinds(style, revision):
        wire = largest(revision, kind.record.name)
        members = kind.members(kind.decode(wire))
        made = kind.cls(extra, **members)
        assert made == kind.decode({**wire, **extra}), str(kind)
        assert exact(kind.codec.encode(made)) == exact({**wire, **extra})
        assert [key for key in kind.codec.encode(made) if key in extra] == list(extra)
        assert kind.cls({}, **members) == kind.decode(wire)
        assert kind.cls(extras=extra, **members) == made
        for declared in kind.record.wires:
            with pytest.raises(TypeError):
                kind.cls({declared: wire[declared]}, **members)


@pytest.mark.parametrize(("style", "revision"), OPEN)
def test_open_maps_with_extra_keys_are_like_those_without(style: str, revision: str) -> None:
    """They compare, print, hash, match and are frozen alike."""
    for kind in open_kinds(style, revision):
        wire = largest(revision, kind.record.name)
        plain = kind.decode(wire)
        value = kind.decode({**wire, "com.example/x": "1"})
        assert isinstance(value, kind.cls)
        assert value.__class__ is kind.cls
        assert value != plain
        assert plain != value
        assert value == kind.decode({"com.example/x": "1", **wire})
        assert value != kind.decode({**wire, "com.example/x": "2"})
        assert repr(value).startswith(f"{kind.cls.__name__}(")
        assert "com.example/x" in repr(value)
        assert str(value) == repr(value)
        assert kind.codec.matches(kind.cls, value)
        match value:
            case kind.cls():
                pass
            case _:
                pytest.fail("no match")
        match value:
            case {"com.example/x": seen}:
                assert seen == "1"
            case _:
                pytest.fail("no match")
        for attribute in (*kind.attributes.values(), "extras", "x"):
            with pytest.raises((AttributeError, TypeError, ValueError)):
                setattr(value, attribute, None)
        with pytest.raises((AttributeError, TypeError)):
            value["com.example/x"] = "2"
        with pytest.raises((AttributeError, TypeError)):
            del value["com.example/x"]
        for name in ("update", "pop", "clear", "setdefault", "popitem"):
            with pytest.raises((AttributeError, TypeError)):
                getattr(value, name)({})
        assert exact(kind.codec.encode(value)) == exact({**wire, "com.example/x": "1"})
        assert kind.codec.replace(value, extras={}) == plain
        assert kind.codec.replace(plain, extras={"com.example/x": "1"}) == value


@pytest.mark.parametrize("style", STYLES)
def test_hash_of_open_maps(style: str) -> None:
    types = surface(style, LATEST).types
    info = types.Implementation(name="n", version="v")
    first, second = (types.ResultMetaObject({"com.example/x": "1"}, server_info=info) for _ in range(2))
    assert hash(first) == hash(second)
    assert len({first, second, types.ResultMetaObject(server_info=info)}) == 2


@pytest.mark.parametrize("style", STYLES)
def test_extra_keys_are_not_shared_with_the_caller(style: str) -> None:
    types = surface(style, LATEST).types
    extra = {"com.example/x": 1}
    meta = types.ResultMetaObject(extra)
    extra["com.example/y"] = 2
    with contextlib.suppress(TypeError):  # what `extras` returns may be frozen or a copy
        meta.extras["com.example/x"] = 2
    assert dict(meta) == {"com.example/x": 1}


@pytest.mark.parametrize("style", STYLES)
def test_metadata_of_a_request(style: str) -> None:
    package = surface(style, LATEST)
    types = package.types
    meta = types.RequestMetaObject(
        {"com.example/trace": "t", "traceparent": "00-1-1-00"},
        protocol_version=LATEST,
        client_capabilities=types.ClientCapabilities(
            {"com.example/cap": {}}, elicitation=types.ClientCapabilitiesElicitation()
        ),
        progress_token=0,
    )
    assert meta["com.example/trace"] == "t"
    assert meta["progressToken"] == meta.progress_token == 0
    assert meta["io.modelcontextprotocol/protocolVersion"] == LATEST
    assert "io.modelcontextprotocol/clientInfo" not in meta
    request = types.CallToolRequest(id=1, params=types.CallToolRequestParams(name="t", meta=meta))
    wire = package.codec.encode(request)
    assert exact(wire) == exact(
        {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {
                "name": "t",
                "_meta": {
                    "io.modelcontextprotocol/protocolVersion": LATEST,
                    "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}, "com.example/cap": {}},
                    "progressToken": 0,
                    "com.example/trace": "t",
                    "traceparent": "00-1-1-00",
                },
            },
        }
    )
    back = package.codec.decode(types.CallToolRequest, wire)
    assert back == request
    assert back.params.meta["traceparent"] == "00-1-1-00"
    assert back.params.meta.client_capabilities["com.example/cap"] == {}


# --- opaque objects --------------------------------------------------------------------------------------------------

SCHEMA = {
    "x-last": 1.0,
    "type": "object",
    "properties": {
        "b": {"type": "integer", "default": 0},
        "a": {"default": 0.0, "minimum": -1, "enum": [None, 1, 1.0]},
    },
    "$defs": {"Z": {}, "A": {"type": ["string", "null"]}},
    "required": ["b"],
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "input_schema": {},
    "additionalProperties": False,
}


@pytest.mark.parametrize(("style", "revision"), SURFACES)
def test_opaque_objects_are_untouched(style: str, revision: str) -> None:
    """Also the order of their keys: a relay forwards the same text."""
    package = surface(style, revision)
    wire = {"name": "t", "inputSchema": SCHEMA}
    text = json.dumps(wire)
    for tool in (
        package.codec.decode(package.types.Tool, copy.deepcopy(wire)),
        package.codec.decode_json(package.types.Tool, text),
        package.types.Tool(name="t", input_schema=SCHEMA),
    ):
        assert type(tool.input_schema) is dict
        assert json.dumps(tool.input_schema) == json.dumps(SCHEMA)
        assert json.dumps(package.codec.encode(tool)["inputSchema"]) == json.dumps(SCHEMA)
        assert json.dumps(json.loads(package.codec.encode_json(tool))["inputSchema"]) == json.dumps(SCHEMA)


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize(
    ("revision", "broken", "path"),
    [
        *((r, {}, "inputSchema.type") for r in REVISIONS),
        *((r, {"type": "array"}, "inputSchema.type") for r in REVISIONS),
        *((r, {"type": None}, "inputSchema.type") for r in REVISIONS),
        *((r, {"type": "object", "required": None}, "inputSchema.required") for r in REVISIONS[:4]),
        *((r, {"type": "object", "required": ["a", 1]}, "inputSchema.required[1]") for r in REVISIONS[:4]),
        *((r, {"type": "object", "properties": []}, "inputSchema.properties") for r in REVISIONS[:4]),
        *((r, {"type": "object", "properties": {"p": True}}, "inputSchema.properties.p") for r in REVISIONS[:4]),
        *((r, [], "inputSchema") for r in REVISIONS),
        (LATEST, {"type": "object", "$schema": 1}, 'inputSchema["$schema"]'),
    ],
)
def test_declared_members_of_opaque_objects_are_checked(style: str, revision: str, broken: Any, path: str) -> None:
    package = surface(style, revision)
    wire = {"tools": [{"name": "ok", "inputSchema": SCHEMA}, {"name": "bad", "inputSchema": broken}]}
    if revision == LATEST:
        wire |= {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
    texts: set[str] = set()
    for decode, form in ((package.codec.decode, wire), (package.codec.decode_json, json.dumps(wire))):
        with pytest.raises(DecodeError) as caught:
            decode(package.types.ListToolsResult, form)
        texts.add(str(caught.value))
    (text,) = texts
    assert text.startswith(f"ListToolsResult: tools[1].{path}: ")


@pytest.mark.parametrize(("style", "revision"), SURFACES)
def test_opaque_definitions_can_be_decoded_themselves(style: str, revision: str) -> None:
    package = surface(style, revision)
    for record in protocol_of(revision).records:
        if record.kind == "opaque":
            type = getattr(package.types, record.name)
            assert package.codec.decode(type, SCHEMA) == SCHEMA
            assert list(package.codec.decode_json(type, json.dumps(SCHEMA))) == list(SCHEMA)
            for value in ({}, {"type": "string"}, {"$schema": 1}, [], None, "object"):
                refused = refuses((DecodeError,), package.codec.decode, type, value)
                assert refused != accepted(revision, record.name, value), f"{record.name}: {value}"


@pytest.mark.parametrize(("style", "revision"), SURFACES)
def test_free_form_members_are_untouched(style: str, revision: str) -> None:
    """Members and maps that may hold any JSON, wherever they are: order, kinds of numbers, nulls, keys like ours."""
    free = {
        "z": 1,
        "a": 1.0,
        "m": [None, {"b": -0.0, "a": 10**30}],
        "_meta": {"x": ""},
        "type": "text",
        "input_schema": 0,
    }
    found = 0
    for kind in kinds(style, revision):
        for field in kind.record.fields:
            if is_free(revision, field.type):
                wire = {**smallest(revision, kind.record.name), field.wire: free}
                for value in ways(kind, wire):
                    where = f"{kind}.{field.wire}"
                    assert json.dumps(kind.codec.encode(value)[field.wire]) == json.dumps(free), where
                    assert json.dumps(json.loads(kind.codec.encode_json(value))[field.wire]) == json.dumps(free), where
                    member = getattr(value, kind.attributes[field.wire])
                    assert json.dumps(member) == json.dumps(free), where
                    assert type(member) is dict, where
                found += 1
    assert found > 5


def is_free(revision: str, type: Any) -> bool:
    match type:
        case definitions.Ref(name=name):
            return is_free(revision, table(revision)[name])
        case definitions.Anything() | definitions.MapOf(value=definitions.Anything()):
            return True
        case definitions.MapOf(value=definitions.Ref(name="JSONValue")):
            return True
        case _:
            return False


# --- derived records -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("style", "revision"), SURFACES)
def test_a_derived_record_in_a_field_is_written_whole(style: str, revision: str) -> None:
    """A field typed with a base may hold anything derived from it."""
    by_name = {kind.record.name: kind for kind in kinds(style, revision)}
    protocol = protocol_of(revision)
    checked = 0
    for owner in by_name.values():
        for field in owner.record.fields:
            base, wrap, wire_wrap = _base(field.type)
            for record in protocol.records:
                derived = by_name.get(record.name)
                if base in by_name and derived and issubclass(derived.cls, by_name[base].cls) and record.name != base:
                    inner = largest(revision, record.name)
                    keywords = owner.members(owner.decode(smallest(revision, owner.record.name)))
                    made = owner.cls(**{**keywords, owner.attributes[field.wire]: wrap(derived.decode(inner))})
                    assert exact(owner.codec.encode(made)[field.wire]) == exact(
                        wire_wrap(inner)
                    ), f"{owner}.{field.wire} with a {record.name}"
                    assert exact(json.loads(owner.codec.encode_json(made))[field.wire]) == exact(wire_wrap(inner))
                    checked += 1
    assert checked > 5


def _base(type: Any) -> tuple[str, Any, Any]:
    match type:
        case definitions.Ref(name=name):
            return name, lambda value: value, lambda value: value
        case definitions.ListOf(item=definitions.Ref(name=name)):
            return name, lambda value: [value], lambda value: [value]
        case _:
            return "", None, None


@pytest.mark.parametrize("style", STYLES)
def test_a_response_holds_any_result(style: str) -> None:
    package = surface(style, LATEST)
    types = package.types
    response = types.JSONRPCResultResponse(
        id=1, result=types.CallToolResult(content=[types.TextContent(text="x")], structured_content=None)
    )
    assert package.codec.encode(response)["result"] == {
        "resultType": "complete",
        "content": [{"type": "text", "text": "x"}],
        "structuredContent": None,
    }
    assert isinstance(response.result, types.CallToolResult)


def test_records_without_kind_are_not_forgotten() -> None:
    """Every record of every revision is in these tables: as a class, or as an opaque object."""
    for revision in REVISIONS:
        opaque = {r.name for r in protocol_of(revision).records if r.kind == "opaque"}
        for style in STYLES:
            assert {kind.record.name for kind in kinds(style, revision)} | opaque == {
                d.name for d in protocol_of(revision).declarations.values() if isinstance(d, ir.Record)
            }
