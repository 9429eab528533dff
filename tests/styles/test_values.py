"""Messages are values: immutable, compared, printed, hashed, pickled, copied, and replaced by changed copies."""

from __future__ import annotations

import copy
import json
import os
import pickle
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from conftest import LATEST
from mcp_bindings.runtime import UNSET, definitions
from roundtrip.surfaces import STYLES, SURFACES, exact, surface
from styles.samples import FREE, Kind, kinds, largest, refuses, smallest

IMMUTABLE = (AttributeError, TypeError, ValueError)


def samples(style: str, revision: str) -> Iterator[tuple[Kind, Any, Any]]:
    """Every record twice, least and most of it: (kind, value, JSON)."""
    for kind in kinds(style, revision):
        for sample in (smallest, largest):
            wire = sample(revision, kind.record.name)
            yield kind, kind.decode(wire), wire


@pytest.mark.parametrize(("style", "revision"), SURFACES)
def test_frozen(style: str, revision: str) -> None:
    for kind, value, wire in samples(style, revision):
        for attribute in (*kind.attributes.values(), "no_such_member"):
            before = getattr(value, attribute, None)
            assert refuses(IMMUTABLE, setattr, value, attribute, before), f"{kind}.{attribute} can be assigned"
            assert refuses(IMMUTABLE, delattr, value, attribute), f"{kind}.{attribute} can be deleted"
        assert exact(kind.codec.encode(value)) == exact(wire)


@pytest.mark.parametrize(("style", "revision"), SURFACES)
def test_equality(style: str, revision: str) -> None:
    """By class and members, however the value came to be."""
    package = surface(style, revision)
    other_class = package.types.Implementation(name="n", version="v")
    for kind, value, wire in samples(style, revision):
        alike = [
            kind.decode(wire),
            package.codec.decode_json(kind.cls, json.dumps(wire)),
            package.codec.decode_json(kind.cls, json.dumps(dict(reversed(wire.items())))),
            kind.cls(**kind.members(value)),
            kind.decode(_with_floats(kind, wire)),
        ]
        for other in alike:
            assert value == other, str(kind)
            assert other == value, str(kind)
            assert not value != other, str(kind)  # noqa: SIM202
        for different in (wire if kind.record.kind == "closed" else None, other_class, object(), None, UNSET):
            if kind.cls is not type(different):
                assert value != different, str(kind)
                assert different != value, str(kind)
    for kind in kinds(style, revision):
        least, most = (kind.decode(sample(revision, kind.record.name)) for sample in (smallest, largest))
        if any(not field.required for field in kind.record.fields):
            assert least != most


def _with_floats(kind: Kind, wire: dict[str, Any]) -> dict[str, Any]:
    """The same message with its integers written as floats, where that is the same: the long way of decoding."""
    integers = {f.wire for f in kind.record.fields if isinstance(f.type, definitions.Integer)}
    return {key: float(value) if key in integers else value for key, value in wire.items()}


@pytest.mark.parametrize(("style", "revision"), SURFACES)
def test_every_member_counts(style: str, revision: str) -> None:
    for kind in kinds(style, revision):
        wire = largest(revision, kind.record.name)
        value = kind.decode(wire)
        for field in kind.record.fields:
            if not field.required:
                less = kind.decode({key: member for key, member in wire.items() if key != field.wire})
                assert less != value, f"{kind}.{field.wire}"
                assert repr(less) != repr(value), f"{kind}.{field.wire}"


@pytest.mark.parametrize(("style", "revision"), SURFACES)
def test_repr(style: str, revision: str) -> None:
    """The class, then the members that are present, by their Python names."""
    for kind, value, wire in samples(style, revision):
        text = repr(value)
        assert text.startswith(f"{kind.cls.__name__}("), text
        assert text.endswith(")")
        for field in kind.record.fields:
            attribute = kind.attributes[field.wire]
            shown = f"{attribute}={getattr(value, attribute)!r}" in text
            # A constant says nothing that the class does not say.
            assert shown == (field.wire in wire) or isinstance(field.type, definitions.Const), f"{attribute} in {text}"
        assert "UNSET" not in text
        assert str(value) == text


@pytest.mark.parametrize(("style", "revision"), SURFACES)
def test_repr_is_python(style: str, revision: str) -> None:
    """It makes the value again."""
    names = {kind.cls.__name__: kind.cls for kind in kinds(style, revision)}
    for kind, value, _ in samples(style, revision):
        assert eval(repr(value), names) == value, str(kind)


@pytest.mark.parametrize(("style", "revision"), SURFACES)
def test_hashes(style: str, revision: str) -> None:
    """Equal values have equal hashes; a list or a dict somewhere inside makes a value unhashable, as in tuples."""
    hashable = 0
    for kind, value, wire in samples(style, revision):
        if _has_container(kind, wire):
            with pytest.raises(TypeError, match="unhashable"):
                hash(value)
        else:
            assert hash(value) == hash(kind.decode(wire)) == hash(copy.copy(value)), str(kind)
            assert len({value, kind.decode(wire)}) == 1
            hashable += 1
    assert hashable > 20


def _has_container(kind: Kind, wire: Any) -> bool:
    """Whether a typed value of this JSON holds lists or dicts, rather than records."""
    value = kind.decode(wire)
    members = [getattr(value, attribute) for attribute in kind.attributes.values()]
    while members:
        member = members.pop()
        if type(member) in (list, dict):
            return True
        members += [getattr(member, name) for name in _attributes(kind, member)]
    return False


def _attributes(kind: Kind, member: Any) -> list[str]:
    found = next((k for k in kinds(kind.style, kind.revision) if k.cls is member.__class__), None)
    return list(found.attributes.values()) if found else []


@pytest.mark.parametrize("protocol", [2, pickle.HIGHEST_PROTOCOL])
@pytest.mark.parametrize(("style", "revision"), SURFACES)
def test_pickle(style: str, revision: str, protocol: int) -> None:
    for kind, value, wire in samples(style, revision):
        again = pickle.loads(pickle.dumps(value, protocol))
        _assert_same(kind, again, value, wire)


@pytest.mark.parametrize(("style", "revision"), SURFACES)
def test_copies(style: str, revision: str) -> None:
    for kind, value, wire in samples(style, revision):
        _assert_same(kind, copy.copy(value), value, wire)
        deep = copy.deepcopy(value)
        _assert_same(kind, deep, value, wire)
        for attribute in kind.attributes.values():
            original, copied = getattr(value, attribute), getattr(deep, attribute)
            if type(original) in (list, dict):
                assert copied is not original, f"{kind}.{attribute}"
            else:
                assert (copied is UNSET) == (original is UNSET)


def _assert_same(kind: Kind, other: Any, value: Any, wire: Any) -> None:
    assert other == value, str(kind)
    assert other.__class__ is kind.cls
    assert exact(kind.codec.encode(other)) == exact(wire), str(kind)
    assert repr(other) == repr(value)
    with pytest.raises(IMMUTABLE):
        other.no_such_member = 1


@pytest.mark.parametrize("style", STYLES)
def test_unpickling_needs_no_imports(style: str) -> None:
    """In a process that has not seen the package yet."""
    types = surface(style, LATEST).types
    meta = types.RequestMetaObject(
        {"com.example/x": [1, 1.0]}, protocol_version=LATEST, client_capabilities=types.ClientCapabilities()
    )
    messages = [
        types.CallToolResult(content=[types.TextContent(text="hello")], structured_content=None),
        types.CallToolRequestParams(name="t", meta=meta),
        types.ListToolsResult(tools=[]),
        UNSET,
    ]
    script = (
        "import pickle, sys\n"
        "values = pickle.loads(bytes.fromhex(sys.stdin.read()))\n"
        "print(ascii(values))\n"
        "sys.stdout.write(pickle.dumps(values).hex())\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", script],
        input=pickle.dumps(messages).hex(),
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        check=True,
    )
    shown, _, back = run.stdout.partition("\n")
    assert shown == ascii(messages)
    again = pickle.loads(bytes.fromhex(back))
    assert again == messages
    assert again[-1] is UNSET


# --- replace ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("style", "revision"), SURFACES)
def test_replace_sets_and_takes_out(style: str, revision: str) -> None:
    for kind in kinds(style, revision):
        codec = kind.codec
        least_wire, most_wire = (sample(revision, kind.record.name) for sample in (smallest, largest))
        least, most = kind.decode(least_wire), kind.decode(most_wire)
        members = kind.members(most)
        assert codec.replace(least, **members) == most, str(kind)
        assert codec.replace(most) == most
        for field in kind.record.fields:
            if not field.required:
                attribute = kind.attributes[field.wire]
                absent = UNSET if field.wire in kind.nullable else None
                less = codec.replace(most, **{attribute: absent})
                expected = {key: member for key, member in most_wire.items() if key != field.wire}
                assert exact(codec.encode(less)) == exact(expected), f"{kind}.{attribute}"
                assert less == kind.decode(expected)
                more = codec.replace(least, **{attribute: members[attribute]})
                assert exact(codec.encode(more)) == exact({**least_wire, field.wire: most_wire[field.wire]})
        for wire in kind.nullable:
            assert codec.encode(codec.replace(most, **{kind.attributes[wire]: None}))[wire] is None
        assert exact(codec.encode(most)) == exact(most_wire), "the original has changed"
        assert exact(codec.encode(least)) == exact(least_wire), "the original has changed"


@pytest.mark.parametrize(("style", "revision"), SURFACES)
def test_replace_refuses_what_constructors_refuse(style: str, revision: str) -> None:
    for kind, value, _ in samples(style, revision):
        wires = [f.wire for f in kind.record.fields if f.wire not in kind.attributes.values()]
        for unknown in ("no_such_member", *wires):
            assert refuses((TypeError,), kind.codec.replace, value, **{unknown: None}), f"{kind}.{unknown}"
        for field in kind.record.fields:
            if field.required and isinstance(field.type, definitions.Const):
                attribute = kind.attributes[field.wire]
                assert kind.codec.replace(value, **{attribute: field.type.value}) == value
                assert refuses(
                    (TypeError, ValueError), kind.codec.replace, value, **{attribute: "other"}
                ), f"{kind}.{attribute}"


@pytest.mark.parametrize(("style", "revision"), SURFACES)
def test_replace_keeps_undeclared_members(style: str, revision: str) -> None:
    """As far as the style keeps them at all."""
    for kind, value, wire in samples(style, revision):
        extended = kind.decode({**wire, "com.example/x": FREE})
        kept = kind.record.kind == "open" or STYLES[style].keeps_unknown
        assert ("com.example/x" in kind.codec.encode(kind.codec.replace(extended))) == kept, str(kind)
        assert kind.codec.replace(extended) == extended, str(kind)
        assert (extended != value) == kept, str(kind)


@pytest.mark.parametrize(("style", "revision"), [s for s in SURFACES if STYLES[s[0]].validates_on_construct])
def test_replace_checks_types_where_constructors_do(style: str, revision: str) -> None:
    types, codec = surface(style, revision).types, surface(style, revision).codec
    with pytest.raises(ValueError, match="name"):
        codec.replace(types.Implementation(name="n", version="v"), name=5)


# --- matching --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("style", STYLES)
def test_match(style: str) -> None:
    types = surface(style, LATEST).types
    blocks = [
        types.TextContent(text=""),
        types.ImageContent(data="aGk=", mime_type="image/png"),
        types.EmbeddedResource(resource=types.BlobResourceContents(uri="file:///b", blob="aGk=")),
        types.EmbeddedResource(resource=types.TextResourceContents(uri="file:///t", text="t", meta={"k": 1})),
        types.ResourceLink(name="r", uri="file:///r", size=0),
    ]

    def describe(block: Any) -> Any:
        match block:
            case types.TextContent(type="text", text=text):
                return "text", text
            case types.ImageContent(mime_type=mime):
                return "image", mime
            case types.EmbeddedResource(resource=types.TextResourceContents(uri=uri, meta={"k": k})):
                return "embedded text", uri, k
            case types.EmbeddedResource(resource=types.BlobResourceContents(uri=uri, meta=None)):
                return "embedded blob", uri
            case types.ResourceLink(size=0, title=None):
                return "empty link"
            case _:
                return None

    expected = [
        ("text", ""),
        ("image", "image/png"),
        ("embedded blob", "file:///b"),
        ("embedded text", "file:///t", 1),
        "empty link",
    ]
    assert [describe(block) for block in blocks] == expected
    codec = surface(style, LATEST).codec
    assert [describe(codec.decode(types.ContentBlock, codec.encode(block))) for block in blocks] == expected
