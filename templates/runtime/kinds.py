"""JSON kinds of Python values, and how values are spoken of in error texts."""

from __future__ import annotations

from collections.abc import Iterable
from math import isfinite
from typing import Any, Final, Literal, TypeAlias

JsonKind: TypeAlias = Literal["object", "array", "string", "integer", "number", "boolean", "null"]
JsonObject: TypeAlias = dict[str, Any]

NOUNS: Final[dict[str, str]] = {
    "object": "an object",
    "array": "an array",
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "a boolean",
    "null": "null",
}

_EXACT: Final[dict[type, JsonKind]] = {
    dict: "object",
    list: "array",
    str: "string",
    int: "integer",
    bool: "boolean",
    type(None): "null",
}
_LONGEST_STRING: Final = 60
_LONGEST_INTEGER: Final = 10**24
_LONGEST_LIST: Final = 16


def kind_of(value: object) -> JsonKind | None:
    """The narrowest JSON kind of `value`, or None if it is not JSON.

    A boolean is no number. A float without a fraction is an integer, as JSON has no other way to tell them apart.
    """
    exact = _EXACT.get(value.__class__)
    if exact is not None:
        return exact
    if isinstance(value, float):
        return "integer" if value.is_integer() else "number"
    for base, kind in _EXACT.items():  # subclasses; bool and None have none
        if isinstance(value, base):
            return kind
    return None


def quoted(text: str) -> str:
    """`text` as a JSON string on one line, cut when long; safe to print whatever it holds."""
    if len(text) > _LONGEST_STRING:
        text = f"{text[:_LONGEST_STRING]}…"
    from json import dumps  # here: codecs import this module at start-up, and nobody may ever ask for a text

    return dumps(text, ensure_ascii=False).encode("utf-8", "backslashreplace").decode()


def described(value: object) -> str:
    """`value` as an error text names what it got: numbers and constants by value, everything else by kind."""
    if value is None:
        return "null"
    if value is True:
        return "true"
    if value is False:
        return "false"
    if isinstance(value, int):
        # int's own repr: enums have another, and Python refuses to print very long integers
        return int.__repr__(value) if abs(value) < _LONGEST_INTEGER else "a very large integer"
    if isinstance(value, float):
        text = float.__repr__(value)
        if isfinite(value):
            return text
        return f"{text.replace('nan', 'NaN').replace('inf', 'Infinity')}, which is not a JSON number"
    kind = kind_of(value)
    return NOUNS[kind] if kind else f"a value of the Python type {type(value).__name__}, which is not JSON"


def shown(value: object) -> str:
    """Like `described`, but strings appear as themselves: for texts about values rather than kinds."""
    return quoted(value) if isinstance(value, str) else described(value)


def alternatives(choices: Iterable[str]) -> str:
    """`a`, `a or b`, `a, b or c`; cut when long."""
    items = list(choices)
    if len(items) > _LONGEST_LIST:
        items = [*items[:_LONGEST_LIST], f"{len(items) - _LONGEST_LIST} more"]
    if len(items) < 2:
        return "".join(items)
    return f"{', '.join(items[:-1])} or {items[-1]}"
