"""A second opinion: datamodel-code-generator reads the same corrected schema, and must see what our model sees."""

from __future__ import annotations

import enum
import json
import sys
import types
import typing
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, cast

from . import ir, unions
from .overlay import Overlay
from .source import Schema


@dataclass(frozen=True)
class Disagreement:
    """One thing that the two readings see differently; `member` is empty for the definition itself."""

    definition: str
    member: str
    ours: str
    theirs: str

    @property
    def place(self) -> str:
        return f"{self.definition}.{self.member}" if self.member else self.definition

    def __str__(self) -> str:
        return f"{self.place}: here {self.ours}, there {self.theirs}"


def compare(protocol: ir.Protocol, schema: Schema) -> tuple[Disagreement, ...]:
    """Every disagreement on definitions, wire names, requiredness and enum values."""
    module = _second_reading(schema)
    definitions = (d for d in protocol.declarations.values() if not d.owner)
    return tuple(found for definition in definitions for found in _compare(protocol, definition, module))


def unexpected(disagreements: tuple[Disagreement, ...], overlay: Overlay) -> tuple[Disagreement, ...]:
    """Those that the overlay does not list. Raises BindgenError for a listed one that is gone."""
    places = {d.place for d in disagreements}
    for place in overlay.disagreements:
        if place not in places:
            raise overlay.stale("disagreements", place, "the two readings agree")
    return tuple(d for d in disagreements if d.place not in overlay.disagreements)


def _second_reading(schema: Schema) -> types.ModuleType:
    """The other tool's models, imported from its output."""
    from datamodel_code_generator import InputFileType, PythonVersion, generate  # heavy: only here
    from datamodel_code_generator.enums import DataModelType

    text = generate(
        json.dumps(schema.corrected),
        input_file_type=InputFileType.JsonSchema,
        output_model_type=DataModelType.PydanticV2BaseModel,
        target_python_version=PythonVersion.PY_311,
        formatters=[],
    )
    module = types.ModuleType(f"second_reading_{schema.revision.replace('-', '_')}")
    sys.modules[module.__name__] = module  # forward references resolve through it
    try:
        exec(compile(str(text), module.__name__, "exec"), module.__dict__)  # the tool's own output
    finally:
        del sys.modules[module.__name__]
    return module


def _compare(protocol: ir.Protocol, declaration: ir.Declaration, module: types.ModuleType) -> Iterator[Disagreement]:
    name = declaration.name
    model = getattr(module, name, None)
    if model is None:
        yield Disagreement(name, "", "defined", "missing")
        return
    if isinstance(declaration, ir.Alias):
        values = _enum_values(protocol, declaration.type)
        if values and (other := _values(model)) != values:
            yield Disagreement(name, "", f"values {sorted(values)}", f"values {sorted(other)}")
        return
    declared: dict[str, Any] = model.model_fields
    theirs = {str(info.alias or attribute): info for attribute, info in declared.items()}
    for field in declaration.fields:
        info = theirs.pop(field.wire, None)
        if info is None:
            yield Disagreement(name, field.wire, "declared", "missing")
            continue
        if info.is_required() != field.required:
            words = ("optional", "required")
            yield Disagreement(name, field.wire, words[field.required], words[bool(info.is_required())])
        values = _enum_values(protocol, field.type)
        if values and (other := _values(info.annotation)) != values:
            yield Disagreement(name, field.wire, f"values {sorted(values)}", f"values {sorted(other)}")
    for wire in theirs:
        yield Disagreement(name, wire, "missing", "declared")


def _enum_values(protocol: ir.Protocol, type: ir.Type) -> frozenset[str]:
    match unions.resolve(type, protocol.declarations.__getitem__):
        case ir.Enum(values=values, open=False):
            return frozenset(values)
        case ir.Const(value=str(value)):
            return frozenset({value})
        case _:
            return frozenset()


def _values(annotation: object) -> frozenset[str]:
    """The string values of an enum class, a Literal, or a root model or optional around one."""
    if isinstance(annotation, enum.EnumType):
        return frozenset(str(member.value) for member in cast("Iterable[enum.Enum]", annotation))
    if isinstance(annotation, type):
        root: Any = getattr(annotation, "model_fields", {}).get("root")
        return _values(root.annotation) if root else frozenset()
    if typing.get_origin(annotation) is typing.Literal:
        return frozenset(typing.get_args(annotation))
    inside: tuple[object, ...] = typing.get_args(annotation)
    return frozenset(value for inner in inside for value in _values(inner))
