"""Bumps carried through: what is generated from a bump alone imports, round-trips, and has everything that is new."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from bumping import BEFORE, NEXT, bump_of, bumped
from conftest import TEMPLATES
from mcp_bindgen import cli, ir, samples
from mcp_bindgen.context import Target
from mcp_bindgen.render import render
from mcp_bindgen.style import Style, builtin_styles, load_style

STYLES = [load_style(TEMPLATES, name) for name in builtin_styles(TEMPLATES)]


def generated(protocols: Sequence[ir.Protocol], folder: Path, package: str) -> None:
    """The bindings as a package in `folder`, unformatted."""
    for path, text in render(protocols, STYLES, TEMPLATES, Target(package)).items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, "utf-8")


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, tuple[str, ir.Protocol]]]:
    """Revision -> the package that a bump alone gives it, and its model; the synthetic next one is among them."""
    folder = tmp_path_factory.mktemp("packages")
    made: dict[str, tuple[str, ir.Protocol]] = {}
    for revision in (*BEFORE, NEXT):
        found = bump_of(revision).draft
        assert found is not None
        package = f"rehearsal_{revision.replace('-', '_')}"
        generated([found.protocol], folder, package)
        made[revision] = (package, found.protocol)
    sys.path.insert(0, str(folder))
    yield made
    sys.path.remove(str(folder))


def module(packages: dict[str, tuple[str, ir.Protocol]], revision: str, style: Style) -> ModuleType:
    return import_module(f"{packages[revision][0]}.{style.name}.v{revision.replace('-', '_')}")


@pytest.mark.parametrize("style", STYLES, ids=lambda style: style.name)
@pytest.mark.parametrize("revision", [*BEFORE, NEXT])
def test_everything_imports_and_round_trips(
    revision: str, style: Style, packages: dict[str, tuple[str, ir.Protocol]]
) -> None:
    bindings, protocol = module(packages, revision, style), packages[revision][1]
    for name in protocol.declarations:
        example = samples.smallest(ir.Ref(name), protocol.declarations)
        value = bindings.codec.decode(getattr(bindings.types, name), example)
        assert bindings.codec.encode(value) == example, name


@pytest.mark.parametrize("style", STYLES, ids=lambda style: style.name)
def test_the_new_method_is_everywhere(style: Style, packages: dict[str, tuple[str, ir.Protocol]]) -> None:
    bindings = module(packages, NEXT, style)
    spec = bindings.methods.SEARCH_TOOLS
    assert (spec.wire, spec.params, spec.result) == ("tools/search", "SearchToolsRequestParams", "SearchToolsResult")
    assert bindings.methods.QUOTA_EXCEEDED == -32099
    for name in ("search_tools", "search_tools_raw"):
        assert callable(getattr(bindings.AsyncClient, name))
        assert callable(getattr(bindings.Client, name))
    assert callable(bindings.Server.search_tools)
    assert callable(bindings.ClientHandlers.on_server_overloaded)


@pytest.mark.parametrize("style", STYLES, ids=lambda style: style.name)
def test_the_new_method_works(style: Style, packages: dict[str, tuple[str, ir.Protocol]]) -> None:
    bindings = module(packages, NEXT, style)
    memory = import_module(f"{packages[NEXT][0]}.runtime.memory")

    class Searching(bindings.Server):  # type: ignore[name-defined, misc]
        async def search_tools(self, params: Any, ctx: Any) -> Any:
            tool = bindings.types.Tool(name=params.query, input_schema={"type": "object"})
            return bindings.types.SearchToolsResult(tools=[tool])

    async def search() -> Any:
        info = bindings.types.Implementation(name="t", version="1")
        async with bindings.AsyncClient(memory.connect(Searching(info=info)), info=info) as client:
            return await client.search_tools(query="weather")

    result = asyncio.run(search())
    assert [tool.name for tool in result.tools] == ["weather"]


def test_the_new_arm_decodes_and_the_renamed_type_is_there(packages: dict[str, tuple[str, ir.Protocol]]) -> None:
    for style in STYLES:
        bindings = module(packages, NEXT, style)
        video = bindings.codec.decode(bindings.types.ContentBlock, {"type": "video", "url": "x"})
        assert isinstance(video, bindings.types.VideoContent)
        assert bindings.types.PromptTemplateArgument(name="n").name == "n"
        assert not hasattr(bindings.types, "PromptArgument")


def test_scaffold_knows_the_new_method(tmp_path: Path) -> None:
    (tmp_path / "schema").mkdir()
    schema, file = bumped(tmp_path / "schema", NEXT), tmp_path / "server.py"
    assert cli.main(["scaffold", "server", str(file), "--revision", NEXT, "--schema", str(schema)]) == 0
    assert "async def search_tools(" in file.read_text()
    assert "-> types.SearchToolsResult:" in file.read_text()
