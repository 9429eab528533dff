"""The seam between proxies and connections: what a `Peer` does, and in which form messages cross it."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, Final, Literal, Protocol, TypeAlias, runtime_checkable

from .failures import InvalidMessage
from .frames import Frame
from .parsing import InvalidJSON, parse_json
from .plain import an_object

Payload: TypeAlias = "bytes | dict[str, Any]"
"""The params of a request or notification, or a result: an object, either as JSON text (bytes, or another buffer that
a codec's frames hold) or in JSON-ready Python values. Whoever has one form passes it on in that form, so that every
message is encoded once and decoded once."""

OnNotification: TypeAlias = Callable[[str, Payload], None]
"""Takes a notification: method and params. Called in the event loop; it must return soon and not raise."""


@runtime_checkable
class Peer(Protocol):
    """The other side of a connection, as a proxy sees it."""

    async def request(
        self,
        method: str,
        params: Payload,
        *,
        timeout: float | None = None,
        on_notification: OnNotification | None = None,
    ) -> Payload:
        """Send a request and wait for its result.

        Notifications that belong to this request arrive through `on_notification` before this returns. Cancelling the
        calling task cancels the request at the peer. Raises McpError if the peer answers with an error, SessionError
        for anything that goes wrong on this side.
        """
        ...

    async def notify(self, method: str, params: Payload | None = None) -> None:
        """Send a notification."""
        ...


@dataclass(frozen=True, slots=True)
class Opening:
    """What a transport is told when a client opens it."""

    frame: Callable[[bytes], Frame]
    """How messages are taken apart."""
    on_notification: OnNotification
    """Takes notifications that belong to no particular request."""


class Transport(Protocol):
    """Knows how to reach a server."""

    form: Literal["json", "object"]
    """The form in which its peer prefers payloads."""

    def open(self, opening: Opening, /) -> AbstractAsyncContextManager[Peer]:
        """Connect for as long as the context lasts."""
        ...


def as_object(payload: Payload) -> dict[str, Any]:
    """The payload in Python values; a dict is returned as it is. Raises InvalidMessage if it is no JSON object."""
    if isinstance(payload, dict):
        return payload
    try:
        value = parse_json(bytes(payload))
    except InvalidJSON as error:
        raise InvalidMessage(str(error)) from None
    message = an_object(value)
    if message is None:
        raise InvalidMessage("expected a JSON object")
    return message


def as_json(payload: Payload) -> bytes:
    """The payload as JSON text; bytes are returned as they are."""
    return to_json(payload) if isinstance(payload, dict) else payload


def to_json(value: object) -> bytes:
    """JSON-ready Python values as compact JSON text. Raises ValueError for NaN and infinities."""
    text = _ENCODER.encode(value)
    try:
        return text.encode()
    except UnicodeEncodeError:  # a lone surrogate: legal as an escape only
        return _ASCII_ENCODER.encode(value).encode()


_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))
_ASCII_ENCODER: Final = json.JSONEncoder(ensure_ascii=True, allow_nan=False, separators=(",", ":"))
