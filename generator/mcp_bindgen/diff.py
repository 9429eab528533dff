"""What changed between two revisions, and whom each change breaks.

The question asked of every change: a program is correct against the old revision and is moved to the new one, bindings
and peers alike. *Reading* breaks if what it takes from a value may be missing, of another shape or under another name.
*Writing* breaks if what it puts into a value is not enough, not legal or not understood any more.

| change | breaks reading | breaks writing |
|---|---|---|
| type added | | |
| type removed or renamed, or made another kind of thing | yes: the name is gone | yes |
| base dropped | yes: it no longer serves where the base is expected | |
| optional member added | | |
| required member added | | yes, unless it is filled in by itself |
| member removed or renamed | yes | yes |
| member becomes required | | yes, unless it is filled in by itself |
| member becomes optional | yes: it may be absent | |
| type, bounds or size wider | yes: unknown values may arrive | |
| type, bounds or size narrower | | yes: known values are refused |
| any other type | yes | yes |
| arm or enum value added | yes (not to an open enum) | |
| arm or enum value removed | | yes (not from an open enum) |
| enum opened / closed | opened | closed |
| member no longer filled in, or with another value | | yes |
| absence no longer read as a value | yes | |
| method added | | |
| method removed, other direction, other role | yes: it will not come | yes: it is refused |
| params or result by another type | as the types' relation says | as the types' relation says |
| result may take more rounds | yes | |
| another capability, or a first one | | yes: the sender has another thing to look for |
| method of another Python name | yes: the handler | yes: the call |
| constant added | | |
| constant removed or with another value | yes | yes |
| deprecated | | |

A change of a base is told there, not again for what derives from it. Unions over all messages of a direction
(`ClientRequest`, ...) are told as methods. Inline objects are told with the definition that holds them if that is new
or gone itself. Descriptions and formats are documentation and are not compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, TypeAlias

from . import ir, renamed, topics, unions
from .build import ancestors
from .explain import show
from .relation import Within

Side: TypeAlias = Literal["reading", "writing"]
Sign: TypeAlias = Literal["+", "-", "~"]
Kind: TypeAlias = Literal["method", "type", "base", "member", "arm", "value", "constant"]

READING: frozenset[Side] = frozenset({"reading"})
WRITING: frozenset[Side] = frozenset({"writing"})
BOTH = READING | WRITING
NOBODY: frozenset[Side] = frozenset()

CONSTANTS = "constants"
_KINDS = ("method", "type", "base", "member", "arm", "value", "constant")
_MESSAGES = frozenset({"ClientRequest", "ClientNotification", "ServerRequest", "ServerNotification"})


@dataclass(frozen=True)
class Change:
    """One change: of the type or method called `subject`, or of its `member`, in wire names.

    `topic` is the module of types that it belongs to; `home` is the declaration that says so where that is another.
    """

    kind: Kind
    sign: Sign
    subject: str
    member: str
    text: str
    breaks: frozenset[Side] = NOBODY
    home: str = ""
    topic: str = ""

    @property
    def place(self) -> str:
        return f"{self.subject}.{self.member}" if self.member else self.subject


@dataclass(frozen=True)
class Diff:
    """All changes from `old` to `new` in reading order, and the titles of their topics."""

    old: str
    new: str
    changes: tuple[Change, ...]
    titles: Mapping[str, str]
    renamed: renamed.Renamed

    def breaking(self, side: Side | None = None) -> tuple[Change, ...]:
        """The changes that break `side`, or anybody."""
        return tuple(c for c in self.changes if (side in c.breaks if side else c.breaks))


def compare(old: ir.Protocol, new: ir.Protocol) -> Diff:
    """Everything that changed from `old` to `new`."""
    comparison = _Comparison(old, new)
    arranged = (*topics.arrange(old), *topics.arrange(new))
    titles = {topic.name: topic.title for topic in arranged} | {CONSTANTS: "constants"}
    place = {name: topic.name for topic in arranged for name in topic.declarations}
    found = [replace(c, topic=place.get(c.home or c.subject, CONSTANTS)) for c in comparison.all()]
    order = (topics.SHARED, *sorted(titles.keys() - {topics.SHARED, CONSTANTS}), CONSTANTS)

    def reading_order(change: Change) -> tuple[int, int, int]:
        sign = "~-+".index(change.sign) if change.kind == "type" else 0
        return order.index(change.topic), _KINDS.index(change.kind), sign

    return Diff(old.revision, new.revision, tuple(sorted(found, key=reading_order)), titles, comparison.renamed)


@dataclass(frozen=True)
class _Comparison:
    old: ir.Protocol
    new: ir.Protocol

    @cached_property
    def renamed(self) -> renamed.Renamed:
        return renamed.find(self.old, self.new)

    @cached_property
    def forward(self) -> Within:
        """Whether what was legal still is."""
        return Within(self.old.declarations, self.new.declarations, self.renamed.types)

    @cached_property
    def backward(self) -> Within:
        """Whether what is legal was so before."""
        back = {new: old for old, new in self.renamed.types.items()}
        return Within(self.new.declarations, self.old.declarations, back)

    def all(self) -> Iterator[Change]:
        yield from self.methods()
        yield from self.types()
        yield from self.constants()

    # --- types -------------------------------------------------------------------------------------------------------

    def types(self) -> Iterator[Change]:
        old, new = self.old.declarations, self.new.declarations
        members: dict[str, list[Change]] = {}
        for name, before in old.items():
            successor = self.renamed.types.get(name)
            after = new.get(successor or name)
            if name in _MESSAGES:
                continue
            if after is None:
                if not before.owner or before.owner in new:
                    yield Change("type", "-", name, "", "removed", BOTH)
                continue
            if successor:
                taken = f"; the name `{name}` now stands for {show_declaration(new[name])}" if name in new else ""
                yield Change("type", "~", name, "", f"renamed to `{successor}`{taken}", BOTH, successor)
            if after.deprecated and not before.deprecated:
                yield Change("type", "~", after.name, "", "deprecated")
            match before, after:
                case ir.Record(), ir.Record():
                    yield from self.bases(before, after)
                    members[after.name] = list(self.members(before, after))
                case ir.Alias(), ir.Alias():
                    yield from self.type(after.name, "", before.type, after.type)
                case _:
                    words = f"was {show_declaration(before)}, is {show_declaration(after)}"
                    yield Change("type", "~", after.name, "", words, BOTH)
        for name, after in new.items():
            yield from self.own(members, name)
            known = name in old or name in self.renamed.types.values() or name in _MESSAGES
            if not known and (not after.owner or after.owner in old):
                yield Change("type", "+", name, "", f"added: {show_declaration(after)}")

    def own(self, members: Mapping[str, list[Change]], name: str) -> Iterator[Change]:
        """The member changes of `name` that none of its bases has in the same words."""
        bases = ancestors(self.new.declarations, name)
        told = {(c.sign, c.member, c.text) for base in bases for c in members.get(base, ())}
        yield from (c for c in members.get(name, ()) if (c.sign, c.member, c.text) not in told)

    def bases(self, before: ir.Record, after: ir.Record) -> Iterator[Change]:
        """Bases that are gone, the nearest ones only; and what kind of object it is."""
        kept = ancestors(self.new.declarations, after.name)
        names = (self.renamed.types.get(base, base) for base in ancestors(self.old.declarations, before.name))
        lost = [name for name in names if name not in kept and name in self.new.declarations]
        for base in lost:
            if not any(base in ancestors(self.new.declarations, other) for other in lost):
                yield Change("base", "-", after.name, "", f"no longer extends `{base}`", READING)
        if before.kind != after.kind:
            lossless = (before.kind, after.kind) == ("closed", "open")
            words = f"was {_RECORDS[before.kind]}, is {_RECORDS[after.kind]}"
            yield Change("type", "~", after.name, "", words, NOBODY if lossless else BOTH)

    def members(self, before: ir.Record, after: ir.Record) -> Iterator[Change]:
        moved = {wire: new for (record, wire), new in self.renamed.members.items() if record == before.name}
        unchecked = before.kind == after.kind == "opaque"  # its members are only checked: all pass through
        for f in before.fields:
            now = after.field(moved.get(f.wire, f.wire))
            if now is None:
                breaks = BOTH if not unchecked else READING if f.required else NOBODY
                yield Change("member", "-", after.name, f.wire, "no longer checked" if unchecked else "removed", breaks)
                continue
            if now.wire != f.wire:
                yield Change("member", "~", after.name, f.wire, f"renamed to `{now.wire}`", BOTH)
            yield from self.member(after.name, f, now)
        for f in after.fields:
            if before.field(f.wire) is None and f.wire not in moved.values():
                need = f"added, {'required' if f.required else 'optional'}: {show(f.type)}{_filled(f)}"
                yield Change(
                    "member", "+", after.name, f.wire, need, WRITING if f.required and f.fill is None else NOBODY
                )
        yield from self.receive(before, after)

    def member(self, name: str, before: ir.Field, after: ir.Field) -> Iterator[Change]:
        yield from self.type(name, after.wire, before.type, after.type)
        if after.required and not before.required:
            breaks = WRITING if after.fill is None else NOBODY
            yield Change("member", "~", name, after.wire, f"now required{_filled(after)}", breaks)
        elif before.required and not after.required:
            yield Change("member", "~", name, after.wire, "now optional", READING)
        elif before.fill != after.fill:
            words = (
                "no longer filled in by itself"
                if after.fill is None
                else f"filled in with {after.fill!r} when left out"
            )
            yield Change("member", "~", name, after.wire, words, NOBODY if before.fill is None else WRITING)
        if after.deprecated and not before.deprecated:
            yield Change("member", "~", name, after.wire, "deprecated")

    def receive(self, before: ir.Record, after: ir.Record) -> Iterator[Change]:
        """Rules on absent members, told of the definitions that state them."""
        old = {r.member: r.value for r in self.old.receive if r.definition == before.name}
        new = {r.member: r.value for r in self.new.receive if r.definition == after.name}
        for member, value in old.items():
            if after.field(member) and (member not in new or new[member] != value):
                yield Change("member", "~", after.name, member, f"no longer: {_reading(value)}", READING)
        for member, value in new.items():
            if member not in old or old[member] != value:
                yield Change("member", "~", after.name, member, _reading(value))

    # --- what a declaration or a member holds ------------------------------------------------------------------------

    def type(self, name: str, member: str, before: ir.Type, after: ir.Type) -> Iterator[Change]:
        """Changes between two types at the same place; enums and unions value by value and arm by arm."""
        if self.renamed.type(before) == after:
            return  # what changed inside is told where it is declared
        left, way = _inner(before, self.old)
        right, other_way = _inner(after, self.new)
        known, known_now = _values(left, self.old), _values(right, self.new)
        if way == other_way and known and known_now:
            yield from self.values(name, member, known, known_now)
        elif way == other_way and (_is_union(left, self.old) or _is_union(right, self.new)):
            yield from self.arms(name, member, left, right)
        else:
            breaks = self.broken(before, after)
            if breaks or _is_record(left, self.old) or _is_record(right, self.new):
                kind: Kind = "member" if member else "type"
                yield Change(kind, "~", name, member, f"{show(before)} -> {show(after)}", breaks)

    def broken(self, before: ir.Type, after: ir.Type) -> frozenset[Side]:
        reads = NOBODY if self.backward.type(after, before) else READING
        writes = NOBODY if self.forward.type(before, after) else WRITING
        return reads | writes

    def values(self, name: str, member: str, before: ir.Enum, after: ir.Enum) -> Iterator[Change]:
        for value in before.values:
            if value not in after.values:
                yield Change("value", "-", name, member, f"value {value!r} removed", NOBODY if after.open else WRITING)
        for value in after.values:
            if value not in before.values:
                yield Change("value", "+", name, member, f"value {value!r} added", NOBODY if before.open else READING)
        if before.open != after.open:
            words = "opened: other values may come" if after.open else "closed: other values are refused"
            yield Change("value", "~", name, member, words, READING if after.open else WRITING)

    def arms(self, name: str, member: str, before: ir.Type, after: ir.Type) -> Iterator[Change]:
        for arm in _arms(before, self.old):
            if not self.forward.type(arm, after):
                yield Change("arm", "-", name, member, f"no longer {show(arm)}", WRITING)
        for arm in _arms(after, self.new):
            if not self.backward.type(arm, before):
                yield Change("arm", "+", name, member, f"may also be {show(arm)}", READING)

    # --- methods and constants ---------------------------------------------------------------------------------------

    def methods(self) -> Iterator[Change]:
        old, new = _by_wire(self.old.methods), _by_wire(self.new.methods)
        for wire, before in old.items():
            kept = new.get(wire, {})
            gone = [row for way, row in before.items() if way not in kept]
            come = [row for way, row in kept.items() if way not in before]
            for way, row in before.items():
                if way in kept:
                    yield from self.method(row, kept[way])
            if gone and come:
                yield Change(
                    "method", "~", wire, "", f"was {_direction(gone)}, is {_direction(come)}", BOTH, come[0].message
                )
            elif gone:
                yield Change("method", "-", wire, "", f"{_direction(gone)}, removed", BOTH, gone[0].message)
        for wire, after in new.items():
            before = old.get(wire, {})
            come = [row for way, row in after.items() if way not in before]
            if come and len(come) == len(after) - len(before):
                needs = f" (capability {come[0].capability})" if come[0].capability else ""
                yield Change("method", "+", wire, "", f"{_direction(come)}, added{needs}", NOBODY, come[0].message)

    def method(self, before: ir.Method, after: ir.Method) -> Iterator[Change]:
        def change(text: str, breaks: frozenset[Side] = NOBODY) -> Change:
            return Change("method", "~", before.wire, "", text, breaks, after.message)

        if before.name != after.name:
            yield change(f"in Python `{before.name}` is now `{after.name}`", BOTH)
        for what, was, now in (("params", before.params, after.params), ("result", before.result, after.result)):
            if was and now and now not in (was, self.renamed.types.get(was)):
                yield change(f"{what}: {was} -> {now}", self.broken(ir.Ref(was), ir.Ref(now)))
            elif bool(was) != bool(now):
                breaks = BOTH if was else WRITING if after.params_required else NOBODY
                yield change(f"{what}: {was or 'none'} -> {now or 'none'}", breaks)
        if before.params and after.params and before.params_required != after.params_required:
            needed = after.params_required
            yield change(f"params now {'required' if needed else 'optional'}", WRITING if needed else READING)
        if before.multi_round != after.multi_round:
            words = "may also be answered by InputRequiredResult" if after.multi_round else "is answered in one round"
            yield change(words, READING if after.multi_round else NOBODY)
        if before.capability != after.capability:
            breaks = WRITING if after.capability else NOBODY
            yield change(f"capability: {before.capability or 'none'} -> {after.capability or 'none'}", breaks)
        if after.deprecated and not before.deprecated:
            yield change("deprecated")

    def constants(self) -> Iterator[Change]:
        old, new = self.old.constants, self.new.constants
        for name, value in old.items():
            if name not in new:
                yield Change("constant", "-", name, "", f"removed (was {value!r})", BOTH)
            elif new[name] != value and (value, new[name]) != (self.old.revision, self.new.revision):
                yield Change("constant", "~", name, "", f"{value!r} -> {new[name]!r}", BOTH)
        for name, value in new.items():
            if name not in old:
                yield Change("constant", "+", name, "", f"added: {value!r}")


_RECORDS = {"closed": "an object", "open": "an open map", "opaque": "an opaque object"}


def show_declaration(declaration: ir.Declaration) -> str:
    """What a declaration is, in a few words; a `?` marks optional members."""
    if isinstance(declaration, ir.Alias):
        return show(declaration.type)
    members = ", ".join(f.wire if f.required else f"{f.wire}?" for f in declaration.fields)
    return f"{_RECORDS[declaration.kind]} with {members}" if members else _RECORDS[declaration.kind]


def _filled(member: ir.Field) -> str:
    if not member.required or member.fill is None or isinstance(member.type, ir.Const):
        return ""
    return f" (filled in with {member.fill!r} when left out)"


def _reading(value: str | int | None) -> str:
    return "null is read as absent" if value is None else f"absent is read as {value!r}"


def _inner(type: ir.Type, protocol: ir.Protocol) -> tuple[ir.Type, tuple[str, ...]]:
    """The type inside lists and maps, and the way to it. An alias stays, unless it leads into a list or map."""
    match type:
        case ir.ListOf(item=item, max_items=most):
            inner, way = _inner(item, protocol)
            return inner, (f"list {most}", *way)
        case ir.MapOf(value=value):
            inner, way = _inner(value, protocol)
            return inner, ("map", *way)
        case ir.Ref(name=name) if isinstance(alias := protocol.declarations[name], ir.Alias):
            inner, way = _inner(alias.type, protocol)
            return (inner, way) if way else (type, ())
        case _:
            return type, ()


def _values(type: ir.Type, protocol: ir.Protocol) -> ir.Enum | None:
    match unions.resolve(type, protocol.declarations.__getitem__):
        case ir.Enum() as enum:
            return enum
        case ir.Const(value=str(value)):
            return ir.Enum((value,))
        case _:
            return None


def _is_union(type: ir.Type, protocol: ir.Protocol) -> bool:
    return isinstance(unions.resolve(type, protocol.declarations.__getitem__), ir.Union)


def _is_record(type: ir.Type, protocol: ir.Protocol) -> bool:
    return isinstance(unions.resolve(type, protocol.declarations.__getitem__), ir.Ref)


def _arms(type: ir.Type, protocol: ir.Protocol) -> Iterable[ir.Type]:
    match unions.resolve(type, protocol.declarations.__getitem__):
        case ir.Union(arms=arms):
            return arms
        case other:
            return (other,)


def _by_wire(methods: Iterable[ir.Method]) -> dict[str, dict[tuple[str, str], ir.Method]]:
    """Wire name -> (sender, role) -> row."""
    found: dict[str, dict[tuple[str, str], ir.Method]] = {}
    for method in methods:
        found.setdefault(method.wire, {})[method.sender, method.role] = method
    return found


def _direction(rows: list[ir.Method]) -> str:
    if rows[0].role == "embedded":
        return "a payload inside a result"
    sender = "either side" if len({row.sender for row in rows}) > 1 else f"the {rows[0].sender}"
    return f"{rows[0].kind} from {sender}"
