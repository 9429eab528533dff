"""What the HTTP transport decides from a request line and its headers alone: who may ask, in which form, and the
status that goes with an answer."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from .failures import (
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    MISSING_CAPABILITY,
    PARSE_ERROR,
    UNSUPPORTED_VERSION,
)
from .http_headers import HEADER_MISMATCH

JSON_TYPE: Final = "application/json"
SSE_TYPE: Final = "text/event-stream"

_STATUS: Final = {
    PARSE_ERROR: 400,
    INVALID_REQUEST: 400,
    METHOD_NOT_FOUND: 404,
    HEADER_MISMATCH: 400,
    MISSING_CAPABILITY: 400,
    UNSUPPORTED_VERSION: 400,
}
_AUTHORITY: Final = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::([0-9]{1,5}))?")
_ORIGIN: Final = re.compile(r"(https?)://([^/?#@]+)")
_PORTS: Final = {"http": "80", "https": "443"}


def status_of(code: int) -> int:
    """The HTTP status of an answer with this JSON-RPC error, if no stream has begun.

    The protocol leaves the rest to us. Errors of handlers are answers like any other: too many clients take a 4xx or
    5xx for a failure of the connection, and hide its content.
    """
    return _STATUS.get(code, 200)


# --- who may ask -----------------------------------------------------------------------------------------------------


class Access:
    """The hosts that a server answers to, and the web origins whose scripts may use it.

    A browser can be made to send requests anywhere, but not to lie about `Host` and `Origin`: these checks keep web
    pages from reaching a server that trusts its network (DNS rebinding). A host is `example.com` (any port) or
    `example.com:8443`; an origin is `https://example.com`, its port as in a URL, or any one as
    `https://example.com:*`; `*` allows all. Origins default to those of the hosts.
    """

    def __init__(self, hosts: Sequence[str], origins: Sequence[str] | None = None) -> None:
        self._hosts = frozenset(host.lower() for host in hosts)
        if origins is None:
            self._origins = frozenset(_origins_of(self._hosts))
        else:
            self._origins = frozenset(origin.lower().rstrip("/") for origin in origins)
        # Clients send the same few values over and over.
        self.host_allowed = lru_cache(256)(self._host_allowed)
        self.origin_allowed = lru_cache(256)(self._origin_allowed)

    def _host_allowed(self, host: bytes | None) -> bool:
        if "*" in self._hosts:
            return True
        match = _AUTHORITY.fullmatch(_lower(host)) if host is not None else None
        return match is not None and (match[1] in self._hosts or match[0] in self._hosts)

    def _origin_allowed(self, origin: bytes | None) -> bool:
        if origin is None or "*" in self._origins:
            return True
        match = _ORIGIN.fullmatch(_lower(origin))
        authority = _AUTHORITY.fullmatch(match[2]) if match is not None else None
        if match is None or authority is None:
            return False  # "null" among others
        scheme, (host, port) = match[1], authority.groups()
        shown = f"{scheme}://{host}"
        spellings = [f"{shown}:*"] if port is None else [f"{shown}:*", f"{shown}:{port}"]
        if port is None or port == _PORTS[scheme]:
            spellings += [shown, f"{shown}:{_PORTS[scheme]}"]
        return any(each in self._origins for each in spellings)


def _origins_of(hosts: frozenset[str]) -> list[str]:
    if "*" in hosts:
        return ["*"]
    with_port = re.compile(r".*:[0-9]{1,5}")
    return [
        f"{scheme}://{host}" if with_port.fullmatch(host) else f"{scheme}://{host}:*"
        for host in hosts
        for scheme in ("http", "https")
    ]


def _lower(value: bytes) -> str:
    return value.strip(b" \t").decode("latin-1").lower()


# --- in which form ---------------------------------------------------------------------------------------------------


@lru_cache(256)
def accepts_both(accept: bytes | None) -> bool:
    """Whether a client takes both kinds of answers, as it must. Without the header, it takes anything."""
    return accept is None or all(_accepts(accept, kind) for kind in (JSON_TYPE, SSE_TYPE))


@lru_cache(64)
def is_json(content_type: bytes | None) -> bool:
    """Whether a body is said to be JSON. Its parameters do not matter: JSON is UTF-8 whatever they say."""
    return content_type is not None and _media_type(_lower(content_type)) == JSON_TYPE


def _accepts(accept: bytes, kind: str) -> bool:
    """Whether the most specific range that fits a media type has a weight above zero."""
    best, weight = -1, 0.0
    for item in _lower(accept).split(","):
        range, *parameters = (part.strip() for part in item.split(";"))
        if range == kind:
            rank = 2
        elif range == f"{kind.partition('/')[0]}/*":
            rank = 1
        elif range == "*/*":
            rank = 0
        else:
            continue
        if rank > best:
            best, weight = rank, _weight(parameters)
    return weight > 0


def _weight(parameters: Sequence[str]) -> float:
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        if name.strip() == "q":
            try:
                return float(value)
            except ValueError:
                return 0.0
    return 1.0


def _media_type(value: str) -> str:
    return value.partition(";")[0].strip()
