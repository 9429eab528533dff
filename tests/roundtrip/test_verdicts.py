"""Made-up instances of every definition: what is accepted, by whom, and what comes back."""

from __future__ import annotations

import json
import zlib
from functools import cache
from typing import Any

import hypothesis
import jsonschema
import pytest
from hypothesis import strategies as st

from conftest import REVISIONS, protocol_of, schema_of
from instances import invalid, valid
from planned_schema import planned_schema
from roundtrip.surfaces import STYLES, assert_round_trip, exact, surface, table

# Where a union's plan decides for an arm that refuses a value which another arm would take, our verdict differs from
# anyOf's: the plan's arm counts, as for every tagged union. Definitions whose unions can show it, found by this test.
settings = hypothesis.settings(
    max_examples=8,
    deadline=None,
    database=None,
    derandomize=True,
    suppress_health_check=list(hypothesis.HealthCheck),
    phases=(hypothesis.Phase.generate, hypothesis.Phase.shrink),
)
DEFINITIONS = [(r, d.name) for r in REVISIONS for d in protocol_of(r).declarations.values() if d.owner is None]


@cache
def official(revision: str, name: str) -> Any:
    """A validator of the corrected official schema: arms of a union by anyOf."""
    schema = schema_of(revision)
    document = {**schema.corrected, "$ref": f"#/{schema.section}/{name.replace('/', '~1')}"}
    return jsonschema.validators.validator_for(document)(document)


@cache
def planned(revision: str, name: str) -> Any:
    """A validator of the definition table: arms of a union by its plan."""
    return jsonschema.Draft202012Validator(planned_schema(table(revision), name))


def verdict(style: str, revision: str, name: str, value: Any) -> bool:
    """Whether the style accepts `value`, through objects and bytes alike."""
    from mcp_bindings.runtime import DecodeError

    package = surface(style, revision)
    type = getattr(package.types, name)
    verdicts: list[bool] = []
    for decode, form in ((package.codec.decode, value), (package.codec.decode_json, json.dumps(value).encode())):
        try:
            decode(type, form)
        except DecodeError:
            verdicts.append(False)
        else:
            verdicts.append(True)
    assert verdicts[0] == verdicts[1], "objects and bytes are judged differently"
    return verdicts[0]


def seeded(revision: str, name: str) -> int:
    """The same seed on every machine and in every process."""
    return zlib.crc32(f"{revision} {name}".encode())


@pytest.mark.parametrize(("revision", "name"), DEFINITIONS)
def test_valid_instances_come_back(revision: str, name: str) -> None:
    @hypothesis.seed(seeded(revision, name))
    @settings
    @hypothesis.given(valid(table(revision), name))
    def check(value: Any) -> None:
        assert planned(revision, name).is_valid(value)
        assert official(revision, name).is_valid(value)
        for style in STYLES:
            assert_round_trip(style, revision, name, value)

    check()


@pytest.mark.parametrize(("revision", "name"), DEFINITIONS)
def test_verdicts_equal_a_validators(revision: str, name: str) -> None:
    @hypothesis.seed(seeded(revision, name))
    @settings
    @hypothesis.given(st.one_of(invalid(table(revision), name), valid(table(revision), name, integral_floats=True)))
    def check(value: Any) -> None:
        expected = planned(revision, name).is_valid(value)
        for style in STYLES:
            assert verdict(style, revision, name, value) == expected, style
        if expected:
            assert official(revision, name).is_valid(value), "a plan must not accept what anyOf refuses"

    check()


def missing_members() -> list[tuple[str, str, str]]:
    """Every required member of every definition."""
    return [
        (p.revision, r.name, f.wire)
        for p in map(protocol_of, REVISIONS)
        for r in p.records
        if r.owner is None
        for f in r.fields
        if f.required
    ]


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("revision", REVISIONS)
def test_decoding_without_a_required_member_fails(style: str, revision: str) -> None:
    """Also where the constructor would have filled it in."""
    checked = 0
    for other, name, wire in missing_members():
        if other == revision:
            value = _instance(revision, name)
            assert verdict(style, revision, name, value)
            assert not verdict(style, revision, name, {k: v for k, v in value.items() if k != wire}), f"{name}.{wire}"
            checked += 1
    assert checked > 90


@cache
def _instance(revision: str, name: str) -> Any:
    """The first of our own examples of a definition."""
    from roundtrip.surfaces import EXAMPLES

    return json.loads(next(iter(sorted((EXAMPLES / revision / name).glob("*.json")))).read_bytes())


@pytest.mark.parametrize("revision", REVISIONS)
def test_styles_agree_on_errors(revision: str) -> None:
    """The same wrong message is described in the same words by every style."""
    from mcp_bindings.runtime import DecodeError

    for other, name, wire in missing_members():
        if other != revision:
            continue
        value = {k: v for k, v in _instance(revision, name).items() if k != wire}
        texts: set[str] = set()
        for style in STYLES:
            package = surface(style, revision)
            with pytest.raises(DecodeError) as caught:
                package.codec.decode(getattr(package.types, name), value)
            texts.add(str(caught.value))
        assert len(texts) == 1
        assert wire in texts.pop()


def test_exactness_of_the_comparison() -> None:
    """The comparison that these tests rest on can tell what JSON can tell."""
    different = [1, 1.0, True, "1", None, [1], {"a": 1}, {"a": 1.0}, {"a": None}, {}, [], ""]
    for i, left in enumerate(different):
        for j, right in enumerate(different):
            assert (exact(left) == exact(right)) == (i == j)
