"""Bumps carried through: what is generated from a bump alone imports, round-trips, and has everything that is new."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from bumping import BEFORE, NEXT, only, run, synthetic
from conftest import REVISIONS, SCHEMA, TEMPLATES
from mcp_bindgen import cli, ir, samples, source
from mcp_bindgen.build import build
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
def bumped(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, tuple[str, ir.Protocol]]]:
    """Revision -> the package that a bump alone gives it, and its model; the synthetic next one is among them."""
    folder = tmp_path_factory.mktemp("packages")
    file = tmp_path_factory.mktemp("upstream") / "schema.json"
    file.write_text(json.dumps(synthetic()))
    made: dict[str, tuple[str, ir.Protocol]] = {}
    for revision, before, origin in (
        *((revision, before, SCHEMA / revision / "schema.json") for revision, before in BEFORE.items()),
        (NEXT, REVISIONS[-1], file),
    ):
        schema = only(tmp_path_factory.mktemp("schema"), before)
        assert run(schema, revision, str(origin)) == 0
        protocol = build(source.load(schema, revision))
        package = f"rehearsal_{revision.replace('-', '_')}"
        generated([protocol], folder, package)
        made[revision] = (package, protocol)
    sys.path.insert(0, str(folder))
    yield made
    sys.path.remove(str(folder))


def module(bumped: dict[str, tuple[str, ir.Protocol]], revision: str, style: Style) -> ModuleType:
    return import_module(f"{bumped[revision][0]}.{style.name}.v{revision.replace('-', '_')}")


@pytest.mark.parametrize("style", STYLES, ids=lambda style: style.name)
@pytest.mark.parametrize("revision", [*BEFORE, NEXT])
def test_everything_imports_and_round_trips(
    revision: str, style: Style, bumped: dict[str, tuple[str, ir.Protocol]]
) -> None:
    bindings, protocol = module(bumped, revision, style), bumped[revision][1]
    for name in protocol.declarations:
        example = samples.smallest(ir.Ref(name), protocol.declarations)
        value = bindings.codec.decode(getattr(bindings.types, name), example)
        assert bindings.codec.encode(value) == example, name


@pytest.mark.parametrize("style", STYLES, ids=lambda style: style.name)
def test_the_new_method_is_everywhere(style: Style, bumped: dict[str, tuple[str, ir.Protocol]]) -> None:
    bindings = module(bumped, NEXT, style)
    spec = bindings.methods.SEARCH_TOOLS
    assert (spec.wire, spec.params, spec.result) == ("tools/search", "SearchToolsRequestParams", "SearchToolsResult")
    assert bindings.methods.QUOTA_EXCEEDED == -32099
    for name in ("search_tools", "search_tools_raw"):
        assert callable(getattr(bindings.AsyncClient, name))
        assert callable(getattr(bindings.Client, name))
    assert callable(bindings.Server.search_tools)
    assert callable(bindings.ClientHandlers.on_server_overloaded)


@pytest.mark.parametrize("style", STYLES, ids=lambda style: style.name)
def test_the_new_method_works(style: Style, bumped: dict[str, tuple[str, ir.Protocol]]) -> None:
    bindings = module(bumped, NEXT, style)
    memory = import_module(f"{bumped[NEXT][0]}.runtime.memory")

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


def test_the_new_arm_decodes_and_the_renamed_type_is_there(bumped: dict[str, tuple[str, ir.Protocol]]) -> None:
    for style in STYLES:
        bindings = module(bumped, NEXT, style)
        video = bindings.codec.decode(bindings.types.ContentBlock, {"type": "video", "url": "x"})
        assert isinstance(video, bindings.types.VideoContent)
        assert bindings.types.PromptTemplateArgument(name="n").name == "n"
        assert not hasattr(bindings.types, "PromptArgument")


def test_scaffold_knows_the_new_method(tmp_path: Path) -> None:
    (tmp_path / "schema").mkdir()
    schema = only(tmp_path / "schema", REVISIONS[-1])
    upstream, file = tmp_path / "schema.json", tmp_path / "server.py"
    upstream.write_text(json.dumps(synthetic()))
    run(schema, NEXT, str(upstream))
    assert cli.main(["scaffold", "server", str(file), "--revision", NEXT, "--schema", str(schema)]) == 0
    assert "async def search_tools(" in file.read_text()
    assert "-> types.SearchToolsResult:" in file.read_text()
