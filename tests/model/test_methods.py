"""The method tables, row by row against the official SDK's hand-kept ones."""

from __future__ import annotations

from typing import Any

import mcp_types.methods as official
import pytest

from mcp_bindgen import ir

REQUESTS: dict[str, dict[tuple[str, str], Any]] = {
    "client": dict(official.CLIENT_REQUESTS),
    "server": dict(official.SERVER_REQUESTS),
}
NOTIFICATIONS: dict[str, dict[tuple[str, str], Any]] = {
    "client": dict(official.CLIENT_NOTIFICATIONS),
    "server": dict(official.SERVER_NOTIFICATIONS),
}
# A request's result is listed under who answers it.
RESULTS: dict[str, dict[tuple[str, str], Any]] = {
    "client": dict(official.SERVER_RESULTS),
    "server": dict(official.CLIENT_RESULTS),
}

# What we have and the official SDK has not, with the reason.
DEVIATIONS = {
    ("client", "request", "tasks/get"): "the SDK does not carry the experimental tasks of 2025-11-25",
    ("client", "request", "tasks/result"): "the SDK does not carry the experimental tasks of 2025-11-25",
    ("client", "request", "tasks/cancel"): "the SDK does not carry the experimental tasks of 2025-11-25",
    ("client", "request", "tasks/list"): "the SDK does not carry the experimental tasks of 2025-11-25",
    ("server", "request", "tasks/get"): "the SDK does not carry the experimental tasks of 2025-11-25",
    ("server", "request", "tasks/result"): "the SDK does not carry the experimental tasks of 2025-11-25",
    ("server", "request", "tasks/cancel"): "the SDK does not carry the experimental tasks of 2025-11-25",
    ("server", "request", "tasks/list"): "the SDK does not carry the experimental tasks of 2025-11-25",
    ("client", "notification", "notifications/tasks/status"): "the SDK does not carry the experimental tasks",
    ("server", "notification", "notifications/tasks/status"): "the SDK does not carry the experimental tasks",
}


def wire_rows(protocol: ir.Protocol) -> dict[tuple[str, str, str], ir.Method]:
    return {(m.sender, m.kind, m.wire): m for m in protocol.methods if m.role == "wire"}


def official_rows(revision: str) -> dict[tuple[str, str, str], Any]:
    rows: dict[tuple[str, str, str], Any] = {}
    for kind, tables in (("request", REQUESTS), ("notification", NOTIFICATIONS)):
        for sender, table in tables.items():
            rows |= {(sender, kind, wire): cls for (wire, version), cls in table.items() if version == revision}
    return rows


def test_rows_agree(protocol: ir.Protocol) -> None:
    theirs = official_rows(protocol.revision)
    ours = {row for row in wire_rows(protocol) if not (row in DEVIATIONS and row not in theirs)}
    assert ours == set(theirs)


def test_messages_agree(protocol: ir.Protocol) -> None:
    theirs = official_rows(protocol.revision)
    messages = {row: method.message for row, method in wire_rows(protocol).items() if row in theirs}
    assert messages == {row: cls.__name__ for row, cls in theirs.items() if row in messages}


def test_results_agree(protocol: ir.Protocol) -> None:
    checked = 0
    for (sender, kind, wire), method in wire_rows(protocol).items():
        theirs = RESULTS[sender].get((wire, protocol.revision))
        if kind != "request" or theirs is None:
            assert kind == "notification" or (sender, kind, wire) in DEVIATIONS
            continue
        names = {method.result} | ({"InputRequiredResult"} if method.multi_round else set())
        names |= {"Result"} if "EmptyResult" in names else set()
        arms = getattr(theirs, "__args__", (theirs,))
        assert {arm.__name__ for arm in arms} <= names | {"CreateTaskResult"}, wire
        assert method.result in {arm.__name__ for arm in arms} | {"EmptyResult"}, wire
        checked += 1
    assert checked >= 12 or (protocol.revision == "2026-07-28" and checked == 10)


def test_multi_round_agrees() -> None:
    from conftest import LATEST, protocol_of

    ours = {m.wire for m in protocol_of(LATEST).methods if m.multi_round}
    assert ours == set(official.INPUT_REQUIRED_METHODS)


def test_embedded_requests_are_not_on_the_wire() -> None:
    from conftest import LATEST, protocol_of

    embedded = {m.wire: m.result for m in protocol_of(LATEST).methods if m.role == "embedded"}
    assert embedded == {
        "sampling/createMessage": "CreateMessageResult",
        "roots/list": "ListRootsResult",
        "elicitation/create": "ElicitResult",
    }


@pytest.mark.parametrize("row", DEVIATIONS, ids=lambda row: f"{row[0]}-{row[2]}")
def test_deviations_are_not_stale(row: tuple[str, str, str]) -> None:
    from conftest import REVISIONS, protocol_of

    assert any(row in wire_rows(protocol_of(r)) and row not in official_rows(r) for r in REVISIONS)
