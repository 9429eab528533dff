"""Every method of the table, through every proxy, over every transport, in every style."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from anyio.from_thread import start_blocking_portal

from mcp_bindings.runtime import memory, stdio
from mcp_bindings.runtime.specs import MethodSpec
from runtime.full_server import make
from runtime.world import STYLES, info, revision

SERVER = str(Path(__file__).with_name("full_server.py"))
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}

TRANSPORTS: dict[str, Callable[[str], Any]] = {
    "memory": lambda style: memory.connect(make(style)),
    "objects": lambda style: memory.connect(make(style), json=False),
    "stdio": lambda style: stdio.connect(sys.executable, SERVER, style, env=ENVIRONMENT),
}

# What each method is asked. The names of the keywords follow from the definitions.
PARAMS: dict[str, dict[str, Any]] = {
    "resources/read": {"uri": "file:///a"},
    "prompts/get": {"name": "p", "arguments": {"a": "b"}},
    "tools/call": {"name": "ask"},
    "completion/complete": {"ref": {"type": "ref/prompt", "name": "p"}, "argument": {"name": "a", "value": "x"}},
}


def methods(style: str) -> Any:
    return import_module(f"mcp_bindings.{style}.v2026_07_28.methods")


@contextmanager
def clients(style: str, transport: str, asynchronous: bool) -> Iterator[Callable[..., Any]]:
    """A function that calls a proxy by name, whichever client it belongs to."""
    rev = revision(style)

    class Handlers(rev.ClientHandlers):  # type: ignore[misc]
        async def elicit(self, params: Any) -> Any:
            return rev.types.ElicitResult(action="accept", content={"name": "Ann"})

    options = {"info": info(style), "handlers": Handlers()}
    if not asynchronous:
        with rev.Client(TRANSPORTS[transport](style), **options) as client:
            yield lambda proxy, *args, **keywords: getattr(client, proxy)(*args, **keywords)
    else:
        with start_blocking_portal() as portal:
            session = rev.AsyncClient(TRANSPORTS[transport](style), **options)

            async def call(proxy: str, *args: Any, **keywords: Any) -> Any:
                found = getattr(session, proxy)(*args, **keywords)
                return [item async for item in found] if hasattr(found, "__aiter__") else await found

            with portal.wrap_async_context_manager(session):
                yield lambda proxy, *args, **keywords: portal.call(lambda: call(proxy, *args, **keywords))


@pytest.mark.parametrize("asynchronous", [True, False], ids=["async", "blocking"])
@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("style", STYLES)
def test_requests(style: str, transport: str, asynchronous: bool) -> None:
    rev = revision(style)
    types, codec = rev.types, rev.codec
    asked = [spec for spec in methods(style).CLIENT_REQUESTS.values() if spec.topic is None and spec.name != "listen"]
    assert len(asked) == 9
    with clients(style, transport, asynchronous) as call:
        for spec in asked:
            wire = PARAMS.get(spec.wire, {})
            meta = {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}},
            }
            params = codec.decode(getattr(types, spec.params), {**wire, "_meta": meta})
            keywords = {name: getattr(params, name) for name in wire}
            result = call(spec.name, **keywords)
            assert isinstance(result, getattr(types, spec.result)), spec.wire
            assert call(f"{spec.name}_raw", params) == result
            if spec.multi_round:
                once = call(f"{spec.name}_once", **keywords)
                assert isinstance(once, types.InputRequiredResult if spec.name == "call_tool" else type(result))
            if spec.paginated:
                assert len(list(call(f"iter_{spec.name.removeprefix('list_')}"))) == (
                    6 if spec.name == "list_tools" else 1
                )


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("style", STYLES)
def test_notifications(style: str, transport: str) -> None:
    """Every notification that can be subscribed to, and those of requests."""
    rev = revision(style)
    types = rev.types
    topics: list[MethodSpec] = [spec for spec in methods(style).SERVER_NOTIFICATIONS.values() if spec.topic]
    assert len(topics) == 4
    with rev.Client(TRANSPORTS[transport](style), info=info(style), log_level="info") as client:
        wanted = {
            "tools_list_changed": True,
            "prompts_list_changed": True,
            "resources_list_changed": True,
            "resource_subscriptions": ["file:///a"],
        }
        with client.listen(**wanted) as stream:
            assert stream.filter == types.SubscriptionFilter(**wanted)
            client.call_tool(name="change")
            events = [next(stream) for _ in topics]
        assert {type(event) for event in events} == {getattr(types, str(spec.message)) for spec in topics}
        steps: list[Any] = []
        client.call_tool(name="steps", on_progress=steps.append)
        assert [(step.progress, step.total, step.message) for step in steps] == [
            (step, 100, "on the way") for step in (0.0, 50.0, 100.0)
        ]
        assert all(isinstance(step, types.ProgressNotificationParams) for step in steps)


@pytest.mark.parametrize("style", STYLES)
def test_tables(style: str) -> None:
    """What the tables say of types exists; nothing is in two minds."""
    from mcp_bindings import REVISIONS
    from mcp_bindings.runtime.specs import MethodSpec

    for name in REVISIONS:
        rev = import_module(f"mcp_bindings.{style}.v{name.replace('-', '_')}")
        table = rev.methods.METHODS
        assert all(wire == spec.wire for wire, spec in table.items())
        for spec in table.values():
            assert isinstance(spec, MethodSpec)
            for entry in (spec.message, spec.params, spec.meta, spec.result, *spec.alternatives.values()):
                assert entry is None or hasattr(rev.types, entry), entry
            if spec.is_request_of("client"):
                assert hasattr(rev.Server, spec.name)
                assert hasattr(rev.AsyncClient, spec.name)
                assert hasattr(rev.Client, spec.name)
            elif spec.kind == "request":
                assert hasattr(rev.ClientHandlers, spec.name)
            if spec.is_notification_of("client"):
                assert hasattr(rev.Server, f"on_{spec.name}")
                assert hasattr(rev.AsyncClient, f"notify_{spec.name}")
            if spec.is_notification_of("server"):
                assert hasattr(rev.ClientHandlers, f"on_{spec.name}")
