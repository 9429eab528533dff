"""Clients and servers over a connection that behaves as badly as connections can. The seed is in the test's name."""

from __future__ import annotations

import gc
import os
from collections import Counter
from random import Random
from typing import Any

import anyio
import pytest

from mcp_bindings.runtime import pipes
from mcp_bindings.runtime.failures import ConnectionClosed, SessionError
from mcp_bindings.runtime.peer import Opening
from mcp_bindings.runtime.stream_client import StreamPeer
from mcp_bindings.runtime.stream_server import serve_stream
from runtime.bounded import bounded
from runtime.world import info, revision, text_result

pytestmark = pytest.mark.anyio

STYLE = "msgspec"
SEEDS = [int(seed) for seed in os.environ.get("CHAOS_SEEDS", "1 2").split()]


@pytest.fixture(params=SEEDS, ids=lambda seed: f"seed{seed}")
def random(request: pytest.FixtureRequest) -> Random:
    return Random(request.param)


def make(random: Random) -> Any:
    rev = revision(STYLE)

    class Busy(rev.Server):  # type: ignore[misc]
        served: Counter[str]

        async def call_tool(self, params: Any, ctx: Any) -> Any:
            number = params.arguments["number"]
            self.served[number] += 1
            kind = random.random()
            if kind < 0.3:
                await anyio.sleep(0)
            elif kind < 0.4:
                await anyio.sleep(random.random() / 100)
            elif kind < 0.42:
                await ctx.progress(1)
            return text_result(STYLE, f"{number} {'x' * int(random.random() ** 6 * 100_000)}")

    server = Busy(info=info(STYLE))
    server.served = Counter()
    return server


async def mangle(
    random: Random, source: int, target: int, *, garbage: bool = False, dies_after: int | None = None
) -> None:
    """Carry bytes from one pipe to another: in other portions, at an uneven pace, with noise lines, up to a point."""
    reader = pipes.reader(source)
    writer = pipes.writer(target)
    at_line_start = True
    carried = 0
    try:
        while chunk := await reader.read():
            position = 0
            while position < len(chunk):
                size = min(random.choice((1, 7, 100, 5_000, 50_000, 100_000)), len(chunk) - position)
                if dies_after is not None and carried + size > dies_after:
                    size = dies_after - carried
                portion = memoryview(chunk[position : position + size])
                if garbage and at_line_start and random.random() < 0.1:
                    portion = memoryview(random.choice((b"noise\n", b"\xff\xfe{\n", b"\r\n", b'{"a":1}\n')) + portion)
                while portion:
                    portion = portion[await writer.write(portion) :]
                position += size
                carried += size
                if dies_after is not None and carried >= dies_after:
                    return
                at_line_start = position > 0 and chunk[position - 1 : position] == b"\n"
                if random.random() < 0.05:
                    await anyio.sleep(random.random() / 200)
    except OSError:
        pass
    finally:  # as if the process were gone
        os.close(source)
        os.close(target)


class Connection:
    """A client and a server, and two manglers between them."""

    def __init__(self, random: Random, **mischief: Any) -> None:
        self.random, self.mischief = random, mischief
        self.server = make(random)

    async def run(self, work: Any) -> None:
        """Run `work(client)` and see everything off."""
        ends = [os.pipe() for _ in range(4)]
        (server_in, to_server), (from_server, server_out), (up_in, up_out), (down_in, down_out) = ends
        rev = revision(STYLE)

        async def serve() -> None:
            try:
                await serve_stream(self.server, pipes.reader(server_in), pipes.writer(server_out), concurrency=50)
            finally:
                os.close(server_in)
                os.close(server_out)

        async def explain() -> str:
            return "the connection broke"

        peer = StreamPeer(
            Opening(rev.codec.frame, lambda method, payload: None), pipes.reader(down_in), pipes.writer(up_out), 1 << 24
        )
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(serve)
                tasks.start_soon(peer.run, explain)
                # What goes up must stay valid, or the server could not know what to answer.
                up = dict(self.mischief, garbage=False)
                tasks.start_soon(lambda: mangle(self.random, up_in, to_server, **up))
                tasks.start_soon(lambda: mangle(self.random, from_server, down_out, **self.mischief))
                async with rev.AsyncClient(peer, info=info(STYLE)) as client:
                    await work(client)
                os.close(up_out)
        finally:
            os.close(down_in)
        assert not self.server.hubs


@bounded
async def test_no_answer_is_lost_or_doubled(random: Random) -> None:
    """10,000 requests, some of them cancelled, over a mangled connection with noise in it."""
    connection = Connection(random, garbage=True)
    count, width = 10_000, 100
    answered: Counter[int] = Counter()
    cancelled: Counter[int] = Counter()

    async def some(client: Any, first: int) -> None:
        for number in range(first, first + count // width):
            with anyio.CancelScope() as scope:
                if random.random() < 0.05:
                    scope.deadline = anyio.current_time() + random.random() / 50
                result = await client.call_tool(name="t", arguments={"number": number})
                assert result.content[0].text.split(" ")[0] == str(number)
                answered[number] += 1
            if scope.cancelled_caught:
                cancelled[number] += 1

    async def work(client: Any) -> None:
        async with anyio.create_task_group() as tasks:
            for first in range(0, count, count // width):
                tasks.start_soon(some, client, first)
        assert not client._peer._waiting
        assert not client._peer._tokens

    await connection.run(work)
    assert set(answered) | set(cancelled) == set(range(count))
    assert not set(answered) & set(cancelled)
    assert set((answered + cancelled).values()) == {1}
    assert max(connection.server.served.values()) == 1


@pytest.mark.parametrize("dies_after", [0, 1, 100, 300, 301, 5_000, 100_000])
@bounded
async def test_the_connection_dies_at_any_byte(random: Random, dies_after: int) -> None:
    """Every request ends: with its answer, or with the news that the connection is closed."""
    connection = Connection(random, dies_after=dies_after)
    outcomes: Counter[str] = Counter()

    async def one(client: Any, number: int) -> None:
        try:
            result = await client.call_tool(name="t", arguments={"number": number})
            assert result.content[0].text.split(" ")[0] == str(number)
            outcomes["answered"] += 1
        except ConnectionClosed:
            outcomes["closed"] += 1

    async def work(client: Any) -> None:
        async with anyio.create_task_group() as tasks:
            for number in range(500):
                tasks.start_soon(one, client, number)
        with pytest.raises(SessionError):
            await client.call_tool(name="t", arguments={"number": -1}, timeout=1)

    await connection.run(work)
    assert outcomes.total() == 500
    assert outcomes["closed"] > 0


@bounded
async def test_memory_stays_flat(random: Random) -> None:
    """What a connection holds after many requests is what it held after a few."""
    connection = Connection(random)

    async def work(client: Any) -> None:
        async def some() -> None:
            for number in range(50):
                await client.call_tool(name="t", arguments={"number": number})

        async def round() -> int:
            async with anyio.create_task_group() as tasks:
                for _ in range(10):
                    tasks.start_soon(some)
            gc.collect()
            return len(gc.get_objects())

        await round()
        before = await round()
        after = [await round() for _ in range(3)][-1]
        assert after < before + 500

    await connection.run(work)
