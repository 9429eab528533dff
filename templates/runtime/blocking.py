"""Clients for code without an event loop: an asynchronous client in a thread of its own."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from types import TracebackType
from typing import Any, Final, Generic, Self, TypeVar

from anyio.from_thread import BlockingPortal, start_blocking_portal

from .client_session import ClientSession, Timeout
from .events import EventStream
from .failures import ConnectionClosed

T = TypeVar("T")
E = TypeVar("E")
F = TypeVar("F")
C = TypeVar("C", bound=ClientSession)


class BlockingClient(Generic[C]):
    """What every generated blocking client is built on."""

    def __init__(self, session: C) -> None:
        self.session: Final = session
        """The asynchronous client that does the work."""
        self._portal: BlockingPortal | None = None
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            portal = stack.enter_context(start_blocking_portal())
            stack.enter_context(portal.wrap_async_context_manager(self.session))
            self._portal = portal
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._portal = None
        self._stack.__exit__(kind, error, traceback)

    def call(
        self,
        method: str,
        params: Any = None,
        *,
        meta: dict[str, Any] | None = None,
        timeout: float | Timeout | None = None,
        on_progress: Callable[[Any], None] | None = None,
    ) -> Any:
        """Send a request by its wire name: see ClientSession."""
        return self._run(lambda: self.session.call(method, params, meta=meta, timeout=timeout, on_progress=on_progress))

    def _run(self, start: Callable[[], Awaitable[T]]) -> T:
        return self._connected().call(start)

    def _stream(self, make: Callable[[], EventStream[E, F]]) -> BlockingStream[E, F]:
        portal = self._connected()
        return BlockingStream(portal, portal.call(make))

    def _connected(self) -> BlockingPortal:
        if self._portal is None:
            raise ConnectionClosed("the client is not connected: use it in `with`")
        return self._portal


class BlockingStream(Generic[E, F]):
    """The events of one subscription: see EventStream."""

    def __init__(self, portal: BlockingPortal, stream: EventStream[E, F]) -> None:
        self._portal = portal
        self._stream = stream

    @property
    def filter(self) -> F:
        """What the server agreed to send: the part of the request that it supports."""
        return self._stream.filter

    def __enter__(self) -> Self:
        self._portal.call(self._stream.__aenter__)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._portal.call(self._stream.__aexit__, kind, error, traceback)

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> E:
        try:
            return self._portal.call(self._stream.__anext__)
        except StopAsyncIteration:
            raise StopIteration from None
