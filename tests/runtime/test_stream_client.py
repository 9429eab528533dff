"""A StreamPeer against raw lines in the server's place."""

from __future__ import annotations

import json
import logging
from typing import Any

import anyio
import pytest

from mcp_bindings.runtime.failures import (
    ConnectionClosed,
    InvalidMessage,
    McpError,
    MessageTooLarge,
    RequestTimeout,
    SessionError,
    StreamEnded,
)
from mcp_bindings.runtime.peer import Peer, as_object
from runtime.bounded import bounded
from runtime.world import STYLES, SUBSCRIPTION, connected

pytestmark = pytest.mark.anyio


@pytest.fixture(params=STYLES)
def style(request: pytest.FixtureRequest) -> str:
    return str(request.param)


class Asked:
    """A request in a task of its own, and what became of it."""

    def __init__(self, peer: Peer, method: str = "m", params: Any = None, **options: Any) -> None:
        self.peer, self.method, self.params, self.options = peer, method, params or {}, options
        self.result: Any = None
        self.error: Any = None
        self.done = anyio.Event()
        self.scope = anyio.CancelScope()

    async def __call__(self) -> None:
        try:
            with self.scope:
                reply = await self.peer.request(self.method, self.params, **self.options)
                self.result = as_object(reply)
        except (McpError, SessionError) as error:
            self.error = error
        finally:
            self.done.set()


def answer(id: Any, **members: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, **members}


@bounded
async def test_answers_in_any_order(style: str) -> None:
    async with connected(style) as (peer, line), anyio.create_task_group() as tasks:
        asked = [Asked(peer, f"m{n}", {"n": n}) for n in range(3)]
        sent = []
        for one in asked:
            tasks.start_soon(one)
            sent.append(await line.receive())
        assert [(m["method"], m["params"]) for m in sent] == [(f"m{n}", {"n": n}) for n in range(3)]
        await line.send(*(answer(m["id"], result={"for": m["method"]}) for m in reversed(sent)))
        for n, one in enumerate(asked):
            await one.done.wait()
            assert one.result == {"for": f"m{n}"}


@bounded
async def test_errors(style: str) -> None:
    async with connected(style) as (peer, line), anyio.create_task_group() as tasks:
        for error, expected in [
            ({"code": 0, "message": "m"}, (0, "m")),
            ({"code": -32601, "message": "x", "data": None}, (-32601, "x")),
        ]:
            asked = Asked(peer)
            tasks.start_soon(asked)
            await line.send(answer((await line.receive())["id"], error=error))
            await asked.done.wait()
            assert isinstance(asked.error, McpError)
            assert (asked.error.code, asked.error.message) == expected


@bounded
async def test_malformed_answers_fail_their_request(style: str) -> None:
    async with connected(style) as (peer, line), anyio.create_task_group() as tasks:
        for members in (
            {"result": {}, "error": {"code": 1, "message": "m"}},
            {"result": 5},
            {"error": 5},
            {"error": {"code": "x", "message": "m"}},
            {"error": {}},
            {},
        ):
            asked = Asked(peer)
            tasks.start_soon(asked)
            await line.send(answer((await line.receive())["id"], **members))
            await asked.done.wait()
            assert isinstance(asked.error, InvalidMessage), members


@bounded
async def test_what_a_client_ignores(style: str, caplog: pytest.LogCaptureFixture) -> None:
    heard: list[Any] = []
    async with connected(style, heard) as (peer, line), anyio.create_task_group() as tasks:
        asked = Asked(peer)
        tasks.start_soon(asked)
        id = (await line.receive())["id"]
        with caplog.at_level(logging.WARNING, "mcp.client"):
            await line.send(
                b"starting up...\n   \n\xff\xfe\n{oops\n[]\n5\n",
                [answer(id, result={})],
                answer(str(id), result={"wrong": 1}),
                answer(True, result={"wrong": 2}),
                answer(None, result={"wrong": 3}),
                answer(id + 0.5, result={"wrong": 4}),
                answer(99, result={"late": 1}),
                answer(99, error={"code": 0, "message": "late"}),
                answer(None, error={"code": -32700, "message": "could not read"}),
                {"jsonrpc": "2.0", "error": {"code": -32700, "message": "could not read"}},
                answer("a", method="roots/list"),
                {"jsonrpc": "2.0", "method": "codex/event", "params": {"_meta": {"requestId": 2}, "id": ""}},
                {"jsonrpc": "2.0", "method": "window/logMessage"},
                b"\xef\xbb\xbf" + json.dumps(answer(id, result={"right": 1})).encode() + b"\r\n",
            )
            await asked.done.wait()
        assert asked.result == {"right": 1}
        assert [method for method, _ in heard] == ["codex/event", "window/logMessage"]
        assert "starting up" in caplog.text
        assert "could not read" in caplog.text
        second = Asked(peer)
        tasks.start_soon(second)
        message = await line.receive()
        assert message["method"] == "m", "nothing of all that was answered"
        await line.send(answer(message["id"], result={}))


@bounded
async def test_the_id_may_come_back_as_an_integral_float(style: str) -> None:
    async with connected(style) as (peer, line), anyio.create_task_group() as tasks:
        asked = Asked(peer)
        tasks.start_soon(asked)
        id = (await line.receive())["id"]
        await line.send(b'{"jsonrpc":"2.0","id":%d.0,"result":{}}\n' % id)
        await asked.done.wait()
        assert asked.result == {}


# --- giving up -------------------------------------------------------------------------------------------------------


@bounded
async def test_cancelling_tells_the_server(style: str) -> None:
    async with connected(style) as (peer, line), anyio.create_task_group() as tasks:
        asked = Asked(peer)
        tasks.start_soon(asked)
        id = (await line.receive())["id"]
        asked.scope.cancel()
        message = await line.receive()
        assert (message["method"], message["params"]) == ("notifications/cancelled", {"requestId": id})
        await asked.done.wait()
        await line.send(answer(id, result={}), answer(id, error={"code": 0, "message": "stopped"}))
        second = Asked(peer)
        tasks.start_soon(second)
        following = await line.receive()
        assert following["id"] != id
        await line.send(answer(following["id"], result={}))
        await second.done.wait()
        assert second.result == {}


@bounded
async def test_time_runs_out(style: str) -> None:
    async with connected(style) as (peer, line), anyio.create_task_group() as tasks:
        slow, quick, patient = Asked(peer, timeout=30), Asked(peer, timeout=0.05), Asked(peer)
        ids = []
        for one in (slow, quick, patient):
            tasks.start_soon(one)
            ids.append((await line.receive())["id"])
        await quick.done.wait()
        assert isinstance(quick.error, RequestTimeout)
        assert isinstance(quick.error, TimeoutError)
        message = await line.receive()
        assert (message["method"], message["params"]) == ("notifications/cancelled", {"requestId": ids[1]})
        await line.send(*(answer(id, result={"id": id}) for id in ids))
        await slow.done.wait()
        await patient.done.wait()
        assert (slow.result, patient.result) == ({"id": ids[0]}, {"id": ids[2]})


@bounded
async def test_the_server_goes_away(style: str) -> None:
    async with connected(style) as (peer, line), anyio.create_task_group() as tasks:
        asked = [Asked(peer) for _ in range(3)]
        ids = []
        for one in asked:
            tasks.start_soon(one)
            ids.append((await line.receive())["id"])
        await line.send(answer(ids[0], result={}), json.dumps(answer(ids[1], result={})).encode()[:-5])
        line.hang_up()
        for one in asked:
            await one.done.wait()
        assert asked[0].result == {}
        for one in asked[1:]:
            assert isinstance(one.error, ConnectionClosed)
            assert str(one.error) == "the server hung up"
        with pytest.raises(ConnectionClosed):
            await peer.request("m", {})
        with pytest.raises(ConnectionClosed):
            await peer.notify("m")


@bounded
async def test_answers_beyond_the_limit(style: str) -> None:
    async with connected(style, limit=1000) as (peer, line), anyio.create_task_group() as tasks:
        first, second = Asked(peer), Asked(peer)
        ids = []
        for one in (first, second):
            tasks.start_soon(one)
            ids.append((await line.receive())["id"])
        await line.send(answer(ids[0], result={"x": "x" * 5000}))
        await first.done.wait()
        assert isinstance(first.error, MessageTooLarge)
        assert "1000" in str(first.error)
        assert not second.done.is_set()
        await line.send({"result": {"x": "x" * 5000}, "id": ids[1], "jsonrpc": "2.0"})
        await second.done.wait()
        assert isinstance(second.error, MessageTooLarge)


# --- notifications ---------------------------------------------------------------------------------------------------


@bounded
async def test_notifications_find_their_request(style: str) -> None:
    heard: list[Any] = []
    tokens: dict[Any, list[Any]] = {4: [], "4": [], "listen": []}
    async with connected(style, heard) as (peer, line), anyio.create_task_group() as tasks:
        ids = []
        for token in (4, "4"):
            taken = tokens[token]
            params = {"_meta": {"progressToken": token}}
            tasks.start_soon(
                Asked(peer, params=params, on_notification=lambda m, p, taken=taken: taken.append(as_object(p)))
            )
            ids.append((await line.receive())["id"])
        listening = Asked(peer, "subscriptions/listen", on_notification=lambda m, p: tokens["listen"].append(m))
        tasks.start_soon(listening)
        ids.append((await line.receive())["id"])

        def progress(token: Any) -> dict[str, Any]:
            return {
                "jsonrpc": "2.0",
                "method": "notifications/progress",
                "params": {"progressToken": token, "progress": 1.0},
            }

        def changed(id: Any) -> dict[str, Any]:
            return {
                "jsonrpc": "2.0",
                "method": "notifications/tools/list_changed",
                "params": {"_meta": {SUBSCRIPTION: id}},
            }

        await line.send(
            *(progress(token) for token in ("4", 4, 4.0, True, "gone", None, [])),
            *(changed(id) for id in (ids[2], str(ids[2]), True, 99)),
            {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"},
            {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": ids[0]}},
            {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": ids[2]}},
            answer(ids[0], result={}),
            progress(4),
            answer(ids[1], result={}),
        )
        await listening.done.wait()
        assert isinstance(listening.error, StreamEnded)
    assert [len(tokens[4]), len(tokens["4"])] == [2, 1]
    assert tokens["listen"] == ["notifications/tools/list_changed"]
    assert [m for m, _ in heard if m != "notifications/progress"] == ["notifications/tools/list_changed"] * 2


# --- under load ------------------------------------------------------------------------------------------------------


@bounded
async def test_backpressure(style: str) -> None:
    """A server that does not read makes requests wait; nothing is lost, and what waits stays bounded."""
    async with connected(style) as (peer, line), anyio.create_task_group() as tasks:
        many = [Asked(peer, params={"x": "y" * 10_000}) for _ in range(500)]
        for one in many:
            tasks.start_soon(one)
        await anyio.sleep(0.05)
        assert peer._outbox.pending < 2 << 20  # type: ignore[attr-defined]
        for _ in many:
            await line.send(answer((await line.receive())["id"], result={}))
        for one in many:
            await one.done.wait()
            assert one.result == {}
