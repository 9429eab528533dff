"""What is decided from headers alone: hosts, origins, media types; the statuses; and how events are written."""

from __future__ import annotations

import pytest

from mcp_bindings.runtime import http, sse
from mcp_bindings.runtime import http_rules as rules

HOSTS = [
    (b"localhost", True),
    (b"localhost:8000", True),
    (b"LOCALHOST:1", True),
    (b"127.0.0.1:3001", True),
    (b"[::1]", True),
    (b"[::1]:8000", True),
    (b" localhost ", True),
    (None, False),
    (b"", False),
    (b"evil.example.com", False),
    (b"localhost.evil.example", False),
    (b"localhost:80:80", False),
    (b"localhost:", False),
    (b"localhost:x", False),
    (b"evil@localhost", False),
    (b"localhost/evil", False),
    (b"localhost,evil", False),
    (b"127.0.0.2", False),
    (b"::1", False),
    (b"local\x00host", False),
    (b"l\xc3\xb6calhost", False),
]


@pytest.mark.parametrize(("host", "allowed"), HOSTS)
def test_loopback_is_the_default(host: bytes | None, allowed: bool) -> None:
    assert rules.Access(http.LOOPBACK).host_allowed(host) is allowed


@pytest.mark.parametrize(
    ("origin", "allowed"),
    [
        (None, True),
        (b"http://localhost", True),
        (b"http://localhost:6274", True),
        (b"https://127.0.0.1:1", True),
        (b"http://[::1]:8000", True),
        (b"HTTP://LocalHost", True),
        (b"", False),
        (b"null", False),
        (b"http://evil.example.com", False),
        (b"http://localhost.evil.example", False),
        (b"http://localhost@evil.example", False),
        (b"http://localhost:80/path", False),
        (b"ftp://localhost", False),
        (b"file://", False),
        (b"localhost", False),
        (b"http://localhost http://evil.example", False),
    ],
)
def test_origins_default_to_the_hosts(origin: bytes | None, allowed: bool) -> None:
    assert rules.Access(http.LOOPBACK).origin_allowed(origin) is allowed


def test_lists_of_ones_own() -> None:
    access = rules.Access(["mcp.example.com", "other.example:8443"], ["https://App.example.com", "http://dev:*"])
    assert access.host_allowed(b"mcp.example.com:1234")
    assert access.host_allowed(b"other.example:8443")
    assert not access.host_allowed(b"other.example")
    assert not access.host_allowed(b"other.example:1")
    assert not access.host_allowed(b"localhost")
    assert access.origin_allowed(b"https://app.example.com")
    assert access.origin_allowed(b"https://app.example.com:443")
    assert not access.origin_allowed(b"https://app.example.com:444")
    assert not access.origin_allowed(b"http://app.example.com")
    assert access.origin_allowed(b"http://dev:3000")
    assert access.origin_allowed(b"http://dev")
    assert not access.origin_allowed(b"https://mcp.example.com")


def test_origins_of_hosts_with_ports() -> None:
    access = rules.Access(["mcp.example.com:8443"])
    assert access.origin_allowed(b"https://mcp.example.com:8443")
    assert not access.origin_allowed(b"https://mcp.example.com")


def test_everything_can_be_allowed() -> None:
    access = rules.Access(["*"])
    assert access.host_allowed(b"any")
    assert access.origin_allowed(b"https://any.example")
    assert rules.Access(["*"], []).origin_allowed(None)
    assert not rules.Access(["*"], []).origin_allowed(b"https://any.example")


@pytest.mark.parametrize(
    ("accept", "both"),
    [
        (None, True),
        (b"application/json, text/event-stream", True),
        (b"text/event-stream,application/json", True),
        (b"*/*", True),
        (b"application/*, text/*", True),
        (b"application/json;q=0.9, text/event-stream;q=0.8", True),
        (b"APPLICATION/JSON, Text/Event-Stream", True),
        (b"application/json; charset=utf-8, text/event-stream", True),
        (b"application/json, */*;q=0.1", True),
        (b"", False),
        (b"application/json", False),
        (b"text/event-stream", False),
        (b"text/html, application/json", False),
        (b"application/json, text/event-stream;q=0", False),
        (b"*/*, text/event-stream;q=0.0", False),
        (b"application/json, text/event-stream;q=x", False),
        (b"application/jsonx, text/event-stream", False),
    ],
)
def test_accept(accept: bytes | None, both: bool) -> None:
    assert rules.accepts_both(accept) is both


@pytest.mark.parametrize(
    ("content_type", "json"),
    [
        (b"application/json", True),
        (b"Application/JSON; charset=latin-1", True),
        (None, False),
        (b"", False),
        (b"text/plain", False),
        (b"application/jsonp", False),
        (b"text/plain; application/json", False),
    ],
)
def test_content_type(content_type: bytes | None, json: bool) -> None:
    assert rules.is_json(content_type) is json


@pytest.mark.parametrize(
    ("code", "status"),
    [
        (-32700, 400),
        (-32600, 400),
        (-32601, 404),
        (-32602, 200),
        (-32603, 200),
        (-32020, 400),
        (-32021, 400),
        (-32022, 400),
        (-32002, 200),
        (-1, 200),
        (1234, 200),
    ],
)
def test_status(code: int, status: int) -> None:
    assert rules.status_of(code) == status


def test_an_event_is_one_line() -> None:
    assert sse.event(b'{"a":1}') == b'data: {"a":1}\n\n'
    assert sse.event(b'{\r\n "a":\n1}') == b'data: {   "a": 1}\n\n'
    assert sse.KEEP_ALIVE.startswith(b":")
