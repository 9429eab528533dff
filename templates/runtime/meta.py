"""The `_meta` of requests: its keys, what a server demands of it, and what a client puts there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from .failures import McpError, invalid_params, unsupported_version
from .kinds import described
from .plain import an_array, an_object

VERSION: Final = "io.modelcontextprotocol/protocolVersion"
CLIENT_INFO: Final = "io.modelcontextprotocol/clientInfo"
CLIENT_CAPABILITIES: Final = "io.modelcontextprotocol/clientCapabilities"
LOG_LEVEL: Final = "io.modelcontextprotocol/logLevel"
SERVER_INFO: Final = "io.modelcontextprotocol/serverInfo"
SUBSCRIPTION: Final = "io.modelcontextprotocol/subscriptionId"
PROGRESS_TOKEN: Final = "progressToken"


def version_of(params: Mapping[str, Any] | None) -> str:
    """The protocol version that a request's params name. Raises McpError if they lack what every request needs."""
    value: object = params.get("_meta") if params else None
    meta = an_object(value)
    if meta is None:
        missing = params is None or "_meta" not in params
        raise invalid_params("_meta is missing" if missing else f"_meta: expected an object, got {described(value)}")
    version: object = meta.get(VERSION)
    if not isinstance(version, str):
        raise _wrong(VERSION, "a string", meta)
    if an_object(meta.get(CLIENT_CAPABILITIES)) is None:
        raise _wrong(CLIENT_CAPABILITIES, "an object", meta)
    return version


def check_version(version: str, served: Sequence[str]) -> None:
    """Raise McpError unless this version is served."""
    if version not in served:
        raise unsupported_version(version, served)


def retry_version(error: McpError, mine: Sequence[str]) -> str | None:
    """The version to use after the server refused one: the first of mine that it says it supports."""
    supported = an_array((an_object(error.data) or {}).get("supported")) or []
    return next((version for version in mine if version in supported), None)


def with_meta(params: Mapping[str, Any], additions: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of params with these keys set in its `_meta`."""
    return {**params, "_meta": {**(an_object(params.get("_meta")) or {}), **additions}}


def _wrong(key: str, expected: str, meta: Mapping[str, Any]) -> McpError:
    if key not in meta:
        return invalid_params(f"_meta: required member {key} is missing")
    return invalid_params(f"_meta[{key}]: expected {expected}, got {described(meta[key])}")
