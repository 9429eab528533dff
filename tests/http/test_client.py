"""The HTTP client: what it sends, and what it makes of every kind of answer."""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

import anyio
import httpx2
import pytest

from mcp_bindings.runtime import http
from mcp_bindings.runtime.failures import (
    ConnectionClosed,
    InvalidMessage,
    McpError,
    MessageTooLarge,
    RequestTimeout,
)
from web import STYLES, client, make_server, message, revision

pytestmark = pytest.mark.anyio
URL = "http://localhost/mcp"
DONE = {"resultType": "complete", "content": [{"type": "text", "text": "done"}]}


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=STYLES)
def style(request: pytest.FixtureRequest) -> str:
    return str(request.param)


class Chunks(httpx2.AsyncByteStream):
    def __init__(self, chunks: Sequence[bytes], then: Exception | None = None) -> None:
        self.chunks = chunks
        self.then = then

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for chunk in self.chunks:
            await anyio.sleep(0)
            yield chunk
        if self.then is not None:
            raise self.then


def sse(*chunks: bytes, then: Exception | None = None, **headers: str) -> httpx2.Response:
    return httpx2.Response(200, headers={"content-type": "text/event-stream", **headers}, stream=Chunks(chunks, then))


def reply(request: httpx2.Request, result: dict[str, Any]) -> httpx2.Response:
    return httpx2.Response(200, json={"jsonrpc": "2.0", "id": json.loads(request.content)["id"], "result": result})


def error(code: int, status: int = 400, id: Any = 1, **data: Any) -> httpx2.Response:
    body = {"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": "no", **({"data": data} if data else {})}}
    return httpx2.Response(status, json=body)


def to(handler: Callable[[httpx2.Request], Any], style: str = "msgspec", **options: Any) -> Any:
    """Our client of a server that is a function."""

    async def handle(request: httpx2.Request) -> httpx2.Response:
        answer = handler(request)
        if isinstance(answer, Exception):
            raise answer
        response: httpx2.Response = answer
        return response

    transport = httpx2.MockTransport(handle)
    return client(style, URL, client=lambda limits: httpx2.AsyncClient(transport=transport), **options)


def to_app(app: Any, style: str, **options: Any) -> Any:
    """Our client of our server, without a network."""
    transport = httpx2.ASGITransport(app)
    return client(style, URL, client=lambda limits: httpx2.AsyncClient(transport=transport), **options)


# --- requests --------------------------------------------------------------------------------------------------------


async def test_headers(style: str) -> None:
    seen: list[httpx2.Request] = []

    def handler(request: httpx2.Request) -> httpx2.Response:
        seen.append(request)
        return reply(request, DONE)

    name = "file:///données/été.csv"
    async with to(handler, style, headers={"X-Key": "k"}) as ours:
        await ours.call_tool(name=name, arguments={})
        await ours.call_tool(name="=?base64?abc?=")
        await ours.call_tool(name="a\r\nEvil: x")
    first = seen[0].headers
    assert first["content-type"] == "application/json"
    assert first["accept"] == "application/json, text/event-stream"
    assert first["mcp-protocol-version"] == "2026-07-28"
    assert first["mcp-method"] == "tools/call"
    assert first["mcp-name"] == "=?base64?ZmlsZTovLy9kb25uw6llcy/DqXTDqS5jc3Y=?="
    assert first["x-key"] == "k"
    assert json.loads(seen[0].content)["params"]["name"] == name
    assert seen[1].headers["mcp-name"] == "=?base64?PT9iYXNlNjQ/YWJjPz0=?="
    assert "evil" not in seen[2].headers
    assert len({json.loads(request.content)["id"] for request in seen}) == 3


async def test_headers_of_ones_own_replace_defaults() -> None:
    seen: list[httpx2.Request] = []

    def handler(request: httpx2.Request) -> httpx2.Response:
        seen.append(request)
        return httpx2.Response(200, headers={"set-cookie": "a=b"}, content=reply(request, DONE).content)

    async with to(handler, headers={"user-agent": "me", "Accept-Encoding": "identity"}) as ours:
        await ours.call_tool(name="x")
        await ours.call_tool(name="x")
    for request in seen:
        names = [name.lower() for name, _ in request.headers.raw]
        assert len(names) == len(set(names))
        assert request.headers["user-agent"] == "me"
        assert request.headers["accept-encoding"] == "identity"
        assert request.headers["host"] == "localhost"
    assert "cookie" not in seen[0].headers
    assert seen[1].headers["cookie"] == "a=b"


async def test_plain_answers_and_streams(style: str) -> None:
    app = http.app(make_server(style))
    heard: list[Any] = []
    async with to_app(app, style) as ours:
        assert (await ours.call_tool(name="echo", arguments={"text": "hé"})).content[0].text == "hé"
        assert (await ours.call_tool(name="talk", on_progress=heard.append)).content[0].text == ""
        assert [each.progress for each in heard] == [0, 1, 2]
        assert (await ours.read_resource(uri="test://é")).contents[0].text == "content"
        with pytest.raises(McpError, match="as asked") as caught:
            await ours.call_tool(name="fail", arguments={"code": 77})
        assert (caught.value.code, caught.value.data) == (77, {"a": 1})
        with pytest.raises(McpError) as caught:
            await ours.list_prompts()
        assert caught.value.code == -32601  # in a 404


async def test_rounds(style: str) -> None:
    bindings = revision(style)

    class Handlers(bindings.ClientHandlers):  # type: ignore[misc, name-defined]
        async def elicit(self, params: Any) -> Any:
            return bindings.types.ElicitResult(action="accept", content={"name": "Ada"})

    async with to_app(http.app(make_server(style)), style, handlers=Handlers()) as ours:
        assert (await ours.call_tool(name="ask")).content[0].text == "Ada"


async def test_arguments_in_headers(style: str) -> None:
    server = make_server(style)
    async with to_app(http.app(server), style) as ours:
        # Without the schema, the server refuses; the client then fetches it, and the call goes through.
        result = await ours.call_tool(name="region", arguments={"region": "é", "n": 42, "text": "ok"})
        assert result.content[0].text == "ok"
        assert (await ours.call_tool(name="region", arguments={"region": None, "text": "ok"})).content[0].text == "ok"
        server.schemas["region"]["properties"]["text"] = {"type": "string", "x-mcp-header": "Text"}


async def test_refused_headers_are_renewed_once(style: str) -> None:
    calls: list[str] = []

    def handler(request: httpx2.Request) -> httpx2.Response:
        calls.append(json.loads(request.content)["method"])
        if calls[-1] == "tools/list":
            return reply(request, {"resultType": "complete", "tools": [], "ttlMs": 0, "cacheScope": "private"})
        return error(-32020, id=json.loads(request.content)["id"])

    async with to(handler, style) as ours:
        with pytest.raises(McpError) as caught:
            await ours.call_tool(name="x")
        assert caught.value.code == -32020
        assert calls == ["tools/call", "tools/list", "tools/call"]
        calls.clear()
        with pytest.raises(McpError):
            await ours.list_resources()
        assert calls == ["resources/list"]


async def test_tools_that_cannot_be_called_are_dropped(style: str, caplog: pytest.LogCaptureFixture) -> None:
    def tool(name: str, **properties: Any) -> dict[str, Any]:
        return {"name": name, "inputSchema": {"type": "object", "properties": properties}}

    tools = [
        tool("good", n={"type": "integer", "x-mcp-header": "N"}, b={"type": "boolean", "x-mcp-header": "B"}),
        tool("bad", bad={"type": "number", "x-mcp-header": 7}),
        tool("worse", bad={"type": "string", "x-mcp-header": ""}),
        tool("plain"),
    ]
    seen: list[httpx2.Request] = []

    def handler(request: httpx2.Request) -> httpx2.Response:
        seen.append(request)
        if json.loads(request.content)["method"] == "tools/list":
            return reply(
                request, {"resultType": "complete", "tools": tools, "ttlMs": 0, "cacheScope": "public", "x": 1.0}
            )
        return reply(request, DONE)

    with caplog.at_level(logging.WARNING, "mcp.client"):
        async with to(handler, style) as ours:
            assert [each.name for each in (await ours.list_tools()).tools] == ["good", "plain"]
            await ours.call_tool(name="good", arguments={"n": 42, "b": True, "z": None})
    assert seen[-1].headers["mcp-param-n"] == "42"
    assert seen[-1].headers["mcp-param-b"] == "true"
    assert "'bad'" in caplog.text
    assert "not a string" in caplog.text


async def test_another_version_is_negotiated(style: str) -> None:
    versions: list[str] = []

    def handler(request: httpx2.Request) -> httpx2.Response:
        versions.append(request.headers["mcp-protocol-version"])
        if len(versions) == 1:
            return error(-32022, supported=["2026-07-28"], requested="2026-07-28")
        return reply(request, DONE)

    async with to(handler, style) as ours:
        await ours.call_tool(name="x")
    assert versions == ["2026-07-28", "2026-07-28"]


# --- answers ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "failure", "reason"),
    [
        (lambda: error(-32022, supported=["2025-11-25"], requested="2026-07-28"), McpError, "-32022"),
        (lambda: error(-32601, 404), McpError, "-32601"),
        (lambda: error(-32603, 500, id=None), McpError, "-32603"),
        (lambda: error(-32603, 200, id=77), InvalidMessage, "another request"),
        (lambda: httpx2.Response(502, text="<html>Bad gateway</html>"), http.UnexpectedStatus, "502: <html>Bad"),
        (lambda: httpx2.Response(404), http.UnexpectedStatus, "404"),
        (lambda: httpx2.Response(401, json={"error": "invalid_token"}), http.UnexpectedStatus, "401"),
        (lambda: httpx2.Response(202), InvalidMessage, "not valid"),
        (lambda: httpx2.Response(200, text="hello"), InvalidMessage, "not valid"),
        (lambda: httpx2.Response(200, json=[]), InvalidMessage, "not valid"),
        (lambda: httpx2.Response(200, json={"jsonrpc": "2.0", "id": 2, "result": {}}), InvalidMessage, "none to this"),
        (lambda: httpx2.Response(200, json={"jsonrpc": "2.0", "id": "1", "result": {}}), InvalidMessage, "none to"),
        (lambda: httpx2.Response(307, headers={"location": "http://elsewhere/"}), http.UnexpectedStatus, "307"),
        (lambda: httpx2.Response(307, headers={"location": "/mcp"}), InvalidMessage, "circle"),
        (lambda: httpx2.ReadError("gone"), ConnectionClosed, "gone"),
        (lambda: httpx2.ConnectError("nobody there"), ConnectionClosed, "nobody there"),
        (lambda: sse(), ConnectionClosed, "ended before"),
        (lambda: sse(b'data: {"jsonrpc":"2.0","id":1,'), ConnectionClosed, "ended before"),
        (lambda: sse(b": hi\n\n", then=httpx2.ReadError("cut")), ConnectionClosed, "cut"),
        (lambda: sse(b"data: " + b"x" * 3000), MessageTooLarge, "limit"),
        (lambda: httpx2.Response(200, content=b"x" * 3000), MessageTooLarge, "limit"),
        (lambda: sse(b'data: {"jsonrpc":"2.0","id":9,"result":{}}\n\n'), InvalidMessage, "none to this"),
    ],
)
async def test_answers_that_are_none(answer: Any, failure: type[Exception], reason: str, style: str) -> None:
    async with to(lambda request: answer(), style, message_limit=2000) as ours:
        with pytest.raises(failure, match=reason):
            await ours.call_tool(name="x")


async def test_redirects_stay_at_home() -> None:
    seen: list[str] = []

    def handler(request: httpx2.Request) -> httpx2.Response:
        seen.append(str(request.url))
        if not request.url.path.endswith("/"):
            return httpx2.Response(307, headers={"location": "/mcp/"})
        return reply(request, DONE)

    async with to(handler) as ours:
        await ours.call_tool(name="x")
        await ours.call_tool(name="x")
    assert seen == [URL, URL + "/", URL + "/"]


async def test_only_questions_are_asked_again() -> None:
    seen: list[str] = []

    def handler(request: httpx2.Request) -> Any:
        seen.append(json.loads(request.content)["method"])
        return httpx2.RemoteProtocolError("Server disconnected without sending a response.")

    async with to(handler) as ours:
        with pytest.raises(ConnectionClosed):
            await ours.call_tool(name="x")
        assert seen == ["tools/call"]
        with pytest.raises(ConnectionClosed):
            await ours.list_tools()
        assert seen == ["tools/call", "tools/list", "tools/list"]


RESULT = b'{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","content":[]}}'
NOTE = '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"測\u2028"}}'.encode()


@pytest.mark.parametrize(
    "chunks",
    [
        # typescript-sdk#1184, python-sdk#1670: a priming event without data
        [b"id: s1_0\nretry: 3000\ndata: \n\n", b"event: message\nid: s1_1\ndata: " + RESULT + b"\n\n"],
        [b"id: s1_0\n\n", b"data:" + RESULT + b"\n\n"],
        # eventsource-parser#17: a line end in two chunks
        [b"data: " + RESULT[:24] + b"\r", b"\ndata: " + RESULT[24:] + b"\r\n\r", b"\n"],
        [b"data: " + RESULT + b"\r\r", b"data: more\r"],
        # eko#287: several data lines, of which only one leading space goes
        [b"data: " + RESULT[:16] + b"\ndata:  " + RESULT[16:24] + b"\ndata:" + RESULT[24:] + b"\n\n"],
        # java-sdk#443: comments
        [b": keep-alive\n\n:\r\n\r\ndata: " + RESULT + b"\n:x\n\n"],
        # eko#287: a byte order mark, in pieces
        [b"\xef\xbb\xbfdata: " + RESULT + b"\n\n"],
        [b"\xef", b"\xbb", b"\xbf", b"data: " + RESULT + b"\n\n"],
        # other events, and what is no message, are passed over
        [b"event: ping\ndata: {}\n\ndata: nonsense\n\ndata: " + RESULT + b"\n\n"],
        [b'data: {"jsonrpc":"2.0","id":7,"method":"roots/list"}\n\ndata: ' + RESULT + b"\n\n"],
        # the stream may go on after the answer; nobody listens
        [b"data: " + RESULT + b"\n\ndata: " + NOTE + b"\n\n"],
        [bytes([byte]) for byte in b"data: " + RESULT + b"\n\n"],
    ],
)
async def test_streams_as_they_come(chunks: list[bytes], style: str) -> None:
    async with to(lambda request: sse(*chunks), style) as ours:
        assert (await ours.call_tool(name="x")).content == []


async def test_text_survives_chunks_and_charsets(style: str) -> None:
    bindings, heard = revision(style), []

    class Handlers(bindings.ClientHandlers):  # type: ignore[misc, name-defined]
        async def on_logging_message(self, params: Any) -> None:
            heard.append(params.data)

    stream = b"data: " + NOTE + b"\n\ndata: " + RESULT + b"\n\n"
    cut = stream.index("測".encode()) + 1
    pieces = (stream[:cut], stream[cut:])
    answer = sse(*pieces, **{"content-type": "text/event-stream; charset=latin-1"})
    async with to(lambda request: answer, style, handlers=Handlers()) as ours:
        await ours.call_tool(name="x")
        with anyio.fail_after(5):
            while not heard:
                await anyio.sleep(0.01)
    assert heard == ["測\u2028"]


async def test_bodies_are_utf8_whatever_they_say(style: str) -> None:
    body = RESULT.replace(b'"content":[]', b'"content":[{"type":"text","text":"\xe6\x9f\xa5"}]')
    for content_type in ("application/json", "application/json; charset=latin-1"):
        answer = httpx2.Response(200, headers={"content-type": content_type}, content=body)
        async with to(lambda request, answer=answer: answer, style) as ours:
            assert (await ours.call_tool(name="x")).content[0].text == "查"


# --- time and the end ------------------------------------------------------------------------------------------------


class Slow(httpx2.AsyncBaseTransport):
    """A server that takes its time; notes when its client hangs up."""

    def __init__(self) -> None:
        self.hung_up = 0
        self.begun = 0

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        self.begun += 1
        try:
            await anyio.sleep_forever()
        finally:
            self.hung_up += 1
        raise AssertionError


async def test_timeouts_hang_up(style: str) -> None:
    slow = Slow()
    async with client(style, URL, client=lambda limits: httpx2.AsyncClient(transport=slow)) as ours:
        with pytest.raises(RequestTimeout):
            await ours.call_tool(name="x", timeout=0.05)
        assert slow.hung_up == 1


async def test_closing_fails_what_is_under_way() -> None:
    slow = Slow()
    failures: list[Exception] = []
    ours = client("msgspec", URL, client=lambda limits: httpx2.AsyncClient(transport=slow))

    async def call() -> None:
        try:
            await ours.call_tool(name="x")
        except Exception as failure:
            failures.append(failure)

    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks, ours:
            tasks.start_soon(call)
            while not slow.begun:
                await anyio.sleep(0.01)
    assert [type(failure) for failure in failures] == [ConnectionClosed]
    with pytest.raises(ConnectionClosed):
        await ours.call_tool(name="x")


async def test_pools_grow_by_need_and_streams_have_their_own() -> None:
    made: list[httpx2.AsyncClient] = []
    slow = Slow()

    def make(limits: httpx2.Limits) -> httpx2.AsyncClient:
        assert limits.max_connections == 8
        made.append(httpx2.AsyncClient(transport=slow))
        return made[-1]

    ours = client("msgspec", URL, client=make)
    with anyio.fail_after(10):
        async with ours:
            peer = ours._peer
            async with anyio.create_task_group() as tasks:
                body = json.dumps(message("x")["params"]).encode()
                for _ in range(8):
                    tasks.start_soon(peer.request, "tools/call", body)
                    tasks.start_soon(peer.request, "subscriptions/listen", body)
                while slow.begun < 16:
                    await anyio.sleep(0.01)
                assert len(made) == 2
                for _ in range(200):
                    tasks.start_soon(peer.request, "tools/call", body)
                while slow.begun < 216:
                    await anyio.sleep(0.01)
                assert len(made) == 14
                tasks.cancel_scope.cancel()
    assert all(each.is_closed for each in made)
