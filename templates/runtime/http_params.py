"""Tool arguments that are repeated in headers: which ones a tool's schema names, and what the headers must say."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from .http_headers import PARAM_PREFIX, HeaderTable, InvalidHeader, decode_value, encode_value, header_mismatch
from .peer import to_json
from .plain import an_array, an_object

ANNOTATION: Final = "x-mcp-header"

_TYPES: Final = ("string", "integer", "boolean")
_TOKEN: Final = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_DECIMAL: Final = re.compile(r"(-?[0-9]+)(?:\.0+)?")

_ONE_SCHEMA: Final = frozenset(
    {
        "additionalItems",
        "additionalProperties",
        "contains",
        "contentSchema",
        "else",
        "if",
        "items",
        "not",
        "propertyNames",
        "then",
        "unevaluatedItems",
        "unevaluatedProperties",
    }
)
_MANY_SCHEMAS: Final = frozenset({"allOf", "anyOf", "items", "oneOf", "prefixItems"})
_NAMED_SCHEMAS: Final = frozenset({"$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties"})


class InvalidAnnotation(ValueError):
    """A tool's schema annotates a property in a way that no header can follow. The message says which and why."""


@dataclass(frozen=True, slots=True)
class Annotation:
    """An argument that is repeated in a header."""

    path: tuple[str, ...]
    """The properties that lead to it."""
    header: str
    """The header's name."""
    type: str
    """The argument's type in the schema."""


@dataclass(frozen=True, slots=True)
class _Trail:
    """The properties on the way to a schema, linked backwards: to write down each way would take too long."""

    before: _Trail | None
    name: str


_ROOT: Final = _Trail(None, "")


def find_annotations(schema: object) -> tuple[Annotation, ...]:
    """The arguments that a tool's input schema wants repeated. Raises InvalidAnnotation if it says so wrongly.

    Only what is reachable through `properties` alone has a place in the arguments that can be told from the schema; an
    annotation elsewhere is a mistake. References are not followed, and what is data rather than schema is not read.
    """
    found: dict[str, Annotation] = {}
    for trail, node in _schemas(schema):
        if ANNOTATION not in node:
            continue
        path = _path(trail) if trail is not None else ()
        if not path:
            raise InvalidAnnotation(f"{ANNOTATION} stands where no property can be told")
        annotation = _annotation(path, node)
        if annotation.header.lower() in found:
            raise InvalidAnnotation(f"{_shown(path)}: another property has the same {ANNOTATION}")
        found[annotation.header.lower()] = annotation
    return tuple(found.values())


def param_headers(annotated: tuple[Annotation, ...], arguments: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The headers that repeat these arguments. Raises ValueError for text that is not Unicode."""
    headers: list[tuple[str, str]] = []
    for annotation in annotated:
        text = _rendered(_at(arguments, annotation.path))
        if text is not None:
            headers.append((annotation.header, encode_value(text)))
    return headers


def check_params(annotated: tuple[Annotation, ...], arguments: Mapping[str, Any], headers: HeaderTable) -> None:
    """Raise McpError unless the headers repeat exactly these arguments. Headers that nobody asked for are ignored."""
    for annotation in annotated:
        value = _at(arguments, annotation.path)
        try:
            _check(annotation, value, headers.one(annotation.header.lower().encode()))
        except InvalidHeader as error:
            raise header_mismatch(f"{annotation.header} {error}") from None


def has_param_headers(headers: HeaderTable) -> bool:
    """Whether the request repeats any arguments."""
    prefix = PARAM_PREFIX.lower().encode()
    return any(name.startswith(prefix) for name in headers.values)


def _check(annotation: Annotation, value: object, header: bytes | None) -> None:
    text = _rendered(value)
    if header is None:
        if text is not None:
            raise InvalidHeader("is missing")
        return
    if text is None:
        raise InvalidHeader("repeats an argument that the body does not have")
    if not _same(annotation.type, text, decode_value(header)):
        raise InvalidHeader("differs from the body")


def _same(type: str, text: str, header: str) -> bool:
    if text == header:
        return True
    if type != "integer":
        return False
    left, right = _DECIMAL.fullmatch(text), _DECIMAL.fullmatch(header)
    return left is not None and right is not None and _number(left[1]) == _number(right[1])


def _number(text: str) -> tuple[bool, str]:
    """An integer of any length, comparable without converting it."""
    digits = text.lstrip("-").lstrip("0")
    return text.startswith("-") and digits != "", digits


def _rendered(value: object) -> str | None:
    """The text of an argument in a header; None if it has none."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer() and abs(value) <= 2**53:
        value = int(value)
    if isinstance(value, (int, float)):
        return to_json(value).decode()
    return None


def _at(arguments: Mapping[str, Any], path: tuple[str, ...]) -> object:
    node: object = arguments
    for step in path:
        inner = an_object(node)
        if inner is None:
            return None
        node = inner.get(step)
    return node


def _annotation(path: tuple[str, ...], schema: Mapping[str, Any]) -> Annotation:
    name, type = schema[ANNOTATION], schema.get("type")
    if not isinstance(name, str):
        raise InvalidAnnotation(f"{_shown(path)}: {ANNOTATION} is not a string")
    if not _TOKEN.fullmatch(name):
        raise InvalidAnnotation(f"{_shown(path)}: {ANNOTATION} {_quoted(name)} cannot be part of a header's name")
    if not isinstance(type, str) or type not in _TYPES:
        raise InvalidAnnotation(f"{_shown(path)}: only a string, an integer or a boolean can be in a header")
    return Annotation(path, PARAM_PREFIX + name, type)


def _schemas(root: object) -> Iterator[tuple[_Trail | None, dict[str, Any]]]:
    """Every schema in a schema, with the way to it; None where there is more on the way than properties."""
    stack: list[tuple[_Trail | None, object]] = [(_ROOT, root)]
    while stack:
        trail, value = stack.pop()
        node = an_object(value)
        if node is None:
            continue
        yield trail, node
        inner: list[tuple[_Trail | None, object]] = []
        for keyword, content in node.items():
            named, many = an_object(content), an_array(content)
            if keyword == "properties" and named is not None:
                inner += [(None if trail is None else _Trail(trail, name), each) for name, each in named.items()]
            elif keyword in _ONE_SCHEMA and named is not None:
                inner.append((None, named))
            elif keyword in _MANY_SCHEMAS and many is not None:
                inner += [(None, each) for each in many]
            elif keyword in _NAMED_SCHEMAS and named is not None:
                inner += [(None, each) for each in named.values()]
        stack += reversed(inner)


def _path(trail: _Trail) -> tuple[str, ...]:
    steps: list[str] = []
    while trail.before is not None:
        steps.append(trail.name)
        trail = trail.before
    return tuple(reversed(steps))


def _shown(path: tuple[str, ...]) -> str:
    return _quoted(".".join(path))


def _quoted(text: str) -> str:
    return to_json(text if len(text) <= 60 else text[:60] + "…").decode(errors="replace")
