"""Bearer tokens, with the official SDK's parts: its verification, and its metadata about the protected resource."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser, BearerAuthBackend
from mcp.server.auth.provider import AccessToken, TokenVerifier, principal_components
from mcp.server.auth.routes import build_resource_metadata_url, create_protected_resource_routes
from pydantic import AnyHttpUrl
from starlette.requests import HTTPConnection

from .http_headers import HeaderTable
from .http_server import Refused

if TYPE_CHECKING:
    from .http_exchange import Receive, Scope, Send

log = logging.getLogger("mcp.server")


def principal_of(token: AccessToken) -> str:
    """Whom a token stands for: its subject or, where a client acts for itself, the client. An issuer's names are its
    own, so it comes first if it is known."""
    client, issuer, subject = principal_components(token)
    name = subject if subject is not None else f"client:{client}"
    return name if issuer is None else f"{issuer} {name}"


class BearerAuthentication:
    """Takes requests that carry a token for this server, with all the scopes it wants; `http.bearer` makes it.

    Where an application is mounted, `routes` belong at the root of its host: clients look for the metadata there.
    """

    def __init__(
        self,
        verifier: TokenVerifier,
        resource: str,
        authorization_servers: Sequence[str],
        scopes: Sequence[str],
        principal: Callable[[AccessToken], str],
    ) -> None:
        url = AnyHttpUrl(resource)
        self._backend = BearerAuthBackend(verifier, resource_server_url=url)
        self._scopes = tuple(scopes)
        self._principal = principal
        self.routes = create_protected_resource_routes(
            url, [AnyHttpUrl(server) for server in authorization_servers], list(scopes) or None
        )
        self._hint = [f'resource_metadata="{build_resource_metadata_url(url)}"']
        if scopes:
            self._hint.append(f'scope="{" ".join(scopes)}"')

    def application(self, path: str, /) -> Callable[[Scope, Receive, Send], Any] | None:
        """The metadata, at their own path."""
        return next((route.handle for route in self.routes if route.path == path), None)

    async def principal(self, scope: Scope, headers: HeaderTable, /) -> str | None:
        """The principal of a request. Raises Refused for a missing or insufficient token."""
        header = headers.values.get(b"authorization")
        if header is None:
            raise Refused(401, self._challenge(), "A token is needed")
        if b"authorization" in headers.repeated or not header[7:].strip():
            raise Refused(400, self._challenge("invalid_request"), "The authorization header is malformed")
        try:
            found = await self._backend.authenticate(HTTPConnection(scope))
        except Exception:
            log.exception("A token cannot be verified")
            found = None
        if found is None:
            raise Refused(401, self._challenge("invalid_token"), "The token is not valid here, or no longer")
        credentials, user = found
        assert isinstance(user, AuthenticatedUser)
        if not set(self._scopes) <= set(credentials.scopes):
            raise Refused(403, self._challenge("insufficient_scope"), "The token does not allow this")
        return self._principal(user.access_token)

    def _challenge(self, error: str | None = None) -> str:
        return "Bearer " + ", ".join([f'error="{error}"', *self._hint] if error else self._hint)
