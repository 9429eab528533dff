"""Start-up: what importing costs, above a bare interpreter, in fresh processes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from .measure import Row, less, processes

ROOT = Path(__file__).parents[2]
RESULT = '{"resultType":"complete","content":[{"type":"text","text":"x"}]}'
SNIPPETS = {
    "bare": "pass",
    "package": "import mcp_bindings",
    "official": "import mcp_types",
    "msgspec all": "from mcp_bindings.msgspec.v2026_07_28.types import *",
    "pydantic all": "from mcp_bindings.pydantic.v2026_07_28.types import *",
    "pydantic one": "from mcp_bindings.pydantic.v2026_07_28 import codec\n"
    "from mcp_bindings.pydantic.v2026_07_28.types import CallToolResult\n"
    f"codec.decode_json(CallToolResult, {RESULT.encode()!r})",
}


def rows() -> Iterator[Row]:
    """The rows on importing."""
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    env["PYTHONPATH"] = str(ROOT / "generated")  # compiled by the warm-up, as an installed package is
    wall = processes(SNIPPETS, 15, env)
    cost = {name: value - wall["bare"] for name, value in wall.items()}
    yield less("import mcp_bindings, ms above bare / 15 ms", max(cost["package"], 0.0), 15.0, "ms", 1.0)
    yield less("import of all types, msgspec / mcp_types", cost["msgspec all"], cost["official"], "ms", 0.25)
    yield less("import of all types, pydantic / mcp_types", cost["pydantic all"], cost["official"], "ms", 0.8)
    yield less("what one method needs, pydantic / mcp_types", cost["pydantic one"], cost["official"], "ms", 0.65)
