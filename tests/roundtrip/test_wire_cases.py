"""Cases from the field: what MCP implementations got wrong on the wire, each with the right behaviour.

Every case has the id of the record that it answers in a collection of public bug reports; the last test says whether
all of them are answered. What is about sessions and transports rather than about reading and writing is tested there.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

import pytest

from conftest import LATEST, REVISIONS, SHARED
from mcp_bindings.runtime.errors import DecodeError
from mcp_bindings.runtime.frames import FrameError
from roundtrip.surfaces import STYLES, exact, kept, surface
from styles.packages import decode_error, generate, load

RECORDS = SHARED / "cases" / "wire-cases.jsonl"
KINDS = {"decode-accept", "decode-reject", "roundtrip", "union", "naming", "codegen"}
COVERED: set[str] = set()

MODERN = {"io.modelcontextprotocol/protocolVersion": LATEST, "io.modelcontextprotocol/clientCapabilities": {}}
COMPLETE = {"resultType": "complete"}
CACHEABLE = {**COMPLETE, "ttlMs": 60_000, "cacheScope": "public"}
RPC = {"jsonrpc": "2.0"}
F = TypeVar("F", bound=Callable[..., None])


def answers(*ids: str) -> Callable[[F], F]:
    """Mark a test as the answer to these records."""
    COVERED.update(ids)
    return lambda test: test


# --- accepted, and written back the same -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Accepted:
    """A message that must be read, by what it says: `shows` maps attribute paths to what must be found there."""

    id: str
    why: str
    revisions: tuple[str, ...]
    definition: str
    json: Any
    shows: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        COVERED.add(self.id)


def since(revision: str) -> tuple[str, ...]:
    return tuple(r for r in REVISIONS if r >= revision)


def until(revision: str) -> tuple[str, ...]:
    return tuple(r for r in REVISIONS if r <= revision)


def raw(text: str) -> Any:
    return json.loads(text)


ACCEPTED = [
    Accepted(
        "B01",
        "a relative reference is a uri",
        REVISIONS,
        "Resource",
        {"name": "me", "uri": "people/42#bio"},
        {"uri": "people/42#bio"},
    ),
    Accepted("B01", "so is an empty one", REVISIONS, "Resource", {"name": "root", "uri": ""}, {"uri": ""}),
    Accepted(
        "B02",
        "a uri needs no //",
        REVISIONS,
        "Resource",
        {"name": "a", "uri": "urn:uuid:6e8bc430-9c3a-11d9"},
        {"uri": "urn:uuid:6e8bc430-9c3a-11d9"},
    ),
    Accepted(
        "B02",
        "nor a host",
        REVISIONS,
        "ResourceTemplate",
        {"name": "m", "uriTemplate": "mailto:{user}@x"},
        {"uri_template": "mailto:{user}@x"},
    ),
    Accepted(
        "B06",
        "params may be absent",
        until("2025-11-25"),
        "InitializedNotification",
        {"method": "notifications/initialized"},
        {"params": None},
    ),
    Accepted(
        "B06",
        "here as well",
        until("2025-11-25"),
        "ToolListChangedNotification",
        {"method": "notifications/tools/list_changed"},
        {"params": None},
    ),
    Accepted(
        "B06",
        "and empty params stay",
        until("2025-11-25"),
        "InitializedNotification",
        {"method": "notifications/initialized", "params": {}},
    ),
    Accepted(
        "B15",
        "capabilities of later revisions",
        until("2025-11-25"),
        "ClientCapabilities",
        {"roots": {}, "elicitation": {"form": {}, "url": {}}, "com.example/later": {"a": [1.0]}, "later": {}},
    ),
    Accepted(
        "B16",
        "schemas as additionalProperties",
        REVISIONS,
        "Tool",
        {
            "name": "put",
            "inputSchema": {"type": "object", "additionalProperties": {"type": ["integer", "null"], "minimum": 0}},
        },
        {"input_schema": {"type": "object", "additionalProperties": {"type": ["integer", "null"], "minimum": 0}}},
    ),
    Accepted(
        "B18",
        "true and false are schemas",
        (LATEST,),
        "Tool",
        {"name": "any", "inputSchema": {"type": "object", "properties": {"yes": True, "no": False}}},
        {"input_schema": {"type": "object", "properties": {"yes": True, "no": False}}},
    ),
    Accepted(
        "B19",
        "an escaped slash is a slash",
        REVISIONS,
        "ImageContent",
        raw(r'{"type":"image","mimeType":"image\/gif","data":"R0lG\/\u002fQ="}'),
        {"data": "R0lG//Q=", "mime_type": "image/gif"},
    ),
    Accepted(
        "B20",
        "bounds with a fraction",
        since("2025-06-18"),
        "NumberSchema",
        {"type": "number", "minimum": -0.25, "maximum": 1.5},
        {"minimum": -0.25, "maximum": 1.5},
    ),
    Accepted(
        "B20",
        "whole bounds stay whole",
        since("2025-06-18"),
        "NumberSchema",
        {"type": "integer", "minimum": 0, "maximum": 10},
        {"minimum": 0, "maximum": 10},
    ),
    Accepted(
        "B20",
        "a default with a fraction",
        since("2025-11-25"),
        "NumberSchema",
        {"type": "number", "default": 20.5},
        {"default": 20.5},
    ),
    Accepted(
        "B21",
        "answers of every kind",
        since("2025-06-18"),
        "ElicitResult",
        {"action": "accept", "content": {"kg": 0.5, "n": 3, "f": 2.0, "ok": False, "who": ""}},
    ),
    Accepted(
        "B21",
        "lists of choices",
        since("2025-11-25"),
        "ElicitResult",
        {"action": "accept", "content": {"picked": ["a", "b"], "none": []}},
    ),
    Accepted(
        "B22",
        "settings of extensions are any JSON",
        (LATEST,),
        "ClientCapabilities",
        {
            "extensions": {"com.example/search": {"cutoff": 0.75, "fallback": None, "stages": [1, 1.0, {}]}},
            "experimental": {"e": {"n": None}},
        },
    ),
    Accepted(
        "B23",
        "a list of blocks",
        since("2025-11-25"),
        "CreateMessageResult",
        {
            "role": "assistant",
            "model": "m",
            "stopReason": "toolUse",
            "content": [
                {"type": "tool_use", "id": "7", "name": "sum", "input": {"a": [1.0]}},
                {"type": "text", "text": ""},
            ],
        },
        {"content.0.__class__.__name__": "ToolUseContent", "content.0.input": {"a": [1.0]}},
    ),
    Accepted(
        "B23",
        "an empty list stays one",
        since("2025-11-25"),
        "CreateMessageResult",
        {"role": "assistant", "model": "m", "content": []},
        {"content": []},
    ),
    Accepted(
        "B23",
        "one block stays alone",
        REVISIONS,
        "CreateMessageResult",
        {"role": "assistant", "model": "m", "content": {"type": "text", "text": "hi"}},
        {"content.text": "hi"},
    ),
    Accepted(
        "B24",
        "answers come bare",
        (LATEST,),
        "CallToolRequestParams",
        {
            "name": "deploy",
            "requestState": "",
            "_meta": MODERN,
            "inputResponses": {
                "sure": {"action": "cancel"},
                "where": {"roots": [{"uri": "file:///srv"}]},
                "say": {"role": "assistant", "model": "m", "content": {"type": "text", "text": ""}},
            },
        },
        {
            "input_responses.sure.action": "cancel",
            "input_responses.where.roots.0.uri": "file:///srv",
            "input_responses.say.__class__.__name__": "CreateMessageResult",
            "request_state": "",
        },
    ),
    Accepted(
        "B25",
        "accepted without content",
        since("2025-06-18"),
        "ElicitResult",
        {"action": "accept"},
        {"action": "accept", "content": None},
    ),
    Accepted(
        "B25",
        "an empty form is not no form",
        since("2025-06-18"),
        "ElicitResult",
        {"action": "accept", "content": {}},
        {"content": {}},
    ),
    Accepted(
        "B27",
        "what a server of this revision sends",
        (LATEST,),
        "CallToolResult",
        {**COMPLETE, "content": [{"type": "text", "text": "ok"}]},
        {"result_type": "complete"},
    ),
    Accepted(
        "B36",
        "structured content is any JSON now",
        (LATEST,),
        "CallToolResult",
        {**COMPLETE, "content": [], "structuredContent": [{"id": 1}, None]},
        {"structured_content": [{"id": 1}, None]},
    ),
    Accepted(
        "B36",
        "null included",
        (LATEST,),
        "CallToolResult",
        {**COMPLETE, "content": [], "structuredContent": None},
        {"structured_content": None},
    ),
    Accepted(
        "B40",
        "uris are not normalised",
        REVISIONS,
        "TextResourceContents",
        {"uri": "HTTP://Example.TEST/a%2fb/../c", "text": ""},
        {"uri": "HTTP://Example.TEST/a%2fb/../c"},
    ),
    Accepted(
        "B40",
        "no slash is added",
        REVISIONS,
        "BlobResourceContents",
        {"uri": "https://data.example.test", "blob": ""},
        {"uri": "https://data.example.test"},
    ),
    *(
        Accepted(
            "B41",
            "ids that look like numbers are strings",
            REVISIONS,
            "JSONRPCRequest",
            {**RPC, "id": id, "method": "ping", "params": {}},
            {"id": id},
        )
        for id in ("1", "007", "1e3", "", "-0", "true", "7d44", 1, 0, -1)
    ),
    Accepted(
        "B42",
        "numbers as they came",
        since("2025-06-18"),
        "CallToolResult",
        {
            "content": [],
            "structuredContent": raw('{"big":123456789012345678901,"half":2.0,"e":1E2,"neg":-0.0,"small":1e-7}'),
        },
    ),
    Accepted(
        "B43",
        "an empty object means yes",
        until("2025-11-25"),
        "InitializeResult",
        {
            "protocolVersion": "2025-03-26",
            "serverInfo": {"name": "s", "version": "0"},
            "capabilities": {"resources": {}, "prompts": {}, "tools": {}, "logging": {}},
        },
    ),
    Accepted(
        "B43",
        "capabilities may all be missing",
        until("2025-11-25"),
        "InitializeResult",
        {"protocolVersion": "", "serverInfo": {"name": "", "version": ""}, "capabilities": {}},
    ),
    Accepted("B44", "an empty text is a text", REVISIONS, "TextContent", {"type": "text", "text": ""}, {"text": ""}),
    Accepted(
        "B44",
        "nothing done of nothing",
        until("2025-11-25"),
        "ProgressNotification",
        {"method": "notifications/progress", "params": {"progressToken": 0, "progress": 0, "total": 0}},
        {"params.progress": 0, "params.total": 0, "params.progress_token": 0},
    ),
    Accepted(
        "B44",
        "as a float",
        REVISIONS,
        "ProgressNotification",
        {"method": "notifications/progress", "params": {"progressToken": "", "progress": 0.0, "total": 0.0}},
        {"params.progress": 0.0, "params.progress_token": ""},
    ),
    Accepted(
        "B44",
        "no priority at all",
        REVISIONS[1:],
        "TextContent",
        {"type": "text", "text": "", "annotations": {"priority": 0, "audience": []}},
        {"annotations.priority": 0, "annotations.audience": []},
    ),
    Accepted(
        "B51",
        "an empty file has a size",
        REVISIONS,
        "Resource",
        {"name": "void", "uri": "file:///void", "size": 0},
        {"size": 0},
    ),
    Accepted(
        "B52",
        "every keyword of a tool's schema",
        REVISIONS,
        "Tool",
        {
            "name": "t",
            "inputSchema": {
                "unevaluatedProperties": False,
                "type": "object",
                "$schema": "https://json-schema.org/draft/2020-12/schema",
                "properties": {"p": {"$ref": "#/$defs/P"}},
                "$defs": {"P": {"anyOf": [{"type": "null"}, {"const": 1.0}]}},
                "x-order": ["b", "a"],
            },
        },
    ),
    Accepted(
        "B53",
        "contents are one level down",
        REVISIONS,
        "EmbeddedResource",
        {"type": "resource", "resource": {"uri": "file:///n", "text": "n", "mimeType": "text/plain"}},
        {"resource.uri": "file:///n", "resource.text": "n"},
    ),
    Accepted(
        "B54",
        "all nine members of a link",
        since("2025-06-18"),
        "ResourceLink",
        {
            "type": "resource_link",
            "name": "n",
            "uri": "u:n",
            "title": "",
            "description": "",
            "mimeType": "a/b",
            "size": 3,
            "annotations": {"audience": ["assistant"], "priority": 1, "lastModified": "2025-01-12T15:00:58Z"},
            "_meta": {"k": 1.0},
        },
        {
            "name": "n",
            "title": "",
            "annotations.priority": 1,
            "annotations.last_modified": "2025-01-12T15:00:58Z",
            "meta": {"k": 1.0},
        },
    ),
    Accepted(
        "B55",
        "no time to live",
        ("2025-11-25",),
        "Task",
        {"taskId": "", "status": "input_required", "createdAt": "t0", "lastUpdatedAt": "t1", "ttl": None},
        {"ttl": None},
    ),
    Accepted(
        "B55",
        "none left",
        ("2025-11-25",),
        "Task",
        {"taskId": "x", "status": "failed", "createdAt": "t0", "lastUpdatedAt": "t1", "ttl": 0, "pollInterval": 0},
        {"ttl": 0, "poll_interval": 0},
    ),
    Accepted(
        "B56",
        "an optional constant stays absent",
        since("2025-11-25"),
        "ElicitRequestFormParams",
        {"message": "", "requestedSchema": {"type": "object", "properties": {}}},
        {"mode": None},
    ),
    Accepted(
        "B56",
        "and stays present",
        since("2025-11-25"),
        "ElicitRequestFormParams",
        {"mode": "form", "message": "?", "requestedSchema": {"type": "object", "properties": {}}},
        {"mode": "form"},
    ),
    Accepted(
        "B68",
        "wire names are the schema's",
        REVISIONS,
        "Tool",
        {"name": "t", "inputSchema": {"type": "object"}},
        {"input_schema": {"type": "object"}},
    ),
    Accepted(
        "B69",
        "underscores in a schema",
        REVISIONS,
        "Tool",
        {
            "name": "t",
            "inputSchema": {
                "type": "object",
                "properties": {"_in": {"type": "string"}, "__top": {}, "__class__": {}, "_": {}},
            },
        },
    ),
    Accepted(
        "B69",
        "_meta is meta",
        since("2025-06-18"),
        "Tool",
        {"name": "t", "inputSchema": {"type": "object"}, "_meta": {"meta": 1, "_meta": 2}},
        {"meta": {"meta": 1, "_meta": 2}},
    ),
    Accepted(
        "B69",
        "and meta is somebody else's",
        since("2025-06-18"),
        "Tool",
        {"name": "t", "inputSchema": {"type": "object"}, "meta": 5, "_meta": {}},
        {"meta": {}},
    ),
    Accepted(
        "B69",
        "also without _meta",
        since("2025-06-18"),
        "Tool",
        {"name": "t", "inputSchema": {"type": "object"}, "meta": {"not": "ours"}},
        {"meta": None},
    ),
    Accepted(
        "B70",
        "reserved keys have attributes",
        (LATEST,),
        "RequestMetaObject",
        {
            **MODERN,
            "io.modelcontextprotocol/clientInfo": {"name": "c", "version": ""},
            "io.modelcontextprotocol/logLevel": "info",
            "progressToken": "",
            "com.example/trace": [0],
            "protocolVersion": "mine",
            "meta": {},
        },
        {"protocol_version": LATEST, "client_info.version": "", "log_level": "info", "progress_token": ""},
    ),
    Accepted(
        "B76",
        "both sides of an allOf",
        ("2025-11-25",),
        "GetTaskResult",
        {
            "taskId": "t",
            "status": "working",
            "createdAt": "t0",
            "lastUpdatedAt": "t1",
            "ttl": None,
            "statusMessage": "",
            "_meta": {"k": 0},
        },
        {"task_id": "t", "ttl": None, "status_message": "", "meta": {"k": 0}},
    ),
    Accepted(
        "B77",
        "the code of an error is its constant",
        (LATEST,),
        "UnsupportedProtocolVersionError",
        {
            **RPC,
            "id": "",
            "error": {"code": -32022, "message": "", "data": {"supported": ["2025-06-18"], "requested": "2030-01-01"}},
        },
        {"error.code": -32022, "error.data.supported": ["2025-06-18"], "error.data.requested": "2030-01-01"},
    ),
]


def on_the_wire(case: Accepted, revision: str) -> Any:
    """The message as this revision has it: what all cases of a kind have in common is not repeated in the table."""
    extra: dict[str, Any] = {}
    if revision >= "2025-11-25" and case.definition in (
        "InitializedNotification",
        "ToolListChangedNotification",
        "ProgressNotification",
    ):
        extra = RPC
    if revision == LATEST and case.definition == "CallToolResult":
        extra = COMPLETE
    return {**extra, **case.json}


def found(value: Any, path: str) -> Any:
    for step in path.split("."):
        if isinstance(value, list):
            value = value[int(step)]
        else:
            value = value[step] if type(value) is dict else getattr(value, step)
    return value


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize(
    ("case", "revision"),
    [
        pytest.param(case, revision, id=f"{case.id} {case.why} {revision}")
        for case in ACCEPTED
        for revision in case.revisions
    ],
)
def test_accepted(style: str, case: Accepted, revision: str) -> None:
    package = surface(style, revision)
    type = getattr(package.types, case.definition)
    wire = on_the_wire(case, revision)
    expected = kept(STYLES[style], revision, case.definition, wire)
    for value in (package.codec.decode(type, wire), package.codec.decode_json(type, json.dumps(wire).encode())):
        for path, shown in case.shows.items():
            assert exact(package.codec.encode(found(value, path))) == exact(shown), path
        assert exact(package.codec.encode(value)) == exact(expected)
        assert exact(json.loads(package.codec.encode_json(value))) == exact(expected)


# --- refused ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Refused:
    """A message that must not be read; `error` is what is said about it after the definition's name."""

    id: str
    why: str
    revisions: tuple[str, ...]
    definition: str
    json: Any
    error: str

    def __post_init__(self) -> None:
        COVERED.add(self.id)


MISSING = "required member is missing"
TOKENS: list[Any] = [{}, None, True, 1.5, []]

REFUSED = [
    Refused(
        "B08",
        "params are required now",
        (LATEST,),
        "ListToolsRequest",
        {**RPC, "id": 1, "method": "tools/list"},
        f"params: {MISSING}",
    ),
    Refused(
        "B08",
        "with _meta in them",
        (LATEST,),
        "ListToolsRequest",
        {**RPC, "id": 1, "method": "tools/list", "params": {}},
        f"params._meta: {MISSING}",
    ),
    Refused(
        "B08",
        "that says the version",
        (LATEST,),
        "ListToolsRequest",
        {**RPC, "id": 1, "method": "tools/list", "params": {"_meta": {}}},
        'params._meta["io.modelcontextprotocol/',
    ),
    Refused(
        "B10",
        "an empty list is no empty map",
        ("2025-11-25",),
        "CallToolRequest",
        {**RPC, "id": 3, "method": "tools/call", "params": {"name": "n", "arguments": []}},
        "params.arguments: expected an object, got an array",
    ),
    Refused(
        "B10",
        "nor as params",
        ("2025-11-25",),
        "ListToolsRequest",
        {**RPC, "id": 3, "method": "tools/list", "params": []},
        "params: expected an object, got an array",
    ),
    Refused(
        "B12",
        "one block is unknown",
        ("2025-03-26",),
        "CallToolResult",
        {"content": [{"type": "text", "text": ""}, {"type": "resource_link", "name": "n", "uri": "u:n"}]},
        "content[1].type: ",
    ),
    Refused(
        "B18",
        "schemas were objects",
        until("2025-11-25"),
        "Tool",
        {"name": "any", "inputSchema": {"type": "object", "properties": {"yes": True}}},
        "inputSchema.properties.yes: expected an object, got true",
    ),
    Refused(
        "B24",
        "answers are not wrapped",
        (LATEST,),
        "CallToolRequestParams",
        {
            "name": "n",
            "_meta": MODERN,
            "inputResponses": {"a": {"method": "elicitation/create", "result": {"action": "cancel"}}},
        },
        f"inputResponses.a.action: {MISSING}",
    ),
    Refused(
        "B26",
        "null is no absence",
        since("2025-06-18"),
        "ElicitResult",
        {"action": "decline", "content": None},
        "content: expected an object, got null (leave an optional member out instead)",
    ),
    Refused("B27", "the codec wants it all", (LATEST,), "CallToolResult", {"content": []}, f"resultType: {MISSING}"),
    Refused(
        "B30", "null is no id", until("2025-11-25"), "JSONRPCRequest", {**RPC, "id": None, "method": "ping"}, "id: "
    ),
    *(
        Refused(
            "B30",
            "what an id is not",
            REVISIONS,
            "JSONRPCRequest",
            {**RPC, "id": id, "method": "ping"},
            "id: expected a",
        )
        for id in (True, 1.5, [1], {})
    ),
    *(
        Refused(
            "B31",
            "what a token is not",
            (LATEST,),
            "CallToolRequestParams",
            {"name": "n", "_meta": {**MODERN, "progressToken": token}},
            "_meta.progressToken: expected a",
        )
        for token in TOKENS
    ),
    *(
        Refused(
            "B31",
            "and never was",
            until("2025-11-25"),
            "PingRequest",
            {**RPC, "id": 1, "method": "ping", "params": {"_meta": {"progressToken": token}}},
            "params._meta.progressToken: expected a",
        )
        for token in TOKENS
    ),
    Refused(
        "B32",
        "one bad tool",
        until("2025-11-25"),
        "ListToolsResult",
        {
            "tools": [
                {"name": "a", "inputSchema": {"type": "object"}},
                {"name": "b", "inputSchema": {"type": "object", "required": None}},
            ]
        },
        "tools[1].inputSchema.required: expected an array, got null",
    ),
    Refused(
        "B35",
        "an action is not invented",
        since("2025-06-18"),
        "ElicitResult",
        {"content": {"a": "b"}},
        f"action: {MISSING}",
    ),
    Refused(
        "B35",
        "nor is a role",
        REVISIONS,
        "PromptMessage",
        {"content": {"type": "text", "text": "x"}},
        f"role: {MISSING}",
    ),
    Refused(
        "B35",
        "nor a level",
        since("2025-11-25"),
        "LoggingMessageNotificationParams",
        {"data": None},
        f"level: {MISSING}",
    ),
    Refused(
        "B35",
        "nor data",
        since("2025-11-25"),
        "LoggingMessageNotificationParams",
        {"level": "info"},
        f"data: {MISSING}",
    ),
    Refused(
        "B36",
        "structured content was an object",
        ("2025-06-18", "2025-11-25"),
        "CallToolResult",
        {"content": [], "structuredContent": [{"id": 2}]},
        "structuredContent: expected an object, got an array",
    ),
    Refused(
        "B36",
        "and never null",
        ("2025-06-18", "2025-11-25"),
        "CallToolResult",
        {"content": [], "structuredContent": None},
        "structuredContent: expected an object, got null",
    ),
    Refused(
        "B38",
        "content is required",
        since("2025-06-18"),
        "CallToolResult",
        {**COMPLETE, "structuredContent": {}},
        f"content: {MISSING}",
    ),
    Refused(
        "B38",
        "whatever else is there",
        ("2025-11-25",),
        "CallToolResult",
        {"task": {}, "inputRequests": {}},
        f"content: {MISSING}",
    ),
    Refused(
        "B55",
        "required, though it may be null",
        ("2025-11-25",),
        "Task",
        {"taskId": "x", "status": "working", "createdAt": "t0", "lastUpdatedAt": "t1"},
        f"ttl: {MISSING}",
    ),
    Refused(
        "B56",
        "another mode",
        ("2025-11-25", LATEST),
        "ElicitRequestFormParams",
        {"mode": "url", "message": "", "requestedSchema": {"type": "object", "properties": {}}},
        'mode: expected "form", got "url"',
    ),
    Refused(
        "B57",
        "a result without its type",
        (LATEST,),
        "ListToolsResult",
        {"tools": [], "ttlMs": 0, "cacheScope": "private"},
        f"resultType: {MISSING}",
    ),
    Refused(
        "B62",
        "the branch that was taken",
        since("2025-06-18"),
        "CallToolResult",
        {**COMPLETE, "content": [{"type": "text", "text": "x", "annotations": {"audience": ["user", "operator"]}}]},
        'content[0].annotations.audience[1]: expected "assistant" or "user", got "operator"',
    ),
    Refused(
        "B66",
        "a required constant is required",
        since("2025-11-25"),
        "PrimitiveSchemaDefinition",
        {"oneOf": [{"const": "s", "title": "South"}]},
        "type: ",
    ),
    Refused(
        "B68",
        "snake case is not the wire's",
        REVISIONS,
        "Tool",
        {"name": "t", "input_schema": {"type": "object"}},
        f"inputSchema: {MISSING}",
    ),
    Refused(
        "B76",
        "required on either side",
        ("2025-11-25",),
        "GetTaskResult",
        {"_meta": {}, "status": "working", "createdAt": "t0", "lastUpdatedAt": "t1", "ttl": None},
        f"taskId: {MISSING}",
    ),
    Refused(
        "B77",
        "the code of another error",
        (LATEST,),
        "UnsupportedProtocolVersionError",
        {**RPC, "id": 1, "error": {"code": -32021, "message": "", "data": {"supported": [], "requested": ""}}},
        "error.code: expected -32022, got -32021",
    ),
    Refused(
        "B77",
        "as a string",
        (LATEST,),
        "UnsupportedProtocolVersionError",
        {**RPC, "id": 1, "error": {"code": "-32022", "message": "", "data": {"supported": [], "requested": ""}}},
        "error.code: expected -32022, got",
    ),
]


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize(
    ("case", "revision"),
    [
        pytest.param(case, revision, id=f"{case.id} {case.why} {revision}")
        for case in REFUSED
        for revision in case.revisions
    ],
)
def test_refused(style: str, case: Refused, revision: str) -> None:
    package = surface(style, revision)
    type = getattr(package.types, case.definition)
    for decode, form in (
        (package.codec.decode, case.json),
        (package.codec.decode_json, json.dumps(case.json).encode()),
    ):
        with pytest.raises(DecodeError) as caught:
            decode(type, form)
        assert str(caught.value).startswith(f"{case.definition}: {case.error}")


# --- cases that need more than a table -------------------------------------------------------------------------------

each_style = pytest.mark.parametrize("style", STYLES)


@answers("B08")
@each_style
def test_b08_the_same_bytes_in_two_revisions(style: str) -> None:
    """Each revision has classes of its own; there is no merged one that takes both."""
    data = b'{"jsonrpc":"2.0","id":"x","method":"tools/list"}'
    older, newer = (surface(style, revision) for revision in ("2025-11-25", LATEST))
    assert older.codec.decode_json(older.types.ListToolsRequest, data).params is None
    with pytest.raises(DecodeError):
        newer.codec.decode_json(newer.types.ListToolsRequest, data)
    assert newer.codec.frame(data).id == "x", "whoever answers knows to whom"


@answers("B10")
@each_style
def test_b10_the_id_is_known_when_params_are_wrong(style: str) -> None:
    codec = surface(style, "2025-11-25").codec
    frame = codec.frame(b'{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"n","arguments":[]}}')
    assert (frame.id, frame.method) == (3, "tools/call")
    with pytest.raises(FrameError) as caught:
        codec.frame(b'{"jsonrpc":"2.0","id":3,"method":"tools/call","params":[]}')
    assert (caught.value.code, caught.value.id) == (-32602, 3)


@answers("B12")
@each_style
def test_b12_an_unknown_block_is_named_with_the_known_ones(style: str) -> None:
    package = surface(style, "2025-03-26")
    wire = {"content": [{"type": "text", "text": "see"}, {"type": "resource_link", "name": "r", "uri": "u:r"}]}
    with pytest.raises(DecodeError) as caught:
        package.codec.decode(package.types.CallToolResult, wire)
    assert caught.value.path == ("content", 1, "type")
    assert '"resource_link"' in caught.value.reason
    assert '"text"' in caught.value.reason
    assert "\n" not in str(caught.value)
    later = surface(style, "2025-06-18")
    assert exact(later.codec.encode(later.codec.decode(later.types.CallToolResult, wire))) == exact(wire)


@answers("B15")
@each_style
def test_b15_unknown_capabilities_are_readable(style: str) -> None:
    package = surface(style, "2025-11-25")
    wire = {
        "protocolVersion": "2025-11-25",
        "clientInfo": {"name": "c", "version": "1"},
        "capabilities": {"elicitation": {"url": {}, "form": {}}, "sampling": {}, "com.example/x": {"levels": [1, 2.0]}},
    }
    params = package.codec.decode(package.types.InitializeRequestParams, wire)
    capabilities = params.capabilities
    assert capabilities["com.example/x"] == {"levels": [1, 2.0]}
    assert capabilities.elicitation is not None
    assert capabilities.elicitation.form is not None, "an empty object says yes"
    assert capabilities.elicitation.url == {}
    assert capabilities.sampling is not None
    assert capabilities.roots is None
    assert exact(package.codec.encode(params)) == exact(wire)


@answers("B19")
@each_style
def test_b19_escapes_are_undone_before_anyone_looks(style: str) -> None:
    package = surface(style, "2025-06-18")
    data = rb'{"type":"im\u0061ge","mimeType":"image\/png","data":"\/9j\/4AA\u003d"}'
    for type in (package.types.ImageContent, package.types.ContentBlock):
        image = package.codec.decode_json(type, data)
        assert (image.data, image.mime_type) == ("/9j/4AA=", "image/png")


@answers("B27", "B57")
@each_style
def test_b57_results_say_their_type_where_the_revision_has_one(style: str) -> None:
    """Whoever builds a result need not think of it, and no encoder leaves it out because it is the usual one."""
    newer, older = surface(style, LATEST), surface(style, "2025-11-25")
    assert exact(newer.codec.encode(newer.types.ListToolsResult(tools=[]))) == exact(
        {"tools": [], "resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
    )
    failed = newer.types.CallToolResult(content=[], is_error=True)
    assert newer.codec.encode(failed) == {"content": [], "isError": True, "resultType": "complete"}
    assert newer.codec.encode(newer.types.EmptyResult()) == {"resultType": "complete"}
    assert older.codec.encode(older.types.ListToolsResult(tools=[])) == {"tools": []}
    assert older.codec.encode(older.types.EmptyResult()) == {}


@answers("B28")
@each_style
@pytest.mark.parametrize("revision", REVISIONS)
def test_b28_an_id_that_came_as_a_float(style: str, revision: str) -> None:
    """0.0 is the integer 0: the pending request 0 is found, and an echo says 0."""
    package = surface(style, revision)
    name = "JSONRPCResultResponse" if revision >= "2025-11-25" else "JSONRPCResponse"
    result = COMPLETE if revision == LATEST else {}
    for number in (0, 7):
        data = json.dumps({**RPC, "id": float(number), "result": result})
        response = package.codec.decode_json(getattr(package.types, name), data)
        assert exact(response.id) == exact(number)
        assert exact(package.codec.encode(response)["id"]) == exact(number)
        frame = package.codec.frame(data)
        assert (frame.kind, exact(frame.id)) == ("result", exact(number))


@answers("B30")
@each_style
@pytest.mark.parametrize("id", [None, True, False, 1.5, [1], {}], ids=json.dumps)
@pytest.mark.parametrize("revision", REVISIONS)
def test_b30_a_bad_id_is_not_no_id(style: str, id: Any, revision: str) -> None:
    """The message is no notification, so nobody must act on it."""
    with pytest.raises(FrameError) as caught:
        surface(style, revision).codec.frame(json.dumps({**RPC, "id": id, "method": "ping"}))
    assert (caught.value.code, caught.value.id, caught.value.kind) == (-32600, None, "request")


@answers("B39")
@each_style
def test_b39_an_unknown_result_type_can_be_told(style: str) -> None:
    """The schema leaves the member open, so the codec reads it; it is neither taken for complete nor for a question."""
    package = surface(style, LATEST)
    result = package.codec.decode(package.types.CallToolResult, {"resultType": "deferred", "content": []})
    assert result.result_type == "deferred"
    assert package.codec.encode(result)["resultType"] == "deferred"
    with pytest.raises(DecodeError, match=r"^InputRequiredResult: resultType: "):
        package.codec.decode(package.types.InputRequiredResult, {"resultType": "deferred", "requestState": "s"})


@answers("B41")
@each_style
@pytest.mark.parametrize("id", ["1", "007", "1e3", "", "0x10", "7d444840-9dc0-11d1", "null", 1, 0, 2**60])
@pytest.mark.parametrize("revision", REVISIONS)
def test_b41_ids_are_echoed_as_they_came(style: str, id: Any, revision: str) -> None:
    package = surface(style, revision)
    frame = package.codec.frame(json.dumps({**RPC, "id": id, "method": "tools/list", "params": {}}))
    assert exact(frame.id) == exact(id)
    name = "JSONRPCResultResponse" if revision >= "2025-11-25" else "JSONRPCResponse"
    answer = getattr(package.types, name)(id=frame.id, result=package.types.Result())
    assert exact(package.codec.encode(answer)["id"]) == exact(id)
    assert exact(json.loads(package.codec.encode_json(answer))["id"]) == exact(id)
    assert exact(package.codec.decode(package.types.ProgressToken, id)) == exact(id)


@answers("B42")
@each_style
def test_b42_numbers_that_python_will_not_read(style: str) -> None:
    package = surface(style, "2025-06-18")
    data = '{"content":[],"structuredContent":{"n":' + "9" * 5000 + "}}"
    with pytest.raises(DecodeError, match="too long"):
        package.codec.decode_json(package.types.CallToolResult, data)


@answers("B49")
@each_style
def test_b49_two_metas(style: str) -> None:
    """The last one counts. One that is extended keeps what it had, and is written once."""
    package = surface(style, "2025-11-25")
    types, codec = package.types, package.codec
    data = b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{"a":1},"_meta":{"progressToken":7,"b":2}}}'
    ping = codec.decode_json(types.PingRequest, data)
    assert dict(ping.params.meta) == {"progressToken": 7, "b": 2}
    more = codec.replace(ping.params.meta, progress_token="t")
    again = codec.replace(ping, params=codec.replace(ping.params, meta=more))
    text = codec.encode_json(again)
    assert text.count(b'"_meta"') == 1
    assert json.loads(text)["params"] == {"_meta": {"progressToken": "t", "b": 2}}


@answers("B53")
@each_style
def test_b53_constructed_resources_are_one_level_down_too(style: str) -> None:
    package = surface(style, "2025-06-18")
    types = package.types
    block = types.EmbeddedResource(
        resource=types.TextResourceContents(uri="u:a", text="t"), annotations=types.Annotations(priority=0)
    )
    assert exact(package.codec.encode(block)) == exact(
        {"type": "resource", "resource": {"uri": "u:a", "text": "t"}, "annotations": {"priority": 0}}
    )


@answers("B55")
@each_style
def test_b55_a_null_that_is_required_is_written(style: str) -> None:
    package = surface(style, "2025-11-25")
    task = package.types.Task(task_id="t", status="working", created_at="t0", last_updated_at="t0", ttl=None)
    assert package.codec.encode(task)["ttl"] is None
    assert b'"ttl":null' in package.codec.encode_json(task).replace(b" ", b"")


@answers("B56")
@each_style
def test_b56_optional_constants_are_not_filled_in(style: str) -> None:
    package = surface(style, "2025-11-25")
    types = package.types
    empty = types.ElicitRequestFormParams(
        message="Name?", requested_schema=types.ElicitRequestFormParamsRequestedSchema(properties={})
    )
    assert package.codec.encode(empty) == {
        "message": "Name?",
        "requestedSchema": {"type": "object", "properties": {}},
    }
    # The tag of a union, and yet one arm may go without.
    request = {"message": "Name?", "requestedSchema": {"type": "object", "properties": {}}}
    assert isinstance(package.codec.decode(types.ElicitRequestParams, request), types.ElicitRequestFormParams)
    url = {"mode": "url", "message": "", "url": "https://x", "elicitationId": "1"}
    assert isinstance(package.codec.decode(types.ElicitRequestParams, url), types.ElicitRequestURLParams)


@answers("B58")
@each_style
def test_b58_a_question_is_not_an_empty_answer(style: str) -> None:
    """However much it looks like one: resultType decides before anything else."""
    package = surface(style, LATEST)
    question = {
        "resultType": "input_required",
        "requestState": "opaque",
        "inputRequests": {
            "go": {
                "method": "elicitation/create",
                "params": {"message": "Go?", "requestedSchema": {"type": "object", "properties": {}}},
            },
            "roots": {"method": "roots/list"},
        },
        "_meta": {"com.example/x": 1},
    }
    for wrapper in ("CallToolResultResponse", "GetPromptResultResponse", "ReadResourceResultResponse"):
        wire = {**RPC, "id": 1, "result": question}
        response = package.codec.decode(getattr(package.types, wrapper), wire)
        assert response.result.__class__ is package.types.InputRequiredResult
        assert response.result.request_state == "opaque"
        assert response.result.input_requests["go"].params.message == "Go?"
        assert exact(package.codec.encode(response)) == exact(wire)
    answer = {"resultType": "complete", "content": [], "requestState": "mine"}
    response = package.codec.decode(package.types.CallToolResultResponse, {**RPC, "id": 1, "result": answer})
    assert response.result.__class__ is package.types.CallToolResult
    for type in (package.types.ServerResult,):
        assert package.codec.decode(type, question).__class__ is package.types.InputRequiredResult


@answers("B60")
@each_style
def test_b60_a_result_nobody_knows_is_delivered_raw(style: str) -> None:
    """Results are read by the method that was asked; of an unknown one the frame has everything, in every style."""
    package = surface(style, LATEST)
    result = {"resultType": "complete", "plans": [{"step": "a"}], "_meta": {"k": 1.0}}
    frame = package.codec.frame(json.dumps({**RPC, "id": 1, "result": result}))
    assert exact(json.loads(bytes(frame.payload))) == exact(result)
    base = package.codec.decode(package.types.Result, result)
    assert exact(package.codec.encode(base)) == exact(kept(STYLES[style], LATEST, "Result", result))
    assert base.meta["k"] == 1.0


@answers("B61")
@each_style
def test_b61_requests_are_told_apart_by_method(style: str) -> None:
    package = surface(style, "2025-11-25")
    for method, name in (
        ("tasks/list", "ListTasksRequest"),
        ("tools/list", "ListToolsRequest"),
        ("ping", "PingRequest"),
    ):
        request = package.codec.decode(package.types.ClientRequest, {**RPC, "id": 4, "method": method, "params": {}})
        assert request.__class__ is getattr(package.types, name)
    with pytest.raises(DecodeError, match=r"ClientRequest: method: .*tasks/make"):
        package.codec.decode(package.types.ClientRequest, {**RPC, "id": 4, "method": "tasks/make"})


@answers("B64")
@each_style
@pytest.mark.parametrize("revision", REVISIONS)
def test_b64_an_empty_text_is_there(style: str, revision: str) -> None:
    """Which of the two it is depends on the key, not on what it holds."""
    package = surface(style, revision)
    for key, name in (("text", "TextResourceContents"), ("blob", "BlobResourceContents")):
        wire = {"type": "resource", "resource": {"uri": "vault://7", key: ""}}
        value = package.codec.decode_json(package.types.EmbeddedResource, json.dumps(wire))
        assert value.resource.__class__ is getattr(package.types, name)
        assert getattr(value.resource, key) == ""
        assert exact(package.codec.encode(value)) == exact(wire)


@answers("B65")
@each_style
@pytest.mark.parametrize("revision", ["2025-11-25", LATEST])
def test_b65_forms_of_enumerations(style: str, revision: str) -> None:
    """A string schema would take half of them; the one with most of the members at hand wins."""
    package = surface(style, revision)
    forms = {
        "plain": ({"type": "string", "enum": ["s", "l"], "default": "s"}, "UntitledSingleSelectEnumSchema"),
        "titled": ({"type": "string", "oneOf": [{"const": "s", "title": "S"}]}, "TitledSingleSelectEnumSchema"),
        "many": (
            {"type": "array", "items": {"type": "string", "enum": []}, "minItems": 0},
            "UntitledMultiSelectEnumSchema",
        ),
        "both": ({"type": "array", "items": {"anyOf": [{"const": "s", "title": ""}]}}, "TitledMultiSelectEnumSchema"),
        "legacy": ({"type": "string", "enum": ["s"], "enumNames": [""]}, "LegacyTitledEnumSchema"),
        "text": ({"type": "string", "minLength": 0, "default": ""}, "StringSchema"),
        "flag": ({"type": "boolean", "default": False}, "BooleanSchema"),
        "size": ({"type": "integer", "minimum": 0}, "NumberSchema"),
    }
    wire = {
        "message": "",
        "requestedSchema": {"type": "object", "properties": {k: form for k, (form, _) in forms.items()}},
    }
    params = package.codec.decode_json(package.types.ElicitRequestFormParams, json.dumps(wire))
    read = {key: value.__class__.__name__ for key, value in params.requested_schema.properties.items()}
    assert read == {key: name for key, (_, name) in forms.items()}
    assert exact(package.codec.encode(params)) == exact(wire)


@answers("B66")
@each_style
def test_b66_required_constants_are_written(style: str) -> None:
    package = surface(style, "2025-11-25")
    schema = package.types.TitledSingleSelectEnumSchema(
        one_of=[package.types.TitledSingleSelectEnumSchemaOneOfItem(const="n", title="North")]
    )
    assert package.codec.encode(schema) == {"type": "string", "oneOf": [{"const": "n", "title": "North"}]}


@answers("B68")
@each_style
def test_b68_an_undeclared_member_does_not_pass_for_a_declared_one(style: str) -> None:
    package = surface(style, LATEST)
    wire = {"name": "t", "inputSchema": {"type": "object"}, "input_schema": {"type": "array"}, "output_schema": 7}
    tool = package.codec.decode(package.types.Tool, wire)
    assert tool.input_schema == {"type": "object"}
    assert tool.output_schema is None
    assert exact(package.codec.encode(tool)) == exact(kept(STYLES[style], LATEST, "Tool", wire))


@answers("B70")
@each_style
def test_b70_names_that_are_no_identifiers(style: str) -> None:
    package = surface(style, LATEST)
    meta = package.types.RequestMetaObject(
        {"com.example/trace": "t"},
        protocol_version=LATEST,
        client_capabilities=package.types.ClientCapabilities(),
        client_info=package.types.Implementation(name="c", version="1"),
        progress_token="",
    )
    assert exact(package.codec.encode(meta)) == exact(
        {
            "io.modelcontextprotocol/protocolVersion": LATEST,
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": {"name": "c", "version": "1"},
            "progressToken": "",
            "com.example/trace": "t",
        }
    )
    assert (
        exact(package.codec.decode(package.types.RequestMetaObject, package.codec.encode(meta))["com.example/trace"])
        == "t"
    )


# --- schemas ---------------------------------------------------------------------------------------------------------

DEFINITIONS: dict[str, Any] = {
    # B73
    "Blank": {
        "type": "object",
        "required": ["", "#"],
        "properties": {
            "": {"type": "string"},
            "#": {"type": "integer"},
            "%20": {"type": "string"},
            " ": {"type": "string"},
        },
    },
    # B75
    "Holder": {
        "type": "object",
        "properties": {
            "token": {"$ref": "#/$defs/Token", "description": "Where the holder stands."},
            "other": {"$ref": "#/$defs/Token"},
        },
    },
    "Token": {"type": ["string", "integer"]},
    # B76, as schemas that people write by hand
    "Named": {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}},
    "Sized": {"type": "object", "required": ["size"], "properties": {"size": {"type": "integer", "minimum": 0}}},
    "Both": {"allOf": [{"$ref": "#/$defs/Named"}, {"$ref": "#/$defs/Sized"}]},
    "More": {
        "allOf": [
            {"$ref": "#/$defs/Named"},
            {
                "type": "object",
                "required": ["note"],
                "properties": {
                    "note": {"type": "string"},
                    "size": {"type": "integer"},
                },
            },
        ]
    },
    # B77
    "Failure": {
        "type": "object",
        "required": ["code", "message"],
        "properties": {"code": {"type": "integer"}, "message": {"type": "string"}},
    },
    "Timeout": {
        "allOf": [
            {"$ref": "#/$defs/Failure"},
            {"type": "object", "required": ["code"], "properties": {"code": {"type": "integer", "const": -32001}}},
        ]
    },
    # B78
    "Formats": {
        "type": "object",
        "properties": {
            "site": {"type": "string", "format": "uri: see the page below"},
            "data": {"type": "string", "format": "byte"},
            "when": {"type": "string", "format": "date-time"},
            "mask": {"type": "string", "format": "uri-template"},
        },
    },
    # B80
    "Part": {"type": "object", "required": ["value"], "properties": {"value": {"type": "string"}}},
    "Text": {"anyOf": [{"type": "string"}, {"type": "array", "items": {"$ref": "#/$defs/Part"}}]},
    "Mark": {"anyOf": [{"$ref": "#/$defs/Part"}, {"$ref": "#/$defs/Sized"}, {"type": "null"}, {"type": "boolean"}]},
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, ModuleType]:
    """Style -> the package generated from the schema above."""
    name = "wire_cases_inline"
    return load(generate(tmp_path_factory.mktemp(name), name, DEFINITIONS), name)


def there_and_back(package: ModuleType, name: str, wire: Any) -> Any:
    type = getattr(package.types, name)
    value = package.codec.decode(type, wire)
    assert value == package.codec.decode_json(type, json.dumps(wire))
    assert exact(package.codec.encode(value)) == exact(wire)
    assert exact(json.loads(package.codec.encode_json(value))) == exact(wire)
    return value


@answers("B73")
@each_style
def test_b73_the_empty_name(style: str, made: dict[str, ModuleType]) -> None:
    package = made[style]
    value = there_and_back(package, "Blank", {"": "", "#": 0, "%20": "a", " ": "b"})
    assert "" in vars_of(value).values()
    with pytest.raises(decode_error(package), match="required member is missing") as caught:
        package.codec.decode(package.types.Blank, {"#": 0})
    assert str(caught.value).startswith('Blank: [""]: ')


def vars_of(value: Any) -> dict[str, Any]:
    return {name: getattr(value, name) for name in dir(value) if not name.startswith(("_", "model_"))}


@answers("B75")
@each_style
def test_b75_a_reference_with_a_description(style: str, made: dict[str, ModuleType]) -> None:
    package = made[style]
    assert there_and_back(package, "Holder", {"token": 1}).token == 1
    assert there_and_back(package, "Holder", {"token": "1", "other": 0}).token == "1"
    for wrong in (1.5, True, None, []):
        with pytest.raises(decode_error(package)):
            package.codec.decode(package.types.Holder, {"token": wrong})
    module = sys.modules[package.types.Holder.__module__]
    assert "Where the holder stands." in Path(str(module.__file__)).read_text("utf-8")


@answers("B76")
@each_style
def test_b76_parts_of_an_all_of(style: str, made: dict[str, ModuleType]) -> None:
    package = made[style]
    both = there_and_back(package, "Both", {"name": "n", "size": 0})
    assert (both.name, both.size) == ("n", 0)
    more = there_and_back(package, "More", {"name": "n", "note": "", "size": -1})
    assert (more.name, more.note, more.size) == ("n", "", -1)
    for name, wrong in (
        ("Both", {"name": "n"}),
        ("Both", {"size": 1}),
        ("Both", {"name": "n", "size": -1}),
        ("More", {"name": "n"}),
        ("More", {"note": ""}),
    ):
        with pytest.raises(decode_error(package)):
            package.codec.decode(getattr(package.types, name), wrong)
    assert package.codec.encode(package.types.Both(name="n", size=1)) == {"name": "n", "size": 1}


@answers("B77")
@each_style
def test_b77_a_constant_narrows_what_is_inherited(style: str, made: dict[str, ModuleType]) -> None:
    package = made[style]
    timeout = there_and_back(package, "Timeout", {"code": -32001, "message": "late"})
    assert exact(timeout.code) == exact(-32001)
    assert package.types.Timeout(message="late") == timeout
    for wrong in (-32002, "-32001", True, -32001.5):
        with pytest.raises(decode_error(package), match=r"^Timeout: code: "):
            package.codec.decode(package.types.Timeout, {"code": wrong, "message": ""})


@answers("B78")
@each_style
def test_b78_formats_are_documentation(style: str, made: dict[str, ModuleType]) -> None:
    package = made[style]
    wire = {"site": "not a uri", "data": "not base64!", "when": "yesterday", "mask": "{"}
    value = there_and_back(package, "Formats", wire)
    assert all(type(getattr(value, name)) is str for name in wire)


@answers("B80")
@each_style
def test_b80_every_union_decides_by_itself(style: str, made: dict[str, ModuleType]) -> None:
    """No hand-written hooks: the plan is emitted with the union. Every union of every revision: see tests/styles."""
    package = made[style]
    assert there_and_back(package, "Text", "") == ""
    assert there_and_back(package, "Text", []) == []
    parts = there_and_back(package, "Text", [{"value": "a"}, {"value": ""}])
    assert all(part.__class__ is package.types.Part for part in parts)
    assert there_and_back(package, "Mark", {"value": ""}).__class__ is package.types.Part
    assert there_and_back(package, "Mark", {"size": 0}).__class__ is package.types.Sized
    assert there_and_back(package, "Mark", None) is None
    assert there_and_back(package, "Mark", False) is False
    for name, wrong in (
        ("Text", [""]),
        ("Text", {"value": ""}),
        ("Text", None),
        ("Mark", {}),
        ("Mark", 0),
        ("Mark", []),
    ):
        with pytest.raises(decode_error(package)):
            package.codec.decode(getattr(package.types, name), wrong)


# --- completeness ----------------------------------------------------------------------------------------------------


@pytest.mark.skipif(not RECORDS.is_file(), reason="the collection of reports is not beside the checkout")
def test_every_record_is_answered() -> None:
    records = [json.loads(line) for line in RECORDS.read_text("utf-8").splitlines()]
    assert {record["id"] for record in records if record["kind"] in KINDS} - COVERED == set()
