"""Frames without parsing: the same as with it, whatever the message looks like."""

from __future__ import annotations

import json
from typing import Any

import pytest

from mcp_bindings.pydantic.finite import has_nan
from mcp_bindings.pydantic.framing import frame
from mcp_bindings.runtime.frames import FrameError, parse

LONG = '"' + 'text, \\"}} {[ \\u00e9 ' * 100 + '"'
"""A string that makes a message long enough to be sliced, with all that could mislead a slicer."""

PAYLOADS = [
    "{}",
    '{"a":1}',
    ' {"a" : {"b":[1,2.5,-0.0,1e3,null,true]} } ',
    '{"id":5,"method":"inner","jsonrpc":"1.0","result":{},"params":{},"error":{}}',
    '{"a":{"x":1},"id":5}',
    '{"a":[{"jsonrpc":"2.0"}],"b":"}}"}',
    '{"a":1,"a":2}',
    '{"k":12345678901234567890123456789}',
    '{"k":"NaN Infinity -Infinity"}',
    # no objects, or no JSON
    "[]",
    "null",
    "5",
    '"text"',
    "{",
    "{}}",
    '{"a":1,}',
    '{"a":NaN}',
    '{"a":-Infinity}',
    '{"a":01}',
    '{"a":"\\ud800"}',
    '{"a":1} {"b":2}',
    '{"a":1},"id":9',
    '{"a":1},"method":"other"',
    '{"a":1},"params":{"b":2}',
    '{"a":1},"result":{"b":2}',
    '{"a":1},"error":{"code":1,"message":""}',
    '{"a":1},"unknown":{"id":3}',
    '{"a":1},"unknown":{}',
    '{"a":1}, "jsonrpc": "1.0"',
]
ENVELOPES = [
    '{"jsonrpc":"2.0","id":1,"method":"m","params":%s}',
    '{"jsonrpc":"2.0","method":"m","params":%s}',
    '{"jsonrpc":"2.0","id":"a","result":%s}',
    '{"jsonrpc":"2.0","id":7,"error":%s}',
    '{"jsonrpc":"2.0","error":%s}',
    '{"result":%s,"jsonrpc":"2.0","id":1}',
    '{"method":"m","params":%s,"jsonrpc":"2.0","id":1}',
    '{"id":1,"params":%s,"jsonrpc":"2.0","method":"m"}',
    ' \r\n\t{ "jsonrpc" : "2.0" , "id" : -1 , "result" : %s } \n',
    '{"params":%s,"method":"m","id":"a","jsonrpc":"2.0"}  ',
    '{"jsonrpc":"2.0","id":1,"id":2,"method":"m","params":%s}',
    '{"jsonrpc":"2.0","id":1,"method":"m","params":%s,"id":3}',
    '{"jsonrpc":"2.0","id":null,"error":%s}',
    '{"jsonrpc":"2.0","id":1.0,"result":%s}',
    # escapes, extra members, wrong and missing ones
    '{"jsonrpc":"2.0","id":"a\\"b","method":"m\\u006e","params":%s}',
    '{"jsonrpc":"2.0","i\\u0064":1,"result":%s}',
    '{"jsonrpc":"2.0","id":1,"result":%s,"extra":true}',
    '{"extra":{"result":1},"jsonrpc":"2.0","id":1,"result":%s}',
    '{"jsonrpc":"1.0","id":1,"result":%s}',
    '{"id":1,"result":%s}',
    '{"jsonrpc":"2.0","id":007,"result":%s}',
    '{"jsonrpc":"2.0","id":true,"method":"m","params":%s}',
    '{"jsonrpc":"2.0","id":1.5,"method":"m","params":%s}',
    '{"jsonrpc":"2.0","id":null,"method":"m","params":%s}',
    '{"jsonrpc":"2.0","result":%s}',
    '{"jsonrpc":"2.0","id":1,"method":5,"params":%s}',
    '{"jsonrpc":"2.0","id":1,"method":"m","result":%s}',
    '{"jsonrpc":"2.0","id":1,"params":%s}',
    '{"jsonrpc":"2.0","id":1,"method":"m","params":%s',
    '{"jsonrpc":"2.0","id":1,"method":"m","params":%s}}',
    '{"jsonrpc":"2.0","id":1,"method":"m" "params":%s}',
    '{"jsonrpc":"2.0","id":1,,"result":%s}',
    '{"jsonrpc":"2.0","id":1,"result":%s,}',
    '[{"jsonrpc":"2.0","id":1,"result":%s}]',
    '{"jsonrpc":"2.0","id":"\xff","result":%s}',
    '{"jsonrpc":"2.0","id":"' + "9" * 500 + '","result":%s}',
]


def seen(data: Any, read: Any) -> Any:
    """A frame, or the error: everything but the wording of JSON errors."""
    try:
        found = read(data)
    except FrameError as error:
        return error.code, error.id, error.kind
    payload = json.loads(found.payload) if isinstance(found.payload, bytes) else found.payload
    return found.kind, repr(found.id), found.method, repr(payload)


@pytest.mark.parametrize("envelope", ENVELOPES)
def test_short_and_long_messages_are_read_alike(envelope: str) -> None:
    for payload in PAYLOADS:
        for inner in (
            payload,
            payload.replace('{"', f'{{"long":{LONG},"', 1),
            payload.replace("{}", f'{{"long":{LONG}}}'),
        ):
            text = envelope % inner
            expected = seen(text.encode(), parse)
            assert seen(text.encode(), frame) == expected, text
            assert seen(text, frame) == expected, text


@pytest.mark.parametrize(
    "text", ["", " ", "{}", "[]", "null", '{"jsonrpc":"2.0"}', '{"jsonrpc":"2.0","id":1,"method":"m"}']
)
def test_messages_without_a_payload(text: str) -> None:
    assert seen(text.encode(), frame) == seen(text.encode(), parse)
    assert seen(f"{text}{' ' * 1000}".encode(), frame) == seen(text.encode(), parse)


def test_payloads_are_always_json_text() -> None:
    for text in (
        '{"jsonrpc":"2.0","id":1,"result":{"a":1}}',
        '{"x":0,"jsonrpc":"2.0","id":1.0,"result":{"a":"\\ud800"}}',
    ):
        assert isinstance(frame(text).payload, bytes)
    assert frame('{"jsonrpc":"2.0","method":"m"}').payload is None
    assert frame('{"jsonrpc":"2.0","id":1,"result":{"a":"\ud800"}}').payload == b'{"a": "\\ud800"}'


@pytest.mark.parametrize("filler", ["", "x" * 50_000, "NaN Infinity ", "NaN" * 20_000, '\\"' * 30_000])
@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity"])
def test_nan_is_found_among_texts(filler: str, number: str) -> None:
    for text in ('{"t":"%s","n":%s}', '{"n":%s,"t":"%s"}', '[[%s],"%s"]', '{"k":{"%s":[1,%s]}}'):
        parts = (number, filler) if text.index("%s") != text.index('"%s"') + 1 else (filler, number)
        assert has_nan((text % parts).encode()), text
        assert not has_nan((text % tuple("1" if part is number else part for part in parts)).encode()), text
