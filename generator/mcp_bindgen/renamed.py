"""What goes by another name in a later revision. Only sure finds: code may be rewritten on their account."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from . import ir

_ALIKE = 0.6


@dataclass(frozen=True)
class Renamed:
    """Old declaration name -> new one; (old declaration name, old wire name) -> new wire name."""

    types: Mapping[str, str]
    members: Mapping[tuple[str, str], str]

    def type(self, type: ir.Type) -> ir.Type:
        """`type` with its references renamed."""
        match type:
            case ir.Ref(name=name):
                return ir.Ref(self.types.get(name, name))
            case ir.ListOf(item=item, max_items=most):
                return ir.ListOf(self.type(item), most)
            case ir.MapOf(value=value):
                return ir.MapOf(self.type(value))
            case ir.Union(arms=arms, plan=plan):
                return ir.Union(tuple(self.type(arm) for arm in arms), plan)
            case _:
                return type


def find(old: ir.Protocol, new: ir.Protocol) -> Renamed:
    """The renamed declarations and members.

    A declaration counts as renamed if it is gone (or gave its name to a union over its successor), one that is new
    holds the same, the names share their words, and no other pair fits as well. A member, if its record stays, it is
    gone, and just one new member has its type and requiredness and a name or description like its own.
    """
    gone = [d for d in old.declarations.values() if d.name not in new.declarations or _made_way(d, old, new)]
    come = [d for d in new.declarations.values() if d.name not in old.declarations]
    found = Renamed(_pairs(gone, come), {})
    members: dict[tuple[str, str], str] = {}
    for record in old.records:
        successor = new.declarations.get(found.types.get(record.name, record.name))
        if isinstance(successor, ir.Record):
            members |= {(record.name, wire): other for wire, other in _members(record, successor, found).items()}
    return replace(found, members=members)


def _made_way(declaration: ir.Declaration, old: ir.Protocol, new: ir.Protocol) -> bool:
    """Whether the name of a record now belongs to a union with a newcomer in it."""
    match declaration, new.declarations.get(declaration.name):
        case ir.Record(), ir.Alias(type=ir.Union(arms=arms)):
            return any(isinstance(arm, ir.Ref) and arm.name not in old.declarations for arm in arms)
        case _:
            return False


def _pairs(gone: Sequence[ir.Declaration], come: Sequence[ir.Declaration]) -> dict[str, str]:
    scores = {(a.name, b.name): score for a in gone for b in come if (score := _likeness(a, b)) > 0}
    pairs: dict[str, str] = {}
    for (a, b), score in scores.items():
        rivals = [other for (x, y), other in scores.items() if (x == a) != (y == b)]
        if all(score > rival for rival in rivals):
            pairs[a] = b
    return pairs


def _likeness(a: ir.Declaration, b: ir.Declaration) -> float:
    """0 for different things, else how alike the names are."""
    if not _same_content(a, b):
        return 0
    words, others = set(_words(a.name)), set(_words(b.name))
    if not (words <= others or others <= words):
        return 0
    return difflib.SequenceMatcher(None, a.name, b.name).ratio()


def _same_content(a: ir.Declaration, b: ir.Declaration) -> bool:
    match a, b:
        case ir.Record(fields=left), ir.Record(fields=right):
            mine, theirs = {f.wire: f for f in left}, {f.wire: f for f in right}
            shared = mine.keys() & theirs.keys()
            tags = [(mine[w].type, theirs[w].type) for w in shared]
            if any(isinstance(x, ir.Const) and isinstance(y, ir.Const) and x != y for x, y in tags):
                return False
            return len(shared) >= 2 and len(shared) >= _ALIKE * len(mine.keys() | theirs.keys())
        case ir.Alias(type=ir.Enum() as left), ir.Alias(type=ir.Enum() as right):
            return left == right
        case _:
            return False


def _members(old: ir.Record, new: ir.Record, found: Renamed) -> dict[str, str]:
    gone = [f for f in old.fields if new.field(f.wire) is None]
    come = [f for f in new.fields if old.field(f.wire) is None]
    moved: dict[str, str] = {}
    for member in gone:
        fits = [f for f in come if _same_member(member, f, found)]
        if len(fits) == 1 and sum(_same_member(other, fits[0], found) for other in gone) == 1:
            moved[member.wire] = fits[0].wire
    return moved


def _same_member(old: ir.Field, new: ir.Field, found: Renamed) -> bool:
    if old.required != new.required or found.type(old.type) != new.type:
        return False
    if old.doc and old.doc == new.doc:
        return True
    words, others = set(_words(old.wire)), set(_words(new.wire))
    return bool(words & others) and (words <= others or others <= words)


def _words(name: str) -> list[str]:
    return [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+", name)]
