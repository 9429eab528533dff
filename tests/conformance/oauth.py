"""The official SDK's OAuth providers, set up for the suite's scenarios: its user clicks by fetching the link."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs, urlparse

import httpx2
from mcp.client.auth import OAuthClientProvider, TokenStorage
from mcp.client.auth.extensions.client_credentials import (
    ClientCredentialsOAuthProvider,
    PrivateKeyJWTOAuthProvider,
    SignedJWTParameters,
)
from mcp.client.auth.extensions.identity_assertion import IdentityAssertionOAuthProvider
from mcp.client.auth.utils import build_protected_resource_metadata_discovery_urls
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientInformationFull, OAuthClientMetadata, OAuthToken
from pydantic import AnyUrl

CALLBACK = AnyUrl("http://localhost:3000/callback")
METADATA_URL = "https://conformance-test.local/client-metadata.json"


class Storage(TokenStorage):
    """Keeps what it is given."""

    def __init__(self, client: OAuthClientInformationFull | None = None) -> None:
        self.tokens: OAuthToken | None = None
        self.client = client

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


class User:
    """Consents at once."""

    def __init__(self) -> None:
        self.answer: dict[str, list[str]] = {}

    async def visit(self, url: str) -> None:
        async with httpx2.AsyncClient() as browser:
            response = await browser.get(url, follow_redirects=False)
        self.answer = parse_qs(urlparse(response.headers["location"]).query)

    async def come_back(self) -> AuthorizationCodeResult:
        code, state, issuer = (self.answer.get(key, [None])[0] for key in ("code", "state", "iss"))
        if code is None:
            raise RuntimeError(f"no authorization code came back: {self.answer}")
        return AuthorizationCodeResult(code=code, state=state, iss=issuer)


async def provider(scenario: str, url: str, context: dict[str, Any]) -> httpx2.Auth:
    """The provider for a scenario."""
    match scenario.removeprefix("auth/"):
        case "client-credentials-jwt":
            parameters = SignedJWTParameters(
                issuer=context["client_id"],
                subject=context["client_id"],
                signing_algorithm=context.get("signing_algorithm", "ES256"),
                signing_key=context["private_key_pem"],
            )
            return PrivateKeyJWTOAuthProvider(
                server_url=url,
                storage=Storage(),
                client_id=context["client_id"],
                assertion_provider=parameters.create_assertion_provider(),
            )
        case "client-credentials-basic":
            return ClientCredentialsOAuthProvider(
                server_url=url,
                storage=Storage(),
                client_id=context["client_id"],
                client_secret=context["client_secret"],
                token_endpoint_auth_method="client_secret_basic",
            )
        case "enterprise-managed-authorization":
            return await identity_assertion(url, context)
        case _:
            return authorization_code(url, context)


def authorization_code(url: str, context: dict[str, Any]) -> httpx2.Auth:
    user, client = User(), None
    if "client_id" in context:
        secret = context.get("client_secret")
        client = OAuthClientInformationFull(
            client_id=context["client_id"],
            client_secret=secret,
            redirect_uris=[CALLBACK],
            token_endpoint_auth_method="client_secret_basic" if secret else "none",
        )
    return OAuthClientProvider(
        server_url=url,
        client_metadata=OAuthClientMetadata(
            client_name="conformance-client",
            redirect_uris=[CALLBACK],
            grant_types=["authorization_code", "refresh_token"],
            response_types=["code"],
        ),
        storage=Storage(client),
        redirect_handler=user.visit,
        callback_handler=user.come_back,
        client_metadata_url=METADATA_URL,
    )


async def identity_assertion(url: str, context: dict[str, Any]) -> httpx2.Auth:
    async with httpx2.AsyncClient() as client:
        response = await client.get(build_protected_resource_metadata_discovery_urls(None, url)[0])
    issuer = response.raise_for_status().json()["authorization_servers"][0]

    async def assertion(audience: str, resource: str) -> str:
        form = {
            "grant_type": "urn:ietf:params:oauth:grant-type:token-exchange",
            "requested_token_type": "urn:ietf:params:oauth:token-type:id-jag",
            "subject_token": context["idp_id_token"],
            "subject_token_type": "urn:ietf:params:oauth:token-type:id_token",
            "audience": audience,
            "resource": resource,
            "client_id": context["idp_client_id"],
        }
        async with httpx2.AsyncClient() as client:
            answer = await client.post(context["idp_token_endpoint"], data=form)
        return str(answer.raise_for_status().json()["access_token"])

    return IdentityAssertionOAuthProvider(
        server_url=url,
        storage=Storage(),
        client_id=context["client_id"],
        client_secret=context["client_secret"],
        issuer=issuer,
        assertion_provider=assertion,
        token_endpoint_auth_method="client_secret_basic",
    )
