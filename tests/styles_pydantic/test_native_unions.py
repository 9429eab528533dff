"""Unions that pydantic decides by itself: only where that comes to what the plan says."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import permutations
from typing import Any

import pytest
from pydantic import TypeAdapter

from conftest import REVISIONS
from mcp_bindings.runtime import DecodeError, definitions
from roundtrip.surfaces import surface, table
from styles.samples import largest, smallest, type_of, unions

# Unions for which pydantic has to ask the plan, with what it cannot do by itself.
ASKED = {
    ("2025-03-26", "JSONRPCMessage"): "arrays that differ in their items",
    ("2025-11-25", "ClientResult"): "ranked arms",
    ("2025-11-25", "ServerResult"): "ranked arms",
    ("2026-07-28", "ServerResult"): "keys after a tag",
    **{
        (revision, name): "a path of two keys"
        for revision in ("2025-11-25", "2026-07-28")
        for name in ("EnumSchema", "MultiSelectEnumSchema", "PrimitiveSchemaDefinition")
    },
}


def asks(schema: Any) -> bool:
    """Whether a core schema itself has a decision that calls Python. Records inside have their own."""
    match schema:
        case {"type": "tagged-union", "discriminator": discriminator} if callable(discriminator):
            return True
        case {"type": "model" | "definition-ref"}:
            return False
        case dict():
            return any(map(asks, schema.values()))
        case list() | tuple():
            return any(map(asks, schema))
        case _:
            return False


@pytest.mark.parametrize("revision", REVISIONS)
def test_which_unions_ask_the_plan(revision: str) -> None:
    found = set()
    for name, _ in unions(revision):
        schema: Any = TypeAdapter(type_of("pydantic", revision, name)).core_schema
        if asks(schema.get("schema", schema)):
            found.add(name)
    assert found == {name for other, name in ASKED if other == revision}


def mixtures(revision: str, union: Any) -> Iterator[Any]:
    """Values between the arms: with members of two, without required ones, with wrong ones."""
    wholes = [sample(revision, arm) for arm in union.arms.values() for sample in (smallest, largest)]
    objects = [whole for whole in wholes if isinstance(whole, dict)]
    yield from wholes
    for left, right in permutations(objects, 2):
        yield {**left, **right}
        for key in right:
            yield {**left, key: right[key]}
            yield {**left, key: None}
    for whole in objects:
        for key in whole:
            yield {k: v for k, v in whole.items() if k != key}
            yield {**whole, key: {"wrong": "type"}}
    yield from ({}, [], [{}], None, "text", 0, 1.5, True)


@pytest.mark.parametrize("revision", REVISIONS)
def test_the_plan_decides(revision: str) -> None:
    """Also where another arm would take the value, and where several would."""
    codec = surface("pydantic", revision).codec
    checked = 0
    for name, union in unions(revision):
        alias = type_of("pydantic", revision, name)
        for value in mixtures(revision, union):
            label = union.plan(value)
            arm = union.arms.get(label)
            for decode, form in ((codec.decode, value), (codec.decode_json, json.dumps(value))):
                try:
                    decoded = decode(alias, form)
                except DecodeError:
                    decoded = DecodeError
                if not isinstance(arm, definitions.Ref) or not isinstance(
                    table(revision)[arm.name], definitions.Record
                ):
                    assert label is not None or decoded is DecodeError, f"{name}: {value}"
                    continue
                cls = type_of("pydantic", revision, arm.name)
                try:
                    expected = decode(cls, form)
                except DecodeError:
                    expected = DecodeError
                assert decoded == expected, f"{name}: {value} is a {label}"
                checked += 1
    assert checked > 500
