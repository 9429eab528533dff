"""Which definitions extend which: the schema file repeats inherited members, so the relation is inferred."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from . import ir
from .overlay import Overlay

Declarations = dict[str, ir.Declaration]


def infer(declared: Declarations, overlay: Overlay) -> Declarations:
    """The declarations with bases: stated by the overlay, by `allOf`, or else inferred from structure.

    A record extends another if it plays the same role (a request is no notification, though it has all of its
    members), has all its members, the same or narrower, and says the same about those that are the same. Direct
    bases only, each in definition order. Raises BindgenError for a stale overlay entry.
    """
    compare = _Comparison(declared)
    definitions = [d for d in declared.values() if isinstance(d, ir.Record) and d.owner is None]
    candidates = [d for d in definitions if d.name not in overlay.open]  # a free map hands nothing down
    result = dict(declared)
    inferred: dict[str, tuple[str, ...]] = {}
    for record in definitions:
        found = [base.name for base in candidates if base.name != record.name and compare.extends(record, base)]
        inferred[record.name] = record.bases or tuple(found)
    for name, entry in overlay.inheritance.items():
        if name not in inferred:
            raise overlay.stale("inheritance", name, "no such record")
        for base in entry.bases:
            if base == name or name in overlay.inheritance.get(base, entry).bases:
                raise overlay.stale("inheritance", name, f"a cycle through {base!r}")
            if base not in inferred and not _is_free_map(declared.get(base)):
                raise overlay.stale("inheritance", name, f"no such base {base!r}")
    denied = {name: set(inferred[name]) - set(entry.bases) for name, entry in overlay.inheritance.items()}
    truth: dict[str, tuple[str, ...]] = {}
    for name, bases in inferred.items():
        # What a base was denied, it cannot hand down.
        above = {base for other in bases if other in denied for base in denied[other]}
        kept = tuple(base for base in bases if base not in above)
        truth[name] = overlay.inheritance[name].bases if name in overlay.inheritance else kept
    for record in definitions:
        result[record.name] = replace(record, bases=_direct(truth, truth[record.name]))
    for name, entry in overlay.inheritance.items():
        if _direct(truth, inferred[name]) == _direct(truth, entry.bases):
            raise overlay.stale("inheritance", name, "inference finds these bases by itself")
    return result


def merge_hoisted(declared: Declarations) -> Declarations:
    """Let a derived record share the inline object of its base where the two are the same."""
    alias: dict[str, str] = {}
    for record in declared.values():
        if not isinstance(record, ir.Record):
            continue
        for base_name in record.bases:
            base = declared[base_name]
            if not isinstance(base, ir.Record):
                continue
            for inherited in base.fields:
                own = record.field(inherited.wire)
                if own is None or not isinstance(own.type, ir.Ref) or not isinstance(inherited.type, ir.Ref):
                    continue
                mine, theirs = declared[own.type.name], declared[inherited.type.name]
                alias |= _twins(mine, theirs, declared) or {}
    while any(target in alias for target in alias.values()):
        alias = {name: alias.get(target, target) for name, target in alias.items()}
    gone = set(alias)
    result: Declarations = {}
    for name, declaration in declared.items():
        if name in gone:
            continue
        if isinstance(declaration, ir.Record):
            fields = (replace(f, type=_renamed(f.type, alias)) for f in declaration.fields)
            declaration = replace(declaration, fields=tuple(fields))
        else:
            declaration = replace(declaration, type=_renamed(declaration.type, alias))
        result[name] = declaration
    return result


@dataclass
class _Comparison:
    """Structural comparison of records and types, with what is being compared taken for true meanwhile."""

    declared: Mapping[str, ir.Declaration]
    memo: dict[tuple[str, str], bool] = field(default_factory=dict)

    def extends(self, record: ir.Record, base: ir.Record) -> bool:
        """Whether `record` has all members of `base`, and more or narrower ones."""
        if not base.fields or ((role := _role(base.name)) and role != _role(record.name)):
            return False
        changed = len(record.fields) > len(base.fields)
        for theirs in base.fields:
            mine = record.field(theirs.wire)
            if mine is None or (theirs.required and not mine.required) or not self.narrows(mine.type, theirs.type):
                return False
            same = self.equal(mine.type, theirs.type)
            if same and mine.doc != theirs.doc:
                return False
            changed = changed or not same or mine.required != theirs.required
        return changed

    def equal(self, left: ir.Type, right: ir.Type) -> bool:
        return left == right or (self.narrows(left, right) and self.narrows(right, left))

    def narrows(self, mine: ir.Type, theirs: ir.Type) -> bool:
        """Whether every value of `mine` is one of `theirs`."""
        if mine == theirs or isinstance(theirs, ir.Any):
            return True
        match mine, theirs:
            case ir.Ref(name=left), ir.Ref(name=right):
                return self.refs(left, right)
            case ir.Ref(name=left), _ if isinstance(alias := self.declared[left], ir.Alias):
                return self.narrows(alias.type, theirs)
            case _, ir.Ref(name=right) if isinstance(alias := self.declared[right], ir.Alias):
                return self.narrows(mine, alias.type)
            case ir.Union(arms=arms), _:
                return all(self.narrows(arm, theirs) for arm in arms)
            case _, ir.Union(arms=arms):
                return any(self.narrows(mine, arm) for arm in arms)
            case ir.ListOf(item=left), ir.ListOf(item=right):
                return self.narrows(left, right)
            case ir.MapOf(value=left), ir.MapOf(value=right):
                return self.narrows(left, right)
            case ir.Ref(), ir.MapOf(value=ir.Any()):
                return True
            case ir.Const(value=str()) | ir.Enum(), ir.Scalar(kind="string", format=None):
                return True
            case ir.Const(value=str(value)), ir.Enum(values=values):
                return value in values
            case ir.Const(value=int()), ir.Scalar(kind="integer" | "number"):
                return True
            case ir.Scalar(kind="integer"), ir.Scalar(kind="number"):
                return True
            case ir.Scalar(kind=left), ir.Scalar(kind=right, minimum=None, maximum=None, format=None):
                return left == right
            case _:
                return False

    def refs(self, left: str, right: str) -> bool:
        if left == right:
            return True
        mine, theirs = self.declared[left], self.declared[right]
        if isinstance(mine, ir.Alias):
            return self.narrows(mine.type, ir.Ref(right))
        if isinstance(theirs, ir.Alias):
            return self.narrows(ir.Ref(left), theirs.type)
        key = (left, right)
        if key not in self.memo:
            self.memo[key] = True
            self.memo[key] = all(
                (f := mine.field(base.wire)) is not None
                and (f.required or not base.required)
                and self.narrows(f.type, base.type)
                for base in theirs.fields
            )
        return self.memo[key]


_ROLES = {word: word for word in ("Request", "Notification", "Result", "Response", "Params")} | {"Error": "Response"}


def _role(name: str) -> str:
    """The part that a message type plays, by the last word of its name; params are of a request or a notification."""
    role = next((role for word, role in _ROLES.items() if name.endswith(word)), "")
    return f"Notification{role}" if role == "Params" and "Notification" in name else role


def _direct(bases_of: Mapping[str, tuple[str, ...]], bases: tuple[str, ...]) -> tuple[str, ...]:
    """`bases` without those that another one already derives from."""

    def above(name: str, seen: frozenset[str] = frozenset()) -> set[str]:
        found: set[str] = set()
        for base in bases_of.get(name, ()):
            if base not in seen:
                found |= {base} | above(base, seen | {name})
        return found

    return tuple(name for name in bases if not any(name in above(other) for other in bases if other != name))


def _is_free_map(declaration: ir.Declaration | None) -> bool:
    """Whether this is a name for any object: a base in the spec's words, though it declares nothing to inherit."""
    return isinstance(declaration, ir.Alias) and declaration.type == ir.MapOf(ir.Any())


def _twins(
    mine: ir.Declaration, theirs: ir.Declaration, declared: Mapping[str, ir.Declaration]
) -> dict[str, str] | None:
    """`mine` -> `theirs`, and the same for the objects inside, if both are hoisted and alike; None if they differ."""
    if not (mine.owner and theirs.owner) or mine.doc != theirs.doc:
        return None
    found = {mine.name: theirs.name} if mine.name != theirs.name else {}
    if not (isinstance(mine, ir.Record) and isinstance(theirs, ir.Record)):
        same = isinstance(mine, ir.Alias) and isinstance(theirs, ir.Alias) and mine.type == theirs.type
        return found if same else None
    if [replace(f, type=ir.Any()) for f in mine.fields] != [replace(f, type=ir.Any()) for f in theirs.fields]:
        return None
    for left, right in zip(mine.fields, theirs.fields, strict=True):
        if left.type != right.type:
            if not (isinstance(left.type, ir.Ref) and isinstance(right.type, ir.Ref)):
                return None
            inner = _twins(declared[left.type.name], declared[right.type.name], declared)
            if inner is None:
                return None
            found |= inner
    return found


def _renamed(type: ir.Type, alias: Mapping[str, str]) -> ir.Type:
    match type:
        case ir.Ref(name=name):
            return ir.Ref(alias.get(name, name))
        case ir.ListOf(item=item):
            return replace(type, item=_renamed(item, alias))
        case ir.MapOf(value=value):
            return replace(type, value=_renamed(value, alias))
        case ir.Union(arms=arms):
            return replace(type, arms=tuple(_renamed(arm, alias) for arm in arms))
        case _:
            return type
