"""A pool of tasks that are reused from job to job."""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable
from typing import Generic, Protocol, TypeVar

import anyio
from anyio.abc import TaskGroup


class Job(Protocol):
    """Work for a pool; while it is running, its scope can be cancelled."""

    scope: anyio.CancelScope | None


J = TypeVar("J", bound=Job)


class Workers(Generic[J]):
    """Runs jobs in order of arrival, at most `limit` at a time.

    Starting a task, or a cancel scope, per message costs several times as much as the message. So one task works on for
    as long as there are jobs; when a job begins to wait for something, it must call `wake`, and another task takes over
    the rest. Jobs that never wait are thus run by a single task, one after the other. `work` must not raise; `idle` is
    called whenever a task has run out of jobs.
    """

    def __init__(
        self, tasks: TaskGroup, work: Callable[[J], Awaitable[None]], *, limit: int, idle: Callable[[], None]
    ) -> None:
        self._tasks = tasks
        self._work = work
        self._limit = limit
        self._idle = idle
        self._jobs: deque[J] = deque()
        self._resting: list[anyio.Event] = []
        self._count = 0
        self._fewer: anyio.Event | None = None

    @property
    def waiting(self) -> int:
        """How many jobs have not begun."""
        return len(self._jobs)

    def submit(self, job: J) -> None:
        """Queue a job. Call `wake` after the last one of a batch."""
        self._jobs.append(job)

    def withdraw(self, job: J) -> bool:
        """Take a job back that has not begun; False if it has."""
        try:
            self._jobs.remove(job)
        except ValueError:
            return False
        return True

    def wake(self) -> None:
        """See to it that a task takes up the next job."""
        if not self._jobs:
            return
        if self._resting:
            self._resting.pop().set()
        elif self._count < self._limit:
            self._count += 1
            self._tasks.start_soon(self._run)

    async def below(self, count: int) -> None:
        """Wait until fewer than `count` jobs have not begun."""
        while len(self._jobs) >= count:
            self._fewer = anyio.Event()
            await self._fewer.wait()

    async def _run(self) -> None:
        while True:
            with anyio.CancelScope() as scope:
                while self._jobs and not scope.cancel_called:
                    job = self._jobs.popleft()
                    job.scope = scope
                    if self._fewer is not None:
                        self._fewer.set()
                        self._fewer = None
                    try:
                        await self._work(job)
                    finally:
                        job.scope = None
            if self._jobs:
                continue
            self._idle()
            event = anyio.Event()
            self._resting.append(event)
            await event.wait()
