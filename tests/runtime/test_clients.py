"""Generated clients against a scripted peer, and against generated servers in memory."""

from __future__ import annotations

import json
from collections.abc import Callable
from math import inf
from typing import Any

import anyio
import pytest

from mcp_bindings.runtime import memory
from mcp_bindings.runtime.caching import ResultCache
from mcp_bindings.runtime.client_session import Timeout
from mcp_bindings.runtime.failures import (
    ConnectionClosed,
    InputRefused,
    InvalidMessage,
    McpError,
    PaginationLoop,
    RequestTimeout,
    StreamOverflow,
    TooManyRounds,
    UnsupportedRevision,
)
from mcp_bindings.runtime.peer import OnNotification, Payload, as_json, as_object
from runtime.bounded import bounded
from runtime.world import STYLES, SUBSCRIPTION, VERSION, info, revision, text_result

pytestmark = pytest.mark.anyio

V = "io.modelcontextprotocol/protocolVersion"
C = "io.modelcontextprotocol/clientCapabilities"
CALLED = {"resultType": "complete", "content": [{"type": "text", "text": "hi"}]}


@pytest.fixture(params=STYLES)
def style(request: pytest.FixtureRequest) -> str:
    return str(request.param)


class Script:
    """A peer that answers from a script: results, errors to raise, or functions of the params that give either."""

    def __init__(self, *replies: Any) -> None:
        self.replies = list(replies)
        self.seen: list[tuple[str, dict[str, Any]]] = []
        self.timeouts: list[float | None] = []

    async def request(
        self,
        method: str,
        params: Payload,
        *,
        timeout: float | None = None,
        on_notification: OnNotification | None = None,
    ) -> Payload:
        wire = json.loads(as_json(params))
        self.seen.append((method, wire))
        self.timeouts.append(timeout)
        reply = self.replies.pop(0) if self.replies else CALLED
        if isinstance(reply, Callable):  # type: ignore[arg-type]
            reply = reply(wire, on_notification)
            if hasattr(reply, "__await__"):
                reply = await reply
        if isinstance(reply, BaseException):
            raise reply
        return json.dumps(reply).encode()

    async def notify(self, method: str, params: Payload | None = None) -> None:
        self.seen.append((method, as_object(params or {})))


def client(style: str, peer: Any, **options: Any) -> Any:
    return revision(style).AsyncClient(peer, info=info(style, "me"), **options)


# --- what is sent ----------------------------------------------------------------------------------------------------


@bounded
async def test_metadata_on_every_request(style: str) -> None:
    script = Script()
    own = {V: VERSION, "io.modelcontextprotocol/clientInfo": {"name": "me", "version": "1"}, C: {}}
    async with client(style, script) as one:
        await one.call_tool(name="t")
        await one.call_tool(
            name="t", arguments={"a": [1, 1.0, None]}, meta={"com.example/x": {"y": None}, V: "mine wins"}
        )
        assert script.seen[0] == ("tools/call", {"name": "t", "_meta": own})
        assert script.seen[1] == (
            "tools/call",
            {"name": "t", "arguments": {"a": [1, 1.0, None]}, "_meta": {**own, "com.example/x": {"y": None}}},
        )
    script = Script()
    trace = {"traceparent": "00-1-2-01", "tracestate": "a=b"}
    async with client(style, script, log_level="error", trace=lambda: trace, extensions={"com.example/x": {}}) as one:
        await one.call_tool(name="t", on_progress=lambda _: None)
        await one.call_tool(name="t", on_progress=lambda _: None)
        sent = [params["_meta"] for _, params in script.seen]
        assert sent[0].pop("progressToken") != sent[1].pop("progressToken")
        assert sent[0] == sent[1]
        assert sent[0] == {
            **own,
            **trace,
            C: {"extensions": {"com.example/x": {}}},
            "io.modelcontextprotocol/logLevel": "error",
        }


@bounded
async def test_the_raw_form_sends_what_it_is_given(style: str) -> None:
    rev = revision(style)
    script = Script()
    wire = {"name": "t", "_meta": {V: VERSION, C: {"sampling": {}}, "x/y": 1}}
    async with client(style, script) as one:
        result = await one.call_tool_raw(rev.codec.decode(rev.types.CallToolRequestParams, wire))
        assert result == rev.codec.decode(rev.types.CallToolResult, CALLED)
    assert script.seen == [("tools/call", wire)]


@bounded
async def test_capabilities_follow_the_handlers(style: str) -> None:
    rev = revision(style)

    class Some(rev.ClientHandlers):  # type: ignore[misc]
        sampling_tools = True
        elicitation_url = True

        async def elicit(self, params: Any) -> Any: ...

    class All(Some):
        async def create_message(self, params: Any) -> Any: ...
        async def list_roots(self, params: Any) -> Any: ...

    for handlers, expected in [
        (None, {}),
        (rev.ClientHandlers(), {}),
        (Some(), {"elicitation": {"url": {}}}),
        (All(), {"elicitation": {"url": {}}, "sampling": {"tools": {}}, "roots": {}}),
    ]:
        script = Script()
        async with client(style, script, handlers=handlers) as one:
            await one.call_tool(name="t")
        assert script.seen[0][1]["_meta"][C] == expected


# --- versions --------------------------------------------------------------------------------------------------------


@bounded
async def test_another_version_is_tried_once(style: str) -> None:
    refusal = McpError(-32022, "no", {"supported": [VERSION, "2025-11-25"], "requested": "2099-01-01"})
    script = Script(refusal)
    async with client(style, script, versions=("2099-01-01", VERSION)) as one:
        await one.call_tool(name="t")
        await one.call_tool(name="t")
    assert [params["_meta"][V] for _, params in script.seen] == ["2099-01-01", VERSION, VERSION]
    for script, count in ((Script(refusal, refusal), 2), (Script(McpError(-32022, "no", {"supported": ["x"]})), 1)):
        async with client(style, script) as one:
            with pytest.raises(McpError):
                await one.call_tool(name="t")
        assert len(script.seen) == count


def test_other_revisions_are_refused_clearly(style: str) -> None:
    from importlib import import_module

    rev = import_module(f"mcp_bindings.{style}.v2025_11_25")
    implementation = rev.types.Implementation(name="n", version="1")
    with pytest.raises(UnsupportedRevision, match="2025-11-25"):
        rev.AsyncClient(Script(), info=implementation)
    with pytest.raises(UnsupportedRevision, match="2025-11-25"):
        memory.ServerSession(rev.Server(info=implementation))


# --- what is received ------------------------------------------------------------------------------------------------


@bounded
async def test_what_peers_leave_out(style: str) -> None:
    types = revision(style).types
    tools = {"tools": [], "nextCursor": None, "ttlMs": -1}
    script = Script({"tools": []}, tools, {"content": []}, {"contents": []})
    async with client(style, script) as one:
        plain = types.ListToolsResult(tools=[])
        assert await one.list_tools() == plain
        assert await one.list_tools() == plain
        assert await one.call_tool(name="t") == types.CallToolResult(content=[])
        assert await one.read_resource(uri="u") == types.ReadResourceResult(contents=[])


@pytest.mark.parametrize(
    "reply",
    [
        {"resultType": "task", "content": []},
        {"resultType": 5, "content": []},
        {"resultType": None, "content": []},
        {"resultType": "complete"},
        {"resultType": "complete", "content": {}},
        {"resultType": "input_required"},
        {"resultType": "input_required", "inputRequests": []},
    ],
)
@bounded
async def test_results_that_make_no_sense(style: str, reply: Any) -> None:
    async with client(style, Script(reply)) as one:
        with pytest.raises(InvalidMessage):
            await one.call_tool(name="t")


@bounded
async def test_input_is_not_required_where_it_may_not_be(style: str) -> None:
    async with client(style, Script({"resultType": "input_required", "requestState": "s", "tools": []})) as one:
        with pytest.raises(InvalidMessage, match="input_required"):
            await one.list_tools()


@bounded
async def test_not_connected(style: str) -> None:
    one = client(style, memory.connect(revision(style).Server(info=info(style))))
    with pytest.raises(ConnectionClosed, match="async with"):
        await one.discover()
    async with one:
        await one.discover()
    with pytest.raises(ConnectionClosed):
        await one.discover()


# --- time ------------------------------------------------------------------------------------------------------------


@bounded
async def test_timeouts(style: str) -> None:
    script = Script()
    async with client(style, script, timeout=7) as one:
        await one.call_tool(name="t")
        await one.call_tool(name="t", timeout=3)
        await one.call_tool(name="t", timeout=inf)
        await one.call_tool(name="t", timeout=Timeout(5))
    assert script.timeouts == [7, 3, None, None]


@bounded
async def test_progress_resets_the_clock_up_to_a_limit(style: str) -> None:
    async def work(params: Any, on_notification: Any, steps: int) -> Any:
        token = params["_meta"]["progressToken"]
        for step in range(steps):
            await anyio.sleep(0.15)
            on_notification("notifications/progress", {"progressToken": token, "progress": step})
        return CALLED

    def working(steps: int) -> Any:
        return lambda params, on_notification: work(params, on_notification, steps)

    async with client(style, Script(working(6), working(100), working(100))) as one:
        await one.call_tool(name="t", timeout=Timeout(0.5, reset_by_progress=True))
        with pytest.raises(RequestTimeout):
            await one.call_tool(name="t", timeout=Timeout(0.5, reset_by_progress=True, at_most=0.8))
        with pytest.raises(RequestTimeout):
            await one.call_tool(name="t", timeout=Timeout(0.4), on_progress=lambda _: None)


# --- rounds ----------------------------------------------------------------------------------------------------------

FORM = {
    "method": "elicitation/create",
    "params": {"message": "m", "requestedSchema": {"type": "object", "properties": {}}},
}
URL = {"method": "elicitation/create", "params": {"mode": "url", "message": "m", "url": "https://example.com"}}
ROOTS = {"method": "roots/list"}
SAMPLE = {"method": "sampling/createMessage", "params": {"messages": [], "maxTokens": 5}}


def required(state: str | None = None, **inputs: Any) -> dict[str, Any]:
    result: dict[str, Any] = {"resultType": "input_required"}
    if inputs:
        result["inputRequests"] = inputs
    if state is not None:
        result["requestState"] = state
    return result


def handlers(style: str) -> Any:
    rev = revision(style)
    types = rev.types

    class Handlers(rev.ClientHandlers):  # type: ignore[misc]
        async def elicit(self, params: Any) -> Any:
            return types.ElicitResult(action="accept", content={"message": params.message})

        async def list_roots(self, params: Any) -> Any:
            return types.ListRootsResult(roots=[types.Root(uri="file:///r")])

    return Handlers()


@bounded
async def test_rounds(style: str) -> None:
    state = 'é\u2028 "opaque" \\ \u0000 {}'
    script = Script(required(state, a=FORM, b=ROOTS), required(c=FORM), required(""), CALLED)
    async with client(style, script, handlers=handlers(style)) as one:
        result = await one.call_tool(name="t", arguments={"x": 1.0}, meta={"com.example/k": 1})
        assert result.content[0].text == "hi"
    rounds = [params for _, params in script.seen]
    assert all(r["name"] == "t" and r["arguments"] == {"x": 1.0} and r["_meta"] == rounds[0]["_meta"] for r in rounds)
    assert [r.get("requestState") for r in rounds] == [None, state, None, ""]
    assert rounds[0].get("inputResponses") is None
    assert rounds[1]["inputResponses"] == {
        "a": {"action": "accept", "content": {"message": "m"}},
        "b": {"roots": [{"uri": "file:///r"}]},
    }
    assert list(rounds[2]["inputResponses"]) == ["c"]
    assert "inputResponses" not in rounds[3]


@bounded
async def test_one_round_at_a_time(style: str) -> None:
    rev = revision(style)
    types = rev.types
    script = Script(required("s", a=FORM), CALLED)
    async with client(style, script, handlers=handlers(style)) as one:
        asked = await one.call_tool_once(name="t")
        assert isinstance(asked, types.InputRequiredResult)
        answer = types.ElicitResult(action="decline")
        done = await one.call_tool_once(name="t", input_responses={"a": answer}, request_state=asked.request_state)
        assert isinstance(done, types.CallToolResult)
    assert script.seen[1][1]["inputResponses"] == {"a": {"action": "decline"}}
    assert script.seen[1][1]["requestState"] == "s"


@bounded
async def test_only_what_was_declared_is_served(style: str) -> None:
    for asked in (URL, SAMPLE, {"method": "tools/list"}, {"method": "vendor/x"}):
        async with client(style, Script(required(a=asked)), handlers=handlers(style)) as one:
            with pytest.raises(InputRefused):
                await one.call_tool(name="t")
    async with client(style, Script(required(a=FORM))) as one:
        with pytest.raises(InputRefused):
            await one.call_tool(name="t")
    wrong = {"method": "elicitation/create", "params": {"message": 5}}
    async with client(style, Script(required(a=wrong)), handlers=handlers(style)) as one:
        with pytest.raises(InvalidMessage):
            await one.call_tool(name="t")


@bounded
async def test_rounds_end(style: str) -> None:
    script = Script(*[required(a=FORM)] * 20)
    async with client(style, script, handlers=handlers(style), max_rounds=3) as one:
        with pytest.raises(TooManyRounds):
            await one.call_tool(name="t")
    assert len(script.seen) == 4


# --- pages, cache ----------------------------------------------------------------------------------------------------


def page(*names: str, cursor: str | None = None, ttl: int = 0) -> dict[str, Any]:
    tools = [{"name": name, "inputSchema": {"type": "object"}} for name in names]
    more = {} if cursor is None else {"nextCursor": cursor}
    return {"resultType": "complete", "tools": tools, "ttlMs": ttl, "cacheScope": "private", **more}


@bounded
async def test_all_pages(style: str) -> None:
    script = Script(page("a", cursor=""), page("b", "c", cursor="x"), page(), page("a", cursor="1"), page(cursor="1"))
    async with client(style, script) as one:
        assert [tool.name async for tool in one.iter_tools()] == ["a", "b", "c"]
        assert [params.get("cursor") for _, params in script.seen] == [None, "", "x"]
        with pytest.raises(PaginationLoop):
            [tool async for tool in one.iter_tools()]


@bounded
async def test_the_cache(style: str) -> None:
    script = Script(page("a", ttl=60_000), page("b", ttl=60_000), page("c"), page("d"))
    async with client(style, script, cache=ResultCache()) as one:
        assert (await one.list_tools()).tools[0].name == "a"
        assert (await one.list_tools(meta={"com.example/other": 1})).tools[0].name == "a"
        assert (await one.list_tools(cursor="")).tools[0].name == "b"
        one._notified("notifications/tools/list_changed", {})
        assert (await one.list_tools()).tools[0].name == "c"
        assert (await one.list_tools()).tools[0].name == "d"
        await one.call_tool(name="t")
        await one.call_tool(name="t")
    assert len(script.seen) == 6


@bounded
async def test_answers_to_input_are_not_cached(style: str) -> None:
    read = {"resultType": "complete", "contents": [], "ttlMs": 60_000, "cacheScope": "public"}
    script = Script(required(a=FORM), read, read, read)
    async with client(style, script, handlers=handlers(style), cache=ResultCache()) as one:
        await one.read_resource(uri="u")
        await one.read_resource(uri="u")
        await one.read_resource(uri="u")
        await one.read_resource_once(uri="u", request_state="s")
    assert len(script.seen) == 4


# --- in memory -------------------------------------------------------------------------------------------------------


def make(style: str) -> Any:
    rev = revision(style)
    types = rev.types

    class TestServer(rev.Server):  # type: ignore[misc]
        logging = True
        tools_list_changed = True
        resources_subscribe = True

        async def read_resource(self, params: Any, ctx: Any) -> Any:
            return types.ReadResourceResult(contents=[])

        async def call_tool(self, params: Any, ctx: Any) -> Any:
            match params.name:
                case "error":
                    raise McpError(-5, "m", {"a": (1,)})
                case "who":
                    return text_result(style, f"{ctx.client_info.name} {ctx.principal} {ctx.protocol_version}")
                case "wait":
                    await anyio.sleep_forever()
                case "steps":
                    for step in range(3):
                        await ctx.progress(step)
                        await ctx.log("error", step)
                case "ask":
                    if params.input_responses is None:
                        form = types.ElicitRequestFormParamsRequestedSchema(properties={})
                        asked = {
                            "form": types.ElicitRequest(
                                params=types.ElicitRequestFormParams(message="?", requested_schema=form)
                            ),
                            "sample": types.CreateMessageRequest(
                                params=types.CreateMessageRequestParams(messages=[], max_tokens=1)
                            ),
                        }
                        return ctx.input_required(asked, state=ctx.seal([1]))
                    assert set(params.input_responses) == {"form"}
                    assert ctx.unseal(params.request_state) == [1]
                case "sample":
                    sample = types.CreateMessageRequest(
                        params=types.CreateMessageRequestParams(messages=[], max_tokens=1)
                    )
                    return ctx.input_required({"sample": sample})
            return text_result(style, "done")

    return TestServer(info=info(style))


@pytest.fixture(params=[True, False], ids=["json", "objects"])
def as_json_text(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


@bounded
async def test_in_memory(style: str, as_json_text: bool) -> None:
    steps: list[float] = []
    async with client(
        style, memory.connect(make(style), json=as_json_text, principal="alice"), handlers=handlers(style)
    ) as one:
        assert (await one.call_tool(name="who")).content[0].text == f"me alice {VERSION}"
        await one.call_tool(name="steps", on_progress=lambda progress: steps.append(progress.progress))
        assert steps == [0, 1, 2]
        assert (await one.call_tool(name="ask")).content[0].text == "done"
        with pytest.raises(McpError) as caught:
            await one.call_tool(name="sample")
        assert (caught.value.code, caught.value.data) == (-32021, {"requiredCapabilities": {"sampling": {}}})
        with pytest.raises(McpError) as caught:
            await one.call_tool_once(name="ask", request_state="forged", input_responses={})
        with pytest.raises(McpError, match="not found"):
            await one.list_prompts()
        with pytest.raises(RequestTimeout):
            await one.call_tool(name="wait", timeout=0.05)
        with anyio.move_on_after(0.05) as scope:
            await one.call_tool(name="wait")
        assert scope.cancelled_caught
        assert (await one.call_tool(name="done")).content[0].text == "done"


@bounded
async def test_styles_mix(style: str, as_json_text: bool) -> None:
    for other in STYLES:
        async with client(other, memory.connect(make(style), json=as_json_text)) as one:
            assert (await one.call_tool(name="who")).content[0].text == f"me None {VERSION}"


@bounded
async def test_closing_fails_what_is_in_flight(style: str) -> None:
    failures: list[Exception] = []
    one = client(style, memory.connect(make(style)))

    async def wait() -> None:
        try:
            await one.call_tool(name="wait")
        except ConnectionClosed as failure:
            failures.append(failure)

    async with anyio.create_task_group() as tasks, one:
        tasks.start_soon(wait)
        await anyio.sleep(0.02)
    assert len(failures) == 1


@bounded
async def test_a_busy_client_gives_others_a_turn(style: str) -> None:
    async with client(style, memory.connect(make(style))) as one, anyio.create_task_group() as tasks:
        event = anyio.Event()

        async def other() -> None:
            event.set()

        tasks.start_soon(other)
        count = 0
        while not event.is_set():
            await one.call_tool(name="done")
            count += 1
            assert count < 100


# --- subscriptions ---------------------------------------------------------------------------------------------------


@bounded
async def test_streams(style: str, as_json_text: bool) -> None:
    types = revision(style).types
    server = make(style)
    async with client(style, memory.connect(server, json=as_json_text)) as one:
        tools = one.listen(tools_list_changed=True, prompts_list_changed=True)
        files = one.listen(resource_subscriptions=["file:///a"])
        async with tools, files:
            assert tools.filter == types.SubscriptionFilter(tools_list_changed=True)
            assert files.filter == types.SubscriptionFilter(resource_subscriptions=["file:///a"])
            await server.notify_tool_list_changed()
            await server.notify_resource_updated(uri="file:///a/b")
            event = await tools.__anext__()
            assert isinstance(event, types.ToolListChangedNotification)
            event = await files.__anext__()
            assert isinstance(event, types.ResourceUpdatedNotification)
            assert event.params.uri == "file:///a/b"
            for hub in server.hubs:
                hub.end()
            assert [event async for event in tools] == []
            assert [event async for event in files] == []
        assert not any(len(hub) for hub in server.hubs)
        async with one.listen(tools_list_changed=True) as stream:
            for _ in range(5):
                await server.notify_tool_list_changed()
            await stream.__anext__()
        await server.notify_tool_list_changed()
        await anyio.sleep(0)
        assert not any(len(hub) for hub in server.hubs)


@bounded
async def test_refused_streams(style: str) -> None:
    async with client(style, memory.connect(revision(style).Server(info=info(style)))) as one:
        with pytest.raises(McpError):
            async with one.listen(tools_list_changed=True):
                raise AssertionError

    async def silence(params: Any, on_notification: Any) -> None:
        await anyio.sleep_forever()

    async with client(style, Script(silence)) as one:
        with pytest.raises(RequestTimeout):
            async with one.listen(tools_list_changed=True, timeout=0.05):
                raise AssertionError


@bounded
async def test_streams_that_overflow_or_break(style: str) -> None:
    def notified(on_notification: Any, method: str, **params: Any) -> None:
        on_notification(method, {**params, "_meta": {SUBSCRIPTION: 1}})

    async def flood(params: Any, on_notification: Any) -> None:
        notified(on_notification, "notifications/subscriptions/acknowledged", notifications=params["notifications"])
        await anyio.sleep(0.02)
        for number in range(2000):
            notified(on_notification, "notifications/resources/updated", uri=str(number))
        await anyio.sleep_forever()

    async def breaks(params: Any, on_notification: Any) -> Any:
        notified(on_notification, "notifications/subscriptions/acknowledged", notifications={})
        notified(on_notification, "notifications/tools/list_changed")
        return ConnectionClosed("gone")

    async with client(style, Script(flood, breaks)) as one:
        async with one.listen(resource_subscriptions=["x"]) as stream:
            with pytest.raises(StreamOverflow):
                [event async for event in stream]
        async with one.listen(tools_list_changed=True) as stream:
            await stream.__anext__()
            with pytest.raises(ConnectionClosed):
                await stream.__anext__()


@bounded
async def test_notification_handlers(style: str) -> None:
    rev = revision(style)
    heard: list[Any] = []
    enough = anyio.Event()

    class Handlers(rev.ClientHandlers):  # type: ignore[misc]
        async def on_logging_message(self, params: Any) -> None:
            heard.append(params.data)
            if params.data == 1:
                raise RuntimeError("handlers may fail")
            if params.data == 2:
                enough.set()

        async def on_tool_list_changed(self, params: Any) -> None:
            heard.append("tools")

    server = make(style)
    async with client(style, memory.connect(server), handlers=Handlers(), log_level="debug") as one:
        async with one.listen(tools_list_changed=True) as stream:
            await server.notify_tool_list_changed()
            await stream.__anext__()
        await one.call_tool(name="steps")
        await enough.wait()
    assert heard == ["tools", 0, 1, 2]
