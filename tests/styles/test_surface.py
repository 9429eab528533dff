"""All styles offer the same names: of types, of their attributes, of codecs."""

from __future__ import annotations

import ast
import inspect
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from conftest import REVISIONS, protocol_of
from mcp_bindgen.context import Revision
from roundtrip.surfaces import STYLES, SURFACES, exact, surface
from styles.samples import kinds, largest

CODEC = {"REVISION", "decode", "decode_json", "encode", "encode_json", "frame", "matches", "replace"}


@pytest.mark.parametrize(("style", "revision"), SURFACES)
def test_types_are_the_definitions(style: str, revision: str) -> None:
    names = Revision(protocol_of(revision), STYLES[style]).names
    types = surface(style, revision).types
    expected = set(names.classes.values())
    assert set(types.__all__) == expected
    assert expected <= set(dir(types))
    assert all(getattr(types, name) is not None for name in expected)
    for kind in kinds(style, revision):
        assert kind.cls.__name__ == kind.cls.__qualname__ == names.of(kind.record.name)
        assert kind.cls.__module__.startswith(f"{types.__name__}.")
    with pytest.raises(AttributeError, match="NoSuchType"):
        types.NoSuchType  # noqa: B018


@pytest.mark.parametrize(("style", "revision"), SURFACES)
def test_codecs_offer_the_same(style: str, revision: str) -> None:
    codec = surface(style, revision).codec
    assert set(codec.__all__) == CODEC
    assert revision == codec.REVISION
    for name in CODEC - {"REVISION"}:
        assert getattr(codec, name).__doc__, f"{name} has no docstring"


@pytest.mark.parametrize("revision", REVISIONS)
def test_signatures_of_codecs(revision: str) -> None:
    for name in CODEC - {"REVISION"}:
        parameters = {tuple(inspect.signature(getattr(surface(s, revision).codec, name)).parameters) for s in STYLES}
        assert len(parameters) == 1, name


@pytest.mark.parametrize(("style", "revision"), SURFACES)
def test_attributes_are_readable(style: str, revision: str) -> None:
    """Every member under its Python name, with what is on the wire in it; also when absent."""
    for kind in kinds(style, revision):
        sample = largest(revision, kind.record.name)
        value = kind.decode(sample)
        for wire, attribute in kind.attributes.items():
            assert exact(kind.codec.encode(getattr(value, attribute))) == exact(sample[wire]), f"{kind}.{attribute}"
        assert isinstance(value, kind.cls)
        assert value.__class__ is kind.cls


@pytest.mark.parametrize("revision", REVISIONS)
def test_same_attributes_in_the_same_order_with_the_same_docs(revision: str) -> None:
    """As written in the generated code: what editors and type checkers show."""
    written = {style: _classes(surface(style, revision).types) for style in STYLES}
    first, *others = written.values()
    for other in others:
        assert first.keys() == other.keys()
        for name, members in first.items():
            assert members == other[name], name
    for style in STYLES:
        for kind in kinds(style, revision):
            assert set(kind.attributes.values()) == written[style][kind.cls.__name__].keys() - {""}, str(kind)


@pytest.mark.parametrize("revision", REVISIONS)
def test_docstrings_are_there_at_run_time(revision: str) -> None:
    first, *others = ({kind.cls.__name__: kind.cls.__doc__ for kind in kinds(s, revision)} for s in STYLES)
    assert all(first.values())
    assert all(other == first for other in others)


@pytest.mark.parametrize(("style", "revision"), SURFACES)
def test_inheritance_is_kept_as_far_as_the_style_says(style: str, revision: str) -> None:
    seen = Revision(protocol_of(revision), STYLES[style])
    classes = {kind.record.name: kind.cls for kind in kinds(style, revision)}
    for record in seen.protocol.records:
        if record.name in classes:
            for base in seen.bases(record):
                assert issubclass(classes[record.name], classes[base]), f"{record.name} is a {base}"


def test_the_latest_revision_inherits_what_users_rely_on() -> None:
    for style in STYLES:
        types = surface(style, "2026-07-28").types
        assert issubclass(types.CallToolResult, types.Result)
        assert issubclass(types.ListToolsResult, types.Result)
        assert issubclass(types.TextResourceContents, types.ResourceContents)
        assert issubclass(types.Tool, types.BaseMetadata)


def _classes(types: ModuleType) -> dict[str, dict[str, Any]]:
    """Class -> attribute -> what stands there, inherited ones included; the class's docstring as attribute ""."""
    return {name: dict(sorted(_members(types, name).items())) for name in _parsed(types)}


@cache
def _parsed(types: ModuleType) -> dict[str, ast.ClassDef]:
    assert types.__file__ is not None
    modules = sorted(Path(types.__file__).parent.glob("*.py"))
    found = (node for file in modules for node in ast.parse(file.read_text("utf-8")).body)
    return {node.name: node for node in found if isinstance(node, ast.ClassDef)}


def _members(types: ModuleType, name: str) -> dict[str, Any]:
    node = _parsed(types)[name]
    members: dict[str, Any] = {}
    for base in reversed(node.bases):
        assert isinstance(base, ast.Name)
        members |= _members(types, base.id) if base.id in _parsed(types) else {}
    for statement, following in zip(node.body, [*node.body[1:], None], strict=True):
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            members[statement.target.id] = (_default(statement.value), _docstring(following))
    return members | {"": ast.get_docstring(node)}


def _default(node: ast.expr | None) -> str:
    """What constructors take for a member that is left out; empty if it must not be. Wire names are not of interest."""
    match node:
        case None:
            return ""
        case ast.Call(func=ast.Name(id="member"), keywords=keywords):
            return ast.unparse(keywords[0].value) if keywords else ""
        case _:
            return ast.unparse(node)


def _docstring(node: ast.stmt | None) -> str:
    match node:
        case ast.Expr(value=ast.Constant(value=str(text))):
            return inspect.cleandoc(text)
        case _:
            return ""
