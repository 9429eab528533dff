"""Whether every value of a type in one revision is a value of a type in another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from . import ir, unions

Declarations = Mapping[str, ir.Declaration]


@dataclass(frozen=True)
class Within:
    """Compares types of the revision `mine` with types of the revision `theirs`.

    `names` says what declarations of `mine` are called in `theirs`, where that differs. Declarations that go by the
    same name are taken for equal: what changed inside them is told where they are declared.
    """

    mine: Declarations
    theirs: Declarations
    names: Mapping[str, str] = field(default_factory=dict[str, str])
    _memo: dict[tuple[str, str], bool] = field(default_factory=dict[tuple[str, str], bool])

    def type(self, mine: ir.Type, theirs: ir.Type) -> bool:
        """Whether every value of `mine` is one of `theirs`."""
        if (
            isinstance(theirs, ir.Ref)
            and isinstance(mine, ir.Ref)
            and self.names.get(mine.name, mine.name) == theirs.name
        ):
            return True
        mine = unions.resolve(mine, self.mine.__getitem__)
        theirs = unions.resolve(theirs, self.theirs.__getitem__)
        match mine, theirs:
            case _, ir.Any():
                return True
            case ir.Union(arms=arms), _:
                return all(self.type(arm, theirs) for arm in arms)
            case _, ir.Union(arms=arms):
                return any(self.type(mine, arm) for arm in arms)
            case ir.Ref(name=left), ir.Ref(name=right):
                return self._records(left, right)
            case ir.Ref(name=name), ir.MapOf(value=value):
                record = self.mine[name]
                return isinstance(record, ir.Record) and all(self.type(f.type, value) for f in record.fields)
            case ir.ListOf(item=left, max_items=few), ir.ListOf(item=right, max_items=many):
                return self.type(left, right) and _at_most(few, many)
            case ir.MapOf(value=left), ir.MapOf(value=right):
                return self.type(left, right)
            case (ir.Const(value=str()) | ir.Enum()), ir.Scalar(kind="string"):
                return True
            case ir.Const(value=left), ir.Const(value=right):
                return left == right and type(left) is type(right)
            case ir.Const(value=bool()), ir.Scalar(kind="boolean"):
                return True
            case ir.Const(value=int(value)), ir.Scalar(kind="integer" | "number", minimum=low, maximum=high):
                return not isinstance(value, bool) and _at_most(value, high) and _at_least(value, low)
            case (ir.Const(value=str()) | ir.Scalar(kind="string")), ir.Enum(open=True):
                return True
            case ir.Const(value=str(value)), ir.Enum(values=values):
                return value in values
            case ir.Enum(values=left, open=open_left), ir.Enum(values=right, open=open_right):
                return open_right or (set(left) <= set(right) and not open_left)
            case ir.Scalar() as left, ir.Scalar() as right:
                kinds = left.kind == right.kind or (left.kind, right.kind) == ("integer", "number")
                return kinds and _at_most(left.maximum, right.maximum) and _at_least(left.minimum, right.minimum)
            case _:
                return False

    def _records(self, left: str, right: str) -> bool:
        """Structurally: all that `right` declares, `left` declares as narrow or narrower, or may leave out."""
        key = (left, right)
        if key not in self._memo:
            self._memo[key] = self.names.get(left, left) == right  # settles recursion
            mine, theirs = self.mine[left], self.theirs[right]
            if not self._memo[key] and isinstance(mine, ir.Record) and isinstance(theirs, ir.Record):
                self._memo[key] = True
                self._memo[key] = all(self._member(mine.field(f.wire), f) for f in theirs.fields)
        return self._memo[key]

    def _member(self, mine: ir.Field | None, theirs: ir.Field) -> bool:
        if mine is None:
            return not theirs.required
        return (mine.required or not theirs.required) and self.type(mine.type, theirs.type)


def _at_most(value: int | float | None, bound: int | float | None) -> bool:
    return bound is None or (value is not None and value <= bound)


def _at_least(value: int | float | None, bound: int | float | None) -> bool:
    return bound is None or (value is not None and value >= bound)
