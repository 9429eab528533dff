"""The connections of an HTTP client, spread over several small pools."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Final

import httpx2

SIZE: Final = 8
"""How many connections one pool holds: looking through its connections is what a request costs most."""
LIMIT: Final = 104
"""How many connections a client may have for requests, all pools together."""
EXPIRY: Final = 4.0
"""How many seconds a connection stays open unused: less than the 5 after which usual servers hang up, so that a request
hardly ever meets a connection that is being closed."""
CONNECT_TIMEOUT: Final = 10.0
"""How many seconds opening a connection may take."""

MakeClient = Callable[[httpx2.Limits], httpx2.AsyncClient]


class Pool:
    """A client with few connections."""

    def __init__(self, client: httpx2.AsyncClient) -> None:
        self.client = client
        self.used = 0
        self._defaults = [(name.lower(), (name, value)) for name, value in client.headers.raw]
        self._extensions = {"timeout": client.timeout.as_dict()}

    def post(self, url: httpx2.URL, content: bytes, headers: list[tuple[str, str]]) -> httpx2.Request:
        """A request of this client. To merge its defaults with ours anew for each would take most of the time."""
        if self.client.cookies or self.client.params:
            return self.client.build_request("POST", url, content=content, headers=headers)
        encoded = [(name.encode(), value.encode()) for name, value in headers]
        given = {name.lower() for name, _ in encoded}
        defaults = [field for name, field in self._defaults if name not in given]
        return httpx2.Request(
            "POST", url, headers=[*defaults, *encoded], content=content, extensions=dict(self._extensions)
        )


class Pools:
    """Pools that are filled one after the other, so that few connections stay when little is going on."""

    def __init__(self, make: MakeClient, limit: int | None = LIMIT) -> None:
        self._make = make
        self._most = None if limit is None else max(1, limit // SIZE)
        self._pools: list[Pool] = []

    @contextmanager
    def lease(self) -> Generator[Pool, None, None]:
        """A pool with a connection to spare or, if there may be no more of them, the one with the shortest queue."""
        pool = next((pool for pool in self._pools if pool.used < SIZE), None)
        if pool is None:
            if self._most is None or len(self._pools) < self._most:
                limits = httpx2.Limits(max_connections=SIZE, max_keepalive_connections=SIZE, keepalive_expiry=EXPIRY)
                pool = Pool(self._make(limits))
                self._pools.append(pool)
            else:
                pool = min(self._pools, key=lambda each: each.used)
        pool.used += 1
        try:
            yield pool
        finally:
            pool.used -= 1

    async def close(self) -> None:
        """Close all connections."""
        for pool in self._pools:
            await pool.client.aclose()
        self._pools.clear()


def default_client() -> MakeClient:
    """Makes clients that share one TLS context: each of its own would take longer to make than a request."""
    context = httpx2.create_ssl_context()
    timeout = httpx2.Timeout(None, connect=CONNECT_TIMEOUT)
    return lambda limits: httpx2.AsyncClient(limits=limits, timeout=timeout, verify=context)
