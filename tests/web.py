"""Servers, requests and web servers for the tests of the HTTP transport."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import AsyncGenerator, Generator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import anyio

from mcp_bindings.runtime import http
from mcp_bindings.runtime.failures import McpError, invalid_params

STYLES = ("pydantic", "msgspec")
VERSION = "2026-07-28"
META: dict[str, Any] = {
    "io.modelcontextprotocol/protocolVersion": VERSION,
    "io.modelcontextprotocol/clientCapabilities": {},
}
NAMES = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}


def revision(style: str) -> Any:
    return import_module(f"mcp_bindings.{style}.v2026_07_28")


# --- a server --------------------------------------------------------------------------------------------------------


def make_server(style: str = "msgspec", **options: Any) -> Any:
    """A server whose tools do what tests need. Its `log` tells what became of their calls."""
    bindings = revision(style)
    types = bindings.types
    anything = {"type": "object"}
    annotated = {"region": {"type": "string", "x-mcp-header": "Region"}, "n": {"type": "integer", "x-mcp-header": "N"}}

    class TestServer(bindings.Server):  # type: ignore[misc, name-defined]
        logging = True
        tools_list_changed = True
        resources_subscribe = True

        def __init__(self, **options: Any) -> None:
            super().__init__(info=types.Implementation(name="test", version="1"), **options)
            self.log: list[str] = []
            self.listed = 0
            self.schemas: dict[str, Any] = {"region": {"type": "object", "properties": annotated}}

        async def list_tools(self, params: Any, ctx: Any) -> Any:
            self.listed += 1
            names = ("echo", "who", "talk", "wait", "fail", "crash", "ask", "ünï", "region")
            return types.ListToolsResult(
                tools=[types.Tool(name=name, input_schema=self.schemas.get(name, anything)) for name in names]
            )

        async def call_tool(self, params: Any, ctx: Any) -> Any:
            arguments = params.arguments or {}
            text = str(arguments.get("text", ""))
            match params.name:
                case "echo" | "ünï" | "region":
                    pass
                case "who":
                    text = str(ctx.principal)
                case "talk":
                    for number in range(arguments.get("times", 3)):
                        await ctx.progress(number, message="x" * arguments.get("size", 0))
                        await anyio.sleep(arguments.get("pause", 0))
                case "wait":
                    self.log.append("waiting")
                    try:
                        await anyio.sleep(arguments.get("seconds", 60))
                    except BaseException:
                        self.log.append("cancelled")
                        raise
                    self.log.append("done")
                case "fail":
                    raise McpError(arguments["code"], "as asked", {"a": 1})
                case "crash":
                    raise RuntimeError("a secret")
                case "ask":
                    if not params.input_responses:
                        question = types.ElicitRequestFormParams(
                            message="Name?",
                            requested_schema=types.ElicitRequestFormParamsRequestedSchema(
                                properties={"name": types.StringSchema()}
                            ),
                        )
                        return ctx.input_required(
                            {"q": types.ElicitRequest(params=question)}, state=ctx.seal({"worker": self.log})
                        )
                    ctx.unseal(params.request_state)
                    text = str((params.input_responses["q"].content or {}).get("name"))
                case _:
                    raise invalid_params(f"there is no tool {params.name!r}")
            return types.CallToolResult(content=[types.TextContent(text=text)])

        async def read_resource(self, params: Any, ctx: Any) -> Any:
            contents = types.TextResourceContents(uri=params.uri, text="content")
            return types.ReadResourceResult(contents=[contents])

    return TestServer(**options)


# --- requests --------------------------------------------------------------------------------------------------------


def message(method: str, params: dict[str, Any] | None = None, id: Any = 1, **meta: Any) -> dict[str, Any]:
    """A request as it should be."""
    whole = {"_meta": {**META, **meta}, **(params or {})}
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": whole}


def call(name: str, id: Any = 1, **arguments: Any) -> dict[str, Any]:
    """A tool call as it should be."""
    return message("tools/call", {"name": name, "arguments": arguments}, id)


def headers_for(body: dict[str, Any], **changes: str | None) -> list[tuple[bytes, bytes]]:
    """The headers that go with a request; `changes` are by name with underscores, None leaves one out."""
    headers: dict[str, str | None] = {
        "host": "localhost:8000",
        "content-type": "application/json",
        "accept": "application/json, text/event-stream",
        "mcp-protocol-version": VERSION,
        "mcp-method": str(body.get("method")),
    }
    name = NAMES.get(str(body.get("method")))
    if name is not None:
        params = body.get("params")
        headers["mcp-name"] = str(params.get(name, "")) if isinstance(params, dict) else ""
    headers.update({key.replace("_", "-"): value for key, value in changes.items()})
    return [(key.encode(), value.encode()) for key, value in headers.items() if value is not None]


@dataclass
class Answer:
    """What an ASGI application has sent."""

    status: int = 0
    headers: dict[str, str] = field(default_factory=dict[str, str])
    chunks: list[bytes] = field(default_factory=list[bytes])
    complete: bool = False
    news: anyio.Event = field(default_factory=anyio.Event)

    @property
    def body(self) -> bytes:
        return b"".join(self.chunks)

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def streamed(self) -> bool:
        return self.headers.get("content-type") == "text/event-stream"

    @property
    def events(self) -> list[Any]:
        return [json.loads(line[6:]) for line in self.body.decode().splitlines() if line.startswith("data: ")]

    async def until(self, count: int) -> None:
        """Wait for this many events."""
        while len(self.events) < count:
            self.news = anyio.Event()
            await self.news.wait()

    async def take(self, message: Any) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.headers = {name.decode(): value.decode() for name, value in message["headers"]}
        else:
            self.chunks.append(message.get("body", b""))
            self.complete = not message.get("more_body", False)
        self.news.set()


class Conversation:
    """An ASGI exchange that a test has in its hands."""

    def __init__(self, pieces: Sequence[bytes], whole: bool = True) -> None:
        self.answer = Answer()
        self.gone = anyio.Event()
        self._pieces = list(pieces)
        self._whole = whole

    async def receive(self) -> Any:
        if self._pieces:
            piece = self._pieces.pop(0)
            return {"type": "http.request", "body": piece, "more_body": bool(self._pieces) or not self._whole}
        await self.gone.wait()
        return {"type": "http.disconnect"}


def scope_of(headers: Sequence[tuple[bytes, bytes]], method: str = "POST", path: str = "/mcp") -> dict[str, Any]:
    return {"type": "http", "method": method, "path": path, "headers": list(headers), "query_string": b""}


async def ask(
    app: Any,
    body: dict[str, Any] | bytes,
    headers: Sequence[tuple[bytes, bytes]] | None = None,
    *,
    method: str = "POST",
    path: str = "/mcp",
    **changes: str | None,
) -> Answer:
    """One request to an ASGI application, in one piece."""
    if headers is None:
        headers = headers_for(body if isinstance(body, dict) else {}, **changes)
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    conversation = Conversation([data])
    await app(scope_of(headers, method, path), conversation.receive, conversation.answer.take)
    return conversation.answer


@asynccontextmanager
async def asking(app: Any, body: dict[str, Any], **changes: str | None) -> AsyncGenerator[Conversation, None]:
    """A request under way; the client goes away when the context ends."""
    conversation = Conversation([json.dumps(body).encode()])
    async with anyio.create_task_group() as tasks:
        scope = scope_of(headers_for(body, **changes))
        tasks.start_soon(app, scope, conversation.receive, conversation.answer.take)
        yield conversation
        conversation.gone.set()


# --- web servers -----------------------------------------------------------------------------------------------------


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


def await_port(port: int, seconds: float = 20) -> None:
    for _ in range(int(seconds / 0.05)):
        with socket.socket() as client:
            if client.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise TimeoutError(f"nothing listens on port {port}")


@contextmanager
def in_uvicorn(app: Any) -> Generator[str, None, None]:
    """An ASGI application in a web server of a thread of its own, at the URL that this gives."""
    import uvicorn

    port = free_port()
    web = uvicorn.Server(uvicorn.Config(app, port=port, log_level="warning", timeout_graceful_shutdown=2))
    thread = threading.Thread(target=web.run, daemon=True)
    thread.start()
    await_port(port)
    try:
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        if isinstance(app, http.HttpServer):
            app.end()
        web.should_exit = True
        thread.join(10)


def client(style: str, url: str, *, handlers: Any = None, timeout: float = 20, **options: Any) -> Any:
    """Our client of the server at a URL."""
    bindings = revision(style)
    info = bindings.types.Implementation(name="test-client", version="1")
    return bindings.AsyncClient(http.connect(url, **options), info=info, handlers=handlers, timeout=timeout)
