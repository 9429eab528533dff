"""The vocabulary of definition tables."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, fields
from typing import Any

import pytest

from loading import runtime

d, p = runtime("definitions"), runtime("plans")

TOKEN = d.Union({"string": d.String(), "integer": d.Integer()}, p.ByKind({"string": "string", "integer": "integer"}))
EXAMPLES = [
    d.String(),
    d.Integer(0, 9),
    d.Number(minimum=0.5),
    d.Boolean(),
    d.Null(),
    d.Const("x"),
    d.Enum(("a", "b"), True),
    d.ListOf(d.String(), 3),
    d.MapOf(d.Anything()),
    d.Ref("Tool"),
    d.Anything(),
    TOKEN,
    d.Field("a", d.String(), False),
    d.Record("R", (d.Field("a", d.String()), d.Field("b", TOKEN, False)), "open"),
]


@pytest.mark.parametrize("node", EXAMPLES, ids=lambda node: type(node).__name__)
def test_nodes_are_frozen_slotted_and_print_as_their_source(node: Any) -> None:
    assert not hasattr(node, "__dict__")
    assert eval(repr(node), {**vars(d), **vars(p)}) == node
    if fields(node):
        with pytest.raises(FrozenInstanceError):
            setattr(node, fields(node)[0].name, 1)


def test_defaults() -> None:
    assert d.Field("a", d.String()).required is True
    assert d.Enum(("a",)).open is False
    assert d.Record("R", ()).kind == "closed"
    assert d.ListOf(d.String()).max_items is None


def test_a_record_knows_its_members() -> None:
    assert d.Record("R", (d.Field("", d.String()), d.Field("a/b", d.String(), False))).wires == {"", "a/b"}
    assert d.Record("R", ()).wires == frozenset()


@pytest.mark.parametrize(
    ("type", "text"),
    [
        (d.Ref("Tool"), "Tool"),
        (d.String(), "string"),
        (d.ListOf(d.ListOf(d.Ref("Tool"))), "array of array of Tool"),
        (d.MapOf(d.Anything()), "map of anything"),
        (TOKEN, "string | integer"),
    ],
)
def test_type_text(type: Any, text: str) -> None:
    assert d.type_text(type) == text
