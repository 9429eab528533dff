"""A class of handlers that its user owns: what is written, what is added later, and that nothing else changes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from conftest import LATEST, REVISIONS, ROOT, protocol_of
from mcp_bindgen import cli

WEATHER = '''\
#!/usr/bin/env python
"""A weather server."""  # with a remark

from __future__ import annotations
import types as stdlib_types
from mcp_bindings.msgspec.v2026_07_28 import (
    Server,   # the base
    types as t,
)

FORECAST = {  'kept':   "as it is" }

class Weather(Server):

\tlogging = True  # tabs, and all

\tasync def call_tool(self, params: t.CallToolRequestParams, ctx) -> t.CallToolResult:
\t\t# the tool
\t\treturn t.CallToolResult(content=[])   ;   # odd

\t# the end of the class


def main( ) :
    return   stdlib_types.SimpleNamespace()
'''

STUB = '''\
\tasync def list_tools(
\t    self, params: t.PaginatedRequestParams, ctx: ServerContext
\t) -> t.ListToolsResult:
\t\t"""Answer `tools/list`."""
\t\traise NotImplementedError
'''


@pytest.fixture(autouse=True)
def models_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The models are built once for all tests here."""
    monkeypatch.setattr(cli, "protocols", lambda schema, revisions: [protocol_of(name) for name in REVISIONS])


def run(*arguments: str | Path) -> int:
    return cli.main(["scaffold", *map(str, arguments)])


def check(*files: Path) -> str:
    """What a strict type checker says of the files."""
    command = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "--no-error-summary"]
    environment = {"MYPYPATH": str(ROOT / "generated"), "PATH": "", "MYPY_CACHE_DIR": str(ROOT / ".mypy_cache")}
    return subprocess.run(
        [*command, *map(str, files)], capture_output=True, text=True, env=environment, check=False
    ).stdout


@pytest.mark.parametrize("side", ["server", "client"])
@pytest.mark.parametrize("methods", [(), ("--methods", "all")])
def test_twice_changes_nothing(side: str, methods: tuple[str, ...], revision: str, tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    assert run(side, file, "--revision", revision, *methods) == 0
    before = file.read_bytes()
    assert run(side, file, "--revision", revision, *methods) == 0
    assert file.read_bytes() == before


def test_what_is_written_type_checks_and_overrides(tmp_path: Path) -> None:
    files: list[Path] = []
    for side in ("server", "client"):
        for style in ("pydantic", "msgspec"):
            for revision in (REVISIONS[0], LATEST):
                file = tmp_path / f"{side}_{style}_{revision.replace('-', '_')}.py"
                assert run(side, file, "--revision", revision, "--style", style, "--methods", "all") == 0
                files.append(file)
    assert check(*files) == ""


def test_the_methods_that_are_asked_for(tmp_path: Path) -> None:
    file = tmp_path / "two.py"
    run("server", file, "--methods", "tools/call", "list_tools", "notifications/cancelled", "--class", "Two")
    text = file.read_text()
    assert "class Two(Server):" in text
    assert [word.partition("(")[0] for word in text.split("async def ")[1:]] == [
        "list_tools",
        "call_tool",
        "on_cancelled",
    ]
    assert "-> types.CallToolResult | types.InputRequiredResult:" in text


def test_by_default_what_capabilities_tell_of(tmp_path: Path) -> None:
    file = tmp_path / "default.py"
    run("server", file)
    assert "async def call_tool(" in file.read_text()
    assert "async def discover(" not in file.read_text()


def test_every_other_byte_stays(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "weather.py"
    file.write_bytes(WEATHER.encode())
    file.chmod(0o755)
    assert run("server", file, "--methods", "tools/call", "tools/list") == 0
    expected = WEATHER.replace("    types as t,\n", "    types as t,\n    ServerContext,\n")
    expected = expected.replace("odd\n", f"odd\n\n{STUB}")
    assert file.read_text() == expected
    assert file.stat().st_mode & 0o777 == 0o755
    before = file.read_bytes()
    assert run("server", file, "--methods", "tools/call", "tools/list") == 0
    assert file.read_bytes() == before
    assert "nothing to add" in capsys.readouterr().out


def test_other_line_ends_stay(tmp_path: Path) -> None:
    file = tmp_path / "weather.py"
    file.write_bytes(WEATHER.replace("\n", "\r\n").encode())
    run("server", file, "--methods", "tools/list")
    assert file.read_bytes().count(b"\n") == file.read_bytes().count(b"\r\n")


HEAD = "from mcp_bindings.pydantic.v2026_07_28 import Server, ServerContext, types\n\n\nclass A(Server):\n"
CALL = "    async def call_tool(self, params: types.CallToolRequestParams, ctx: ServerContext)"
# what stands in the class before, and what has to stand there after; nothing where nothing changes
SIGNATURES: dict[str, tuple[str, str]] = {
    "params of another type": (
        "    async def call_tool(self, params: types.Tool, ctx: ServerContext) -> types.CallToolResult: ...\n",
        f"{CALL} -> types.CallToolResult: ...\n",
    ),
    "another result": (
        f"{CALL} -> types.Tool: ...\n",
        f"{CALL} -> types.CallToolResult | types.InputRequiredResult: ...\n",
    ),
    "no context": (
        "    async def complete(self, p: types.CompleteRequestParams): ...\n",
        "    async def complete(self, p: types.CompleteRequestParams, ctx: ServerContext): ...\n",
    ),
    "no context, one parameter a line": (
        "    async def complete(\n        self,\n        p: types.CompleteRequestParams,  # why\n    ): ...\n",
        "    async def complete(\n        self,\n        p: types.CompleteRequestParams,  # why\n"
        "        ctx: ServerContext,\n    ): ...\n",
    ),
    "a narrower result": (f"{CALL} -> types.CallToolResult: ...\n", ""),
    "quoted": (
        "    async def call_tool(self, params: 'types.CallToolRequestParams', ctx: 'ServerContext')"
        " -> 'types.CallToolResult | types.InputRequiredResult': ...\n",
        "",
    ),
    "wider params": ("    async def call_tool(self, params: object, _: object) -> types.CallToolResult: ...\n", ""),
    "not annotated": ("    async def call_tool(self, params, ctx): ...\n", ""),
    "any arguments": ("    async def call_tool(self, *args, **kwargs): ...\n", ""),
    "a notification": ("    async def on_cancelled(self, p: types.CancelledNotificationParams) -> None: ...\n", ""),
    "a method of its own": ("    def helper(self, params: types.Tool) -> None: ...\n", ""),
}


@pytest.mark.parametrize("case", SIGNATURES)
def test_signatures(case: str, tmp_path: Path) -> None:
    before, after = SIGNATURES[case]
    file = tmp_path / "a.py"
    file.write_text(HEAD + before)
    name = before.split("def ")[1].partition("(")[0]
    method = name if name in ("call_tool", "complete", "on_cancelled") else "on_cancelled"
    run("server", file, "--methods", method)
    assert file.read_text().startswith(HEAD + (after or before))


# how the class comes by its names, and how a stub then writes them
IMPORTS: dict[str, tuple[str, str, str]] = {
    "a module alias": (
        "from mcp_bindings.pydantic import v2026_07_28 as mcp\n",
        "mcp.Server",
        "params: mcp.types.PaginatedRequestParams, ctx: mcp.ServerContext",
    ),
    "the whole path": (
        "import mcp_bindings.pydantic.v2026_07_28\n",
        "mcp_bindings.pydantic.v2026_07_28.Server",
        "params: mcp_bindings.pydantic.v2026_07_28.types.PaginatedRequestParams",
    ),
    "another name": (
        "from mcp_bindings.pydantic.v2026_07_28 import Server as Base\n",
        "Base",
        "params: types.PaginatedRequestParams, ctx: ServerContext",
    ),
    "the name is taken": (
        "import types\nfrom mcp_bindings.pydantic.v2026_07_28 import Server\n",
        "Server",
        "params: mcp_types.PaginatedRequestParams, ctx: ServerContext",
    ),
    "a deep import": (
        "from mcp_bindings.pydantic.v2026_07_28.server import Server\n",
        "Server",
        "params: types.PaginatedRequestParams, ctx: ServerContext",
    ),
    "a copy of one's own": (
        "from .wire.pydantic.v2026_07_28 import Server\n",
        "Server",
        "params: types.PaginatedRequestParams, ctx: ServerContext",
    ),
}


@pytest.mark.parametrize("case", IMPORTS)
@pytest.mark.parametrize("body", [": pass\n", ":\n    ...\n", ':\n    """Mine."""\n'])
def test_names_are_written_as_the_module_has_them(case: str, body: str, tmp_path: Path) -> None:
    statement, base, written = IMPORTS[case]
    file = tmp_path / "a.py"
    file.write_text(f"{statement}\nclass A({base}){body}")
    assert run("server", file, "--methods", "tools/list") == 0
    text = file.read_text()
    assert written in " ".join(text.split())
    compile(text, str(file), "exec")
    assert run("server", file, "--methods", "tools/list") == 0
    assert file.read_text() == text


def test_what_is_gone_is_flagged_and_stays(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "a.py"
    text = f"{HEAD}    async def set_logging_level(self, params: object, ctx: object) -> None: ...\n"
    file.write_text(text)
    assert run("server", file, "--methods", "tools/list") == 1
    assert file.read_text().startswith(text)
    assert (
        f"{file}:5: set_logging_level answers logging/setLevel, which MCP {LATEST} does not have"
        in capsys.readouterr().out
    )


@pytest.mark.parametrize(
    ("text", "arguments", "reason"),
    [
        ("x = (\n", (), "not Python"),
        ("x = 1\n", (), "no class that derives from the Server"),
        (f"{HEAD}    pass\n\n\nclass B(Server):\n    pass\n", (), "several classes derive from Server: A, B"),
        (f"{HEAD}    pass\n", ("--class", "C"), "no class C"),
        (HEAD.replace("v2026_07_28", "v2025_06_18") + "    pass\n", (), "its class is for v2025_06_18"),
        (f"{HEAD}    pass\n", ("--methods", "tools/dance"), "no method that this side answers"),
        (f"{HEAD}    pass\n", ("--revision", "1999-01-01"), "no revision '1999-01-01'"),
    ],
)
def test_mistakes(
    text: str, arguments: tuple[str, ...], reason: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "a.py"
    file.write_text(text)
    assert run("server", file, *arguments) == 1
    assert reason in capsys.readouterr().err
    assert file.read_text() == text


def test_a_folder_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("server", tmp_path / "nowhere" / "a.py") == 1
    assert "cannot be written" in capsys.readouterr().err
