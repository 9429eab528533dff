"""Frames: what a message is, without decoding its payload."""

from __future__ import annotations

import json
import re
from typing import Final

from pydantic_core import SchemaValidator, core_schema, from_json, to_json

from ..runtime.frames import Frame, classify, envelope
from ..runtime.frames import parse as parse_frame
from ..runtime.unset import UNSET
from .finite import has_nan

_SPACE: Final = rb"[ \t\n\r]*"
_MEMBER: Final = rb'"(?:jsonrpc|id|method)"%b:%b(?:"[^"\\]*"|-?[0-9]+)%b' % (_SPACE, _SPACE, _SPACE)
_HEAD: Final = re.compile(
    rb'%b\{%b((?:%b,%b)*)"(params|result|error)"%b:%b(?=\{)' % (_SPACE, _SPACE, _MEMBER, _SPACE, _SPACE, _SPACE)
).match
_TAIL: Final = re.compile(rb"(?<=\})%b((?:,%b%b)*)\}%b\Z" % (_SPACE, _SPACE, _MEMBER, _SPACE)).search
_LONGEST_TAIL: Final = 400
_SHORT: Final = 800

_skim: Final = SchemaValidator(core_schema.typed_dict_schema({}, extra_behavior="ignore")).validate_json
"""Reads a JSON object and makes nothing of it, which takes half the time."""


def frame(data: bytes | str) -> Frame:
    """The frame of a message, its payload as JSON. Raises FrameError if it is none."""
    try:
        raw = data.encode() if isinstance(data, str) else data
    except UnicodeEncodeError:  # half a surrogate pair
        return _settled(data)
    return (_sliced(raw) if len(raw) > _SHORT else None) or _parsed(raw)


def _sliced(data: bytes) -> Frame | None:
    """The frame of a message whose envelope is plain: some of `jsonrpc`, `id`, `method` before and after the payload.

    If what is between is one JSON object, as it must prove to be, there is no other way to read the message.
    """
    head = _HEAD(data)
    if head is None:
        return None
    start = head.end()
    if data.endswith(b"}}"):
        end, rest = len(data) - 1, b""
    elif tail := _TAIL(data, max(start, len(data) - _LONGEST_TAIL)):
        end, rest = tail.start(), tail[1]
    else:
        return None
    payload = data[start:end]
    try:
        if has_nan(payload):
            return None
        _skim(payload)
        members = from_json(b'{%b"":0%b}' % (head[1], rest))
    except ValueError:  # pydantic's ValidationError is one, too
        return None
    get, name = members.get, head[2]
    return envelope(
        get("jsonrpc", UNSET),
        get("id", UNSET),
        get("method", UNSET),
        payload if name == b"params" else UNSET,
        payload if name == b"result" else UNSET,
        payload if name == b"error" else UNSET,
    )


def _parsed(data: bytes) -> Frame:
    """The frame of any message: the faster way for short ones, and where the payload has to be found first."""
    try:
        message = from_json(data, allow_inf_nan=False)
    except ValueError:
        return _settled(data)
    frame = classify(message)
    if frame.payload is not None:
        frame.payload = to_json(frame.payload)
    return frame


def _settled(data: bytes | str) -> Frame:
    """The frame of a message that pydantic refuses, if it is one."""
    frame = parse_frame(data)
    if frame.payload is not None:
        frame.payload = json.dumps(frame.payload).encode()
    return frame
