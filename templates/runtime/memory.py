"""A client and a server in one process, without any bytes on the way but the messages' own.

The client's task runs the server's handler: there is no task, no queue and no stream in between, so a request costs
little more than its encoding and decoding. `json=False` saves that, too; both sides still get values of their own.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from math import inf
from time import monotonic
from typing import Final, Literal

import anyio
from anyio.lowlevel import checkpoint

from .context import Request
from .deadlines import Deadlines
from .failures import ConnectionClosed, McpError, RequestTimeout
from .peer import OnNotification, Opening, Payload, Peer, as_json, as_object, to_json
from .server_base import ServerBase
from .server_session import ServerSession

__all__ = ["MemoryTransport", "connect"]

_TURN: Final = 16
"""A handler that never waits gives no other task a turn, so every so many requests do."""


def connect(server: ServerBase, *, json: bool = True, principal: str | None = None) -> MemoryTransport:
    """A transport to a server in this process. With `json`, messages cross over as JSON text, as elsewhere."""
    return MemoryTransport(server, json=json, principal=principal)


class MemoryTransport:
    """Reaches a server in this process."""

    form: Literal["json", "object"]

    def __init__(self, server: ServerBase, *, json: bool, principal: str | None) -> None:
        self._server = server
        self._principal = principal
        self.form = "json" if json else "object"

    @asynccontextmanager
    async def open(self, opening: Opening) -> AsyncGenerator[Peer, None]:
        """Connect for as long as the context lasts."""
        with ServerSession(self._server) as session:
            peer = MemoryPeer(session, opening, as_json=self.form == "json", principal=self._principal)
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(peer.deadlines.run)
                try:
                    yield peer
                finally:
                    peer.close()
                    tasks.cancel_scope.cancel()


class _Call(Request):
    """A request that this side has sent and the other side serves."""

    __slots__ = ("deadline", "expired")

    deadline: float
    expired: bool

    def expire(self) -> None:
        self.expired = True
        self.cancel()


class MemoryPeer:
    """A server in this process."""

    def __init__(self, session: ServerSession, opening: Opening, *, as_json: bool, principal: str | None) -> None:
        self.deadlines: Deadlines[_Call] = Deadlines()
        self._session = session
        self._opening = opening
        self._as_json = as_json
        self._principal = principal
        self._last_id = 0
        self._calls: set[_Call] = set()
        self._closed = False

    async def request(
        self,
        method: str,
        params: Payload,
        *,
        timeout: float | None = None,
        on_notification: OnNotification | None = None,
    ) -> Payload:
        """Have the server serve a request: see Peer."""
        if self._closed:
            raise ConnectionClosed("the connection is closed")
        self._last_id += 1
        if not self._last_id % _TURN:
            await checkpoint()
        outlet = _Outlet(on_notification or self._opening.on_notification, self._as_json)
        payload = as_json(params) if self._as_json else as_object(params)
        call = _Call(self._last_id, method, payload, outlet, as_json=self._as_json, principal=self._principal)
        call.deadline = inf if timeout is None else monotonic() + timeout
        call.expired = False
        self._calls.add(call)
        if timeout is not None:
            self.deadlines.add(call)
        try:
            with anyio.CancelScope() as call.scope:
                return await self._session.respond(call)
        except McpError as failure:
            raise self._received(failure) from None
        finally:
            self._calls.discard(call)
            if timeout is not None:
                self.deadlines.discard(call)
        if call.expired:
            raise RequestTimeout(f"{method} was not answered in time")
        raise ConnectionClosed("the connection was closed")

    async def notify(self, method: str, params: Payload | None = None) -> None:
        """Hand a notification to the server."""
        if self._closed:
            raise ConnectionClosed("the connection is closed")
        await self._session.notified(method, params)

    def close(self) -> None:
        """Take no more requests; those in flight fail."""
        self._closed = True
        for call in tuple(self._calls):
            call.cancel()

    def _received(self, failure: McpError) -> McpError:
        wire = failure.to_wire()
        return McpError.from_wire(as_object(to_json(wire)) if self._as_json else wire)


class _Outlet:
    """Where the server's notifications come out."""

    __slots__ = ("_as_json", "_take")

    def __init__(self, take: OnNotification, as_json: bool) -> None:
        self._take = take
        self._as_json = as_json

    def send(self, method: str, params: Payload) -> None:
        self._take(method, as_json(params) if self._as_json else as_object(params))

    async def room(self) -> None:
        pass
