"""Reading and writing messages.

msgspec does the work. What it refuses is decided by the reference decoder over the definition table, which accepts what
JSON Schema accepts (`2.0` as an integer, extra keys in open maps) and otherwise says where and why a value is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Annotated, Any, Final, Literal, Protocol, TypeVar, cast, get_args, get_origin, overload

from msgspec import DecodeError as Refused
from msgspec import Raw, Struct
from msgspec.json import Decoder

from ..runtime.decoding import NOT_BUILT
from ..runtime.decoding import decode as decide
from ..runtime.definitions import Definitions, Record
from ..runtime.errors import DecodeError
from ..runtime.frames import Frame, envelope
from ..runtime.frames import parse as parse_frame
from ..runtime.parsing import InvalidJSON, parse_json
from ..runtime.unset import UNSET
from .message import (
    Declared,
    Message,
    MessageMeta,
    OpenMap,
    Opt,
    OrUnset,
    check_finite,
    construct,
    is_instance,
    layout,
    reader,
    replaced,
    write,
)
from .repair import mend

T = TypeVar("T")
M = TypeVar("M", bound=Message)
K = TypeVar("K")
V = TypeVar("V")

_REFUSED: Final = (Refused, RecursionError, UnicodeError)


class DecodeJSON(Protocol):
    """The typed value for JSON. Raises DecodeError if it is not a `type`, or not JSON."""

    @overload
    def __call__(self, type: type[T], data: bytes | str) -> T: ...

    @overload
    def __call__(self, type: object, data: bytes | str) -> Any: ...


class Codec:
    """Reads and writes the messages of one revision.

    `types` holds the generated types, `definitions` loads their table (only where it is needed), and `renamed` says
    which definitions have another name in Python.
    """

    def __init__(
        self,
        revision: str,
        types: ModuleType,
        definitions: Callable[[], Definitions],
        renamed: Mapping[str, str] | None = None,
    ) -> None:
        self.revision: Final = revision
        self._types = types
        self._definitions = definitions
        self._renamed = renamed or {}
        self._readers: dict[Any, Callable[[Any], Any]] = {}
        self.decode_json: Final[DecodeJSON] = self._json_decoder()
        self._classes = _Cache(self._class)
        self._aliases: list[tuple[object, str]] = []

    @overload
    def decode(self, type: type[T], value: object) -> T: ...

    @overload
    def decode(self, type: object, value: object) -> Any: ...

    def decode(self, type: Any, value: object) -> Any:
        """The typed value for a parsed JSON value. Raises DecodeError if it is not a `type`."""
        data = self._json_of(type, value)
        try:
            return self._reader(type)(data)
        except _REFUSED as error:
            return self._settle(type, data, error)

    def encode(self, value: object) -> Any:
        """The JSON value for a typed one, shared with nobody. Raises ValueError for NaN and infinities."""
        return _parse(self.encode_json(value))

    def encode_json(self, value: object) -> bytes:
        """JSON for a typed value. Raises ValueError for NaN and infinities, which JSON does not have."""
        if not isinstance(value, Message):  # those were checked when they were made
            check_finite(value)
        return write(value)

    def matches(self, type: object, value: object) -> bool:
        """Whether a typed value is one of `type`: a class, or any alias."""
        return is_instance(value, type)

    def replace(self, value: M, /, **changes: Any) -> M:
        """A copy of `value` with other members. `None` (or `UNSET`) takes an optional one out."""
        return replaced(value, changes)

    def frame(self, data: bytes | str) -> Frame:
        """What kind of message this is, its payload undecoded. Raises FrameError if it is none."""
        try:
            if not data.isascii():
                _check_text(data)
            found = _read_message(data)
        except _REFUSED:
            return _frame(data)
        # What is plain to see; the rest is for the one place where envelopes are checked.
        id, method = found.id, found.method
        if method is not None and found.result is None and found.error is None:
            if found.params is None:
                return Frame("notification" if id is None else "request", id, method, None)
            payload = bytes(found.params)
            if payload[0] == _BRACE:
                return Frame("notification" if id is None else "request", id, method, payload)
        elif method is None and id is not None and found.result is not None and found.error is None:
            payload = bytes(found.result)
            if payload[0] == _BRACE:
                return Frame("result", id, None, payload)
        return _frame(data)

    # --- where msgspec decides ---------------------------------------------------------------------------------------

    def _json_decoder(self) -> DecodeJSON:
        # A closure over a plain dict rather than a method: for a small message the difference is a tenth of its time.
        readers = self._readers

        def decode_json(type: Any, data: Any) -> Any:
            try:
                if not data.isascii():
                    _check_text(data)
                return readers[type](data)
            except _REFUSED as error:
                return self._settle(type, data, error)
            except KeyError:
                self._reader(type)
                return decode_json(type, data)

        decode_json.__doc__ = DecodeJSON.__doc__
        return decode_json

    def _reader(self, type: Any) -> Callable[[Any], Any]:
        if type not in self._readers:
            self._readers[type] = _refuse if _has_opaque(type) else reader(type)
        return self._readers[type]

    # --- where msgspec does not decide -------------------------------------------------------------------------------

    def _settle(self, type: Any, data: bytes | str, error: Exception) -> Any:
        """What `data` is after all, when msgspec has refused it."""
        built = mend(type, self._parse(type, data), error)
        return self._decide(type, self._parse(type, data), error) if built is NOT_BUILT else built

    def _decide(self, type: Any, value: object, error: Exception) -> Any:
        """Let the reference decoder have the last word on a value that msgspec refused."""
        name = self._definition(type)
        if name is None:
            raise DecodeError(self._name(type), (), str(error)) from None
        return decide(self._definitions(), name, value, self._build, attempt=self._attempt)

    def _json_of(self, type: Any, value: object) -> bytes:
        """JSON for a parsed value, if that is what it is: msgspec would write bytes, dates or NaN as something else."""
        try:
            data = write(value)
            if _parse(data) == value:
                return data
            reason = "it has values that JSON does not have"
        except (TypeError, ValueError, RecursionError, *_REFUSED) as error:
            reason = str(error)
        problem = DecodeError(self._name(type), (), f"not a JSON value: {reason}")
        self._decide(type, value, problem)  # knows more if the schema says what should be there
        raise problem

    def _parse(self, type: Any, data: bytes | str) -> object:
        try:
            return _parse(data)
        except _REFUSED:
            try:
                return parse_json(data if isinstance(data, str) else bytes(data))
            except InvalidJSON as error:
                raise DecodeError(self._name(type), (), str(error)) from None

    def _build(self, name: str, members: dict[str, Any], extras: dict[str, Any], raw: dict[str, Any]) -> object:
        cls = self._classes[name]
        attributes = layout(cls)
        return construct(cls, {attributes[wire][0]: members[wire] for wire in members if wire in attributes}, extras)

    def _attempt(self, name: str, value: dict[str, Any]) -> object:
        cls = self._classes[name]
        if issubclass(cls, OpenMap) and not value.keys() <= layout(cls).keys():
            return NOT_BUILT
        try:
            return self._reader(cls)(write(value))
        except _REFUSED:
            return NOT_BUILT

    # --- names -------------------------------------------------------------------------------------------------------

    def _class(self, definition: str) -> type[Message]:
        return cast("type[Message]", getattr(self._types, self._renamed.get(definition, definition)))

    def _definition(self, type: Any) -> str | None:
        """The definition that a class or an alias stands for."""
        if isinstance(type, MessageMeta):
            name = type.__definition__
            return name if getattr(self._types, self._renamed.get(name, name), None) is type else None
        if not self._aliases:
            table = self._definitions().items()
            names = (name for name, known in table if not isinstance(known, Record) or known.kind == "opaque")
            self._aliases = [(self._class(name), name) for name in names]
        same = (name for alias, name in self._aliases if alias is type)
        equal = (name for alias, name in self._aliases if alias == type)
        return next(same, None) or next(equal, None)

    def _name(self, type: Any) -> str:
        return self._definition(type) or getattr(type, "__name__", None) or repr(type)


class _Cache(dict[K, V]):
    """Values made when they are first asked for."""

    def __init__(self, make: Callable[[K], V]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, key: K) -> V:
        value = self[key] = self._make(key)
        return value


def _has_opaque(type: Any) -> bool:
    """Whether an alias has an opaque object in it, which msgspec would not check. (Records check theirs themselves.)"""
    if get_origin(type) is Annotated and isinstance(type.__metadata__[0], Declared):
        return True
    return any(_has_opaque(argument) for argument in get_args(type))


def _refuse(value: object) -> Any:
    raise Refused("left to the reference decoder")


# --- JSON -----------------------------------------------------------------------------------------------------------

_parse: Final = Decoder().decode


def _check_text(data: bytes | str) -> None:
    """Raise UnicodeError unless `data` is Unicode: msgspec does not look at the strings that it skips."""
    if isinstance(data, str):
        data.encode()
    else:
        data.decode()


class _Message(Struct, gc=False):
    """A message whose members are what they should be. (Null is nowhere right, but in some errors.)"""

    jsonrpc: Literal["2.0"]
    id: Opt[str | int] = None
    method: Opt[str] = None
    params: Opt[Raw] = None
    result: Opt[Raw] = None
    error: Opt[Raw] = None


class _Envelope(Struct, gc=False):
    """Any object, as far as messages have such members."""

    jsonrpc: Any = UNSET
    id: Any = UNSET
    method: Any = UNSET
    params: OrUnset[Raw] = UNSET
    result: OrUnset[Raw] = UNSET
    error: OrUnset[Raw] = UNSET


_read_message: Final = Decoder(_Message).decode
_read_envelope: Final = Decoder(_Envelope).decode
_BRACE: Final = ord("{")


def _frame(data: bytes | str) -> Frame:
    try:
        _check_text(data)
        found = _read_envelope(data)
    except _REFUSED:
        return parse_frame(data)
    frame = envelope(found.jsonrpc, found.id, found.method, found.params, found.result, found.error)
    if frame.payload is not None:
        frame.payload = bytes(frame.payload)
    return frame
