"""One revision as its reference page tells it: groups of methods, links, plans in words, and who uses what."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from . import ir, unions
from .context import Revision
from .explain import show


@dataclass(frozen=True)
class Group:
    """The methods of one kind that one side sends."""

    title: str
    kind: Literal["request", "notification"]
    methods: tuple[ir.Method, ...]


@dataclass(frozen=True)
class Plan:
    """How the union at `place` is decided, a line per decision."""

    place: str
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Reference:
    """What the template of the reference page asks."""

    revision: Revision

    def groups(self) -> Iterator[Group]:
        """The methods by kind, sender and role; groups without methods are left out."""
        rows = self.revision.protocol.methods
        for kind in ("request", "notification"):
            for sender in ("client", "server"):
                own = tuple(m for m in rows if (m.kind, m.sender, m.role) == (kind, sender, "wire"))
                if own:
                    yield Group(f"{kind.title()}s from the {sender}", own[0].kind, own)
        embedded = tuple(m for m in rows if m.role == "embedded")
        if embedded:
            yield Group("Requests inside results", "request", embedded)

    def link(self, name: str) -> str:
        """A link to a declaration on this page."""
        return f"[{name}](#{name.lower()})"

    def type(self, type: ir.Type) -> str:
        """A type in words, its declarations linked."""
        return show(type, self.link)

    def plans(self, declaration: ir.Declaration) -> Iterator[Plan]:
        """The plans of the unions in a declaration."""
        if isinstance(declaration, ir.Alias):
            yield from self._plans("it", declaration.type)
        else:
            for member in declaration.fields:
                yield from self._plans(f"`{member.wire}`", member.type)

    def users(self, name: str) -> tuple[str, ...]:
        """The declarations that use `name`."""
        return self._users.get(name, ())

    def _plans(self, place: str, type: ir.Type) -> Iterator[Plan]:
        if isinstance(type, ir.Union):
            yield Plan(place, tuple(unions.explain(type.plan, self.revision.labels(type))))
        for child in ir.children(type):
            yield from self._plans(f"each value in {place}", child)

    @cached_property
    def _users(self) -> dict[str, tuple[str, ...]]:
        found: dict[str, tuple[str, ...]] = {}
        for declaration in self.revision.protocol.declarations.values():
            for used in ir.uses(declaration):
                found[used] = (*found.get(used, ()), declaration.name)
        return found
