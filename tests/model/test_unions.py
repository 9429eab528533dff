"""Union plans: what decides, in inline schemas and in the official ones."""

from __future__ import annotations

from typing import Any

import pytest

from conftest import protocol_of
from inline import STRING, const, model, obj, ref
from mcp_bindgen import ir, unions

A = ir.Arm


def plan_of(definitions: dict[str, Any], overlay: dict[str, Any] | None = None) -> ir.Plan:
    alias = model(definitions, overlay).declarations["U"]
    assert isinstance(alias, ir.Alias)
    assert isinstance(alias.type, ir.Union)
    return alias.type.plan


def union(*names: str) -> dict[str, Any]:
    return {"anyOf": [ref(name) for name in names]}


INLINE: dict[str, tuple[dict[str, Any], ir.Plan]] = {
    "a constant in every arm": (
        {"A": obj("t", t=const("a")), "B": obj("t", t=const("b")), "U": union("A", "B")},
        ir.ByTag("t", (("a", A(0)), ("b", A(1)))),
    ),
    "a constant that one arm makes optional": (
        {"A": obj("t", t=const("a")), "B": obj("", t=const("b")), "U": union("A", "B")},
        ir.ByTag("t", (("a", A(0)), ("b", A(1))), A(1)),
    ),
    "a constant against an open string": (
        {"A": obj("t", t=const("a")), "B": obj("t x", t=STRING, x=STRING), "U": union("A", "B")},
        ir.ByTag("t", (("a", A(0)),), A(1)),
    ),
    "a required key of one arm": (
        {"A": obj("a", a=STRING), "B": obj("b", b=STRING), "U": union("A", "B")},
        ir.ByKey(((("a",), A(0)),), A(1)),
    ),
    "a key that the other arm declares is no mark": (
        {"A": obj("a", a=STRING), "B": obj("b", a=STRING, b=STRING), "U": union("A", "B")},
        ir.ByKey(((("b",), A(1)),), A(0)),
    ),
    "an optional key where the arms are alike without it": (
        {"A": obj("a", a=STRING), "B": obj("a", a=STRING, b=STRING), "U": union("A", "B")},
        ir.ByKey(((("b",), A(1)),), A(0)),
    ),
    "a key one level down": (
        {
            "A": obj("i", i=obj("x", x=STRING)),
            "B": obj("i", i=obj("y", y=STRING)),
            "U": union("A", "B"),
        },
        ir.ByKey(((("i", "x"), A(0)),), A(1)),
    ),
    "a shared tag, then keys": (
        {
            "A": obj("t a", t=const("s"), a=STRING),
            "B": obj("t", t=const("s")),
            "C": obj("t", t=const("n")),
            "U": union("A", "B", "C"),
        },
        ir.ByTag("t", (("s", ir.ByKey(((("a",), A(0)),), A(1))), ("n", A(2)))),
    ),
    "JSON kinds, with an array of the same objects": (
        {
            "A": obj("t", t=const("a")),
            "B": obj("t", t=const("b")),
            "U": {"anyOf": [ref("A"), ref("B"), {"type": "array", "items": union("A", "B")}, {"type": "null"}]},
        },
        ir.ByKind((("object", ir.ByTag("t", (("a", A(0)), ("b", A(1))))), ("array", A(2)), ("null", A(3)))),
    ),
    "arrays by their items": (
        {
            "A": obj("a", a=STRING),
            "B": obj("b", b=STRING),
            "U": {"anyOf": [{"type": "array", "items": ref("A")}, {"type": "array", "items": ref("B")}]},
        },
        ir.ByKind((("array", ir.ByItem(ir.ByKey(((("a",), A(0)),), A(1)), A(0))),)),
    ),
    "unions of unions are flattened": (
        {
            "A": obj("a", a=STRING),
            "B": obj("b", b=STRING),
            "C": obj("c", c=STRING),
            "V": union("A", "B"),
            "U": union("V", "C", "A"),
        },
        ir.ByKey(((("a",), A(0)), (("b",), A(1))), A(2)),
    ),
}


@pytest.mark.parametrize("case", INLINE)
def test_what_decides(case: str) -> None:
    definitions, expected = INLINE[case]
    assert plan_of(definitions) == expected


def test_ranking_from_the_overlay() -> None:
    same = obj("a", a=STRING)
    order = {"unions": {"U": {"order": ["B", "A"], "reason": "B is newer"}}}
    plan = plan_of({"A": same, "B": same, "U": union("A", "B")}, order)
    assert plan == ir.Ranked(((("a",), 1), (("a",), 0)))


def test_proposed_ranking() -> None:
    records = {
        "A": ir.Record("A", (ir.Field("x", ir.Any(), True),)),
        "B": ir.Record("B", (ir.Field("x", ir.Any(), True), ir.Field("y", ir.Any(), False))),
        "C": ir.Record("C", (ir.Field("x", ir.Any(), True), ir.Field("y", ir.Any(), True))),
        "0": ir.Record("0", (ir.Field("x", ir.Any(), True),)),
    }
    assert unions.rank(records) == ("C", "B", "0", "A")


def test_every_arm_can_be_reached(protocol: ir.Protocol) -> None:
    checked = 0
    for declaration in protocol.declarations.values():
        types = [declaration.type] if isinstance(declaration, ir.Alias) else [f.type for f in declaration.fields]
        while types:
            type = types.pop()
            types.extend(ir.children(type))
            if isinstance(type, ir.Union):
                assert sorted(unions.leaves(type.plan)) == list(range(len(type.arms))), declaration.name
                assert not any(isinstance(arm, ir.Union | ir.Any) for arm in type.arms)
                checked += 1
    assert checked >= 10


def test_result_unions_are_decided_by_result_type_first() -> None:
    alias = protocol_of("2026-07-28").declarations["ServerResult"]
    assert isinstance(alias, ir.Alias)
    assert isinstance(alias.type, ir.Union)
    assert isinstance(alias.type.plan, ir.ByTag)
    assert alias.type.plan.member == "resultType"
    assert [value for value, _ in alias.type.plan.cases] == ["input_required"]


def test_explanation_names_every_arm() -> None:
    alias = protocol_of("2026-07-28").declarations["PrimitiveSchemaDefinition"]
    assert isinstance(alias, ir.Alias)
    assert isinstance(alias.type, ir.Union)
    labels = unions.labels(alias.type.arms)
    text = "\n".join(unions.explain(alias.type.plan, labels))
    assert "type = 'array'" in text
    assert all(label in text for label in labels)
