"""The one authority for Python names: classes, attributes, modules. Wire names never come from here."""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from . import ir

# What a class body or a mapping base of any built-in style needs for itself; an attribute gets a trailing underscore.
_RESERVED_ATTRIBUTES = frozenset(
    {
        *("bool", "bytes", "dict", "float", "int", "list", "object", "str", "tuple"),
        *("filled", "member", "self", "cls"),
        *("extras", "get", "items", "keys", "values"),
        *("construct", "copy", "dict", "from_orm", "json", "parse_file", "parse_obj", "parse_raw"),
        *("schema", "schema_json", "update_forward_refs", "validate"),
    }
)
_QUALIFIED = re.compile(r"^[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+/(?=.)")


def snake(text: str) -> str:
    """`CallTool` -> `call_tool`, `inputSchema` -> `input_schema`, `JSONRPCError` -> `jsonrpc_error`."""
    text = re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1_\2", text)
    return re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", text).lower()


def camel(attribute: str) -> str:
    """The wire name that a style assumes for an attribute: `input_schema` -> `inputSchema`."""
    head, *tail = attribute.split("_")
    return head + "".join(part[:1].upper() + part[1:] for part in tail)


def module(revision: str) -> str:
    """`2026-07-28` -> `v2026_07_28`."""
    return identifier(f"v{revision}")


def identifier(text: str) -> str:
    """`text` with every other character than letters, digits and `_` replaced, never empty, never a keyword."""
    name = re.sub(r"\W+", "_", text, flags=re.ASCII).strip("_") or "empty"
    if name[0].isdigit():
        name = f"n{name}"
    return f"{name}_" if keyword.iskeyword(name) else name


def class_name(definition: str) -> str:
    """The Python name of a definition: its own, unless Python cannot say it or a builtin would be hidden."""
    if definition.isidentifier() and not keyword.iskeyword(definition):
        return f"{definition}_" if definition in _LOWER_BUILTINS else definition
    return identifier(definition)


_LOWER_BUILTINS = frozenset(name for name in dir(builtins) if name[0].islower())


def attribute(wire: str) -> str:
    """The attribute for a wire member, before collisions: `_meta` -> `meta`, `io.x/logLevel` -> `log_level`."""
    name = identifier(snake(_QUALIFIED.sub("", wire)))
    if name in _RESERVED_ATTRIBUTES or name.startswith("model_"):
        return f"{name}_"
    return name


@dataclass(frozen=True)
class Names:
    """Python names of one protocol revision."""

    classes: Mapping[str, str]
    attributes: Mapping[str, Mapping[str, str]]

    def of(self, declaration: str) -> str:
        """The class or alias name of a declaration."""
        return self.classes[declaration]

    def attribute(self, record: str, wire: str) -> str:
        """The attribute of a record's member."""
        return self.attributes[record][wire]


def name_all(protocol: ir.Protocol) -> Names:
    """Names for every declaration and member. Two members that come out alike: the exact spelling keeps the name."""
    classes: dict[str, str] = {}
    for name in protocol.declarations:
        python = class_name(name)
        while python in classes.values():
            python += "_"
        classes[name] = python
    attributes: dict[str, dict[str, str]] = {}

    def visit(record: ir.Record) -> dict[str, str]:
        if record.name not in attributes:
            taken: dict[str, str] = {}
            for base in record.bases:
                parent = protocol.declarations[base]
                inherited = visit(parent) if isinstance(parent, ir.Record) else {}
                taken |= {wire: name for wire, name in inherited.items() if record.field(wire)}
            attributes[record.name] = _distinct((f.wire for f in record.fields), taken)
        return attributes[record.name]

    for record in protocol.records:
        visit(record)
    return Names(classes, attributes)


def _distinct(wires: Iterable[str], taken: Mapping[str, str]) -> dict[str, str]:
    names = dict(taken)
    for wire in sorted((w for w in wires if w not in names), key=lambda w: (attribute(w) != w, w)):
        name = attribute(wire)
        while name in names.values():
            name += "_"
        names[wire] = name
    return names
