"""What the message classes of this style are made of: msgspec Structs with a few MCP manners.

The generated classes read like dataclasses. What they say means the same to type checkers and at run time, with two
differences that make them exact on the wire: `Opt[T]` and `OrUnset[T]` are plain `T` for the decoder (so that a null is
not taken for an absent member), and a default written as `filled(...)` is a default of the constructor only.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, ItemsView, Iterator, KeysView, Mapping, ValuesView
from contextvars import ContextVar
from functools import cache, cached_property
from operator import attrgetter
from types import UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Literal,
    NoReturn,
    Self,
    TypeAlias,
    TypeVar,
    Union,
    cast,
    dataclass_transform,
    get_args,
    get_origin,
    overload,
)

from msgspec import NODEFAULT, Struct, StructMeta, ValidationError, defstruct, field, to_builtins
from msgspec.json import Decoder, Encoder
from msgspec.structs import fields as struct_fields
from msgspec.structs import force_setattr
from msgspec.structs import replace as replace_members

from ..runtime.plans import ByKey, Plan
from ..runtime.unset import UNSET, UnsetType

__all__ = [
    "Declared",
    "Lone",
    "Merged",
    "Message",
    "MessageMeta",
    "OneOf",
    "OpenMap",
    "Opt",
    "OrMessage",
    "OrUnset",
    "check_declared",
    "check_finite",
    "construct",
    "filled",
    "is_instance",
    "layout",
    "member",
    "narrow_items",
    "narrow_member",
    "opened",
    "read_planned",
    "reader",
    "replaced",
    "required_tag",
    "write",
]

T = TypeVar("T")
M = TypeVar("M", bound="Message")

# How a Struct is made without asking the metaclass. Typed loosely: the arguments are checked where they come from.
_new: Callable[..., Any] = StructMeta.__call__


# --- the vocabulary of class bodies ---------------------------------------------------------------------------------

if TYPE_CHECKING:
    Opt: TypeAlias = T | None
    OrUnset: TypeAlias = T | UnsetType
    OrMessage: TypeAlias = Union[T, "Message"]
    Lone: TypeAlias = Annotated[T, "tagged"]
    from typing import Annotated as Merged
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
        """`OrMessage[dict[str, Any]]`: a plain object here, and a message in the records that derive from this one."""

        def __class_getitem__(cls, type):
            return type

    class Lone:
        """`Lone[T]`: a tagged record where there is no choice. msgspec alone would not ask for its tag there."""

        def __class_getitem__(cls, type):
            return required_tag(type)

    class OneOf:
        """`OneOf[A | B, plan]`: a union that is decided by `plan`, where msgspec has no way of its own to decide."""

        def __class_getitem__(cls, parameters):
            union, plan = parameters
            return _Planned(
                f"OneOf[{' | '.join(map(_name, get_args(union)))}]", (), {"arms": get_args(union), "plan": plan}
            )

    class Merged:
        """`Merged[A | B, plan]`: the same for records that one key tells apart and that are otherwise alike.

        Faster: they are read as one hidden record with the keys of all, which the record that has such a member then
        narrows (`narrow_member`, `narrow_items`).
        """

        def __class_getitem__(cls, parameters):
            union, plan = parameters
            return _merge(get_args(union), plan)


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


def member(wire: str, *, default: object = NODEFAULT, kw_only: bool = True) -> Any:
    """A member whose wire name is not the camelCase of its attribute."""
    if isinstance(default, _Filled):
        return _Filled(default.value, wire)
    return field(name=wire, default=default)


# --- records --------------------------------------------------------------------------------------------------------


def _camel(attribute: str) -> str:
    head, *tail = attribute.split("_")
    return head + "".join(part[:1].upper() + part[1:] for part in tail)


_CONFIG: Mapping[str, Any] = {
    "frozen": True,
    "kw_only": True,
    "omit_defaults": True,
    "repr_omit_defaults": True,
    "rename": _camel,  # not msgspec's own, which differs where digits or several underscores come in
    # Messages are trees: immutable, made from JSON or from what can be written as JSON. Without the cycle collector's
    # book-keeping, small ones decode 15 % faster and many of them do not set it off.
    "gc": False,
}


class MessageMeta(StructMeta):
    """Turns the class bodies of messages into Structs.

    `tag` names the member that tells this record apart in unions. It becomes msgspec's tag, which is no member of the
    Struct, and stays readable as an attribute of the class. `definition` is the schema's name if it is not the class's.
    """

    __definition__: str
    __fill__: Mapping[str, Any]
    """What constructors fill in, by attribute."""
    __tag__: str | None

    def __new__(
        mcls: type[Any],
        name: str,
        bases: tuple[type, ...],
        namespace: dict[str, Any],
        /,
        *,
        tag: str | None = None,
        definition: str | None = None,
        **config: Any,
    ) -> Any:
        annotations = namespace.get("__annotations__", {})
        fill: dict[str, Any] = {}
        for base in reversed(bases):
            fill |= getattr(base, "__fill__", {})
        for attribute in annotations:
            fill.pop(attribute, None)
        if tag is not None:
            del annotations[tag]
            default = namespace[tag]
            config |= {"tag_field": default.wire or _camel(tag), "tag": default.value}
            namespace["__tag__"] = tag
        for attribute, default in list(namespace.items()):
            if isinstance(default, _Filled):
                fill[attribute] = default.value
                if attribute == tag:
                    namespace[attribute] = default.value
                elif default.wire is None:
                    del namespace[attribute]
                else:
                    namespace[attribute] = field(name=default.wire)
        namespace["__fill__"] = fill
        namespace["__definition__"] = definition or name
        return StructMeta.__new__(mcls, name, bases, namespace, **{**_CONFIG, **config})

    # Type checkers know the constructors from the members.
    if not TYPE_CHECKING:

        def __call__(cls, /, *args, **members):
            _check_finite(cls, members)
            if cls.__fill__:
                members = _completed(cls, members)
            if issubclass(cls, OpenMap):
                if args:
                    members["extras"], *args = args
                if extras := members.pop("extras", None):
                    check_finite(extras)
                    return opened(_new(cls, *args, **members), extras)
            return _new(cls, *args, **members)


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(member,))
class Message(Struct, metaclass=MessageMeta, frozen=True, kw_only=True):
    """The base of all records: immutable, made from keywords, compared by value."""

    if TYPE_CHECKING:

        def __init_subclass__(cls, *, tag: str | None = None, definition: str | None = None, **config: Any) -> None: ...

    __tag__ = None

    def __replace__(self, /, **changes: Any) -> Self:
        return replaced(self, changes)


def _completed(cls: MessageMeta, members: dict[str, Any]) -> dict[str, Any]:
    """`members` with what `cls` fills in. A constant may be given, but only as what it is."""
    fill = cls.__fill__
    whole = {**fill, **members}
    if len(whole) < len(fill) + len(members):
        _check_constants(cls, members)
    if cls.__tag__ is not None:
        del whole[cls.__tag__]
    return whole


def _check_constants(cls: MessageMeta, members: Mapping[str, Any]) -> None:
    for attribute in _constants(cls) & members.keys():
        if members[attribute] != cls.__fill__[attribute]:
            raise TypeError(f"{cls.__name__}.{attribute} is always {cls.__fill__[attribute]!r}")


@cache
def _constants(cls: MessageMeta) -> frozenset[str]:
    """The attributes that have one possible value, which is filled in."""
    types = {info.name: info.type for info in struct_fields(cast("type[Struct]", cls))}
    single = {name for name, type in types.items() if get_origin(type) is Literal and len(get_args(type)) == 1}
    return frozenset({cls.__tag__} if cls.__tag__ else ()) | (single & cls.__fill__.keys())


def _check_finite(cls: MessageMeta, members: Mapping[str, Any]) -> None:
    for attribute in _free(cls):
        value = members.get(attribute)
        if value is not None and value is not UNSET:
            check_finite(value)


@cache
def _free(cls: MessageMeta) -> tuple[str, ...]:
    """The attributes whose values may have a float somewhere that no message of its own has checked."""
    return tuple(info.name for info in struct_fields(cast("type[Struct]", cls)) if _may_hold_float(info.type))


def _may_hold_float(type: Any) -> bool:
    return type is Any or type is float or any(map(_may_hold_float, get_args(type)))


def check_finite(value: object) -> None:
    """Raise ValueError if there is a NaN or an infinity in `value`, which JSON does not have.

    msgspec writes them as null. Looking for them whenever a message is written would double the cost of that, so
    messages are checked when they are made: decoders never make them.
    """
    if _find_null(write(value)):
        json.dumps(to_builtins(value), allow_nan=False)


write = Encoder().encode
_find_null = re.compile(b"null").search


def replaced(value: M, changes: dict[str, Any]) -> M:
    """A copy of `value` with other members. `None` (or `UNSET`) takes an optional one out."""
    cls = cast(MessageMeta, value.__class__)
    _check_finite(cls, changes)
    _check_constants(cls, changes)
    if cls.__tag__ is not None:
        changes.pop(cls.__tag__, None)
    if isinstance(value, OpenMap):
        extras = changes.pop("extras", value.extras)
        check_finite(extras)
        return cast(M, opened(replace_members(_declared_part(value), **changes), extras))
    return replace_members(value, **changes)


# --- open maps ------------------------------------------------------------------------------------------------------

if TYPE_CHECKING:
    _Mapping = Mapping[str, Any]
else:
    # Metaclasses do not mix: at run time an open map is registered as a mapping, and has its methods.
    class _Mapping:
        __slots__ = ()


class OpenMap(Message, _Mapping, forbid_unknown_fields=True):
    """The base of records that are mappings as well: declared members are attributes, and any other key is kept.

    As a mapping it goes by wire key and has every key that is present: `meta["com.example/trace"]`. Keys of one's own
    are given as a mapping: `RequestMetaObject({"com.example/trace": "7"}, protocol_version=…)`.
    """

    if TYPE_CHECKING:
        extras: Mapping[str, Any] = member("", default={}, kw_only=False)
        """The undeclared keys, as they are on the wire."""
    else:

        @property
        def extras(self):
            return {}

    def __getitem__(self, key: str) -> Any:
        """The member with the wire key `key`. Raises KeyError if it is absent."""
        attribute, default = layout(self.__class__)[key]
        value = getattr(self, attribute)
        if value is default:
            raise KeyError(key)
        return value

    def __iter__(self) -> Iterator[str]:
        for wire, (attribute, default) in layout(self.__class__).items():
            if getattr(self, attribute) is not default:
                yield wire

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __contains__(self, key: object) -> bool:
        return any(key == present for present in self)

    def get(self, key: str, default: Any = None) -> Any:
        """The member with the wire key `key`, or `default`."""
        return self[key] if key in self else default

    def keys(self) -> KeysView[str]:
        """The wire keys that are present."""
        return KeysView(cast("Mapping[str, Any]", self))

    def items(self) -> ItemsView[str, Any]:
        """Wire keys and values."""
        return ItemsView(cast("Mapping[str, Any]", self))

    def values(self) -> ValuesView[Any]:
        """The values of the keys that are present."""
        return ValuesView(cast("Mapping[str, Any]", self))


cast(Any, Mapping).register(OpenMap)

_REQUIRED = object()


@cache
def layout(cls: type[Message]) -> Mapping[str, tuple[str, object]]:
    """The members of a record: wire key -> attribute, and the value that means absent."""
    attributes = cls.__struct_fields__
    known = cls.__struct_defaults__
    defaults = (*(_REQUIRED,) * (len(attributes) - len(known)), *known)
    return dict(zip(cls.__struct_encode_fields__, zip(attributes, defaults, strict=True), strict=True))


class _Opened(dict[str, Any]):
    """An open map that has extra keys.

    It holds what is written, by wire key, so that msgspec writes it like any dict; and it stands in for the record with
    its declared members: same class to `isinstance` and `match`, same attributes, frozen alike.
    """

    __slots__ = ("_declared",)

    _declared: OpenMap

    def __init__(self, declared: OpenMap, extras: Mapping[str, Any]) -> None:
        members = (
            (wire, getattr(declared, attribute), default)
            for wire, (attribute, default) in layout(type(declared)).items()
        )
        super().__init__((wire, value) for wire, value, default in members if value is not default)
        super().update(extras)
        object.__setattr__(self, "_declared", declared)

    if not TYPE_CHECKING:

        @property
        def __class__(self):
            return type(self._declared)

    @property
    def extras(self) -> Mapping[str, Any]:
        declared = layout(type(self._declared))
        return {key: value for key, value in self.items() if key not in declared}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._declared, name)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"immutable type: '{type(self._declared).__name__}'")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"immutable type: '{type(self._declared).__name__}'")

    def _immutable(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise TypeError(f"'{type(self._declared).__name__}' is immutable")

    if not TYPE_CHECKING:
        __setitem__ = __delitem__ = __ior__ = _immutable
        clear = pop = popitem = setdefault = update = _immutable

        def __hash__(self):
            return hash((self._declared, frozenset(self.extras.items())))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Opened) and self.__class__ is other.__class__ and super().__eq__(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __repr__(self) -> str:
        name, _, members = repr(self._declared).partition("(")
        return f"{name}({self.extras!r}{', ' if members != ')' else ''}{members}"

    def __reduce_ex__(self, protocol: object) -> tuple[Any, ...]:
        return opened, (self._declared, self.extras)

    def __copy__(self) -> _Opened:
        return self

    def __replace__(self, /, **changes: Any) -> Any:
        return replaced(cast(OpenMap, self), changes)


def opened(declared: OpenMap, extras: Mapping[str, Any]) -> Any:
    """The open map with these declared members and extra keys."""
    if not extras:
        return declared
    for key in extras:
        if key in layout(type(declared)):
            raise TypeError(f"{key!r} is a declared member of {type(declared).__name__}: give it as a keyword")
    return _stand_in(type(declared))(declared, extras)


@cache
def _stand_in(cls: type[OpenMap]) -> type[_Opened]:
    """`_Opened`, or a class of it in which members come before methods of dict that have their name."""
    hidden = {name: property(attrgetter(f"_declared.{name}")) for name in cls.__struct_fields__ if hasattr(dict, name)}
    return type("_Opened", (_Opened,), {"__slots__": (), **hidden}) if hidden else _Opened


def _declared_part(value: OpenMap) -> OpenMap:
    return cast(OpenMap, cast(Any, value)._declared if isinstance(value, _Opened) else value)


# --- unions ---------------------------------------------------------------------------------------------------------


@cache
def _untagged(tag_field: str) -> type[Struct]:
    def refuse(self: Struct) -> NoReturn:
        raise ValueError("not a tag")

    namespace: dict[str, Any] = {"__post_init__": refuse, "__module__": __name__}
    return cast("type[Struct]", StructMeta("Untagged", (Struct,), namespace, tag_field=tag_field, tag="\0"))


def required_tag(type: Any) -> Any:
    """`type` for a decoder that stands alone.

    msgspec asks for a record's tag in unions only, so this makes one, with a record that nothing decodes to.
    """
    tag = type.__struct_config__.tag_field if isinstance(type, StructMeta) else None
    return type if tag is None else type | _untagged(tag)


class _Planned(type):
    """The run-time type of a planned union: its values are those of its arms, and `read_planned` makes them."""

    arms: tuple[Any, ...]
    plan: Plan

    def __instancecheck__(cls, value: object) -> bool:
        return value.__class__ in cls.arms or any(is_instance(value, arm) for arm in cls.arms)

    def __or__(cls, other: Any) -> Any:
        return Union[cls, other]

    __ror__ = __or__


def read_planned(type: Any, value: Any) -> Any:
    """The decode hook of planned unions: let the plan pick the arm for a wire value, and convert to that."""
    label = type.plan(value)
    read = _readers(type).get(label) if label else None
    if read is None:
        raise ValueError("no arm of the union fits")
    return read(write(value))  # faster than msgspec.convert, which looks at the type anew each time


@cache
def _readers(type: _Planned) -> Mapping[str, Callable[[bytes], Any]]:
    """Label -> how to read that arm. One that needs more than msgspec (an opaque one) is left to the slow path."""
    arms: dict[str, Any] = {}
    for arm in type.arms:
        origin = get_origin(arm) or arm
        if isinstance(origin, StructMeta):
            arms[cast(Any, origin).__definition__] = origin
        elif origin is list:
            arms[f"array{sum(label.startswith('array') for label in arms) + 1}" if "array" in arms else "array"] = arm
        elif origin in _KINDS:
            arms[_KINDS[origin]] = arm
        elif origin is Literal:
            arms[_KINDS[get_args(arm)[0].__class__]] = arm
    if "number" in arms:
        arms["number"] = Union[tuple(arm for arm in type.arms if (get_origin(arm) or arm) in (int, float))]
    return {label: reader(arm) for label, arm in arms.items()}


def reader(type: Any) -> Callable[[Any], Any]:
    """msgspec's decoder for a type."""
    return Decoder(required_tag(type), dec_hook=read_planned).decode


_KINDS: dict[Any, str] = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    type(None): "null",
    dict: "object",
}


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
    if origin is list:
        return isinstance(value, list) and all(is_instance(item, arguments[0]) for item in cast("list[object]", value))
    if origin is dict:
        return (
            isinstance(value, dict)
            and not isinstance(value, Message)
            and all(is_instance(item, arguments[1]) for item in cast("dict[str, Any]", value).values())
        )
    return isinstance(value, origin)


def _name(type: Any) -> str:
    return getattr(type, "__name__", None) or repr(type)


# --- merged records -------------------------------------------------------------------------------------------------

_merged: dict[tuple[type[Message], ...], type[Message]] = {}
_narrow: dict[type, Callable[[list[Any]], None]] = {}
"""Hidden record -> the function that turns those in a list into the records they stand for."""


def _merge(arms: tuple[type[Message], ...], plan: ByKey) -> type[Message]:
    """The hidden record for `arms`: what they have in common by inheritance, and the key of each, optional."""
    if arms not in _merged:
        common = cast("type[Message]", arms[0].__base__)
        namespace: dict[str, Any] = {"__annotations__": {}, "__module__": arms[0].__module__}
        keys: dict[str, str] = {}
        for arm in arms:
            (attribute,) = set(arm.__struct_fields__) - set(common.__struct_fields__)
            wire = next(wire for wire, (name, _) in layout(arm).items() if name == attribute)
            namespace["__annotations__"][attribute] = arm.__annotations__[attribute]
            namespace[attribute] = member(wire, default=_REQUIRED)
            keys[arm.__definition__] = attribute
        order = [*(label for _, label in plan.cases), plan.default]
        ranked = sorted(arms, key=lambda arm: order.index(arm.__definition__))
        merged = MessageMeta(" | ".join(keys), (common,), namespace)
        _narrow[merged] = _narrower([(arm, keys[arm.__definition__]) for arm in ranked])
        _merged[arms] = merged
    return _merged[arms]


def _narrower(cases: list[tuple[type[Message], str]]) -> Callable[[list[Any]], None]:
    """The function that narrows the merged records in a list.

    Compiled, as namedtuple does it: written out, it takes a third of the time of a loop over the members, and this runs
    for every content of every resource.
    """
    scope: dict[str, Any] = {"replace": replace_members, "absent": _REQUIRED}
    lines = ["def narrow(items):", "    for index, value in enumerate(items):"]
    for number, (arm, key) in enumerate(cases):
        scope[f"blank{number}"] = _new(arm, **dict.fromkeys(arm.__struct_fields__))
        members = ", ".join(f"{name}=value.{name}" for name in arm.__struct_fields__)
        lines.append(f"        {'elif' if number else 'if'} value.{key} is not absent:")
        lines.append(f"            items[index] = replace(blank{number}, {members})")
    lines += ["        else:", "            raise ValueError('no arm of the union fits')"]
    exec("\n".join(lines), scope)
    return cast("Callable[[list[Any]], None]", scope["narrow"])


def narrow_items(items: list[Any] | None) -> None:
    """Narrow what a decoder just put into a list; leave what a caller put there."""
    if items and (narrow := _narrow.get(items[0].__class__)):
        narrow(items)


def narrow_member(owner: Message, attribute: str) -> None:
    """Narrow what a decoder just put into a member; leave what a caller put there."""
    value: Any = getattr(owner, attribute)
    if narrow := _narrow.get(value.__class__):
        box = [value]
        narrow(box)
        force_setattr(owner, attribute, box[0])


# --- opaque objects -------------------------------------------------------------------------------------------------

_trusting: ContextVar[bool] = ContextVar("trusting", default=False)


class Declared:
    """The declared members of an object that otherwise passes through untouched: wire key -> type."""

    def __init__(self, required: Mapping[str, Any], optional: Mapping[str, Any]) -> None:
        self.required = required
        self.optional = optional

    @cached_property
    def check(self) -> Callable[[bytes], Any]:
        """Refuses JSON in which they are not what they should be."""
        members: list[tuple[str, Any, Any]] = [(wire, type, NODEFAULT) for wire, type in self.required.items()]
        members += [(wire, type, UNSET) for wire, type in self.optional.items()]
        wires = {f"member{number}": wire for number, (wire, _, _) in enumerate(members)}
        fields = [(name, type, field(default=default)) for name, (_, type, default) in zip(wires, members, strict=True)]
        return reader(defstruct("Declared", fields, rename=wires, kw_only=True))


def check_declared(type: Any, value: Any) -> None:
    """Raise ValueError unless the declared members of an opaque object are what `type` says."""
    if not _trusting.get():
        try:
            type.__metadata__[0].check(write(value))
        except ValidationError as error:
            raise ValueError(str(error)) from None


def construct(cls: type[Message], members: dict[str, Any], extras: Mapping[str, Any]) -> Any:
    """A record from members, by attribute, that have been checked already, by someone who knows more than msgspec."""
    if not hasattr(cls, "__post_init__"):
        built = _new(cls, **members)
    else:
        token = _trusting.set(True)
        try:
            built = _new(cls, **members)
        finally:
            _trusting.reset(token)
    return opened(built, extras) if extras and issubclass(cls, OpenMap) else built
