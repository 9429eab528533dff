"""What every generated server class is built on: its identity, its capabilities, its subscriptions."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal

from . import capabilities
from .failures import method_not_found
from .peer import Payload
from .plain import an_object
from .specs import MethodSpec, MethodTable
from .subscriptions import LISTEN, Hub, offers_topics
from .surface import Surface, overrides

if TYPE_CHECKING:
    from .context import RequestContext
    from .state import StateSigner

DISCOVER: Final = "server/discover"
STATE_LIFETIME: Final = 3600
"""How long a request state stays valid, in seconds, unless said otherwise."""


class ServerBase:
    """Serves a revision. The handlers are methods of generated subclasses, named by the method table.

    One server object may serve any number of connections at once.
    """

    surface: ClassVar[Surface]
    context: ClassVar[type[RequestContext]]

    def __init__(
        self,
        *,
        info: Any,
        instructions: str | None = None,
        methods: MethodTable | None = None,
        versions: Sequence[str] = (),
        identify: Literal["always", "discover", "never"] = "always",
        discover_ttl: float = 0,
        secret: str | bytes | None = None,
        state_lifetime: int = STATE_LIFETIME,
    ) -> None:
        self.info = info
        self.instructions = instructions
        self.methods: MethodTable = self.surface.methods if methods is None else methods
        self.versions = tuple(versions) or (self.surface.revision,)
        self.identify = identify
        self.discover_ttl = discover_ttl
        self._secret = secret or os.urandom(32)
        self._state_lifetime = state_lifetime
        self.hubs: set[Hub] = set()

    @cached_property
    def signer(self) -> StateSigner:
        """Signs the states that clients carry from round to round."""
        from .state import StateSigner

        return StateSigner(self._secret, self._state_lifetime)

    def implements(self, spec: MethodSpec) -> bool:
        """Whether this server has a handler of its own for a method."""
        return overrides(self, spec.name)

    def serves(self, spec: MethodSpec) -> bool:
        """Whether this server answers a method, if not with a handler of its own then by nature."""
        if spec.wire == LISTEN and not self.implements(spec):
            return offers_topics(self.methods, self.advertised())
        return spec.wire == DISCOVER or self.implements(spec)

    def advertised(self) -> dict[str, Any]:
        """The server's capabilities on the wire."""
        return an_object(self.surface.encode(self.capabilities(), as_json=False)) or {}

    def capabilities(self) -> Any:
        """What this server can do."""
        return self._capabilities()

    async def fallback(self, method: str, payload: Payload, ctx: Any) -> Any:
        """Answers requests for methods outside the table, with a message of this style, a dict or JSON text."""
        raise method_not_found(method)

    def _capabilities(self) -> Any:
        """Derived from the handlers that exist and the switches that are on."""
        families = {
            spec.capability
            for spec in self.methods.values()
            if spec.capability and spec.is_request_of("client") and self.implements(spec)
        }
        wire = capabilities.from_paths(sorted(families))
        capabilities.switch_on(wire, self, self.surface.server_switches)
        return self._typed("ServerCapabilities", wire)

    def _discover(self) -> Any:
        wire: dict[str, Any] = {
            "resultType": "complete",
            "supportedVersions": list(self.versions),
            "capabilities": self.advertised(),
            "ttlMs": int(1000 * self.discover_ttl),
            "cacheScope": "public" if self.discover_ttl else "private",
        }
        if self.instructions is not None:
            wire["instructions"] = self.instructions
        return self._typed("DiscoverResult", wire)

    async def publish(self, method: str, params: Any = None) -> None:
        """Send a notification to every subscription that asked for it."""
        spec = self.methods[method]
        wire: Any = {} if params is None else self.surface.encode(params, as_json=False)
        for hub in tuple(self.hubs):
            hub.publish(spec, wire)

    def _typed(self, name: str, wire: Mapping[str, Any]) -> Any:
        return self.surface.codec.decode(self.surface.resolve(name), wire)
