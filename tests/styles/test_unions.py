"""Unions: which arm a value is read as, for every arm of every union, by itself and inside messages."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from conftest import LATEST, REVISIONS
from mcp_bindings.runtime import definitions
from mcp_bindings.runtime.errors import DecodeError
from roundtrip.surfaces import STYLES, SURFACES, exact, surface, table
from styles.samples import Kind, accepted, arms, kinds, smallest, type_of, unions

# Arms that no message is read as, because another arm has the same members or fewer and comes first.
SHADOWED = {
    ("2025-11-25", "ClientResult"): {"GetTaskPayloadResult", "CancelTaskResult"},
    ("2025-11-25", "ServerResult"): {"GetTaskPayloadResult", "CancelTaskResult"},
}
KINDS: dict[type, type] = {
    definitions.String: str,
    definitions.Enum: str,
    definitions.Integer: int,
    definitions.Boolean: bool,
    definitions.ListOf: list,
    definitions.MapOf: dict,
}


def class_of(style: str, revision: str, arm: Any) -> type | None:
    """What a value of an arm is an instance of; None for numbers, which are ints or floats."""
    while isinstance(arm, definitions.Ref):
        definition = table(revision)[arm.name]
        if isinstance(definition, definitions.Record):
            return dict if definition.kind == "opaque" else type_of(style, revision, arm.name)
        arm = definition
    return type(None) if isinstance(arm, definitions.Null) else KINDS.get(type(arm))


def sites(style: str, revision: str) -> Iterator[tuple[Kind, str, Any, str]]:
    """Unions written inside records: (record, member, union, how it is wrapped)."""
    for kind in kinds(style, revision):
        for field in kind.record.fields:
            match field.type:
                case definitions.Union() as union:
                    yield kind, field.wire, union, ""
                case definitions.ListOf(item=definitions.Union() as union):
                    yield kind, field.wire, union, "list"
                case definitions.MapOf(value=definitions.Union() as union):
                    yield kind, field.wire, union, "map"


@pytest.mark.parametrize(("style", "revision"), SURFACES)
def test_arms_of_definitions(style: str, revision: str) -> None:
    codec = surface(style, revision).codec
    for name, union in unions(revision):
        alias = type_of(style, revision, name)
        shadowed = set(union.arms)
        for label, sample in arms(revision, union):
            shadowed.remove(label)
            expected = class_of(style, revision, union.arms[label])
            for value in (codec.decode(alias, sample), codec.decode_json(alias, json.dumps(sample))):
                assert value.__class__ is expected, f"{name} as {label}"
                assert exact(codec.encode(value)) == exact(sample), f"{name} as {label}"
                assert codec.matches(alias, value), f"{name} as {label}"
                if hasattr(expected, "__definition__"):
                    assert isinstance(value, expected)
                    assert codec.matches(expected, value)
                    assert value == codec.decode(expected, sample)
        assert shadowed == SHADOWED.get((revision, name), set())


@pytest.mark.parametrize(("style", "revision"), SURFACES)
def test_isinstance_of_definitions(style: str, revision: str) -> None:
    """A union may be asked for by its name, as if it were a class, with the answer that `matches` gives."""
    package = surface(style, revision)
    other = package.types.Implementation(name="n", version="v")
    for name, union in unions(revision):
        alias = type_of(style, revision, name)
        for label, sample in arms(revision, union):
            assert isinstance(package.codec.decode(alias, sample), alias), f"{name} as {label}"
        assert not isinstance(other, alias), name


@pytest.mark.parametrize(("style", "revision"), SURFACES)
def test_arms_inside_records(style: str, revision: str) -> None:
    """Read by name and made by constructors."""
    found = 0
    for kind, wire, union, wrapped in sites(style, revision):
        for label, sample in arms(revision, union):
            member = {"": sample, "list": [sample, sample], "map": {"k": sample}}[wrapped]
            message = {**smallest(revision, kind.record.name), wire: member}
            for value in (kind.decode(message), kind.codec.decode_json(kind.cls, json.dumps(message))):
                held = getattr(value, kind.attributes[wire])
                inner = {"": lambda h: h, "list": lambda h: h[1], "map": lambda h: h["k"]}[wrapped](held)
                expected = class_of(style, revision, union.arms[label])
                if expected is not None:
                    assert inner.__class__ is expected, f"{kind}.{wire} as {label}"
                assert exact(kind.codec.encode(value)) == exact(message), f"{kind}.{wire} as {label}"
                made = kind.cls(**kind.members(value))
                assert made == value, f"{kind}.{wire} as {label}"
                assert getattr(made, kind.attributes[wire]) == held
                assert exact(kind.codec.encode(made)) == exact(message), f"{kind}.{wire} as {label}"
                found += 1
    assert found > 5


@pytest.mark.parametrize(("style", "revision"), SURFACES)
def test_members_decide_not_their_order(style: str, revision: str) -> None:
    codec = surface(style, revision).codec
    for name, union in unions(revision):
        alias = type_of(style, revision, name)
        for label, sample in arms(revision, union):
            if isinstance(sample, dict):
                backwards = dict(reversed(sample.items()))
                padded = {"zz": {}, **backwards, "aa": []}
                for message in (backwards, padded):
                    value = codec.decode_json(alias, json.dumps(message))
                    assert value.__class__ is class_of(style, revision, union.arms[label]), f"{name} as {label}"


@pytest.mark.parametrize(("style", "revision"), SURFACES)
def test_the_arm_alone_reports_its_errors(style: str, revision: str) -> None:
    """Where a tag has decided, no other arm is tried: the error is the same as for the arm's own type."""
    codec = surface(style, revision).codec
    checked = 0
    for name, union in unions(revision):
        alias = type_of(style, revision, name)
        for label, sample in arms(revision, union):
            if not isinstance(sample, dict) or not isinstance(union.arms[label], definitions.Ref):
                continue
            for key in sample:
                broken = {**sample, key: object_where_none_belongs(sample[key])}
                if union.plan(broken) == label and not accepted(revision, label, broken):
                    texts: list[str] = []
                    for type in (alias, type_of(style, revision, label)):
                        with pytest.raises(DecodeError) as caught:
                            codec.decode(type, broken)
                        texts.append(str(caught.value).partition(": ")[2])
                    assert texts[0] == texts[1], f"{name} as {label}"
                    assert texts[0].startswith(str(DecodeError("", (key,), ""))), f"{name} as {label}"
                    checked += 1
    assert checked > 20


def object_where_none_belongs(value: Any) -> Any:
    return [[[]]] if not isinstance(value, list) else {"": []}


@pytest.mark.parametrize(("style", "revision"), SURFACES)
def test_values_that_fit_no_arm(style: str, revision: str) -> None:
    codec = surface(style, revision).codec
    for name, union in unions(revision):
        alias = type_of(style, revision, name)
        for value in (None, True, 1.5, "text", 7, [], [1], {}, {"type": "no such type"}, {"method": "no/such/method"}):
            if union.plan(value) is None:
                with pytest.raises(DecodeError) as caught:
                    codec.decode(alias, value)
                assert caught.value.definition == name
                with pytest.raises(DecodeError) as again:
                    codec.decode_json(alias, json.dumps(value))
                assert str(again.value) == str(caught.value)


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("revision", REVISIONS[2:])
def test_an_unknown_tag_is_named_with_the_known_ones(style: str, revision: str) -> None:
    package = surface(style, revision)
    with pytest.raises(DecodeError) as caught:
        package.codec.decode(package.types.ContentBlock, {"type": "video", "data": ""})
    assert caught.value.path == ("type",)
    assert '"video"' in caught.value.reason
    for known in ("text", "image", "audio", "resource_link", "resource"):
        assert f'"{known}"' in caught.value.reason


# --- matches ---


@pytest.mark.parametrize("style", STYLES)
def test_matches_types_and_aliases(style: str) -> None:
    package = surface(style, LATEST)
    types, matches = package.types, package.codec.matches
    text = types.TextContent(text="x")
    link = types.ResourceLink(name="r", uri="file:///r")
    use = types.ToolUseContent(id="1", name="n", input={})
    yes: list[tuple[Any, Any]] = [
        (types.TextContent, text),
        (types.ContentBlock, text),
        (types.ContentBlock, link),
        (types.Resource, types.Resource(name="r", uri="file:///r")),
        (types.SamplingMessageContentBlock, use),
        (types.SamplingMessageContentBlock, text),
        (types.Result, types.CallToolResult(content=[])),
        (types.ServerResult, types.CallToolResult(content=[])),
        (types.RequestId, 1),
        (types.RequestId, "1"),
        (types.RequestId, ""),
        (types.Role, "user"),
        (types.JSONValue, None),
        (types.JSONObject, {}),
        (types.MetaObject, {"k": 1}),
        (types.ToolInputSchema, {"type": "object"}),
        (types.InputResponses, {"a": types.ElicitResult(action="cancel")}),
        (
            types.RequestMetaObject,
            types.RequestMetaObject(protocol_version="", client_capabilities=types.ClientCapabilities()),
        ),
        (str, "x"),
        (int, 1),
    ]
    for type, value in yes:
        assert matches(type, value), f"{value!r} is a {type}"
    no: list[tuple[Any, Any]] = [
        (types.TextContent, link),
        (types.TextContent, {"type": "text", "text": "x"}),
        (types.ContentBlock, use),
        (types.ContentBlock, "text"),
        (types.ContentBlock, None),
        (types.ContentBlock, {"type": "text", "text": "x"}),
        (types.SamplingMessageContentBlock, link),
        (types.CallToolResult, types.Result()),
        (types.InputRequest, text),
        (types.RequestId, True),
        (types.RequestId, 1.5),
        (types.RequestId, None),
        (types.Role, "system"),
        (types.Role, 1),
        (types.JSONObject, []),
        (types.InputResponses, {"a": text}),
        (types.InputResponses, types.ElicitResult(action="cancel")),
        (int, True),
    ]
    for type, value in no:
        assert not matches(type, value), f"{value!r} is no {type}"


@pytest.mark.parametrize(("style", "revision"), SURFACES)
def test_matches_every_record(style: str, revision: str) -> None:
    """Each class its own values and those of derived classes, and no others."""
    everything = [(kind, kind.decode(smallest(revision, kind.record.name))) for kind in kinds(style, revision)]
    for kind, _ in everything:
        for other, value in everything:
            assert kind.codec.matches(kind.cls, value) == issubclass(other.cls, kind.cls), f"{other} is a {kind}"
