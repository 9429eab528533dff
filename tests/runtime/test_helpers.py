"""The small parts of the runtime on their own: pages, cache, state, subscriptions, deadlines."""

from __future__ import annotations

from typing import Any

import pytest

from mcp_bindings.runtime.caching import ResultCache
from mcp_bindings.runtime.deadlines import Deadlines
from mcp_bindings.runtime.failures import McpError, PaginationLoop
from mcp_bindings.runtime.paging import PAGE_LIMIT, Pages
from mcp_bindings.runtime.specs import MethodSpec
from mcp_bindings.runtime.state import StateSigner
from mcp_bindings.runtime.subscriptions import QUEUE_LIMIT, Hub, Subscription, honoured, matches, offers_topics

# --- pages -----------------------------------------------------------------------------------------------------------


def test_an_empty_cursor_is_a_cursor() -> None:
    pages = Pages()
    assert (pages.more, pages.cursor) == (True, None)
    pages.advance("")
    assert (pages.more, pages.cursor) == (True, "")
    pages.advance("b")
    pages.advance(None)
    assert not pages.more


def test_circles_and_endless_lists_are_noticed() -> None:
    pages = Pages()
    pages.advance("")
    with pytest.raises(PaginationLoop, match="circle"):
        pages.advance("")
    pages = Pages()
    for number in range(PAGE_LIMIT - 1):
        pages.advance(str(number))
    with pytest.raises(PaginationLoop, match="does not end"):
        pages.advance("one more")


# --- cache -----------------------------------------------------------------------------------------------------------


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def cache(limit: int = 10) -> tuple[ResultCache, Clock]:
    clock = Clock()
    return ResultCache(limit, clock), clock


def test_fresh_until_the_time_is_up() -> None:
    kept, clock = cache()
    kept.put("me", "tools/list", {"_meta": {"a": 1}}, {"ttlMs": 1000, "cacheScope": "private"}, "value")
    clock.now = 0.999
    assert kept.get("me", "tools/list", {"_meta": {"b": 2}}) == "value"
    clock.now = 1.0
    assert kept.get("me", "tools/list", {}) is None


@pytest.mark.parametrize("ttl", [0, -5, None, "1000", True])
def test_what_may_not_be_kept(ttl: Any) -> None:
    kept, _ = cache()
    kept.put("me", "tools/list", {}, {"ttlMs": ttl}, "value")
    assert kept.get("me", "tools/list", {}) is None


def test_scopes_and_params_keep_apart() -> None:
    kept, _ = cache()
    kept.put("me", "tools/list", {"cursor": ""}, {"ttlMs": 1000, "cacheScope": "private"}, "mine")
    kept.put("me", "prompts/list", {}, {"ttlMs": 1000, "cacheScope": "public"}, "ours")
    assert kept.get("me", "tools/list", {"cursor": ""}) == "mine"
    assert kept.get("me", "tools/list", {}) is None
    assert kept.get("you", "tools/list", {"cursor": ""}) is None
    assert kept.get("you", "prompts/list", {}) == "ours"
    assert kept.get("you", "tools/list", {}) is None


def test_notifications_make_stale() -> None:
    kept, _ = cache()
    fresh = {"ttlMs": 1000}
    for method in ("resources/list", "resources/templates/list", "tools/list"):
        kept.put("me", method, {}, fresh, method)
    for uri in ("file:///a", "file:///b"):
        kept.put("me", "resources/read", {"uri": uri}, fresh, uri)
    kept.notice("notifications/resources/updated", {"uri": "file:///a/inner"})
    assert kept.get("me", "resources/read", {"uri": "file:///a"}) is None
    assert kept.get("me", "resources/read", {"uri": "file:///b"}) == "file:///b"
    kept.notice("notifications/resources/list_changed", {})
    assert kept.get("me", "resources/list", {}) is None
    assert kept.get("me", "resources/templates/list", {}) is None
    assert kept.get("me", "resources/read", {"uri": "file:///b"}) == "file:///b"
    assert kept.get("me", "tools/list", {}) == "tools/list"
    kept.notice("notifications/progress", {})
    kept.clear()
    assert kept.get("me", "tools/list", {}) is None


def test_the_least_used_goes_first() -> None:
    kept, _ = cache(limit=2)
    for name in ("a", "b"):
        kept.put("me", name, {}, {"ttlMs": 1000}, name)
    kept.get("me", "a", {})
    kept.put("me", "c", {}, {"ttlMs": 1000}, "c")
    assert [kept.get("me", name, {}) for name in ("a", "b", "c")] == ["a", None, "c"]


# --- state -----------------------------------------------------------------------------------------------------------

PARAMS = {"name": "t", "arguments": {"b": 1, "a": 2}}


def test_state_comes_back() -> None:
    signer = StateSigner("secret", 60)
    state = signer.seal({"step": 1}, "tools/call", PARAMS, "alice")
    later = {
        "arguments": {"a": 2, "b": 1},
        "name": "t",
        "inputResponses": {"k": {}},
        "requestState": state,
        "_meta": {},
    }
    assert signer.open(state, "tools/call", later, "alice") == {"step": 1}
    assert StateSigner("secret", 60).open(state, "tools/call", later, "alice") == {"step": 1}


def test_state_that_is_refused() -> None:
    signer = StateSigner("secret", 60)
    state = signer.seal(1, "tools/call", PARAMS, "alice")
    other = {**PARAMS, "name": "u"}
    for wrong, method, params, principal in [
        (None, "tools/call", PARAMS, "alice"),
        ("", "tools/call", PARAMS, "alice"),
        (state + "x", "tools/call", PARAMS, "alice"),
        (state[:-1], "tools/call", PARAMS, "alice"),
        ("\ud800", "tools/call", PARAMS, "alice"),
        (state, "prompts/get", PARAMS, "alice"),
        (state, "tools/call", other, "alice"),
        (state, "tools/call", PARAMS, "bob"),
        (state, "tools/call", PARAMS, None),
        (StateSigner("other", 60).seal(1, "tools/call", PARAMS, "alice"), "tools/call", PARAMS, "alice"),
    ]:
        with pytest.raises(McpError) as caught:
            signer.open(wrong, method, params, principal)
        assert caught.value.code == -32602
    expired = StateSigner("secret", -1)
    with pytest.raises(McpError):
        expired.open(state, "tools/call", PARAMS, "alice")


# --- subscriptions ---------------------------------------------------------------------------------------------------

TOOLS = MethodSpec(
    "notifications/tools/list_changed",
    "t",
    "notification",
    "server",
    capability="tools.listChanged",
    topic="toolsListChanged",
)
UPDATED = MethodSpec(
    "notifications/resources/updated",
    "u",
    "notification",
    "server",
    capability="resources.subscribe",
    topic="resourceSubscriptions",
    topic_key="uri",
)
EXTRA = MethodSpec("notifications/x", "x", "notification", "server", topic="xIds", topic_key="id")
TABLE = {spec.wire: spec for spec in (TOOLS, UPDATED, EXTRA)}


def test_the_honoured_part() -> None:
    wanted = {"toolsListChanged": True, "resourceSubscriptions": ["a"], "xIds": ["1"], "other": True}
    assert honoured(wanted, TABLE, {}) == {"xIds": ["1"]}
    assert honoured(wanted, TABLE, {"tools": {"listChanged": True}}) == {"toolsListChanged": True, "xIds": ["1"]}
    assert honoured({"toolsListChanged": False}, TABLE, {"tools": {"listChanged": True}}) == {}
    assert offers_topics({TOOLS.wire: TOOLS}, {"tools": {"listChanged": True}})
    assert not offers_topics({TOOLS.wire: TOOLS}, {"tools": {}})


@pytest.mark.parametrize(
    ("filter", "spec", "params", "expected"),
    [
        ({"toolsListChanged": True}, TOOLS, {}, True),
        ({}, TOOLS, {}, False),
        ({"resourceSubscriptions": ["file:///a"]}, UPDATED, {"uri": "file:///a"}, True),
        ({"resourceSubscriptions": ["file:///a"]}, UPDATED, {"uri": "file:///a/b"}, True),
        ({"resourceSubscriptions": ["file:///a/"]}, UPDATED, {"uri": "file:///a/b"}, True),
        ({"resourceSubscriptions": ["file:///a"]}, UPDATED, {"uri": "file:///ab"}, False),
        ({"resourceSubscriptions": []}, UPDATED, {"uri": "file:///a"}, False),
        ({"resourceSubscriptions": ["a"]}, UPDATED, {}, False),
        ({"resourceSubscriptions": True}, UPDATED, {"uri": "a"}, False),
    ],
)
def test_matching(filter: dict[str, Any], spec: MethodSpec, params: dict[str, Any], expected: bool) -> None:
    assert matches(filter, spec, params) is expected


async def drained(subscription: Subscription) -> list[tuple[str, dict[str, Any]]]:
    subscription.end()
    return [event async for event in subscription]


@pytest.mark.anyio
async def test_equal_events_that_wait_become_one() -> None:
    hub = Hub()
    one, other = Subscription(0, {"toolsListChanged": True}), Subscription("0", {"resourceSubscriptions": ["a", "b"]})
    hub.add(one)
    hub.add(other)
    for _ in range(3):
        hub.publish(TOOLS, {})
        hub.publish(UPDATED, {"uri": "a"})
    hub.publish(UPDATED, {"uri": "b"})
    key = "io.modelcontextprotocol/subscriptionId"
    assert await drained(one) == [(TOOLS.wire, {"_meta": {key: 0}})]
    assert await drained(other) == [(UPDATED.wire, {"uri": uri, "_meta": {key: "0"}}) for uri in ("a", "b")]
    hub.discard(one)
    assert len(hub) == 1


@pytest.mark.anyio
async def test_too_many_events_end_the_subscription() -> None:
    subscription = Subscription(1, {"resourceSubscriptions": ["file:///"]})
    for number in range(QUEUE_LIMIT + 5):
        subscription.offer(UPDATED, {"uri": f"file:///{number}"})
    assert [event async for event in subscription] == []


# --- deadlines -------------------------------------------------------------------------------------------------------


class Entry:
    def __init__(self, deadline: float) -> None:
        self.deadline = deadline
        self.expired = False

    def expire(self) -> None:
        self.expired = True


def test_sweeping() -> None:
    deadlines: Deadlines[Entry] = Deadlines()
    early, late, never, answered = Entry(1), Entry(5), Entry(float("inf")), Entry(1)
    for entry in (late, early, never, answered):
        deadlines.add(entry)
    deadlines.discard(answered)
    assert deadlines.sweep(0.5) == 1
    assert deadlines.sweep(1.0) == 5
    assert (early.expired, late.expired, answered.expired) == (True, False, False)
    assert deadlines.sweep(9) == float("inf")
    assert late.expired
    assert not never.expired
