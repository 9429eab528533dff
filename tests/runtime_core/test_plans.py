"""Union plans: what they decide, on their own."""

from __future__ import annotations

from typing import Any

import pytest

from loading import runtime

p = runtime("plans")

TAG = p.ByTag("type", {"a": "A", "b": p.ByKey([(("x",), "BX")]), "": "Empty"})
OPTIONAL_TAG = p.ByTag("mode", {"url": "Url"}, "Form")
NESTED_DEFAULT = p.ByTag("mode", {"url": "Url"}, p.ByKey([(("f",), "F")], "Form"))
KEY = p.ByKey([(("text",), "Text"), (("items", "anyOf"), "Titled"), (("items", "enum"), "Untitled")])
KIND = p.ByKind({"object": TAG, "array": "List", "string": "string", "integer": "integer", "null": "null"})
NUMBERS = p.ByKind({"number": "number", "boolean": "boolean"})
BOTH = p.ByKind({"number": "number", "integer": "integer"})
ITEM = p.ByItem(KEY, "Nothing")
ITEM_LABEL = p.ByItem("Always", "Nothing")
RANKED = p.Ranked([(("a", "b"), "AB"), (("a",), "A"), ((), "Rest")])
RANKED_STRICT = p.Ranked([(("a", "b"), "AB")])


@pytest.mark.parametrize(
    ("plan", "value", "label"),
    [
        (TAG, {"type": "a"}, "A"),
        (TAG, {"type": ""}, "Empty"),
        (TAG, {"type": "b", "x": None}, "BX"),
        (TAG, {"type": "b"}, None),
        (TAG, {"type": "c"}, None),
        (TAG, {"type": ["a"]}, None),
        (TAG, {"type": {"a": 1}}, None),
        (TAG, {"type": None}, None),
        (TAG, {}, None),
        (TAG, [], None),
        (TAG, "a", None),
        (TAG, None, None),
        (OPTIONAL_TAG, {"mode": "url"}, "Url"),
        (OPTIONAL_TAG, {"mode": "form"}, "Form"),
        (OPTIONAL_TAG, {"mode": []}, "Form"),
        (OPTIONAL_TAG, {}, "Form"),
        (OPTIONAL_TAG, [], None),
        (NESTED_DEFAULT, {"f": 1}, "F"),
        (NESTED_DEFAULT, {}, "Form"),
        (NESTED_DEFAULT, {"mode": "url", "f": 1}, "Url"),
        (KEY, {"text": None}, "Text"),
        (KEY, {"items": {"anyOf": []}}, "Titled"),
        (KEY, {"items": {"enum": [], "anyOf": []}}, "Titled"),
        (KEY, {"items": {"enum": []}}, "Untitled"),
        (KEY, {"items": {}}, None),
        (KEY, {"items": ["enum"]}, None),
        (KEY, {"items": "enum"}, None),
        (KEY, {}, None),
        (KEY, ["text"], None),
        (KEY, "text", None),
        (KIND, {"type": "a"}, "A"),
        (KIND, {}, None),
        (KIND, [], "List"),
        (KIND, "", "string"),
        (KIND, 0, "integer"),
        (KIND, 2.0, "integer"),
        (KIND, 2.5, None),
        (KIND, True, None),
        (KIND, None, "null"),
        (KIND, (), None),
        (NUMBERS, 1, "number"),
        (NUMBERS, 1.0, "number"),
        (NUMBERS, 1.5, "number"),
        (NUMBERS, False, "boolean"),
        (BOTH, 1.0, "integer"),
        (BOTH, 1.5, "number"),
        (ITEM, [], "Nothing"),
        (ITEM, [{"text": 1}, 5], "Text"),
        (ITEM, [5], None),
        (ITEM, {"text": 1}, None),
        (ITEM_LABEL, [None], "Always"),
        (RANKED, {"b": 0, "a": None}, "AB"),
        (RANKED, {"a": 0}, "A"),
        (RANKED, {"b": 0}, "Rest"),
        (RANKED, {}, "Rest"),
        (RANKED, [], None),
        (RANKED, "ab", None),
        (RANKED_STRICT, {"a": 1}, None),
    ],
)
def test_decisions(plan: Any, value: Any, label: str | None) -> None:
    assert plan(value) == label
    if label is None:
        path, reason = p.undecided(plan, value)
        assert isinstance(path, tuple)
        assert reason.startswith(("expected", "required"))


@pytest.mark.parametrize("plan", [TAG, OPTIONAL_TAG, NESTED_DEFAULT, KEY, KIND, ITEM, RANKED])
def test_plans_compare_and_print_by_content(plan: Any) -> None:
    twin = eval(repr(plan), vars(p))
    assert twin == plan
    assert twin is not plan
    assert plan != p.ByKind({})
    assert plan != "plan"


def test_plans_of_different_kinds_differ() -> None:
    cases: list[Any] = [(("a",), "A")]
    assert p.Ranked(cases) == p.Ranked(cases)
    assert p.Ranked(cases) != p.ByKind(cases)


def test_subclasses_of_json_types_count() -> None:
    assert TAG(type("Object", (dict,), {})(type="a")) == "A"
    assert TAG({"type": type("Text", (str,), {})("a")}) == "A"
