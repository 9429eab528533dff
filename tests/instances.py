"""Hypothesis strategies for wire values, made from a definition table.

`valid` makes instances of a definition. `invalid` makes near misses (a valid instance with one thing wrong) and junk.
What really is invalid is for an oracle to say: junk may happen to be valid, and a near miss inside a union may happen
to be an instance of another arm. `violated` is for tests that want to know what was broken, and where.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from hypothesis import assume
from hypothesis import strategies as st

from loading import runtime

_defs = runtime("definitions")
_kind_of = runtime("kinds").kind_of

Path = tuple[str | int, ...]
Definitions = Mapping[str, Any]


def valid(
    definitions: Definitions, name: str, *, integral_floats: bool = False, extras: bool = True
) -> st.SearchStrategy[Any]:
    """Instances of the definition `name`.

    `integral_floats` writes some integers as floats without a fraction; `extras` adds undeclared members to records.
    """
    return _instances(_Maker(definitions, integral_floats=integral_floats, extras=extras), name)


def invalid(definitions: Definitions, name: str) -> st.SearchStrategy[Any]:
    """Values that are most probably no instances of the definition `name`."""
    near_misses = violated(definitions, name).map(lambda violation: violation.instance)
    return near_misses | near_misses | _lookalikes(definitions) | JSON


@dataclass(frozen=True)
class Violation:
    """A formerly valid instance, broken at `path`."""

    instance: Any
    path: Path
    what: str


def violated(definitions: Definitions, name: str) -> st.SearchStrategy[Violation]:
    """Instances of the definition `name` with one violation. A definition that allows everything has none to offer."""
    return _violations(_Maker(definitions), name)


# --- scalars and junk ------------------------------------------------------------------------------------------------

# Drawn for every leaf of every instance, so they are kept cheap: mostly one choice from a list of awkward values.
_AWKWARD = ["", "0", "false", "null", "a/b", "~", "$ref", "__class__", "Ünï ☃", "𝄞", "\u2028", "\x00", '"\\', "\ufeff"]
_BIG = [2**31, 2**53, 2**53 + 1, -(2**63), 2**63, 2**64, 10**30]
TEXT = st.sampled_from(_AWKWARD) | st.sampled_from(_AWKWARD) | st.text(max_size=4)
INTEGERS = st.sampled_from([0, 1, -1, *_BIG]) | st.integers(-1000, 1000)
FLOATS = st.sampled_from([0.0, -0.0, 1.0, 0.1, -2.5, 1e-7, 1e300]) | st.floats(allow_nan=False, allow_infinity=False)
SCALARS = st.sampled_from([None, True, False, 0, 1, 1.0, ""]) | INTEGERS | FLOATS | TEXT


def _containers(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.lists(inner, max_size=2) | st.dictionaries(TEXT, inner, max_size=2)


_SHALLOW = SCALARS | _containers(SCALARS)
JSON = _SHALLOW | _containers(_SHALLOW)
"""Any JSON value; null, empty and falsy ones often."""


def _lookalikes(definitions: Definitions) -> st.SearchStrategy[Any]:
    """Objects with the right names and arbitrary values."""
    wires = sorted({wire for d in definitions.values() if isinstance(d, _defs.Record) for wire in d.wires})
    keys = st.sampled_from(wires) | TEXT if wires else TEXT
    return st.dictionaries(keys, JSON | st.dictionaries(keys, JSON, max_size=3), max_size=5)


# --- valid instances -------------------------------------------------------------------------------------------------

_SPARE = 4  # how many more references than necessary an instance may follow


@st.composite
def _instances(draw: st.DrawFn, maker: _Maker, name: str) -> Any:
    return maker.instance(draw, name)


class _Maker:
    """Makes instances. `budget` counts the references that may still be followed; what needs more is left out."""

    def __init__(self, definitions: Definitions, *, integral_floats: bool = False, extras: bool = True) -> None:
        self.definitions = definitions
        self.integral_floats = integral_floats
        self.extras = extras
        self.heights = _heights(definitions)

    def instance(self, draw: st.DrawFn, name: str) -> Any:
        height = self.heights[name]
        assert height < math.inf, f"{name} has no finite instance"
        return self.make(draw, self.definitions[name], int(height) + _SPARE)

    def height(self, type: Any) -> float:
        return _height(type, self.heights)

    def make(self, draw: st.DrawFn, type: Any, budget: int) -> Any:
        match type:
            case _defs.Ref(name=name):
                return self.make(draw, self.definitions[name], budget - 1)
            case _defs.Record():
                return self.record(draw, type, budget)
            case _defs.Union(arms=arms, plan=plan):
                affordable = [label for label, arm in arms.items() if self.height(arm) <= budget]
                label = draw(st.sampled_from(affordable or [min(arms, key=lambda one: self.height(arms[one]))]))
                for _ in range(3):
                    value = self.make(draw, arms[label], budget)
                    if plan(value) == label:  # else an undeclared or optional member happens to mark another arm
                        return value
                assume(False)
            case _defs.ListOf(item=item, max_items=most):
                sizes = [0] if self.height(item) > budget else [1, 0, 2, 1, 3]
                size = draw(st.sampled_from([size for size in sizes if most is None or size <= most] or [most]))
                return [self.make(draw, item, budget) for _ in range(size)]
            case _defs.MapOf(value=inner):
                keys = [] if self.height(inner) > budget else draw(st.lists(TEXT, max_size=3, unique=True))
                return {key: self.make(draw, inner, budget) for key in keys}
            case _defs.Integer(minimum=low, maximum=high) if low is None and high is None:
                return self.integral(draw, draw(INTEGERS))
            case _defs.Integer(minimum=low, maximum=high):
                return self.integral(draw, draw(_integers_between(low, high)))
            case _defs.Number(minimum=low, maximum=high) if low is None and high is None:
                return draw(INTEGERS | FLOATS)
            case _defs.Number(minimum=low, maximum=high):
                floats = st.floats(low, high, allow_nan=False, allow_infinity=False)
                return draw(floats if _no_integer_between(low, high) else floats | _integers_between(low, high))
            case _defs.Const(value=value):
                return self.integral(draw, value)
            case _defs.Enum(values=values, open=is_open):
                return draw(st.sampled_from(values) | TEXT if is_open else st.sampled_from(values))
            case _defs.String():
                return draw(TEXT)
            case _defs.Boolean():
                return draw(st.booleans())
            case _defs.Null():
                return None
            case _defs.Anything():
                return draw(JSON)
        raise TypeError(type)

    def record(self, draw: st.DrawFn, record: Any, budget: int) -> dict[str, Any]:
        optional = [f for f in record.fields if not f.required and self.height(f.type) <= budget]
        wanted = draw(st.integers(0, 2 ** len(optional) - 1))
        present = {f.wire for index, f in enumerate(optional) if wanted >> index & 1}
        made = {f.wire: self.make(draw, f.type, budget) for f in record.fields if f.required or f.wire in present}
        if self.extras and draw(st.integers(0, 3)) == 3:
            extras = draw(
                st.dictionaries(TEXT.filter(lambda key: key not in record.wires), JSON, min_size=1, max_size=2)
            )
            made = {**extras, **made} if draw(st.booleans()) else {**made, **extras}
        return made

    def integral(self, draw: st.DrawFn, value: Any) -> Any:
        if self.integral_floats and type(value) is int and abs(value) <= 2**53 and draw(st.booleans()):
            return float(value)
        return value


def _no_integer_between(low: float | None, high: float | None) -> bool:
    return low is not None and high is not None and math.ceil(low) > math.floor(high)


def _integers_between(low: float | None, high: float | None) -> st.SearchStrategy[int]:
    lowest = None if low is None else math.ceil(low)
    highest = None if high is None else math.floor(high)
    edges = [edge for edge in (lowest, highest, *_BIG) if edge is not None]
    inside = [e for e in edges if (lowest is None or e >= lowest) and (highest is None or e <= highest)]
    return st.sampled_from(inside) | st.integers(lowest, highest)


def _heights(definitions: Definitions) -> dict[str, float]:
    """How many references the smallest instance of each definition follows."""
    heights = dict.fromkeys(definitions, math.inf)
    while True:
        updated = {name: _height(definition, heights) for name, definition in definitions.items()}
        if updated == heights:
            return heights
        heights = updated


def _height(type: Any, heights: Mapping[str, float]) -> float:
    match type:
        case _defs.Ref(name=name):
            return heights[name] + 1
        case _defs.Record(fields=fields):
            return max((_height(f.type, heights) for f in fields if f.required), default=0)
        case _defs.Union(arms=arms):
            return min(_height(arm, heights) for arm in arms.values())
        case _:
            return 0  # lists and maps may be empty


# --- violations ------------------------------------------------------------------------------------------------------

_GONE = object()
_WRONG = [None, True, False, 0, 1, 1.5, "", "x", "1", [], ["x"], {}, {"x": None}]


@dataclass(frozen=True)
class _Site:
    """A place in an instance and what to put there; a callable is asked for it when the site is chosen."""

    path: Path
    what: str
    choices: list[Any]


@st.composite
def _violations(draw: st.DrawFn, maker: _Maker, name: str) -> Violation:
    instance = maker.instance(draw, name)
    sites = [site for site in _sites(maker, maker.definitions[name], instance, ()) if site.choices]
    assume(sites)
    # Most sites are "wrong kind"; choose what to break before where, so that the rarer things get their share.
    what = draw(st.sampled_from(sorted({site.what for site in sites})))
    site = draw(st.sampled_from([site for site in sites if site.what == what]))
    choice = draw(st.sampled_from(site.choices))
    return Violation(_replaced(instance, site.path, choice(draw) if callable(choice) else choice), site.path, what)


def _sites(maker: _Maker, type: Any, value: Any, path: Path) -> Iterator[_Site]:
    """Everything that can be broken in `value`, a valid `type`."""
    match type:
        case _defs.Ref(name=name):
            yield from _sites(maker, maker.definitions[name], value, path)
            return
        case _defs.Union(arms=arms, plan=plan):
            yield _Site(path, "no arm", _refused(maker, type))
            yield from _sites(maker, arms[plan(value)], value, path)
            return
        case _defs.Anything():
            return
        case _defs.Enum(values=values, open=False):
            yield _Site(
                path, "bad value", [bad for bad in ("", f"{values[0]} ", values[0].swapcase()) if bad not in values]
            )
        case _defs.Const(value=str(constant)):
            yield _Site(path, "bad value", [f"{constant}x", f" {constant}", constant[:-1]] if constant else ["x"])
        case _defs.Const(value=bool(constant)):
            yield _Site(path, "bad value", [not constant, int(constant), str(constant).lower()])
        case _defs.Const(value=int(constant)):
            yield _Site(path, "bad value", [constant + 1, constant + 0.5, str(constant), bool(constant)])
        case _defs.Integer(minimum=low, maximum=high) | _defs.Number(minimum=low, maximum=high):
            yield _Site(path, "too small", [] if low is None else [low - 1, low - 10**20])
            yield _Site(path, "too large", [] if high is None else [high + 1, high + 10**20])
        case _defs.ListOf(item=item, max_items=most):
            if most is not None:
                yield _Site(path, "too long", [_overfull(maker, item, value, most)])
            for index, inner in enumerate(value):
                yield from _sites(maker, item, inner, (*path, index))
        case _defs.MapOf(value=inner_type):
            for key, inner in value.items():
                yield from _sites(maker, inner_type, inner, (*path, key))
        case _defs.Record(fields=fields):
            for field in fields:
                here = (*path, field.wire)
                if field.wire in value:
                    yield from _sites(maker, field.type, value[field.wire], here)
                    if field.required:
                        yield _Site(here, "missing", [_GONE])
                else:
                    refused = _refused(maker, field.type)
                    yield _Site(here, "wrong optional", refused)
                    yield _Site(here, "null for absent", [None] if None in refused else [])
    yield _Site(path, "wrong kind", _refused(maker, type))


def _refused(maker: _Maker, type: Any) -> list[Any]:
    """Values that `type` refuses at first sight."""
    return [wrong for wrong in _WRONG if not _plausible(maker, type, wrong)]


def _plausible(maker: _Maker, type: Any, value: Any) -> bool:
    kind: str | None = _kind_of(value)
    match type:
        case _defs.Ref(name=name):
            return _plausible(maker, maker.definitions[name], value)
        case _defs.Union(arms=arms, plan=plan):
            label = plan(value)
            return label is not None and _plausible(maker, arms[label], value)
        case _defs.Anything():
            return True
        case _defs.Const(value=constant):
            return bool(value == constant)  # on the safe side: True would do for 1
        case _defs.Enum(values=values, open=is_open):
            return bool(value in values or (is_open and kind == "string"))
        case _defs.Number():
            return kind in ("integer", "number")
        case _defs.Record() | _defs.MapOf():
            return kind == "object"
        case _defs.ListOf():
            return kind == "array"
        case _:
            return bool(kind == type.__class__.__name__.lower())


def _overfull(maker: _Maker, item: Any, value: list[Any], most: int) -> Callable[[st.DrawFn], list[Any]]:
    def fill(draw: st.DrawFn) -> list[Any]:
        padding = value[0] if value else maker.make(draw, item, int(maker.height(item)))
        return [*value, *[padding] * (most + 1 - len(value))]

    return fill


def _replaced(instance: Any, path: Path, value: Any) -> Any:
    """A copy of `instance` that differs at `path` only."""
    if not path:
        return value
    step, *rest = path
    if isinstance(instance, list):
        return [_replaced(item, tuple(rest), value) if index == step else item for index, item in enumerate(instance)]
    if value is _GONE and not rest:
        return {key: inner for key, inner in instance.items() if key != step}
    return {**instance, step: _replaced(instance.get(step), tuple(rest), value)}
