"""A server to be run as a subprocess: `python stdio_server.py <style> [mode]`."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from importlib import import_module
from typing import Any

import anyio

from mcp_bindings.runtime import stdio


def make(style: str) -> Any:
    rev = import_module(f"mcp_bindings.{style}.v2026_07_28")
    types = rev.types

    def text(value: str) -> Any:
        return types.CallToolResult(content=[types.TextContent(text=value)])

    class TestServer(rev.Server):  # type: ignore[misc]
        async def list_tools(self, params: Any, ctx: Any) -> Any:
            return types.ListToolsResult(tools=[types.Tool(name="echo", input_schema={"type": "object"})])

        async def call_tool(self, params: Any, ctx: Any) -> Any:
            arguments = params.arguments or {}
            match params.name:
                case "echo":
                    return text(arguments["text"])
                case "big":
                    return text("x" * arguments["size"])
                case "noise":
                    print("a stray print")
                    os.write(1, b"a stray write\n")
                    await anyio.to_thread.run_sync(subprocess.run, [sys.executable, "-c", "print('a stray child')"])
                    return text(repr(sys.stdin.read()))
                case "stderr":
                    print("to stderr\nin two lines", file=sys.stderr, flush=True)
                case "exit":
                    os._exit(arguments["status"])
                case "sleep":
                    await anyio.sleep(arguments["seconds"])
                case "pid":
                    return text(str(os.getpid()))
                case "child":
                    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
                    return text(str(child.pid))
            return text("done")

    return TestServer(info=types.Implementation(name="stdio", version="1"))


if __name__ == "__main__":
    mode = sys.argv[2] if len(sys.argv) > 2 else ""
    if mode == "noisy":
        print("starting up...", flush=True)
    if mode == "deaf":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    stdio.serve(make(sys.argv[1]))
    if mode in ("deaf", "lingering"):
        time.sleep(600)
