"""The ASGI application: statuses, checks in their order, plain answers and streams, cancellation, the end."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import nullcontext
from typing import Any

import anyio
import pytest

from mcp_bindings.runtime import http
from web import META, STYLES, Conversation, ask, asking, call, headers_for, make_server, message, scope_of

pytestmark = pytest.mark.anyio


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=STYLES)
def server(request: pytest.FixtureRequest) -> Any:
    return make_server(request.param)


@pytest.fixture
async def app(server: Any, anyio_backend_name: str) -> AsyncGenerator[Any, None]:
    """Under asyncio as in a web server, with its lifespan; under trio as if mounted, without."""
    application = http.app(server)
    if anyio_backend_name == "asyncio":
        async with application.lifespan():
            yield application
    else:
        yield application


async def test_an_answer_is_plain_json(app: Any) -> None:
    answer = await ask(app, call("echo", text="hi"))
    assert (answer.status, answer.headers["content-type"]) == (200, "application/json")
    assert answer.headers["content-length"] == str(len(answer.body))
    assert answer.json["id"] == 1
    assert answer.json["result"]["content"] == [{"type": "text", "text": "hi"}]
    assert not any("session" in name for name in answer.headers)


@pytest.mark.parametrize("id", [0, "", "1", -1, 2**60])
async def test_ids_come_back_as_they_are(app: Any, id: Any) -> None:
    back = (await ask(app, call("echo", id))).json["id"]
    assert (back, type(back)) == (id, type(id))


async def test_the_first_notification_opens_a_stream(app: Any) -> None:
    answer = await ask(app, message("tools/call", {"name": "talk"}, progressToken="t"), mcp_name="talk")
    assert answer.status == 200
    assert answer.streamed
    assert answer.headers["x-accel-buffering"] == "no"
    assert [event.get("method", "the answer") for event in answer.events] == ["notifications/progress"] * 3 + [
        "the answer"
    ]
    assert {event["params"]["progressToken"] for event in answer.events[:3]} == {"t"}
    assert answer.complete
    assert b"\nid:" not in answer.body
    assert b"retry:" not in answer.body


async def test_without_a_token_there_is_nothing_to_stream(app: Any) -> None:
    assert not (await ask(app, call("talk"))).streamed


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"host": "evil.example.com"}, 403),
        ({"host": None}, 403),
        ({"host": "localhost.evil.example"}, 403),
        ({"origin": "http://evil.example.com"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": "http://localhost:6274"}, 200),
        ({"content_type": "text/plain"}, 415),
        ({"content_type": None}, 415),
        ({"content_type": "application/json; charset=latin-1"}, 200),
        ({"accept": "application/json"}, 406),
        ({"accept": "*/*"}, 200),
        ({"accept": "application/*, text/*"}, 200),
        ({"accept": None}, 200),
        ({"mcp_session_id": "x", "last_event_id": "7"}, 200),
    ],
)
async def test_requests_by_their_headers(app: Any, changes: dict[str, str | None], status: int) -> None:
    assert (await ask(app, call("echo"), **changes)).status == status


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "HEAD", "OPTIONS", "PATCH"])
async def test_other_verbs(app: Any, method: str) -> None:
    answer = await ask(app, call("echo"), method=method)
    assert (answer.status, answer.headers["allow"], answer.body) == (405, "POST", b"")
    assert (await ask(app, call("echo"), method=method, host="evil")).status == 403


async def test_a_path_of_ones_own(server: Any) -> None:
    app = http.app(server, path="/mcp")
    assert (await ask(app, call("echo"), path="/mcp/")).status == 200
    assert (await ask(app, call("echo"), path="/other")).status == 404


BAD_META = {**META, "io.modelcontextprotocol/protocolVersion": "v999.0.0"}
LADDER: list[tuple[Any, dict[str, str | None], int, int, Any]] = [
    # body, header changes, status, code, id
    (b"{", {}, 400, -32700, None),
    (b"\xff", {}, 400, -32700, None),
    (b"", {}, 400, -32700, None),
    (b"[" * 100_000, {}, 400, -32700, None),
    (b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"a":NaN}}', {}, 400, -32700, None),
    (b"[]", {}, 400, -32600, None),
    ([call("echo")], {}, 400, -32600, None),
    ({"jsonrpc": "2.0", "id": 5, "result": {}}, {}, 400, -32600, None),
    ({"jsonrpc": "2.0", "id": 5, "error": {"code": 1, "message": ""}}, {}, 400, -32600, None),
    ({**call("echo"), "jsonrpc": "1.0"}, {}, 400, -32600, 1),
    ({**call("echo"), "id": None}, {}, 400, -32600, None),
    ({**call("echo"), "id": 1.5}, {}, 400, -32600, None),
    ({**call("echo"), "id": True}, {}, 400, -32600, None),
    ({**call("echo"), "params": []}, {}, 400, -32602, 1),
    ({"jsonrpc": "2.0", "id": 3, "method": "notifications/cancelled", "params": {}}, {}, 400, -32600, 3),
    ({"jsonrpc": "2.0", "method": "tools/call", "params": {"_meta": META, "name": "echo"}}, {}, 400, -32600, None),
    # The version header comes before the metadata, and the metadata before the other headers.
    (call("echo"), {"mcp_protocol_version": None}, 400, -32020, 1),
    ({"jsonrpc": "2.0", "id": 7, "method": "tools/list"}, {"mcp_method": None}, 400, -32602, 7),
    ({"jsonrpc": "2.0", "id": 7, "method": "server/discover", "params": {}}, {}, 400, -32602, 7),
    ({**call("echo"), "params": {"_meta": 5}}, {}, 400, -32602, 1),
    ({**call("echo"), "params": {"_meta": {**META, "io.modelcontextprotocol/protocolVersion": 5}}}, {}, 400, -32602, 1),
    (call("echo"), {"mcp_protocol_version": "2025-11-25"}, 400, -32020, 1),
    (call("echo"), {"mcp_method": None}, 400, -32020, 1),
    (call("echo"), {"mcp_method": "TOOLS/CALL"}, 400, -32020, 1),
    (call("echo"), {"mcp_name": None}, 400, -32020, 1),
    (call("echo"), {"mcp_name": "other"}, 400, -32020, 1),
    # Agreement comes before the version being served, and that before the method.
    ({**call("echo"), "params": {"_meta": BAD_META}}, {}, 400, -32020, 1),
    ({**message("nope"), "params": {"_meta": BAD_META}}, {"mcp_protocol_version": "v999.0.0"}, 400, -32022, 1),
    (message("nope"), {}, 404, -32601, 1),
    (message("initialize"), {}, 404, -32601, 1),
    (message("ping"), {}, 404, -32601, 1),
    (message("logging/setLevel", {"level": "info"}), {}, 404, -32601, 1),
    (message("prompts/list"), {}, 404, -32601, 1),  # not advertised
    (message("sampling/createMessage"), {}, 404, -32601, 1),
    (call("region", region="eu"), {}, 400, -32020, 1),
    (call("region", region="eu"), {"mcp_param_region": "us"}, 400, -32020, 1),
    (call("region"), {"mcp_param_region": "us"}, 400, -32020, 1),
    (call("region", n=1), {"mcp_param_n": "x"}, 400, -32020, 1),
    (message("tools/call", {"arguments": {}}), {"mcp_name": None}, 200, -32602, 1),
    (message("tools/call", {"name": "echo", "arguments": []}), {}, 200, -32602, 1),
    (call("none such"), {}, 200, -32602, 1),
    (call("fail", code=-32021), {}, 400, -32021, 1),
    (call("fail", code=-32603), {}, 200, -32603, 1),
    (call("fail", code=4711), {}, 200, 4711, 1),
    (call("crash"), {}, 200, -32603, 1),
    # Known tools with valid arguments are not refused.
    (call("region", region="eu", n=42), {"mcp_param_region": "eu", "mcp_param_n": "42.0"}, 200, 0, 1),
    (call("region", region="eu"), {"mcp_param_region": "=?base64?ZXU=?=", "mcp_param_other": "x"}, 200, 0, 1),
    (call("region", region=None), {}, 200, 0, 1),
    (call("ünï"), {"mcp_name": "=?base64?w7xuw68=?="}, 200, 0, 1),
]


@pytest.mark.parametrize(("body", "changes", "status", "code", "id"), LADDER)
async def test_the_ladder(app: Any, body: Any, changes: Any, status: int, code: int, id: Any) -> None:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    headers = headers_for(body if isinstance(body, dict) else call("echo"), **changes)
    answer = await ask(app, data, headers)
    assert answer.status == status, answer.body
    assert answer.headers["content-type"] == "application/json"
    if code:
        assert answer.json["error"]["code"] == code
    assert answer.json.get("id") == id
    assert ("id" in answer.json) == (id is not None)
    assert b"a secret" not in answer.body


async def test_an_unsupported_version_says_which_are(app: Any) -> None:
    body = {**message("server/discover"), "params": {"_meta": BAD_META}}
    data = (await ask(app, body, mcp_protocol_version="v999.0.0")).json["error"]["data"]
    assert data == {"requested": "v999.0.0", "supported": ["2026-07-28"]}


@pytest.mark.parametrize("name", [b"mcp-method", b"mcp-name", b"mcp-protocol-version"])
async def test_repeated_headers_are_refused(app: Any, name: bytes) -> None:
    body = call("echo")
    headers = headers_for(body)
    headers.append(next(pair for pair in headers if pair[0] == name))
    answer = await ask(app, body, headers)
    assert (answer.status, answer.json["error"]["code"]) == (400, -32020)


async def test_repeated_hosts_and_origins_are_refused(app: Any) -> None:
    body = call("echo")
    for name in (b"host", b"origin"):
        headers = [*headers_for(body, origin="http://localhost"), (name, b"http://localhost")]
        assert (await ask(app, body, headers)).status == 403


async def test_header_names_have_no_case(app: Any) -> None:
    body = call("echo")
    assert (await ask(app, body, [(name.upper(), value) for name, value in headers_for(body)])).status == 200


async def test_notifications_are_accepted(app: Any) -> None:
    for method in ("notifications/cancelled", "notifications/unknown"):
        body = {"jsonrpc": "2.0", "method": method, "params": {"requestId": 1}}
        answer = await ask(app, body, mcp_protocol_version=None)
        assert (answer.status, answer.body) == (202, b"")
        assert (await ask(app, body, mcp_protocol_version="v999")).status == 400


async def test_a_posted_cancellation_cancels_nothing(app: Any, server: Any) -> None:
    async with asking(app, call("wait", 7, seconds=0.2)) as conversation:
        while not server.log:
            await anyio.sleep(0.01)
        await ask(app, {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}})
        while not conversation.answer.complete:
            await anyio.sleep(0.01)
    assert server.log == ["waiting", "done"]


async def test_schemas_are_looked_up_once_and_again_when_they_seem_old(app: Any, server: Any) -> None:
    for _ in range(3):
        assert (await ask(app, call("region", region="eu"), mcp_param_region="eu")).status == 200
    assert server.listed == 1
    assert (await ask(app, call("echo"))).status == 200  # nothing to repeat, nothing to look up
    assert server.listed == 1
    app.tools._lists[None] = (app.tools._lists[None][0] - 30, app.tools._lists[None][1])
    server.schemas["region"] = {"type": "object"}
    assert (await ask(app, call("region", region="eu"))).status == 200
    assert server.listed == 2


async def test_a_body_in_pieces(app: Any) -> None:
    body = call("echo", text="in pieces")
    data = json.dumps(body).encode()
    conversation = Conversation([data[:10], data[10:11], b"", data[11:]])
    await app(scope_of(headers_for(body)), conversation.receive, conversation.answer.take)
    assert conversation.answer.json["result"]["content"][0]["text"] == "in pieces"


async def test_bodies_are_limited(server: Any) -> None:
    app = http.app(server, body_limit=1000)
    assert (await ask(app, call("echo", text="x" * 2000))).status == 413
    assert (await ask(app, call("echo"), content_length="1001")).status == 413
    assert (await ask(app, call("echo"), content_length="9" * 30)).status == 413
    assert (await ask(app, call("echo"), content_length="1")).status == 200  # the web server's business
    pieces = Conversation([b" " * 600, b" " * 600], whole=False)
    await app(scope_of(headers_for(call("echo"))), pieces.receive, pieces.answer.take)
    assert pieces.answer.status == 413


@pytest.mark.parametrize("lively", [False, True])
async def test_slow_bodies_are_given_up(server: Any, lively: bool) -> None:
    app = http.app(server, body_timeout=0.05)
    slow = Conversation([b"{"], whole=False)
    async with app.lifespan() if lively else nullcontext():
        with anyio.fail_after(5):
            await app(scope_of(headers_for(call("echo"))), slow.receive, slow.answer.take)
    assert slow.answer.status == 408


async def test_a_client_that_leaves_before_its_body_is_whole(app: Any) -> None:
    gone = Conversation([b"{"], whole=False)
    gone.gone.set()
    await app(scope_of(headers_for(call("echo"))), gone.receive, gone.answer.take)
    assert gone.answer.status == 0


async def test_leaving_cancels(app: Any, server: Any) -> None:
    with anyio.fail_after(5):
        async with asking(app, call("wait")) as conversation:
            while not server.log:
                await anyio.sleep(0.01)
    assert server.log == ["waiting", "cancelled"]
    assert conversation.answer.status == 0


async def test_leaving_a_stream_cancels(app: Any, server: Any) -> None:
    body = message("tools/call", {"name": "talk", "arguments": {"times": 10**6, "pause": 0.01}}, progressToken=1)
    with anyio.fail_after(5):
        async with asking(app, body) as conversation:
            await conversation.answer.until(2)
    assert not conversation.answer.complete


async def test_keep_alive(server: Any) -> None:
    app = http.app(server, keep_alive=0.05)
    body = message("subscriptions/listen", {"notifications": {"toolsListChanged": True}})
    with anyio.fail_after(5):
        async with asking(app, body) as conversation:
            while conversation.answer.body.count(b": keep-alive\n\n") < 3:
                await anyio.sleep(0.01)
    assert len(conversation.answer.events) == 1


async def test_no_keep_alive_before_a_stream(server: Any) -> None:
    app = http.app(server, keep_alive=0.01)
    answer = await ask(app, call("wait", seconds=0.1))
    assert not answer.streamed


async def test_listening(app: Any, server: Any) -> None:
    body = message("subscriptions/listen", {"notifications": {"toolsListChanged": True}}, id=0)
    other = message("subscriptions/listen", {"notifications": {"resourceSubscriptions": ["test://a"]}}, id="b")
    with anyio.fail_after(5):
        async with asking(app, body) as one, asking(app, other) as two:
            await one.answer.until(1)
            await two.answer.until(1)
            assert one.answer.streamed
            assert one.answer.events[0]["method"] == "notifications/subscriptions/acknowledged"
            await server.notify_tool_list_changed()
            await server.notify_resource_updated(uri="test://a/b")
            await one.answer.until(2)
            await two.answer.until(2)
            app.end()
            await one.answer.until(3)
            await two.answer.until(3)
            assert one.answer.complete
            assert two.answer.complete
    assert [event.get("method") for event in one.answer.events[1:]] == ["notifications/tools/list_changed", None]
    assert two.answer.events[1]["params"]["uri"] == "test://a/b"
    for conversation, id in ((one, 0), (two, "b")):
        for event in conversation.answer.events[:-1]:
            assert event["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"] == id
        result = conversation.answer.events[-1]["result"]
        assert result["_meta"]["io.modelcontextprotocol/subscriptionId"] == id
    assert not len(app.session.hub)
    assert (await ask(app, body)).status == 503  # nothing new begins
    assert (await ask(app, call("echo"))).status == 200


async def test_a_handler_may_wait_for_what_others_cancel(app: Any, server: Any, anyio_backend_name: str) -> None:
    """Something that the handler waits for is cancelled, but not the request: it is answered all the same."""

    async def call_tool(params: Any, ctx: Any) -> Any:
        raise anyio.get_cancelled_exc_class()

    if anyio_backend_name != "asyncio":
        return  # elsewhere, nobody can raise this
    server.call_tool = call_tool
    assert (await ask(app, call("echo"))).json["error"]["code"] == -32603


async def test_what_ends_the_server_ends_a_request(app: Any, server: Any) -> None:
    """Cancellation from outside goes through, and is not taken for the client's."""
    with anyio.move_on_after(0.1) as scope:
        await ask(app, call("wait"))
    assert scope.cancelled_caught
    assert server.log == ["waiting", "cancelled"]


async def test_a_reader_that_does_not_read_is_left(server: Any, caplog: pytest.LogCaptureFixture) -> None:
    app = http.app(server, patience=0.05)
    body = message("tools/call", {"name": "talk", "arguments": {"times": 1000, "pause": 0.001}}, progressToken=1)
    stuck = Conversation([json.dumps(body).encode()])

    async def never(message: Any) -> None:
        await anyio.sleep_forever()

    with anyio.fail_after(5):
        await app(scope_of(headers_for(body)), stuck.receive, never)
    assert "did not read" in caplog.text


async def test_lifespan(server: Any) -> None:
    app = http.app(server)
    sent: list[str] = []
    coming = ["lifespan.startup", "lifespan.shutdown"]

    async def receive() -> Any:
        return {"type": coming.pop(0)}

    async def send(message: Any) -> None:
        sent.append(message["type"])

    await app({"type": "lifespan"}, receive, send)
    assert sent == ["lifespan.startup.complete", "lifespan.shutdown.complete"]
    assert app.ending


async def test_websockets_are_turned_away(app: Any) -> None:
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message["type"])

    async def receive() -> Any:
        return {"type": "websocket.connect"}

    await app({"type": "websocket", "headers": []}, receive, send)
    assert sent == ["websocket.close"]
