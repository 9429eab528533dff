"""The intermediate model: one protocol revision as frozen values, wire-shaped and free of any target language."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

JsonKind: TypeAlias = Literal["object", "array", "string", "integer", "number", "boolean", "null"]
ScalarKind: TypeAlias = Literal["string", "integer", "number", "boolean", "null"]


# --- types -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Scalar:
    """A JSON scalar. `format` is documentation only; bounds are inclusive."""

    kind: ScalarKind
    format: str | None = None
    minimum: int | float | None = None
    maximum: int | float | None = None


@dataclass(frozen=True)
class Const:
    """Exactly one value."""

    value: str | int | bool


@dataclass(frozen=True)
class Enum:
    """A closed set of strings; when `open`, other strings are legal too and the values are only the known ones."""

    values: tuple[str, ...]
    open: bool = False


@dataclass(frozen=True)
class ListOf:
    """A JSON array."""

    item: Type
    max_items: int | None = None


@dataclass(frozen=True)
class MapOf:
    """A JSON object with free keys."""

    value: Type


@dataclass(frozen=True)
class Ref:
    """A use of the declaration called `name`."""

    name: str


@dataclass(frozen=True)
class Any:
    """Any JSON value, null included."""


@dataclass(frozen=True)
class Union:
    """One of several types, told apart by `plan`; unions of unions are already flattened."""

    arms: tuple[Type, ...]
    plan: Plan


Type: TypeAlias = Scalar | Const | Enum | ListOf | MapOf | Ref | Any | Union


# --- union plans: decision trees whose leaves are arms ---------------------------------------------------------------


@dataclass(frozen=True)
class Arm:
    """A decision: the arm at `index` of the union."""

    index: int


@dataclass(frozen=True)
class ByKind:
    """Decide by the JSON kind of the value. `integer` stands for integral numbers, `number` for all numbers."""

    cases: tuple[tuple[JsonKind, Plan], ...]


@dataclass(frozen=True)
class ByItem:
    """Decide about an array by its first item; an empty array takes `empty`."""

    item: Plan
    empty: Plan


@dataclass(frozen=True)
class ByTag:
    """Decide by the string at `member`; `default` serves an absent or unlisted value."""

    member: str
    cases: tuple[tuple[str, Plan], ...]
    default: Plan | None = None


@dataclass(frozen=True)
class ByKey:
    """Decide by the first path that is present in the object; `default` if none is."""

    cases: tuple[tuple[tuple[str, ...], Plan], ...]
    default: Plan | None = None


@dataclass(frozen=True)
class Ranked:
    """No certain mark: the first arm whose required members are all present. Needs a reviewed overlay entry."""

    cases: tuple[tuple[tuple[str, ...], int], ...]


Plan: TypeAlias = Arm | ByKind | ByItem | ByTag | ByKey | Ranked


# --- declarations ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Field:
    """A declared member. `fill` is what a constructor writes when the caller leaves a required member out."""

    wire: str
    type: Type
    required: bool
    doc: str = ""
    fill: str | int | None = None
    deprecated: bool = False


@dataclass(frozen=True)
class Record:
    """A JSON object with declared members.

    `fields` holds every member, inherited ones included, in reading order; `bases` are direct. `kind`:
    closed (undeclared members are tolerated on the wire), open (a mapping that keeps them, with typed reserved
    keys) or opaque (a plain JSON object whose declared members are only checked).
    `owner` is the definition that an inline object was hoisted from.
    """

    name: str
    fields: tuple[Field, ...]
    bases: tuple[str, ...] = ()
    kind: Literal["closed", "open", "opaque"] = "closed"
    doc: str = ""
    owner: str | None = None
    deprecated: bool = False

    @property
    def required(self) -> tuple[str, ...]:
        return tuple(f.wire for f in self.fields if f.required)

    def field(self, wire: str) -> Field | None:
        return next((f for f in self.fields if f.wire == wire), None)


@dataclass(frozen=True)
class Alias:
    """A name for a type that is not an object of its own."""

    name: str
    type: Type
    doc: str = ""
    owner: str | None = None
    deprecated: bool = False


Declaration: TypeAlias = Record | Alias


@dataclass(frozen=True)
class Method:
    """A row of the method table.

    `name` is snake_case and language-neutral (`call_tool`); `params`, `result` are declaration names or None.
    `role` is wire for JSON-RPC traffic, embedded for payloads inside another result (2026-07-28 input requests).
    `multi_round` says that an InputRequiredResult may answer instead of `result`.
    """

    wire: str
    name: str
    kind: Literal["request", "notification"]
    sender: Literal["client", "server"]
    message: str
    params: str | None
    params_required: bool
    result: str | None
    role: Literal["wire", "embedded"] = "wire"
    multi_round: bool = False
    capability: str | None = None
    flatten: str | None = None
    doc: str = ""
    deprecated: bool = False


@dataclass(frozen=True)
class ReceiveRule:
    """What a receiver assumes for a member that the peer left out: protocol, not schema."""

    definition: str
    member: str
    value: str | int | None
    reason: str


@dataclass(frozen=True)
class Source:
    """Where the schema came from."""

    path: str
    sha256: str
    commit: str


@dataclass(frozen=True)
class Protocol:
    """One revision, complete. Declaration order is definition order, hoisted ones behind their owner."""

    revision: str
    source: Source
    declarations: Mapping[str, Declaration]
    methods: tuple[Method, ...]
    constants: Mapping[str, str | int]
    receive: tuple[ReceiveRule, ...] = ()
    severity: tuple[str, ...] = ()
    topics: Mapping[str, str] = field(default_factory=dict[str, str])
    open_questions: tuple[str, ...] = ()

    @property
    def records(self) -> Iterator[Record]:
        return (d for d in self.declarations.values() if isinstance(d, Record))

    @property
    def aliases(self) -> Iterator[Alias]:
        return (d for d in self.declarations.values() if isinstance(d, Alias))

    def record(self, name: str) -> Record:
        """The record called `name`, through aliases of a single reference. Raises KeyError if it is none."""
        match self.declarations[name]:
            case Record() as record:
                return record
            case Alias(type=Ref(name=target)):
                return self.record(target)
            case _:
                raise KeyError(name)


def children(type: Type) -> tuple[Type, ...]:
    """The types directly inside `type`."""
    match type:
        case ListOf(item=inner) | MapOf(value=inner):
            return (inner,)
        case Union(arms=arms):
            return arms
        case _:
            return ()


def references(type: Type) -> Iterator[str]:
    """Every declaration name used in `type`, depth first, repeats included."""
    if isinstance(type, Ref):
        yield type.name
    for child in children(type):
        yield from references(child)


def uses(declaration: Declaration) -> tuple[str, ...]:
    """The declaration names that `declaration` needs, bases first, each once."""
    if isinstance(declaration, Alias):
        found = references(declaration.type)
    else:
        found = (name for f in declaration.fields for name in references(f.type))
        found = iter((*declaration.bases, *found))
    return tuple(dict.fromkeys(found))
