"""A small definition table that uses everything, and the same thing as JSON Schema, both written by hand."""

from __future__ import annotations

from typing import Any

from loading import runtime

_d = runtime("definitions")
_p = runtime("plans")

DEFINITIONS: dict[str, Any] = {
    # scalars
    "Text": _d.String(),
    "Whole": _d.Integer(),
    "Size": _d.Integer(minimum=0),
    "Percent": _d.Integer(minimum=0, maximum=100),
    "Amount": _d.Number(),
    "Priority": _d.Number(minimum=0, maximum=1),
    "Negative": _d.Number(maximum=-0.5),
    "Flag": _d.Boolean(),
    "Nothing": _d.Null(),
    "Version": _d.Const("2.0"),
    "Code": _d.Const(-32022),
    "One": _d.Const(1),
    "Yes": _d.Const(True),
    "No": _d.Const(False),
    "Level": _d.Enum(("debug", "info", "error")),
    "Action": _d.Enum(("accept", "decline"), open=True),
    "Free": _d.Anything(),
    # containers
    "Texts": _d.ListOf(_d.String()),
    "Few": _d.ListOf(_d.Ref("Whole"), max_items=2),
    "Amounts": _d.MapOf(_d.Number()),
    "FreeMap": _d.MapOf(_d.Anything()),
    "Grid": _d.ListOf(_d.ListOf(_d.Ref("Flag"))),
    # unions: by kind, tag, optional tag, key, nested key, item, rank
    "Token": _d.Union(
        {"string": _d.String(), "integer": _d.Integer()}, _p.ByKind({"string": "string", "integer": "integer"})
    ),
    "Setting": _d.Union(
        {"integer": _d.Integer(maximum=10), "number": _d.Number(), "null": _d.Null(), "Texts": _d.Ref("Texts")},
        _p.ByKind({"integer": "integer", "number": "number", "null": "null", "array": "Texts"}),
    ),
    "Block": _d.Union(
        {"TextBlock": _d.Ref("TextBlock"), "LinkBlock": _d.Ref("LinkBlock")},
        _p.ByTag("type", {"text": "TextBlock", "link": "LinkBlock"}),
    ),
    "TextBlock": _d.Record("TextBlock", (_d.Field("type", _d.Const("text")), _d.Field("text", _d.String()))),
    "LinkBlock": _d.Record(
        "LinkBlock",
        (
            _d.Field("type", _d.Const("link")),
            _d.Field("uri", _d.Ref("Text")),
            _d.Field("size", _d.Ref("Size"), False),
            _d.Field("_meta", _d.Ref("Meta"), False),
        ),
    ),
    "Ask": _d.Union(
        {"AskForm": _d.Ref("AskForm"), "AskUrl": _d.Ref("AskUrl")}, _p.ByTag("mode", {"url": "AskUrl"}, "AskForm")
    ),
    "AskForm": _d.Record("AskForm", (_d.Field("message", _d.String()), _d.Field("mode", _d.Const("form"), False))),
    "AskUrl": _d.Record("AskUrl", (_d.Field("mode", _d.Const("url")), _d.Field("url", _d.String()))),
    "Contents": _d.Union(
        {"TextContents": _d.Ref("TextContents"), "BlobContents": _d.Ref("BlobContents")},
        _p.ByKey([(("text",), "TextContents"), (("blob",), "BlobContents")]),
    ),
    "TextContents": _d.Record("TextContents", (_d.Field("uri", _d.String()), _d.Field("text", _d.String()))),
    "BlobContents": _d.Record("BlobContents", (_d.Field("uri", _d.String()), _d.Field("blob", _d.String()))),
    "Choice": _d.Union(
        {"Single": _d.Ref("Single"), "Multi": _d.Ref("Multi"), "Plain": _d.Ref("Plain")},
        _p.ByTag(
            "type",
            {
                "string": _p.ByKey([(("enum",), "Single")], "Plain"),
                "array": _p.ByKey([(("items", "enum"), "Multi")]),
            },
        ),
    ),
    "Plain": _d.Record("Plain", (_d.Field("type", _d.Const("string")),)),
    "Single": _d.Record("Single", (_d.Field("type", _d.Const("string")), _d.Field("enum", _d.Ref("Texts")))),
    "Multi": _d.Record("Multi", (_d.Field("type", _d.Const("array")), _d.Field("items", _d.Ref("MultiItems")))),
    "MultiItems": _d.Record("MultiItems", (_d.Field("enum", _d.Ref("Texts")),)),
    "OneOrMany": _d.Union(
        {"Block": _d.Ref("Block"), "Blocks": _d.Ref("Blocks"), "Asks": _d.Ref("Asks")},
        _p.ByKind(
            {
                "object": "Block",
                "array": _p.ByItem(
                    _p.ByKey([(("type",), "Blocks"), (("message",), "Asks"), (("url",), "Asks")]), "Blocks"
                ),
            }
        ),
    ),
    "Blocks": _d.ListOf(_d.Ref("Block")),
    "Asks": _d.ListOf(_d.Ref("Ask")),
    "Outcome": _d.Union(
        {"Task": _d.Ref("Task"), "Page": _d.Ref("Page"), "Empty": _d.Ref("Empty")},
        _p.Ranked([(("id", "status"), "Task"), (("items",), "Page"), ((), "Empty")]),
    ),
    "Strict": _d.Union(
        {"Task": _d.Ref("Task"), "Page": _d.Ref("Page")}, _p.Ranked([(("id", "status"), "Task"), (("items",), "Page")])
    ),
    "Task": _d.Record(
        "Task",
        (
            _d.Field("id", _d.Ref("Token")),
            _d.Field("status", _d.Ref("Level")),
            _d.Field(
                "ttl",
                _d.Union(
                    {"integer": _d.Integer(), "null": _d.Null()}, _p.ByKind({"integer": "integer", "null": "null"})
                ),
            ),
        ),
    ),
    "Page": _d.Record("Page", (_d.Field("items", _d.Ref("Blocks")), _d.Field("next", _d.String(), False))),
    "Empty": _d.Record("Empty", (_d.Field("_meta", _d.Ref("Meta"), False),)),
    # records
    "Meta": _d.Record(
        "Meta",
        (
            _d.Field("com.example/version", _d.String()),
            _d.Field("progressToken", _d.Ref("Token"), False),
            _d.Field("caps", _d.Ref("Caps"), False),
        ),
        "open",
    ),
    "Caps": _d.Record("Caps", (_d.Field("list", _d.Boolean(), False), _d.Field("free", _d.Anything(), False))),
    "Schema": _d.Record(
        "Schema",
        (
            _d.Field("type", _d.Const("object")),
            _d.Field("required", _d.Ref("Texts"), False),
            _d.Field("limit", _d.Ref("Whole"), False),
            _d.Field("caps", _d.Ref("Caps"), False),
        ),
        "opaque",
    ),
    "Tool": _d.Record(
        "Tool",
        (
            _d.Field("name", _d.String()),
            _d.Field("inputSchema", _d.Ref("Schema")),
            _d.Field("priority", _d.Ref("Priority"), False),
            _d.Field("code", _d.Ref("Code"), False),
            _d.Field("", _d.Ref("Flag"), False),
        ),
    ),
    "Call": _d.Record(
        "Call",
        (
            _d.Field("method", _d.Const("tools/call")),
            _d.Field("params", _d.Ref("CallParams")),
        ),
    ),
    "CallParams": _d.Record(
        "CallParams",
        (
            _d.Field("name", _d.String()),
            _d.Field("arguments", _d.Ref("FreeMap"), False),
            _d.Field("content", _d.ListOf(_d.Ref("Contents")), False),
            _d.Field("structured", _d.Anything(), False),
            _d.Field("_meta", _d.Ref("Meta"), False),
        ),
    ),
    # recursion: through a record, and through aliases only
    "Tree": _d.Record("Tree", (_d.Field("name", _d.String()), _d.Field("children", _d.ListOf(_d.Ref("Tree")), False))),
    "Nest": _d.Union(
        {"integer": _d.Integer(), "array": _d.ListOf(_d.Ref("Nest")), "object": _d.MapOf(_d.Ref("Nest"))},
        _p.ByKind({"integer": "integer", "array": "array", "object": "object"}),
    ),
}


def _ref(name: str) -> dict[str, str]:
    return {"$ref": f"#/$defs/{name}"}


def _object(required: dict[str, Any], /, **optional: Any) -> dict[str, Any]:
    return {"type": "object", "required": list(required), "properties": {**required, **optional}}


def _has(member: str, schema: Any = True) -> dict[str, Any]:
    return {"type": "object", "required": [member], "properties": {member: schema}}


def _chain(*cases: tuple[Any, Any], otherwise: Any = False) -> Any:
    for condition, schema in reversed(cases):
        otherwise = {"if": condition, "then": schema, "else": otherwise}
    return otherwise


_STRING, _INTEGER, _NULL = {"type": "string"}, {"type": "integer"}, {"type": "null"}
_FIRST_HAS_TYPE = {"type": "array", "minItems": 1, "prefixItems": [_has("type")]}
_FIRST_ASKS = {"minItems": 1, "prefixItems": [{"anyOf": [_has("message"), _has("url")]}]}

SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "$defs": {
        "Text": _STRING,
        "Whole": _INTEGER,
        "Size": {"type": "integer", "minimum": 0},
        "Percent": {"type": "integer", "minimum": 0, "maximum": 100},
        "Amount": {"type": "number"},
        "Priority": {"type": "number", "minimum": 0, "maximum": 1},
        "Negative": {"type": "number", "maximum": -0.5},
        "Flag": {"type": "boolean"},
        "Nothing": _NULL,
        "Version": {"const": "2.0", "type": "string"},
        "Code": {"const": -32022, "type": "integer"},
        "One": {"const": 1},
        "Yes": {"const": True},
        "No": {"const": False},
        "Level": {"enum": ["debug", "info", "error"], "type": "string"},
        "Action": _STRING,
        "Free": {},
        "Texts": {"type": "array", "items": _STRING},
        "Few": {"type": "array", "items": _INTEGER, "maxItems": 2},
        "Amounts": {"type": "object", "additionalProperties": {"type": "number"}},
        "FreeMap": {"type": "object"},
        "Grid": {"type": "array", "items": {"type": "array", "items": {"type": "boolean"}}},
        "Token": {"type": ["string", "integer"]},
        "Setting": {
            "anyOf": [
                {"type": "integer", "maximum": 10},
                {"type": "number", "not": _INTEGER},  # an integer that is too large is not a number instead
                _NULL,
                _ref("Texts"),
            ]
        },
        "Block": {"anyOf": [_ref("TextBlock"), _ref("LinkBlock")]},
        "TextBlock": _object({"type": {"const": "text"}, "text": _STRING}),
        "LinkBlock": _object({"type": {"const": "link"}, "uri": _STRING}, size=_ref("Size"), _meta=_ref("Meta")),
        "Ask": {"anyOf": [_ref("AskForm"), _ref("AskUrl")]},
        "AskForm": _object({"message": _STRING}, mode={"const": "form"}),
        "AskUrl": _object({"mode": {"const": "url"}, "url": _STRING}),
        "Contents": _chain((_has("text"), _ref("TextContents")), (_has("blob"), _ref("BlobContents"))),
        "TextContents": _object({"uri": _STRING, "text": _STRING}),
        "BlobContents": _object({"uri": _STRING, "blob": _STRING}),
        "Choice": _chain(
            ({"allOf": [_has("type", {"const": "string"}), _has("enum")]}, _ref("Single")),
            (_has("type", {"const": "string"}), _ref("Plain")),
            (_has("items", _has("enum")), _ref("Multi")),
        ),
        "Plain": _object({"type": {"const": "string"}}),
        "Single": _object({"type": {"const": "string"}, "enum": _ref("Texts")}),
        "Multi": _object({"type": {"const": "array"}, "items": _object({"enum": _ref("Texts")})}),
        "MultiItems": _object({"enum": _ref("Texts")}),
        "OneOrMany": _chain(
            ({"type": "object"}, _ref("Block")),
            ({"type": "array", "maxItems": 0}, True),
            (_FIRST_HAS_TYPE, _ref("Blocks")),
            ({"type": "array", **_FIRST_ASKS}, _ref("Asks")),
        ),
        "Blocks": {"type": "array", "items": _ref("Block")},
        "Asks": {"type": "array", "items": _ref("Ask")},
        "Outcome": _chain(
            ({"type": "object", "required": ["id", "status"]}, _ref("Task")),
            ({"type": "object", "required": ["items"]}, _ref("Page")),
            otherwise=_ref("Empty"),
        ),
        "Strict": _chain(({"required": ["id", "status"]}, _ref("Task")), otherwise=_ref("Page")),
        "Task": _object({"id": _ref("Token"), "status": _ref("Level"), "ttl": {"type": ["integer", "null"]}}),
        "Page": _object({"items": _ref("Blocks")}, next=_STRING),
        "Empty": _object({}, _meta=_ref("Meta")),
        "Meta": _object({"com.example/version": _STRING}, progressToken=_ref("Token"), caps=_ref("Caps")),
        "Caps": _object({}, list={"type": "boolean"}, free=True),
        "Schema": _object({"type": {"const": "object"}}, required=_ref("Texts"), limit=_INTEGER, caps=_ref("Caps")),
        "Tool": _object(
            {"name": _STRING, "inputSchema": _ref("Schema")},
            **{"priority": _ref("Priority"), "code": _ref("Code"), "": _ref("Flag")},
        ),
        "Call": _object({"method": {"const": "tools/call"}, "params": _ref("CallParams")}),
        "CallParams": _object(
            {"name": _STRING},
            arguments={"type": "object"},
            content={"type": "array", "items": _ref("Contents")},
            structured={},
            _meta=_ref("Meta"),
        ),
        "Tree": _object({"name": _STRING}, children={"type": "array", "items": _ref("Tree")}),
        "Nest": {
            "anyOf": [
                _INTEGER,
                {"type": "array", "items": _ref("Nest")},
                {"type": "object", "additionalProperties": _ref("Nest")},
            ]
        },
    },
}
