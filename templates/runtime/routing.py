"""Which request a notification belongs to, told from its content: for transports with one channel for everything."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, Literal, TypeAlias

from .meta import PROGRESS_TOKEN, SUBSCRIPTION
from .plain import an_object

CANCELLED: Final = "notifications/cancelled"
PROGRESS: Final = "notifications/progress"

Address: TypeAlias = tuple[Literal["id", "token"], "str | int"]

_HEAD: Final = re.compile(rb'\s*\{\s*"jsonrpc"\s*:\s*"2\.0"\s*,\s*"id"\s*:\s*(?:(-?\d{1,18})|"([^"\\]*)")\s*,')


def address_of(method: str, params: Mapping[str, Any]) -> Address | None:
    """The request that a notification speaks of: by its id, or by the progress token that it was given."""
    if method == PROGRESS:
        token = _key(params.get(PROGRESS_TOKEN))
        return None if token is None else ("token", token)
    if method == CANCELLED:
        id = _key(params.get("requestId"))
    else:
        id = _key((an_object(params.get("_meta")) or {}).get(SUBSCRIPTION))
    return None if id is None else ("id", id)


def id_in_head(head: bytes) -> str | int | None:
    """The id of a message of which only the beginning is known, if it comes right at the beginning."""
    match = _HEAD.match(head)
    if match is None:
        return None
    number, text = match.groups()
    return int(number) if number is not None else text.decode(errors="replace")


def _key(value: object) -> str | int | None:
    """An id or token as a key: `1` and `"1"` differ, `true` is neither."""
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return None
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    return value
