"""How a notification reaches the subscriptions of other processes that serve the same server."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeAlias

from .server_base import ServerBase
from .specs import MethodSpec
from .subscriptions import Hub

log = logging.getLogger("mcp.server")

Deliver: TypeAlias = Callable[[str, Mapping[str, Any]], None]
"""Takes a notification that another process has raised: method and params."""


class Notifier(Protocol):
    """Carries notifications between processes.

    Delivery is a matter of best effort, as subscriptions are: whoever listens is told to look again, and may look again
    at any time. A process delivers its own notifications to its own subscriptions itself, so a notifier that has lost
    its connection costs the others only.
    """

    def announce(self, method: str, params: Mapping[str, Any], /) -> None:
        """Tell the other processes. Never waits, never raises."""
        ...

    async def run(self, deliver: Deliver, /) -> None:
        """Hand on what the other processes announce, for as long as this is awaited."""
        ...


class Bridge(Hub):
    """Connects a server to a notifier: tells elsewhere what is published here, and here what is published elsewhere."""

    def __init__(self, server: ServerBase, notifier: Notifier, hub: Hub) -> None:
        super().__init__()
        self._server = server
        self._notifier = notifier
        self._hub = hub

    def publish(self, spec: MethodSpec, params: Mapping[str, Any]) -> None:
        """Tell the other processes."""
        self._notifier.announce(spec.wire, params)

    async def run(self) -> None:
        """Be connected for as long as this is awaited."""
        self._server.hubs.add(self)
        try:
            await self._notifier.run(self._deliver)
        finally:
            self._server.hubs.discard(self)

    def _deliver(self, method: str, params: Mapping[str, Any]) -> None:
        spec = self._server.methods.get(method)
        if spec is None or spec.topic is None:
            log.warning("Ignored a notification from another process: %r is none that can be subscribed to", method)
            return
        self._hub.publish(spec, params)
