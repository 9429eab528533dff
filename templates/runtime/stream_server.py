"""Serving over a pair of byte streams: one message per line, many requests at once."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from math import inf
from time import monotonic
from typing import Any, Final

import anyio
from anyio.abc import TaskGroup

from . import messages
from .context import Request
from .failures import (
    INTERNAL_ERROR,
    INVALID_REQUEST,
    PARSE_ERROR,
    ConnectionClosed,
    InvalidMessage,
    McpError,
    internal_error,
)
from .frames import Frame, FrameError
from .lines import MESSAGE_LIMIT, LineSplitter, TooLong
from .outbox import Outbox
from .peer import Payload, as_object
from .pipes import ByteReader, ByteWriter
from .routing import CANCELLED, id_in_head
from .server_base import ServerBase
from .server_session import ServerSession
from .subscriptions import LISTEN
from .workers import Workers

log = logging.getLogger("mcp.server")

CONCURRENCY: Final = 1000
"""How many requests are served at once, unless said otherwise; as many again wait before reading stops."""
_LATENCY: Final = 0.002
"""How many seconds an answer may wait for others to leave with it, while more requests are being worked on."""
GRACE: Final = 2.0
"""How many seconds requests in flight have when the client has closed its end."""


async def serve_stream(
    server: ServerBase,
    reader: ByteReader,
    writer: ByteWriter,
    *,
    message_limit: int = MESSAGE_LIMIT,
    concurrency: int = CONCURRENCY,
    grace: float = GRACE,
    principal: str | None = None,
) -> None:
    """Serve one client until it closes its end; its requests in flight then have `grace` seconds to be answered."""
    with ServerSession(server) as session:
        async with anyio.create_task_group() as tasks:
            connection = _Connection(session, writer, tasks, concurrency, principal)
            tasks.start_soon(connection.write)
            try:
                await connection.read(reader, LineSplitter(message_limit))
                with anyio.move_on_after(grace):
                    await connection.settle()
            except ConnectionClosed:
                pass
            tasks.cancel_scope.cancel()


class _Notice:
    """A notification that waits for its handler."""

    __slots__ = ("method", "payload", "scope")

    def __init__(self, method: str, payload: Payload | None) -> None:
        self.method = method
        self.payload = payload
        self.scope: anyio.CancelScope | None = None


class _Connection:
    def __init__(
        self, session: ServerSession, writer: ByteWriter, tasks: TaskGroup, concurrency: int, principal: str | None
    ) -> None:
        self._session = session
        self._frame = session.server.surface.codec.frame
        self._outbox = Outbox(writer)
        self._tasks = tasks
        self._limit = concurrency
        self._workers: Workers[Request | _Notice] = Workers(tasks, self._work, limit=concurrency, idle=self._idle)
        self._principal = principal
        self._active: dict[str | int, Request] = {}
        self._settled: anyio.Event | None = None
        self._flushed = 0.0

    # --- reading -----------------------------------------------------------------------------------------------------

    async def read(self, reader: ByteReader, lines: LineSplitter) -> None:
        """Take messages until there are no more."""
        while chunk := await reader.read():
            await self._take(lines.feed(chunk))
        await self._take(lines.end())

    async def _take(self, lines: list[bytes | TooLong]) -> None:
        for line in lines:
            self._receive(line)
        self._workers.wake()
        self._outbox.nudge()
        await self._outbox.room()
        await self._workers.below(self._limit)

    def _receive(self, line: bytes | TooLong) -> None:
        if isinstance(line, TooLong):
            self._refuse(id_in_head(line.head), INVALID_REQUEST, "Message longer than the limit of this server")
            return
        try:
            frame = self._frame(line)
        except FrameError as error:
            # An answer to something that is itself an answer would go back and forth for ever.
            if error.kind is None or error.kind == "request":
                self._refuse(error.id, error.code, f"Invalid message: {error.reason}")
            return
        except Exception:  # no message may end the connection
            log.exception("A message could not be read")
            self._refuse(None, PARSE_ERROR, "Unreadable message")
            return
        if frame.kind == "request" and frame.id is not None and frame.method is not None:
            self._request(frame.id, frame.method, frame.payload)
        elif frame.kind == "notification":
            self._notification(frame)
        else:
            log.debug("Ignored an answer: servers ask nothing")

    def _request(self, id: str | int, method: str, payload: Payload | None) -> None:
        if id in self._active:
            self._refuse(id, INVALID_REQUEST, "A request with this id is in flight")
        elif self._session.is_request(method) is False:
            self._refuse(id, INVALID_REQUEST, f"{method} is a notification: it has no id")
        elif method == LISTEN and len(self._session.hub) >= self._limit:
            self._refuse(id, INTERNAL_ERROR, "Too many subscriptions")
        else:
            request = Request(id, method, payload, self, as_json=True, principal=self._principal)
            self._active[id] = request
            if method == LISTEN:  # lasts too long for a worker
                self._tasks.start_soon(self._listen, request)
            else:
                self._workers.submit(request)

    def _notification(self, frame: Frame) -> None:
        method = frame.method or ""
        if method == CANCELLED:
            self._cancel(frame.payload)
        if self._session.hears(method):
            self._workers.submit(_Notice(method, frame.payload))
        elif method != CANCELLED:
            log.debug("Ignored a notification: %s", method)

    def _cancel(self, payload: Payload | None) -> None:
        try:
            params: Mapping[str, Any] = as_object(payload or {})
        except InvalidMessage:
            return
        id: object = params.get("requestId")
        if not isinstance(id, (str, int)) or isinstance(id, bool):
            return
        request = self._active.pop(id, None)
        if request is not None and not self._workers.withdraw(request):
            request.cancel()

    # --- answering ---------------------------------------------------------------------------------------------------

    async def _work(self, request: Request | _Notice) -> None:
        if isinstance(request, _Notice):
            await self._session.notified(request.method, request.payload, self._suspended)
            return
        try:
            payload = await self._session.respond(request, self._suspended)
        except McpError as failure:
            message = messages.error(request.id, failure)
        except anyio.get_cancelled_exc_class():
            if request.cancelled or anyio.current_effective_deadline() == -inf:
                raise
            # Not ours: the handler waited for a task that someone else has cancelled.
            log.error("The handler of %s was cancelled from elsewhere", request.method)
            message = messages.error(request.id, internal_error())
        else:
            message = messages.result(request.id, payload)
        if request.cancelled or self._outbox.closed:
            return
        del self._active[request.id]
        self._outbox.put(message)
        if self._settled is not None and not self._active:
            self._settled.set()
        if monotonic() - self._flushed > _LATENCY:
            self._flush()
        if self._outbox.full:
            await self._outbox.room()

    async def _listen(self, request: Request) -> None:
        with anyio.CancelScope() as request.scope:
            await self._work(request)
            if not request.cancelled:
                # One page of the specification wants the answer, another this: send both.
                self.send(CANCELLED, {"requestId": request.id})

    def _refuse(self, id: str | int | None, code: int, text: str) -> None:
        self._outbox.put(messages.error(id, McpError(code, text)))

    def _suspended(self) -> None:
        # A job has begun to wait: others must not wait with it, and neither must answers.
        self._workers.wake()
        self._outbox.nudge()

    def _idle(self) -> None:
        # Alone, an answer leaves at once. Among others, it waits for theirs: those that are about to come.
        if self._active:
            self._outbox.nudge()
        else:
            self._flush()

    def _flush(self) -> None:
        self._outbox.flush()
        self._flushed = monotonic()

    # --- the outlet of requests, and the end -------------------------------------------------------------------------

    def send(self, method: str, params: Payload) -> None:
        """Put a notification on its way."""
        if not self._outbox.closed:
            self._outbox.put(messages.notification(method, params))
            self._outbox.nudge()

    async def room(self) -> None:
        """Wait while too much is on its way."""
        await self._outbox.room()

    async def write(self) -> None:
        """Write what there is. When the client stops reading, there is nobody left to serve."""
        await self._outbox.run()
        self._tasks.cancel_scope.cancel()

    async def settle(self) -> None:
        """Wait until what came in is answered and written. Subscriptions end."""
        self._session.hub.end()
        if self._active:
            self._settled = anyio.Event()
            await self._settled.wait()
        await self._outbox.finish()
