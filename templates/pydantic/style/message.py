"""What the message classes of this style are made of: pydantic models with a few MCP manners.

The generated classes read like dataclasses. What they say means the same to type checkers and at run time, with two
differences that make them exact on the wire: `Opt[T]` and `OrUnset[T]` are plain `T` for the decoder (so that a null is
not taken for an absent member), and a default written as `filled(...)` is a default of the constructor only.

Constructors take Python names, decoding takes wire names. Models are built when they are first used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType, UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Literal,
    NotRequired,
    Required,
    TypeAlias,
    TypeGuard,
    TypeVar,
    Union,
    cast,
    dataclass_transform,
    get_args,
    get_origin,
    overload,
)

from pydantic import BaseModel, ConfigDict, Field, GetCoreSchemaHandler, TypeAdapter, with_config
from pydantic_core import CoreSchema, core_schema
from typing_extensions import TypedDict  # before Python 3.12 pydantic takes no other

from ..runtime.plans import ByKey, ByKind, ByTag
from ..runtime.unset import UNSET, UnsetType

if TYPE_CHECKING:
    from pydantic._internal._model_construction import ModelMetaclass

    from ..runtime.plans import Leaf, Plan
else:
    ModelMetaclass = type(BaseModel)

__all__ = [
    "CONFIG",
    "Declared",
    "Message",
    "OneOf",
    "OpenMap",
    "Opt",
    "OrMessage",
    "OrUnset",
    "construct",
    "filled",
    "is_instance",
    "is_record",
    "layout",
    "member",
    "replaced",
]

T = TypeVar("T")
M = TypeVar("M", bound="Message")


# --- the vocabulary of class bodies -----------------------------------------------------------------------------------

if TYPE_CHECKING:
    Opt: TypeAlias = T | None
    OrUnset: TypeAlias = T | UnsetType
    OrMessage: TypeAlias = T | "Message"
    from typing import Annotated as OneOf
else:

    class Opt:
        """`Opt[T]`: an optional member. Absent is `None`; on the wire it is a `T` or not there."""

        def __class_getitem__(cls, type):
            return type

    class OrUnset:
        """`OrUnset[T]`: an optional member for which null is a value, so that absent is `UNSET`."""

        def __class_getitem__(cls, type):
            return type

    class OrMessage:
        """`OrMessage[T]`: a free map on the wire, for which derived records have a record. Constructors take both."""

        def __class_getitem__(cls, type):
            return Annotated[type, cls]

        @classmethod
        def __get_pydantic_core_schema__(cls, source, handler):
            free = FreeForm().__get_pydantic_core_schema__(source, handler)
            either = core_schema.union_schema([free, core_schema.is_instance_schema(Message)], mode="left_to_right")
            return core_schema.json_or_python_schema(free, either, serialization=_BY_TYPE)

    class OneOf:
        """`OneOf[A | B, by]`: a union that is decided by `by`: the wire name of a tag, or a plan.

        A tag is a required member that has values of its own in each arm. After a plan come its labels for the arms, in
        order, unless these are records, which are known by their own names.
        """

        def __class_getitem__(cls, parameters):
            union, by, *labels = parameters
            arms = get_args(union)
            labels = labels or [arm.__definition__ for arm in arms]
            return _OneOf(f"OneOf[{union}]", (), {"arms": dict(zip(labels, arms, strict=True)), "by": by})


class _Filled:
    """A default that only the constructor applies."""

    __slots__ = ("value", "wire")

    def __init__(self, value: object, wire: str | None = None) -> None:
        self.value = value
        self.wire = wire


def filled(value: T) -> T:
    """A member that constructors may leave out: it is `value` then. It is always written, and required when read."""
    return cast(T, _Filled(value))


@overload
def member(wire: str, *, kw_only: bool = True) -> Any: ...


@overload
def member(wire: str, *, default: T, kw_only: bool = True) -> T: ...


def member(wire: str, *, default: Any = ..., kw_only: bool = True) -> Any:
    """A member whose wire name is not the camelCase of its attribute."""
    if isinstance(default, _Filled):
        return _Filled(default.value, wire)
    # Never `alias`: type checkers would take it for the name of the constructor's parameter.
    return Field(default, validation_alias=wire, serialization_alias=wire)


CONFIG = ConfigDict(
    strict=True,
    allow_inf_nan=False,
    serialize_by_alias=True,
    ser_json_inf_nan="constants",
    polymorphic_serialization=True,
)
"""How values are read and written, records and others alike."""


def _camel(attribute: str) -> str:
    head, *tail = attribute.split("_")
    return head + "".join(part[:1].upper() + part[1:] for part in tail)


# --- records ----------------------------------------------------------------------------------------------------------

_BY_TYPE = core_schema.simple_ser_schema("any")
"""Write a value as what it is, instead of trying arms again."""


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(member,))
class MessageMeta(ModelMetaclass):
    """Turns the class bodies of messages into models. `definition` is the schema's name if it is not the class's."""

    __definition__: str
    __fill__: Mapping[str, Any]
    """What constructors fill in, by attribute."""

    def __new__(
        mcs,
        name: str,
        bases: tuple[type, ...],
        namespace: dict[str, Any],
        definition: str | None = None,
        **config: Any,
    ) -> Any:
        fill: dict[str, Any] = {}
        for base in reversed(bases):
            fill |= getattr(base, "__fill__", {})
        for attribute, default in list(namespace.items()):
            if isinstance(default, _Filled):
                fill[attribute] = default.value
                if default.wire is None:
                    del namespace[attribute]
                else:
                    namespace[attribute] = member(default.wire)
        namespace["__fill__"] = fill
        namespace["__definition__"] = definition or name
        return super().__new__(mcs, name, bases, namespace, **config)


class Message(BaseModel, metaclass=MessageMeta):
    """The base of all records: immutable, made from keywords, compared by value. Undeclared members are kept."""

    model_config = CONFIG | ConfigDict(
        extra="allow", frozen=True, defer_build=True, alias_generator=_camel, protected_namespaces=()
    )

    # Type checkers know the constructors from the members.
    if not TYPE_CHECKING:

        def __init__(self, /, **members):
            fields = self.__class__.__pydantic_fields__
            given = dict(self.__class__.__fill__)
            for name, value in members.items():
                field = fields.get(name)
                if field is None:
                    raise TypeError(f"{self.__class__.__name__}() got an unexpected keyword argument {name!r}")
                if value is not field.default:
                    given[name] = value
            self.__pydantic_validator__.validate_python(given, self_instance=self, by_alias=False, by_name=True)

        # Keeps pydantic from calling it when decoding.
        __init__.__pydantic_base_init__ = True

        @classmethod
        def __get_pydantic_core_schema__(cls, source, handler):
            schema = handler(source)
            members = handler.resolve_ref_schema(schema)["schema"]
            for field in members["fields"].values():
                _settle(field["schema"], handler)
            members["extras_schema"] = _free_form(handler)
            return schema

        def __eq__(self, other):
            # pydantic compares every optional member that it writes with its default.
            return other is not None and super().__eq__(other)

        def __repr_args__(self):
            for name, field in self.__class__.__pydantic_fields__.items():
                value = self.__dict__.get(name, field.default)
                if value is not field.default:
                    yield name, value
            yield from (self.__pydantic_extra__ or {}).items()

        def __str__(self):
            return repr(self)

        def __replace__(self, /, **changes):
            return replaced(self, changes)


def is_record(type: object) -> TypeGuard[type[Message]]:
    """Whether `type` is a class of records, and no alias."""
    return isinstance(type, MessageMeta)


_layouts: dict[type[Message], Mapping[str, tuple[str, object]]] = {}


def layout(cls: type[Message]) -> Mapping[str, tuple[str, object]]:
    """The members of a record: wire key -> attribute, and the value that means absent."""
    found = _layouts.get(cls)
    if found is None:
        members: dict[str, tuple[str, object]] = {}
        for name, field in cls.__pydantic_fields__.items():
            wire = field.serialization_alias
            members[_camel(name) if wire is None else wire] = (name, field.default)
        found = _layouts[cls] = members
    return found


def construct(cls: type[M], members: Mapping[str, Any], extras: Mapping[str, Any]) -> M:
    """A record from members, by wire key, that have been checked already, by someone who knows more than pydantic."""
    value = cls.__new__(cls)
    value.__setstate__(
        {
            "__dict__": {name: members.get(wire, absent) for wire, (name, absent) in layout(cls).items()},
            "__pydantic_extra__": dict(extras),
            "__pydantic_fields_set__": {*(layout(cls)[wire][0] for wire in members), *extras},
            "__pydantic_private__": None,
        }
    )
    return value


def replaced(value: M, changes: dict[str, Any]) -> M:
    """A copy of `value` with other members. `None` (or `UNSET`) takes an optional one out."""
    cls = value.__class__
    extras = value.__pydantic_extra__
    if isinstance(value, OpenMap):
        extras = changes.pop("extras", extras)
    present = {name: value.__dict__[name] for name in _present(value).values()}
    return _with_extras(cls(**{**present, **changes}), extras)


def _present(value: Message) -> dict[str, str]:
    """Wire key -> attribute of the declared members that `value` has."""
    members = value.__dict__
    return {wire: name for wire, (name, absent) in layout(value.__class__).items() if members[name] is not absent}


def _with_extras(value: M, extras: Mapping[str, Any] | None) -> M:
    """Give a new record its undeclared members."""
    if extras and value.__pydantic_extra__ is not None:
        value.__pydantic_extra__.update(extras)
        value.__pydantic_fields_set__.update(extras)
    return value


# --- open maps --------------------------------------------------------------------------------------------------------


class OpenMap(Message, Mapping[str, Any]):
    """The base of records that are mappings as well: declared members are attributes, and any other key is kept.

    As a mapping it goes by wire key and has every key that is present: `meta["com.example/trace"]`. Keys of one's own
    are given as a mapping: `RequestMetaObject({"com.example/trace": "7"}, protocol_version=…)`.
    """

    if TYPE_CHECKING:
        extras: Mapping[str, Any] = member("", default={}, kw_only=False)
        """The undeclared keys, as they are on the wire."""
    else:

        def __init__(self, extras=MappingProxyType({}), /, **members):
            extras = members.pop("extras", extras)
            super().__init__(**members)
            for key in extras:
                if key in layout(self.__class__):
                    name = self.__class__.__name__
                    raise TypeError(f"{key!r} is a declared member of {name}: give it as a keyword")
            _with_extras(self, extras)

        __init__.__pydantic_base_init__ = True

        @property
        def extras(self):
            return MappingProxyType(self.__pydantic_extra__)

        def __repr_args__(self):
            if self.__pydantic_extra__:
                yield None, self.__pydantic_extra__
            yield from ((name, self.__dict__[name]) for name in _present(self).values())

    def __getitem__(self, key: str) -> Any:
        """The member with the wire key `key`. Raises KeyError if it is absent."""
        name = _present(self).get(key)
        return self.extras[key] if name is None else self.__dict__[name]

    def __iter__(self) -> Iterator[str]:  # type: ignore[override]  # pyright: ignore[reportIncompatibleMethodOverride]
        yield from _present(self)
        yield from self.extras

    def __len__(self) -> int:
        return len(_present(self)) + len(self.extras)


# --- free-form data ---------------------------------------------------------------------------------------------------


class _Json:
    """Any JSON value, with finite numbers only."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        inner = core_schema.definition_reference_schema
        # Sorted by what is dear to refuse: pydantic copies what an arm refuses into an error.
        kinds: list[CoreSchema | tuple[CoreSchema, str]] = [
            core_schema.dict_schema(core_schema.str_schema(strict=True), inner(cls.__qualname__), strict=True),
            core_schema.str_schema(strict=True),
            core_schema.list_schema(inner(cls.__qualname__), strict=True),
            core_schema.int_schema(strict=True),
            core_schema.bool_schema(strict=True),
            core_schema.none_schema(),
            _float(core_schema.float_schema(allow_inf_nan=False, strict=True)),
        ]
        return core_schema.union_schema(kinds, mode="left_to_right", ref=cls.__qualname__, serialization=_BY_TYPE)


def _float(schema: CoreSchema) -> CoreSchema:
    """A float schema that takes nothing else: pydantic reads a Decimal as well."""
    is_float = core_schema.is_instance_schema(float)
    return core_schema.json_or_python_schema(schema, core_schema.chain_schema([is_float, schema]))


def _literal(schema: Any) -> CoreSchema:
    """A literal schema that asks for the type as well: pydantic reads true as 1."""
    kind = core_schema.bool_schema if isinstance(schema["expected"][0], bool) else core_schema.int_schema
    return core_schema.chain_schema([kind(strict=True), schema])


def _free_form(handler: GetCoreSchemaHandler) -> CoreSchema:
    schema: Any = handler.generate_schema(_Json)
    schema["serialization"] = _BY_TYPE
    return cast(CoreSchema, schema)


class FreeForm:
    """`Annotated[T, FreeForm()]`: `T` as records would have it for a member."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        schema = handler(source)
        _settle(schema, handler)
        return schema


def _settle(schema: Any, handler: GetCoreSchemaHandler) -> None:
    """Make the schema of a member, in place, say what pydantic leaves open.

    Any value is any JSON value. Arms of a union without `OneOf` differ in their JSON kind: the first that fits is it.
    """
    match schema["type"]:
        case "any":
            schema |= _free_form(handler)
        case "float":
            _replace(schema, _float(schema.copy()))
        case "literal" if not isinstance(schema["expected"][0], str):
            _replace(schema, _literal(schema.copy()))
        case "default":
            _settle(schema["schema"], handler)
        case "list" | "dict":
            inner = schema["items_schema" if schema["type"] == "list" else "values_schema"]
            _settle(inner, handler)
            if "serialization" in inner:
                schema["serialization"] = _BY_TYPE
        case "union":
            for choice in schema["choices"]:
                _settle(choice, handler)
            schema |= {"mode": "left_to_right", "serialization": _BY_TYPE}
        case "tagged-union":
            for choice in schema["choices"].values():
                _settle(choice, handler)
        case _:
            pass


def _replace(schema: dict[str, Any], other: CoreSchema) -> None:
    schema.clear()
    schema.update(other)


# --- unions -----------------------------------------------------------------------------------------------------------


class _OneOf(type):
    """The run-time type of a union: its values are those of its arms."""

    arms: Mapping[str, Any]
    by: str | Plan

    def __instancecheck__(cls, value: object) -> bool:
        return any(is_instance(value, arm) for arm in cls.arms.values())

    def __or__(cls, other: Any) -> Any:
        return Union[cls, other]

    __ror__ = __or__

    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        union = _Union(cls.arms, handler)
        plan = union.tagged_by(cls.by) if isinstance(cls.by, str) else cls.by
        return union.native(plan) or union.planned(plan)


class _Union:
    """The arms of a union, by label, and how to decide between them."""

    def __init__(self, arms: Mapping[str, Any], handler: GetCoreSchemaHandler) -> None:
        self.arms = arms
        self.schemas = {label: handler.generate_schema(arm) for label, arm in arms.items()}

    def planned(self, plan: Plan) -> CoreSchema:
        """Ask the plan, for which pydantic has to make a Python object of the JSON: always possible, and slow."""
        labels = {arm: label for label, arm in self.arms.items() if is_record(arm)}

        def choose(value: Any) -> str | None:
            if isinstance(value, dict):
                return plan(cast(Any, value))
            for cls in value.__class__.__mro__:
                if cls in labels:
                    return labels[cls]
            return plan(_wire_form(value))

        return core_schema.tagged_union_schema(self.schemas, choose, serialization=_BY_TYPE)

    # The rest makes pydantic decide by itself, on the JSON, where that comes to the same.

    def tagged_by(self, wire: str) -> ByTag:
        """The plan that goes by the values that the arms have for the member `wire`."""
        return ByTag(wire, {tag: label for label in self.arms for tag in self.tags(label, wire)})

    def native(self, plan: Leaf) -> CoreSchema | None:
        """The schema for a plan or a part of one; None if it takes the plan."""
        if isinstance(plan, str):
            return self.schemas[plan]
        if isinstance(plan, ByTag):
            return self.by_tag(plan) if plan.default is None else self.by_tag_or_default(plan)
        if isinstance(plan, ByKey):
            return self.by_key(plan)
        if isinstance(plan, ByKind) and not {"integer", "number"} <= plan.cases.keys():
            return _first_of([self.native(leaf) for leaf in plan.cases.values()])
        return None

    def by_tag(self, plan: ByTag) -> CoreSchema | None:
        choices = {tag: self.native(leaf) for tag, leaf in plan.cases.items()}
        if None in choices.values():
            return None
        # The tag is under its wire name in JSON, and under its attribute in a record that a constructor is given.
        attributes = {name for label in self.arms if (name := self.member(label, plan.member)[0])}
        paths: list[list[str | int]] = [[name] for name in (plan.member, *sorted(attributes - {plan.member}))]
        return core_schema.tagged_union_schema(cast("dict[Any, CoreSchema]", choices), paths)

    def by_tag_or_default(self, plan: ByTag) -> CoreSchema | None:
        """First the arms that need a tag, then the default if there is none of these tags."""
        own: dict[Leaf, set[str]] = {}
        for tag, leaf in plan.cases.items():
            if leaf != plan.default:
                own.setdefault(leaf, set()).add(tag)
        if not all(isinstance(leaf, str) and {*self.tags(leaf, plan.member)} == own[leaf] for leaf in own):
            return None
        others = frozenset(set[str]().union(*own.values()))
        return _first_of([*map(self.native, own), self.unless([(plan.member, others)], plan.default)])

    def by_key(self, plan: ByKey) -> CoreSchema | None:
        """In turn the arms that need a key, each if there is none of the keys before it, then the default."""
        choices: list[CoreSchema | None] = []
        earlier: list[_Guard] = []
        for path, leaf in plan.cases:
            if len(path) != 1 or not isinstance(leaf, str) or not self.member(leaf, path[0])[1]:
                return None
            choices.append(self.unless(earlier, leaf))
            earlier.append((path[0], None))
        return _first_of([*choices, self.unless(earlier, plan.default)] if plan.default else choices)

    def unless(self, guards: Sequence[_Guard], leaf: Leaf | None) -> CoreSchema | None:
        """The arm for records that have none of these members, or not with one of these values."""
        if not isinstance(leaf, str) or not is_record(self.arms[leaf]):
            return None
        if not guards:
            return self.schemas[leaf]
        guards = tuple(guards)

        def check(value: Message) -> Message:
            for wire, tags in guards:
                found = _get(value, wire)
                if found is not UNSET and (tags is None or found in tags):
                    raise ValueError("another arm's")
            return value

        return core_schema.no_info_after_validator_function(check, self.schemas[leaf])

    def tags(self, label: str, wire: str) -> tuple[Any, ...]:
        """The values that an arm has for the member `wire`, if it needs one of certain values."""
        attribute, required = self.member(label, wire)
        annotation = self.arms[label].__pydantic_fields__[attribute].annotation if required else None
        return get_args(annotation) if get_origin(annotation) is Literal else ()

    def member(self, label: str, wire: str) -> tuple[str, bool]:
        """The attribute of a member of an arm, and whether it is required; the empty string if there is none."""
        arm = self.arms[label]
        if not is_record(arm) or wire not in layout(arm):
            return "", False
        attribute, _ = layout(arm)[wire]
        return attribute, arm.__pydantic_fields__[attribute].is_required()


_Guard: TypeAlias = "tuple[str, frozenset[str] | None]"


def _first_of(choices: Sequence[CoreSchema | None]) -> CoreSchema | None:
    """The first schema that accepts a value."""
    if None in choices:
        return None
    return core_schema.union_schema(cast("list[Any]", choices), mode="left_to_right", serialization=_BY_TYPE)


def _get(value: Message, wire: str) -> Any:
    """The member of a record with the wire key `wire`, declared or not; UNSET if it is absent."""
    declared = layout(value.__class__).get(wire)
    if declared:
        attribute, absent = declared
        found = value.__dict__[attribute]
        return UNSET if found is absent else found
    return (value.__pydantic_extra__ or {}).get(wire, UNSET)


def _wire_form(value: Any) -> Any:
    """What plans need to know of what a constructor is given: a record, a list of them, or anything else."""
    if isinstance(value, Message):
        return value.model_dump(exclude_defaults=True)
    if isinstance(value, list):
        items: list[Any] = cast(Any, value)
        return [_wire_form(item) for item in items[:1]]
    return value


# --- opaque objects ---------------------------------------------------------------------------------------------------


class Declared:
    """The declared members of an object that otherwise passes through untouched: wire key -> type."""

    def __init__(self, required: Mapping[str, Any], optional: Mapping[str, Any]) -> None:
        self.required = required
        self.optional = optional

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        members = core_schema.dict_schema(core_schema.str_schema(), _free_form(handler))
        return core_schema.no_info_after_validator_function(self.check, members, serialization=_BY_TYPE)

    def check(self, value: dict[str, Any]) -> dict[str, Any]:
        """`value` itself if its declared members are what they should be. Raises ValueError otherwise."""
        if not (self._constants.items() <= value.items() and self._others.isdisjoint(value)):
            self._validate(value)
        return value

    # An object with the constants that it needs, and nothing else that is declared, needs no closer look.

    @cached_property
    def _constants(self) -> dict[str, object]:
        return {wire: get_args(type)[0] if _is_constant(type) else object() for wire, type in self.required.items()}

    @cached_property
    def _others(self) -> set[str]:
        return set(self.optional)

    @cached_property
    def _validate(self) -> Callable[[Any], object]:
        members = {wire: Required[type] for wire, type in self.required.items()}
        members |= {wire: NotRequired[type] for wire, type in self.optional.items()}
        declare: Any = TypedDict
        return TypeAdapter(with_config(CONFIG)(declare("Declared", members))).validator.validate_python


def _is_constant(type: Any) -> bool:
    return get_origin(type) is Literal and len(get_args(type)) == 1 and isinstance(get_args(type)[0], str)


# --- instances --------------------------------------------------------------------------------------------------------


def is_instance(value: object, type: Any) -> bool:
    """`isinstance` for everything that a member or an alias may be typed as."""
    origin = get_origin(type)
    if origin is None:
        if type is int or type is float:
            return isinstance(value, type) and not isinstance(value, bool)
        return type is Any or (value is None if type is None else isinstance(value, type))
    arguments = get_args(type)
    if origin is Union or origin is UnionType:
        return any(is_instance(value, arm) for arm in arguments)
    if origin is Annotated:
        return is_instance(value, arguments[0])
    if origin is Literal:
        return any(value == constant and value.__class__ is constant.__class__ for constant in arguments)
    if not isinstance(value, origin):
        return False
    if origin is list:
        items: list[Any] = cast(Any, value)
        return all(is_instance(item, arguments[0]) for item in items)
    if origin is dict:
        members: dict[str, Any] = cast(Any, value)
        return all(is_instance(item, arguments[1]) for item in members.values())
    return True
