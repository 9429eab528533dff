"""The generated documents: complete, with links that lead somewhere, and safe whatever the schema says."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from conftest import REVISIONS, ROOT, SCHEMA, TEMPLATES, protocol_of
from inline import STRING, model, obj
from mcp_bindgen import context, overlay, pages, proxies, render, vocabulary
from mcp_bindgen.output import MARK
from mcp_bindgen.style import builtin_styles, load_style

STYLES = [load_style(TEMPLATES, name) for name in builtin_styles(TEMPLATES)]
PAGES = pages.pages([protocol_of(revision) for revision in REVISIONS], STYLES, TEMPLATES)


def anchors(page: str) -> Counter[str]:
    """The anchors of the headings, as GitHub makes them."""
    titles = re.findall(r"^#{1,6} (.+)$", page, re.MULTILINE)
    return Counter(re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles)


@pytest.mark.parametrize("path", PAGES, ids=str)
def test_every_page_carries_the_mark(path: Path) -> None:
    assert MARK in PAGES[path].splitlines()[0]


@pytest.mark.parametrize("path", PAGES, ids=str)
def test_links_lead_somewhere(path: Path) -> None:
    page = PAGES[path]
    known = anchors(page)
    for target in re.findall(r"\]\(([^)]+)\)", page):
        if target.startswith("#"):
            assert known[target[1:]] == 1, target
        elif not re.match(r"[a-z]+:", target):
            file = (Path("docs") / path.parent / target).resolve().relative_to(Path("docs").resolve())
            assert file in PAGES, target


@pytest.mark.parametrize("revision", REVISIONS)
def test_the_reference_has_everything(revision: str) -> None:
    page, protocol = PAGES[Path("reference") / f"{revision}.md"], protocol_of(revision)
    headings = set(re.findall(r"^#### (.+)$", page, re.MULTILINE))
    assert headings == protocol.declarations.keys()
    for method in protocol.methods:
        assert f"[`{method.wire}`](#{method.message.lower()})" in page
    for name in protocol.constants:
        assert f"| `{name}` |" in page


@pytest.mark.parametrize("path", PAGES, ids=str)
def test_tables_have_the_same_number_of_cells_in_every_row(path: Path) -> None:
    rows: list[int] = []
    for line in PAGES[path].splitlines():
        if line.startswith("|"):
            rows.append(len(re.findall(r"(?<!\\)\|", line)))
            assert rows[0] == rows[-1], line
        else:
            rows = []


def test_descriptions_stay_text() -> None:
    nasty = "A | B `<x>` <script>alert(1)</script>\n\n{{ 1 / 0 }} {% raw %} ## Heading?"
    protocol = model({"A": obj("x", x=STRING | {"description": nasty}) | {"description": nasty}})
    page = pages.pages([protocol], STYLES, TEMPLATES)[Path("reference") / f"{protocol.revision}.md"]
    assert "<script>" not in page
    assert "{{ 1 / 0 }}" in page
    assert "A \\| B `<x>`" in page


# --- the template context --------------------------------------------------------------------------------------------


def test_every_name_that_templates_see_is_described() -> None:
    page = PAGES[Path("templates.md")]
    for cls in (context.Page, context.Revision):
        for name in dir(cls):
            if not name.startswith("_"):
                assert f"| `{name}` |" in page, name
    for name in (*render.FILTERS, *render.TESTS):
        assert f"| `{name}" in page, name
    assert f"Version {context.VERSION} " in page


@pytest.mark.parametrize("cls", [context.Page, context.Revision, proxies.Call], ids=lambda cls: cls.__name__)
def test_words_of_the_context_say_what_they_are(cls: type) -> None:
    plain = {
        "declaration",
        "protocol",
        "style",
        "names",
        "method",
        "keywords",
        "cacheable",
        "name_param",
        "sender",
        "topic_key",
    }
    silent = [word.name for word in vocabulary.words(cls) if not word.doc and word.name not in plain]
    assert silent == []


# What version 1 of the context promises. More may come; if something goes, the version rises.
PROMISED = {
    1: "context_version definitions generator_version imports is_before names package protocol protocols revision "
    "revision_module runtime style style_module styles topic use use_type"
}
PROBE = """{{ context_version }} {{ generator_version }} {{ package }} {{ style.name }} {{ revision.module }}
{{ protocol.revision }} {{ names.of("Tool") }} {{ topic }} {{ protocols | length }} {{ styles | length }}
{{ revision_module("2026-07-28") }} {{ use("json", "dumps") }} {{ use_type("Tool", true) }} {{ runtime("unset") }}
{{ style_module("message") }} {{ definitions() }} {{ is_before is callable }}
{{ imports() }}
{{ "a" | lit }} {{ "a" | doc }} {{ "a" | comment }} {{ "a|b" | cell }} {{ "<b>" | prose }}
"""


def test_the_context_keeps_its_promise(tmp_path: Path) -> None:
    assert set(PROMISED[context.VERSION].split()) <= {
        name for name in dir(context.Page) if not name.startswith("_")
    } | {name for name in context.Page.__annotations__ if not name.startswith("_")}
    folder = tmp_path / "house"
    (folder / "revision").mkdir(parents=True)
    (folder / "style.toml").write_text('extends = "pydantic"\n')
    (folder / "revision" / "probe.txt.jinja").write_text(PROBE)
    protocol = protocol_of(REVISIONS[-1])
    made = render.render([protocol], [load_style(TEMPLATES, str(folder))], TEMPLATES, context.Target())
    text = made[Path("mcp_bindings/house") / "v2026_07_28" / "probe.txt"]
    assert "v2026_07_28 dumps Tool" in text
    assert "from json import dumps" in text
    assert f"{context.VERSION} " in text


# --- the overlay's own page ------------------------------------------------------------------------------------------

OVERLAY_PAGE = (ROOT / "docs" / "overlay.md").read_text("utf-8")
UNUSED = {"open_enums", "disagreements", "review"}
"""Sections that no checked-in overlay needs: their examples are made up."""


def sections_of_the_page() -> dict[str, str]:
    parts = re.split(r"^## (.+)$", OVERLAY_PAGE, flags=re.MULTILINE)
    found: dict[str, str] = {}
    for title, body in zip(parts[1::2], parts[2::2], strict=True):
        found |= dict.fromkeys(re.findall(r"`(\w+)`", title), body)
    return found


def test_every_section_of_the_overlay_is_described() -> None:
    known = {field for field in overlay.Overlay.__dataclass_fields__ if field != "file"}
    assert set(sections_of_the_page()) == known


@pytest.mark.parametrize("section", sections_of_the_page())
def test_the_examples_are_taken_from_our_overlays(section: str) -> None:
    overlays = [json.loads((SCHEMA / revision / "overlay.json").read_bytes()) for revision in REVISIONS]
    examples = [
        json.loads(text) for text in re.findall(r"```json\n(.*?)```", sections_of_the_page()[section], re.DOTALL)
    ]
    used = [content[section] for content in overlays if section in content]
    assert bool(used) == (section not in UNUSED)
    assert examples
    if used:
        assert any(_holds(content, example) for content in used for example in examples)


def _holds(content: Any, example: dict[str, Any]) -> bool:
    if isinstance(content, list):
        return example in content
    return all(content.get(name) == value for name, value in example.items())
