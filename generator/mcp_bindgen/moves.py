"""What users of the bindings find elsewhere, or no more, in a later revision: a diff in terms of Python names."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from . import diff, ir, proxies
from .build import ancestors
from .context import Revision
from .handlers import Side, handlers


@dataclass(frozen=True)
class Moves:
    """From `old` to `new`. In every mapping, None stands for what is gone."""

    old: Revision
    new: Revision
    found: diff.Diff

    @cached_property
    def types(self) -> dict[str, str | None]:
        """Class or alias -> what it is called now."""
        names = self.old.names.classes.items()
        return {python: self._type(declaration) for declaration, python in names}

    @cached_property
    def declarations(self) -> dict[str, str]:
        """Class or alias of the old revision -> its declaration."""
        return {python: declaration for declaration, python in self.old.names.classes.items()}

    @cached_property
    def topics(self) -> dict[str, str]:
        """Class or alias of the new revision -> the module of types that it is in."""
        return {self.new.names.of(name): topic for name, topic in self.new.topic_of.items()}

    def attributes(self, declaration: str) -> dict[str, str | None]:
        """Attribute of a record -> what it is called now."""
        before, after = self.old.record(declaration), self._successor(declaration)
        if before is None or after is None:
            return {}
        moved = {wire: new for (record, wire), new in self.found.renamed.members.items() if record == before.name}
        return {
            self.old.attribute(before, f.wire): self.new.attribute(after, wire) if after.field(wire) else None
            for f in before.fields
            for wire in [moved.get(f.wire, f.wire)]
        }

    def changed(self, declaration: str, attribute: str, side: diff.Side) -> Iterator[str]:
        """What changed about an attribute that stays, in words, where that breaks `side`."""
        record = self.old.record(declaration)
        if record is None or self.attributes(declaration).get(attribute) is None:
            return
        line = {record.name, *ancestors(self.old.protocol.declarations, record.name)}
        subjects = {self.successor(name) for name in line}
        wires = {f.wire for f in record.fields if self.old.attribute(record, f.wire) == attribute}
        for change in self.found.changes:
            told = change.text.startswith(("renamed", "now required"))
            if change.subject in subjects and change.member in wires and side in change.breaks and not told:
                yield f"{change.place}: {change.text}"

    def needed(self, declaration: str) -> tuple[str, ...]:
        """The attributes that a constructor did not need before and needs now, by their new names."""
        before, after = self.old.record(declaration), self._successor(declaration)
        if before is None or after is None:
            return ()
        had = {self.attributes(declaration)[self.old.attribute(before, f.wire)] for f in before.fields if _needed(f)}
        now = (self.new.attribute(after, f.wire) for f in after.fields if _needed(f))
        return tuple(attribute for attribute in now if attribute not in had)

    @cached_property
    def distinctive(self) -> dict[str, str]:
        """Attributes that nothing in the new revision has -> the member they are or were."""
        present = {self.new.attribute(r, f.wire) for r in self.new.protocol.records for f in r.fields}
        return {
            self.old.attribute(record, f.wire): f"{record.name}.{f.wire}"
            for record in self.old.protocol.records
            for f in record.fields
            if self.old.attribute(record, f.wire) not in present
        }

    @cached_property
    def constants(self) -> dict[str, str | None]:
        """Name in the module `methods` -> what it is called now."""
        after = {call.method.wire: call.constant for call in self.new.calls}
        names = self.new.protocol.constants
        return {call.constant: after.get(call.method.wire) for call in self.old.calls} | {
            name: name if name in names else None for name in self.old.protocol.constants
        }

    @cached_property
    def clients(self) -> dict[str, str | None]:
        """Method of a client -> what it is called now."""
        after = {call.method.wire: dict(_forms(call)) for call in self.new.calls}
        return {
            name: after.get(call.method.wire, {}).get(form)
            for call in self.old.calls
            for form, name in _forms(call)
            if call.method.role == "wire" and call.sender != "server"
        }

    @cached_property
    def calls(self) -> dict[str, proxies.Call]:
        """Method of a client of the old revision -> what it calls."""
        return {name: call for call in self.old.calls for _, name in _forms(call)}

    def keywords(self, call: proxies.Call) -> dict[str, str | None]:
        """Keyword of a client's method -> what it is called now."""
        now = next((c for c in self.new.calls if c.method.wire == call.method.wire), None)
        present = {self.new.attribute(k.record, k.field.wire) for k in now.keywords} if now else set[str]()
        found: dict[str, str | None] = {}
        for keyword in call.keywords:
            attribute = self.old.attribute(keyword.record, keyword.field.wire)
            renamed = self.attributes(keyword.record).get(attribute)
            found[attribute] = renamed if renamed in present else None
        return found

    def needed_keywords(self, call: proxies.Call) -> tuple[str, ...]:
        """The keywords that a client's method did not need before and needs now."""
        now = next((c for c in self.new.calls if c.method.wire == call.method.wire), None)
        had = {self.keywords(call)[self.old.attribute(k.record, k.field.wire)] for k in call.keywords if not k.optional}
        needed = (self.new.attribute(k.record, k.field.wire) for k in now.keywords if not k.optional) if now else ()
        return tuple(name for name in needed if name not in had)

    def handlers(self, side: Side) -> dict[str, str | None]:
        """Handler of one side -> what it is called now."""
        after = {handler.wire: handler.name for handler in handlers(self.new, side)}
        return {handler.name: after.get(handler.wire) for handler in handlers(self.old, side)}

    @cached_property
    def publishers(self) -> dict[str, str | None]:
        """Method by which a server tells its subscribers -> what it is called now."""
        after = {call.method.wire: f"notify_{call.method.name}" for call in self.new.calls if call.topic}
        return {f"notify_{c.method.name}": after.get(c.method.wire) for c in self.old.calls if c.topic}

    @cached_property
    def wires(self) -> frozenset[str]:
        """The wire methods that are gone."""
        return frozenset(m.wire for m in self.old.protocol.methods) - {m.wire for m in self.new.protocol.methods}

    def successor(self, declaration: str) -> str | None:
        """What a declaration of the old revision is called now."""
        name = self.found.renamed.types.get(declaration, declaration)
        return name if name in self.new.protocol.declarations else None

    def _type(self, declaration: str) -> str | None:
        name = self.successor(declaration)
        return self.new.names.of(name) if name else None

    def _successor(self, declaration: str) -> ir.Record | None:
        record = self.old.record(declaration)
        name = self.successor(record.name) if record else None
        return self.new.record(name) if name else None


def moves(old: Revision, new: Revision) -> Moves:
    """What moved between two revisions."""
    return Moves(old, new, diff.compare(old.protocol, new.protocol))


def _needed(member: ir.Field) -> bool:
    return member.required and member.fill is None


def _forms(call: proxies.Call) -> Iterator[tuple[str, str]]:
    """The methods of a client for one call: the form, and the name."""
    name = call.method.name
    if call.method.kind == "notification":
        yield "notify", f"notify_{name}"
        return
    yield from (("", name), ("raw", f"{name}_raw"), ("once", f"{name}_once"))
    if call.iterator:
        yield "iter", call.iterator
