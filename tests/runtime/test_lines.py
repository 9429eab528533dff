"""Framing: bytes in any portions, messages out."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcp_bindings.runtime.lines import LineSplitter, TooLong

PING = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'


def lines(*chunks: bytes, limit: int = 1000) -> list[bytes | TooLong]:
    splitter = LineSplitter(limit)
    return [line for chunk in chunks for line in splitter.feed(chunk)]


@pytest.mark.parametrize(
    ("chunks", "expected"),
    [
        ((PING + b"\n",), [PING]),
        ((PING + b"\r\n",), [PING]),
        ((b"\n\n  \r\n\t\n" + PING + b"\n",), [PING]),
        ((b"\xef\xbb\xbf" + PING + b"\r\n",), [PING]),
        (
            ('{"a":"x\u2028y\u2029z\x85\x0b\x0c\x1c\x1d\x1e"}\n'.encode(),),
            ['{"a":"x\u2028y\u2029z\x85\x0b\x0c\x1c\x1d\x1e"}'.encode()],
        ),
        (('{"a":"\ufeffb"}\n'.encode(),), ['{"a":"\ufeffb"}'.encode()]),
        ((b"\xff\xfe\n" + PING + b"\n",), [b"\xff\xfe", PING]),
        ((b"starting up...\n   \n{}\n{}\n",), [b"starting up...", b"{}", b"{}"]),
        ((PING[:20], PING[20:] + b"\n" + PING + b"\n"), [PING, PING]),
        ((b'{"k":"\xe6\xb8', b'\xac"}\n'), ['{"k":"測"}'.encode()]),
        ((b"a\rb\n",), [b"a\rb"]),
        ((b"", b"a", b"", b"\n", b""), [b"a"]),
        ((PING,), []),
    ],
)
def test_lines(chunks: tuple[bytes, ...], expected: list[bytes]) -> None:
    assert lines(*chunks) == expected


def test_the_last_line_may_lack_its_end() -> None:
    splitter = LineSplitter()
    assert splitter.feed(b"a\nb") == [b"a"]
    assert splitter.end() == [b"b"]
    assert splitter.end() == []


@settings(deadline=None)
@given(st.binary(max_size=200), st.lists(st.integers(0, 200)))
def test_boundaries_do_not_matter(data: bytes, cuts: list[int]) -> None:
    places = sorted({0, len(data), *(cut for cut in cuts if cut < len(data))})
    portions = [data[a:b] for a, b in itertools.pairwise(places)]
    assert lines(*portions, b"\n") == lines(data + b"\n")


@pytest.mark.parametrize("size", [1, 7, 100, 5000])
def test_too_long(size: int) -> None:
    long = b'{"id":7,' + b"x" * 3000
    data = b"a\n" + long + b"\nb\n"
    found = lines(*(data[at : at + size] for at in range(0, len(data), size)), limit=100)
    assert [line if isinstance(line, bytes) else "too long" for line in found] == [b"a", "too long", b"b"]
    assert isinstance(found[1], TooLong)
    assert long.startswith(found[1].head)
    assert found[1].head.startswith(b'{"id":7,')


def test_at_the_limit() -> None:
    assert lines(b"x" * 100 + b"\n", limit=100) == [b"x" * 100]
    assert lines(b"x" * 50, b"x" * 50, b"\n", limit=100) == [b"x" * 100]


def test_memory_stays_bounded_while_skipping() -> None:
    splitter = LineSplitter(1000)
    for _ in range(1000):
        splitter.feed(b"x" * 1000)
    assert sum(map(len, splitter._parts)) <= 1000
