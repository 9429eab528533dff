"""Error values and the way they print."""

from __future__ import annotations

import copy
import pickle

import pytest

from loading import runtime

errors, kinds = runtime("errors"), runtime("kinds")


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ((), ""),
        (("params",), "params"),
        (("params", "arguments"), "params.arguments"),
        (("content", 1, "type"), "content[1].type"),
        ((0,), "[0]"),
        ((0, 1, "a"), "[0][1].a"),
        (("_meta", "io.modelcontextprotocol/clientInfo", "name"), '_meta["io.modelcontextprotocol/clientInfo"].name'),
        (("a/b",), '["a/b"]'),
        (("properties", ""), 'properties[""]'),
        (("properties", "$ref"), 'properties["$ref"]'),
        (("a", "0"), 'a["0"]'),
        (("a", 'say "hi"\n'), r'a["say \"hi\"\n"]'),
        (("a", "größe"), "a.größe"),
        (("a", "\ud800"), r'a["\ud800"]'),
        (("k" * 100,), "k" * 60 + "…"),
        (("k-" * 100,), '["' + "k-" * 30 + '…"]'),
    ],
)
def test_path_text(path: tuple[str | int, ...], text: str) -> None:
    assert errors.path_text(path) == text


def test_text_has_all_parts_that_there_are() -> None:
    assert str(errors.DecodeError("Tool", ("name",), "why")) == "Tool: name: why"
    assert str(errors.DecodeError("Tool", (), "why")) == "Tool: why"
    assert str(errors.DecodeError("", ("name",), "why")) == "name: why"


def test_error_survives_pickle_and_copy() -> None:
    error = errors.DecodeError("Tool", ("a", 0), "why")
    for twin in (pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)):
        assert (twin.definition, twin.path, twin.reason, str(twin)) == ("Tool", ("a", 0), "why", "Tool: a[0]: why")


def test_error_is_a_value_error() -> None:
    assert issubclass(errors.DecodeError, ValueError)


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ({}, "object"),
        ([], "array"),
        ("", "string"),
        (True, "boolean"),
        (0, "integer"),
        (0.0, "integer"),
        (1e300, "integer"),
        (0.5, "number"),
        (float("nan"), "number"),
        (float("inf"), "number"),
        (None, "null"),
        ((), None),
        (b"", None),
        (set(), None),
        (type("Text", (str,), {})(), "string"),
        (type("Object", (dict,), {})(), "object"),
        (type("Whole", (int,), {})(), "integer"),
    ],
)
def test_kind_of(value: object, kind: str | None) -> None:
    assert kinds.kind_of(value) == kind


def test_described_and_shown_are_printable_and_short() -> None:
    for value in ("\ud800", 10**5000, -(10**5000), float("nan"), object(), {1: 2}, "x" * 10**6):
        for text in (kinds.described(value), kinds.shown(value)):
            assert len(text.encode()) < 100


def test_what_is_long_is_cut_and_what_fits_is_not() -> None:
    assert kinds.quoted("x" * 60) == f'"{"x" * 60}"'
    assert kinds.quoted("x" * 61) == f'"{"x" * 60}…"'
    assert kinds.alternatives(map(str, range(16))).endswith("14 or 15")
    assert kinds.alternatives(map(str, range(17))).endswith("14, 15 or 1 more")
    assert kinds.described(10**24 - 1) == "9" * 24
    assert kinds.described(-(10**24)) == "a very large integer"


@pytest.mark.parametrize(
    ("items", "text"), [([], ""), (["a"], "a"), (["a", "b"], "a or b"), (["a", "b", "c"], "a, b or c")]
)
def test_alternatives(items: list[str], text: str) -> None:
    assert kinds.alternatives(items) == text
