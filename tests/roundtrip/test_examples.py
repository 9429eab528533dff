"""The project's own example messages, at least one per definition of every revision, in every style."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from conftest import LATEST, REVISIONS, protocol_of, schema_of
from roundtrip.surfaces import EXAMPLES, STYLES, SURFACES, assert_round_trip


def examples(revision: str) -> list[Path]:
    return sorted(file for file in (EXAMPLES / revision).glob("*/*.json") if file.parent.name != "exchange")


@pytest.mark.parametrize(("style", "revision"), SURFACES)
def test_round_trip(style: str, revision: str, subtests: pytest.Subtests) -> None:
    for file in examples(revision):
        with subtests.test(file.relative_to(EXAMPLES).as_posix()):
            assert_round_trip(style, revision, file.parent.name, json.loads(file.read_bytes()))


@pytest.mark.parametrize("revision", REVISIONS)
def test_every_definition_has_an_example(revision: str) -> None:
    definitions = {d.name for d in protocol_of(revision).declarations.values() if d.owner is None}
    assert {file.parent.name for file in examples(revision)} == definitions


@pytest.mark.parametrize("revision", REVISIONS)
def test_examples_are_valid(revision: str, subtests: pytest.Subtests) -> None:
    """By an independent validator, on the corrected schema."""
    schema = schema_of(revision)
    for file in examples(revision):
        with subtests.test(file.relative_to(EXAMPLES).as_posix()):
            jsonschema.validate(
                json.loads(file.read_bytes()), {**schema.corrected, "$ref": f"#/{schema.section}/{file.parent.name}"}
            )


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
