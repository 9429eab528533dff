"""Inheritance against the facts of the specification's TypeScript source."""

from __future__ import annotations

import pytest

from conftest import LATEST, protocol_of
from inline import STRING, const, model, obj, ref
from mcp_bindgen import ir

# base -> derived, 2026-07-28, direct relations only.
TRUTH = {
    "MetaObject": "RequestMetaObject NotificationMetaObject ResultMetaObject",
    "Request": "JSONRPCRequest",
    "Notification": "JSONRPCNotification",
    "Error": "ParseError InvalidRequestError MethodNotFoundError InvalidParamsError InternalError",
    "JSONRPCErrorResponse": "HeaderMismatchError UnsupportedProtocolVersionError MissingRequiredClientCapabilityError",
    "Result": "InputRequiredResult PaginatedResult CacheableResult SubscriptionsListenResult GetPromptResult "
    "CallToolResult CompleteResult",
    "RequestParams": "InputResponseRequestParams PaginatedRequestParams ResourceRequestParams "
    "SubscriptionsListenRequestParams CompleteRequestParams",
    "NotificationParams": "CancelledNotificationParams ProgressNotificationParams "
    "SubscriptionsAcknowledgedNotificationParams ResourceUpdatedNotificationParams LoggingMessageNotificationParams",
    "JSONRPCNotification": "CancelledNotification ProgressNotification ResourceListChangedNotification "
    "SubscriptionsAcknowledgedNotification ResourceUpdatedNotification PromptListChangedNotification "
    "ToolListChangedNotification LoggingMessageNotification",
    "JSONRPCRequest": "DiscoverRequest PaginatedRequest ReadResourceRequest SubscriptionsListenRequest "
    "GetPromptRequest CallToolRequest CompleteRequest",
    "CacheableResult": "DiscoverResult ReadResourceResult ListResourcesResult ListResourceTemplatesResult "
    "ListPromptsResult ListToolsResult",
    "PaginatedResult": "ListResourcesResult ListResourceTemplatesResult ListPromptsResult ListToolsResult",
    "JSONRPCResultResponse": "DiscoverResultResponse ListResourcesResultResponse ListResourceTemplatesResultResponse "
    "ReadResourceResultResponse SubscriptionsListenResultResponse ListPromptsResultResponse GetPromptResultResponse "
    "ListToolsResultResponse CallToolResultResponse CompleteResultResponse",
    "BaseMetadata": "Implementation Resource ResourceTemplate Prompt Tool PromptArgument PromptReference",
    "Icons": "Implementation Resource ResourceTemplate Prompt Tool",
    "PaginatedRequest": "ListResourcesRequest ListResourceTemplatesRequest ListPromptsRequest ListToolsRequest",
    "ResourceRequestParams": "ReadResourceRequestParams",
    "InputResponseRequestParams": "ReadResourceRequestParams GetPromptRequestParams CallToolRequestParams",
    "ResultMetaObject": "SubscriptionsListenResultMetaObject",
    "ResourceContents": "TextResourceContents BlobResourceContents",
    "Resource": "ResourceLink",
    "SamplingMessage": "CreateMessageResult",
}


def test_map_of_2026_07_28() -> None:
    expected: dict[str, set[str]] = {}
    for base, derived in TRUTH.items():
        for name in derived.split():
            expected.setdefault(name, set()).add(base)
    protocol = protocol_of("2026-07-28")
    actual = {r.name: set(r.bases) for r in protocol.records if r.owner is None and r.bases}
    assert actual == expected


def test_every_base_is_substitutable(protocol: ir.Protocol) -> None:
    """Whatever extends a record has all of its members, and requires what it requires."""
    checked = 0
    for record in protocol.records:
        for base in record.bases:
            declaration = protocol.declarations[base]
            if isinstance(declaration, ir.Record):
                for member in declaration.fields:
                    own = record.field(member.wire)
                    assert own is not None, f"{record.name} lacks {base}.{member.wire}"
                    assert own.required or not member.required
                    checked += 1
    assert checked > 20


def test_structure_decides() -> None:
    protocol = model(
        {
            "Named": obj("name", name=STRING),
            "Thing": obj("name size", name=STRING, size={"type": "integer"}),
            "Looser": obj("", name=STRING, size={"type": "integer"}),
            "Tagged": obj("name", name=const("x")),
            "Box": obj("content", content=ref("Named")),
            "ThingBox": obj("content", content=ref("Thing")),
        }
    )
    bases = {r.name: r.bases for r in protocol.records}
    assert bases == {
        "Named": (),
        "Thing": ("Named", "Looser"),
        "Looser": (),
        "Tagged": ("Named",),
        "Box": (),
        "ThingBox": ("Box",),
    }


def test_another_description_is_another_member() -> None:
    protocol = model(
        {
            "A": obj("name", name={**STRING, "description": "One thing."}),
            "B": obj("name x", name={**STRING, "description": "Another thing."}, x=STRING),
        }
    )
    assert protocol.record("B").bases == ()


def test_inline_object_is_shared_with_the_base() -> None:
    inner = obj("", token=STRING)
    protocol = model({"A": obj("m", m=inner), "B": obj("m n", m=inner, n=STRING)})
    member = protocol.record("B").field("m")
    assert member is not None
    assert member.type == ir.Ref("AM")
    assert "BM" not in protocol.declarations


@pytest.mark.parametrize("name", ["CallToolResult", "ListToolsResult"])
def test_result_type_is_filled_in(name: str) -> None:
    member = protocol_of(LATEST).record(name).field("resultType")
    assert member is not None
    assert member.fill == "complete"
