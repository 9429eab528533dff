"""The client's side of a conversation: what every generated client is built on, whatever the transport."""

from __future__ import annotations

import inspect
import logging
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from math import inf
from types import TracebackType
from typing import Any, ClassVar, Final, Self

import anyio
from anyio.abc import TaskGroup

from . import capabilities, rounds
from .caching import ResultCache
from .errors import DecodeError
from .events import EventStream
from .failures import (
    UNSUPPORTED_VERSION,
    ConnectionClosed,
    InputRefused,
    InvalidMessage,
    McpError,
    RequestTimeout,
    TooManyRounds,
)
from .meta import CLIENT_CAPABILITIES, CLIENT_INFO, LOG_LEVEL, PROGRESS_TOKEN, VERSION, retry_version, with_meta
from .peer import OnNotification, Opening, Payload, Peer, Transport, as_object
from .routing import PROGRESS
from .specs import MethodSpec, MethodTable
from .subscriptions import LISTEN
from .surface import Surface, overrides, require_stateless

log = logging.getLogger("mcp.client")

TIMEOUT: Final = 60.0
"""How many seconds a request may take, unless said otherwise."""
INBOX_LIMIT: Final = 1000
"""How many notifications may wait for their handlers; beyond that, the oldest are dropped."""


@dataclass(frozen=True, slots=True)
class Timeout:
    """A request's time limit in detail."""

    seconds: float
    """How long to wait for the answer or, if it is reset by progress, for a sign of life."""
    reset_by_progress: bool = False
    at_most: float = inf
    """How long to wait in all."""


class HandlersBase:
    """What every generated class of client handlers is built on."""

    surface: ClassVar[Surface]

    def implements(self, name: str) -> bool:
        """Whether there is a handler of that name, other than the generated default."""
        return overrides(self, name)


class ClientSession:
    """Sends requests to one server. The proxies are methods of generated subclasses."""

    surface: ClassVar[Surface]

    def __init__(
        self,
        server: Peer | Transport,
        *,
        info: Any,
        handlers: HandlersBase | None = None,
        timeout: float | None = TIMEOUT,
        log_level: str | None = None,
        trace: Callable[[], Mapping[str, str]] | None = None,
        cache: ResultCache | None = None,
        cache_owner: object = None,
        max_rounds: int = rounds.MAX_ROUNDS,
        extensions: Mapping[str, Mapping[str, Any]] | None = None,
        methods: MethodTable | None = None,
        versions: Sequence[str] = (),
    ) -> None:
        require_stateless(self.surface)
        self._server = server
        self._handlers = handlers
        self._methods: MethodTable = self.surface.methods if methods is None else methods
        self._timeout = timeout
        self._trace = trace
        self._cache = cache
        self._cache_owner = self if cache_owner is None else cache_owner
        self._max_rounds = max_rounds
        self._versions = tuple(versions) or (self.surface.revision,)
        self._capabilities = self._declare(extensions or {})
        self._own_meta: dict[str, Any] = {
            VERSION: self._versions[0],
            CLIENT_INFO: self.surface.encode(info, as_json=False),
            CLIENT_CAPABILITIES: self._capabilities,
        }
        if log_level is not None:
            self._own_meta[LOG_LEVEL] = log_level
        self._typed_meta: dict[Any, Any] = {}
        self._last_token = 0
        self._as_json = getattr(server, "form", "json") == "json"
        self._peer: Peer | None = server if isinstance(server, Peer) else None
        self._tasks: TaskGroup | None = None
        self._inbox: deque[tuple[Callable[[Any], Any], MethodSpec, Payload]] = deque(maxlen=INBOX_LIMIT)
        self._mail: anyio.Event | None = None
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        async with AsyncExitStack() as stack:
            if not isinstance(self._server, Peer):
                opening = Opening(self.surface.codec.frame, self._notified)
                self._peer = await stack.enter_async_context(self._server.open(opening))
            self._tasks = await stack.enter_async_context(anyio.create_task_group())
            if self._handlers is not None:
                self._tasks.start_soon(self._deliver, self._handlers)
            self._stack = stack.pop_all()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool | None:
        if self._tasks is not None:
            self._tasks.cancel_scope.cancel()
        self._tasks = None
        if not isinstance(self._server, Peer):
            self._peer = None
        return await self._stack.__aexit__(kind, error, traceback)

    async def call(
        self,
        method: str,
        params: Any = None,
        *,
        meta: Mapping[str, Any] | None = None,
        timeout: float | Timeout | None = None,
        on_progress: Callable[[Any], None] | None = None,
    ) -> Any:
        """Send a request by its wire name, for methods that have no proxy.

        `params` may be a message of this style or a dict; `_meta` is completed. The result is typed where the method
        table knows its type, else a dict.
        """
        spec = self._methods.get(method) or MethodSpec(method, method, "request", "client")
        wire: Any = {} if params is None else self.surface.encode(params, as_json=False)
        payload = with_meta(wire, self._wire_meta(meta, on_progress is not None or isinstance(timeout, Timeout)))
        return await self._call(spec, payload, timeout, on_progress)

    async def send(self, method: str, params: Any = None) -> None:
        """Send a notification by its wire name. `params` may be a message of this style or a dict."""
        payload = None if params is None else self.surface.encode(params, as_json=self._as_json)
        await self._connected().notify(method, payload)

    # --- requests ----------------------------------------------------------------------------------------------------

    def _meta(
        self,
        spec: MethodSpec,
        extra: Mapping[str, Any] | None,
        timeout: float | Timeout | None = None,
        on_progress: object = None,
    ) -> Any:
        """The `_meta` of a request's params: the client's own keys, over those of the call and of the trace."""
        watched = on_progress is not None or (isinstance(timeout, Timeout) and timeout.reset_by_progress)
        plain = extra is None and not watched and self._trace is None
        typed = self._typed_meta.get(spec.meta) if plain else None
        if typed is None:
            typed = self.surface.codec.decode(self.surface.resolve(spec.meta), self._wire_meta(extra, watched))
            if plain:
                self._typed_meta[spec.meta] = typed
        return typed

    def _wire_meta(self, extra: Mapping[str, Any] | None, watched: bool) -> dict[str, Any]:
        meta = {**(self._trace() if self._trace else {}), **(extra or {}), **self._own_meta}
        if watched and PROGRESS_TOKEN not in meta:
            self._last_token += 1
            meta[PROGRESS_TOKEN] = self._last_token
        return meta

    async def _call(
        self,
        spec: MethodSpec,
        params: Any,
        timeout: float | Timeout | None = None,
        on_progress: Callable[[Any], None] | None = None,
        *,
        once: bool = False,
    ) -> Any:
        """The typed result of a request, after as many rounds as it takes, or after one if that is asked for."""
        spec = self._methods.get(spec.wire, spec)  # an extension may know more about it than the proxy
        payload = self.surface.encode(params, as_json=self._as_json)
        if self._cache is not None and spec.cacheable:
            cached = self._cache.get(self._cache_owner, spec.wire, as_object(payload))
            if cached is not None:
                return cached
        on_notification = None if on_progress is None else self._progress_to(on_progress)
        reply = await self._ask(spec, payload, timeout, on_notification)
        result, wire = self._read(spec, reply, once=once)
        if wire is not None and result is None:
            return await self._drive(spec, as_object(payload), wire, timeout, on_notification)
        if self._cache is not None and spec.cacheable:
            self._remember(spec, as_object(payload), as_object(reply) if wire is None else wire, result)
        return result

    async def _ask(
        self,
        spec: MethodSpec,
        payload: Payload,
        timeout: float | Timeout | None,
        on_notification: OnNotification | None,
    ) -> Payload:
        """Send a request; once more if the server wants another version that this client has, too."""
        try:
            return await self._send(spec.wire, payload, timeout, on_notification)
        except McpError as error:
            version = retry_version(error, self._versions) if error.code == UNSUPPORTED_VERSION else None
            if version is None:
                raise
        self._own_meta[VERSION] = version
        self._typed_meta.clear()
        payload = self.surface.encode(with_meta(as_object(payload), {VERSION: version}), as_json=self._as_json)
        return await self._send(spec.wire, payload, timeout, on_notification)

    async def _send(
        self,
        method: str,
        payload: Payload,
        timeout: float | Timeout | None,
        on_notification: OnNotification | None,
    ) -> Payload:
        peer = self._connected()
        if timeout is None:
            timeout = self._timeout
        if not isinstance(timeout, Timeout):
            if timeout == inf:
                timeout = None
            return await peer.request(method, payload, timeout=timeout, on_notification=on_notification)
        limit, seconds = anyio.current_time() + timeout.at_most, timeout.seconds
        with anyio.CancelScope(deadline=min(anyio.current_time() + seconds, limit)) as scope:

            def notified(method: str, payload: Payload) -> None:
                if timeout.reset_by_progress and method == PROGRESS:
                    scope.deadline = min(anyio.current_time() + seconds, limit)
                if on_notification is not None:
                    on_notification(method, payload)

            return await peer.request(method, payload, on_notification=notified)
        raise RequestTimeout(f"{method} was not answered in time")

    def _connected(self) -> Peer:
        if self._peer is None:
            raise ConnectionClosed("the client is not connected: use it in `async with`")
        return self._peer

    # --- results -----------------------------------------------------------------------------------------------------

    def _read(self, spec: MethodSpec, reply: Payload, *, once: bool = False) -> tuple[Any, dict[str, Any] | None]:
        """The typed result, and its wire form if that was needed to understand it.

        A result that requires input is left on the wire, unless `once` says that it is for others to deal with.
        """
        surface = self.surface
        if isinstance(spec.result, str):
            try:
                result = surface.decode(surface.resolve(spec.result), reply)
                if surface.result_type(result) == "complete":
                    return result, None
            except DecodeError:
                pass  # something that the protocol asks to put up with, or wrong: see below
        wire = _repaired(as_object(reply), spec)
        kind: object = wire.setdefault("resultType", "complete")
        if kind == "complete":
            expected = spec.result
        elif kind == "input_required" and spec.multi_round and not once:
            return None, wire
        elif isinstance(kind, str) and kind in spec.alternatives:
            expected = spec.alternatives[kind]
        else:
            raise InvalidMessage(f"the result of {spec.wire} is of an unknown type: {kind!r}")
        try:
            return surface.decode(surface.resolve(expected), wire), wire
        except DecodeError as error:
            raise InvalidMessage(f"the result of {spec.wire} is not valid: {error}") from error

    def _remember(self, spec: MethodSpec, params: dict[str, Any], wire: dict[str, Any], result: Any) -> None:
        if self._cache is None or "inputResponses" in params or "requestState" in params:
            return
        if wire.get("resultType", "complete") == "complete":
            self._cache.put(self._cache_owner, spec.wire, params, wire, result)

    # --- rounds ------------------------------------------------------------------------------------------------------

    async def _drive(
        self,
        spec: MethodSpec,
        params: dict[str, Any],
        wire: dict[str, Any],
        timeout: float | Timeout | None,
        on_notification: OnNotification | None,
    ) -> Any:
        """Give the server the input it asks for, until it gives us the result."""
        for count in range(self._max_rounds):
            asked = rounds.asked(wire)
            answers = {key: await self._input(method, asked_params) for key, (method, asked_params) in asked.items()}
            if not asked:
                await anyio.sleep(rounds.pause(count))  # nothing to answer: the server wants time
            following = with_meta(rounds.next_params(params, wire, answers), {VERSION: self._own_meta[VERSION]})
            payload = self.surface.encode(following, as_json=self._as_json)
            result, another = self._read(spec, await self._ask(spec, payload, timeout, on_notification))
            if another is None or result is not None:
                return result
            wire = another
        raise TooManyRounds(f"{spec.wire} was not answered within {self._max_rounds} rounds of input")

    async def _input(self, method: str, params: dict[str, Any]) -> Any:
        spec = self._methods.get(method)
        handlers = self._handlers
        if spec is None or spec.role != "embedded" or handlers is None or not handlers.implements(spec.name):
            raise InputRefused(f"the server asks for {method}, which this client does not offer")
        for path in capabilities.needed_for(method, params):
            if not capabilities.has(self._capabilities, path):
                raise InputRefused(f"the server asks for {path}, which this client did not declare")
        try:
            typed = self.surface.decode(self.surface.resolve(spec.params), params)
        except DecodeError as error:
            raise InvalidMessage(f"the server asks for input that is not valid: {error}") from error
        answer = getattr(handlers, spec.name)(typed)
        if inspect.isawaitable(answer):
            answer = await answer
        if not self.surface.codec.matches(self.surface.resolve(spec.result), answer):
            raise InputRefused(f"the handler of {method} returned a {type(answer).__name__}")
        return self.surface.encode(answer, as_json=False)

    def _declare(self, extensions: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
        """The capabilities that the handlers make true."""
        declared: dict[str, Any] = {}
        handlers = self._handlers
        if handlers is not None:
            offered = (s for s in self._methods.values() if s.role == "embedded" and handlers.implements(s.name))
            declared = capabilities.from_paths(spec.capability for spec in offered if spec.capability)
            capabilities.switch_on(declared, handlers, self.surface.client_switches)
        if extensions:
            declared["extensions"] = {name: dict(settings) for name, settings in extensions.items()}
        return declared

    # --- notifications -----------------------------------------------------------------------------------------------

    def _progress_to(self, on_progress: Callable[[Any], None]) -> OnNotification:
        spec = self._methods[PROGRESS]

        def notified(method: str, payload: Payload) -> None:
            if method == PROGRESS:
                try:
                    on_progress(self.surface.decode(self.surface.resolve(spec.params), payload))
                except DecodeError as error:
                    log.warning("Ignored a notification: %s", error)
                except Exception:
                    log.exception("The progress handler failed")
            self._notified(method, payload)

        return notified

    def _notified(self, method: str, payload: Payload) -> None:
        """Take note of any notification, and queue it for its handler if there is one."""
        if self._cache is not None:
            self._cache.notice(method, as_object(payload))
        spec = self._methods.get(method)
        if spec is None or spec.kind != "notification" or self._handlers is None:
            return
        name = f"on_{spec.name}"
        if self._handlers.implements(name):
            self._inbox.append((getattr(self._handlers, name), spec, payload))
            if self._mail is not None:
                self._mail.set()

    async def _deliver(self, handlers: HandlersBase) -> None:
        """Call notification handlers, one after the other."""
        while True:
            while self._inbox:
                handler, spec, payload = self._inbox.popleft()
                try:
                    outcome = handler(self.surface.decode(self.surface.resolve(spec.params), payload))
                    if inspect.isawaitable(outcome):
                        await outcome
                except DecodeError as error:
                    log.warning("Ignored a notification: %s", error)
                except Exception:
                    log.exception("The handler of %s failed", spec.wire)
            self._mail = anyio.Event()
            await self._mail.wait()

    def subscribe(
        self, filter: Mapping[str, Any], *, meta: Mapping[str, Any] | None = None, timeout: float | None = None
    ) -> EventStream[Any, Any]:
        """Listen for what a filter on the wire asks for, members of extensions included."""
        params = with_meta({"notifications": dict(filter)}, self._wire_meta(meta, False))
        return self._listen(self._methods[LISTEN], params, timeout, typed=False)

    def _listen(
        self, spec: MethodSpec, params: Any, timeout: float | None = None, *, typed: bool = True
    ) -> EventStream[Any, Any]:
        """The stream of a subscription."""

        async def source(take: OnNotification) -> None:
            def notified(method: str, payload: Payload) -> None:
                take(method, payload)
                self._notified(method, payload)

            payload = self.surface.encode(params, as_json=self._as_json)
            await self._ask(spec, payload, inf, notified)

        def tasks() -> TaskGroup:
            if self._tasks is None:
                raise ConnectionClosed("the client is not connected: use it in `async with`")
            return self._tasks

        def event(method: str, payload: Payload) -> Any:
            known = self._methods.get(method)
            if known is None or known.message is None:
                return method, payload
            message = {"jsonrpc": "2.0", "method": method, "params": as_object(payload)}
            try:
                return self.surface.decode(self.surface.resolve(known.message), message)
            except DecodeError as error:
                raise InvalidMessage(f"the server sent a notification that is not valid: {error}") from error

        def filter(acknowledged: Any) -> Any:
            return (
                self.surface.decode(self.surface.resolve("SubscriptionFilter"), acknowledged) if typed else acknowledged
            )

        return EventStream(
            source, tasks, event=event, filter=filter, timeout=self._timeout if timeout is None else timeout
        )


def _repaired(result: dict[str, Any], spec: MethodSpec) -> dict[str, Any]:
    """A result with what the protocol tells a receiver to assume or to overlook."""
    repaired = {**spec.assumed, **result}
    ttl: object = repaired.get("ttlMs")
    if isinstance(ttl, (int, float)) and ttl < 0:
        repaired["ttlMs"] = 0
    if spec.paginated and repaired.get("nextCursor", "") is None:
        del repaired["nextCursor"]
    return repaired
