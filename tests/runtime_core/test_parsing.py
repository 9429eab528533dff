"""JSON text to values, strictly."""

from __future__ import annotations

from typing import Any

import pytest

from loading import runtime

parsing = runtime("parsing")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a":[1,1.0,1e2,true,null,""]}', {"a": [1, 1.0, 100.0, True, None, ""]}),
        ('{"a":1,"a":2}', {"a": 2}),
        ("9007199254740993001", 9007199254740993001),
        (r'"\/9j\/4AA="', "/9j/4AA="),
        ('"\u2028\u0085"', "\u2028\u0085"),
        ('"\ufeff"', "\ufeff"),
        (r'"\u0000"', "\x00"),
        (r'"\ud83d\ude00"', "😀"),
        (" 5\r\n", 5),
        ("-0.0", -0.0),
    ],
)
def test_parsed(text: str, value: Any) -> None:
    for data in (text, text.encode()):
        parsed = parsing.parse_json(data)
        assert parsed == value
        assert repr(parsed) == repr(value)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        ("NaN", "not valid JSON: NaN is not a JSON number"),
        ("[-Infinity]", "not valid JSON: -Infinity is not a JSON number"),
        ("[1e400]", "not valid JSON: the number 1e400 is out of range"),
        ("[-1e400]", "not valid JSON: the number -1e400 is out of range"),
        ("1" * 5000, "not valid JSON: an integer is too long"),
        ("[" * 100_000, "not valid JSON: nested too deeply"),
        ("{'a':1}", "not valid JSON: expecting property name enclosed in double quotes (line 1, column 2)"),
        ("{} {}", "not valid JSON: extra data (line 1, column 4)"),
        ("[1,]", None),
        ("[01]", None),
        ('"\n"', None),
        ('{"a":\n tru}', "not valid JSON: expecting value (line 2, column 2)"),
        ("\ufeff{}", None),
        (b'"\xff"', "not valid UTF-8 at byte 1"),
        (b'"\xed\xa0\x80"', "not valid UTF-8 at byte 1"),
        ('"a"'.encode("utf-16"), "not valid UTF-8 at byte 0"),
    ],
)
def test_refused(data: str | bytes, reason: str | None) -> None:
    with pytest.raises(parsing.InvalidJSON) as caught:
        parsing.parse_json(data)
    assert reason is None or str(caught.value) == reason


def test_refusals_are_value_errors() -> None:
    assert issubclass(parsing.InvalidJSON, ValueError)
