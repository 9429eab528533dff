"""Reading and writing messages.

pydantic does the work, on JSON wherever there is JSON. What it refuses is decided by the reference decoder over the
definition table, which accepts what JSON Schema accepts (`2.0` as an integer) and otherwise says where and why a value
is wrong.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Annotated, Any, Final, TypeVar, cast, overload

from pydantic import TypeAdapter, ValidationError
from pydantic_core import SchemaSerializer, SchemaValidator, core_schema, from_json, to_json

from ..runtime.decoding import NOT_BUILT
from ..runtime.decoding import decode as decide
from ..runtime.definitions import Definitions, Record
from ..runtime.errors import DecodeError
from ..runtime.frames import Frame, classify, envelope
from ..runtime.frames import parse as parse_frame
from ..runtime.parsing import InvalidJSON, parse_json
from ..runtime.unset import UNSET
from .message import CONFIG, FreeForm, Message, construct, is_instance, is_record, replaced

T = TypeVar("T")
M = TypeVar("M", bound=Message)


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
        self._validators: dict[Any, SchemaValidator] = {}
        self._aliases: dict[int, str] = {}

    @overload
    def decode(self, type: type[T], value: object) -> T: ...

    @overload
    def decode(self, type: object, value: object) -> Any: ...

    def decode(self, type: Any, value: object) -> Any:
        """The typed value for a parsed JSON value. Raises DecodeError if it is not a `type`."""
        try:
            return self._validator(type).validate_python(value)
        except ValidationError as error:
            refusal = error
        try:
            _check_json(value)
        except _NOT_JSON as error:
            raise DecodeError(self._name(type), (), f"not a JSON value: {error}") from None
        return self._decide(type, value, refusal)

    @overload
    def decode_json(self, type: type[T], data: bytes | str) -> T: ...

    @overload
    def decode_json(self, type: object, data: bytes | str) -> Any: ...

    def decode_json(self, type: Any, data: bytes | str) -> Any:
        """The typed value for JSON. Raises DecodeError if it is not a `type`, or not JSON."""
        try:
            return self._validator(type).validate_json(data)
        except ValidationError as error:
            refusal = error
        try:
            value = parse_json(data if isinstance(data, str) else bytes(data))
        except InvalidJSON as error:
            raise DecodeError(self._name(type), (), str(error)) from None
        return self._decide(type, value, refusal)

    def encode(self, value: object) -> Any:
        """The JSON value for a typed one, shared with nobody. Raises ValueError for NaN and infinities."""
        return from_json(self.encode_json(value))

    def encode_json(self, value: Any) -> bytes:
        """JSON for a typed value. Raises ValueError for NaN and infinities, which JSON does not have."""
        try:
            write = value.__pydantic_serializer__.to_json
        except AttributeError:
            write = _write
        data: bytes = write(value, exclude_defaults=True)
        if _has_nan(data):
            raise ValueError("NaN and infinities are not JSON")
        return data

    def matches(self, type: object, value: object) -> bool:
        """Whether a typed value is one of `type`: a class, or any alias."""
        return is_instance(value, type)

    def replace(self, value: M, /, **changes: Any) -> M:
        """A copy of `value` with other members. `None` (or `UNSET`) takes an optional one out."""
        return replaced(value, changes)

    def frame(self, data: bytes | str) -> Frame:
        """What kind of message this is, its payload undecoded. Raises FrameError if it is none."""
        raw = data.encode() if isinstance(data, str) else data
        return (_sliced(raw) if len(raw) > _SHORT else None) or _parsed(raw)

    # --- where pydantic does not decide -------------------------------------------------------------------------------

    def _decide(self, type: Any, value: object, refusal: ValidationError) -> Any:
        """Let the reference decoder have the last word on a value that pydantic refused."""
        name = self._definition(type)
        if name is None:
            raise DecodeError(self._name(type), (), str(refusal)) from None
        return decide(self._definitions(), name, value, self._build, attempt=self._attempt)

    def _build(self, name: str, members: dict[str, Any], extras: dict[str, Any], raw: dict[str, Any]) -> object:
        return construct(self._class(name), members, extras)

    def _attempt(self, name: str, value: dict[str, Any]) -> object:
        try:
            return self._validator(self._class(name)).validate_python(value)
        except ValidationError:
            return NOT_BUILT

    def _validator(self, type: Any) -> SchemaValidator:
        validator = self._validators.get(type)
        if validator is None:
            if is_record(type):
                type.model_rebuild()
                validator = cast(SchemaValidator, type.__pydantic_validator__)
            else:
                validator = cast(
                    SchemaValidator, TypeAdapter(cast(Any, Annotated)[type, FreeForm()], config=CONFIG).validator
                )
            self._validators[type] = validator
        return validator

    # --- names --------------------------------------------------------------------------------------------------------

    def _class(self, definition: str) -> type[Message]:
        return cast("type[Message]", getattr(self._types, self._renamed.get(definition, definition)))

    def _definition(self, type: Any) -> str | None:
        """The definition that a class or an alias stands for."""
        if is_record(type):
            name = type.__definition__
            return name if getattr(self._types, self._renamed.get(name, name), None) is type else None
        if not self._aliases:  # by identity: two aliases of `str | int` are equal
            for name, definition in self._definitions().items():
                if not isinstance(definition, Record) or definition.kind == "opaque":
                    self._aliases.setdefault(id(self._class(name)), name)
        return self._aliases.get(id(type))

    def _name(self, type: Any) -> str:
        return self._definition(type) or getattr(type, "__name__", None) or repr(type)


# --- JSON --------------------------------------------------------------------------------------------------------------

_write: Final = SchemaSerializer(core_schema.any_schema(), CONFIG).to_json  # type: ignore[arg-type]

_free_form: Final = TypeAdapter[Any](Annotated[Any, FreeForm()]).validator

_NOT_JSON: Final = (TypeError, ValueError, RecursionError)
_LONG: Final = 1 << 15


def _has_nan(data: bytes) -> bool:
    """Whether there is a NaN or an infinity, which JSON does not have, and pydantic reads and writes."""
    if len(data) > _LONG and data.count(b'"', len(data) // 2, len(data) // 2 + 1000) < 10:
        suspect = True  # long strings are parsed faster than searched
    else:
        # Python finds single bytes fastest, and strings backwards.
        suspect = (73 in data and data.rfind(b"Infinity") >= 0) or (78 in data and data.rfind(b"NaN") >= 0)
    if suspect:
        try:
            from_json(data, allow_inf_nan=False)
        except ValueError:
            return True
    return False


def _check_json(value: object) -> None:
    """Raise one of `_NOT_JSON` for Python values that JSON does not have."""
    json.dumps(value, allow_nan=False)
    _free_form.validate_python(value)


# --- frames ------------------------------------------------------------------------------------------------------------

_SPACE: Final = rb"[ \t\n\r]*"
_MEMBER: Final = rb'"(?:jsonrpc|id|method)"%b:%b(?:"[^"\\]*"|-?[0-9]+)%b' % (_SPACE, _SPACE, _SPACE)
_HEAD: Final = re.compile(
    rb'%b\{%b((?:%b,%b)*)"(params|result|error)"%b:%b(?=\{)' % (_SPACE, _SPACE, _MEMBER, _SPACE, _SPACE, _SPACE)
).match
_TAIL: Final = re.compile(rb"(?<=\})%b((?:,%b%b)*)\}%b\Z" % (_SPACE, _SPACE, _MEMBER, _SPACE)).search
_LONGEST_TAIL: Final = 400
_SHORT: Final = 800

_skim: Final = SchemaValidator(core_schema.typed_dict_schema({}, extra_behavior="ignore")).validate_json
"""Reads a JSON object and makes nothing of it, which takes half the time."""


def _sliced(data: bytes) -> Frame | None:
    """The frame of a message whose envelope is plain: some of `jsonrpc`, `id`, `method` before and after the payload.

    If what is between is one JSON object, as it must prove to be, there is no other way to read the message.
    """
    head = _HEAD(data)
    if head is None:
        return None
    start = head.end()
    if data.endswith(b"}}"):
        end, rest = len(data) - 1, b""
    elif tail := _TAIL(data, max(start, len(data) - _LONGEST_TAIL)):
        end, rest = tail.start(), tail[1]
    else:
        return None
    payload = data[start:end]
    try:
        if _has_nan(payload):
            return None
        _skim(payload)
        members = from_json(b'{%b"":0%b}' % (head[1], rest))
    except ValueError:  # pydantic's ValidationError is one, too
        return None
    get, name = members.get, head[2]
    return envelope(
        get("jsonrpc", UNSET),
        get("id", UNSET),
        get("method", UNSET),
        payload if name == b"params" else UNSET,
        payload if name == b"result" else UNSET,
        payload if name == b"error" else UNSET,
    )


def _parsed(data: bytes) -> Frame:
    """The frame of any message: the faster way for short ones, and where the payload has to be found first."""
    try:
        message = from_json(data, allow_inf_nan=False)
    except ValueError:
        frame = parse_frame(data)
    else:
        frame = classify(message)
    if frame.payload is not None:
        frame.payload = to_json(frame.payload)
    return frame
