"""Instances of every definition, and the generated classes with the names of their members. Nothing here is random.

`smallest` has the required members only, `largest` every declared one, `arms` one instance per arm of a union. All are
plain JSON values, made from the definition table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import Any

from conftest import protocol_of
from mcp_bindgen.context import Revision
from mcp_bindgen.names import Names, name_all
from mcp_bindings.runtime import decoding, definitions
from mcp_bindings.runtime.errors import DecodeError
from roundtrip.surfaces import STYLES, surface, table

FREE: Any = {"b": [1, 1.0, None, False, ""], "a": {}}
"""What stands where any JSON may stand."""


class Unreachable(Exception):
    """The plan sends nothing to this arm."""


_SCALARS: dict[type, Any] = {
    definitions.String: "text",
    definitions.Boolean: True,
    definitions.Null: None,
    definitions.Anything: FREE,
}


def smallest(revision: str, type: Any) -> Any:
    """An instance of a definition or a type with nothing in it that may be left out."""
    return _sample(table(revision), _ref(type), (), full=False)


def largest(revision: str, type: Any) -> Any:
    """An instance in which every optional member is present, save where a definition would contain itself."""
    return _sample(table(revision), _ref(type), (), full=True)


def arms(revision: str, union: Any) -> Iterator[tuple[str, Any]]:
    """An instance per arm of a union, by label: the largest that the plan sends to this arm, if there is one."""
    for label, arm in union.arms.items():
        with suppress(Unreachable):
            yield label, _of_arm(table(revision), union, label, arm, (), full=True)


def accepted(revision: str, type: Any, value: Any) -> bool:
    """The reference decoder's verdict."""
    try:
        decoding.check(table(revision), type, value)
    except DecodeError:
        return False
    return True


def refuses(errors: tuple[type[Exception], ...], call: Callable[..., object], /, *args: Any, **kwargs: Any) -> bool:
    """Whether the call raises one of `errors`. For loops, where the failure has to say about what."""
    try:
        call(*args, **kwargs)
    except errors:
        return True
    return False


def _ref(type: Any) -> Any:
    return definitions.Ref(type) if isinstance(type, str) else type


def _sample(known: Any, type: Any, above: tuple[str, ...], full: bool) -> Any:
    match type:
        case definitions.Ref(name=name):
            return _sample(known, known[name], (*above, name), full and name not in above)
        case definitions.Record(fields=fields):
            return {f.wire: _sample(known, f.type, above, full) for f in fields if f.required or full}
        case definitions.Union(arms=arms):
            for label, arm in arms.items():
                if not isinstance(arm, definitions.Ref) or arm.name not in above:
                    return _of_arm(known, type, label, arm, above, full)
            raise AssertionError(f"no arm of {type} ends")
        case definitions.ListOf(item=item):
            return [_sample(known, item, above, full)] if full else []
        case definitions.MapOf(value=value):
            return {"key": _sample(known, value, above, full)} if full else {}
        case definitions.Const(value=value):
            return value
        case definitions.Enum(values=values):
            return values[-1]
        case definitions.Integer(minimum=low, maximum=high) | definitions.Number(minimum=low, maximum=high):
            return next(n for n in (7, 1, 0, -7) if (low is None or n >= low) and (high is None or n <= high))
        case _:
            return _SCALARS[type.__class__]


def _of_arm(known: Any, union: Any, label: str, arm: Any, above: tuple[str, ...], full: bool) -> Any:
    for wanted in (full, not full):
        value = _sample(known, arm, above, wanted)
        if union.plan(value) == label:
            return value
    if isinstance(arm, definitions.ListOf):  # an empty array is taken for another arm
        return [_sample(known, arm.item, above, False)]
    raise Unreachable(f"no instance that the plan sends to {label}")


# --- the generated classes -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Kind:
    """One record as one style has it: the class, and its members."""

    style: str
    revision: str
    record: Any
    cls: Any
    attributes: dict[str, str]
    """Wire name -> attribute."""
    fills: dict[str, Any]
    """Wire name -> what constructors fill in."""

    def __str__(self) -> str:
        return f"{self.style} {self.revision} {self.record.name}"

    @property
    def codec(self) -> Any:
        return surface(self.style, self.revision).codec

    @property
    def nullable(self) -> frozenset[str]:
        """The optional members for which null is a value."""
        return frozenset(f.wire for f in self.record.fields if not f.required and accepted(self.revision, f.type, None))

    def decode(self, value: Any) -> Any:
        return self.codec.decode(self.cls, value)

    def members(self, value: Any) -> dict[str, Any]:
        """The declared members of a typed value, as keywords for its constructor."""
        return {attribute: getattr(value, attribute) for attribute in self.attributes.values()}


@cache
def kinds(style: str, revision: str) -> tuple[Kind, ...]:
    """Every closed and open record of a revision."""
    seen = Revision(protocol_of(revision), STYLES[style])
    types = surface(style, revision).types
    return tuple(
        Kind(
            style,
            revision,
            table(revision)[record.name],
            getattr(types, seen.names.of(record.name)),
            {f.wire: seen.attribute(record, f.wire) for f in record.fields},
            {f.wire: f.fill for f in record.fields if f.fill is not None},
        )
        for record in seen.protocol.records
        if record.kind != "opaque"
    )


def unions(revision: str) -> Iterator[tuple[str, Any]]:
    """The definitions that are unions."""
    for name, definition in table(revision).items():
        if isinstance(definition, definitions.Union):
            yield name, definition


@cache
def type_of(style: str, revision: str, name: str) -> Any:
    """The class or alias of a definition."""
    return getattr(surface(style, revision).types, _names(revision).of(name))


@cache
def _names(revision: str) -> Names:
    return name_all(protocol_of(revision))
