"""A short cut for two things that msgspec refuses and JSON Schema does not, both everyday: extra keys in an open map
(trace context in `_meta`), and integers that arrive as `2.0`.

msgspec says where it stumbled. The place is mended in the parsed value, the value converted again, and extra keys are
put back into the result. This decides nothing: msgspec still checks everything else, and what cannot be mended is left
to the reference decoder.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final, TypeAlias, get_args, get_origin

from msgspec import StructMeta, ValidationError, convert
from msgspec.structs import fields as struct_fields
from msgspec.structs import force_setattr

from ..runtime.decoding import NOT_BUILT
from .message import OpenMap, layout, opened, read_planned, required_tag

Step: TypeAlias = "str | int"

_STUMBLE: Final = re.compile(
    r"(?:Object contains unknown (field) `.*?`|Expected `.*?`, got `float`)(?: - at `\$(.*)`)?", re.DOTALL
)
# Wire keys with a dot have the form `com.example/name`; a key inside free-form data is never where msgspec stumbles.
_STEP: Final = re.compile(r"\.((?:[^.\[/]+\.)+[^.\[/]*/[^.\[]*|[^.\[]*)|\[([0-9]+)\]")
_ATTEMPTS: Final = 8


def mend(type: Any, value: Any, error: Exception) -> Any:
    """The typed value for a parsed one that msgspec refused with `error`, or NOT_BUILT. Changes `value`."""
    target = required_tag(type)
    removed: list[tuple[tuple[Step, ...], Mapping[str, Any]]] = []
    for _ in range(_ATTEMPTS):
        stumble = _STUMBLE.fullmatch(str(error))
        path = _path(value, stumble[2] or "") if stumble else None
        if stumble is None or path is None:
            return NOT_BUILT
        if stumble[1]:
            extras = _take_extras(type, value, path)
            if not extras:
                return NOT_BUILT
            removed.append((path, extras))
        elif not _make_integer(value, path):
            return NOT_BUILT
        try:
            built: Any = convert(value, target, dec_hook=read_planned)
        except ValidationError as next_error:
            error = next_error
        else:
            for place, keys in sorted(removed, key=lambda entry: -len(entry[0])):
                built = _put_back(built, place, keys)
            return built
    return NOT_BUILT


def _path(value: Any, text: str) -> tuple[Step, ...] | None:
    """`.params._meta` or `.tools[3]` as steps into `value`. None if it leads nowhere."""
    steps: list[Step] = []
    position = 0
    while position < len(text):
        found = _STEP.match(text, position)
        if found is None:
            return None
        step: Any = int(found[2]) if found[2] else found[1]
        try:
            value = value[step]
        except (LookupError, TypeError):
            return None
        steps.append(step)
        position = found.end()
    return tuple(steps)


def _take_extras(type: Any, value: Any, path: tuple[Step, ...]) -> dict[str, Any]:
    """Remove the undeclared keys of the open map at `path`; none if that is not what the type has there."""
    for step in path:
        value = value[step]
        if isinstance(step, int):
            type = get_args(type)[0] if get_origin(type) is list else None
        else:
            type = _types(type).get(step) if isinstance(type, StructMeta) else None
    if not isinstance(type, StructMeta) or not issubclass(type, OpenMap):
        return {}
    return {key: value.pop(key) for key in [key for key in value if key not in layout(type)]}


@lru_cache(maxsize=None)
def _types(cls: Any) -> Mapping[str, Any]:
    """Wire key -> type."""
    return {info.encode_name: info.type for info in struct_fields(cls)}


def _make_integer(value: Any, path: tuple[Step, ...]) -> bool:
    """Replace a float without a fraction by its integer; false if it is none."""
    if not path:
        return False
    for step in path[:-1]:
        value = value[step]
    number = value[path[-1]]
    if not isinstance(number, float) or not number.is_integer():
        return False
    value[path[-1]] = int(number)
    return True


def _put_back(built: Any, path: tuple[Step, ...], extras: Mapping[str, Any]) -> Any:
    """`built` with the open map at `path` having `extras`."""
    owner, place = built, built
    for step in path:
        owner = place
        place = place[step] if isinstance(step, int) else getattr(place, layout(place.__class__)[step][0])
    if not path:
        return opened(place, extras)
    if isinstance(path[-1], int):
        owner[path[-1]] = opened(place, extras)
    else:
        force_setattr(owner, layout(owner.__class__)[path[-1]][0], opened(place, extras))
    return built
