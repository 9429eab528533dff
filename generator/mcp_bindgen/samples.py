"""The smallest instance of a type: for questions to people, and for documents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from . import ir, unions

_SCALARS: Mapping[str, Any] = {"string": "…", "integer": 0, "number": 0, "boolean": False, "null": None}


def smallest(type: ir.Type, declarations: Mapping[str, ir.Declaration]) -> Any:
    """A JSON value of `type` with its required members only."""
    match unions.resolve(type, declarations.__getitem__):
        case ir.Scalar(kind=kind, minimum=low, maximum=high):
            value = _SCALARS[kind]
            return value if low is None and high is None else max(value, low or 0) if low is not None else high
        case ir.Const(value=value):
            return value
        case ir.Enum(values=values):
            return values[0]
        case ir.ListOf():
            return []
        case ir.Union(arms=arms, plan=plan):
            return smallest(arms[unions.leaves(plan)[0]], declarations)
        case ir.Ref(name=name) if isinstance(record := declarations[name], ir.Record):
            return {f.wire: smallest(f.type, declarations) for f in record.fields if f.required}
        case _:
            return {}
