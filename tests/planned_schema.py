"""A definition table as JSON Schema (2020-12), with every union decided by its plan: an oracle for the whole table.

The official schemas say `anyOf`, which also accepts values that a plan sends to an arm that refuses them. Here a union
is a chain of if/then/else that follows the plan, so a validator's verdict must equal the decoder's in every case.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from loading import runtime

_defs = runtime("definitions")
_plans = runtime("plans")

Schema = dict[str, Any] | bool


def planned_schema(definitions: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The schema of the definition `name`."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$ref": _pointer(name),
        "$defs": {each: schema_of(definition) for each, definition in definitions.items()},
    }


def schema_of(type: Any) -> Schema:
    """The schema of one type or record."""
    match type:
        case _defs.Ref(name=name):
            return {"$ref": _pointer(name)}
        case _defs.Record(fields=fields):
            return {
                "type": "object",
                "properties": {field.wire: schema_of(field.type) for field in fields},
                "required": [field.wire for field in fields if field.required],
            }
        case _defs.Union(arms=arms, plan=plan):
            return _decision(plan, {label: schema_of(arm) for label, arm in arms.items()}, lambda condition: condition)
        case _defs.ListOf(item=item, max_items=most):
            return {"type": "array", "items": schema_of(item)} | ({} if most is None else {"maxItems": most})
        case _defs.MapOf(value=value):
            return {"type": "object", "additionalProperties": schema_of(value)}
        case _defs.Integer(minimum=low, maximum=high) | _defs.Number(minimum=low, maximum=high):
            bounds = {"minimum": low, "maximum": high}
            name = type.__class__.__name__.lower()
            return {"type": name} | {key: bound for key, bound in bounds.items() if bound is not None}
        case _defs.Const(value=value):
            return {"const": value}
        case _defs.Enum(values=values, open=is_open):
            return {"type": "string"} if is_open else {"enum": list(values)}
        case _defs.Anything():
            return True
        case _:
            return {"type": type.__class__.__name__.lower()}


def _decision(leaf: Any, arms: dict[str, Schema], about: Callable[[Schema], Schema]) -> Schema:
    """The schema that follows a plan. `about` turns a condition on what the plan looks at into one on the union."""
    steps: list[tuple[Schema, Any]]
    match leaf:
        case None:
            return False
        case str():
            return arms[leaf]
        case _plans.ByTag(member=member, cases=cases, default=default):
            steps = [(_has(member, {"const": tag}), nested) for tag, nested in cases.items()]
            steps.append(({"type": "object"}, default))
        case _plans.ByKey(cases=cases, default=default):
            steps = [(_has_path(path), nested) for path, nested in cases]
            steps.append(({"type": "object"}, default))
        case _plans.ByKind(cases=cases):
            kinds = sorted(cases, key=lambda kind: kind == "number")  # integers are numbers: ask about them first
            steps = [({"type": kind}, cases[kind]) for kind in kinds]
        case _plans.Ranked(cases=cases):
            steps = [({"type": "object", "required": list(required)}, label) for required, label in cases]
        case _plans.ByItem(item=item, empty=empty):
            first = _decision(item, arms, lambda condition: about({"prefixItems": [condition]}))
            filled = {"if": about({"type": "array", "minItems": 1}), "then": first, "else": False}
            return {"if": about({"type": "array", "maxItems": 0}), "then": arms[empty], "else": filled}
        case _:
            raise TypeError(leaf)
    schema: Schema = False
    for condition, nested in reversed(steps):
        schema = {"if": about(condition), "then": _decision(nested, arms, about), "else": schema}
    return schema


def _has(member: str, value: Schema) -> dict[str, Any]:
    return {"type": "object", "required": [member], "properties": {member: value}}


def _has_path(path: tuple[str, ...]) -> Schema:
    first, *rest = path
    return _has(first, _has_path(tuple(rest)) if rest else True)


def _pointer(name: str) -> str:
    return "#/$defs/" + name.replace("~", "~0").replace("/", "~1").replace("%", "%25")
