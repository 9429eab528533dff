"""Notifications between processes through Redis publish and subscribe."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Mapping
from typing import Any, Final

import anyio
import redis.asyncio
from redis.exceptions import RedisError

from .notifier import Deliver
from .parsing import InvalidJSON, parse_json
from .peer import to_json
from .plain import an_array, an_object

log = logging.getLogger("mcp.server")

CHANNEL: Final = "mcp:notifications"
QUEUE_LIMIT: Final = 1000
"""How many different notifications wait for Redis to come back; beyond that, the oldest are dropped."""
FIRST_PAUSE: Final = 0.25
LONGEST_PAUSE: Final = 5.0
PROBE: Final = 10.0
"""How often, in seconds, a silent connection is tried: a network that is gone does not say so."""


class RedisNotifier:
    """Reaches the processes whose notifiers have the same Redis server and channel; one object per server.

    While Redis is away, each process goes on by itself, and says so in its log. What it could not announce in the
    meantime is announced when Redis is back; what others announced is lost to it.
    """

    def __init__(self, url: str, *, channel: str = CHANNEL) -> None:
        self._url = url
        self._channel = channel
        self._me = secrets.token_hex(8)
        self._waiting: dict[bytes, None] = {}
        self._news = anyio.Event()
        self._lost = False

    def announce(self, method: str, params: Mapping[str, Any], /) -> None:
        """Queue a notification. One that waits already says all that it could say."""
        self._waiting.setdefault(to_json([self._me, method, dict(params)]))
        if len(self._waiting) > QUEUE_LIMIT:
            del self._waiting[next(iter(self._waiting))]
        self._news.set()

    async def run(self, deliver: Deliver, /) -> None:
        """Be connected, again and again if need be, for as long as this is awaited."""
        pause = FIRST_PAUSE
        while True:
            try:
                async with self._connect() as connection, connection.pubsub() as subscription:
                    await subscription.subscribe(self._channel)
                    self._found()
                    pause = FIRST_PAUSE
                    async with anyio.create_task_group() as tasks:
                        tasks.start_soon(self._send, connection)
                        await self._receive(subscription, deliver)
            except* (RedisError, OSError) as failures:
                self._lose(failures.exceptions[0])
            await anyio.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)

    def _connect(self) -> Any:
        return redis.asyncio.from_url(self._url, socket_connect_timeout=PROBE, socket_timeout=2 * PROBE)

    async def _send(self, connection: Any) -> None:
        while True:
            self._news = anyio.Event()
            while self._waiting:
                message = next(iter(self._waiting))
                await connection.publish(self._channel, message)
                self._waiting.pop(message, None)
            await self._news.wait()

    async def _receive(self, subscription: Any, deliver: Deliver) -> None:
        while True:
            message = await subscription.get_message(ignore_subscribe_messages=True, timeout=PROBE)
            if message is None:
                await subscription.ping()
            elif message["type"] == "message":
                self._take(message["data"], deliver)

    def _take(self, data: bytes, deliver: Deliver) -> None:
        try:
            parts = an_array(parse_json(data)) or []
        except InvalidJSON:
            parts = []
        params = an_object(parts[2]) if len(parts) == 3 else None
        if params is None or not isinstance(parts[1], str):
            log.warning("Ignored something that is no notification on the channel %s", self._channel)
        elif parts[0] != self._me:
            deliver(parts[1], params)

    def _found(self) -> None:
        if self._lost:
            log.warning("Redis is back: notifications reach the other processes again")
        self._lost = False

    def _lose(self, failure: BaseException) -> None:
        if not self._lost:
            log.warning("Redis is lost: notifications stay in this process until it is back (%s)", failure)
        self._lost = True
