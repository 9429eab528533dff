"""Header values of the HTTP transport: how any text travels in one, and how a request's headers must fit its body."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from .failures import McpError

HEADER_MISMATCH: Final = -32020

VERSION_HEADER: Final = "MCP-Protocol-Version"
METHOD_HEADER: Final = "Mcp-Method"
NAME_HEADER: Final = "Mcp-Name"
PARAM_PREFIX: Final = "Mcp-Param-"

NAME_PARAMS: Final[Mapping[str, str]] = {
    "tools/call": "name",
    "prompts/get": "name",
    "resources/read": "uri",
    "tasks/get": "taskId",
    "tasks/update": "taskId",
    "tasks/cancel": "taskId",
}
"""The param that `Mcp-Name` repeats, by method: where a method table does not say it."""

_PREFIX: Final = "=?base64?"
_SUFFIX: Final = "?="
_PLAIN: Final = re.compile(r"[\x20-\x7e]*")
_VERSION: Final = VERSION_HEADER.lower().encode()
_METHOD: Final = METHOD_HEADER.lower().encode()
_NAME: Final = NAME_HEADER.lower().encode()


class InvalidHeader(ValueError):
    """A header's value cannot be read. The message says why."""


# --- values ----------------------------------------------------------------------------------------------------------


def encode_value(text: str) -> str:
    """The header value that carries `text`: itself if it survives the way, else wrapped in Base64.

    Raises ValueError for text that is not Unicode (a lone surrogate).
    """
    if _PLAIN.fullmatch(text) and text == text.strip(" ") and not _wrapped(text):
        return text
    return f"{_PREFIX}{base64.b64encode(text.encode()).decode()}{_SUFFIX}"


def decode_value(value: bytes) -> str:
    """The text that a header value carries. Raises InvalidHeader if it cannot be one.

    A wrapper has both markers, exactly; anything else is the text itself.
    """
    try:
        text = value.strip(b" \t").decode("ascii")
    except UnicodeDecodeError:
        raise InvalidHeader("has characters that are not ASCII") from None
    if not _PLAIN.fullmatch(text):
        raise InvalidHeader("has control characters")
    if not _wrapped(text):
        return text
    content = text[len(_PREFIX) : -len(_SUFFIX)]
    try:
        data = base64.b64decode(content, validate=True)
        # There are several spellings of the last character; those who compare undecoded values must see only one.
        if base64.b64encode(data).decode() != content:
            raise InvalidHeader("is not canonical Base64")
        return data.decode()
    except binascii.Error:
        raise InvalidHeader("is not valid Base64") from None
    except UnicodeDecodeError:
        raise InvalidHeader("is not UTF-8 in Base64") from None


def _wrapped(text: str) -> bool:
    # Without the length, the markers could share the question mark of `=?base64?=`.
    return text.startswith(_PREFIX) and text.endswith(_SUFFIX) and len(text) >= len(_PREFIX) + len(_SUFFIX)


# --- the headers of a request ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class HeaderTable:
    """The header fields of a request by their names in lower case."""

    values: Mapping[bytes, bytes]
    """The first value of each."""
    repeated: frozenset[bytes]
    """The names that came more than once."""
    size: int
    """How long all of them are, in bytes."""

    def one(self, name: bytes) -> bytes | None:
        """The value of a header that may be there once. Raises InvalidHeader if it came more than once.

        Readers of the first and readers of the last copy would disagree, and one of them may be what guards us.
        """
        if name in self.repeated:
            raise InvalidHeader("appears more than once")
        return self.values.get(name)


_NONE_REPEATED: Final[frozenset[bytes]] = frozenset()


def read_headers(raw: Iterable[tuple[bytes, bytes]]) -> HeaderTable:
    """The header fields as ASGI gives them, as a table. The `Accept` fields are one list in several pieces."""
    values: dict[bytes, bytes] = {}
    repeated: set[bytes] = set()
    size = 0
    for name, value in raw:
        name = name.lower()
        size += len(name) + len(value)
        if name not in values:
            values[name] = value
        elif name == b"accept":
            values[name] += b"," + value
        else:
            repeated.add(name)
    return HeaderTable(values, frozenset(repeated) if repeated else _NONE_REPEATED, size)


def header_mismatch(reason: str) -> McpError:
    """The headers are incomplete, unreadable, or say something else than the body."""
    return McpError(HEADER_MISMATCH, f"Header mismatch: {reason}")


def check_present(headers: HeaderTable) -> None:
    """Raise McpError unless the request names its protocol version in a header: that comes before its content."""
    if _VERSION not in headers.values or headers.repeated:
        _read(headers, VERSION_HEADER, _VERSION)


def check_agreement(
    headers: HeaderTable, version: str, method: str, params: Mapping[str, Any], name_param: str | None
) -> None:
    """Raise McpError unless the routing headers say what the body says."""
    _compare(headers, VERSION_HEADER, _VERSION, version)
    _compare(headers, METHOD_HEADER, _METHOD, method)
    name: object = params.get(name_param) if name_param is not None else None
    if isinstance(name, str):  # else decoding the params will find the fault
        _compare(headers, NAME_HEADER, _NAME, name)


def _compare(headers: HeaderTable, name: str, key: bytes, expected: str) -> None:
    value = headers.values.get(key)
    if value is not None and not headers.repeated and value == _as_it_is(expected):
        return
    if _read(headers, name, key) != expected:
        raise header_mismatch(f"{name} differs from the body")


@lru_cache(256)
def _as_it_is(text: str) -> bytes | None:
    """The one header value that needs no decoding to be known for this text; None if there is none."""
    plain = _PLAIN.fullmatch(text) and text == text.strip(" ") and not text.startswith(_PREFIX)
    return text.encode() if plain and len(text) < 200 else None


def _read(headers: HeaderTable, name: str, key: bytes) -> str:
    try:
        value = headers.one(key)
        if value is None:
            raise header_mismatch(f"{name} is missing")
        return decode_value(value) if key == _NAME else _plain(value)
    except InvalidHeader as error:
        raise header_mismatch(f"{name} {error}") from None


def _plain(value: bytes) -> str:
    text = value.strip(b" \t").decode("latin-1")
    if not _PLAIN.fullmatch(text):
        raise InvalidHeader("has characters that are not printable ASCII")
    return text
