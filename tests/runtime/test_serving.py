"""Raw lines against a server: what is answered, with which code, and what is not."""

from __future__ import annotations

import json
import logging
import os
import time
from contextvars import ContextVar
from typing import Any

import anyio
import pytest

from mcp_bindings.runtime import pipes
from mcp_bindings.runtime.failures import McpError
from mcp_bindings.runtime.stream_server import serve_stream
from runtime.bounded import bounded
from runtime.world import META, STYLES, SUBSCRIPTION, VERSION, Line, call, info, request, revision, served, text_result

pytestmark = pytest.mark.anyio

V = "io.modelcontextprotocol/protocolVersion"
C = "io.modelcontextprotocol/clientCapabilities"


def make(style: str, **options: Any) -> Any:
    rev = revision(style)
    types = rev.types

    class TestServer(rev.Server):  # type: ignore[misc]
        logging = True
        tools_list_changed = True
        resources_subscribe = True
        ran: list[Any]
        gate: anyio.Event

        async def list_tools(self, params: Any, ctx: Any) -> Any:
            return types.ListToolsResult(tools=[])

        async def read_resource(self, params: Any, ctx: Any) -> Any:
            return types.ReadResourceResult(contents=[])

        async def call_tool(self, params: Any, ctx: Any) -> Any:
            arguments = params.arguments or {}
            self.ran.append(params.name)
            match params.name:
                case "echo":
                    return text_result(style, arguments["text"])
                case "error":
                    raise McpError(-5, "as asked", {"why": None})
                case "crash":
                    raise RuntimeError("secret detail")
                case "wrong class":
                    return types.ListToolsResult(tools=[])
                case "nothing":
                    return None
                case "wait":
                    await self.gate.wait()
                case "for ever":
                    await anyio.sleep_forever()
                case "stubborn":
                    try:
                        await anyio.sleep_forever()
                    except anyio.get_cancelled_exc_class():
                        pass  # swallowed, as handlers should not
                case "progress":
                    for step in (0, 50, 50, 20, 100.5):
                        await ctx.progress(step, total=100)
                case "log":
                    await ctx.log("debug", None)
                    await ctx.log("error", {"a": [1, 1.0]}, logger="l")
                case "after":
                    self.context_of_after = ctx
                case "require":
                    ctx.require("sampling", "elicitation.url")
                case "nan":
                    return types.CallToolResult(content=[], structured_content=float("nan"))
                case name:
                    raise McpError(-32602, f"Unknown tool: {name}")
            return text_result(style, "done")

    server = TestServer(info=info(style), **options)
    server.ran = []
    server.gate = anyio.Event()
    return server


@pytest.fixture(params=STYLES)
def style(request: pytest.FixtureRequest) -> str:
    return str(request.param)


async def refused(line: Line, message: Any) -> tuple[Any, int]:
    answer = await line.ask(message)
    assert "result" not in answer, answer
    return answer.get("id"), answer["error"]["code"]


# --- the order of checks ---------------------------------------------------------------------------------------------


@bounded
async def test_the_ladder(style: str) -> None:
    async with served(make(style)) as line:
        bad = {"name": 5}
        for message, expected in [
            (b"{oops\n", (None, -32700)),
            (b"\xff\xfe\n", (None, -32700)),
            (b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"a":NaN}}\n', (None, -32700)),
            (b"[" * 100_000 + b"]" * 100_000 + b"\n", (None, -32700)),
            (b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"a":%b}}\n' % (b"9" * 5000), None),
            (
                b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"a":' + b"[" * 5000 + b"]" * 5000 + b"}}\n",
                None,
            ),
            ([request(1, "tools/list")], (None, -32600)),
            ([], (None, -32600)),
            (5, (None, -32600)),
            ({"id": 1, "method": "tools/list"}, (1, -32600)),
            ({"jsonrpc": "2.0", "id": 9, "method": 5}, (9, -32600)),
            ({"jsonrpc": "2.0", "id": None, "method": "tools/list"}, (None, -32600)),
            ({"jsonrpc": "2.0", "id": True, "method": "tools/list"}, (None, -32600)),
            ({"jsonrpc": "2.0", "id": 1.5, "method": "tools/list"}, (None, -32600)),
            ({"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": []}, (2, -32602)),
            ({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": bad}, (3, -32602)),
            ({"jsonrpc": "2.0", "id": 3, "method": "tools/list"}, (3, -32602)),
            (request(4, "tools/call", meta={V: "1999-01-01", C: {}}, **bad), (4, -32022)),
            (request(5, "no/such", meta={V: "1999-01-01", C: {}}), (5, -32022)),
            (request(6, "no/such", meta={}), (6, -32602)),
            (request(7, "no/such"), (7, -32601)),
            (request(8, "prompts/list"), (8, -32601)),
            (request(9, "prompts/list", cursor=5), (9, -32601)),
            (request(10, "tools/call", **bad), (10, -32602)),
            (request(11, "initialize"), (11, -32601)),
            (request(12, "ping"), (12, -32601)),
            (request(13, "sampling/createMessage"), (13, -32601)),
            (request(14, "notifications/cancelled", requestId=1), (14, -32600)),
            (request(15, "tools/list", meta={**META, "io.modelcontextprotocol/logLevel": "loud"}), (15, -32602)),
            (request(16, "tools/list", meta={**META, "io.modelcontextprotocol/clientInfo": 5}), (16, -32602)),
        ]:
            found = await refused(line, message)
            assert expected in (found, None), message
        assert await line.silent()


@bounded
async def test_what_errors_say(style: str) -> None:
    async with served(make(style)) as line:
        answer = await line.ask(request("v", "tools/list", meta={V: "1999-01-01", C: {}}))
        assert answer["error"]["data"] == {"requested": "1999-01-01", "supported": [VERSION]}
        answer = await line.ask(request(1, "tools/call", name=5))
        assert answer["error"]["message"] == "Invalid params: CallToolRequestParams: name: expected a string, got 5"
        answer = await line.ask(call(1, "error"))
        assert answer["error"] == {"code": -5, "message": "as asked", "data": {"why": None}}
        answer = await line.ask(call(1, "require"))
        assert answer["error"]["code"] == -32021
        assert answer["error"]["data"] == {"requiredCapabilities": {"sampling": {}, "elicitation": {"url": {}}}}


@bounded
async def test_faults_of_handlers(style: str, caplog: pytest.LogCaptureFixture) -> None:
    async with served(make(style)) as line:
        for tool in ("crash", "wrong class", "nothing", "nan"):
            caplog.clear()
            with caplog.at_level(logging.ERROR, "mcp.server"):
                answer = await line.ask(call(1, tool))
            assert answer["error"] == {"code": -32603, "message": "Internal error"}
            assert "tools/call" in caplog.text


# --- ids -------------------------------------------------------------------------------------------------------------


@bounded
async def test_ids_come_back_as_they_were(style: str) -> None:
    async with served(make(style)) as line:
        for id in (0, 1, "1", "", -7, 2**60, "é\u2028", 'with "quotes"'):
            answer = await line.ask(call(id, "echo", text="x"))
            assert answer["id"] == id
            assert type(answer["id"]) is type(id)


@bounded
async def test_ids_in_flight(style: str) -> None:
    server = make(style)
    async with served(server) as line:
        await line.send(call(1, "wait"))
        assert await refused(line, call(1, "echo", text="x")) == (1, -32600)
        assert (await line.ask(call("1", "echo", text="x")))["id"] == "1"
        server.gate.set()
        assert (await line.receive())["result"]["content"][0]["text"] == "done"
        assert (await line.ask(call(1, "echo", text="again")))["result"]["content"][0]["text"] == "again"
        assert server.ran == ["wait", "echo", "echo"]


# --- what is not answered --------------------------------------------------------------------------------------------


@bounded
async def test_notifications_are_not_answered(style: str) -> None:
    server = make(style)
    async with served(server) as line:
        await line.send(
            {"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "echo", "_meta": META}},
            {"jsonrpc": "2.0", "method": "notifications/nope"},
            {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 99}},
            {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": True}},
            {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {}},
            {"jsonrpc": "2.0", "method": "notifications/cancelled"},
            {"jsonrpc": "2.0", "id": 1, "result": {}},
            {"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": "m"}},
            {"jsonrpc": "2.0", "id": 1, "result": {}, "error": {}},
            {"jsonrpc": "2.0", "id": True, "result": {}},
            b"\n\r\n   \n",
        )
        assert await line.silent()
        assert server.ran == []


@bounded
async def test_cancelling(style: str) -> None:
    server = make(style)
    async with served(server) as line:
        for tool in ("for ever", "wait", "stubborn"):
            await line.send(
                call(1, tool), {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
            )
            assert await line.silent()
            await line.send(call(1, tool))
            assert await line.silent()
            await line.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "1"}})
            await line.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})
            assert await line.silent()
        server.gate.set()
        assert await line.silent()
        assert (await line.ask(call(1, "echo", text="x")))["id"] == 1


@bounded
async def test_cancelled_in_the_same_moment_as_finished(style: str) -> None:
    server = make(style)
    async with served(server) as line:
        await line.send(call(1, "wait"))
        assert await line.silent()
        await line.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})
        server.gate.set()
        first = await line.ask(call(2, "echo", text="x"))
        assert first["id"] in (1, 2)
        if first["id"] == 1:  # it was faster; then nothing is lost
            assert (await line.receive())["id"] == 2
        assert await line.silent()


# --- progress, logs --------------------------------------------------------------------------------------------------


@bounded
async def test_progress(style: str) -> None:
    async with served(make(style)) as line:
        assert "result" in await line.ask(call(1, "progress"))
        for token in ("t", 0, ""):
            await line.send(call(1, "progress", meta={**META, "progressToken": token}))
            steps = []
            while "method" in (message := await line.receive()):
                assert message["method"] == "notifications/progress"
                assert message["params"].pop("progressToken") == token
                steps.append(message["params"])
            assert steps == [{"progress": step, "total": 100} for step in (0, 50, 100.5)]


@bounded
async def test_logs_are_silent_unless_asked_for(style: str) -> None:
    async with served(make(style)) as line:
        assert "result" in await line.ask(call(1, "log"))
        level = {"io.modelcontextprotocol/logLevel": "error"}
        first = await line.ask(call(1, "log", meta={**META, **level}))
        assert first["params"] == {"level": "error", "data": {"a": [1, 1.0]}, "logger": "l"}
        assert (await line.receive())["id"] == 1
        level = {"io.modelcontextprotocol/logLevel": "debug"}
        first = await line.ask(call(1, "log", meta={**META, **level}))
        assert first["params"] == {"level": "debug", "data": None}


@bounded
async def test_nothing_is_sent_after_the_answer(style: str) -> None:
    server = make(style)
    async with served(server) as line:
        await line.ask(call(1, "after", meta={**META, "progressToken": 1}))
        await server.context_of_after.progress(5)
        await server.context_of_after.log("error", "x")
        assert await line.silent()


# --- results ---------------------------------------------------------------------------------------------------------


@bounded
async def test_results_say_who_answers(style: str) -> None:
    identity = {"io.modelcontextprotocol/serverInfo": {"name": "test", "version": "1"}}
    for identify, in_list, in_discover in (("always", True, True), ("discover", False, True), ("never", False, False)):
        async with served(make(style, identify=identify)) as line:
            listed = (await line.ask(request(1, "tools/list")))["result"]
            assert listed.get("_meta", {}) == (identity if in_list else {})
            assert (listed["resultType"], listed["ttlMs"], listed["cacheScope"]) == ("complete", 0, "private")
            discovered = (await line.ask(request(1, "server/discover")))["result"]
            assert discovered.get("_meta", {}) == (identity if in_discover else {})
            assert discovered["supportedVersions"] == [VERSION]
            assert discovered["capabilities"] == {
                "logging": {},
                "resources": {"subscribe": True},
                "tools": {"listChanged": True},
            }


@bounded
async def test_awkward_text_comes_back(style: str) -> None:
    text = 'line1\nline2\r\u2028\u2029\x85\x0b\ufeff測\U0001f600\x00"\\'
    async with served(make(style)) as line:
        answer = await line.ask(call(1, "echo", text=text))
        assert answer["result"]["content"][0]["text"] == text


@bounded
async def test_a_lone_surrogate_harms_nobody(style: str) -> None:
    raw = (
        b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"\\ud83d"},"_meta":'
    )
    async with served(make(style)) as line:
        answer = await line.ask(raw + json.dumps(META).encode() + b"}}\n")
        assert "error" in answer or answer["result"]["content"][0]["text"] == "\ud83d"
        assert await line.silent()


# --- capabilities at run time, fallback ------------------------------------------------------------------------------


@bounded
async def test_gateways(style: str) -> None:
    rev = revision(style)
    types = rev.types

    class Gateway(rev.Server):  # type: ignore[misc]
        families: tuple[str, ...] = ()

        def capabilities(self) -> Any:
            return rev.codec.decode(types.ServerCapabilities, {family: {} for family in self.families})

        async def list_tools(self, params: Any, ctx: Any) -> Any:
            return types.ListToolsResult(tools=[])

        async def fallback(self, method: str, payload: Any, ctx: Any) -> Any:
            if method == "vendor/raw":
                return b'{\n"raw": 1.0\n}'
            if method == "vendor/dict":
                return {"params": ctx.params["x"], "resultType": "complete"}
            return await super().fallback(method, payload, ctx)

    server = Gateway(info=info(style), identify="discover")
    async with served(server) as line:
        assert await refused(line, request(1, "tools/list")) == (1, -32601)
        server.families = ("tools",)
        assert "result" in await line.ask(request(1, "tools/list"))
        assert (await line.ask(request(1, "server/discover")))["result"]["capabilities"] == {"tools": {}}
        assert (await line.ask(request(1, "vendor/raw")))["result"] == {"raw": 1.0}
        assert (await line.ask(request(1, "vendor/dict", x=[1])))["result"]["params"] == [1]
        assert await refused(line, request(1, "vendor/none")) == (1, -32601)
        assert await refused(line, request(1, "vendor/dict", meta={})) == (1, -32602)


# --- subscriptions ---------------------------------------------------------------------------------------------------


@bounded
async def test_listening(style: str) -> None:
    server = make(style)
    async with served(server) as line:
        wanted = {"toolsListChanged": True, "promptsListChanged": True, "resourceSubscriptions": ["file:///a"]}
        for id in (0, "", 3):
            acknowledged = await line.ask(request(id, "subscriptions/listen", notifications=wanted))
            assert acknowledged["method"] == "notifications/subscriptions/acknowledged"
            assert acknowledged["params"] == {
                "notifications": {"toolsListChanged": True, "resourceSubscriptions": ["file:///a"]},
                "_meta": {SUBSCRIPTION: id},
            }
        await server.notify_tool_list_changed()
        await server.notify_prompt_list_changed()
        await server.notify_resource_updated(uri="file:///b")
        seen = [await line.receive() for _ in range(3)]
        assert {m["method"] for m in seen} == {"notifications/tools/list_changed"}
        assert sorted(repr(m["params"]["_meta"][SUBSCRIPTION]) for m in seen) == ["''", "0", "3"]
        await line.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 0}})
        await line.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": ""}})
        assert await line.silent()
        await server.notify_resource_updated(uri="file:///a/inner")
        assert (await line.receive())["params"] == {"uri": "file:///a/inner", "_meta": {SUBSCRIPTION: 3}}
        assert await refused(line, request(3, "tools/list")) == (3, -32600)
        for hub in server.hubs:
            hub.end()
        ended = await line.receive()
        assert ended["id"] == 3
        assert ended["result"]["resultType"] == "complete"
        assert ended["result"]["_meta"][SUBSCRIPTION] == 3
        after = await line.receive()
        assert (after["method"], after["params"]) == ("notifications/cancelled", {"requestId": 3})
        assert await line.silent()
    assert not server.hubs


@bounded
async def test_listening_to_a_server_that_announces_nothing(style: str) -> None:
    rev = revision(style)
    async with served(rev.Server(info=info(style))) as line:
        assert await refused(line, request(1, "subscriptions/listen", notifications={})) == (1, -32601)


# --- the end ---------------------------------------------------------------------------------------------------------


@bounded
async def test_requests_in_flight_are_answered_after_the_input_ended(style: str) -> None:
    server = make(style)
    async with served(server) as line:
        await line.send(call(1, "wait"))
        assert await line.silent()
        line.hang_up()
        server.gate.set()
        assert (await line.receive())["id"] == 1
        assert await line.receive() is None


@bounded
async def test_a_handler_that_never_returns_does_not_keep_the_server(style: str) -> None:
    async with served(make(style), grace=0.05) as line:
        await line.send(call(1, "for ever"), call(2, "echo", text="x"))
        assert (await line.receive())["id"] == 2
        line.hang_up()
        assert await line.receive() is None


@bounded
async def test_the_last_request_may_lack_its_line_end(style: str) -> None:
    async with served(make(style)) as line:
        await line.send(json.dumps(call(1, "echo", text="x")).encode())
        line.hang_up()
        assert (await line.receive())["id"] == 1


@bounded
async def test_messages_beyond_the_limit(style: str) -> None:
    async with served(make(style), message_limit=1000) as line:
        answer = await line.ask(call(7, "echo", text="x" * 5000))
        assert (answer["id"], answer["error"]["code"]) == (7, -32600)
        assert "longer than the limit" in answer["error"]["message"]
        assert await line.silent()
        assert (await line.ask(b'["' + b"x" * 5000 + b'"]\n')).get("id") is None
        assert await line.silent()


@bounded
async def test_many_at_once_with_few_workers(style: str) -> None:
    server = make(style)
    async with served(server, concurrency=8) as line:
        count = 3000
        seen: set[int] = set()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(line.send, *(call(n, "wait" if n < 4 else "echo", text="x" * 500) for n in range(count)))
            while len(seen) < count - 4:
                message = await line.receive()
                assert message["id"] not in seen
                seen.add(message["id"])
        server.gate.set()
        seen |= {(await line.receive())["id"] for _ in range(4)}
        assert seen == set(range(count))


@bounded
async def test_answers_do_not_wait_for_slow_neighbours(style: str) -> None:
    rev = revision(style)

    class Slow(rev.Server):  # type: ignore[misc]
        poked = False

        async def call_tool(self, params: Any, ctx: Any) -> Any:
            if params.name == "slow":
                time.sleep(0.2)  # a handler that hogs the event loop, as it should not
            return text_result(style, params.name)

        async def on_cancelled(self, params: Any) -> None:
            await anyio.sleep(0.01)
            self.poked = True

    server = Slow(info=info(style))
    reading, writing = os.pipe()
    asked = [call(1, "quick"), call(2, "slow"), call(3, "slow")]
    os.write(writing, b"".join(json.dumps(message).encode() + b"\n" for message in asked))
    answered: list[tuple[int, float]] = []

    class Writer:
        def write_now(self, data: memoryview) -> int:
            answered.extend((json.loads(line)["id"], time.monotonic()) for line in bytes(data).splitlines())
            return len(data)

        async def write(self, data: memoryview) -> int:
            return self.write_now(data)

    os.close(writing)
    await serve_stream(server, pipes.reader(reading), Writer())
    os.close(reading)
    assert [id for id, _ in answered] == [1, 2, 3]
    assert answered[1][1] < answered[2][1], "the second answer did not wait for the third"
    async with served(server) as line:
        await line.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 5}})
        assert (await line.ask(call(1, "quick")))["id"] == 1
        while not server.poked:
            await anyio.sleep(0.001)


@bounded
async def test_handlers_do_not_share_context_variables(style: str) -> None:
    rev = revision(style)
    variable: ContextVar[str] = ContextVar("variable", default="untouched")

    class Leaky(rev.Server):  # type: ignore[misc]
        async def call_tool(self, params: Any, ctx: Any) -> Any:
            before = variable.get()
            variable.set(params.name)
            await anyio.sleep(0)
            assert variable.get() == params.name
            return text_result(style, before)

    async with served(Leaky(info=info(style))) as line:
        for name in ("a", "b", "c"):
            answer = await line.ask(call(1, name))
            assert answer["result"]["content"][0]["text"] == "untouched"
