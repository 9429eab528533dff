"""The overlay of a revision: corrections of the schema file, and facts that the schema file cannot state."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from keyword import iskeyword
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from .document import is_object
from .errors import BindgenError, StaleEntry

T = TypeVar("T")


@dataclass(frozen=True)
class Correction:
    """Replace what is at `pointer`. A MISSING `old` adds, a MISSING `new` removes; anything else must match."""

    MISSING: ClassVar[object] = object()

    pointer: str
    reason: str
    old: Any = MISSING
    new: Any = MISSING
    upstream: str = ""


@dataclass(frozen=True)
class Fill:
    """What a constructor writes into a required member that its caller left out."""

    value: str | int
    reason: str


@dataclass(frozen=True)
class Rename:
    """A nicer name for the method of a message than its definition gives."""

    method: str
    reason: str


@dataclass(frozen=True)
class Bases:
    """The true bases of a definition whose structure suggests others."""

    bases: tuple[str, ...]
    reason: str


@dataclass(frozen=True)
class Order:
    """The ranking of union arms that nothing in the schema tells apart; `review` marks a proposal.

    `example` is an instance that the reverse ranking would decode differently.
    """

    order: tuple[str, ...]
    reason: str
    review: bool = False
    example: Any = None


@dataclass(frozen=True)
class Flatten:
    """A record member whose own members become keywords of the client method."""

    member: str
    reason: str


@dataclass(frozen=True)
class Receive:
    """What a receiver assumes when `member` of `definition` is absent on the wire."""

    definition: str
    member: str
    value: str | int | None
    reason: str


@dataclass(frozen=True)
class Overlay:
    """All entries of one overlay.json, by the names of definitions, hoisted objects or wire methods."""

    file: str
    corrections: tuple[Correction, ...] = ()
    opaque: Mapping[str, str] = field(default_factory=dict[str, str])
    open: Mapping[str, str] = field(default_factory=dict[str, str])
    closed: Mapping[str, str] = field(default_factory=dict[str, str])
    open_enums: Mapping[str, str] = field(default_factory=dict[str, str])
    fill: Mapping[str, Fill] = field(default_factory=dict[str, Fill])
    renames: Mapping[str, Rename] = field(default_factory=dict[str, Rename])
    deprecated: Mapping[str, str] = field(default_factory=dict[str, str])
    severity: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    constants: Mapping[str, str | int] = field(default_factory=dict[str, str | int])
    receive: tuple[Receive, ...] = ()
    inheritance: Mapping[str, Bases] = field(default_factory=dict[str, Bases])
    unions: Mapping[str, Order] = field(default_factory=dict[str, Order])
    topics: Mapping[str, str] = field(default_factory=dict[str, str])
    capabilities: Mapping[str, str] = field(default_factory=dict[str, str])
    flatten: Mapping[str, Flatten] = field(default_factory=dict[str, Flatten])
    disagreements: Mapping[str, str] = field(default_factory=dict[str, str])
    review: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def open_questions(self) -> tuple[str, ...]:
        """The entries that a person still has to review: `section.entry`."""
        return (*(f"unions.{name}" for name, order in self.unions.items() if order.review), *self.review)

    def stale(self, section: str, entry: str, reason: str) -> StaleEntry:
        """The error for an entry that matches nothing."""
        return StaleEntry(self.file, section, entry, reason)


def read_overlay(file: Path) -> Overlay:
    """Read an overlay file; a missing file is an empty overlay. Raises BindgenError."""
    if not file.exists():
        return Overlay(str(file))
    try:
        document = json.loads(file.read_bytes())
    except (OSError, ValueError) as error:
        raise BindgenError(str(file), f"not readable as JSON: {error}") from None
    return parse_overlay(document, str(file))


def parse_overlay(document: Any, file: str) -> Overlay:
    """Check and convert an overlay document. Raises BindgenError naming the entry."""
    if not is_object(document):
        raise BindgenError(file, "an overlay is a JSON object")
    values: dict[str, Any] = {}
    for section, content in document.items():
        where = f"{file}#{section}"
        if section not in _SECTIONS:
            raise BindgenError(where, "unknown section", f"sections are {', '.join(_SECTIONS)}")
        try:
            values[section] = _SECTIONS[section](content)
        except (TypeError, ValueError, KeyError, AttributeError) as error:
            raise BindgenError(where, f"malformed: {error}", "see docs/overlay.md for the shape") from None
    for question in values.get("review", ()):
        section, _, entry = question.partition(".")
        if entry not in _entries(values.get(section, ())):
            raise StaleEntry(file, "review", question, "no such entry")
    return Overlay(file, **values)


def _entries(section: Mapping[str, Any] | tuple[Correction | Receive, ...]) -> list[str]:
    """The names of a section's entries, whether it is a table or a list."""
    if isinstance(section, Mapping):
        return list(section)
    return [row.pointer if isinstance(row, Correction) else f"{row.definition}.{row.member}" for row in section]


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"expected a string, got {json.dumps(value)}")
    return value


def _module(value: Any) -> str:
    if not _text(value).isidentifier() or value.startswith("_") or iskeyword(value):
        raise ValueError(f"{json.dumps(value)} is no module name")
    return _text(value)


def _constant(value: Any) -> str | int:
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        raise ValueError(f"expected a string or an integer, got {json.dumps(value)}")
    return value


def _strings(value: Any) -> tuple[str, ...]:
    return tuple(_text(item) for item in value)


def _entry(cls: Callable[..., T]) -> Callable[[Any], T]:
    def build(value: Any) -> T:
        converted = {key: _strings(item) if key in ("bases", "order") else item for key, item in value.items()}
        return cls(**converted)

    return build


def _table(entry: Callable[[Any], T]) -> Callable[[Any], dict[str, T]]:
    return lambda content: {name: entry(value) for name, value in content.items()}


def _rows(entry: Callable[[Any], T]) -> Callable[[Any], tuple[T, ...]]:
    return lambda content: tuple(entry(value) for value in content)


_SECTIONS: dict[str, Callable[[Any], Any]] = {
    "corrections": _rows(_entry(Correction)),
    "opaque": _table(_text),
    "open": _table(_text),
    "closed": _table(_text),
    "open_enums": _table(_text),
    "fill": _table(_entry(Fill)),
    "renames": _table(_entry(Rename)),
    "deprecated": _table(_text),
    "severity": _table(_strings),
    "constants": _table(_constant),
    "receive": _rows(_entry(Receive)),
    "inheritance": _table(_entry(Bases)),
    "unions": _table(_entry(Order)),
    "topics": _table(_module),
    "capabilities": _table(_text),
    "flatten": _table(_entry(Flatten)),
    "disagreements": _table(_text),
    "review": _table(_text),
}
