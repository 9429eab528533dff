"""How a decoder tells the arms of a union apart: flattening, and the plan, computed once for every style."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from . import ir

Lookup = Callable[[str], ir.Declaration]


class Ambiguous(Exception):
    """Nothing tells `arms` apart: a ranking has to come from the overlay. `instance` decodes as either."""

    def __init__(self, arms: tuple[str, ...]) -> None:
        super().__init__(arms)
        self.arms = arms


@dataclass(frozen=True)
class _Candidate:
    """An object arm under consideration: its place in the union and, if it is a record, its members."""

    index: int
    name: str
    record: ir.Record | None


def flatten(arms: Sequence[ir.Type], lookup: Lookup) -> tuple[ir.Type, ...]:
    """The arms with unions inside unions opened, aliases of one definition resolved and repeats dropped.

    Strings are merged: a plain string absorbs constants and enums.
    """
    flat: list[ir.Type] = []
    for arm in arms:
        match resolve(arm, lookup):
            case ir.Union(arms=inner):
                flat.extend(flatten(inner, lookup))
            case other:
                flat.append(other)
    flat = list(dict.fromkeys(flat))
    if any(isinstance(arm, ir.Any) for arm in flat):
        return (ir.Any(),)
    if any(isinstance(arm, ir.Scalar) and arm.kind == "string" for arm in flat):
        flat = [arm for arm in flat if not (isinstance(arm, ir.Enum) or _is_string_const(arm))]
    return tuple(flat)


def resolve(type: ir.Type, lookup: Lookup) -> ir.Type:
    """`type` behind aliases: what it is, where a record stays a reference."""
    if isinstance(type, ir.Ref):
        declaration = lookup(type.name)
        if isinstance(declaration, ir.Alias):
            return resolve(declaration.type, lookup)
    return type


def label(arm: ir.Type) -> str:
    """The name of an arm in plans and messages: the definition, else the JSON kind."""
    return arm.name if isinstance(arm, ir.Ref) else kinds(arm)[0]


def labels(arms: Sequence[ir.Type]) -> tuple[str, ...]:
    """A distinct label for each arm; a second array is `array2`."""
    seen: dict[str, int] = {}
    names: list[str] = []
    for arm in arms:
        name = label(arm)
        seen[name] = seen.get(name, 0) + 1
        names.append(name if seen[name] == 1 else f"{name}{seen[name]}")
    return tuple(names)


def kinds(type: ir.Type) -> tuple[ir.JsonKind, ...]:
    """The JSON kinds that an arm may have; records and maps are objects."""
    match type:
        case ir.Scalar(kind=kind):
            return (kind,)
        case ir.Const(value=bool()):
            return ("boolean",)
        case ir.Const(value=int()):
            return ("integer",)
        case ir.Const() | ir.Enum():
            return ("string",)
        case ir.ListOf():
            return ("array",)
        case ir.MapOf() | ir.Ref():
            return ("object",)
        case _:
            raise TypeError(f"not an arm: {type}")


def plan(arms: Sequence[ir.Type], lookup: Lookup, order: Sequence[str] = ()) -> ir.Plan:
    """The plan for flattened `arms`. `order` ranks arms by label where nothing else decides.

    Raises Ambiguous if a ranking is needed and `order` does not give it.
    """
    by_kind: dict[ir.JsonKind, list[int]] = {}
    for index, arm in enumerate(arms):
        for kind in kinds(arm):
            by_kind.setdefault(kind, []).append(index)
    if set(by_kind) == {"object"}:
        return _objects(_candidates(arms, by_kind["object"], lookup), lookup, order, frozenset())
    cases: list[tuple[ir.JsonKind, ir.Plan]] = []
    for kind, indices in by_kind.items():
        match kind:
            case _ if len(indices) == 1:
                cases.append((kind, ir.Arm(indices[0])))
            case "object":
                cases.append((kind, _objects(_candidates(arms, indices, lookup), lookup, order, frozenset())))
            case "array":
                cases.append((kind, _arrays(arms, indices, lookup, order)))
            case _:
                raise Ambiguous(tuple(label(arms[index]) for index in indices))
    return ir.ByKind(tuple(cases))


def leaves(plan: ir.Plan) -> tuple[int, ...]:
    """The arms that `plan` can decide for, each once, in plan order."""
    match plan:
        case ir.Arm(index=index):
            found = [index]
        case ir.ByKind(cases=cases):
            found = [leaf for _, inner in cases for leaf in leaves(inner)]
        case ir.ByItem(item=item, empty=empty):
            found = [*leaves(item), *leaves(empty)]
        case ir.ByTag(cases=tags, default=default):
            found = [leaf for _, inner in tags for leaf in leaves(inner)]
            found += leaves(default) if default else ()
        case ir.ByKey(cases=paths, default=default):
            found = [leaf for _, inner in paths for leaf in leaves(inner)]
            found += leaves(default) if default else ()
        case ir.Ranked(cases=ranks):
            found = [index for _, index in ranks]
    return tuple(dict.fromkeys(found))


def explain(plan: ir.Plan, names: Sequence[str], indent: str = "") -> list[str]:
    """The plan in words, a line per decision."""
    deeper = indent + "  "

    def branch(condition: str, inner: ir.Plan) -> list[str]:
        if isinstance(inner, ir.Arm):
            return [f"{indent}{condition} -> {names[inner.index]}"]
        return [f"{indent}{condition}:", *explain(inner, names, deeper)]

    lines: list[str] = []
    match plan:
        case ir.Arm(index=index):
            lines = [f"{indent}always {names[index]}"]
        case ir.ByKind(cases=cases):
            for kind, inner in cases:
                lines += branch(f"JSON {kind}", inner)
        case ir.ByItem(item=item, empty=empty):
            lines += [*branch("first item", item), *branch("empty array", empty)]
        case ir.ByTag(member=member, cases=tags, default=default):
            for value, inner in tags:
                lines += branch(f"{member} = {value!r}", inner)
            lines += branch(f"any other {member}, or none", default) if default else []
        case ir.ByKey(cases=paths, default=default):
            for path, inner in paths:
                lines += branch(f"has {'.'.join(path)}", inner)
            lines += branch("otherwise", default) if default else []
        case ir.Ranked(cases=ranks):
            lines = [f"{indent}ranked: first with {', '.join(need) or 'nothing'} -> {names[i]}" for need, i in ranks]
    return lines


def rank(records: Mapping[str, ir.Record]) -> tuple[str, ...]:
    """The proposed order of ambiguous arms: most required members, then most members, then name."""
    return tuple(sorted(records, key=lambda name: (-len(records[name].required), -len(records[name].fields), name)))


def _is_string_const(arm: ir.Type) -> bool:
    return isinstance(arm, ir.Const) and isinstance(arm.value, str)


def _candidates(arms: Sequence[ir.Type], indices: Sequence[int], lookup: Lookup) -> list[_Candidate]:
    found: list[_Candidate] = []
    for index in indices:
        arm = arms[index]
        declaration = lookup(arm.name) if isinstance(arm, ir.Ref) else None
        found.append(_Candidate(index, label(arm), declaration if isinstance(declaration, ir.Record) else None))
    return found


def _objects(group: list[_Candidate], lookup: Lookup, order: Sequence[str], used: frozenset[str]) -> ir.Plan:
    if len(group) == 1:
        return ir.Arm(group[0].index)
    return _by_tag(group, lookup, order, used) or _by_key(group, lookup, order)


def _by_tag(group: list[_Candidate], lookup: Lookup, order: Sequence[str], used: frozenset[str]) -> ir.Plan | None:
    best: tuple[str, dict[str, list[_Candidate]], list[_Candidate]] | None = None
    members = dict.fromkeys(f.wire for c in group if c.record for f in c.record.fields)
    for member in members:
        if member in used:
            continue
        tagged: dict[str, list[_Candidate]] = {}
        rest: list[_Candidate] = []
        for candidate in group:
            declared = candidate.record.field(member) if candidate.record else None
            values = _tag_values(declared, lookup)
            for value in values:
                tagged.setdefault(value, []).append(candidate)
            if declared is None or not values or not declared.required:
                rest.append(candidate)
        if not _separates(group, member, tagged, rest, lookup):
            continue
        if best is None or len(tagged) > len(best[1]):
            best = (member, tagged, rest)
    if best is None:
        return None
    member, tagged, rest = best
    cases = tuple((value, _objects(arms, lookup, order, used | {member})) for value, arms in tagged.items())
    return ir.ByTag(member, cases, _objects(rest, lookup, order, used | {member}) if rest else None)


def _separates(
    group: list[_Candidate],
    member: str,
    tagged: Mapping[str, list[_Candidate]],
    rest: list[_Candidate],
    lookup: Lookup,
) -> bool:
    """Whether `member` is a tag: it splits the group, and who has no value of its own may carry any string."""
    if not tagged or all(len(arms) == len(group) for arms in tagged.values()):
        return False
    if len(tagged) == 1 and not rest:
        return False
    optional = [c for c in rest if any(c in arms for arms in tagged.values())]
    plain = [c for c in rest if c not in optional]
    if optional:
        return len(rest) == 1
    return all(
        c.record is not None
        and (f := c.record.field(member)) is not None
        and resolve(f.type, lookup) == ir.Scalar("string")
        for c in plain
    )


def _tag_values(declared: ir.Field | None, lookup: Lookup) -> tuple[str, ...]:
    match resolve(declared.type, lookup) if declared else None:
        case ir.Const(value=str(value)):
            return (value,)
        case ir.Enum(values=values, open=False):
            return values
        case _:
            return ()


def _by_key(group: list[_Candidate], lookup: Lookup, order: Sequence[str]) -> ir.Plan:
    remaining = list(group)
    cases: list[tuple[tuple[str, ...], ir.Plan]] = []
    while len(remaining) > 1:
        found = _marked(remaining, group, lookup) or _marked(remaining, remaining, lookup)
        if found is None:
            break
        candidate, path = found
        remaining.remove(candidate)
        cases.append((path, ir.Arm(candidate.index)))
    default = ir.Arm(remaining[0].index) if len(remaining) == 1 else _ranked(remaining, order)
    return ir.ByKey(tuple(cases), default) if cases else default


def _marked(
    remaining: list[_Candidate], rivals: list[_Candidate], lookup: Lookup
) -> tuple[_Candidate, tuple[str, ...]] | None:
    """The first arm that a key gives away: required in it, declared by no rival; at the top before one level down.

    An optional key serves too where a value without it is just as well another remaining arm's.
    """
    for depth in (1, 2):
        for candidate in remaining:
            others = [other for other in rivals if other is not candidate]
            for path in _required_paths(candidate, depth, lookup):
                if not any(_declares(other, path, lookup) for other in others):
                    return candidate, path
    for candidate in remaining:
        others = [other for other in remaining if other is not candidate]
        for member in candidate.record.fields if candidate.record else ():
            if any(_declares(other, (member.wire,), lookup) for other in others):
                continue
            if any(_covers(other, candidate, member.wire) for other in others):
                return candidate, (member.wire,)
    return None


def _required_paths(candidate: _Candidate, depth: int, lookup: Lookup) -> list[tuple[str, ...]]:
    if candidate.record is None:
        return []
    paths: list[tuple[str, ...]] = []
    for member in candidate.record.fields:
        if not member.required:
            continue
        if depth == 1:
            paths.append((member.wire,))
        else:
            inner = resolve(member.type, lookup)
            declaration = lookup(inner.name) if isinstance(inner, ir.Ref) else None
            if isinstance(declaration, ir.Record):
                paths.extend((member.wire, wire) for wire in declaration.required)
    return paths


def _declares(candidate: _Candidate, path: tuple[str, ...], lookup: Lookup) -> bool:
    """Whether a value of this arm may carry `path` with a meaning. A free map may carry anything."""
    if candidate.record is None:
        return True
    member = candidate.record.field(path[0])
    if member is None or len(path) == 1:
        return member is not None
    inner = resolve(member.type, lookup)
    declaration = lookup(inner.name) if isinstance(inner, ir.Ref) else None
    if not isinstance(declaration, ir.Record):
        return True
    return declaration.field(path[1]) is not None


def _covers(other: _Candidate, candidate: _Candidate, key: str) -> bool:
    if other.record is None or candidate.record is None:
        return False
    mine = {f.wire: f for f in candidate.record.fields if f.wire != key}
    return all(
        (f.wire in mine and mine[f.wire].type == f.type) if f.required else mine.get(f.wire, f).type == f.type
        for f in other.record.fields
    )


def _ranked(group: list[_Candidate], order: Sequence[str]) -> ir.Ranked:
    by_name = {candidate.name: candidate for candidate in group}
    if any(name not in order for name in by_name):
        raise Ambiguous(tuple(by_name))
    ranked = sorted(group, key=lambda candidate: order.index(candidate.name))
    return ir.Ranked(tuple((c.record.required if c.record else (), c.index) for c in ranked))


def _arrays(arms: Sequence[ir.Type], indices: Sequence[int], lookup: Lookup, order: Sequence[str]) -> ir.Plan:
    """Arrays differ by their items: plan over all items, and let each item lead back to its array."""
    items: list[ir.Type] = []
    owner: list[int] = []
    for index in indices:
        arm = arms[index]
        assert isinstance(arm, ir.ListOf)
        for item in flatten((arm.item,), lookup):
            if item in items or isinstance(item, ir.Any):
                raise Ambiguous(tuple(label(arms[i]) for i in indices))
            items.append(item)
            owner.append(index)
    return ir.ByItem(_relabel(plan(items, lookup, order), owner), ir.Arm(indices[0]))


def _relabel(plan: ir.Plan, owner: Sequence[int]) -> ir.Plan:
    match plan:
        case ir.Arm(index=index):
            return ir.Arm(owner[index])
        case ir.ByKind(cases=cases):
            return ir.ByKind(tuple((kind, _relabel(inner, owner)) for kind, inner in cases))
        case ir.ByItem(item=item, empty=empty):
            return ir.ByItem(_relabel(item, owner), _relabel(empty, owner))
        case ir.ByTag(member=member, cases=tags, default=default):
            inner = tuple((value, _relabel(case, owner)) for value, case in tags)
            return ir.ByTag(member, inner, _relabel(default, owner) if default else None)
        case ir.ByKey(cases=paths, default=default):
            keyed = tuple((path, _relabel(case, owner)) for path, case in paths)
            return ir.ByKey(keyed, _relabel(default, owner) if default else None)
        case ir.Ranked(cases=ranks):
            return ir.Ranked(tuple((need, owner[index]) for need, index in ranks))
