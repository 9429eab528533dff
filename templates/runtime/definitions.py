"""The vocabulary of a definition table: what each definition of a revision looks like on the wire, as plain data.

A revision's table maps definition names to a `Record` or, for an alias, straight to its type. It is independent of any
style, and read only where a value is out of the ordinary: the common path is the styles' own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from .plans import Plan


@dataclass(frozen=True, slots=True)
class String:
    """Any string."""


@dataclass(frozen=True, slots=True)
class Integer:
    """A number without a fraction, so 2.0 too; bounds are inclusive."""

    minimum: int | float | None = None
    maximum: int | float | None = None


@dataclass(frozen=True, slots=True)
class Number:
    """A finite number; bounds are inclusive."""

    minimum: int | float | None = None
    maximum: int | float | None = None


@dataclass(frozen=True, slots=True)
class Boolean:
    """True or false, never a number."""


@dataclass(frozen=True, slots=True)
class Null:
    """Null and nothing else."""


@dataclass(frozen=True, slots=True)
class Const:
    """Exactly one value."""

    value: str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Enum:
    """One of these strings; when `open`, any other string too."""

    values: tuple[str, ...]
    open: bool = False


@dataclass(frozen=True, slots=True)
class ListOf:
    """An array whose items all have one type."""

    item: Type
    max_items: int | None = None


@dataclass(frozen=True, slots=True)
class MapOf:
    """An object with free keys."""

    value: Type


@dataclass(frozen=True, slots=True)
class Ref:
    """The definition of that name."""

    name: str


@dataclass(frozen=True, slots=True)
class Anything:
    """Any JSON value, null included."""


@dataclass(frozen=True, slots=True)
class Union:
    """One of several types, by label; `plan` picks the label."""

    arms: Mapping[str, Type]
    plan: Plan


@dataclass(frozen=True, slots=True)
class Field:
    """A declared member of a record."""

    wire: str
    type: Type
    required: bool = True


@dataclass(frozen=True, slots=True)
class Record:
    """An object with declared members; undeclared ones are legal in all of them.

    A `closed` record is about its declared members, an `open` one is a mapping as well and keeps the others, and an
    `opaque` one stays the object it is on the wire: its declared members are only checked.
    """

    name: str
    fields: tuple[Field, ...]
    kind: Literal["closed", "open", "opaque"] = "closed"
    wires: frozenset[str] = field(init=False, repr=False, compare=False)
    """The names of the declared members."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "wires", frozenset(f.wire for f in self.fields))


Type: TypeAlias = String | Integer | Number | Boolean | Null | Const | Enum | ListOf | MapOf | Ref | Anything | Union
Definition: TypeAlias = Record | Type
Definitions: TypeAlias = Mapping[str, Definition]


def type_text(type: Type) -> str:
    """`type` in a word or two, for error texts."""
    match type:
        case Ref(name=name):
            return name
        case ListOf(item=item):
            return f"array of {type_text(item)}"
        case MapOf(value=value):
            return f"map of {type_text(value)}"
        case Union(arms=arms):
            return " | ".join(arms)
        case _:
            return type.__class__.__name__.lower()
