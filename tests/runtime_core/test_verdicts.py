"""The reference decoder, two JSON Schemas and the instance strategies must agree about a table that uses everything."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from typing import Any, TypeAlias, cast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from instances import invalid, valid, violated
from loading import runtime
from planned_schema import planned_schema

from .table import DEFINITIONS, SCHEMA

decoding, errors, definitions = runtime("decoding"), runtime("errors"), runtime("definitions")

Verdict: TypeAlias = Callable[[Any], bool]

NAMES = sorted(DEFINITIONS)
ALLOWS_ALL = {"Free"}
QUICK = settings(
    max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
)
each_definition = pytest.mark.parametrize("name", NAMES)


def accepts(name: str, value: Any) -> bool:
    try:
        decoding.check(DEFINITIONS, name, value)
    except errors.DecodeError:
        return False
    return True


@cache
def by_hand(name: str) -> Verdict:
    return cast("Verdict", Draft202012Validator({**SCHEMA, "$ref": f"#/$defs/{name}"}).is_valid)


@cache
def from_table(name: str) -> Verdict:
    return cast("Verdict", Draft202012Validator(planned_schema(DEFINITIONS, name)).is_valid)


def test_the_two_tables_define_the_same_names() -> None:
    assert set(DEFINITIONS) == set(SCHEMA["$defs"])
    Draft202012Validator.check_schema(SCHEMA)
    Draft202012Validator.check_schema(planned_schema(DEFINITIONS, "Call"))


@each_definition
def test_valid_instances_are_accepted_by_all(name: str) -> None:
    @QUICK
    @given(st.data(), st.booleans())
    def check(data: st.DataObject, integral_floats: bool) -> None:
        value = data.draw(valid(DEFINITIONS, name, integral_floats=integral_floats))
        assert by_hand(name)(value)
        assert from_table(name)(value)
        decoding.check(DEFINITIONS, name, value)

    check()


@each_definition
def test_verdicts_about_invalid_instances_are_equal(name: str) -> None:
    @QUICK
    @given(invalid(DEFINITIONS, name))
    def check(value: Any) -> None:
        assert accepts(name, value) == by_hand(name)(value) == from_table(name)(value)

    check()


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ALLOWS_ALL])
def test_violations_are_found_where_they_are(name: str) -> None:
    @QUICK
    @given(violated(DEFINITIONS, name))
    def check(violation: Any) -> None:
        if accepts(name, violation.instance):  # the instance of another arm now, which takes a union
            assert by_hand(name)(violation.instance)
            assert has_union(name)
            return
        with pytest.raises(errors.DecodeError) as caught:
            decoding.check(DEFINITIONS, name, violation.instance)
        assert caught.value.definition == name
        if not has_union(name):
            assert caught.value.path == violation.path

    check()


@each_definition
def test_decoding_leaves_its_input_alone_and_keeps_what_was_said(name: str) -> None:
    @QUICK
    @given(valid(DEFINITIONS, name))
    def check(value: Any) -> None:
        before = json.dumps(value)
        decoded = decoding.decode(DEFINITIONS, name, value, lambda _name, members, extras, _raw: {**members, **extras})
        assert json.dumps(value) == before
        assert json.dumps(decoded, sort_keys=True) == json.dumps(value, sort_keys=True)

    check()


@each_definition
def test_integral_floats_become_integers(name: str) -> None:
    @QUICK
    @given(valid(DEFINITIONS, name, integral_floats=True))
    def check(value: Any) -> None:
        decoded = decoding.decode(DEFINITIONS, name, value, lambda _name, members, extras, _raw: {**members, **extras})
        assert decoded == value  # 2.0 == 2

    check()


def test_instances_are_varied() -> None:
    """Each kind of violation and each unusual but legal thing does come up."""
    seen: set[str] = set()

    @settings(max_examples=300, deadline=None, database=None, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(
        st.sampled_from(["Tool", "Call", "OneOrMany", "Few", "Percent", "Level"]).flatmap(
            lambda n: violated(DEFINITIONS, n)
        )
    )
    def broken(violation: Any) -> None:
        seen.add(violation.what)

    @settings(max_examples=300, deadline=None, database=None, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(valid(DEFINITIONS, "Tool", integral_floats=True))
    def whole(value: dict[str, Any]) -> None:
        seen.update(
            word
            for word, found in {
                "undeclared": set(value) - {"name", "inputSchema", "priority", "code", ""},
                "undeclared in opaque": set(value["inputSchema"]) - {"type", "required", "limit", "caps"},
                "empty string": value["name"] == "",
                "unicode": not value["name"].isascii(),
                "false": value.get("") is False,
                "zero": value.get("priority") == 0,
                "integral float": type(value.get("code")) is float,
                "big": abs(value["inputSchema"].get("limit", 0)) > 2**64,
                "all": len(value) >= 5,
                "required only": set(value) == {"name", "inputSchema"},
            }.items()
            if found
        )

    broken()
    whole()
    assert seen == {
        *("missing", "wrong kind", "wrong optional", "null for absent", "bad value"),
        *("too small", "too large", "too long", "no arm"),
        *("undeclared", "undeclared in opaque", "empty string", "unicode", "false", "zero", "integral float", "big"),
        *("all", "required only"),
    }


def has_union(name: str) -> bool:
    return "Union" in repr([DEFINITIONS[each] for each in reachable(name)])


def reachable(name: str) -> set[str]:
    found, todo = {name}, [name]
    while todo:
        text = repr(DEFINITIONS[todo.pop()])
        new = {each for each in NAMES if f"Ref(name='{each}')" in text} - found
        found |= new
        todo += new
    return found
