"""The rows of a method table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final, Literal, TypeAlias

TypeName: TypeAlias = "str | Any"
"""A definition's name, looked up in the revision's types on first use; or, for extensions, the type itself."""


def _nothing() -> Mapping[str, Any]:
    return _NOTHING


_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class MethodSpec:
    """What a revision says about one method.

    Sessions and dispatchers know methods from such rows alone, so an extension adds rows, and needs no other code.
    """

    wire: str
    """The method's name on the wire."""
    name: str
    """Its name in Python: of the proxy and the handler (`call_tool`), for notifications without `on_` or `notify_`."""
    kind: Literal["request", "notification"]
    sender: Literal["client", "server", "both"]
    message: TypeName | None = None
    """The definition of the whole message."""
    params: TypeName | None = None
    """The definition of its params; None leaves them undecoded, as a dict."""
    meta: TypeName | None = None
    """The definition of the `_meta` in its params."""
    result: TypeName | None = None
    """The definition of its complete result; None leaves it undecoded, as a dict."""
    alternatives: Mapping[str, TypeName] = field(default_factory=_nothing, hash=False)
    """Other results that may come instead, by their `resultType`."""
    role: Literal["wire", "embedded"] = "wire"
    """Embedded methods are no messages of their own: they are payloads in another request's result."""
    capability: str | None = None
    """What the receiver must have advertised, or its client declared: `tools`, `resources.subscribe`."""
    name_param: str | None = None
    """The param that names what the request is about; transports use it for routing."""
    cacheable: bool = False
    """Whether the result says how long it may be kept."""
    items: str | None = None
    """The list in a paginated result."""
    topic: str | None = None
    """For notifications of a subscription: the filter member that asks for them."""
    topic_key: str | None = None
    """The param that the filter member's values are compared with; None if the member is a switch."""
    assumed: Mapping[str, Any] = field(default_factory=_nothing, hash=False)
    """What a receiver assumes for members that the peer left out of the result."""

    def is_request_of(self, side: Literal["client", "server"]) -> bool:
        """Whether that side sends it as a request of its own."""
        return self.kind == "request" and self.role == "wire" and self.sender in (side, "both")

    def is_notification_of(self, side: Literal["client", "server"]) -> bool:
        """Whether that side sends it as a notification."""
        return self.kind == "notification" and self.sender in (side, "both")

    @property
    def multi_round(self) -> bool:
        """Whether the server may ask for input before it answers."""
        return "input_required" in self.alternatives

    @property
    def paginated(self) -> bool:
        """Whether the result comes in pages."""
        return self.items is not None


MethodTable: TypeAlias = Mapping[str, MethodSpec]
"""Methods by wire name."""
