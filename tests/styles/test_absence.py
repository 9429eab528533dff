"""Absent, null and falsy are three things: for every member of every definition, through objects and through bytes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from mcp_bindings.runtime import UNSET
from mcp_bindings.runtime.errors import DecodeError
from roundtrip.surfaces import SURFACES, exact
from styles.samples import Kind, accepted, kinds, refuses, smallest

FALSY: list[Any] = [0, 0.0, -0.0, "", False, [], {}, None]


def ways(kind: Kind, value: Any) -> list[Any]:
    """The typed value from objects and from bytes."""
    return [kind.decode(value), kind.codec.decode_json(kind.cls, json.dumps(value).encode())]


def verdicts(kind: Kind, value: Any) -> set[bool]:
    found: set[bool] = set()
    for decode, form in ((kind.codec.decode, value), (kind.codec.decode_json, json.dumps(value).encode())):
        found.add(not refuses((DecodeError,), decode, kind.cls, form))
    return found


@pytest.mark.parametrize(("style", "revision"), SURFACES)
def test_absent_stays_absent(style: str, revision: str) -> None:
    for kind in kinds(style, revision):
        wire = smallest(revision, kind.record.name)
        for value in ways(kind, wire):
            assert exact(kind.codec.encode(value)) == exact(wire), str(kind)
            assert exact(json.loads(kind.codec.encode_json(value))) == exact(wire), str(kind)
            for field in kind.record.fields:
                if not field.required:
                    absent = UNSET if field.wire in kind.nullable else None
                    assert getattr(value, kind.attributes[field.wire]) is absent, f"{kind}.{field.wire}"


@pytest.mark.parametrize(("style", "revision"), SURFACES)
def test_falsy_survives(style: str, revision: str) -> None:
    """What a member may be, it stays, whatever truthiness would say of it; null too, where it is a value."""
    checked = 0
    for kind in kinds(style, revision):
        wire = smallest(revision, kind.record.name)
        for field in kind.record.fields:
            for falsy in FALSY:
                if accepted(revision, field.type, falsy):
                    message = {**wire, field.wire: falsy}
                    for value in ways(kind, message):
                        back = kind.codec.encode(value)
                        where = f"{kind}.{field.wire} = {falsy!r}"
                        if isinstance(falsy, float) and field_is_integer(kind, field):
                            assert exact(back) == exact({**message, field.wire: 0}), where
                        else:
                            assert exact(back) == exact(message), where
                            assert exact(json.loads(kind.codec.encode_json(value))) == exact(message), where
                    checked += 1
    assert checked > 200


def field_is_integer(kind: Kind, field: Any) -> bool:
    """Whether a float without a fraction becomes an integer here. JSON has no other way to tell them apart."""
    return accepted(kind.revision, field.type, 0.0) and not accepted(kind.revision, field.type, 0.5)


@pytest.mark.parametrize(("style", "revision"), SURFACES)
def test_falsy_is_refused_where_it_is_no_value(style: str, revision: str) -> None:
    """Null above all: no member is absent because it is null."""
    checked = 0
    for kind in kinds(style, revision):
        wire = smallest(revision, kind.record.name)
        for field in kind.record.fields:
            for falsy in FALSY:
                if not accepted(revision, field.type, falsy):
                    assert verdicts(kind, {**wire, field.wire: falsy}) == {False}, f"{kind}.{field.wire} = {falsy!r}"
                    checked += 1
    assert checked > 1000


@pytest.mark.parametrize(("style", "revision"), SURFACES)
def test_null_for_absent_is_explained(style: str, revision: str) -> None:
    for kind in kinds(style, revision):
        wire = smallest(revision, kind.record.name)
        for field in kind.record.fields:
            if not field.required and field.wire not in kind.nullable:
                with pytest.raises(DecodeError) as caught:
                    kind.decode({**wire, field.wire: None})
                assert caught.value.path == (field.wire,), f"{kind}.{field.wire}"
                assert caught.value.reason.endswith("null (leave an optional member out instead)")


@pytest.mark.parametrize(("style", "revision"), SURFACES)
def test_constructed_falsy_is_written(style: str, revision: str) -> None:
    """By constructors and by replace as well."""
    for kind in kinds(style, revision):
        wire = smallest(revision, kind.record.name)
        least = kind.decode(wire)
        for field in kind.record.fields:
            attribute = kind.attributes[field.wire]
            for falsy in (0, "", False, [], {}):
                message = {**wire, field.wire: falsy}
                if accepted(revision, field.type, falsy):
                    member = getattr(kind.decode(message), attribute)
                    for made in (
                        kind.cls(**{**kind.members(least), attribute: member}),
                        kind.codec.replace(least, **{attribute: member}),
                    ):
                        assert exact(kind.codec.encode(made)) == exact(message), f"{kind}.{attribute} = {falsy!r}"
