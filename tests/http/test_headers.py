"""Header values and the agreement of headers and body."""

from __future__ import annotations

from typing import Any

import pytest

from mcp_bindings.runtime import http_headers as headers
from mcp_bindings.runtime.failures import McpError

ENCODED = [
    ("us-west1", "us-west1"),
    ("us west 1", "us west 1"),
    ("", ""),
    ("~ !\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}", "~ !\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}"),
    (" us-west1", "=?base64?IHVzLXdlc3Qx?="),
    ("us-west1 ", "=?base64?dXMtd2VzdDEg?="),
    (" ", "=?base64?IA==?="),
    ("a\tb", "=?base64?YQli?="),
    ("a\r\nEvil: x", "=?base64?YQ0KRXZpbDogeA==?="),
    ("\x00", "=?base64?AA==?="),
    ("\x7f", "=?base64?fw==?="),
    ("Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="),
    ("file:///données/été.csv", "=?base64?ZmlsZTovLy9kb25uw6llcy/DqXTDqS5jc3Y=?="),
    ("\N{NO-BREAK SPACE}x", "=?base64?wqB4?="),
    ("=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="),
    ("=?base64?abc?=", "=?base64?PT9iYXNlNjQ/YWJjPz0=?="),
    ("=?base64??=", "=?base64?PT9iYXNlNjQ/Pz0=?="),
    ("=?base64?=", "=?base64?="),
    ("=?base64?x", "=?base64?x"),
    ("x?=", "x?="),
    ("=?BASE64?eA==?=", "=?BASE64?eA==?="),
]


@pytest.mark.parametrize(("text", "value"), ENCODED)
def test_what_is_encoded_is_decoded(text: str, value: str) -> None:
    assert headers.encode_value(text) == value
    assert headers.decode_value(value.encode("ascii")) == text


def test_text_that_is_not_unicode_has_no_header() -> None:
    with pytest.raises(ValueError, match="surrogate"):
        headers.encode_value("\ud800")


@pytest.mark.parametrize(
    ("value", "text"),
    [(b"  x \t", "x"), (b"=?base64?SGVsbG8=?=", "Hello"), (b"=?base64??=", ""), (b" =?base64?SGVsbG8=?= ", "Hello")],
)
def test_decoding(value: bytes, text: str) -> None:
    assert headers.decode_value(value) == text


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (b"=?base64?SGVsbG8?=", "Base64"),
        (b"=?base64?SGVs!!!bG8=?=", "Base64"),
        (b"=?base64?SGVs bG8=?=", "Base64"),
        (b"=?base64?SGVsbG9=?=", "canonical"),
        (b"=?base64?=SGVsbG8?=", "Base64"),
        (b"=?base64?/w==?=", "UTF-8"),
        ("é".encode(), "ASCII"),
        ("é".encode("latin-1"), "ASCII"),
        (b"a\x00b", "control"),
        (b"a\tb", "control"),
        (b"a\rb", "control"),
        (b"a\x7f", "control"),
    ],
)
def test_what_cannot_be_decoded(value: bytes, reason: str) -> None:
    with pytest.raises(headers.InvalidHeader, match=reason):
        headers.decode_value(value)


def test_names_have_no_case_and_accept_is_one_list() -> None:
    table = headers.read_headers([(b"MCP-Method", b"a"), (b"Accept", b"x/y"), (b"accept", b"z/w")])
    assert table.one(b"mcp-method") == b"a"
    assert table.one(b"accept") == b"x/y,z/w"
    assert table.one(b"host") is None


def test_a_repeated_header_is_not_read() -> None:
    table = headers.read_headers([(b"mcp-name", b"a"), (b"MCP-NAME", b"a")])
    with pytest.raises(headers.InvalidHeader, match="more than once"):
        table.one(b"mcp-name")


RIGHT: list[tuple[bytes, bytes]] = [
    (b"mcp-protocol-version", b"2026-07-28"),
    (b"mcp-method", b"tools/call"),
    (b"mcp-name", b"echo"),
]
BODY: dict[str, Any] = {"name": "echo"}


def check(raw: list[tuple[bytes, bytes]], params: dict[str, Any] = BODY, name_param: str | None = "name") -> None:
    headers.check_agreement(headers.read_headers(raw), "2026-07-28", "tools/call", params, name_param)


def replaced(name: bytes, *values: bytes) -> list[tuple[bytes, bytes]]:
    return [pair for pair in RIGHT if pair[0] != name] + [(name, value) for value in values]


def test_headers_that_agree() -> None:
    check(RIGHT)
    check(replaced(b"mcp-name", b"  echo\t"))
    check(replaced(b"mcp-name", b"=?base64?ZWNobw==?="))
    check(replaced(b"mcp-name"), {}, None)
    check(replaced(b"mcp-name"), {})  # the missing name is the decoder's to report
    check(replaced(b"mcp-name"), {"name": 7})


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (replaced(b"mcp-protocol-version"), "MCP-Protocol-Version is missing"),
        (replaced(b"mcp-protocol-version", b"2025-11-25"), "MCP-Protocol-Version differs"),
        (replaced(b"mcp-protocol-version", b"2026-07-28", b"2026-07-28"), "MCP-Protocol-Version appears more"),
        (replaced(b"mcp-method"), "Mcp-Method is missing"),
        (replaced(b"mcp-method", b"TOOLS/CALL"), "Mcp-Method differs"),
        (replaced(b"mcp-method", b"tools/call", b"tools/list"), "Mcp-Method appears more"),
        (replaced(b"mcp-method", b"tools/\x00call"), "Mcp-Method has characters"),
        (replaced(b"mcp-method", b"=?base64?dG9vbHMvY2FsbA==?="), "Mcp-Method differs"),
        (replaced(b"mcp-name"), "Mcp-Name is missing"),
        (replaced(b"mcp-name", b"Echo"), "Mcp-Name differs"),
        (replaced(b"mcp-name", b""), "Mcp-Name differs"),
        (replaced(b"mcp-name", b"=?base64?ZWNobw?="), "Mcp-Name is not valid Base64"),
        (replaced(b"mcp-name", b"echo", b"other"), "Mcp-Name appears more"),
    ],
)
def test_headers_that_disagree(raw: list[tuple[bytes, bytes]], reason: str) -> None:
    with pytest.raises(McpError, match=reason) as caught:
        check(raw)
    assert caught.value.code == -32020


def test_an_empty_name_is_a_name() -> None:
    check(replaced(b"mcp-name", b""), {"name": ""})
    with pytest.raises(McpError, match="Mcp-Name is missing"):
        check(replaced(b"mcp-name"), {"name": ""})
