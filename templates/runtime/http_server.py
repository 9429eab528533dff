"""Serving over HTTP: an ASGI application."""

from __future__ import annotations

import asyncio
import logging
import signal
import threading
from collections.abc import AsyncGenerator, Callable, Generator, Sequence
from contextlib import asynccontextmanager, contextmanager
from types import FrameType
from typing import Any, Final, Protocol

import anyio
from anyio.abc import TaskGroup

from .deadlines import Deadlines
from .http_exchange import Exchange, Receive, Scope, Send, answer, refuse
from .http_headers import HeaderTable, read_headers
from .http_rules import Access, accepts_both, is_json
from .http_tools import LIST_TOOLS, ToolHeaders
from .notifier import Bridge, Notifier
from .server_base import ServerBase
from .server_session import ServerSession

log = logging.getLogger("mcp.server")

HEADER_LIMIT: Final = 64 * 1024
"""How long a request's headers may be, in bytes. Not all web servers see to that."""


class Refused(Exception):
    """Whoever asks may not. Becomes an HTTP response with this status and this `WWW-Authenticate` challenge."""

    def __init__(self, status: int, challenge: str, reason: str) -> None:
        super().__init__(status, challenge, reason)
        self.status = status
        self.challenge = challenge
        self.reason = reason


class Authentication(Protocol):
    """Establishes on whose behalf a request is made."""

    async def principal(self, scope: Scope, headers: HeaderTable, /) -> str | None:
        """The principal of a request: what handlers see as `ctx.principal`. Raises Refused if there must be another."""
        ...

    def application(self, path: str, /) -> Callable[[Scope, Receive, Send], Any] | None:
        """The ASGI application that answers at this path instead of the server: for metadata about authorization."""
        ...


class HttpServer:
    """An ASGI application that serves one endpoint; `http.app` makes it.

    It needs no lifespan events to work: mounted in another application, which does not pass them on, it lacks only the
    notifier and the graceful end of subscriptions. Enter `lifespan` in the other application's own for these.
    """

    def __init__(
        self,
        server: ServerBase,
        *,
        path: str | None,
        hosts: Sequence[str],
        origins: Sequence[str] | None,
        authentication: Authentication | None,
        notifier: Notifier | None,
        body_limit: int,
        body_timeout: float,
        keep_alive: float,
        patience: float,
    ) -> None:
        self.session = ServerSession(server)
        self.tools = ToolHeaders(self.session)
        self.body_limit = body_limit
        self.body_timeout = body_timeout
        self.keep_alive = keep_alive
        self.patience = patience
        self.ending = False
        self.tasks: TaskGroup | None = None
        """Where requests may start tasks: during the lifespan, in asyncio; else they have groups of their own."""
        self.deadlines: Deadlines[Exchange] = Deadlines()
        listing = server.methods.get(LIST_TOOLS)
        self.lists_tools = listing is not None and server.implements(listing)
        self._path = path
        self._access = Access(hosts, origins)
        self._authentication = authentication
        self._notifier = notifier
        server.hubs.add(self.session.hub)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """The ASGI interface."""
        if scope["type"] == "http":
            await self._serve(scope, receive, send)
        elif scope["type"] == "lifespan":
            await self._live(receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1000})

    @asynccontextmanager
    async def lifespan(self) -> AsyncGenerator[None, None]:
        """What an application into which this one is mounted should enter for as long as it lives."""
        async with anyio.create_task_group() as tasks:
            if _loop() is not None:
                self.tasks = tasks
            tasks.start_soon(self.deadlines.run)
            if self._notifier is not None:
                tasks.start_soon(Bridge(self.session.server, self._notifier, self.session.hub).run)
            try:
                with _told_to_stop(self.end):
                    yield
            finally:
                self.end()
                self.tasks = None
                tasks.cancel_scope.cancel()

    def end(self) -> None:
        """End all subscriptions the proper way, and accept no more. Everything else goes on."""
        self.ending = True
        self.session.hub.end()

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = read_headers(scope["headers"])
        values, repeated = headers.values, headers.repeated
        if headers.size > HEADER_LIMIT:
            await refuse(send, 431, "The request's headers are longer than the limit of this server")
            return
        if b"host" in repeated or not self._access.host_allowed(values.get(b"host")):
            await refuse(send, 403, "This host is not allowed")
            return
        if self._authentication is not None:
            other = self._authentication.application(scope["path"])
            if other is not None:
                await other(scope, receive, send)
                return
        if b"origin" in repeated or not self._access.origin_allowed(values.get(b"origin")):
            await refuse(send, 403, "This origin is not allowed")
        elif self._path is not None and scope["path"].rstrip("/") != self._path.rstrip("/"):
            await refuse(send, 404, "There is nothing here")
        elif scope["method"] != "POST":
            await answer(send, 405, b"", (b"allow", b"POST"))
        elif b"content-type" in repeated or not is_json(values.get(b"content-type")):
            await refuse(send, 415, "The request's content must be application/json")
        elif not accepts_both(values.get(b"accept")):
            await refuse(send, 406, "The client must accept application/json and text/event-stream")
        else:
            await self._admit(scope, headers, receive, send)

    async def _admit(self, scope: Scope, headers: HeaderTable, receive: Receive, send: Send) -> None:
        try:
            if self._authentication is not None:
                principal = await self._authentication.principal(scope, headers)
            else:
                principal = _user(scope)
        except Refused as refusal:
            challenge = (b"www-authenticate", refusal.challenge.encode("latin-1"))
            await refuse(send, refusal.status, refusal.reason, challenge)
            return
        await Exchange(self, headers, principal, receive, send).run()

    async def _live(self, receive: Receive, send: Send) -> None:
        await receive()
        async with self.lifespan():
            await send({"type": "lifespan.startup.complete"})
            await receive()
        await send({"type": "lifespan.shutdown.complete"})


def _user(scope: Scope) -> str | None:
    """Whom an authentication middleware around us has found, in the way that Starlette's do."""
    user = scope.get("user")
    if user is None or not getattr(user, "is_authenticated", False):
        return None
    try:
        return str(user.identity)
    except (AttributeError, NotImplementedError):
        return str(user.display_name)


@contextmanager
def _told_to_stop(stop: Callable[[], None]) -> Generator[None, None, None]:
    """Call `stop` when the process is told to end, before the web server's own handler does what it does.

    Web servers first wait for all responses to end, and send the lifespan event that would tell us only then: without
    this, subscriptions would keep a server from ending.
    """
    if threading.current_thread() is not threading.main_thread() or (loop := _loop()) is None:
        yield
        return
    previous: dict[int, Callable[[int, FrameType | None], Any]] = {}

    def handle(number: int, frame: FrameType | None) -> None:
        loop.call_soon_threadsafe(stop)
        previous[number](number, frame)

    for number in (signal.SIGINT, signal.SIGTERM):
        handler = signal.getsignal(number)
        if callable(handler):
            previous[number] = handler
            signal.signal(number, handle)
    try:
        yield
    finally:
        for key, handler in previous.items():
            if signal.getsignal(key) is handle:
                signal.signal(key, handler)


def _loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:  # another kind of event loop
        return None
