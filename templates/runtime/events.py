"""The client's side of subscriptions: a stream of events."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Any, Generic, Protocol, Self, TypeVar

import anyio
from anyio.abc import TaskGroup

from .failures import InvalidMessage, RequestTimeout, StreamEnded, StreamOverflow
from .peer import OnNotification, Payload, as_object, to_json
from .subscriptions import ACKNOWLEDGED, QUEUE_LIMIT

E_co = TypeVar("E_co", covariant=True)
F_co = TypeVar("F_co", covariant=True)


class Source(Protocol):
    """Sends a subscription's request, and returns or raises when the subscription has ended."""

    def __call__(self, on_notification: OnNotification, /) -> Awaitable[object]: ...


class EventStream(Generic[E_co, F_co]):
    """The events of one subscription, from `async with` on.

    Iteration ends when the server ends the subscription, and raises what the connection failed with otherwise. What
    arrives faster than it is read waits in a bounded queue: an event that equals one that waits is dropped, as it says
    nothing new; more than 1,000 different ones end the subscription with StreamOverflow.
    """

    def __init__(
        self,
        source: Source,
        tasks: Callable[[], TaskGroup],
        *,
        event: Callable[[str, Payload], Any],
        filter: Callable[[Any], Any],
        timeout: float | None,
    ) -> None:
        self._source = source
        self._tasks = tasks
        self._event = event
        self._filter = filter
        self._timeout = timeout
        self._waiting: dict[tuple[str, bytes], tuple[str, Payload]] = {}
        self._changed = anyio.Event()
        self._acknowledged: Any = None
        self._failure: Exception | None = None
        self._ended = False
        self._scope = anyio.CancelScope()

    @property
    def filter(self) -> F_co:
        """What the server agreed to send: the part of the request that it supports."""
        honoured: F_co = self._filter(self._acknowledged)
        return honoured

    async def __aenter__(self) -> Self:
        self._tasks().start_soon(self._run)
        try:
            with anyio.move_on_after(self._timeout):
                while self._acknowledged is None and not self._ended:
                    await self._news()
        except BaseException:
            self._scope.cancel()
            raise
        if self._acknowledged is not None:
            return self
        self._scope.cancel()
        if self._failure is not None:
            raise self._failure
        if self._ended:
            raise InvalidMessage("the subscription ended before it was acknowledged")
        raise RequestTimeout("the subscription was not acknowledged in time")

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._scope.cancel()
        with anyio.CancelScope(shield=True):
            while not self._ended:
                await self._news()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> E_co:
        while not self._waiting:
            if self._failure is not None:
                raise self._failure
            if self._ended:
                raise StopAsyncIteration
            await self._news()
        method, payload = self._waiting.pop(next(iter(self._waiting)))
        event: E_co = self._event(method, payload)
        return event

    async def _run(self) -> None:
        try:
            with self._scope:
                await self._source(self._take)
        except StreamEnded:
            pass
        except Exception as error:
            self._failure = error
        finally:
            self._ended = True
            self._changed.set()

    def _take(self, method: str, payload: Payload) -> None:
        params = as_object(payload)
        if method == ACKNOWLEDGED:
            self._acknowledged = params.get("notifications", {})
        elif self._acknowledged is not None:
            content = {key: value for key, value in params.items() if key != "_meta"}
            self._waiting.setdefault((method, to_json(content)), (method, payload))
            if len(self._waiting) > QUEUE_LIMIT:
                self._waiting.clear()
                self._failure = StreamOverflow("events came faster than they were read")
                self._scope.cancel()
        self._changed.set()

    async def _news(self) -> None:
        if self._changed.is_set():
            self._changed = anyio.Event()
        await self._changed.wait()
