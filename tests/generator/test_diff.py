"""What a diff says, and whom each kind of change breaks."""

from __future__ import annotations

import json
from typing import Any

import pytest

from conftest import REVISIONS, protocol_of
from inline import STRING, const, model, obj, ref
from mcp_bindgen import cli, diff, report

Definitions = dict[str, Any]

INTEGER = {"type": "integer"}
NOTE = obj("type", type=const("note"))
PING = obj("method", method=const("ping"))
CALLS: Definitions = {"PingRequest": PING, "EmptyResult": obj("ok", ok=STRING), "ClientRequest": ref("PingRequest")}
ENUM = {"type": "string", "enum": ["a", "b"]}
MORE = {"type": "string", "enum": ["a", "b", "c"]}


def union(*arms: Any) -> dict[str, Any]:
    return {"anyOf": list(arms)}


def tagged(tag: str) -> dict[str, Any]:
    return obj("kind", kind=const(tag))


# name -> definitions before, after, the place that changed, words of the change, who breaks
CASES: dict[str, tuple[Definitions, Definitions, str, str, str]] = {
    "type added": ({}, {"A": NOTE}, "A", "added", ""),
    "type removed": ({"A": NOTE}, {}, "A", "removed", "both"),
    "object becomes a union": (
        {"A": NOTE, "B": tagged("b"), "C": tagged("c")},
        {"A": union(ref("B"), ref("C")), "B": tagged("b"), "C": tagged("c")},
        "A",
        "was an object",
        "both",
    ),
    "optional member added": (
        {"A": obj(y=STRING)},
        {"A": obj(x=STRING, y=STRING)},
        "A.x",
        "added, optional: string",
        "",
    ),
    "required member added": ({"A": obj(y=STRING)}, {"A": obj("x", x=STRING, y=STRING)}, "A.x", "required", "writes"),
    "required constant added": ({"A": obj(y=STRING)}, {"A": obj("x", x=const("v"), y=STRING)}, "A.x", "added", ""),
    "optional member removed": ({"A": obj(x=STRING, y=STRING)}, {"A": obj(y=STRING)}, "A.x", "removed", "both"),
    "member becomes required": ({"A": obj(x=STRING)}, {"A": obj("x", x=STRING)}, "A.x", "now required", "writes"),
    "member becomes optional": ({"A": obj("x", x=STRING)}, {"A": obj(x=STRING)}, "A.x", "now optional", "reads"),
    "member renamed": (
        {"A": obj("maxSize", maxSize=INTEGER)},
        {"A": obj("maxSizeBytes", maxSizeBytes=INTEGER)},
        "A.maxSize",
        "renamed to `maxSizeBytes`",
        "both",
    ),
    "member of another type": ({"A": obj(x=STRING)}, {"A": obj(x=INTEGER)}, "A.x", "string -> integer", "both"),
    "wider number": ({"A": obj(x=INTEGER)}, {"A": obj(x={"type": "number"})}, "A.x", "integer -> number", "reads"),
    "narrower bounds": ({"A": obj(x=INTEGER)}, {"A": obj(x=INTEGER | {"minimum": 0})}, "A.x", "0..", "writes"),
    "wider bounds": (
        {"A": obj(x=INTEGER | {"maximum": 5})},
        {"A": obj(x=INTEGER | {"maximum": 9})},
        "A.x",
        "..5 -> integer ..9",
        "reads",
    ),
    "shorter list": (
        {"A": obj(x={"type": "array", "items": STRING})},
        {"A": obj(x={"type": "array", "items": STRING, "maxItems": 3})},
        "A.x",
        "at most 3",
        "writes",
    ),
    "anything becomes something": ({"A": obj(x={})}, {"A": obj(x=STRING)}, "A.x", "any JSON value ->", "writes"),
    "enum value added": (
        {"E": ENUM},
        {"E": {"type": "string", "enum": ["a", "b", "c"]}},
        "E",
        "value 'c' added",
        "reads",
    ),
    "enum value removed": ({"E": ENUM}, {"E": {"type": "string", "enum": ["a"]}}, "E", "value 'b' removed", "writes"),
    "enum value in a member": (
        {"A": obj(x=ENUM)},
        {"A": obj(x=MORE)},
        "A.x",
        "value 'c' added",
        "reads",
    ),
    "arm added": (
        {"B": tagged("b"), "C": tagged("c"), "D": tagged("d"), "U": union(ref("B"), ref("C"))},
        {"B": tagged("b"), "C": tagged("c"), "D": tagged("d"), "U": union(ref("B"), ref("C"), ref("D"))},
        "U",
        "may also be D",
        "reads",
    ),
    "arm removed from a list in a member": (
        {"A": obj(x={"type": "array", "items": union(STRING, INTEGER)})},
        {"A": obj(x={"type": "array", "items": STRING})},
        "A.x",
        "no longer integer",
        "writes",
    ),
    "method added": (
        {"EmptyResult": NOTE},
        CALLS | {"EmptyResult": NOTE},
        "ping",
        "request from the client, added",
        "",
    ),
    "method removed": (CALLS, {"EmptyResult": CALLS["EmptyResult"]}, "ping", "removed", "both"),
    "method of the other side": (
        CALLS,
        {"ServerRequest" if name == "ClientRequest" else name: d for name, d in CALLS.items()},
        "ping",
        "was request from the client, is request from the server",
        "both",
    ),
    "method with another result": (
        CALLS,
        CALLS | {"PingResult": obj("pong", pong=STRING)},
        "ping",
        "result: EmptyResult -> PingResult",
        "both",
    ),
    "params become required": (
        CALLS | {"PingRequest": obj("method", method=const("ping"), params=obj(x=STRING))},
        CALLS | {"PingRequest": obj("method params", method=const("ping"), params=obj(x=STRING))},
        "ping",
        "params now required",
        "writes",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_change_and_whom_it_breaks(case: str) -> None:
    before, after, place, words, who = CASES[case]
    found = diff.compare(model(before), model(after))
    told = [change for change in found.changes if change.place == place and words in change.text]
    assert len(told) == 1, [(change.place, change.text) for change in found.changes]
    assert report.Line("", "", "", "", told[0].breaks).who == who


# name -> overlay before, overlay after, the place, words, who breaks; all on the same definitions
FACTS: dict[str, tuple[dict[str, Any], dict[str, Any], str, str, str]] = {
    "enum opened": ({}, {"open_enums": {"E": "r"}}, "E", "opened", "reads"),
    "enum closed": ({"open_enums": {"E": "r"}}, {}, "E", "closed", "writes"),
    "filled in": ({}, {"fill": {"A.x": {"value": "v", "reason": "r"}}}, "A.x", "filled in with 'v'", ""),
    "not filled in any more": (
        {"fill": {"A.x": {"value": "v", "reason": "r"}}},
        {},
        "A.x",
        "no longer filled",
        "writes",
    ),
    "deprecated": ({}, {"deprecated": {"A": "r"}}, "A", "deprecated", ""),
    "deprecated member": ({}, {"deprecated": {"A.x": "r"}}, "A.x", "deprecated", ""),
    "object becomes a map": ({}, {"open": {"A": "r"}}, "A", "is an open map", ""),
    "object becomes opaque": ({}, {"opaque": {"A": "r"}}, "A", "is an opaque object", "both"),
    "constant added": ({}, {"constants": {"C": 1}}, "C", "added: 1", ""),
    "constant removed": ({"constants": {"C": 1}}, {}, "C", "removed", "both"),
    "constant changed": ({"constants": {"C": 1}}, {"constants": {"C": 2}}, "C", "1 -> 2", "both"),
    "method renamed": (
        {},
        {"renames": {"PingRequest": {"method": "pong", "reason": "r"}}},
        "ping",
        "now `pong`",
        "both",
    ),
    "capability needed": ({}, {"capabilities": {"ping": "pings"}}, "ping", "none -> pings", "writes"),
    "capability not needed": ({"capabilities": {"ping": "pings"}}, {}, "ping", "pings -> none", ""),
    "absence gets a meaning": (
        {},
        {"receive": [{"definition": "A", "member": "x", "value": "v", "reason": "r"}]},
        "A.x",
        "absent is read as 'v'",
        "",
    ),
    "absence loses its meaning": (
        {"receive": [{"definition": "A", "member": "x", "value": "v", "reason": "r"}]},
        {},
        "A.x",
        "no longer: absent is read as 'v'",
        "reads",
    ),
}


@pytest.mark.parametrize("case", FACTS)
def test_a_change_of_facts(case: str) -> None:
    before, after, place, words, who = FACTS[case]
    definitions = CALLS | {"E": ENUM, "A": obj("x", x=STRING, e=ref("E"))}
    found = diff.compare(model(definitions, before), model(definitions, after))
    (change,) = found.changes
    assert change.place == place
    assert words in change.text
    assert report.Line("", "", "", "", change.breaks).who == who


def test_a_change_of_a_base_is_told_once() -> None:
    base, derived = obj("x", x=STRING), obj("x y", x=STRING, y=STRING)
    wider = {"properties": {"z": STRING}}
    after = {
        name: d | {"properties": d["properties"] | wider["properties"]} for name, d in (("A", base), ("B", derived))
    }
    found = diff.compare(model({"A": base, "B": derived}), model(after))
    assert [change.place for change in found.changes] == ["A.z"]


def test_open_enums_break_nobody_by_their_values() -> None:
    more = {"type": "string", "enum": ["a", "c"]}
    overlay = {"open_enums": {"E": "r"}}
    found = diff.compare(model({"E": ENUM}, overlay), model({"E": more}, overlay))
    assert [change.text for change in found.changes] == ["value 'b' removed", "value 'c' added"]
    assert not found.breaking()


def test_nothing_changed(revision: str) -> None:
    assert diff.compare(protocol_of(revision), protocol_of(revision)).changes == ()


# --- the released revisions, against what the spec's own pages say ---------------------------------------------------

ADDED: dict[str, dict[str, str]] = {
    "2025-03-26": {
        "types": "AudioContent ToolAnnotations JSONRPCBatchRequest JSONRPCBatchResponse",
        "members": "ServerCapabilities.completions ProgressNotificationParams.message",
        "methods": "",
    },
    "2025-06-18": {
        "types": "ResourceLink ContentBlock BaseMetadata",
        "members": "CallToolResult.structuredContent Tool.outputSchema CompleteRequestParams.context "
        "Annotations.lastModified Tool._meta",
        "methods": "elicitation/create",
    },
    "2025-11-25": {
        "types": "Icon ToolUseContent ToolResultContent ToolChoice ElicitRequestURLParams URLElicitationRequiredError",
        "members": "Implementation.description Implementation.websiteUrl Tool.execution ToolInputSchema.$schema",
        "methods": "tasks/get tasks/result tasks/list tasks/cancel notifications/tasks/status "
        "notifications/elicitation/complete",
    },
    "2026-07-28": {
        "types": "InputRequiredResult CacheableResult MetaObject JSONValue UnsupportedProtocolVersionError "
        "HeaderMismatchError MissingRequiredClientCapabilityError CallToolResultResponse",
        "members": "Result.resultType ClientCapabilities.extensions ServerCapabilities.extensions",
        "methods": "server/discover subscriptions/listen notifications/subscriptions/acknowledged",
    },
}
REMOVED: dict[str, dict[str, str]] = {
    "2025-03-26": {"types": "Annotated", "members": "", "methods": ""},
    "2025-06-18": {"types": "JSONRPCBatchRequest JSONRPCBatchResponse", "members": "", "methods": ""},
    "2025-11-25": {"types": "", "members": "", "methods": ""},
    "2026-07-28": {
        "types": "InitializeRequest PingRequest SubscribeRequest SetLevelRequest Task",
        "members": "Tool.execution ElicitRequestURLParams.elicitationId ClientCapabilities.tasks "
        "ServerCapabilities.tasks",
        "methods": "initialize notifications/initialized ping logging/setLevel resources/subscribe "
        "resources/unsubscribe notifications/roots/list_changed notifications/elicitation/complete tasks/get "
        "tasks/result tasks/list tasks/cancel notifications/tasks/status",
    },
}
RENAMED: dict[str, dict[str, str]] = {
    "2025-03-26": {"AnnotatedAnnotations": "Annotations"},
    "2025-06-18": {"ResourceReference": "ResourceTemplateReference"},
    "2025-11-25": {
        "JSONRPCError": "JSONRPCErrorResponse",
        "JSONRPCResponse": "JSONRPCResultResponse",
        "JSONRPCErrorError": "Error",
        "EnumSchema": "LegacyTitledEnumSchema",
        "ElicitRequestParams": "ElicitRequestFormParams",
        "ElicitRequestParamsRequestedSchema": "ElicitRequestFormParamsRequestedSchema",
    },
    "2026-07-28": {},
}
BEFORE = dict(zip(REVISIONS[1:], REVISIONS, strict=False))
_KINDS = {"types": "type", "members": "member", "methods": "method"}


@pytest.mark.parametrize("revision", ADDED)
@pytest.mark.parametrize(("sign", "facts"), [("+", ADDED), ("-", REMOVED)])
def test_the_facts_about_a_revision(revision: str, sign: str, facts: dict[str, dict[str, str]]) -> None:
    found = diff.compare(protocol_of(BEFORE[revision]), protocol_of(revision))
    for what, kind in _KINDS.items():
        places = {change.place for change in found.changes if (change.kind, change.sign) == (kind, sign)}
        assert set(facts[revision][what].split()) <= places, what


@pytest.mark.parametrize("revision", ADDED)
def test_methods_come_and_go_as_the_tables_say(revision: str) -> None:
    old, new = protocol_of(BEFORE[revision]), protocol_of(revision)
    found = diff.compare(old, new)
    before, after = ({m.wire for m in p.methods} for p in (old, new))
    for sign, expected in (("+", after - before), ("-", before - after)):
        whole = {c.subject for c in found.changes if c.kind == "method" and c.sign == sign}
        assert expected <= whole


@pytest.mark.parametrize("revision", RENAMED)
def test_renamed_types(revision: str) -> None:
    found = diff.compare(protocol_of(BEFORE[revision]), protocol_of(revision))
    assert found.renamed.types == RENAMED[revision]
    assert not found.renamed.members


EMBEDDED = ("sampling/createMessage", "elicitation/create", "roots/list")
SINGLE: list[tuple[str, str, str, str]] = [
    ("2026-07-28", "tools/call", "may also be answered by InputRequiredResult", "reads"),
    ("2026-07-28", "CallToolResult.structuredContent", "map of any JSON value -> any JSON value", "reads"),
    ("2026-07-28", "RequestParams._meta", "now required", "writes"),
    ("2026-07-28", "CancelledNotificationParams.requestId", "now required", "writes"),
    ("2026-07-28", "Result.resultType", "absent is read as 'complete'", ""),
    ("2026-07-28", "URL_ELICITATION_REQUIRED", "removed (was -32042)", "both"),
    ("2026-07-28", "HEADER_MISMATCH", "added: -32020", ""),
    *(("2026-07-28", wire, "was request from the server, is a payload inside a result", "both") for wire in EMBEDDED),
    ("2025-11-25", "JSONRPCErrorResponse.id", "now optional", "reads"),
    ("2025-11-25", "CallToolRequest.id", "added, required: RequestId", "writes"),
    ("2025-11-25", "CallToolRequest.jsonrpc", "added, required: constant '2.0'", ""),
    ("2025-06-18", "PromptMessage.content", "may also be ResourceLink", "reads"),
    ("2025-03-26", "completion/complete", "capability: none -> completions", "writes"),
]


@pytest.mark.parametrize(("revision", "place", "text", "who"), SINGLE)
def test_single_changes(revision: str, place: str, text: str, who: str) -> None:
    found = diff.compare(protocol_of(BEFORE[revision]), protocol_of(revision))
    (change,) = (c for c in found.changes if c.place == place and c.text.startswith(text))
    assert report.Line("", "", "", "", change.breaks).who == who


# --- how it is shown -------------------------------------------------------------------------------------------------


def test_the_terminal_tells_every_change_once() -> None:
    found = diff.compare(protocol_of("2025-11-25"), protocol_of("2026-07-28"))
    told = sum(max(len(line.subjects), 1) for section in report.sections(found) for line in section.lines)
    assert told == len(found.changes)
    text = "\n".join(report.terminal(found, colour=False))
    assert "\x1b" not in text
    assert all(change.subject in text for change in found.changes)


def test_colour_only_adds_to_the_text() -> None:
    found = diff.compare(protocol_of("2024-11-05"), protocol_of("2025-03-26"))
    plain, coloured = ("\n".join(report.terminal(found, colour)) for colour in (False, True))
    for style in ("0", "1", "2", "31", "33", "32"):
        coloured = coloured.replace(f"\x1b[{style}m", "")
    assert coloured == plain


@pytest.mark.parametrize(("old", "new", "code"), [("2025-03-26", "2025-06-18", 1), ("2025-03-26", "2025-03-26", 0)])
def test_the_exit_code_tells_whether_anything_breaks(
    old: str, new: str, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["diff", old, new, "--json"]) == code
    document = json.loads(capsys.readouterr().out)
    assert bool(document["changes"]) == bool(code)
    assert (document["from"], document["to"]) == (old, new)


def test_an_unknown_revision_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["diff", "2025-03-26", "1999-01-01"]) == 1
    assert "no revision '1999-01-01'" in capsys.readouterr().err


def test_output_that_is_no_terminal_has_no_colour(capsys: pytest.CaptureFixture[str]) -> None:
    cli.main(["diff", "2025-03-26", "2025-06-18"])
    assert "\x1b" not in capsys.readouterr().out


def test_no_color_wins_on_a_terminal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.delenv("NO_COLOR", raising=False)
    cli.main(["diff", "2025-03-26", "2025-06-18"])
    assert "\x1b[31m" in capsys.readouterr().out
    monkeypatch.setenv("NO_COLOR", "1")
    cli.main(["diff", "2025-03-26", "2025-06-18"])
    assert "\x1b" not in capsys.readouterr().out
