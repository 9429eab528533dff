"""What class bodies of the msgspec style are made of, in bodies of our own."""

from __future__ import annotations

import copy
import gc
import json
import pickle
from typing import Annotated, Any, Literal

import msgspec
import pytest

from mcp_bindgen.names import camel
from mcp_bindings.msgspec.message import (
    Declared,
    Lone,
    Merged,
    Message,
    MessageMeta,
    OneOf,
    OpenMap,
    Opt,
    OrUnset,
    check_declared,
    construct,
    filled,
    is_instance,
    member,
    narrow_items,
    narrow_member,
    reader,
    replaced,
    write,
)
from mcp_bindings.runtime.plans import ByItem, ByKey, ByKind, ByTag, Ranked
from mcp_bindings.runtime.unset import UNSET


class Circle(Message, tag="shape"):
    shape: Literal["circle"] = filled("circle")
    radius: int | float


class Square(Message, tag="shape"):
    shape: Literal["square"] = filled("square")
    side: int
    note: OrUnset[Any] = UNSET


class Picture(Message):
    first: Circle | Square
    alone: Opt[Lone[Circle]] = None
    many: Opt[list[Lone[Square]]] = None
    named: Opt[dict[str, Lone[Square]]] = None
    or_text: Opt[Lone[Circle] | str] = None


CIRCLE = {"shape": "circle", "radius": 1}
SQUARE = {"shape": "square", "side": 2}


def reads(type: Any, value: Any) -> bool:
    try:
        reader(type)(write(value))
    except msgspec.ValidationError:
        return False
    return True


# --- tags ---


@pytest.mark.parametrize(
    ("type", "value", "accepted"),
    [
        (Circle, CIRCLE, True),
        (Circle, {"radius": 1}, False),
        (Circle, SQUARE, False),
        (Circle, {"shape": "\0"}, False),
        (Circle, {"shape": None, "radius": 1}, False),
        (Circle | Square, SQUARE, True),
        (Circle | Square, {"side": 2}, False),
        (Picture, {"first": CIRCLE}, True),
        (Picture, {"first": CIRCLE, "alone": CIRCLE, "many": [SQUARE], "named": {"s": SQUARE}, "orText": "x"}, True),
        (Picture, {"first": CIRCLE, "orText": CIRCLE}, True),
        (Picture, {"first": {"radius": 1}}, False),
        (Picture, {"first": CIRCLE, "alone": {"radius": 1}}, False),
        (Picture, {"first": CIRCLE, "alone": SQUARE}, False),
        (Picture, {"first": CIRCLE, "many": [SQUARE, {"side": 2}]}, False),
        (Picture, {"first": CIRCLE, "named": {"s": {"side": 2}}}, False),
        (Picture, {"first": CIRCLE, "orText": {"radius": 1}}, False),
        (Picture, {"first": CIRCLE, "alone": {"shape": "\0"}}, False),
    ],
)
def test_a_tag_is_required_wherever_a_record_is(type: Any, value: Any, accepted: bool) -> None:
    assert reads(type, value) == accepted


def test_a_tag_reads_like_a_member() -> None:
    circle = reader(Circle)(write(CIRCLE))
    assert circle.shape == Circle.shape == "circle"
    assert Circle(radius=1, shape="circle") == circle == Circle(radius=1)
    assert replaced(circle, {"shape": "circle", "radius": 2}) == Circle(radius=2)
    assert json.loads(write(circle)) == CIRCLE
    match circle:
        case Circle(shape="circle", radius=radius):
            assert radius == 1
    for change in (lambda: Circle(radius=1, shape="square"), lambda: replaced(circle, {"shape": "square"})):
        with pytest.raises(TypeError, match="shape is always 'circle'"):
            change()


def test_a_member_with_another_wire_name_can_be_the_tag() -> None:
    class Odd(Message, tag="kind"):
        kind: Literal["o"] = member("x-kind", default=filled("o"))

    class Even(Message, tag="kind"):
        kind: Literal["e"] = member("x-kind", default=filled("e"))

    assert reader(Odd | Even)(b'{"x-kind":"e"}') == Even()
    assert write(Odd()) == b'{"x-kind":"o"}'


# --- filled members ---


class Base(Message):
    result_type: str = filled("complete")
    ttl: Annotated[int, msgspec.Meta(ge=0)] = member("ttl-ms", default=filled(0))


class Derived(Base):
    result_type: Literal["input"] = filled("input")


class Emptied(Base):
    ttl: Literal[5] = member("ttl-ms")


def test_filled_members_are_inherited_and_overridden() -> None:
    assert json.loads(write(Base())) == {"resultType": "complete", "ttl-ms": 0}
    assert json.loads(write(Base(result_type="other", ttl=7))) == {"resultType": "other", "ttl-ms": 7}
    assert json.loads(write(Derived())) == {"resultType": "input", "ttl-ms": 0}
    with pytest.raises(TypeError, match="is always 'input'"):
        Derived(result_type="complete")
    with pytest.raises(TypeError, match="ttl"):
        Emptied()
    for cls in (Base, Derived):
        assert not reads(cls, {"resultType": "input"})


def test_wire_names_are_those_that_the_generator_assumes() -> None:
    """It leaves out wire names that this style would make of the attribute."""
    for attribute in ("a", "a_b", "a_1b", "a1_b2c", "a__b", "a_b_", "x1a_y", "input_schema", "_a", "a_é"):
        made = MessageMeta("Made", (Message,), {"__annotations__": {attribute: "int"}})
        assert made.__struct_encode_fields__ == (camel(attribute),)


# --- planned unions ---


class Named(Message):
    name: str


class Sized(Message):
    size: int
    name: Opt[str] = None


SHAPES = {
    "tag": (ByTag("shape", {"circle": "Circle"}, "Square"), Circle | Square, [CIRCLE, SQUARE], [7, {"side": 2}]),
    "key": (ByKey([(("size",), "Sized")], "Named"), Named | Sized, [{"name": "n"}, {"size": 1, "name": "n"}], [{}, []]),
    "ranked": (
        Ranked([(("size",), "Sized"), (("name",), "Named")]),
        Named | Sized,
        [{"name": "n"}],
        [{}, {"size": ""}],
    ),
    "kinds": (
        ByKind({"object": "Named", "array": "array", "string": "string", "number": "number", "null": "null"}),
        Named | list[int] | str | int | float | None,
        [{"name": "n"}, [1], "x", 1, 1.5, None],
        [True, ["x"], {}],
    ),
    "integer": (
        ByKind({"object": "object", "integer": "integer", "boolean": "boolean"}),
        dict[str, int] | int | bool,
        [{"a": 1}, 3, False],
        ["x", {"a": "x"}],
    ),
    "constant": (
        ByKind({"object": "Named", "string": "string"}),
        Named | Literal["a", "b"],
        [{"name": ""}, "a"],
        ["c"],
    ),
    "arrays": (
        ByKind({"array": ByItem(ByKind({"string": "array", "integer": "array2"}), "array")}),
        list[str] | list[int],
        [["x"], [1], []],
        [[1, "x"], [None], {}],
    ),
}


@pytest.mark.parametrize("case", SHAPES)
def test_a_plan_decides(case: str) -> None:
    plan, union, accepted, refused = SHAPES[case]
    planned = OneOf[union, plan]
    for value in accepted:
        read = reader(planned)(write(value))
        assert json.loads(write(read)) == value
        assert isinstance(read, planned)
        assert is_instance(read, planned)
        assert reads(dict[str, list[planned]], {"k": [value]})
    for value in refused:
        assert not reads(planned, value)
    assert not isinstance(object(), planned)


def test_match_knows_planned_unions() -> None:
    plan, union, _, _ = SHAPES["key"]
    planned = OneOf[union, plan]
    match Sized(size=1):
        case planned():
            pass
        case _:
            pytest.fail("not matched")
    assert not isinstance(Circle(radius=1), planned)


# --- merged records ---


class Contents(Message):
    uri: str
    mime_type: Opt[str] = None


class Text(Contents):
    text: str


class Blob(Contents):
    blob: Annotated[str, msgspec.Meta(min_length=1)] = member("b-l-o-b")


PLAN = ByKey([(("text",), "Text")], "Blob")


class Holder(Message):
    contents: list[Merged[Text | Blob, PLAN]]
    single: Opt[Merged[Text | Blob, PLAN]] = None

    def __post_init__(self) -> None:
        narrow_items(self.contents)
        narrow_member(self, "single")


class Plain(Message):
    contents: list[OneOf[Text | Blob, PLAN]]
    single: Opt[OneOf[Text | Blob, PLAN]] = None


CONTENTS: list[Any] = [
    {"uri": "u", "text": "t"},
    {"uri": "u", "text": "", "mimeType": "m"},
    {"uri": "u", "b-l-o-b": "b"},
    {"uri": "u", "text": "t", "b-l-o-b": "b"},
    {"uri": "u", "text": "t", "b-l-o-b": None},
    {"uri": "u", "text": None, "b-l-o-b": "b"},
    {"uri": "u", "b-l-o-b": ""},
    {"uri": "u"},
    {"text": "t"},
    {"uri": "u", "text": 7},
    {},
    None,
    "text",
]


@pytest.mark.parametrize("one", CONTENTS, ids=json.dumps)
@pytest.mark.parametrize("other", [CONTENTS[0], CONTENTS[2]], ids=["text", "blob"])
def test_merged_records_are_those_of_the_plan(one: Any, other: Any) -> None:
    """What the merged record takes, the plan takes alike. It may refuse more: the slow way follows."""
    for value in ({"contents": [one, other]}, {"contents": [other, one]}, {"contents": [], "single": one}):
        if reads(Holder, value):
            merged, planned = reader(Holder)(write(value)), reader(Plain)(write(value))
            assert merged.contents == planned.contents
            assert merged.single == planned.single
            assert [type(item) for item in merged.contents] == [type(item) for item in planned.contents]
    both = isinstance(one, dict) and one.keys() == {"uri", "text", "b-l-o-b"}
    assert both or reads(Holder, {"contents": [one]}) == reads(Plain, {"contents": [one]})


def test_narrowing_leaves_what_callers_put_there() -> None:
    contents = (Text(uri="u", text="t"),)
    assert Holder(contents=contents).contents is contents
    assert Holder(contents=[]).single is None
    assert Holder(contents=[*contents], single=contents[0]).single is contents[0]


# --- opaque objects ---

Schema = Annotated[
    dict[str, Any], Declared(required={"type": Literal["object"]}, optional={"$id": str, "items": list[int]})
]


@pytest.mark.parametrize(
    ("value", "fine"),
    [
        ({"type": "object", "x": [1.0, None]}, True),
        ({"type": "object", "$id": "i", "items": [1]}, True),
        ({}, False),
        ({"type": "array"}, False),
        ({"type": "object", "$id": None}, False),
        ({"type": "object", "items": ["x"]}, False),
    ],
)
def test_declared_members_are_checked(value: dict[str, Any], fine: bool) -> None:
    before = copy.deepcopy(value)
    if fine:
        check_declared(Schema, value)
    else:
        with pytest.raises(ValueError, match=r"Expected|missing|Invalid"):
            check_declared(Schema, value)
    assert value == before


def test_whoever_knows_better_builds_without_checks() -> None:
    class Owner(Message):
        schema: Schema

        def __post_init__(self) -> None:
            check_declared(Schema, self.schema)

    odd = {"type": "object", "items": [2.0]}  # legal JSON, too odd for msgspec
    with pytest.raises(ValueError, match="items"):
        Owner(schema=odd)
    assert construct(Owner, {"schema": odd}, {}).schema is odd
    with pytest.raises(ValueError, match="items"):
        Owner(schema=odd)


# --- open maps ---


class Meta(OpenMap):
    token: Opt[str] = None
    pop: Opt[int] = None
    update: int


def test_the_stand_in_is_the_class_it_stands_for() -> None:
    meta = Meta({"x/y": [1]}, update=2, pop=3)
    assert isinstance(meta, Meta)
    assert isinstance(meta, Message)
    assert meta.__class__ is Meta
    assert (meta.update, meta.pop, meta.token) == (2, 3, None)
    assert dict(meta) == {"pop": 3, "update": 2, "x/y": [1]}
    assert write([meta]) == b'[{"pop":3,"update":2,"x/y":[1]}]'
    assert pickle.loads(pickle.dumps(meta)) == meta == copy.deepcopy(meta)
    assert copy.deepcopy(meta)["x/y"] is not meta["x/y"]
    assert replaced(meta, {"pop": None, "extras": {"z": 0}}) == Meta({"z": 0}, update=2)
    assert type(replaced(meta, {"extras": {}})) is Meta
    assert eval(repr(meta)) == meta
    match meta:
        case Meta(pop=pop):
            assert pop == 3


@pytest.mark.parametrize(
    "change",
    [
        "meta['x'] = 1",
        "del meta['x/y']",
        "meta.clear()",
        "meta.popitem()",
        "meta.setdefault('x', 1)",
        "meta |= {'x': 1}",
        "meta.token = 't'",
        "del meta.token",
        "meta.anything = 1",
        "meta.extras['x'] = 1; assert 'x' in meta, 'only a copy'",
    ],
)
def test_the_stand_in_is_immutable(change: str) -> None:
    meta = Meta({"x/y": 1}, update=2)
    with pytest.raises((TypeError, AttributeError, AssertionError)):
        exec(change, {"meta": meta})
    assert dict(meta) == {"update": 2, "x/y": 1}


# --- the cycle collector ---


def test_messages_are_none_of_the_cycle_collectors_business() -> None:
    value = reader(Picture)(write({"first": CIRCLE, "named": {"s": SQUARE}}))
    assert not any(map(gc.is_tracked, (value, value.first, Circle(radius=1))))
