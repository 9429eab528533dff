"""Being a client over HTTP: one POST per request, answered by a response or a stream."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final, Literal

import anyio
import httpx2

from . import messages
from .failures import (
    ConnectionClosed,
    InvalidMessage,
    McpError,
    MessageTooLarge,
    RequestTimeout,
    SessionError,
)
from .frames import Frame, FrameError
from .http_headers import (
    HEADER_MISMATCH,
    METHOD_HEADER,
    NAME_HEADER,
    NAME_PARAMS,
    VERSION_HEADER,
    encode_value,
)
from .http_params import Annotation, InvalidAnnotation, find_annotations, param_headers
from .http_pool import MakeClient, Pool, Pools, default_client
from .http_rules import JSON_TYPE, SSE_TYPE
from .http_tools import CALL_TOOL, LIST_TOOLS
from .meta import PROGRESS_TOKEN, VERSION
from .paging import Pages
from .peer import OnNotification, Opening, Payload, Peer, as_object, to_json
from .plain import an_array, an_object
from .specs import MethodTable
from .subscriptions import LISTEN

log = logging.getLogger("mcp.client")

REDIRECTS: Final = 3
_BOM: Final = b"\xef\xbb\xbf"
_SHOWN: Final = 200

_REPEATABLE: Final = frozenset(
    {
        "completion/complete",
        "prompts/get",
        "prompts/list",
        "resources/list",
        "resources/read",
        "resources/templates/list",
        "server/discover",
        "tools/list",
    }
)
"""Requests that only ask. If their connection fails before any answer, they are sent once more."""


class UnexpectedStatus(SessionError):
    """The server answered with an HTTP status that is no JSON-RPC answer: a proxy's, a login's, another service's."""

    def __init__(self, status: int, body: str = "") -> None:
        super().__init__(status, body)
        self.status = status
        self.body = body

    def __str__(self) -> str:
        return f"the server answered with HTTP status {self.status}" + (f": {self.body}" if self.body else "")


class HttpTransport:
    """Reaches a server at a URL; `http.connect` makes it."""

    form: Literal["json", "object"] = "json"

    def __init__(
        self,
        url: str,
        headers: Mapping[str, str] | None,
        auth: httpx2.Auth | None,
        client: MakeClient | None,
        message_limit: int,
    ) -> None:
        self._url = httpx2.URL(url)
        self._headers = dict(headers or {})
        self._auth = auth
        self._client = client
        self._limit = message_limit

    @asynccontextmanager
    async def open(self, opening: Opening, /) -> AsyncGenerator[Peer, None]:
        """Be ready to send for as long as the context lasts. Connections are opened when they are needed."""
        make = self._client or default_client()
        peer = HttpPeer(opening, self._url, self._headers, self._auth, make, self._limit)
        try:
            yield peer
        finally:
            with anyio.CancelScope(shield=True):
                await peer.close()


class HttpPeer:
    """The server at a URL."""

    def __init__(
        self,
        opening: Opening,
        url: httpx2.URL,
        headers: Mapping[str, str],
        auth: httpx2.Auth | None,
        make: MakeClient,
        message_limit: int,
    ) -> None:
        self._opening = opening
        self._methods: MethodTable = getattr(opening, "methods", {})
        self._url = url
        self._fixed = [*headers.items(), ("Content-Type", JSON_TYPE), ("Accept", f"{JSON_TYPE}, {SSE_TYPE}")]
        self._auth = auth
        self._limit = message_limit
        # Streams that last hold their connections, and must not take them from requests.
        self._requests = Pools(make)
        self._streams = Pools(make, None)
        self._wanted: dict[str, tuple[Annotation, ...]] = {}
        self._scopes: set[anyio.CancelScope] = set()
        self._last_id = 0
        self._closed = False

    async def request(
        self,
        method: str,
        params: Payload,
        *,
        timeout: float | None = None,
        on_notification: OnNotification | None = None,
    ) -> Payload:
        """Send a request and wait for its result: see Peer. Hanging up is what cancels it."""
        notify = on_notification or self._opening.on_notification
        with self._scope(timeout) as scope:
            return await self._ask(method, params, as_object(params), notify)
        raise self._given_up(scope, method)

    async def notify(self, method: str, params: Payload | None = None) -> None:
        """Send a notification."""
        headers = self._headers(method, as_object(params) if params is not None else {})
        content = messages.notification(method, params)
        with self._scope(None) as scope:
            with self._requests.lease() as pool:
                async with self._post(pool, content, headers) as response:
                    if not response.is_success:
                        self._refused(response.status_code, await self._body(response), None)
            return
        raise self._given_up(scope, method)

    async def close(self) -> None:
        """Hang up on everything."""
        self._closed = True
        for scope in tuple(self._scopes):
            scope.cancel()
        await self._requests.close()
        await self._streams.close()

    def _scope(self, timeout: float | None) -> _Scope:
        if self._closed:
            raise ConnectionClosed("the connection is closed")
        return _Scope(self._scopes, timeout)

    def _given_up(self, scope: anyio.CancelScope, method: str) -> SessionError:
        if self._closed:
            return ConnectionClosed("the connection was closed")
        return RequestTimeout(f"{method} was not answered in time")

    # --- requests ----------------------------------------------------------------------------------------------------

    async def _ask(self, method: str, payload: Payload, params: dict[str, Any], notify: OnNotification) -> Payload:
        try:
            reply = await self._send(method, payload, params, notify)
        except McpError as error:
            if error.code != HEADER_MISMATCH or method != CALL_TOOL:
                raise
            # The tool's schema has changed, or was never seen. The server has not begun, so sending again is safe.
            await self._refresh(params, error)
            reply = await self._send(method, payload, params, notify)
        return self._learn(reply) if method == LIST_TOOLS else reply

    async def _send(self, method: str, payload: Payload, params: dict[str, Any], notify: OnNotification) -> Payload:
        headers = self._headers(method, params)
        try:
            return await self._exchange(method, payload, headers, notify)
        except _Unanswered as failure:
            if method not in _REPEATABLE or "requestState" in params or "inputResponses" in params:
                raise ConnectionClosed(str(failure)) from failure
            log.debug("Sending %s once more: %s", method, failure)
        try:
            return await self._exchange(method, payload, headers, notify)
        except _Unanswered as failure:
            raise ConnectionClosed(str(failure)) from failure

    async def _exchange(
        self, method: str, payload: Payload, headers: list[tuple[str, str]], notify: OnNotification
    ) -> Payload:
        self._last_id += 1
        id = self._last_id
        pools = self._streams if method == LISTEN else self._requests
        with pools.lease() as pool:
            async with self._post(pool, messages.request(id, method, payload), headers) as response:
                kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
                if kind == SSE_TYPE and response.is_success:
                    return await self._stream(response, id, notify)
                body = await self._body(response)
        if not response.is_success:
            self._refused(response.status_code, body, id)
        try:
            frame = self._opening.frame(body)
        except FrameError as error:
            raise InvalidMessage(f"the server's answer is not valid: {error.reason}") from error
        return _settled(frame, id)

    def _headers(self, method: str, params: Mapping[str, Any]) -> list[tuple[str, str]]:
        """What the request says in its headers, for those on the way who do not read its body."""
        headers = [*self._fixed, (METHOD_HEADER, method)]
        version: object = (an_object(params.get("_meta")) or {}).get(VERSION)
        if isinstance(version, str):
            headers.append((VERSION_HEADER, version))
        spec = self._methods.get(method)
        name_param = (spec.name_param if spec is not None else None) or NAME_PARAMS.get(method)
        name: object = params.get(name_param) if name_param is not None else None
        if isinstance(name, str):
            headers.append((NAME_HEADER, encode_value(name)))
            if method == CALL_TOOL and name in self._wanted:
                headers += param_headers(self._wanted[name], an_object(params.get("arguments")) or {})
        return headers

    @asynccontextmanager
    async def _post(
        self, pool: Pool, content: bytes, headers: list[tuple[str, str]]
    ) -> AsyncGenerator[httpx2.Response, None]:
        auth = httpx2.USE_CLIENT_DEFAULT if self._auth is None else self._auth
        answered = False
        try:
            for _ in range(REDIRECTS + 1):
                request = pool.post(self._url, content, headers)
                response = await pool.client.send(request, auth=auth, stream=True, follow_redirects=False)
                answered = True
                try:
                    if not self._redirected(response):
                        yield response
                        return
                finally:
                    await response.aclose()
        except httpx2.SSEError as error:
            raise MessageTooLarge("the server's message is longer than the limit of this side") from error
        except httpx2.RequestError as error:
            reason = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
            if answered or isinstance(error, httpx2.ConnectError):
                raise ConnectionClosed(reason) from error
            raise _Unanswered(reason) from error
        raise InvalidMessage("the server redirects in a circle")

    def _redirected(self, response: httpx2.Response) -> bool:
        """Follow a redirect within the same origin. Elsewhere, it would take our headers to strangers."""
        if response.status_code not in (307, 308) or "location" not in response.headers:
            return False
        target = self._url.join(response.headers["location"])
        if (target.scheme, target.host, target.port) != (self._url.scheme, self._url.host, self._url.port):
            return False
        self._url = target
        return True

    # --- answers -----------------------------------------------------------------------------------------------------

    async def _body(self, response: httpx2.Response) -> bytes:
        chunks: list[bytes] = []
        size = 0
        async for chunk in response.aiter_bytes():
            chunks.append(chunk)
            size += len(chunk)
            if size > self._limit:
                raise MessageTooLarge("the server's answer is longer than the limit of this side")
        return b"".join(chunks)

    async def _stream(self, response: httpx2.Response, id: int, notify: OnNotification) -> Payload:
        """The answer at the end of a stream, after the notifications before it."""
        async for event in httpx2.EventSource(_as_utf8(response), self._limit):
            if not event.data or event.event != "message":
                continue
            try:
                frame = self._opening.frame(event.data.encode())
            except FrameError as error:
                log.warning("Ignored a message that is not valid: %s", error.reason)
                continue
            if frame.kind in ("result", "error"):
                return _settled(frame, id)
            if frame.kind == "notification" and frame.method is not None:
                notify(frame.method, frame.payload if frame.payload is not None else {})
            else:
                log.warning("Ignored a request: servers have none for their clients")
        raise ConnectionClosed("the stream ended before the answer came")

    def _refused(self, status: int, body: bytes, id: int | None) -> None:
        """Raise what an answer with an HTTP error means."""
        try:
            frame = self._opening.frame(body)
        except FrameError:
            frame = None
        if frame is not None and frame.kind == "error":
            _settled(frame, id)
        raise UnexpectedStatus(status, body[:_SHOWN].decode(errors="replace").strip())

    # --- tools whose arguments are repeated in headers ---------------------------------------------------------------

    def _learn(self, reply: Payload) -> Payload:
        """Note what the tools of a list want in headers. Those that want it wrongly cannot be called: drop them."""
        result = as_object(reply)
        tools = an_array(result.get("tools"))
        if tools is None:
            return reply
        kept: list[object] = []
        for each in tools:
            tool = an_object(each) or {}
            name: object = tool.get("name")
            try:
                wanted = find_annotations(tool.get("inputSchema"))
            except InvalidAnnotation as error:
                log.warning("Dropped the tool %r: %s", name, error)
                continue
            kept.append(each)
            if isinstance(name, str):
                self._wanted.pop(name, None)
                if wanted:
                    self._wanted[name] = wanted
        return reply if len(kept) == len(tools) else to_json({**result, "tools": kept})

    async def _refresh(self, params: Mapping[str, Any], reason: McpError) -> None:
        """Fetch the schema of a tool again."""
        meta = {key: value for key, value in params["_meta"].items() if key != PROGRESS_TOKEN}
        pages = Pages()
        try:
            while pages.more:
                wire = {"_meta": meta} if pages.cursor is None else {"_meta": meta, "cursor": pages.cursor}
                page = as_object(await self._ask(LIST_TOOLS, to_json(wire), wire, _ignore))
                names = [(an_object(tool) or {}).get("name") for tool in an_array(page.get("tools")) or ()]
                cursor: object = page.get("nextCursor")
                pages.advance(cursor if isinstance(cursor, str) and params.get("name") not in names else None)
        except (McpError, SessionError) as error:
            log.warning("The headers of a tool call were refused, and the list of tools failed: %s", error)
            raise reason from None


class _Unanswered(Exception):
    """The connection failed before there was any answer."""


class _Scope:
    """A cancel scope that is known to the connection for as long as it is open."""

    __slots__ = ("_all", "_scope")

    def __init__(self, all: set[anyio.CancelScope], timeout: float | None) -> None:
        self._all = all
        self._scope = anyio.CancelScope()
        if timeout is not None:
            self._scope.deadline = anyio.current_time() + timeout

    def __enter__(self) -> anyio.CancelScope:
        self._all.add(self._scope)
        return self._scope.__enter__()

    def __exit__(self, *error: Any) -> bool:
        self._all.discard(self._scope)
        return self._scope.__exit__(*error)


def _ignore(method: str, payload: Payload) -> None:
    pass


def _settled(frame: Frame, id: int | None) -> Payload:
    """The result that a message is, if it answers this request. Raises the error that it is."""
    if frame.kind == "error":
        if frame.id is not None and frame.id != id:
            raise InvalidMessage("the server's error answers another request")
        raise McpError.from_wire(as_object(frame.payload))
    if frame.kind != "result" or frame.id != id:
        raise InvalidMessage("the server's answer is none to this request")
    payload: Payload = frame.payload
    return payload


def _as_utf8(response: httpx2.Response) -> httpx2.Response:
    """A stream of events as what it is by definition: UTF-8, whatever its headers say, without a byte order mark."""

    async def content() -> AsyncIterator[bytes]:
        head: bytes | None = b""
        async for chunk in response.aiter_bytes():
            if head is not None:
                head += chunk
                if len(head) < len(_BOM) and _BOM.startswith(head):
                    continue
                chunk, head = head.removeprefix(_BOM), None
            yield chunk
        if head:
            yield head

    headers = {"content-type": f"{SSE_TYPE}; charset=utf-8"}
    return httpx2.Response(200, headers=headers, content=content(), request=response.request)


__all__ = ["HttpPeer", "HttpTransport", "UnexpectedStatus"]
