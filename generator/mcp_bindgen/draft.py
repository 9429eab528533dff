"""The overlay of a revision, started from another's: what still applies, what does not, and what people must decide."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from . import ir, names, renamed, samples, source
from .build import build
from .document import is_array
from .errors import BindgenError, RecursiveAlias, StaleEntry, Unranked
from .overlay import parse_overlay

Document = dict[str, Any]
Proposals = Mapping[str, tuple[Any, str]]

_DEPRECATED = re.compile(r"\bdeprecated\b", re.IGNORECASE)
_RANKED = "Proposed: most required members first, then most members, then by name."


@dataclass(frozen=True)
class Dropped:
    """An entry that does not apply any more, and why."""

    section: str
    entry: str
    reason: str
    value: Any = None


@dataclass(frozen=True)
class Question:
    """A proposal in the overlay that a person has to confirm. `example` decodes differently if it is wrong."""

    section: str
    entry: str
    text: str
    example: Any = None


@dataclass(frozen=True)
class Draft:
    """An overlay that builds, and what became of the entries that it was started from."""

    overlay: Document
    schema: source.Schema
    protocol: ir.Protocol
    kept: int
    dropped: tuple[Dropped, ...]
    questions: tuple[Question, ...]


@dataclass(frozen=True)
class Input:
    """A new schema document, its pin, and what its files are called in messages."""

    document: Document
    pin: source.Pin
    file: str
    overlay_file: str


def draft(given: Input, start: Document, previous: ir.Protocol | None) -> Draft:
    """The overlay for `given`, from the overlay `start` of the revision `previous`.

    Raises BindgenError for a schema that no entry which can be proposed makes buildable.
    """
    work = _Work(given, _started(given, start, previous))
    work.keep_corrections()
    protocol = work.settle()
    work.trim(protocol)
    if previous is not None:
        work.rename(renamed.find(previous, protocol).types)
        work.propose("constants", _new_codes(protocol, work.overlay))
        work.drop_codes(error_codes(previous).keys() - error_codes(protocol).keys())
        work.propose("capabilities", _new_capabilities(previous, protocol))
        work.propose("opaque", _new_opaque(protocol))
    work.propose("deprecated", _new_deprecations(protocol))
    protocol = work.settle()
    ranked = tuple(work.rankings(protocol))
    protocol = work.settle()
    proposed = len(work.questions) + len(ranked)
    sizes = {section: len(content) for section, content in work.overlay.items() if section != "review"}
    overlay = {section: content for section, content in work.overlay.items() if content}
    questions = (*ranked, *work.questions)
    return Draft(overlay, work.schema(), protocol, sum(sizes.values()) - proposed, tuple(work.dropped), questions)


def error_codes(protocol: ir.Protocol) -> dict[int, str]:
    """Code -> the definition of the error, or of the response that carries it, which states the code."""
    found: dict[int, str] = {}
    for record in protocol.records:
        error = record.field("error")
        inner = protocol.declarations[error.type.name] if error and isinstance(error.type, ir.Ref) else record
        code = inner.field("code") if isinstance(inner, ir.Record) else None
        if code is not None and isinstance(code.type, ir.Const) and isinstance(code.type.value, int):
            found[code.type.value] = record.name
    return found


def _started(given: Input, start: Document, previous: ir.Protocol | None) -> Document:
    """A copy of `start` in the terms of the new document: its keyword for definitions, its own revision."""
    text = json.dumps(start, ensure_ascii=False)
    if "$defs" in given.document:
        text = text.replace('"/definitions/', '"/$defs/').replace('"#/definitions/', '"#/$defs/')
    overlay: Document = json.loads(text)
    constants = overlay.get("constants", {})
    for name, value in constants.items():
        if previous is not None and value == previous.revision:
            constants[name] = given.pin.revision
    return overlay


# --- what can be proposed --------------------------------------------------------------------------------------------


def _new_codes(protocol: ir.Protocol, overlay: Document) -> Proposals:
    known = overlay.get("constants", {}).values()
    return {
        names.snake(definition.removesuffix("Error")).upper(): (code, f"{code}, as {definition} says.")
        for code, definition in error_codes(protocol).items()
        if code not in known
    }


def _new_capabilities(previous: ir.Protocol, protocol: ir.Protocol) -> Proposals:
    """The capability that goes by the name of a method's group, where method or capability are new."""
    before = {method.wire: likely_capability(method, previous) for method in previous.methods}
    return {
        method.wire: (capability, f"{capability!r}, by its name.")
        for method in protocol.methods
        if (capability := likely_capability(method, protocol)) and before.get(method.wire) != capability
    }


def likely_capability(method: ir.Method, protocol: ir.Protocol) -> str | None:
    """What the receiver of a request, or the sender of a notification, most likely declares: by the method's name.

    `resources/subscribe` -> `resources.subscribe`, `completion/complete` -> `completions`.
    """
    *groups, verb = method.wire.removeprefix("notifications/").split("/")
    asker = {"client": "server", "server": "client"}[method.sender]
    owner = asker if method.kind == "request" else method.sender
    declared = protocol.declarations.get(f"{owner.title()}Capabilities")
    if not groups or not isinstance(declared, ir.Record):
        return None
    member = declared.field(groups[0]) or declared.field(f"{groups[0]}s")
    if member is None:
        return None
    inner = protocol.declarations[member.type.name] if isinstance(member.type, ir.Ref) else None
    detail = names.camel(verb)
    return f"{member.wire}.{detail}" if isinstance(inner, ir.Record) and inner.field(detail) else member.wire


def _new_opaque(protocol: ir.Protocol) -> Proposals:
    """Records with exactly the members of one that is known to be opaque."""
    shapes = {record.fields: record.name for record in protocol.records if record.kind == "opaque"}
    return {
        record.name: (
            f"Like {shapes[record.fields]}.",
            f"an opaque object: it has the members of {shapes[record.fields]}.",
        )
        for record in protocol.records
        if record.kind != "opaque" and record.fields in shapes
    }


def _new_deprecations(protocol: ir.Protocol) -> Proposals:
    """What its own description calls deprecated."""
    found: dict[str, tuple[Any, str]] = {}
    for declaration in protocol.declarations.values():
        if _DEPRECATED.search(declaration.doc):
            found[declaration.name] = ("The description says so.", "deprecated: the description speaks of it.")
        for member in declaration.fields if isinstance(declaration, ir.Record) else ():
            if _DEPRECATED.search(member.doc):
                entry = f"{declaration.name}.{member.wire}"
                found[entry] = ("The description says so.", "deprecated: the description speaks of it.")
    return found


# --- the work --------------------------------------------------------------------------------------------------------


@dataclass
class _Work:
    """An overlay document on its way to one that builds."""

    given: Input
    overlay: Document
    dropped: list[Dropped] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)
    ranked: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def schema(self) -> source.Schema:
        return self.corrected(self.overlay)

    def corrected(self, overlay: Document) -> source.Schema:
        parsed = parse_overlay(overlay, self.given.overlay_file)
        return source.correct(self.given.document, parsed, self.given.pin.revision, self.given.pin, self.given.file)

    def keep_corrections(self) -> None:
        """Keep the corrections that still find what they expect, each on top of those before it."""
        kept: list[Document] = []
        rows: list[Document] = self.overlay.get("corrections", [])
        for row in rows:
            try:
                self.corrected({"corrections": [*kept, row]})
            except BindgenError as error:
                self.dropped.append(Dropped("corrections", row["pointer"], error.reason, row))
            else:
                kept.append(row)
        self.overlay["corrections"] = kept

    def settle(self) -> ir.Protocol:
        """Build; drop what is stale and rank what is ambiguous until it succeeds."""
        while True:
            try:
                return build(self.schema())
            except StaleEntry as stale:
                self.drop(stale)
            except Unranked as unranked:
                self.rank(unranked)
            except RecursiveAlias as recursive:
                self.unknot(recursive)

    def unknot(self, recursive: RecursiveAlias) -> None:
        """Propose that a type which contains itself is any JSON value: what else could it be."""
        text = "it contains itself; read as any JSON value."
        entry: Document = {"pointer": recursive.pointer, "old": recursive.old, "new": {}, "reason": f"Proposed: {text}"}
        self.overlay.setdefault("corrections", []).append(entry)
        self.questions.append(Question("corrections", recursive.pointer, text))
        self.overlay.setdefault("review", {})[f"corrections.{recursive.pointer}"] = text

    def drop(self, stale: StaleEntry) -> None:
        content = self.overlay[stale.section]
        if is_array(content):
            content[:] = [row for row in content if f"{row['definition']}.{row['member']}" != stale.entry]
            value = None
        else:
            value = content.pop(stale.entry)
        mine = [q for q in self.questions if (q.section, q.entry) == (stale.section, stale.entry)]
        if mine:
            self.questions.remove(mine[0])
        elif stale.section != "review":
            self.dropped.append(Dropped(stale.section, stale.entry, stale.why, value))

    def rank(self, unranked: Unranked) -> None:
        """Rank the arms as proposed; those that the overlay ranks already keep their order."""
        table = self.overlay.setdefault("unions", {})
        order = list(table.get(unranked.site, {}).get("order", ()))
        for index, arm in enumerate(unranked.order):
            if arm not in order:
                before = [order.index(other) for other in unranked.order[:index] if other in order]
                order.insert(max(before, default=-1) + 1, arm)
        table[unranked.site] = {"order": order, "reason": _RANKED, "review": True}
        self.ranked[unranked.site] = unranked.order

    def trim(self, protocol: ir.Protocol) -> None:
        """Take arms that are gone out of the rankings."""
        for site, entry in self.overlay.get("unions", {}).items():
            gone = [arm for arm in entry["order"] if arm not in protocol.declarations]
            if gone:
                entry["order"] = [arm for arm in entry["order"] if arm not in gone]
                self.dropped.append(Dropped("unions", site, f"no longer with {', '.join(gone)}"))

    def rankings(self, protocol: ir.Protocol) -> Iterator[Question]:
        """A question for each proposed ranking, with an instance that another order would decode differently."""
        for site, arms in self.ranked.items():
            entry = self.overlay.get("unions", {}).get(site)
            if entry is not None:
                first, second = [arm for arm in entry["order"] if arm in arms][:2]
                entry["example"] = _either(first, second, protocol)
                order = ", ".join(entry["order"])
                text = f"tried in the order {order}. This is read as {first}, the other way round as {second}:"
                yield Question("unions", site, text, entry["example"])

    def propose(self, section: str, proposals: Proposals) -> None:
        """Add the entries that the overlay does not have, each as a question."""
        for entry, (value, text) in proposals.items():
            table = self.overlay.setdefault(section, {})
            if entry not in table:
                table[entry] = value
                self.questions.append(Question(section, entry, text))
                self.overlay.setdefault("review", {})[f"{section}.{entry}"] = text

    def rename(self, types: Mapping[str, str]) -> None:
        """Move entries about a definition that is called otherwise now, as questions."""
        for dropped in list(self.dropped):
            owner, dot, member = dropped.entry.partition(".")
            if owner in types and dropped.value is not None and dropped.section != "corrections":
                self.dropped.remove(dropped)
                text = f"as for {owner}, which seems to be called {types[owner]} now."
                self.propose(dropped.section, {types[owner] + dot + member: (dropped.value, text)})

    def drop_codes(self, gone: set[int]) -> None:
        """Drop the constants of error codes that no definition states any more."""
        for name, value in list(self.overlay.get("constants", {}).items()):
            if value in gone:
                del self.overlay["constants"][name]
                self.dropped.append(Dropped("constants", name, f"no definition states {value} any more"))


def _either(first: str, second: str, protocol: ir.Protocol) -> Any:
    """An instance of both records, as small as can be."""
    parts = [samples.smallest(ir.Ref(name), protocol.declarations) for name in (second, first)]
    return {key: value for part in parts for key, value in part.items()}
