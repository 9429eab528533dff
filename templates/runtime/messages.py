"""Envelopes on the way out: concatenated around payloads that are encoded already."""

from __future__ import annotations

from functools import lru_cache

from .failures import McpError
from .peer import Payload, as_json, to_json


def request(id: str | int, method: str, params: Payload) -> bytes:
    """A request."""
    return b'{"jsonrpc":"2.0","id":%b,"method":%b,"params":%b}' % (_id(id), _text(method), as_json(params))


def notification(method: str, params: Payload | None) -> bytes:
    """A notification."""
    if params is None:
        return b'{"jsonrpc":"2.0","method":%b}' % _text(method)
    return b'{"jsonrpc":"2.0","method":%b,"params":%b}' % (_text(method), as_json(params))


def result(id: str | int, payload: Payload) -> bytes:
    """The answer to a request."""
    return b'{"jsonrpc":"2.0","id":%b,"result":%b}' % (_id(id), as_json(payload))


def error(id: str | int | None, failure: McpError) -> bytes:
    """The error that answers a request; without an id if the request's could not be read."""
    try:
        body = to_json(failure.to_wire())
    except (TypeError, ValueError, RecursionError):  # data that is not JSON must not cost the caller the answer
        body = to_json({"code": failure.code, "message": failure.message})
    if id is None:
        return b'{"jsonrpc":"2.0","error":%b}' % body
    return b'{"jsonrpc":"2.0","id":%b,"error":%b}' % (_id(id), body)


def _id(id: str | int) -> bytes:
    return b"%d" % id if isinstance(id, int) else to_json(id)


@lru_cache(256)
def _text(method: str) -> bytes:
    return to_json(method)
