"""A short cut for two things that msgspec refuses and JSON Schema does not, both everyday: extra keys in an open map
(trace context in `_meta`), and integers that arrive as `2.0`.

They are mended in the parsed value, the value is converted again, and extra keys are put back into the result. This
decides nothing: msgspec still checks everything else, and what cannot be mended is left to the reference decoder.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any, Final, TypeAlias

from msgspec import StructMeta, ValidationError, convert
from msgspec.structs import fields as struct_fields
from msgspec.structs import force_setattr

from ..runtime.decoding import NOT_BUILT
from .message import OpenMap, layout, opened, read_planned, required_tag

Place: TypeAlias = tuple[tuple[str, str], ...]
"""Where something is in a record: wire key and attribute of each step."""

_EXTRA: Final = "Object contains unknown field"
_FLOAT: Final = re.compile(r"Expected `.*`, got `float` - at `\$(.*)`", re.DOTALL)
_NEXT: Final = re.compile(r"[.\[]")
_INDEX: Final = re.compile(r"\[[0-9]+\]")
_ATTEMPTS: Final = 8


def mend(type: Any, value: Any, error: Exception) -> Any:
    """The typed value for a parsed one that msgspec refused with `error`, or NOT_BUILT. Changes `value`."""
    target = required_tag(type)
    removed: list[tuple[Place, dict[str, Any]]] = []
    for _ in range(_ATTEMPTS):
        text = str(error)
        if text.startswith(_EXTRA):
            extras = list(_take_extras(type, value))
            if not extras:
                return NOT_BUILT
            removed += extras
        elif not _make_integer(value, text):
            return NOT_BUILT
        try:
            built: Any = convert(value, target, dec_hook=read_planned)
        except ValidationError as next_error:
            error = next_error
        except RecursionError:
            return NOT_BUILT
        else:
            for place, keys in removed:
                built = _put_back(built, place, keys)
            return built
    return NOT_BUILT


def _take_extras(type: Any, value: Any) -> Iterator[tuple[Place, dict[str, Any]]]:
    """Remove the undeclared keys of the open maps in `value`, inner maps first."""
    for place, declared in _open_maps(type):
        found: Any = value
        for wire, _ in place:
            found = found.get(wire) if found.__class__ is dict else None
        if found.__class__ is dict and not found.keys() <= declared:
            yield place, {key: found.pop(key) for key in [key for key in found if key not in declared]}


@cache
def _open_maps(type: Any) -> tuple[tuple[Place, frozenset[str]], ...]:
    """The open maps of a record and of the records in it, inner ones first, with their declared keys.

    Not those behind lists, maps and unions: they are rare, and the reference decoder finds them.
    """

    def search(cls: Any, place: Place, outer: tuple[Any, ...]) -> Iterator[tuple[Place, frozenset[str]]]:
        if not isinstance(cls, StructMeta) or cls in outer:
            return
        for info in struct_fields(cls):  # type: ignore[arg-type]
            yield from search(info.type, (*place, (info.encode_name, info.name)), (*outer, cls))
        if issubclass(cls, OpenMap):
            yield place, frozenset(layout(cls))

    return tuple(search(type, (), ()))


def _put_back(built: Any, place: Place, extras: dict[str, Any]) -> Any:
    """`built` with `extras` in the open map at `place`."""
    if not place:
        return opened(built, extras)
    owner = built
    for _, attribute in place[:-1]:
        owner = getattr(owner, attribute)
    attribute = place[-1][1]
    force_setattr(owner, attribute, opened(getattr(owner, attribute), extras))
    return built


def _make_integer(value: Any, text: str) -> bool:
    """Where msgspec did not expect a float, make it an integer; false if it has a fraction or cannot be found."""
    found = _FLOAT.fullmatch(text)
    path = _path(value, found[1]) if found else None
    if not path:
        return False
    for step in path[:-1]:
        value = value[step]
    number = value[path[-1]]
    if not isinstance(number, float) or not number.is_integer():
        return False
    value[path[-1]] = int(number)
    return True


def _path(value: Any, text: str) -> list[Any] | None:
    """`.params._meta` or `.tools[3]` as steps into `value`. None if it leads nowhere."""
    steps: list[Any] = []
    position = 0
    while position < len(text):
        end = position
        while True:  # a key may have dots in it
            end = next((found.start() for found in _NEXT.finditer(text, end + 1)), len(text))
            part = text[position:end]
            step: Any = int(part[1:-1]) if _INDEX.fullmatch(part) else part[1:]
            try:
                value = value[step]
                break
            except (LookupError, TypeError):
                if end == len(text):
                    return None
        steps.append(step)
        position = end
    return steps
