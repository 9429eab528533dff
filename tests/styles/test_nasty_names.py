"""A schema made of names and texts that Python, pydantic, msgspec or the templates use for themselves."""

from __future__ import annotations

import ast
import copy
import json
import pickle
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from inline import REVISION, STRING, const, model, ref
from mcp_bindgen.names import Names, module, name_all
from roundtrip.surfaces import STYLES, exact
from styles.checkers import CHECKERS, check
from styles.packages import decode_error, generate, load

NAMES = [
    *("anyOf", "oneOf", "enum", "const", "default", "properties", "required", "items", "type", "$ref"),
    *("class", "def", "import", "None", "async", "match", "self", "cls", "super", "property"),
    *("Annotated", "Any", "Literal", "Opt", "UNSET", "TypeAlias", "TYPE_CHECKING", "Message", "Field"),
    *("model_config", "model_fields", "model_dump", "model_post_init", "schema", "json", "copy", "dict", "validate"),
    *("construct", "parse_obj", "fields_set", "extras", "keys", "values", "get", "pop", "update"),
    *("_meta", "meta", "_", "__", "__init__", "__class__", "__dict__", "__slots__", "__pydantic_extra__"),
    *("a/b", "a.b", "a-b", "a b", "a_b", "aB", "a__b", "A_B", "$x", "x", "", " ", "#", "0", "1st"),
    *("field", "filled", "member", "str", "int", "float", "list", "object", "bool", "tuple", "id", "name"),
    *("input_schema", "inputSchema", "InputSchema", "input_schema_"),
    *("größe", "日本", "é", "e\u0301", "ﬁ", "fi", "\u2028", "'", "'''", "{% raw %}", "{{ x }}", "{#"),
    *("annotations", "kwargs", "tag", "rename", "definition", "replace", "decode", "com.example/x", "x/y/z"),
]
TYPES = [
    *("Annotated", "Any", "Literal", "BaseModel", "Struct", "Message", "OpenMap", "Opt", "OrUnset", "Field", "Meta"),
    *("UNSET", "UnsetType", "TypeAlias", "Union", "Optional", "Mapping", "OneOf", "Declared"),
    *("ByTag", "ByKey", "ByKind", "Ranked", "Lone", "Merged", "Codec", "Definitions", "REVISION", "Final", "Ref"),
    *("str", "int", "dict", "list", "object", "Exception", "type", "class", "None", "codec", "types", "decode"),
    *("Record", "Enum", "Const", "String", "Integer", "ListOf", "a/b", "1st", "x", "X"),
]
TEXTS = [
    'ends with a quote"',
    'ends with """',
    '"""starts with three',
    "ends with a backslash\\",
    r"\N{DASH} \x \u12 \U0 \{",
    "{% if x %}{{ y }}{# z #}{% endraw %}",
    "# comment\n'''\nclass X: pass",
    "tab\there, null \0, bell \a, separator \u2028, return \r\n, 日本",
    "   indented\n        deeply\n  and back   ",
    "{@link Annotated} and {@link NoSuchThing | text} and {@link",
    "%s {0} ${x} `tick` *star* <b>",
    "x" * 500,
]


def texts() -> Iterator[str]:
    while True:
        yield from TEXTS


def record(properties: Mapping[str, Any], required: Iterable[str] = (), **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": dict(properties), "required": list(required), **more}


def definitions() -> dict[str, Any]:
    """Every name as a member: required, optional, constant, typed with a type of a nasty name; every nasty type."""
    text = texts()

    def described(schema: dict[str, Any]) -> dict[str, Any]:
        return {**schema, "description": next(text)}

    def refer(name: str) -> dict[str, Any]:
        return described(ref(name.replace("~", "~0").replace("/", "~1")))

    made: dict[str, Any] = {
        "Required": record({n: described(STRING) for n in NAMES}, NAMES),
        "Optional_": record({n: described({"type": "integer"}) for n in NAMES}),
        "Free": record({n: described({}) for n in NAMES[:25]}),
        "Constants": record({n: described(const(n)) for n in NAMES}, NAMES),
        "OpenRecord": record({n: described({"type": "boolean"}) for n in NAMES}, description=next(text)),
        "Opaque": record({n: described({"type": "integer"}) for n in NAMES}, ["", "class"]),
        "Members": record({f"m{i}": refer(n) for i, n in enumerate(TYPES)} | {"opaque": refer("Opaque")}),
        "Lists": record({f"m{i}": {"type": "array", "items": refer(n)} for i, n in enumerate(TYPES)}),
        "Maps": record({f"m{i}": {"type": "object", "additionalProperties": refer(n)} for i, n in enumerate(TYPES)}),
        "Texts": {"type": "string", "enum": [*TEXTS, *NAMES], "description": next(text)},
        "Tagged": {"anyOf": [ref(f"Arm{i}") for i in range(len(TAGS))], "description": next(text)},
        "Keyed": {"anyOf": [ref(f"Key{i}") for i in range(len(KEYS))]},
        "Extended": {"allOf": [ref("Required"), record({"more": STRING}, ["more"])]},
    }
    made |= {n: record({"v": described(STRING), "next": refer(n)}, ["v"], description=next(text)) for n in TYPES}
    for number, tag in enumerate(TAGS):
        made[f"Arm{number}"] = record({"class": described(const(tag)), "v": STRING}, ["class", "v"])
    for number, key in enumerate(KEYS):
        made[f"Key{number}"] = record({key: STRING, "w": STRING}, [key])
    return made


TAGS = ["", "class", '"', "a/b", "\\", "日本", "{% x %}"]
KEYS = ["", "class", "a/b", "日本", "$x", "{% x %}", "copy"]
OVERLAY = {"open": {"OpenRecord": "has keys of its own"}, "opaque": {"Opaque": "is somebody else's"}}


PACKAGE = "nasty_names_inline"


@dataclass(frozen=True)
class Made:
    """The generated package."""

    out: Path
    styles: dict[str, ModuleType]
    names: Names

    def type(self, style: str, definition: str) -> Any:
        return getattr(self.styles[style].types, self.names.of(definition))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    out = generate(tmp_path_factory.mktemp(PACKAGE), PACKAGE, definitions(), OVERLAY)
    return Made(out, load(out, PACKAGE), name_all(model(definitions(), OVERLAY)))


each_style = pytest.mark.parametrize("style", STYLES)
INSTANCES: dict[str, list[Any]] = {
    "Required": [dict.fromkeys(NAMES, ""), {n: n for n in NAMES}],
    "Optional_": [{}, dict.fromkeys(NAMES, 0), *({n: 1} for n in NAMES)],
    "Free": [{}, dict.fromkeys(NAMES[:25]), {n: {n: [0.0, n]} for n in NAMES[:25]}],
    "Constants": [{n: n for n in NAMES}],
    "OpenRecord": [
        {},
        dict.fromkeys(NAMES, False),
        {"other": {"self": 1}, "Other": None, **dict.fromkeys(NAMES, True)},
    ],
    "Members": [{}, {f"m{i}": {"v": n, "next": {"v": ""}} for i, n in enumerate(TYPES)}],
    "Lists": [{}, {f"m{i}": [{"v": n}, {"v": "", "next": {"v": ""}}] for i, n in enumerate(TYPES)}],
    "Maps": [{}, {f"m{i}": {k: {"v": k} for k in ("", "class", n)} for i, n in enumerate(TYPES)}],
    "Texts": [*TEXTS, *NAMES],
    "Tagged": [{"class": tag, "v": tag} for tag in TAGS],
    "Keyed": [{key: "", "w": ""} for key in KEYS],
    "Extended": [{**dict.fromkeys(NAMES, ""), "more": ""}],
    **{n: [{"v": ""}, {"v": n, "next": {"v": "", "next": {"v": ""}}}] for n in TYPES},
}


@each_style
@pytest.mark.parametrize("definition", INSTANCES)
def test_round_trips(style: str, definition: str, made: Made) -> None:
    codec, type = made.styles[style].codec, made.type(style, definition)
    for wire in INSTANCES[definition]:
        for value in (codec.decode(type, wire), codec.decode_json(type, json.dumps(wire).encode())):
            assert exact(codec.encode(value)) == exact(wire)
            assert exact(json.loads(codec.encode_json(value))) == exact(wire)


@each_style
@pytest.mark.parametrize("definition", ["Required", "Optional_", "Constants", "OpenRecord", "Extended"])
def test_attributes(style: str, definition: str, made: Made) -> None:
    """Every member has an attribute of its own that holds it, and that constructors and replace take."""
    codec, type = made.styles[style].codec, made.type(style, definition)
    attributes = made.names.attributes[definition]
    wire = next(w for w in reversed(INSTANCES[definition]) if len(w) >= len(NAMES))
    value = codec.decode(type, wire)
    assert len(set(attributes.values())) == len(attributes) >= len(NAMES)
    for name, attribute in attributes.items():
        assert exact(getattr(value, attribute)) == exact(wire[name]), attribute
        assert attribute.isidentifier()
    members = {attribute: getattr(value, attribute) for attribute in attributes.values()}
    constructed = type(**members)
    assert exact(codec.encode(constructed)) == exact({n: wire[n] for n in attributes})
    assert constructed == codec.decode(type, {n: wire[n] for n in attributes})
    for attribute, member in members.items():
        assert codec.replace(constructed, **{attribute: member}) == constructed
    if definition == "Constants":
        assert type() == constructed
    for same in (copy.copy(value), copy.deepcopy(value), codec.replace(value)):
        assert same == value
        assert exact(codec.encode(same)) == exact(wire)
    assert repr(value).startswith(f"{type.__name__}(")


@each_style
def test_pickle(style: str, made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    codec = made.styles[style].codec
    monkeypatch.syspath_prepend(made.out)
    for definition, instances in INSTANCES.items():
        value = codec.decode(made.type(style, definition), instances[-1])
        assert pickle.loads(pickle.dumps(value)) == value


@each_style
def test_open_maps_go_by_wire_key(style: str, made: Made) -> None:
    codec, type = made.styles[style].codec, made.type(style, "OpenRecord")
    wire = INSTANCES["OpenRecord"][-1]
    value = codec.decode(type, wire)
    assert set(value) == set(wire)
    for key, member in wire.items():
        assert value[key] == member
        assert value.get(key) == member
    assert set(value.keys()) == set(wire)
    assert dict(value.extras) == {"other": {"self": 1}, "Other": None}


@each_style
def test_opaque_objects_are_checked(style: str, made: Made) -> None:
    package = made.styles[style]
    type = made.type(style, "Members")
    wire = {"opaque": {**dict.fromkeys(NAMES, 1), "z": None, "b": 1.0}}
    assert json.dumps(package.codec.encode(package.codec.decode(type, wire))) == json.dumps(wire)
    for name in NAMES:
        with pytest.raises(decode_error(package)):
            package.codec.decode(type, {"opaque": {**wire["opaque"], name: "1"}})
    for name in ("", "class"):
        with pytest.raises(decode_error(package)):
            package.codec.decode(type, {"opaque": {k: v for k, v in wire["opaque"].items() if k != name}})


@each_style
def test_arms(style: str, made: Made) -> None:
    codec = made.styles[style].codec
    for union, label in (("Tagged", "Arm"), ("Keyed", "Key")):
        for number, wire in enumerate(INSTANCES[union]):
            assert codec.decode(made.type(style, union), wire).__class__ is made.type(style, f"{label}{number}")


@each_style
def test_wrong_members_are_named(style: str, made: Made) -> None:
    """By wire name, in an error on one line, the same in every style."""
    package = made.styles[style]
    error = decode_error(package)
    whole = dict.fromkeys(NAMES, "")
    for name in NAMES:
        for wrong in ({k: v for k, v in whole.items() if k != name}, {**whole, name: 1}):
            with pytest.raises(error) as caught:
                package.codec.decode(made.type(style, "Required"), wrong)
            assert getattr(caught.value, "path") == (name,)  # noqa: B009
            assert "\n" not in str(caught.value)


@each_style
def test_descriptions_are_docstrings(style: str, made: Made) -> None:
    """And nothing else: every text is in the source, inside a string."""
    described = definitions()["OpenRecord"]["description"]
    assert made.type(style, "OpenRecord").__doc__
    assert described.split()[0] in made.type(style, "OpenRecord").__doc__
    folder = made.out / PACKAGE / style
    strings: list[str] = []
    for file in folder.rglob("*.py"):
        tree = ast.parse(file.read_text("utf-8"))
        strings += [n.value for n in ast.walk(tree) if isinstance(n, ast.Constant) and isinstance(n.value, str)]
    everything = "\n".join(strings)
    for text in TEXTS:
        first = text.split("\n")[0].split("{@link")[0].strip().replace("\r", "")
        assert first in everything or any(word in everything for word in text.split()), text


def test_every_text_of_the_issue_is_here() -> None:
    """What the schema has to hold at least."""
    assert {"anyOf", "class", "Annotated", "model_config", "schema", "_meta", "a/b", "$x", "", "field", "json"} <= {
        *NAMES
    }
    assert {"copy", "input_schema", "inputSchema"} <= {*NAMES}
    assert {"Annotated", "Any", "Literal", "BaseModel", "Struct"} <= {*TYPES}
    for part in ('"""', "\\", "{%"):
        assert any(part in text for text in TEXTS)
    assert any(text.endswith('"') for text in TEXTS)


@pytest.mark.parametrize("checker", CHECKERS)
def test_type_checkers_accept_the_package(checker: str, made: Made, tmp_path: Path) -> None:
    """Its revision in every style, and a user's file that imports every name of it."""
    lines: list[str] = []
    for style, package in made.styles.items():
        revision = package.__name__.rpartition(".")[2]
        for number, name in enumerate(sorted(package.types.__all__)):
            lines.append(f"from {PACKAGE}.{style}.{revision}.types import {name} as {style}_{number}")
        lines.append(f"from {PACKAGE}.{style}.{revision} import codec as {style}_codec, types as {style}_types")
        constants = f"{style}_types.{made.names.of('Constants')}"
        lines.append(f"{style}_made = {constants}()")
        lines.append(f"{style}_read: {constants} = {style}_codec.decode({constants}, {{}})")
        lines.append(f"{style}_value: str = {style}_made.{made.names.attribute('Constants', 'class')}")
        names = [f"{style}_{number}" for number in range(len(package.types.__all__))]
        lines.append(f"{style}_all: list[object] = [{', '.join(names)}]")
    folders = [made.out / PACKAGE / style / module(REVISION) for style in STYLES]
    findings = check(checker, tmp_path, {"user.py": "\n".join(lines)}, made.out, *folders)
    assert findings == {}
