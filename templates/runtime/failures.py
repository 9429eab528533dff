"""What goes wrong in a conversation: errors that peers send each other, and errors of this side alone.

`McpError` is a JSON-RPC error: a handler raises it to send it, a client raises it when the peer answered with it. What
happens on this side only (a timeout, a closed connection, an answer that makes no sense) is a `SessionError`: it has no
code, so that it can never be taken for something the peer said.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from .plain import an_object
from .unset import UNSET

PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602
INTERNAL_ERROR: Final = -32603
MISSING_CAPABILITY: Final = -32021
UNSUPPORTED_VERSION: Final = -32022


class McpError(Exception):
    """A JSON-RPC error. `data` is UNSET where the error has none; None is a value."""

    code: int
    message: str
    data: Any

    def __init__(self, code: int, message: str, data: Any = UNSET) -> None:
        super().__init__(code, message, data)
        self.code = code
        self.message = message
        self.data = data

    def __str__(self) -> str:
        return f"{self.message} ({self.code})"

    def to_wire(self) -> dict[str, Any]:
        """The `error` member of a response."""
        wire: dict[str, Any] = {"code": self.code, "message": self.message}
        if self.data is not UNSET:
            wire["data"] = self.data
        return wire

    @classmethod
    def from_wire(cls, error: Mapping[str, Any]) -> McpError:
        """The error of a response. Raises InvalidMessage if it is none."""
        code, message = error.get("code"), error.get("message")
        if isinstance(code, float) and code.is_integer():
            code = int(code)
        if not isinstance(code, int) or isinstance(code, bool) or not isinstance(message, str):
            raise InvalidMessage("the peer answered with an error that lacks a valid code or message")
        return cls(code, message, error.get("data", UNSET))


def method_not_found(method: str) -> McpError:
    """The method does not exist here, or its capability is not advertised."""
    return McpError(METHOD_NOT_FOUND, f"Method not found: {method}")


def invalid_params(reason: str, data: Any = UNSET) -> McpError:
    """The request's params cannot be used."""
    return McpError(INVALID_PARAMS, f"Invalid params: {reason}", data)


def internal_error() -> McpError:
    """Something failed here; what, is for this side's log only."""
    return McpError(INTERNAL_ERROR, "Internal error")


def unsupported_version(requested: str, supported: Sequence[str]) -> McpError:
    """The request's protocol version is not served."""
    data = {"requested": requested, "supported": list(supported)}
    return McpError(UNSUPPORTED_VERSION, f"Unsupported protocol version: {requested}", data)


def missing_capability(required: dict[str, Any]) -> McpError:
    """The request declares too little: `required` is a ClientCapabilities object of what is missing."""
    names = ", ".join(_paths(required))
    data = {"requiredCapabilities": required}
    return McpError(MISSING_CAPABILITY, f"Missing required client capability: {names}", data)


def _paths(capabilities: dict[str, Any], prefix: str = "") -> list[str]:
    paths: list[str] = []
    for name, value in capabilities.items():
        path, inner = f"{prefix}{name}", an_object(value)
        paths += _paths(inner, f"{path}.") if inner else [path]
    return paths


class SessionError(Exception):
    """Something went wrong on this side of the connection. The peer said nothing of the kind."""


class RequestTimeout(SessionError, TimeoutError):
    """No answer in time. The request has been cancelled."""


class ConnectionClosed(SessionError, ConnectionError):
    """The connection ended; requests in flight are lost, and may or may not have had their effect."""


class InvalidMessage(SessionError):
    """The peer's answer is not what the protocol allows."""


class MessageTooLarge(SessionError):
    """The peer's answer is longer than the limit of this side."""


class InputRefused(SessionError):
    """The server asks for input that this client did not offer, or that no handler supplied."""


class TooManyRounds(SessionError):
    """The server kept asking for input beyond the limit of rounds."""


class StreamOverflow(SessionError):
    """Events of a subscription came faster than they were read."""


class StreamEnded(SessionError):
    """The server ended a subscription without answering its request."""


class PaginationLoop(SessionError):
    """The server's cursors lead in a circle, or never end."""


class UnsupportedRevision(SessionError):
    """Sessions cannot speak this protocol revision."""
