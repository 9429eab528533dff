"""The server's side of subscriptions: who wants to hear what, and the queue of each."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any, Final

import anyio

from . import capabilities
from .meta import SUBSCRIPTION, with_meta
from .peer import to_json
from .plain import an_array
from .specs import MethodSpec, MethodTable

LISTEN: Final = "subscriptions/listen"
ACKNOWLEDGED: Final = "notifications/subscriptions/acknowledged"
QUEUE_LIMIT: Final = 1000
"""How many different events may wait on one stream."""


def topics(methods: MethodTable) -> dict[str, MethodSpec]:
    """The notifications that can be subscribed to, by the filter member that asks for them."""
    return {spec.topic: spec for spec in methods.values() if spec.topic is not None}


def honoured(wanted: Mapping[str, Any], methods: MethodTable, advertised: dict[str, Any]) -> dict[str, Any]:
    """The part of a filter that a server with these capabilities serves. What is off in it is left out."""
    known = topics(methods)
    served: dict[str, Any] = {}
    for member, value in wanted.items():
        spec = known.get(member)
        if spec is not None and value is not False and _offered(spec, advertised):
            served[member] = value
    return served


def offers_topics(methods: MethodTable, advertised: dict[str, Any]) -> bool:
    """Whether there is anything to subscribe to."""
    return any(_offered(spec, advertised) for spec in topics(methods).values())


def matches(filter: Mapping[str, Any], spec: MethodSpec, params: Mapping[str, Any]) -> bool:
    """Whether a stream with this filter gets this notification.

    A subscription to a resource covers its sub-resources: what lies below its URI.
    """
    wanted: object = filter.get(spec.topic or "")
    if spec.topic_key is None:
        return wanted is True
    value: object = params.get(spec.topic_key)
    return isinstance(value, str) and any(_covers(each, value) for each in an_array(wanted) or ())


class Subscription:
    """One stream of events, with the queue of what has not been sent.

    The queue is bounded: an event that waits already is not queued again (it says nothing new), and if more than
    `QUEUE_LIMIT` different ones wait, the subscription ends, which tells its client to fetch everything anew.
    """

    def __init__(self, id: str | int, filter: Mapping[str, Any]) -> None:
        self.id = id
        self.filter = filter
        self._events: dict[tuple[str, bytes], tuple[str, dict[str, Any]]] = {}
        self._news = anyio.Event()
        self._ended = False

    def offer(self, spec: MethodSpec, params: Mapping[str, Any]) -> None:
        """Queue a notification if this stream wants it."""
        if self._ended or not matches(self.filter, spec, params):
            return
        self._events.setdefault((spec.wire, to_json(dict(params))), (spec.wire, self.tagged(params)))
        if len(self._events) > QUEUE_LIMIT:
            self._events.clear()
            self._ended = True
        self._news.set()

    def end(self) -> None:
        """Let the stream finish once what is queued has been sent."""
        self._ended = True
        self._news.set()

    def tagged(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Params, or a result, with this subscription's id."""
        return with_meta(params, {SUBSCRIPTION: self.id})

    async def __aiter__(self) -> AsyncIterator[tuple[str, dict[str, Any]]]:
        while True:
            while self._events:
                yield self._events.pop(next(iter(self._events)))
            if self._ended:
                return
            self._news = anyio.Event()
            await self._news.wait()


class Hub:
    """The open subscriptions of one serving session."""

    def __init__(self) -> None:
        self._open: set[Subscription] = set()

    def __len__(self) -> int:
        return len(self._open)

    def add(self, subscription: Subscription) -> None:
        """Have it hear what is published from now on."""
        self._open.add(subscription)

    def discard(self, subscription: Subscription) -> None:
        """Forget it."""
        self._open.discard(subscription)

    def publish(self, spec: MethodSpec, params: Mapping[str, Any]) -> None:
        """Offer a notification to every stream."""
        for subscription in tuple(self._open):
            subscription.offer(spec, params)

    def end(self) -> None:
        """End every stream."""
        for subscription in tuple(self._open):
            subscription.end()


def _offered(spec: MethodSpec, advertised: dict[str, Any]) -> bool:
    return spec.capability is None or capabilities.has(advertised, spec.capability)


def _covers(wanted: object, value: str) -> bool:
    return isinstance(wanted, str) and (value == wanted or value.startswith(wanted.rstrip("/") + "/"))
