"""What the templates make of schemas that use what MCP does not: each feature in every place a type can stand."""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterator
from typing import Any

import hypothesis
import jsonschema
import pytest

from inline import REVISION, STRING, const, obj, ref, schema_folder
from instances import invalid, valid
from mcp_bindgen import cli
from mcp_bindgen.names import module
from mcp_bindings.runtime import DecodeError
from planned_schema import planned_schema
from roundtrip import surfaces
from roundtrip.surfaces import declared_only, exact

PACKAGE = "msgspec_features_inline"
INTEGER: dict[str, Any] = {"type": "integer"}
NULLABLE: dict[str, Any] = {"type": ["string", "null"]}


def every(schema: dict[str, Any]) -> dict[str, Any]:
    """An object that has `schema` as a required and an optional member, in a list, a map, and next to a string."""
    return obj(
        "first",
        first=schema,
        maybe=schema,
        items={"type": "array", "items": schema},
        nested={"type": "array", "items": {"type": "array", "items": schema}},
        named={"type": "object", "additionalProperties": schema},
        either={"anyOf": [schema, STRING]},
        eithers={"type": "array", "items": {"anyOf": [STRING, schema]}},
    )


DEFINITIONS: dict[str, Any] = {
    "Opaque": obj("type", type=const("object"), limit=INTEGER, names={"type": "array", "items": STRING}),
    "Opaques": every(ref("Opaque")),
    "OpaqueUnion": {"anyOf": [ref("Opaque"), INTEGER]},
    "OpaqueList": {"type": "array", "items": ref("Opaque")},
    "A": obj("kind size", kind=const("a"), size=INTEGER),
    "B": obj("kind", kind=const("b"), name=STRING),
    "AOrB": {"anyOf": [ref("A"), ref("B")]},
    "Lone": every(ref("A")),
    "Both": every(ref("AOrB")),
    "AMap": {"type": "object", "additionalProperties": ref("A")},
    "Base": obj("id", id=STRING, count=INTEGER),
    "Left": obj("id left", id=STRING, count=INTEGER, left={"type": "number", "minimum": 0}),
    "Right": obj("id right", id=STRING, count=INTEGER, right={}),
    "LeftOrRight": {"anyOf": [ref("Left"), ref("Right")]},
    "Sides": every({"anyOf": [ref("Left"), ref("Right")]}),
    "NamedSides": every(ref("LeftOrRight")),
    "Leaf": obj("type value", type=const("leaf"), value=NULLABLE),
    "Branch": obj("type children", type=const("branch"), children={"type": "array", "items": ref("Tree")}),
    "Tree": {"anyOf": [ref("Branch"), ref("Leaf")]},
    "Forest": {"type": "object", "additionalProperties": ref("Tree")},
    "MapOrRecord": {"anyOf": [obj("x", x=INTEGER), {"type": "array", "items": ref("Base")}, INTEGER]},
    "Open": obj("x", x=INTEGER, inner=ref("Inner"), tree=ref("Tree")),
    "Inner": obj("", y=INTEGER),
    "Opens": every(ref("Open")),
    "Level": {"type": "string", "enum": ["low", "high"]},
    "Levels": every(ref("Level")),
    "Bounds": every({"type": "number", "minimum": -1, "maximum": 1.5}),
    "Few": {"type": "array", "items": INTEGER, "maxItems": 2},
    "Nullable": every(NULLABLE),
    "Versions": every({"type": "integer", "const": 2}),
}
OVERLAY = {
    "opaque": {"Opaque": "somebody else's"},
    "open": {"Open": "has keys of its own", "Inner": "has keys of its own"},
    "open_enums": {"Level": "may grow"},
}
settings = hypothesis.settings(
    max_examples=25,
    deadline=None,
    database=None,
    derandomize=True,
    suppress_health_check=list(hypothesis.HealthCheck),
    phases=(hypothesis.Phase.generate,),
)


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Generated in this style, over the installed runtime."""
    folder = tmp_path_factory.mktemp(PACKAGE)
    schema = str(schema_folder(folder / "schema", DEFINITIONS, OVERLAY))
    arguments = ["--schema", schema, "--out", str(folder), "--package", PACKAGE, "--style", "msgspec"]
    assert cli.main(["generate", *arguments, "--runtime", "mcp_bindings.runtime"]) == 0
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        for name in ("types", "codec"):
            importlib.import_module(f"{PACKAGE}.msgspec.{module(REVISION)}.{name}")
        yield importlib.import_module(f"{PACKAGE}.msgspec.{module(REVISION)}")


def table() -> Any:
    return importlib.import_module(f"{PACKAGE}.definitions.{module(REVISION)}").DEFINITIONS


def classes(value: Any) -> Iterator[type]:
    """The classes of all records in a value."""
    if isinstance(value, importlib.import_module(f"{PACKAGE}.msgspec.message").Message):
        yield value.__class__
        value = [getattr(value, name) for name in value.__struct_fields__]
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from classes(item)


@pytest.mark.parametrize("name", DEFINITIONS)
def test_valid_instances_come_back(package: Any, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(surfaces, "table", lambda revision: table())

    @settings
    @hypothesis.given(valid(table(), name))
    def check(value: Any) -> None:
        type = getattr(package.types, name)
        for decoded in (package.codec.decode_json(type, json.dumps(value)), package.codec.decode(type, value)):
            assert package.codec.matches(type, decoded)
            assert not [cls for cls in classes(decoded) if getattr(package.types, cls.__name__, None) is not cls]
            assert exact(package.codec.encode(decoded)) == exact(declared_only(REVISION, name, value))

    check()


@pytest.mark.parametrize("name", DEFINITIONS)
def test_verdicts_are_a_validators(package: Any, name: str) -> None:
    validator = jsonschema.Draft202012Validator(planned_schema(table(), name))

    @settings
    @hypothesis.given(invalid(table(), name) | valid(table(), name, integral_floats=True))
    def check(value: Any) -> None:
        for read, form in ((package.codec.decode, value), (package.codec.decode_json, json.dumps(value).encode())):
            try:
                read(getattr(package.types, name), form)
            except DecodeError:
                accepted = False
            else:
                accepted = True
            assert accepted == validator.is_valid(value)

    check()


@pytest.mark.parametrize("place", ["first", "maybe", "items", "nested", "named", "either", "eithers"])
@pytest.mark.parametrize(("name", "missing"), [("Lone", {"size": 1}), ("Both", {"size": 1}), ("Sides", {"id": "i"})])
def test_a_record_needs_its_mark_in_every_place(package: Any, name: str, missing: Any, place: str) -> None:
    fine = {"id": "i", "left": 1} if name == "Sides" else {"kind": "a", "size": 1}
    wrap: Any = {
        "items": lambda value: [fine, value],
        "nested": lambda value: [[], [fine, value]],
        "named": lambda value: {"a": fine, "b": value},
        "eithers": lambda value: ["", fine, value],
    }
    for value, accepted in ((fine, True), (missing, False)):
        whole = {"first": fine} | {place: wrap.get(place, lambda value: value)(value)}
        if accepted:
            package.codec.decode(getattr(package.types, name), whole)
        else:
            with pytest.raises(DecodeError):
                package.codec.decode(getattr(package.types, name), whole)


def test_odd_values_in_opaque_objects_stay_as_they_are(package: Any) -> None:
    """Where msgspec would refuse what JSON Schema allows, the slow way builds the record without asking again."""
    odd = {"z": 1.0, "type": "object", "limit": 2.0, "a": None}
    value = {"first": odd, "items": [odd], "named": {"k": odd}, "either": odd, "eithers": ["", odd]}
    read = package.codec.decode_json(package.types.Opaques, json.dumps(value).encode())
    assert exact(package.codec.encode(read)) == exact(value)
    assert list(read.first) == list(odd)
