"""Constructors: keywords with Python names, constants filled in, None and UNSET for absent, and what they refuse."""

from __future__ import annotations

from typing import Any

import pytest

from conftest import LATEST
from mcp_bindings.runtime import UNSET, definitions
from roundtrip.surfaces import STYLES, SURFACES, exact, surface
from styles.samples import FREE, Kind, accepted, kinds, largest, refuses, smallest

REFUSED = (TypeError, ValueError)


def every(style: str, revision: str) -> list[tuple[Kind, Any, dict[str, Any]]]:
    """Every record with its largest instance and the keywords that make it."""
    found: list[tuple[Kind, Any, dict[str, Any]]] = []
    for kind in kinds(style, revision):
        value = kind.decode(largest(revision, kind.record.name))
        found.append((kind, value, kind.members(value)))
    return found


def required(kind: Kind) -> dict[str, Any]:
    """The keywords that may not be left out."""
    members = kind.members(kind.decode(smallest(kind.revision, kind.record.name)))
    wanted = {kind.attributes[f.wire] for f in kind.record.fields if f.required and f.wire not in kind.fills}
    return {attribute: member for attribute, member in members.items() if attribute in wanted}


@pytest.mark.parametrize(("style", "revision"), SURFACES)
def test_with_every_member(style: str, revision: str) -> None:
    """Constants among them: passing what is there anyway is no mistake."""
    for kind, value, keywords in every(style, revision):
        made = kind.cls(**keywords)
        assert made == value, str(kind)
        assert exact(kind.codec.encode(made)) == exact(largest(revision, kind.record.name)), str(kind)


@pytest.mark.parametrize(("style", "revision"), SURFACES)
def test_with_the_least(style: str, revision: str) -> None:
    """What is filled in is written; everything else that was left out is not."""
    for kind in kinds(style, revision):
        fills = {f.wire: f.type.value for f in kind.record.fields if f.required and is_constant(f)} | kind.fills
        made = kind.cls(**required(kind))
        expected = {**smallest(revision, kind.record.name), **fills}
        assert exact(kind.codec.encode(made)) == exact(expected), str(kind)
        assert kind.decode(expected) == made, str(kind)
        for wire, fill in fills.items():
            assert exact(getattr(made, kind.attributes[wire])) == exact(fill), f"{kind}.{wire}"


@pytest.mark.parametrize(("style", "revision"), SURFACES)
def test_every_required_constant_is_filled_in(style: str, revision: str) -> None:
    """And no optional one: `mode: "form"` is written only where somebody said so."""
    for kind in kinds(style, revision):
        for field in kind.record.fields:
            if field.required and is_constant(field):
                assert kind.fills[field.wire] == field.type.value, f"{kind}.{field.wire}"
            elif not field.required:
                assert field.wire not in kind.fills, f"{kind}.{field.wire}"


@pytest.mark.parametrize(("style", "revision"), SURFACES)
def test_a_required_member_is_missing(style: str, revision: str) -> None:
    for kind in kinds(style, revision):
        keywords = required(kind)
        for left_out in keywords:
            assert refuses(
                REFUSED, kind.cls, **{name: member for name, member in keywords.items() if name != left_out}
            ), f"{kind} without {left_out}"


@pytest.mark.parametrize(("style", "revision"), SURFACES)
def test_none_is_absent(style: str, revision: str) -> None:
    """For members that cannot be null; for the others UNSET is, and None is a null."""
    for kind in kinds(style, revision):
        keywords = required(kind)
        least = kind.cls(**keywords)
        optional = [f.wire for f in kind.record.fields if not f.required]
        absent = {kind.attributes[wire]: UNSET if wire in kind.nullable else None for wire in optional}
        assert kind.cls(**keywords, **absent) == least, str(kind)
        for wire in optional:
            attribute = kind.attributes[wire]
            assert getattr(least, attribute) is absent[attribute], f"{kind}.{attribute}"
            made = kind.cls(**keywords, **{attribute: absent[attribute]})
            assert made == least, f"{kind}.{attribute}"
            assert wire not in kind.codec.encode(made), f"{kind}.{attribute}"
        for wire in kind.nullable:
            made = kind.cls(**keywords, **{kind.attributes[wire]: None})
            assert made != least
            assert getattr(made, kind.attributes[wire]) is None
            assert kind.codec.encode(made)[wire] is None


@pytest.mark.parametrize(("style", "revision"), SURFACES)
def test_wrong_constants(style: str, revision: str) -> None:
    for kind in kinds(style, revision):
        keywords = required(kind)
        for field in kind.record.fields:
            if field.required and is_constant(field):
                other = f"{field.type.value}x" if isinstance(field.type.value, str) else field.type.value + 1
                for wrong in (other, None, UNSET):
                    assert refuses(
                        REFUSED, kind.cls, **keywords, **{kind.attributes[field.wire]: wrong}
                    ), f"{kind} with {field.wire} {wrong!r}"


@pytest.mark.parametrize(("style", "revision"), SURFACES)
def test_unknown_keywords(style: str, revision: str) -> None:
    """Wire names among them, where Python has another name."""
    for kind in kinds(style, revision):
        keywords = required(kind)
        wires = {f.wire: FREE for f in kind.record.fields if f.wire not in kind.attributes.values()}
        for unknown in ("no_such_member", "", "self", "cls", *wires):
            assert refuses((TypeError,), kind.cls, **keywords, **{unknown: FREE}), f"{kind} with {unknown}"


@pytest.mark.parametrize(("style", "revision"), SURFACES)
def test_positional_arguments(style: str, revision: str) -> None:
    """Only open maps take one: their extra keys."""
    for kind in kinds(style, revision):
        keywords = required(kind)
        if kind.record.kind == "open":
            made = kind.cls({"com.example/one": 1}, **keywords)
            assert made["com.example/one"] == 1
            with pytest.raises(TypeError):
                kind.cls({}, {}, **keywords)
        else:
            for arguments in (("one",), ({},), (None,)):
                assert refuses((TypeError,), kind.cls, *arguments, **keywords), f"{kind} with {arguments}"


@pytest.mark.parametrize(("style", "revision"), [s for s in SURFACES if STYLES[s[0]].validates_on_construct])
def test_wrong_types_where_constructors_check_them(style: str, revision: str) -> None:
    for kind in kinds(style, revision):
        keywords = required(kind)
        for field in kind.record.fields:
            if not accepted(revision, field.type, object()):
                assert refuses(
                    REFUSED, kind.cls, **{**keywords, kind.attributes[field.wire]: object()}
                ), f"{kind}.{field.wire}"


@pytest.mark.parametrize(("style", "revision"), SURFACES)
def test_arguments_are_left_as_they_were(style: str, revision: str) -> None:
    """Messages share what they were given, or copy it; they never change it."""
    for kind, _, keywords in every(style, revision):
        before = {name: kind.codec.encode(member) for name, member in keywords.items() if member is not UNSET}
        kind.cls(**keywords)
        assert before == {name: kind.codec.encode(member) for name, member in keywords.items() if member is not UNSET}


@pytest.mark.parametrize("style", STYLES)
def test_the_way_users_write_it(style: str) -> None:
    package = surface(style, LATEST)
    types = package.types
    result = types.CallToolResult(
        content=[
            types.TextContent(text="hello"),
            types.TextContent(type="text", text="again", meta={"com.example/n": 1}),
            types.ResourceLink(name="r", uri="file:///r", size=0),
        ],
        structured_content=[1, 1.0, None],
        is_error=False,
        meta=types.ResultMetaObject(
            {"com.example/trace": "7"}, server_info=types.Implementation(name="s", version="1")
        ),
    )
    assert exact(package.codec.encode(result)) == exact(
        {
            "resultType": "complete",
            "content": [
                {"type": "text", "text": "hello"},
                {"type": "text", "text": "again", "_meta": {"com.example/n": 1}},
                {"type": "resource_link", "name": "r", "uri": "file:///r", "size": 0},
            ],
            "structuredContent": [1, 1.0, None],
            "isError": False,
            "_meta": {
                "com.example/trace": "7",
                "io.modelcontextprotocol/serverInfo": {"name": "s", "version": "1"},
            },
        }
    )
    assert package.codec.decode(types.CallToolResult, package.codec.encode(result)) == result


def is_constant(field: Any) -> bool:
    return isinstance(field.type, definitions.Const)
