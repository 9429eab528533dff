"""Reading and writing messages.

pydantic does the work, on JSON wherever there is JSON. What it refuses is decided by the reference decoder over the
definition table, which accepts what JSON Schema accepts (`2.0` as an integer) and otherwise says where and why a value
is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeVar, cast, overload

from pydantic_core import SchemaSerializer, SchemaValidator, ValidationError, core_schema, from_json

from .finite import has_nan
from .message import CONFIG, FreeForm, Message, construct, is_instance, is_record, replaced

# What only the slow path needs is imported there: many processes never come by.
if TYPE_CHECKING:
    from pydantic import TypeAdapter

    from ..runtime.definitions import Definitions
    from ..runtime.frames import Frame

_SHORT: Final = 1000

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
        problem = _not_json(value)
        if problem:
            raise self._error(type, f"not a JSON value: {problem}")
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
        from ..runtime.parsing import InvalidJSON, parse_json

        try:
            value = parse_json(data if isinstance(data, str) else bytes(data))
        except InvalidJSON as error:
            raise self._error(type, str(error)) from None
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
        if (len(data) > _SHORT or 78 in data or data.rfind(b"Infinity") >= 0) and has_nan(data):
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
        return _framing()(data)

    # --- where pydantic does not decide -------------------------------------------------------------------------------

    def _decide(self, type: Any, value: object, refusal: ValidationError) -> Any:
        """Let the reference decoder have the last word on a value that pydantic refused."""
        from ..runtime.decoding import decode as decide

        name = self._definition(type)
        if name is None:
            raise self._error(type, str(refusal)) from None
        return decide(self._definitions(), name, value, self._build, attempt=self._attempt)

    def _build(self, name: str, members: dict[str, Any], extras: dict[str, Any], raw: dict[str, Any]) -> object:
        return construct(self._class(name), members, extras)

    def _attempt(self, name: str, value: dict[str, Any]) -> object:
        from ..runtime.decoding import NOT_BUILT

        try:
            return self._validator(self._class(name)).validate_python(value)
        except ValidationError:
            return NOT_BUILT

    def _error(self, type: Any, reason: str) -> Exception:
        from ..runtime.errors import DecodeError

        return DecodeError(self._definition(type) or getattr(type, "__name__", None) or repr(type), (), reason)

    def _validator(self, type: Any) -> SchemaValidator:
        validator = self._validators.get(type)
        if validator is None:
            if is_record(type):
                type.model_rebuild()
                validator = cast(SchemaValidator, type.__pydantic_validator__)
            else:
                validator = cast(SchemaValidator, _adapter(type).validator)
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
                if getattr(definition, "kind", "opaque") == "opaque":
                    self._aliases.setdefault(id(self._class(name)), name)
        return self._aliases.get(id(type))


# --- JSON -------------------------------------------------------------------------------------------------------------

_write: Final = SchemaSerializer(core_schema.any_schema(), CONFIG).to_json  # type: ignore[arg-type]


def _not_json(value: object) -> str:
    """What is wrong with a Python value that JSON does not have; nothing if it does."""
    from json import dumps

    try:
        dumps(value, allow_nan=False)
        _adapter(Any).validator.validate_python(value)
    except (TypeError, ValueError, RecursionError) as error:
        return str(error)
    return ""


def _adapter(type: Any) -> TypeAdapter[Any]:
    """How pydantic reads an alias."""
    from pydantic import TypeAdapter

    return TypeAdapter(cast(Any, Annotated)[type, FreeForm()], config=CONFIG)


@cache
def _framing() -> Callable[[bytes | str], Frame]:
    from .framing import frame

    return frame
