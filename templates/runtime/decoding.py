"""The reference decoder: checks a wire value against a definition table and builds the typed value from it.

Styles decode natively first and come here for whatever their library refuses. This decoder then decides: it accepts
what a JSON Schema validator accepts (a union by its plan) and says exactly where and why it does not. It works on
values that a JSON parser makes, never changes them, and does not follow them deeper than `DEEPEST`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum as _PythonEnum
from math import isfinite
from typing import Any, Final, TypeAlias, cast

from .definitions import (
    Anything,
    Boolean,
    Const,
    Definitions,
    Enum,
    Integer,
    ListOf,
    MapOf,
    Null,
    Number,
    Record,
    Ref,
    String,
    Type,
    Union,
    type_text,
)
from .errors import DecodeError
from .kinds import JsonObject, alternatives, described, quoted, shown
from .plans import undecided


class _NotBuilt(_PythonEnum):
    NOT_BUILT = "NOT_BUILT"


NOT_BUILT: Final = _NotBuilt.NOT_BUILT
"""What an `attempt` hook returns for a value that it leaves to this decoder."""

DEEPEST: Final = 100
"""How many definitions may be nested in each other. Real messages use about a dozen; without a limit, a hostile one
could exhaust the stack."""

Build: TypeAlias = Callable[[str, JsonObject, JsonObject, JsonObject], object]
Attempt: TypeAlias = Callable[[str, JsonObject], object]


def decode(
    definitions: Definitions,
    type: Type | str,
    value: object,
    build: Build,
    path: tuple[str | int, ...] = (),
    *,
    attempt: Attempt | None = None,
) -> object:
    """Decode `value` as `type` (a name means that definition), or raise DecodeError.

    `build(name, members, extras, raw)` makes a closed or open record: `members` holds the decoded values of the
    declared members that are present, by wire name and in declared order; `extras` the undeclared ones as they came, in
    wire order; `raw` is the object itself, which nobody may change. Opaque records and free-form values are returned as
    they are; lists and maps are new ones; integral floats become integers where the table says integer.

    `attempt(name, value)` is asked first for every closed or open record inside `value` (not for `value` itself, which
    the caller has just tried): it returns the built record or `NOT_BUILT`, and must not accept what is refused here.

    `path` says where `value` sits in a larger message; errors continue it.
    """
    type = Ref(type) if isinstance(type, str) else type
    run = _Run(definitions, build, attempt, value)
    try:
        return _DECODERS[type.__class__](run, type, value, 0)
    except _Mismatch as mismatch:
        raise DecodeError(type_text(type), (*path, *reversed(mismatch.steps)), mismatch.reason) from None
    except RecursionError:
        # DEEPEST keeps well within Python's default limit, but the caller may be close to it already.
        raise DecodeError(type_text(type), path, _TOO_DEEP) from None


def check(definitions: Definitions, type: Type | str, value: object, path: tuple[str | int, ...] = ()) -> None:
    """Raise DecodeError unless `value` is a `type`; builds nothing."""
    decode(definitions, type, value, _build_nothing, path)


class _Mismatch(Exception):
    """The value is wrong here. `steps` is the path, collected from the inside out while the stack unwinds."""

    def __init__(self, reason: str, *steps: str | int) -> None:
        self.reason = reason
        self.steps: list[str | int] = [*steps]


class _Run:
    """What stays the same during one decoding."""

    __slots__ = ("attempt", "build", "definitions", "root")

    def __init__(self, definitions: Definitions, build: Build, attempt: Attempt | None, root: object) -> None:
        self.definitions = definitions
        self.build = build
        self.attempt = attempt
        self.root = root


_TOO_DEEP: Final = "nested too deeply"


def _build_nothing(name: str, members: object, extras: object, raw: object) -> None:
    return None


def _wrong(expected: str, value: object) -> _Mismatch:
    return _Mismatch(f"expected {expected}, got {described(value)}")


# One function per kind of type. They call each other through the table at the end, with the value and the number of
# references followed so far; one Python frame per node keeps deep values affordable.


def _ref(run: _Run, type: Ref, value: Any, depth: int) -> object:
    if depth >= DEEPEST:
        raise _Mismatch(_TOO_DEEP)
    target = run.definitions[type.name]
    return _DECODERS[target.__class__](run, target, value, depth + 1)


def _record(run: _Run, record: Record, value: Any, depth: int) -> object:
    if not isinstance(value, dict):
        raise _wrong("an object", value)
    raw = cast(JsonObject, value)
    if record.kind == "opaque":
        run = _Run(run.definitions, _build_nothing, None, run.root)
    elif run.attempt is not None and raw is not run.root:
        built = run.attempt(record.name, raw)
        if built is not NOT_BUILT:
            return built
    members: JsonObject = {}
    for field in record.fields:
        wire = field.wire
        if wire in raw:
            try:
                members[wire] = _DECODERS[field.type.__class__](run, field.type, raw[wire], depth)
            except _Mismatch as mismatch:
                if raw[wire] is None and not field.required:
                    mismatch.reason += " (leave an optional member out instead)"
                mismatch.steps.append(wire)
                raise
        elif field.required:
            raise _Mismatch("required member is missing", wire)
    extras: JsonObject = {}
    if len(members) < len(raw):
        for key in raw:
            if key not in record.wires:
                _check_key(key)
                extras[key] = raw[key]
    return raw if record.kind == "opaque" else run.build(record.name, members, extras, raw)


def _list(run: _Run, type: ListOf, value: Any, depth: int) -> object:
    if not isinstance(value, list):
        raise _wrong("an array", value)
    source = cast("list[object]", value)
    if type.max_items is not None and len(source) > type.max_items:
        raise _Mismatch(f"expected at most {type.max_items} items, got {len(source)}")
    item_type = type.item
    decoder = _DECODERS[item_type.__class__]
    items: list[object] = []
    try:
        for item in source:
            items.append(decoder(run, item_type, item, depth))
    except _Mismatch as mismatch:
        mismatch.steps.append(len(items))
        raise
    return items


def _map(run: _Run, type: MapOf, value: Any, depth: int) -> object:
    if not isinstance(value, dict):
        raise _wrong("an object", value)
    source = cast(JsonObject, value)
    value_type = type.value
    decoder = _DECODERS[value_type.__class__]
    decoded: JsonObject = {}
    for key, item in source.items():
        _check_key(key)
        try:
            decoded[key] = decoder(run, value_type, item, depth)
        except _Mismatch as mismatch:
            mismatch.steps.append(key)
            raise
    return decoded


def _union(run: _Run, type: Union, value: Any, depth: int) -> object:
    label = type.plan(value)
    if label is None:
        path, reason = undecided(type.plan, value)
        raise _Mismatch(reason, *reversed(path))
    arm = type.arms[label]
    return _DECODERS[arm.__class__](run, arm, value, depth)


def _string(run: _Run, type: String, value: Any, depth: int) -> object:
    if not isinstance(value, str):
        raise _wrong("a string", value)
    return value


def _integer(run: _Run, type: Integer, value: Any, depth: int) -> object:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool) or _outside(type, value):
        raise _wrong(f"an integer{_bounds_text(type)}", value)
    return value


def _number(run: _Run, type: Number, value: Any, depth: int) -> object:
    finite = isfinite(value) if isinstance(value, float) else isinstance(value, int) and not isinstance(value, bool)
    if not finite or _outside(type, value):
        raise _wrong(f"a number{_bounds_text(type)}", value)
    return value


def _boolean(run: _Run, type: Boolean, value: Any, depth: int) -> object:
    if not isinstance(value, bool):
        raise _wrong("a boolean", value)
    return value


def _null(run: _Run, type: Null, value: Any, depth: int) -> object:
    if value is not None:
        raise _wrong("null", value)
    return None


def _const(run: _Run, type: Const, value: Any, depth: int) -> object:
    wanted = type.value
    # True == 1 in Python and not in JSON, while 1.0 == 1 in both.
    if value != wanted or isinstance(value, bool) != isinstance(wanted, bool):
        raise _Mismatch(f"expected {shown(wanted)}, got {shown(value)}")
    return wanted


def _enum(run: _Run, type: Enum, value: Any, depth: int) -> object:
    if not isinstance(value, str):
        raise _wrong("a string" if type.open else alternatives(map(quoted, type.values)), value)
    if not type.open and value not in type.values:
        raise _Mismatch(f"expected {alternatives(map(quoted, type.values))}, got {quoted(value)}")
    return value


def _anything(run: _Run, type: Anything, value: Any, depth: int) -> object:
    return value


def _outside(type: Integer | Number, value: int | float) -> bool:
    low, high = type.minimum, type.maximum
    return (low is not None and value < low) or (high is not None and value > high)


def _bounds_text(type: Integer | Number) -> str:
    match type.minimum, type.maximum:
        case None, None:
            return ""
        case low, None:
            return f" of at least {low}"
        case None, high:
            return f" of at most {high}"
        case low, high:
            return f" from {low} to {high}"


def _check_key(key: object) -> None:
    if not isinstance(key, str):
        raise _Mismatch(f"expected strings as keys, got {described(key)}")


_DECODERS: Final[Mapping[type[object], Callable[[_Run, Any, Any, int], object]]] = {
    Record: _record,
    Ref: _ref,
    ListOf: _list,
    MapOf: _map,
    Union: _union,
    String: _string,
    Integer: _integer,
    Number: _number,
    Boolean: _boolean,
    Null: _null,
    Const: _const,
    Enum: _enum,
    Anything: _anything,
}
