"""Keeping results for as long as the server says they stay fresh."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from time import monotonic
from typing import Any, Final, TypeAlias

from .peer import to_json

CACHE_LIMIT: Final = 1000
"""How many results a cache holds, unless said otherwise."""

Key: TypeAlias = tuple[object, str, bytes]


class ResultCache:
    """Results by request, until their time is up or a notification says that they have changed.

    One cache may serve several clients of the same server: results that the server calls public are shared between
    them, private ones are kept apart by `owner`, which must differ wherever credentials do.
    """

    def __init__(self, limit: int = CACHE_LIMIT, clock: Callable[[], float] = monotonic) -> None:
        self._limit = limit
        self._clock = clock
        self._entries: OrderedDict[Key, tuple[float, str | None, Any]] = OrderedDict()

    def get(self, owner: object, method: str, params: Mapping[str, Any]) -> Any:
        """The fresh result of this request, or None."""
        text = _text(params)
        for key in ((owner, method, text), (None, method, text)):
            entry = self._entries.get(key)
            if entry is None:
                continue
            if entry[0] > self._clock():
                self._entries.move_to_end(key)
                return entry[2]
            del self._entries[key]
        return None

    def put(self, owner: object, method: str, params: Mapping[str, Any], wire: Mapping[str, Any], result: Any) -> None:
        """Keep a result if its wire form says that it may be kept."""
        ttl: object = wire.get("ttlMs")
        if isinstance(ttl, bool) or not isinstance(ttl, (int, float)) or ttl <= 0:
            return
        key = (None if wire.get("cacheScope") == "public" else owner, method, _text(params))
        uri: object = params.get("uri")
        self._entries[key] = (self._clock() + ttl / 1000, uri if isinstance(uri, str) else None, result)
        self._entries.move_to_end(key)
        if len(self._entries) > self._limit:
            self._entries.popitem(last=False)

    def notice(self, method: str, params: Mapping[str, Any]) -> None:
        """Drop what a notification makes stale."""
        changed: object = params.get("uri")
        for key, (_, uri, _) in tuple(self._entries.items()):
            if _affects(method, changed, key[1], uri):
                del self._entries[key]

    def clear(self) -> None:
        """Drop everything."""
        self._entries.clear()


def _affects(notification: str, changed: object, method: str, uri: str | None) -> bool:
    family, _, event = notification.removeprefix("notifications/").rpartition("/")
    if event == "list_changed":
        return method.startswith(f"{family}/") and method.endswith("/list")
    if event == "updated" and method == f"{family}/read" and uri is not None and isinstance(changed, str):
        return changed == uri or changed.startswith(uri.rstrip("/") + "/")
    return False


def _text(params: Mapping[str, Any]) -> bytes:
    return to_json({key: params[key] for key in sorted(params) if key != "_meta"})
