"""The HTTP transport (Streamable HTTP): a server as an ASGI application, and a client.

What is behind these names is loaded on first use. Serving needs an ASGI web server (`serve` takes uvicorn), the client
needs httpx2; both come with the extra `http`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import httpx2
    from mcp.server.auth.provider import AccessToken, TokenVerifier

    from .http_auth import BearerAuthentication as BearerAuthentication
    from .http_client import HttpTransport as HttpTransport
    from .http_client import UnexpectedStatus as UnexpectedStatus
    from .http_server import Authentication as Authentication
    from .http_server import HttpServer as HttpServer
    from .http_server import Refused as Refused
    from .notifier import Notifier as Notifier
    from .redis_notifier import RedisNotifier as RedisNotifier
    from .server_base import ServerBase

__all__ = [
    "Authentication",
    "BearerAuthentication",
    "HttpServer",
    "HttpTransport",
    "Notifier",
    "RedisNotifier",
    "Refused",
    "UnexpectedStatus",
    "app",
    "bearer",
    "connect",
    "serve",
]

_HOMES = {
    "Authentication": "http_server",
    "BearerAuthentication": "http_auth",
    "HttpServer": "http_server",
    "HttpTransport": "http_client",
    "Notifier": "notifier",
    "RedisNotifier": "redis_notifier",
    "Refused": "http_server",
    "UnexpectedStatus": "http_client",
}

LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
"""The names of this machine: what a server answers to unless told otherwise."""
BODY_LIMIT = 4 * 1024 * 1024
"""How long a request's body may be, in bytes."""
BODY_TIMEOUT = 30.0
"""How many seconds a request's body may take to arrive."""
KEEP_ALIVE = 15.0
"""After how many seconds of silence a stream is given a sign of life."""
PATIENCE = 60.0
"""How many seconds a client may leave what it is sent unread."""
MESSAGE_LIMIT = 64 * 1024 * 1024
"""How long a server's message may be, in bytes."""


def app(
    server: ServerBase,
    *,
    path: str | None = None,
    hosts: Sequence[str] = LOOPBACK,
    origins: Sequence[str] | None = None,
    authentication: Authentication | None = None,
    notifier: Notifier | None = None,
    body_limit: int = BODY_LIMIT,
    body_timeout: float = BODY_TIMEOUT,
    keep_alive: float = KEEP_ALIVE,
    patience: float = PATIENCE,
) -> HttpServer:
    """An ASGI application that serves one endpoint: at `path`, or wherever it is put.

    `hosts` are the names under which clients may reach it, `origins` the web origins whose scripts may use it; both are
    those of this machine unless given. `authentication` says on whose behalf a request is made. A `notifier` carries
    notifications to the other processes that serve the same server.
    """
    from .http_server import HttpServer

    return HttpServer(
        server,
        path=path,
        hosts=hosts,
        origins=origins,
        authentication=authentication,
        notifier=notifier,
        body_limit=body_limit,
        body_timeout=body_timeout,
        keep_alive=keep_alive,
        patience=patience,
    )


def serve(
    server: ServerBase,
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    path: str = "/mcp",
    hosts: Sequence[str] = LOOPBACK,
    origins: Sequence[str] | None = None,
    authentication: Authentication | None = None,
    notifier: Notifier | None = None,
) -> None:
    """Serve with uvicorn until told to stop. For anything beyond these options, run `app(server)` in a web server."""
    import uvicorn

    application = app(server, path=path, hosts=hosts, origins=origins, authentication=authentication, notifier=notifier)
    uvicorn.run(application, host=host, port=port, log_level="warning")


def bearer(
    verifier: TokenVerifier,
    *,
    resource: str,
    authorization_servers: Sequence[str],
    scopes: Sequence[str] = (),
    principal: Callable[[AccessToken], str] | None = None,
) -> BearerAuthentication:
    """Authentication by bearer tokens, for `app`; it needs the official SDK (`mcp`).

    `verifier` is any token verifier of the SDK. `resource` is this server's URL: only tokens for it are taken.
    `authorization_servers` are where clients get them, which the server tells them in its metadata; `scopes` are what
    every token must allow. `principal` makes the name that handlers see of a token: by default that of its subject.
    """
    from .http_auth import BearerAuthentication, principal_of

    return BearerAuthentication(verifier, resource, authorization_servers, scopes, principal or principal_of)


def connect(
    url: str,
    *,
    headers: Mapping[str, str] | None = None,
    auth: httpx2.Auth | None = None,
    client: Callable[[httpx2.Limits], httpx2.AsyncClient] | None = None,
    message_limit: int = MESSAGE_LIMIT,
) -> HttpTransport:
    """A transport to the server at a URL.

    `headers` are sent with every request; `auth` is any httpx2 authentication, such as an OAuth provider. `client`
    makes the httpx2 clients, each with the limits that it is given: for proxies and certificates of one's own.

    A request whose connection fails is not sent again, unless it only asks for something. Redirects are followed within
    the same origin.
    """
    from .http_client import HttpTransport

    return HttpTransport(url, headers, auth, client, message_limit)


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value: object = getattr(import_module(f".{home}", __package__), name)
    globals()[name] = value
    return value
