"""Being a client over a pair of byte streams: one message per line, answers in any order."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from math import inf
from time import monotonic

import anyio

from . import messages
from .deadlines import Deadlines
from .failures import (
    ConnectionClosed,
    InvalidMessage,
    McpError,
    MessageTooLarge,
    RequestTimeout,
    StreamEnded,
)
from .frames import Frame, FrameError
from .lines import LineSplitter, TooLong
from .meta import PROGRESS_TOKEN
from .outbox import Outbox
from .peer import OnNotification, Opening, Payload, as_object
from .pipes import ByteReader, ByteWriter
from .plain import an_object
from .routing import CANCELLED, address_of, id_in_head
from .subscriptions import LISTEN

log = logging.getLogger("mcp.client")


class _Waiting:
    """A request without an answer yet."""

    __slots__ = ("answered", "deadline", "failure", "method", "on_notification", "payload", "token")

    def __init__(self, method: str, deadline: float, on_notification: OnNotification | None) -> None:
        self.method = method
        self.deadline = deadline
        self.on_notification = on_notification
        self.answered = anyio.Event()
        self.payload: Payload | None = None
        self.failure: Exception | None = None
        self.token: str | int | None = None

    def succeed(self, payload: Payload) -> None:
        self.payload = payload
        self.answered.set()

    def fail(self, failure: Exception) -> None:
        self.failure = failure
        self.answered.set()

    def expire(self) -> None:
        self.fail(RequestTimeout(f"{self.method} was not answered in time"))


class StreamPeer:
    """The server at the other end of two byte streams."""

    def __init__(self, opening: Opening, reader: ByteReader, writer: ByteWriter, message_limit: int) -> None:
        self._opening = opening
        self._reader = reader
        self._lines = LineSplitter(message_limit)
        self._limit = message_limit
        self._outbox = Outbox(writer)
        self._deadlines: Deadlines[_Waiting] = Deadlines()
        self._waiting: dict[str | int, _Waiting] = {}
        self._tokens: dict[str | int, _Waiting] = {}
        self._last_id = 0
        self._closed: str | None = None

    async def request(
        self,
        method: str,
        params: Payload,
        *,
        timeout: float | None = None,
        on_notification: OnNotification | None = None,
    ) -> Payload:
        """Send a request and wait for its result: see Peer."""
        waiting = _Waiting(method, inf if timeout is None else monotonic() + timeout, on_notification)
        if self._outbox.full:
            await self._outbox.room()
        if self._closed is not None:
            raise ConnectionClosed(self._closed)
        self._last_id += 1
        id = self._last_id
        self._outbox.put(messages.request(id, method, params))
        self._waiting[id] = waiting
        if on_notification is not None:
            self._note_token(waiting, params)
        if timeout is not None:
            self._deadlines.add(waiting)
        # Alone, a request leaves at once. Among others, it waits for those that are ready to be sent, too.
        if len(self._waiting) == 1:
            self._outbox.flush()
        else:
            self._outbox.nudge()
        try:
            await waiting.answered.wait()
        finally:
            if self._take(id) is not None and self._closed is None:
                self._send_cancelled(id)
            if timeout is not None:
                self._deadlines.discard(waiting)
        if waiting.failure is not None:
            raise waiting.failure
        assert waiting.payload is not None
        return waiting.payload

    async def notify(self, method: str, params: Payload | None = None) -> None:
        """Send a notification."""
        await self._outbox.room()
        if self._closed is not None:
            raise ConnectionClosed(self._closed)
        self._outbox.put(messages.notification(method, params))
        self._outbox.nudge()

    # --- the tasks of the connection ---------------------------------------------------------------------------------

    async def run(self, explain: Callable[[], Awaitable[str]]) -> None:
        """Keep the connection going until the server closes its end; `explain` then says why it did."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._deadlines.run)
            tasks.start_soon(self._write)
            try:
                while chunk := await self._reader.read():
                    for line in self._lines.feed(chunk):
                        self._receive(line)
                for line in self._lines.end():
                    self._receive(line)
                self.close(await explain())
            finally:
                self.close("the connection was closed")
                tasks.cancel_scope.cancel()

    async def flush(self) -> None:
        """Wait until everything is written."""
        await self._outbox.finish()

    def close(self, reason: str) -> None:
        """Take no more requests; those in flight fail."""
        if self._closed is None:
            self._closed = reason
            self._outbox.close()
            for id in tuple(self._waiting):
                if (waiting := self._take(id)) is not None:
                    waiting.fail(ConnectionClosed(reason))

    async def _write(self) -> None:
        await self._outbox.run()
        self.close("the server takes no more messages")

    def _send_cancelled(self, id: int) -> None:
        self._outbox.put(messages.notification(CANCELLED, {"requestId": id}))
        self._outbox.nudge()

    def _note_token(self, waiting: _Waiting, params: Payload) -> None:
        meta = an_object(as_object(params).get("_meta")) or {}
        token: object = meta.get(PROGRESS_TOKEN)
        if isinstance(token, (str, int)):
            waiting.token = token
            self._tokens[token] = waiting

    def _take(self, id: str | int | None) -> _Waiting | None:
        """Whoever waits for this answer waits no more."""
        waiting = None if id is None else self._waiting.pop(id, None)
        if waiting is not None and waiting.token is not None and self._tokens.get(waiting.token) is waiting:
            del self._tokens[waiting.token]
        return waiting

    # --- receiving ---------------------------------------------------------------------------------------------------

    def _receive(self, line: bytes | TooLong) -> None:
        if isinstance(line, TooLong):
            self._too_long(line)
            return
        try:
            frame = self._opening.frame(line)
        except FrameError as error:
            waiting = self._take(error.id)
            if waiting is not None:
                waiting.fail(InvalidMessage(f"the answer to {waiting.method} is malformed: {error}"))
            else:
                log.warning("Ignored a line that is no message: %s (%r)", error, line[:200])
            return
        except Exception:  # no message may end the connection
            log.exception("A message could not be read")
            return
        if frame.kind == "result" or frame.kind == "error":
            self._answer(frame)
        elif frame.kind == "notification":
            self._notification(frame.method or "", frame.payload if frame.payload is not None else {})
        else:
            log.warning("Ignored a %s request: servers ask through results", frame.method)

    def _answer(self, frame: Frame) -> None:
        waiting = self._take(frame.id)
        if waiting is not None and frame.kind == "result":
            waiting.succeed(frame.payload)
            return
        if frame.kind == "result":
            log.debug("Ignored an answer that nobody waits for")
            return
        try:
            failure: Exception = McpError.from_wire(as_object(frame.payload))
        except InvalidMessage as error:
            failure = error
        if waiting is not None:
            waiting.fail(failure)
        else:
            log.warning("The server reports: %s", failure)

    def _notification(self, method: str, payload: Payload) -> None:
        try:
            address = address_of(method, as_object(payload))
        except InvalidMessage as error:
            log.warning("Ignored a %s: %s", method, error)
            return
        waiting = None
        if address is not None:
            by, key = address
            waiting = (self._waiting if by == "id" else self._tokens).get(key)
        if method == CANCELLED:
            if waiting is not None and address is not None and waiting.method == LISTEN:
                self._take(address[1])
                waiting.fail(StreamEnded("the server ended the subscription"))
        elif waiting is not None and waiting.on_notification is not None:
            waiting.on_notification(method, payload)
        elif address is None:
            self._opening.on_notification(method, payload)

    def _too_long(self, line: TooLong) -> None:
        failure = MessageTooLarge(f"the server sent a message of more than {self._limit} bytes")
        waiting = self._take(id_in_head(line.head))
        if waiting is not None:
            waiting.fail(failure)
            return
        # Whose answer it was cannot be told any more, and whoever waits for it would wait in vain.
        for id in tuple(self._waiting):
            if (waiting := self._take(id)) is not None:
                waiting.fail(MessageTooLarge(str(failure)))
