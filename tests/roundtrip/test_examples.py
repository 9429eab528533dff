"""The project's own example messages, at least one per definition of every revision, in every style."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from conftest import LATEST, REVISIONS, protocol_of, schema_of
from roundtrip.surfaces import EXAMPLES, STYLES, assert_round_trip


def examples(revision: str, definition: str = "*") -> list[Path]:
    return sorted(f for f in (EXAMPLES / revision).glob(f"{definition}/*.json") if f.parent.name != "exchange")


DEFINITIONS = [(r, d.name) for r in REVISIONS for d in protocol_of(r).declarations.values() if d.owner is None]


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize(("revision", "definition"), DEFINITIONS)
def test_round_trip(style: str, revision: str, definition: str) -> None:
    files = examples(revision, definition)
    assert files, "every definition has an example"
    for file in files:
        assert_round_trip(style, revision, definition, json.loads(file.read_bytes()))


@pytest.mark.parametrize("revision", REVISIONS)
def test_no_example_is_of_something_else(revision: str) -> None:
    assert {file.parent.name for file in examples(revision)} == {name for r, name in DEFINITIONS if r == revision}


@pytest.mark.parametrize(("revision", "definition"), DEFINITIONS)
def test_examples_are_valid(revision: str, definition: str) -> None:
    """By an independent validator, on the corrected schema."""
    schema = schema_of(revision)
    document = {**schema.corrected, "$ref": f"#/{schema.section}/{definition}"}
    validator = jsonschema.validators.validator_for(document)(document)
    for file in examples(revision, definition):
        validator.validate(json.loads(file.read_bytes()))


def exchange() -> list[tuple[str, str, Any]]:
    """The frames of the example exchange in order: (title, definition, frame), responses typed by their request."""
    methods = {method.wire: method.message for method in protocol_of(LATEST).methods}
    pending: dict[Any, str] = {}
    frames: list[tuple[str, str, Any]] = []
    for file in sorted((EXAMPLES / LATEST / "exchange").glob("*.json")):
        frame = json.loads(file.read_bytes())
        if "method" in frame:
            name = methods[frame["method"]]
            pending[frame.get("id")] = name
        else:
            name = pending.pop(frame["id"]).removesuffix("Request") + "ResultResponse"
        frames.append((file.stem, name, frame))
    return frames


@pytest.mark.parametrize("style", STYLES)
def test_exchange(style: str) -> None:
    frames = exchange()
    assert [frame["method"] for _, _, frame in frames if "method" in frame] == [
        "server/discover",
        "tools/list",
        "tools/call",
        "notifications/progress",
        "subscriptions/listen",
        "notifications/subscriptions/acknowledged",
        "notifications/tools/list_changed",
        "tools/list",
    ]
    for _, name, frame in frames:
        assert_round_trip(style, LATEST, name, frame)
