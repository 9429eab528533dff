"""The server's side of a conversation: from a request to its answer, whatever the transport."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Awaitable, Callable, Mapping
from types import CoroutineType
from typing import Any

from . import capabilities
from .context import Request, RequestContext
from .errors import DecodeError
from .failures import InvalidMessage, McpError, internal_error, invalid_params, method_not_found
from .isolation import isolated
from .meta import SERVER_INFO, check_version, version_of, with_meta
from .peer import Payload, as_object, to_json
from .plain import an_object
from .server_base import ServerBase
from .specs import MethodSpec
from .subscriptions import ACKNOWLEDGED, Hub, Subscription, honoured
from .surface import overrides, require_stateless

log = logging.getLogger("mcp.server")


class Route:
    """Where requests for one method go."""

    __slots__ = ("gate", "handler", "has_meta", "params", "results", "single", "untyped")

    def __init__(
        self, spec: MethodSpec, handler: Callable[[Any, Any], Any], params: Any, results: tuple[Any, ...]
    ) -> None:
        self.handler = handler
        self.params = params
        self.results = results
        self.untyped = None in (spec.result, *spec.alternatives.values())
        # What an extension brings along need not be made like the revision's own messages.
        self.single = results[0] if isinstance(spec.result, str) else None
        self.has_meta = isinstance(spec.params, str)
        self.gate = spec.capability


class ServerSession:
    """Answers the requests of one connection (or of one HTTP endpoint) with a server's handlers.

    Checks come in the order that the protocol wants: metadata, version, method, params. Messages are usually in order,
    so they are decoded first, and looked at more closely only if that fails.
    """

    def __init__(self, server: ServerBase) -> None:
        require_stateless(server.surface)
        self.server = server
        self.hub = Hub()
        self._surface = server.surface
        self._routes: dict[str, Route | None] = {}
        # A capabilities method that was overridden may give other answers at other times.
        self._advertised = None if overrides(server, "capabilities") else server.advertised()
        info: Any = server.surface.encode(server.info, as_json=False)
        self._identity = {SERVER_INFO: info} if server.identify != "never" else None
        self._identity_json = b',"_meta":%b}' % to_json(self._identity)

    def __enter__(self) -> ServerSession:
        self.server.hubs.add(self.hub)
        return self

    def __exit__(self, *args: object) -> None:
        self.server.hubs.discard(self.hub)
        self.hub.end()

    def is_request(self, method: str) -> bool | None:
        """Whether a method is a request or a notification of clients; None if it is unknown."""
        spec = self.server.methods.get(method)
        return None if spec is None or spec.sender == "server" else spec.kind == "request"

    def hears(self, method: str) -> bool:
        """Whether the server has a handler of its own for a notification."""
        spec = self.server.methods.get(method)
        if spec is None or not spec.is_notification_of("client"):
            return False
        return overrides(self.server, f"on_{spec.name}")

    async def respond(self, request: Request, on_suspend: Callable[[], None] | None = None) -> Payload:
        """The result of a request. Raises McpError for the error that answers it, and nothing else."""
        context = None
        try:
            route, params, context = self._admit(request)
            outcome = route.handler(params, context)
            if outcome.__class__ is CoroutineType:
                outcome = await isolated(outcome, on_suspend)
            elif inspect.isawaitable(outcome):
                outcome = await isolated(_awaited(outcome), on_suspend)
            return self._encode(route, outcome, request)
        except McpError:
            raise
        except Exception:
            log.exception("The handler of %s failed", request.method)
            raise internal_error() from None
        finally:
            if context is not None:
                context.finish()

    async def notified(
        self, method: str, payload: Payload | None, on_suspend: Callable[[], None] | None = None
    ) -> None:
        """Take a notification that is not the transport's own business. Whatever goes wrong is logged only."""
        spec = self.server.methods.get(method)
        if spec is None or not self.hears(method):
            return
        try:
            outcome = getattr(self.server, f"on_{spec.name}")(
                self._surface.decode(self._surface.resolve(spec.params), payload or {})
            )
            if inspect.iscoroutine(outcome):
                await isolated(outcome, on_suspend)
        except Exception:
            log.exception("The handler of %s failed", method)

    # --- admission ---------------------------------------------------------------------------------------------------

    def _admit(self, request: Request) -> tuple[Route, Any, RequestContext]:
        surface = self._surface
        try:
            route = self._routes[request.method]
        except KeyError:
            route = self._route(request.method)
        payload = request.payload
        if route is None or payload is None:
            return self._admit_unknown(request)
        try:
            params = surface.decode(route.params, payload)
        except DecodeError as error:
            self._examine(request)
            raise invalid_params(str(error)) from None
        if route.has_meta:
            meta = surface.params_meta(params)
            check_version(surface.params_version(params), self.server.versions)
        else:
            meta = self._examine(request)["_meta"]
        if route.gate is not None and not capabilities.has(self._capabilities(), route.gate):
            raise method_not_found(request.method)
        return route, params, self.server.context(self, request, meta)

    def _admit_unknown(self, request: Request) -> tuple[Route, Any, RequestContext]:
        """Metadata and version come before the question whether there is such a method."""
        params = self._examine(request)
        if request.method in self.server.methods or request.payload is None:
            raise method_not_found(request.method)
        spec = MethodSpec(request.method, "fallback", "request", "client")
        payload, server = request.payload, self.server

        def handler(_: Any, context: RequestContext) -> Any:
            return server.fallback(request.method, payload, context)

        return Route(spec, handler, None, ()), None, server.context(self, request, params["_meta"])

    def _examine(self, request: Request) -> dict[str, Any]:
        """The params in plain values, after the checks of their metadata and version."""
        try:
            params = as_object(request.payload) if request.payload is not None else {}
        except InvalidMessage as error:
            raise invalid_params(str(error)) from None
        check_version(version_of(params), self.server.versions)
        return params

    def _route(self, method: str) -> Route | None:
        spec = self.server.methods.get(method)
        route: Route | None = None
        if spec is not None and spec.is_request_of("client") and self.server.serves(spec):
            handler = getattr(self.server, spec.name)
            resolve = self._surface.resolve
            results = [spec.result, *spec.alternatives.values()]
            route = Route(spec, handler, resolve(spec.params), tuple(resolve(r) for r in results if r is not None))
        if spec is not None:  # names that clients make up must not pile up here
            self._routes[method] = route
        return route

    def _capabilities(self) -> dict[str, Any]:
        return self.server.advertised() if self._advertised is None else self._advertised

    # --- results -----------------------------------------------------------------------------------------------------

    def _encode(self, route: Route, value: Any, request: Request) -> Payload:
        surface = self._surface
        plain = value.__class__ is route.single
        if not plain and not self._fits(route, value):
            log.error("The handler of %s returned a %s", request.method, type(value).__name__)
            raise internal_error()
        payload = surface.encode(value, as_json=request.as_json)
        identity = self._identity
        if identity is None or (self.server.identify == "discover" and request.method != "server/discover"):
            return payload
        if plain and not isinstance(payload, dict) and surface.result_meta(value) is None:
            return payload[:-1] + self._identity_json
        return _identified(as_object(payload), identity)

    def _fits(self, route: Route, value: Any) -> bool:
        if not route.results or (route.untyped and isinstance(value, (dict, bytes))):
            return True
        return any(self._surface.codec.matches(type, value) for type in route.results)

    # --- subscriptions -----------------------------------------------------------------------------------------------

    async def stream(self, context: RequestContext) -> Any:
        """Serve a subscription for as long as it lasts, and return its result."""
        wanted: Any = context.params.get("notifications")
        filter = honoured(wanted, self.server.methods, self._capabilities())
        subscription = Subscription(context.request_id, filter)
        self.hub.add(subscription)
        try:
            await context.notify(ACKNOWLEDGED, subscription.tagged({"notifications": filter}))
            async for method, event in subscription:
                await context.notify(method, event)
        finally:
            self.hub.discard(subscription)
        result = subscription.tagged({"resultType": "complete"})
        return self._surface.codec.decode(self._surface.resolve("SubscriptionsListenResult"), result)


async def _awaited(awaitable: Awaitable[Any]) -> Any:
    return await awaitable


def _identified(result: dict[str, Any], identity: Mapping[str, Any]) -> dict[str, Any]:
    return result if SERVER_INFO in (an_object(result.get("_meta")) or {}) else with_meta(result, identity)
