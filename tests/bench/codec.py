"""Decoding and encoding: against untyped msgspec, and against the official SDK's full path."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import mcp_types
import mcp_types.methods as official
import msgspec

from .documents import DOCUMENTS, VERSION, Document
from .measure import Row, faster, less, per_call

# Ours must be at most this multiple of untyped msgspec's decode.
UNTYPED = {"tools/list, 50 tools": 1.05, "resources/read, 5 contents": 1.6}
DECODE = {"msgspec": 10.0, "pydantic": 2.5}
ENCODE = {"msgspec": 10.0, "pydantic": 2.0}


def rows() -> Iterator[Row]:
    """All rows, document by document."""
    for document in DOCUMENTS:
        styles = {name: import_module(f"mcp_bindings.{name}.v2026_07_28") for name in DECODE}
        decoders: dict[str, Callable[[], object]] = {"official": _official_decode(document)}
        encoders: dict[str, Callable[[], object]] = {"official": _official_encode(document)}
        data = document.data(whole=document.kind != "result")
        decoders["untyped"] = lambda data=data: msgspec.json.decode(data)
        for name, style in styles.items():
            decoders[name] = _decode(document, style)
            encoders[name] = _encode(document, style)
            decoders[f"{name} alone"] = _decode_alone(document, style)
        decode, encode = per_call(decoders), per_call(encoders)
        bar = UNTYPED.get(document.title, 1.0)
        yield less(f"decode {document.title}: msgspec / untyped", decode["msgspec alone"], decode["untyped"], "us", bar)
        for name in styles:
            want = 8.0 if name == "msgspec" and "list" in document.title else DECODE[name]
            yield faster(f"decode {document.title}: {name} / SDK", decode[name], decode["official"], "us", want)
        for name in styles:
            yield faster(f"encode {document.title}: {name} / SDK", encode[name], encode["official"], "us", ENCODE[name])


def _decode_alone(document: Document, style: Any) -> Callable[[], object]:
    """The typed value from the bytes of its own type: what untyped decoding is compared with."""
    cls = getattr(style.types, document.type)
    decode_json = style.codec.decode_json
    data = document.data(whole=document.kind != "result")
    return lambda: decode_json(cls, data)


def _decode(document: Document, style: Any) -> Callable[[], object]:
    """From the bytes of the whole message to the typed value, as a session does it."""
    codec = style.codec
    data = document.data(whole=True)
    if document.kind != "result":
        return _decode_alone(document, style)
    cls = getattr(style.types, document.type)
    frame, decode_json = codec.frame, codec.decode_json
    return lambda: decode_json(cls, frame(data).payload)


def _encode(document: Document, style: Any) -> Callable[[], object]:
    """From the typed value to the bytes of the whole message."""
    codec = style.codec
    cls = getattr(style.types, document.type)
    encode_json = codec.encode_json
    if document.kind != "result":
        value = codec.decode(cls, document.frame)
        return lambda: encode_json(value)
    value = codec.decode(cls, document.body)
    assert json.loads(b'{"jsonrpc":"2.0","id":17,"result":%b}' % encode_json(value)) == document.frame
    return lambda: b'{"jsonrpc":"2.0","id":%d,"result":%b}' % (17, encode_json(value))


def _official_decode(document: Document) -> Callable[[], object]:
    """The SDK's path: bytes, envelope model, then the wire and the monolith model of the method."""
    adapter = mcp_types.jsonrpc_message_adapter
    data = document.data(whole=True)
    method = document.method

    def request() -> object:
        message: Any = adapter.validate_json(data)
        return official.parse_client_request(method, VERSION, message.params)

    def notification() -> object:
        message: Any = adapter.validate_json(data)
        return official.parse_server_notification(method, VERSION, message.params)

    def result() -> object:
        message: Any = adapter.validate_json(data)
        return official.parse_server_result(method, VERSION, message.result)

    return {"request": request, "notification": notification, "result": result}[document.kind]


def _official_encode(document: Document) -> Callable[[], object]:
    """The SDK's way back: dump, for results through the wire model too, envelope model, JSON."""
    value: Any = _official_decode(document)()
    method = document.method

    def dump() -> dict[str, Any]:
        dumped: dict[str, Any] = value.model_dump(by_alias=True, mode="json", exclude_none=True)
        return dumped

    def request() -> object:
        envelope = mcp_types.JSONRPCRequest(jsonrpc="2.0", id=17, **dump())
        return envelope.model_dump_json(by_alias=True, exclude_none=True).encode()

    def notification() -> object:
        envelope = mcp_types.JSONRPCNotification(jsonrpc="2.0", **dump())
        return envelope.model_dump_json(by_alias=True, exclude_none=True).encode()

    def result() -> object:
        body = official.serialize_server_result(method, VERSION, dump())
        envelope = mcp_types.JSONRPCResponse(jsonrpc="2.0", id=17, result=body)
        return envelope.model_dump_json(by_alias=True, exclude_none=True).encode()

    return {"request": request, "notification": notification, "result": result}[document.kind]
