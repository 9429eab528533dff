"""Bearer tokens: who gets in, what the others are told, and what handlers see."""

from __future__ import annotations

import re
import time
from typing import Any

import httpx2
import pytest
from mcp.server.auth.provider import AccessToken
from starlette.applications import Starlette
from starlette.authentication import AuthCredentials, SimpleUser
from starlette.middleware import Middleware
from starlette.middleware.authentication import AuthenticationMiddleware
from starlette.routing import Route

from mcp_bindings.runtime import http
from web import STYLES, Answer, ask, call, client, in_uvicorn, make_server

pytestmark = pytest.mark.anyio
RESOURCE = "http://localhost:8000/mcp"
METADATA = "/.well-known/oauth-protected-resource/mcp"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Verifier:
    """Knows a few tokens."""

    def __init__(self, resource: str = RESOURCE) -> None:
        def token(**more: Any) -> AccessToken:
            return AccessToken(
                **{"token": "t", "client_id": "c", "scopes": ["read"], "resource": resource, "subject": "ada", **more}
            )

        self.tokens = {
            "good": token(),
            "issued": token(claims={"iss": "https://as.example"}),
            "client": token(subject=None),
            "old": token(expires_at=int(time.time()) - 10),
            "other": token(resource="http://localhost:8000/other"),
            "weak": token(scopes=[]),
        }

    async def verify_token(self, token: str) -> AccessToken | None:
        if token == "broken":
            raise RuntimeError("the authorization server is away")
        return self.tokens.get(token)


def guarded(server: Any = None, resource: str = RESOURCE, **options: Any) -> Any:
    bearer = http.bearer(
        Verifier(resource), resource=resource, authorization_servers=["https://as.example"], scopes=["read"], **options
    )
    return http.app(server or make_server(), authentication=bearer)


def challenge(answer: Answer) -> dict[str, str]:
    return dict(re.findall(r'(\w+)="([^"]*)"', answer.headers["www-authenticate"]))


async def who(app: Any, authorization: str) -> str:
    text: str = (await ask(app, call("who"), authorization=authorization)).json["result"]["content"][0]["text"]
    return text


async def test_tokens_name_the_principal() -> None:
    app = guarded()
    assert await who(app, "Bearer good") == "ada"
    assert await who(app, "bearer good") == "ada"
    assert await who(app, "Bearer issued") == "https://as.example ada"
    assert await who(app, "Bearer client") == "client:c"
    assert await who(guarded(principal=lambda token: token.client_id), "Bearer good") == "c"


@pytest.mark.parametrize(
    ("authorization", "status", "error"),
    [
        (None, 401, None),
        ("Bearer unknown", 401, "invalid_token"),
        ("Bearer old", 401, "invalid_token"),
        ("Bearer other", 401, "invalid_token"),
        ("Bearer broken", 401, "invalid_token"),
        ("Basic Zzpn", 401, "invalid_token"),
        ("Bearer ", 400, "invalid_request"),
        ("Bearer weak", 403, "insufficient_scope"),
    ],
)
async def test_others_are_told_where_to_get_one(authorization: str | None, status: int, error: str | None) -> None:
    answer = await ask(guarded(), call("who"), authorization=authorization)
    assert answer.status == status
    found = challenge(answer)
    assert found.get("error") == error
    assert found["scope"] == "read"
    assert found["resource_metadata"] == f"http://localhost:8000{METADATA}"
    assert b"jsonrpc" not in answer.body


async def test_two_tokens_are_none() -> None:
    from web import headers_for

    body = call("who")
    headers = [*headers_for(body), (b"authorization", b"Bearer good"), (b"authorization", b"Bearer other")]
    assert (await ask(guarded(), body, headers)).status == 400


async def test_hosts_and_origins_come_first() -> None:
    assert (await ask(guarded(), call("who"), host="evil.example", authorization="Bearer good")).status == 403
    answer = await ask(guarded(), call("who"), origin="http://evil.example", authorization="Bearer good")
    assert (answer.status, "www-authenticate" in answer.headers) == (403, False)


async def test_metadata() -> None:
    answer = await ask(guarded(), b"", [(b"host", b"localhost:8000")], method="GET", path=METADATA)
    assert answer.status == 200
    assert answer.json["resource"].rstrip("/") == RESOURCE
    assert [each.rstrip("/") for each in answer.json["authorization_servers"]] == ["https://as.example"]
    assert answer.json["scopes_supported"] == ["read"]
    assert (await ask(guarded(), b"", [(b"host", b"evil")], method="GET", path=METADATA)).status == 403


async def test_state_belongs_to_its_principal() -> None:
    app = guarded()
    headers = {"authorization": "Bearer good", "mcp_name": "ask"}
    body = call("ask")
    body["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] = {"elicitation": {}}
    state = (await ask(app, body, **headers)).json["result"]["requestState"]
    body["params"] |= {"requestState": state, "inputResponses": {"q": {"action": "accept", "content": {"name": "x"}}}}
    assert "error" in (await ask(app, body, **{**headers, "authorization": "Bearer client"})).json
    for _ in range(2):  # it is no more single-use than the protocol says
        assert (await ask(app, body, **headers)).json["result"]["content"][0]["text"] == "x"


@pytest.mark.parametrize("style", STYLES)
async def test_over_the_wire_with_a_token(style: str) -> None:
    class Token(httpx2.Auth):
        def auth_flow(self, request: httpx2.Request) -> Any:
            response = yield request
            if response.status_code == 401:
                assert "resource_metadata" in response.headers["www-authenticate"]
                request.headers["authorization"] = "Bearer good"
                yield request

    with in_uvicorn(guarded(make_server(style))) as url:
        async with client(style, url, auth=Token()) as ours:
            assert (await ours.call_tool(name="who")).content[0].text == "ada"
        async with client(style, url, headers={"Authorization": "Bearer weak"}) as ours:
            with pytest.raises(http.UnexpectedStatus, match="403"):
                await ours.call_tool(name="who")


async def test_the_user_of_a_middleware_around_us() -> None:
    class Backend:
        async def authenticate(self, connection: Any) -> Any:
            return AuthCredentials(["all"]), SimpleUser("grace")

    app = Starlette(
        routes=[Route("/mcp", endpoint=http.app(make_server()))],
        middleware=[Middleware(AuthenticationMiddleware, backend=Backend())],  # type: ignore[arg-type]
    )
    transport = httpx2.ASGITransport(app)
    url = "http://localhost/mcp"
    async with client("msgspec", url, client=lambda limits: httpx2.AsyncClient(transport=transport)) as ours:
        assert (await ours.call_tool(name="who")).content[0].text == "grace"
