"""Envelopes: what a JSON-RPC message is, before anyone looks at its payload."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias, cast

from .kinds import JsonObject, described, quoted, shown
from .unset import UNSET

FrameKind: TypeAlias = Literal["request", "notification", "result", "error"]

PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
INVALID_PARAMS: Final = -32602


@dataclass(slots=True)
class Frame:
    """One message, classified by the members that its envelope has.

    `payload` is the undecoded `params`, `result` or `error`: the JSON object or, from a codec that slices messages, its
    raw JSON; None if a request or notification has no params. `id` is None for notifications, and for errors about a
    message whose id could not be read. Treat frames as immutable: they are not frozen because a frozen dataclass takes
    four times as long to make, and one is made per message.
    """

    kind: FrameKind
    id: str | int | None
    method: str | None
    payload: Any


class FrameError(ValueError):
    """Not a valid message.

    `code` is the JSON-RPC error code to answer with and `id` the id to answer to, if it could be read. `kind` is what
    the message set out to be, None if that is unclear: a broken notification or response must not be answered at all.
    """

    code: int
    reason: str
    id: str | int | None
    kind: FrameKind | None

    def __init__(self, code: int, reason: str, id: str | int | None = None, kind: FrameKind | None = None) -> None:
        super().__init__(code, reason, id, kind)
        self.code = code
        self.reason = reason
        self.id = id
        self.kind = kind

    def __str__(self) -> str:
        return self.reason


def parse(data: bytes | str) -> Frame:
    """The frame of one message in JSON: for codecs without a faster way, and where the faster way has failed."""
    from .parsing import InvalidJSON, parse_json

    try:
        message = parse_json(data)
    except InvalidJSON as error:
        raise FrameError(PARSE_ERROR, str(error)) from None
    return classify(message)


def classify(message: object) -> Frame:
    """The frame of a parsed message."""
    if not isinstance(message, dict):
        got = "an array (batches are not supported)" if isinstance(message, list) else described(message)
        raise FrameError(INVALID_REQUEST, f"expected an object, got {got}")
    get = cast(JsonObject, message).get
    return envelope(
        get("jsonrpc", UNSET),
        get("id", UNSET),
        get("method", UNSET),
        get("params", UNSET),
        get("result", UNSET),
        get("error", UNSET),
    )


def envelope(jsonrpc: object, id: object, method: object, params: object, result: object, error: object) -> Frame:
    """The frame of a message with these members, each UNSET if absent: the one place where envelopes are checked.

    Codecs that slice messages call it directly: `params`, `result` and `error` may be raw JSON, as bytes or any buffer.
    """
    kind: FrameKind
    if method is not UNSET:
        kind, payload = "notification" if id is UNSET else "request", params
        single = result is UNSET and error is UNSET
    elif result is not UNSET:
        kind, payload = "result", result
        single = error is UNSET
    elif error is not UNSET:
        kind, payload, single = "error", error, True
    else:
        raise FrameError(INVALID_REQUEST, 'expected a member "method", "result" or "error"', readable_id(id))

    known = readable_id(id)
    if known is None and not (kind == "notification" or (kind == "error" and (id is None or id is UNSET))):
        raise FrameError(INVALID_REQUEST, f"id: {_instead('a string or an integer', id)}", None, kind)
    if jsonrpc != "2.0":
        raise FrameError(INVALID_REQUEST, f"jsonrpc: {_instead(quoted('2.0'), jsonrpc)}", known, kind)
    if not single:
        raise FrameError(INVALID_REQUEST, 'expected only one of "method", "result" and "error"', known, kind)
    if method is UNSET:
        name = None
    elif isinstance(method, str):
        name = method
        if payload is UNSET:
            return Frame(kind, known, name, None)
    else:
        raise FrameError(INVALID_REQUEST, f"method: {_instead('a string', method)}", known, kind)
    if payload.__class__ is not dict and not _is_raw_object(payload):
        # The method is clear, so this is about its params; the others break the envelope.
        code = INVALID_PARAMS if kind == "request" else INVALID_REQUEST
        where = "params" if name is not None else kind
        raise FrameError(code, f"{where}: {_instead('an object', payload)}", known, kind)
    return Frame(kind, known, name, payload)


def readable_id(id: object) -> str | int | None:
    """`id` if it can serve as one, else None. An integral float is its integer; a boolean is no id."""
    if isinstance(id, str):
        return id
    if isinstance(id, int):
        return None if isinstance(id, bool) else id
    return int(id) if isinstance(id, float) and id.is_integer() else None


def _instead(expected: str, value: Any) -> str:
    if value is UNSET:
        return "required member is missing"
    if _raw(value) is not None:
        from .parsing import InvalidJSON, parse_json

        try:
            value = parse_json(bytes(value))
        except InvalidJSON as problem:
            return f"expected {expected}, but it is {problem}"
    return f"expected {expected}, got {shown(value)}"


def _raw(value: Any) -> memoryview | None:
    try:
        return memoryview(value)
    except TypeError:
        return None  # a parsed value


def _is_raw_object(payload: Any) -> bool:
    raw = _raw(payload)
    return isinstance(payload, dict) if raw is None else raw[:1].tobytes() == b"{"
