"""Envelopes: kinds, ids, and what is refused with which code."""

from __future__ import annotations

import copy
import json
import pickle
from typing import Any

import pytest

from loading import runtime

frames = runtime("frames")
UNSET = runtime("unset").UNSET
Frame, FrameError = frames.Frame, frames.FrameError

RPC = {"jsonrpc": "2.0"}


@pytest.mark.parametrize(
    ("message", "kind", "id", "method", "payload"),
    [
        ({"id": 1, "method": "ping"}, "request", 1, "ping", None),
        ({"id": 0, "method": "m", "params": {}}, "request", 0, "m", {}),
        ({"id": "", "method": "", "params": {"a": 1}}, "request", "", "", {"a": 1}),
        ({"id": "1", "method": "m"}, "request", "1", "m", None),
        ({"id": -5, "method": "m"}, "request", -5, "m", None),
        ({"id": 2**70, "method": "m"}, "request", 2**70, "m", None),
        ({"id": 0.0, "method": "m"}, "request", 0, "m", None),
        ({"id": 1e3, "result": {}}, "result", 1000, None, {}),
        ({"method": "n"}, "notification", None, "n", None),
        ({"method": "n", "params": {}}, "notification", None, "n", {}),
        ({"id": 1, "result": {"a": 1}}, "result", 1, None, {"a": 1}),
        ({"id": "x", "error": {"code": 1}}, "error", "x", None, {"code": 1}),
        ({"error": {}}, "error", None, None, {}),
        ({"id": None, "error": {}}, "error", None, None, {}),
        ({"id": 1, "result": {}, "params": 5, "extra": None}, "result", 1, None, {}),
    ],
)
def test_kinds(message: dict[str, Any], kind: str, id: Any, method: Any, payload: Any) -> None:
    message = {**message, **RPC}
    before = copy.deepcopy(message)
    frame = frames.classify(message)
    assert frame == Frame(kind, id, method, payload)
    assert type(frame.id) is type(id)
    assert message == before
    assert frames.parse(json.dumps(message)) == frame
    assert frames.parse(json.dumps(message).encode()) == frame
    assert sliced(message) == Frame(kind, id, method, payload if payload is None else json.dumps(payload).encode())


def sliced(message: dict[str, Any]) -> Any:
    """The way of a codec that leaves payloads as raw JSON."""
    members = [message.get(name, UNSET) for name in ("jsonrpc", "id", "method", "params", "result", "error")]
    raw = [value if value is UNSET else json.dumps(value).encode() for value in members[3:]]
    return frames.envelope(*members[:3], *raw)


@pytest.mark.parametrize(
    ("message", "code", "id", "kind", "reason"),
    [
        ({"id": None, "method": "m"}, -32600, None, "request", "id: expected a string or an integer, got null"),
        ({"id": True, "method": "m"}, -32600, None, "request", "id: expected a string or an integer, got true"),
        ({"id": 1.5, "method": "m"}, -32600, None, "request", "id: expected a string or an integer, got 1.5"),
        ({"id": [], "method": "m"}, -32600, None, "request", "id: expected a string or an integer, got an array"),
        ({"id": {}, "method": "m"}, -32600, None, "request", "id: expected a string or an integer, got an object"),
        ({"id": None, "result": {}}, -32600, None, "result", "id: expected a string or an integer, got null"),
        ({"result": {}}, -32600, None, "result", "id: required member is missing"),
        ({"id": False, "error": {}}, -32600, None, "error", "id: expected a string or an integer, got false"),
        ({"id": 9, "method": 5}, -32600, 9, "request", "method: expected a string, got 5"),
        ({"id": 9, "method": None}, -32600, 9, "request", "method: expected a string, got null"),
        ({"method": ["m"]}, -32600, None, "notification", "method: expected a string, got an array"),
        ({"id": 1}, -32600, 1, None, 'expected a member "method", "result" or "error"'),
        ({}, -32600, None, None, 'expected a member "method", "result" or "error"'),
        (
            {"id": 1, "result": {}, "error": {}},
            -32600,
            1,
            "result",
            'expected only one of "method", "result" and "error"',
        ),
        (
            {"id": 1, "method": "m", "result": {}},
            -32600,
            1,
            "request",
            'expected only one of "method", "result" and "error"',
        ),
        (
            {"method": "m", "error": {}},
            -32600,
            None,
            "notification",
            'expected only one of "method", "result" and "error"',
        ),
        ({"id": 3, "method": "m", "params": []}, -32602, 3, "request", "params: expected an object, got an array"),
        ({"id": 3, "method": "m", "params": None}, -32602, 3, "request", "params: expected an object, got null"),
        ({"id": 3, "method": "m", "params": "{}"}, -32602, 3, "request", 'params: expected an object, got "{}"'),
        ({"method": "m", "params": 5}, -32600, None, "notification", "params: expected an object, got 5"),
        ({"id": "r", "result": None}, -32600, "r", "result", "result: expected an object, got null"),
        ({"id": "r", "result": [1]}, -32600, "r", "result", "result: expected an object, got an array"),
        ({"id": "r", "error": "no"}, -32600, "r", "error", 'error: expected an object, got "no"'),
        ({"id": 1, "method": "m", "jsonrpc": "1.0"}, -32600, 1, "request", 'jsonrpc: expected "2.0", got "1.0"'),
        ({"id": 1, "method": "m", "jsonrpc": 2.0}, -32600, 1, "request", 'jsonrpc: expected "2.0", got 2.0'),
        ({"id": 1, "result": {}, "jsonrpc": None}, -32600, 1, "result", 'jsonrpc: expected "2.0", got null'),
    ],
)
def test_refused(message: dict[str, Any], code: int, id: Any, kind: Any, reason: str) -> None:
    for read in (frames.classify, lambda value: frames.parse(json.dumps(value)), sliced):
        with pytest.raises(FrameError) as caught:
            read({**RPC, **message})
        error = caught.value
        assert (error.code, error.id, error.kind, error.reason) == (code, id, kind, reason)
        assert str(error) == reason


def test_the_version_must_be_there() -> None:
    with pytest.raises(FrameError, match=r"^jsonrpc: required member is missing$") as caught:
        frames.classify({"id": 7, "method": "m"})
    assert (caught.value.code, caught.value.id) == (-32600, 7)


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        ([], "expected an object, got an array (batches are not supported)"),
        (
            [{"jsonrpc": "2.0", "id": 1, "method": "ping"}],
            "expected an object, got an array (batches are not supported)",
        ),
        ("ping", "expected an object, got a string"),
        (None, "expected an object, got null"),
        (5, "expected an object, got 5"),
    ],
)
def test_what_is_no_object_is_no_message(message: Any, reason: str) -> None:
    with pytest.raises(FrameError) as caught:
        frames.classify(message)
    assert (caught.value.code, caught.value.id, caught.value.kind, caught.value.reason) == (-32600, None, None, reason)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"{oops", "not valid JSON: expecting property name enclosed in double quotes (line 1, column 2)"),
        (b"", "not valid JSON: expecting value (line 1, column 1)"),
        (b'{"jsonrpc":"2.0"', "not valid JSON: expecting ',' delimiter (line 1, column 17)"),
        (b"\xff\xfe", "not valid UTF-8 at byte 0"),
        (b'{"id": NaN}', "not valid JSON: NaN is not a JSON number"),
        (b"[" * 100_000 + b"]" * 100_000, "not valid JSON: nested too deeply"),
    ],
)
def test_what_is_no_json_is_a_parse_error(data: bytes, reason: str) -> None:
    with pytest.raises(FrameError) as caught:
        frames.parse(data)
    assert (caught.value.code, caught.value.id, caught.value.kind, caught.value.reason) == (-32700, None, None, reason)


def test_slices_may_be_any_buffer_and_are_kept_as_they_are() -> None:
    msgspec = pytest.importorskip("msgspec")
    raw = msgspec.Raw(b'{"a":1}')
    assert frames.envelope("2.0", 1, "m", raw, UNSET, UNSET).payload is raw
    with pytest.raises(FrameError, match=r"^params: expected an object, got an array$"):
        frames.envelope("2.0", 1, "m", msgspec.Raw(b"[1]"), UNSET, UNSET)


def test_broken_slices_are_frame_errors() -> None:
    with pytest.raises(FrameError, match=r"^params: expected an object, but it is not valid JSON"):
        frames.envelope("2.0", 1, "m", b"oops", UNSET, UNSET)


def test_frames_are_small_and_comparable() -> None:
    frame = frames.classify({**RPC, "id": 1, "method": "m"})
    assert not hasattr(frame, "__dict__")
    assert pickle.loads(pickle.dumps(frame)) == frame == copy.deepcopy(frame)
    match frame:
        case Frame("request", id, method, payload):
            assert (id, method, payload) == (1, "m", None)
        case _:
            pytest.fail("no match")


def test_errors_survive_pickle() -> None:
    error = pickle.loads(pickle.dumps(FrameError(-32600, "why", 1, "request")))
    assert (error.code, error.reason, error.id, error.kind, str(error)) == (-32600, "why", 1, "request", "why")
