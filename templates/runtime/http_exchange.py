"""One HTTP request to a server, from its headers to the last byte of its answer."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from math import inf
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import anyio
from anyio.abc import TaskGroup

from . import messages, sse
from .context import Request
from .failures import (
    INVALID_REQUEST,
    PARSE_ERROR,
    InvalidMessage,
    McpError,
    internal_error,
    unsupported_version,
)
from .frames import Frame, FrameError
from .http_headers import VERSION_HEADER, HeaderTable, InvalidHeader, check_agreement, check_present
from .http_rules import status_of
from .http_tools import CALL_TOOL
from .meta import check_version, version_of
from .peer import Payload, as_object
from .subscriptions import LISTEN

if TYPE_CHECKING:
    from .http_server import HttpServer

log = logging.getLogger("mcp.server")

Scope: TypeAlias = MutableMapping[str, Any]
Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]

_JSON: Final = (b"content-type", b"application/json")
_TEXT: Final = (b"content-type", b"text/plain; charset=utf-8")


async def answer(send: Send, status: int, body: bytes, *headers: tuple[bytes, bytes]) -> None:
    """Send a whole response."""
    length = (b"content-length", b"%d" % len(body))
    await send({"type": "http.response.start", "status": status, "headers": [length, *headers]})
    await send({"type": "http.response.body", "body": body})


async def refuse(send: Send, status: int, reason: str, *headers: tuple[bytes, bytes]) -> None:
    """Send a response that is not about any JSON-RPC message."""
    await answer(send, status, reason.encode(), _TEXT, *headers)


class Exchange:
    """Serves one request. It is also the outlet of that request's notifications.

    The answer is a plain response unless the handler sends a notification first: then it is a stream from there on. So
    the statuses that the protocol asks for are possible for everything that is found out before.

    The client cancels by going away. Watching for that takes a task, which is started when the handler begins to wait
    for something: most do not, or not for long enough to start one twice.
    """

    def __init__(
        self, http: HttpServer, headers: HeaderTable, principal: str | None, receive: Receive, send: Send
    ) -> None:
        self._http = http
        self._headers = headers
        self._principal = principal
        self._receive = receive
        self._send = send
        self.deadline = 0.0
        self._request: Request | None = None
        self._scope: anyio.CancelScope | _TaskScope | None = None
        self._tasks: TaskGroup | None = http.tasks
        self._reading = True
        self._watching = False
        self._quiet: anyio.CancelScope | None = None
        self._events: list[bytes] = []
        self._lock: anyio.Lock | None = None
        self._next_sign = inf
        self._begun = False
        self._gone = False
        self._over = False

    async def run(self) -> None:
        """Serve the request."""
        if self._tasks is not None:
            await self._run_alone()
        else:
            async with anyio.create_task_group() as self._tasks:
                self._scope = self._tasks.cancel_scope
                await self._run()
        if self._reading:
            await refuse(self._send, 408, "The request's body took too long", (b"connection", b"close"))

    async def _run_alone(self) -> None:
        """The same in asyncio, where the web server has made a task for this request: that can be cancelled as it is.
        A scope in it would cost as much as the handler's way there and back."""
        task = asyncio.current_task()
        assert task is not None
        self._scope = scope = _TaskScope(task)
        try:
            await self._run()
        except asyncio.CancelledError:
            if not scope.cancelled or task.uncancel():
                raise  # by someone else, too

    def expire(self) -> None:
        """The body took too long."""
        if self._reading and self._scope is not None:
            self._scope.cancel()

    async def _run(self) -> None:
        body = await self._read_in_time()
        self._reading = False
        try:
            if body is not None:
                await self._serve(body)
        except OSError:
            log.debug("A client did not wait for its answer")
        finally:
            self._over = True
            self._request = None  # it refers to this, and garbage in circles takes long to find
            if self._quiet is not None:
                self._quiet.cancel()

    # --- the body ----------------------------------------------------------------------------------------------------

    async def _read_in_time(self) -> bytes | None:
        http = self._http
        if isinstance(self._scope, anyio.CancelScope):
            self._scope.deadline = anyio.current_time() + http.body_timeout
            body = await self._read()
            self._scope.deadline = inf
            return body
        self.deadline = monotonic() + http.body_timeout
        http.deadlines.add(self)
        try:
            return await self._read()
        finally:
            http.deadlines.discard(self)

    async def _read(self) -> bytes | None:
        """The request's body; None if there is nobody left to serve, or nobody who should be."""
        limit = self._http.body_limit
        declared = self._headers.values.get(b"content-length")
        if declared is not None and declared.isdigit() and (len(declared) > 18 or int(declared) > limit):
            await self._too_large()
            return None
        chunks: list[bytes] = []
        size = 0
        while True:
            message = await self._receive()
            if message["type"] != "http.request":
                return None
            chunk: bytes = message.get("body", b"")
            size += len(chunk)
            if size > limit:
                await self._too_large()
                return None
            if not message.get("more_body", False):
                return chunk if not chunks else b"".join([*chunks, chunk])
            chunks.append(chunk)

    async def _too_large(self) -> None:
        await refuse(self._send, 413, "The request's body is longer than the limit of this server")

    # --- the message -------------------------------------------------------------------------------------------------

    async def _serve(self, body: bytes) -> None:
        session = self._http.session
        try:
            frame = session.server.surface.codec.frame(body)
        except FrameError as error:
            await self._fail(error.id, McpError(error.code, f"Invalid message: {error.reason}"), 400)
            return
        match frame.kind:
            case "request" if frame.id is not None and frame.method is not None:
                if session.is_request(frame.method) is False:
                    await self._invalid(f"{frame.method} is a notification, which has no id", frame.id)
                else:
                    await self._respond(frame.id, frame.method, frame.payload)
            case "notification":
                await self._take(frame)
            case _:
                await self._invalid("servers ask nothing, so there is nothing to answer")

    async def _invalid(self, reason: str, id: str | int | None = None) -> None:
        await self._fail(id, McpError(INVALID_REQUEST, f"Invalid message: {reason}"), 400)

    async def _fail(self, id: str | int | None, failure: McpError, status: int) -> None:
        await answer(self._send, status, messages.error(id, failure), _JSON)

    async def _take(self, frame: Frame) -> None:
        """A notification. None of the core protocol's is for HTTP: what a client wants cancelled, it hangs up on."""
        session, method = self._http.session, frame.method or ""
        try:
            version = self._headers.one(VERSION_HEADER.lower().encode())
        except InvalidHeader as error:
            await self._invalid(f"{VERSION_HEADER} {error}")
            return
        if version is not None and version.decode("latin-1") not in session.server.versions:
            failure = unsupported_version(version.decode("latin-1"), session.server.versions)
            await self._fail(None, failure, 400)
        elif session.is_request(method):
            await self._invalid(f"{method} is a request, which needs an id")
        else:
            if session.hears(method):
                await session.notified(method, frame.payload)
            await answer(self._send, 202, b"")

    async def _respond(self, id: str | int, method: str, payload: Payload | None) -> None:
        try:
            await self._check(method, payload)
        except McpError as failure:
            await self._fail(id, failure, 400)
            return
        if method == LISTEN and self._http.ending:
            await refuse(self._send, 503, "The server is shutting down")
            return
        request = self._request = Request(id, method, payload, self, as_json=True, principal=self._principal)
        status = 200
        try:
            message = messages.result(id, await self._http.session.respond(request, self._watch))
        except McpError as failure:
            message, status = messages.error(id, failure), status_of(failure.code)
        except anyio.get_cancelled_exc_class():
            if request.cancelled or _being_cancelled():
                raise
            # Not ours: the handler waited for a task that someone else has cancelled.
            log.error("The handler of %s was cancelled from elsewhere", method)
            message = messages.error(id, internal_error())
        if request.cancelled:
            return
        self._over = True
        if self._lock is None:
            await answer(self._send, status, message, _JSON)
        else:
            self._events.append(sse.event(message))
            await self._flush(self._lock, more=False)

    async def _check(self, method: str, payload: Payload | None) -> None:
        """The checks that come before the session's own, and those of the session that come before the last of ours."""
        http, headers = self._http, self._headers
        check_present(headers)
        try:
            params: Mapping[str, Any] = as_object(payload) if payload is not None else {}
        except InvalidMessage as error:
            raise McpError(PARSE_ERROR, f"Invalid message: {error}") from None
        version = version_of(params)
        spec = http.session.server.methods.get(method)
        check_agreement(headers, version, method, params, None if spec is None else spec.name_param)
        if method == CALL_TOOL and spec is not None and http.lists_tools:
            check_version(version, http.session.server.versions)
            await http.tools.check(params, headers, self._principal)

    # --- the client's going away -------------------------------------------------------------------------------------

    def _watch(self) -> None:
        if not self._watching and self._tasks is not None:
            self._watching = True
            self._tasks.start_soon(self._attend)

    async def _attend(self) -> None:
        try:
            await self._await_end()
        except Exception:  # whatever it is, it must not end the tasks of others
            log.exception("A client cannot be watched")

    async def _await_end(self) -> None:
        """Wait for the client to go away; on a stream, let it see from time to time that we have not."""
        while not (self._gone or self._over):
            with anyio.CancelScope(deadline=self._next_sign) as self._quiet:
                message = await self._receive()
                if message["type"] == "http.disconnect":
                    if not self._over:
                        self._lose()
                    return
            if self._lock is not None and not self._over and anyio.current_time() >= self._next_sign:
                self._events.append(sse.KEEP_ALIVE)
                await self._flush(self._lock)

    def _lose(self) -> None:
        self._gone = True
        self._events.clear()
        if self._request is not None and self._scope is not None:
            self._request.cancelled = True
            self._scope.cancel()

    # --- the outlet of the request -----------------------------------------------------------------------------------

    def send(self, method: str, params: Payload) -> None:
        """Put a notification on its way."""
        if not self._gone:
            self._events.append(sse.event(messages.notification(method, params)))

    async def room(self) -> None:
        """Write what there is, which takes as long as the client wants it to."""
        if self._lock is None:
            self._lock = anyio.Lock()
            self._watch()
        await self._flush(self._lock)

    async def _flush(self, lock: anyio.Lock, *, more: bool = True) -> None:
        # Shielded, so that a handler that gives up on a notification does not leave half an event behind.
        with anyio.CancelScope(deadline=anyio.current_time() + self._http.patience, shield=True):
            try:
                async with lock:
                    await self._write(more)
                return
            except OSError:
                self._lose()
                return
        log.warning("A client did not read its answer for %g seconds: hanging up", self._http.patience)
        self._lose()

    async def _write(self, more: bool) -> None:
        if self._gone or (more and not self._events) or (more and self._over):
            return
        if not self._begun:
            self._begun = True
            await self._send({"type": "http.response.start", "status": 200, "headers": list(sse.HEADERS)})
        data = b"".join(self._events)
        self._events.clear()
        await self._send({"type": "http.response.body", "body": data, "more_body": more})
        self._next_sign = anyio.current_time() + self._http.keep_alive
        if self._quiet is not None and more:
            self._quiet.deadline = self._next_sign


class _TaskScope:
    """What stands for a cancel scope where a whole asyncio task is to be cancelled."""

    __slots__ = ("_task", "cancelled")

    def __init__(self, task: asyncio.Task[Any]) -> None:
        self._task = task
        self.cancelled = False

    def cancel(self) -> None:
        """Cancel the task; once is enough."""
        if not self.cancelled:
            self.cancelled = True
            self._task.cancel()


def _being_cancelled() -> bool:
    """Whether the task itself is to end, and not just something that it waits for."""
    if anyio.current_effective_deadline() == -inf:
        return True
    try:
        task = asyncio.current_task()
    except RuntimeError:  # another event loop, where there is no other way to be cancelled
        return True
    return task is not None and task.cancelling() > 0
