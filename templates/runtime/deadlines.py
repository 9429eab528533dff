"""The deadlines of everything that waits, on one timer."""

from __future__ import annotations

from math import inf
from time import monotonic
from typing import Generic, Protocol, TypeVar

import anyio


class Expiring(Protocol):
    """Something that may not take for ever. `deadline` is in the time of `time.monotonic`."""

    deadline: float

    def expire(self) -> None:
        """The time is up."""
        ...


E = TypeVar("E", bound=Expiring)


class Deadlines(Generic[E]):
    """Watches the deadlines of a changing set of entries.

    A timer per request costs more than the request, and a heap of deadlines would have to be cleared of the many
    requests that were answered long before theirs. So entries are looked through only when the earliest deadline known
    at the last look has come: with timeouts of a minute that is about once a minute, and what was answered in between
    costs nothing.
    """

    def __init__(self) -> None:
        self._entries: set[E] = set()
        self._next = inf
        self._timer: anyio.CancelScope | None = None

    def add(self, entry: E) -> None:
        """Watch an entry."""
        if entry.deadline == inf:
            return
        self._entries.add(entry)
        if entry.deadline < self._next:
            self._next = entry.deadline
            if self._timer is not None:
                self._timer.deadline = anyio.current_time() + entry.deadline - monotonic()

    def discard(self, entry: E) -> None:
        """Forget an entry."""
        self._entries.discard(entry)

    def sweep(self, now: float) -> float:
        """Expire what is due, and return the earliest deadline of the rest."""
        for entry in [entry for entry in self._entries if entry.deadline <= now]:
            self._entries.discard(entry)
            entry.expire()
        self._next = min((entry.deadline for entry in self._entries), default=inf)
        return self._next

    async def run(self) -> None:
        """Keep time for as long as this is awaited."""
        while True:
            wait = self.sweep(monotonic()) - monotonic()
            with anyio.CancelScope(deadline=anyio.current_time() + wait) as self._timer:
                await anyio.sleep_forever()
            self._timer = None
