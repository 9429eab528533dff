"""What sessions need to know about a revision in a style: its method table, its codec, and where its types are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from .failures import UnsupportedRevision
from .frames import Frame
from .peer import Payload
from .specs import MethodTable

HANDSHAKE = "initialize"
"""The method that revisions begin with where requests do not carry their own version and capabilities."""


class Codec(Protocol):
    """A revision's codec module."""

    def decode(self, type: Any, obj: object, /) -> Any: ...
    def decode_json(self, type: Any, data: bytes, /) -> Any: ...
    def encode(self, value: Any, /) -> Any: ...
    def encode_json(self, value: Any, /) -> bytes: ...
    def matches(self, type: Any, value: object, /) -> bool: ...
    def frame(self, data: bytes, /) -> Frame: ...


@dataclass(frozen=True, slots=True)
class Surface:
    """A revision in a style.

    The functions read members of message values, which differ in form from style to style; everything else that
    sessions look at is on the wire.
    """

    revision: str
    methods: MethodTable
    codec: Codec
    types: object
    """Where definitions are attributes."""
    params_meta: Callable[[Any], Any] = lambda params: {}
    """Reads the `_meta` of a request's params: a mapping by wire keys."""
    params_version: Callable[[Any], str] = lambda params: ""
    """Reads the protocol version that a request's params name."""
    result_meta: Callable[[Any], object] = lambda result: None
    """Reads the `_meta` of a result; None if it has none."""
    result_type: Callable[[Any], str] = lambda result: "complete"
    """Reads the `resultType` of a result."""
    levels: tuple[str, ...] = ()
    """The log levels in ascending severity."""
    server_switches: Mapping[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    """Attributes of a server that switch capabilities on, and those capabilities."""
    client_switches: Mapping[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    """The same for a client's handlers."""

    def resolve(self, name: Any) -> Any:
        """The type that a method table's entry means."""
        return getattr(self.types, name) if isinstance(name, str) else name

    def decode(self, type: Any, payload: Payload) -> Any:
        """A payload as a typed value; as a dict if there is no type."""
        if type is None:
            from .peer import as_object

            return as_object(payload)
        if isinstance(payload, dict):
            return self.codec.decode(type, payload)
        return self.codec.decode_json(type, payload)

    def encode(self, value: Any, *, as_json: bool) -> Payload:
        """A typed value, or a payload, as a payload."""
        if isinstance(value, (bytes, dict)):
            return value  # pyright: ignore[reportUnknownVariableType]
        payload: Payload = self.codec.encode_json(value) if as_json else self.codec.encode(value)
        return payload


def overrides(instance: object, name: str) -> bool:
    """Whether a user's server or handlers object has a method of that name, other than its generated base's default."""
    generated = next(base for base in type(instance).__mro__ if "surface" in base.__dict__)
    method: object = vars(instance).get(name, getattr(type(instance), name, None))
    return method is not None and method is not getattr(generated, name, None)


def require_stateless(surface: Surface) -> None:
    """Raise UnsupportedRevision for the revisions that begin with a handshake: sessions do not speak those."""
    if HANDSHAKE in surface.methods:
        raise UnsupportedRevision(f"{surface.revision} begins with {HANDSHAKE!r}: it has types and method tables only")
