"""An extension adds a method, a notification, a result type and a filter member: by a larger table, nothing else."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from mcp_bindings.runtime import memory
from mcp_bindings.runtime.failures import InvalidMessage, McpError
from mcp_bindings.runtime.peer import as_object
from mcp_bindings.runtime.specs import MethodSpec
from runtime.bounded import bounded
from runtime.world import META, STYLES, info, request, revision, served, text_result

pytestmark = pytest.mark.anyio

EXTENSION = "com.example/jobs"


@pytest.fixture(params=STYLES)
def style(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def table(style: str) -> Any:
    """The method table with the extension's rows. `jobs/get` has typed params and an untyped result."""
    rev = revision(style)
    types = rev.types
    get = MethodSpec("jobs/get", "get_job", "request", "client", params=types.ReadResourceRequestParams)
    call = dataclasses.replace(rev.methods.CALL_TOOL, alternatives={**rev.methods.CALL_TOOL.alternatives, "job": None})
    status = MethodSpec(
        "notifications/jobs/status", "job_status", "notification", "server", topic="jobIds", topic_key="jobId"
    )
    poke = MethodSpec("notifications/jobs/poke", "poke", "notification", "client")
    return {**rev.methods.METHODS, **{spec.wire: spec for spec in (get, call, status, poke)}}


def make(style: str, methods: Any) -> Any:
    rev = revision(style)

    class JobServer(rev.Server):  # type: ignore[misc]
        poked: list[Any]

        def capabilities(self) -> Any:
            wire = rev.codec.encode(super().capabilities())
            return rev.codec.decode(rev.types.ServerCapabilities, {**wire, "extensions": {EXTENSION: {}}})

        async def call_tool(self, params: Any, ctx: Any) -> Any:
            if ctx.has(f"extensions.{EXTENSION}"):
                return {"resultType": "job", "jobId": "7"}
            return text_result(style, "done at once")

        async def get_job(self, params: Any, ctx: Any) -> Any:
            ctx.require(f"extensions.{EXTENSION}")
            await self.publish("notifications/jobs/status", {"jobId": params.uri, "status": "working", "share": 0.5})
            return {"resultType": "complete", "jobId": params.uri, "result": [1, 1.0, None]}

        async def on_poke(self, params: Any) -> None:
            self.poked.append(params)

    server = JobServer(info=info(style), methods=methods, identify="discover")
    server.poked = []
    return server


@bounded
async def test_in_both_directions(style: str) -> None:
    rev = revision(style)
    methods = table(style)
    server = make(style, methods)
    heard: list[Any] = []

    class Handlers(rev.ClientHandlers):  # type: ignore[misc]
        async def on_job_status(self, params: Any) -> None:
            heard.append(params["status"])

    client = rev.AsyncClient(
        memory.connect(server), info=info(style), methods=methods, extensions={EXTENSION: {}}, handlers=Handlers()
    )
    async with client as one:
        assert (await one.discover()).capabilities.extensions == {EXTENSION: {}}
        job = await one.call_tool(name="slow")
        assert job["jobId"] == "7"
        async with one.subscribe({"jobIds": ["7"], "toolsListChanged": True}) as stream:
            assert stream.filter == {"jobIds": ["7"]}
            assert await one.call("jobs/get", {"uri": "7"}) == {
                "resultType": "complete",
                "jobId": "7",
                "result": [1, 1.0, None],
            }
            await one.call("jobs/get", {"uri": "8"})
            method, params = await stream.__anext__()
            assert method == "notifications/jobs/status"
            assert as_object(params)["share"] == 0.5
        await one.send("notifications/jobs/poke", {"hard": True})
        assert server.poked == [{"hard": True}]
    assert heard == ["working"]


@bounded
async def test_without_the_extension(style: str) -> None:
    rev = revision(style)
    methods = table(style)
    async with rev.AsyncClient(memory.connect(make(style, methods)), info=info(style)) as one:
        assert (await one.call_tool(name="slow")).content[0].text == "done at once"
        with pytest.raises(McpError) as caught:
            await one.call("jobs/get", {"uri": "7"})
        assert caught.value.data == {"requiredCapabilities": {"extensions": {EXTENSION: {}}}}
    plain = rev.AsyncClient(memory.connect(make(style, methods)), info=info(style), extensions={EXTENSION: {}})
    async with plain as one:
        with pytest.raises(InvalidMessage, match="job"):
            await one.call_tool(name="slow")
    async with rev.AsyncClient(memory.connect(make(style, None)), info=info(style), methods=methods) as one:
        with pytest.raises(McpError, match="not found"):
            await one.call("jobs/get", {"uri": "7"})


@bounded
async def test_on_the_wire(style: str) -> None:
    server = make(style, table(style))
    meta = {**META, "io.modelcontextprotocol/clientCapabilities": {"extensions": {EXTENSION: {}}}}
    async with served(server) as line:
        assert (await line.ask(request(1, "jobs/get", uri="7", meta=meta)))["result"]["jobId"] == "7"
        assert (await line.ask(request(1, "jobs/get", uri=7, meta=meta)))["error"]["code"] == -32602
        assert (await line.ask(request(1, "jobs/get", uri="7", meta={})))["error"]["code"] == -32602
        old = {**meta, "io.modelcontextprotocol/protocolVersion": "1999-01-01"}
        assert (await line.ask(request(1, "jobs/get", uri="7", meta=old)))["error"]["code"] == -32022
        assert (await line.ask(request(1, "tools/call", name="t", meta=meta)))["result"]["resultType"] == "job"
        await line.send({"jsonrpc": "2.0", "method": "notifications/jobs/poke", "params": {}})
        assert await line.silent()
        assert server.poked == [{}]
