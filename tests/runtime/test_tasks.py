"""Reused tasks, isolated contexts, gathered writes, descriptors of all kinds."""

from __future__ import annotations

import os
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import anyio
import pytest

from mcp_bindings.runtime import pipes
from mcp_bindings.runtime.failures import ConnectionClosed
from mcp_bindings.runtime.isolation import isolated
from mcp_bindings.runtime.outbox import HIGH_WATER, Outbox
from mcp_bindings.runtime.workers import Workers
from runtime.bounded import bounded

pytestmark = pytest.mark.anyio

# --- isolation -------------------------------------------------------------------------------------------------------

variable: ContextVar[int] = ContextVar("variable", default=0)


@bounded
async def test_isolation() -> None:
    waits = 0

    def suspended() -> None:
        nonlocal waits
        waits += 1

    async def work() -> str:
        assert variable.get() == 1
        variable.set(2)
        await anyio.sleep(0.001)
        assert variable.get() == 2
        with pytest.raises(ZeroDivisionError):
            await isolated(fail())
        with anyio.move_on_after(0.001) as scope:
            await anyio.sleep_forever()
        assert scope.cancelled_caught
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(anyio.sleep, 0)
        return "done"

    async def fail() -> None:
        await anyio.sleep(0)
        raise ZeroDivisionError

    variable.set(1)
    assert await isolated(work(), suspended) == "done"
    assert variable.get() == 1
    assert waits >= 3
    with pytest.raises(ZeroDivisionError):
        await isolated(fail())
    with anyio.move_on_after(0.001) as scope:
        await isolated(anyio.sleep_forever())
    assert scope.cancelled_caught


# --- workers ---------------------------------------------------------------------------------------------------------


class Job:
    def __init__(self, work: Any) -> None:
        self.work = work
        self.scope: anyio.CancelScope | None = None
        self.finished = False


@bounded
async def test_workers() -> None:
    order: list[int] = []
    idle = 0

    def rest() -> None:
        nonlocal idle
        idle += 1

    async with anyio.create_task_group() as tasks:

        async def run(job: Job) -> None:
            await isolated(job.work(), workers.wake)
            job.finished = True

        workers: Workers[Job] = Workers(tasks, run, limit=3, idle=rest)

        def quick(number: int) -> Any:
            async def work() -> None:
                order.append(number)

            return work

        for number in range(100):
            workers.submit(Job(quick(number)))
        withdrawn = Job(quick(-1))
        workers.submit(withdrawn)
        assert workers.withdraw(withdrawn)
        assert not workers.withdraw(withdrawn)
        workers.wake()
        await workers.below(1)
        await anyio.sleep(0)
        assert order == list(range(100))
        assert workers._count == 1, "jobs that do not wait need one task"
        assert idle >= 1

        waiting = [Job(anyio.sleep_forever) for _ in range(3)]
        for job in waiting:
            workers.submit(job)
        workers.submit(Job(quick(100)))
        workers.wake()
        while any(job.scope is None for job in waiting):
            await anyio.sleep(0)
        assert workers.waiting == 1
        assert waiting[1].scope is not None
        waiting[1].scope.cancel()
        await workers.below(1)
        while workers.waiting or 100 not in order:
            await anyio.sleep(0)
        assert workers._count == 3
        assert not any(job.finished for job in waiting)
        tasks.cancel_scope.cancel()


# --- the outbox ------------------------------------------------------------------------------------------------------


class Writer:
    """Takes `room` bytes, then nothing until it gets more room."""

    def __init__(self, room: int) -> None:
        self.room = room
        self.taken = b""
        self.writes = 0
        self.more = anyio.Event()
        self.broken = False

    def write_now(self, data: memoryview) -> int:
        if self.broken:
            raise BrokenPipeError
        self.writes += 1
        count = min(self.room, len(data))
        self.room -= count
        self.taken += data[:count]
        return count

    async def write(self, data: memoryview) -> int:
        while not self.room and not self.broken:
            await self.more.wait()
            self.more = anyio.Event()
        return self.write_now(data)

    def give(self, room: int) -> None:
        self.room += room
        self.more.set()


@bounded
async def test_gathered_writes() -> None:
    writer = Writer(1000)
    outbox = Outbox(writer)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(outbox.run)
        outbox.put(b"a")
        outbox.flush()
        assert (writer.taken, writer.writes) == (b"a\n", 1)
        for number in range(10):
            outbox.put(b"%d" % number)
            outbox.nudge()
        await outbox.finish()
        assert (writer.taken, writer.writes) == (b"a\n0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n", 2)
        outbox.put(b'{\n"pretty": 1\n}')
        await outbox.finish()
        assert writer.taken.endswith(b'{ "pretty": 1 }\n')
        tasks.cancel_scope.cancel()


@bounded
async def test_partial_writes_and_backpressure() -> None:
    writer = Writer(3)
    outbox = Outbox(writer)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(outbox.run)
        outbox.put(b"abcdef")
        outbox.flush()
        assert writer.taken == b"abc"
        outbox.flush()
        outbox.put(b"g" * HIGH_WATER)
        assert outbox.full
        with anyio.move_on_after(0.01) as scope:
            await outbox.room()
        assert scope.cancelled_caught
        writer.give(100)
        await outbox.room()
        assert not outbox.full
        writer.give(2 * HIGH_WATER)
        await outbox.finish()
        assert writer.taken == b"abcdef\n" + b"g" * HIGH_WATER + b"\n"
        assert outbox.pending == 0
        tasks.cancel_scope.cancel()


@bounded
async def test_broken_streams() -> None:
    for at_once in (True, False):
        writer = Writer(0)
        outbox = Outbox(writer)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(outbox.run)
            outbox.put(b"x" * HIGH_WATER)
            if not at_once:
                outbox.nudge()
                await anyio.sleep(0.001)
            writer.broken = True
            writer.more.set()
            if at_once:
                outbox.flush()
            await outbox.room()
            await outbox.finish()
        assert outbox.closed
        with pytest.raises(ConnectionClosed):
            outbox.put(b"y")


# --- descriptors -----------------------------------------------------------------------------------------------------


@bounded
async def test_regular_files(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"x" * 1_000_000)
    with open(path, "rb") as file:
        reader = pipes.reader(file.fileno())
        size = 0
        while chunk := await reader.read():
            size += len(chunk)
        assert size == 1_000_000
        assert await reader.read() == b""
    with open(path, "wb") as file:
        writer = pipes.writer(file.fileno())
        assert writer.write_now(memoryview(b"abc")) == 0
        assert await writer.write(memoryview(b"abc")) == 3
    assert path.read_bytes() == b"abc"


@bounded
async def test_a_cancelled_read_loses_nothing() -> None:
    reading, writing = os.pipe()
    for reader in (pipes.reader(reading), pipes._ThreadReader(reading)):
        with anyio.move_on_after(0.02) as scope:
            await reader.read()
        assert scope.cancelled_caught
        os.write(writing, b"abc")
        assert await reader.read() == b"abc"
    os.close(writing)
    assert await pipes.reader(reading).read() == b""
    os.close(reading)
