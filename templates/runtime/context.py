"""What a handler knows about the request it serves, and can do for it besides answering."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

import anyio

from . import capabilities
from .meta import CLIENT_CAPABILITIES, LOG_LEVEL, PROGRESS_TOKEN, VERSION
from .peer import Payload, as_object
from .plain import an_object

if TYPE_CHECKING:
    from .server_session import ServerSession


class Outlet(Protocol):
    """Where the notifications of a request go."""

    def send(self, method: str, params: Payload, /) -> None:
        """Send one now; never waits."""
        ...

    async def room(self) -> None:
        """Wait while too much is on its way."""
        ...


class Request:
    """A request as it came in, and what becomes of it."""

    __slots__ = ("as_json", "cancelled", "id", "method", "outlet", "payload", "principal", "scope")

    def __init__(
        self,
        id: str | int,
        method: str,
        payload: Payload | None,
        outlet: Outlet,
        *,
        as_json: bool,
        principal: str | None = None,
    ) -> None:
        self.id = id
        self.method = method
        self.payload = payload
        self.outlet = outlet
        self.as_json = as_json
        self.principal = principal
        self.cancelled = False
        self.scope: anyio.CancelScope | None = None

    def cancel(self) -> None:
        """The client wants no answer any more."""
        self.cancelled = True
        if self.scope is not None:
            self.scope.cancel()


class RequestContext:
    """The request that a handler serves."""

    __slots__ = ("_meta", "_over", "_progress", "_request", "_session")

    def __init__(self, session: ServerSession, request: Request, meta: Any) -> None:
        self._session = session
        self._request = request
        self._meta = meta
        self._over = False
        self._progress: float | None = None

    @property
    def request_id(self) -> str | int:
        """The id of the request."""
        return self._request.id

    @property
    def method(self) -> str:
        """The method asked for."""
        return self._request.method

    @property
    def protocol_version(self) -> str:
        """The protocol version that the request is in."""
        version: str = self._meta[VERSION]
        return version

    @property
    def params(self) -> dict[str, Any]:
        """The params of the request as they came, in plain values."""
        return as_object(self._request.payload or {})

    @property
    def principal(self) -> str | None:
        """On whose behalf the request is made, where the transport has established that."""
        return self._request.principal

    @property
    def cancelled(self) -> bool:
        """Whether the client has cancelled the request. Its handler's task is being cancelled then, too."""
        return self._request.cancelled

    def has(self, capability: str) -> bool:
        """Whether the client declared this capability: `sampling`, `elicitation.url`, `extensions.com.example/x`."""
        return capabilities.has(self._declared(), capability)

    def require(self, *paths: str) -> None:
        """Raise the McpError that tells the client what it lacks, unless it declared all these capabilities."""
        capabilities.require(self._declared(), *paths)

    def seal(self, value: Any) -> str:
        """A signed state that carries a JSON value to the next round of this request, and nowhere else."""
        return self._session.server.signer.seal(value, self.method, self.params, self.principal)

    def unseal(self, state: str | None) -> Any:
        """The value of a state that an earlier round of this request sealed. Raises McpError if it is not one."""
        return self._session.server.signer.open(state, self.method, self.params, self.principal)

    async def notify(self, method: str, params: Payload) -> None:
        """Send a notification that belongs to this request. Does nothing once the request is answered."""
        if self._over or self._request.cancelled:
            return
        self._request.outlet.send(method, params)
        await self._request.outlet.room()

    async def stream_events(self) -> Any:
        """Serve a subscription with what the server publishes, and return its result when the server ends it."""
        return await self._session.stream(self)

    def finish(self) -> None:
        """The request is answered: nothing more may be sent for it."""
        self._over = True

    async def _report(self, progress: float, total: float | None, message: str | None) -> None:
        token = self._meta.get(PROGRESS_TOKEN)
        if token is None or (self._progress is not None and progress <= self._progress):
            return
        self._progress = progress
        params: dict[str, Any] = {"progressToken": token, "progress": progress}
        if total is not None:
            params["total"] = total
        if message is not None:
            params["message"] = message
        await self.notify("notifications/progress", params)

    async def _log(self, level: str, data: Any, logger: str | None) -> None:
        wanted: str | None = self._meta.get(LOG_LEVEL)
        levels = self._session.server.surface.levels
        if level not in levels:
            raise ValueError(f"unknown log level {level!r}")
        if wanted is None or levels.index(level) < levels.index(wanted):
            return
        params: dict[str, Any] = {"level": level, "data": data}
        if logger is not None:
            params["logger"] = logger
        await self.notify("notifications/message", params)

    def _input_required(self, requests: Mapping[str, Any] | None, state: str | None) -> Any:
        """The result that asks for these inputs. What the client cannot answer is left out, unless nothing remains."""
        surface = self._session.server.surface
        declared = self._declared()
        asked: dict[str, Any] = {}
        lacking: dict[str, None] = {}
        for key, request in (requests or {}).items():
            wire = surface.encode(request, as_json=False)
            assert isinstance(wire, dict)
            missing = [
                path
                for path in capabilities.needed_for(wire["method"], wire.get("params") or {})
                if not capabilities.has(declared, path)
            ]
            if missing:
                lacking.update(dict.fromkeys(missing))
            else:
                asked[key] = wire
        if lacking and not asked:
            capabilities.require(declared, *lacking)
        result: dict[str, Any] = {"resultType": "input_required"}
        if asked:
            result["inputRequests"] = asked
        if state is not None:
            result["requestState"] = state
        if len(result) == 1:
            raise ValueError("input_required needs requests, a state or both")
        return surface.codec.decode(surface.resolve("InputRequiredResult"), result)

    def _typed_meta(self) -> Any:
        return self._meta

    def _declared(self) -> dict[str, Any]:
        return an_object(self._session.server.surface.codec.encode(self._meta[CLIENT_CAPABILITIES])) or {}
