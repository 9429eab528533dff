"""What is loaded when: nothing of HTTP for those who do not use it, nothing of the other side for those who do."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import mcp_bindings

SERVER = (
    "from mcp_bindings.msgspec.v2026_07_28 import Server, types; "
    "s = Server(info=types.Implementation(name='a', version='1'))"
)
HEAVY = {"httpx2", "starlette", "uvicorn", "redis", "mcp", "mcp_bindings.runtime.http_client"}


@pytest.mark.parametrize(
    ("code", "loaded"),
    [
        (f"{SERVER}; from mcp_bindings.runtime import stdio, http", set()),
        (f"{SERVER}; from mcp_bindings.runtime import http; http.app(s)", set()),
        ("from mcp_bindings.runtime import http; http.connect('http://localhost')", {"httpx2", "http_client"}),
        ("from mcp_bindings.runtime import http; http.RedisNotifier('redis://localhost')", {"redis"}),
    ],
)
def test_imports(code: str, loaded: set[str]) -> None:
    env = {**os.environ, "PYTHONPATH": str(Path(mcp_bindings.__file__).parents[1])}
    line = [sys.executable, "-c", f"import sys; {code}; print(*sys.modules)"]
    modules = set(subprocess.run(line, check=True, capture_output=True, text=True, env=env).stdout.split())
    assert {name.rpartition(".")[2] for name in modules & HEAVY} == loaded
    if not loaded and "http.app" not in code:
        assert not {name for name in modules if name.startswith("mcp_bindings.runtime.http_")}
