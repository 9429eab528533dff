"""Descriptions: links repaired, and nothing in them can become code."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_bindgen.docs import repair
from mcp_bindgen.render import comment, docstring, literal

DEFINITIONS = ("CallToolRequest", "CallToolRequestParams", "Tool", "MetaObject")
LINKS = {
    "a {@link CallToolRequesttools/call} request": "a `tools/call` request",
    "see {@link MetaObject}.": "see `MetaObject`.",
    "{@link CallToolRequestParams}": "`CallToolRequestParams`",
    "{@link Tool | a tool}": "`a tool`",
    "{@link Tool.name}": "`Tool.name`",
    "{@link Unknownthing}": "`Unknownthing`",
    "no link": "no link",
    "{not a link}": "{not a link}",
}


@pytest.mark.parametrize(("text", "expected"), LINKS.items())
def test_links(text: str, expected: str) -> None:
    assert repair(text, DEFINITIONS) == expected


@given(st.text() | st.text(alphabet='"\\\n {%}x'))
def test_a_docstring_says_the_text_and_nothing_else(text: str) -> None:
    source = docstring(text, 4)
    if not text.strip():
        assert source == ""
        return
    [statement] = ast.parse(f"def f():\n    {source}").body[0].body  # type: ignore[attr-defined]
    said = ast.literal_eval(statement.value)
    assert "".join(said.split()) == "".join(text.split())


@given(st.text())
def test_a_comment_is_only_a_comment(text: str) -> None:
    assert ast.parse(comment(text)).body == []


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_a_literal_is_the_value(value: object) -> None:
    assert ast.literal_eval(literal(value)) == value


def test_long_lines_are_broken() -> None:
    source = docstring("word " * 60 + "\n- item " + "word " * 60 + "\n```\n" + "code " * 60 + "\n```", 4)
    long = [line for line in source.splitlines() if len(line) > 116]
    assert len(long) == 1
    assert long[0].strip().startswith("code")
