"""Every bad input gets one clear error: where, why, and the line that settles it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from inline import REVISION, STRING, const, model, obj, ref, schema_folder
from mcp_bindgen import cli
from mcp_bindgen.errors import BindgenError

SAME = obj("a", a=STRING)
BAD: dict[str, tuple[dict[str, Any], dict[str, Any], str, str, str]] = {
    "unknown keyword": (
        {"A": {"type": "string", "pattern": "^a"}},
        {},
        "schema.json#/$defs/A/pattern",
        "unknown JSON Schema keyword 'pattern'",
        '"pointer": "/$defs/A/pattern"',
    ),
    "keyword at a property called anyOf": (
        {"A": obj(anyOf={"oneOf": []})},
        {},
        "schema.json#/$defs/A/properties/anyOf/oneOf",
        "unknown JSON Schema keyword 'oneOf'",
        '"pointer": "/$defs/A/properties/anyOf/oneOf"',
    ),
    "name collision": (
        {"AB": SAME, "A": obj(b=obj("x", x=STRING))},
        {},
        "schema.json#/$defs/A/properties/b",
        "the name 'AB' is taken already",
        "rename one of the two",
    ),
    "dangling reference": (
        {"A": obj(b=ref("Nowhere"))},
        {},
        "schema.json#/$defs/A/properties/b/$ref",
        "dangling reference '#/$defs/Nowhere'",
        '"new": "#/$defs/<name>"',
    ),
    "ambiguous union": (
        {"A": SAME, "B": SAME, "U": {"anyOf": [ref("A"), ref("B")]}},
        {},
        "overlay.json#unions",
        "nothing tells A, B apart in the union U",
        '"U": {"order": ["A", "B"]',
    ),
    "unrankable union": (
        {"U": {"anyOf": [{"type": "array", "items": STRING}, {"type": "array", "items": {}}]}},
        {},
        "overlay.json#unions",
        "cannot be decided",
        "correct the schema",
    ),
    "constrained extra members": (
        {"A": {**SAME, "additionalProperties": STRING}},
        {},
        "schema.json#/$defs/A/additionalProperties",
        "not supported",
        '"pointer": "/$defs/A/additionalProperties"',
    ),
    "enum of numbers": (
        {"A": {"enum": [1, 2]}},
        {},
        "schema.json#/$defs/A/enum",
        "[1, 2] is not supported",
        "/$defs/A/enum",
    ),
    "unknown type": ({"A": {"type": "date"}}, {}, "schema.json#/$defs/A/type", 'unknown type "date"', "/$defs/A/type"),
    "a bound that is code": (
        {"A": {"type": "integer", "minimum": "print(1) or 0"}},
        {},
        "schema.json#/$defs/A/minimum",
        "is not supported",
        '"pointer": "/$defs/A/minimum"',
    ),
    "a fraction as an integer's bound": (
        {"A": {"type": "integer", "minimum": 0.5}},
        {},
        "schema.json#/$defs/A/minimum",
        "0.5 is not supported",
        "/$defs/A/minimum",
    ),
    "a negative size": (
        {"A": {"type": "array", "maxItems": -1}},
        {},
        "schema.json#/$defs/A/maxItems",
        "-1 is not supported",
        "/$defs/A/maxItems",
    ),
    "required is no list": (
        {"A": {"type": "object", "required": "ab"}},
        {},
        "schema.json#/$defs/A/required",
        '"ab" is not supported',
        "/$defs/A/required",
    ),
    "properties is no object": (
        {"A": {"type": "object", "properties": ["x"]}},
        {},
        "schema.json#/$defs/A/properties",
        '["x"] is not supported',
        "/$defs/A/properties",
    ),
    "an empty union": ({"A": {"anyOf": []}}, {}, "schema.json#/$defs/A/anyOf", "[] is not supported", "/$defs/A/anyOf"),
    "a filling of another type": (
        {"A": SAME},
        {"fill": {"A.a": {"value": 5, "reason": "r"}}},
        "overlay.json#fill",
        "A.a: 5 is no string",
        "legal value",
    ),
    "a topic that is no module": (
        {"A": SAME},
        {"topics": {"A": "__init__"}},
        "overlay.json#topics",
        '"__init__" is no module name',
        "docs/overlay.md",
    ),
    "a type that extends itself": (
        {"A": SAME},
        {"inheritance": {"A": {"bases": ["A"], "reason": "r"}}},
        "overlay.json#inheritance",
        "a cycle through 'A'",
        "drop the entry",
    ),
    "not a schema": (
        {"A": obj(b=3)},
        {},
        "schema.json#/$defs/A/properties/b",
        "not a schema: 3",
        "/$defs/A/properties/b",
    ),
    "correction without its place": (
        {"A": SAME},
        {"corrections": [{"pointer": "/$defs/B/type", "old": 1, "new": 2, "reason": "r"}]},
        "overlay.json#corrections /$defs/B/type",
        "nothing is at 'B'",
        "drop or renew",
    ),
    "correction of another value": (
        {"A": SAME},
        {"corrections": [{"pointer": "/$defs/A/type", "old": "array", "new": "object", "reason": "r"}]},
        "overlay.json#corrections /$defs/A/type",
        'expected "array", found "object"',
        "the schema has changed",
    ),
    "addition of what is there": (
        {"A": SAME},
        {"corrections": [{"pointer": "/$defs/A/type", "new": "object", "reason": "r"}]},
        "overlay.json#corrections /$defs/A/type",
        'expected nothing, found "object"',
        "the schema has changed",
    ),
    "malformed entry": ({}, {"fill": {"A.b": {"value": 1}}}, "overlay.json#fill", "malformed", "docs/overlay.md"),
    "unknown section": ({}, {"fills": {}}, "overlay.json#fills", "unknown section", "sections are"),
}
STALE = {
    "opaque": {"Gone": "r"},
    "open": {"Gone": "r"},
    "closed": {"Gone": "r"},
    "open_enums": {"A": "r"},
    "fill": {"A.gone": {"value": 1, "reason": "r"}},
    "renames": {"GoneRequest": {"method": "m", "reason": "r"}},
    "deprecated": {"A.gone": "r"},
    "severity": {"A": ["a"]},
    "inheritance": {"A": {"bases": [], "reason": "r"}},
    "unions": {"U": {"order": ["A"], "reason": "r"}},
    "topics": {"Gone": "t"},
    "capabilities": {"gone/method": "c"},
    "flatten": {"Gone": {"member": "m", "reason": "r"}},
}


@pytest.mark.parametrize("case", BAD)
def test_bad_schema(case: str) -> None:
    definitions, overlay, where, reason, fix = BAD[case]
    with pytest.raises(BindgenError) as caught:
        model(definitions, overlay)
    assert caught.value.where == where
    assert reason in caught.value.reason
    assert fix in caught.value.fix


@pytest.mark.parametrize("section", STALE)
def test_stale_overlay_entry(section: str) -> None:
    with pytest.raises(BindgenError) as caught:
        model({"A": obj("kind", kind=const("a"))}, {section: STALE[section]})
    assert caught.value.where == f"overlay.json#{section}"
    assert "drop the entry" in caught.value.fix


def test_receive_rule_without_member() -> None:
    rule = {"definition": "A", "member": "gone", "value": 1, "reason": "r"}
    with pytest.raises(BindgenError, match=r"A\.gone"):
        model({"A": SAME}, {"receive": [rule]})


def break_json(folder: Path) -> None:
    (folder / REVISION / "schema.json").write_text("{")
    pins = (folder / "PINNED.json").read_text()
    import hashlib

    old = next(part for part in pins.split('"') if len(part) == 64)
    (folder / "PINNED.json").write_text(pins.replace(old, hashlib.sha256(b"{").hexdigest()))


def break_pin(folder: Path) -> None:
    with (folder / REVISION / "schema.json").open("a") as file:
        file.write(" ")


def break_overlay(folder: Path) -> None:
    (folder / REVISION / "overlay.json").write_text("[")


def break_pins(folder: Path) -> None:
    (folder / "PINNED.json").write_text('{"revisions": {"x": {}}}')


def remove_schema(folder: Path) -> None:
    (folder / REVISION / "schema.json").unlink()


FILES = {
    "broken JSON": (break_json, "schema.json", "not JSON"),
    "wrong pin": (break_pin, "schema.json", "make bump"),
    "broken overlay": (break_overlay, "overlay.json", "not readable as JSON"),
    "broken pins": (break_pins, "PINNED.json", "not a pin file"),
    "missing schema": (remove_schema, "schema.json", "cannot be read"),
}


@pytest.mark.parametrize("case", FILES)
def test_command_reports_and_writes_nothing(case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    damage, file, words = FILES[case]
    folder = schema_folder(tmp_path / "schema", {"A": SAME})
    damage(folder)
    out = tmp_path / "out"
    assert cli.main(["generate", "--schema", str(folder), "--out", str(out)]) == 1
    printed = capsys.readouterr()
    assert file in printed.err
    assert words in printed.err
    assert "Traceback" not in printed.err
    assert not out.exists()


@pytest.mark.parametrize("package", ["../x", "a b", "class", ""])
def test_a_package_has_a_dotted_name(package: str, tmp_path: Path) -> None:
    with pytest.raises(SystemExit) as caught:
        cli.main(["generate", "--package", package, "--out", str(tmp_path / "out")])
    assert caught.value.code == 2
    assert not (tmp_path / "out").exists()


def test_what_is_not_marked_is_not_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = schema_folder(tmp_path / "schema", {"A": SAME})
    own = tmp_path / "out" / "pyproject.toml"
    own.parent.mkdir()
    own.write_text("[project]\nname = 'mine'\n")
    assert cli.main(["generate", "--schema", str(folder), "--out", str(own.parent)]) == 1
    assert "not marked as generated" in capsys.readouterr().err
    assert list(own.parent.iterdir()) == [own]


def test_unknown_revision(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = schema_folder(tmp_path / "schema", {"A": SAME})
    assert cli.main(["check", "--schema", str(folder), "--revision", "1999-01-01"]) == 1
    assert f"choose one of {REVISION}" in capsys.readouterr().err
