"""From a corrected schema document to the `Protocol` value: walking, hoisting, record kinds, unions."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from . import ir, unions
from .document import Document, is_array, is_object
from .errors import BindgenError, RecursiveAlias, Unranked
from .inheritance import infer, merge_hoisted
from .methods import method_table
from .overlay import Overlay
from .source import Schema, escape

_KEYWORDS = {
    "$ref", "type", "const", "enum", "properties", "required", "additionalProperties", "items", "anyOf", "allOf",
    "minimum", "maximum", "maxItems", "format", "description", "title", "$comment",
}  # fmt: skip

Declarations = dict[str, ir.Declaration]


def build(schema: Schema) -> ir.Protocol:
    """The intermediate model of `schema`. Raises BindgenError for anything that it cannot represent."""
    overlay = schema.overlay
    walk = _Walk(schema)
    for name in schema.corrected[schema.section]:
        walk.definition(name)
    _refuse_recursion(walk)
    declarations = _deprecate(_fill(walk.declared), overlay)
    declarations = merge_hoisted(infer(declarations, overlay))
    declarations = _fill_derived(declarations, overlay)
    declarations = _kinds(declarations, walk.open, overlay)
    declarations = _open_enums(declarations, overlay)
    declarations = _plan(declarations, overlay)
    _check_names(declarations, overlay)
    return ir.Protocol(
        revision=schema.revision,
        source=schema.source,
        declarations=declarations,
        methods=method_table(declarations, overlay),
        constants=dict(overlay.constants),
        receive=tuple(ir.ReceiveRule(r.definition, r.member, r.value, r.reason) for r in overlay.receive),
        severity=_severity(declarations, overlay),
        topics=dict(overlay.topics),
        open_questions=overlay.open_questions,
    )


@dataclass
class _Walk:
    """One pass over the document by schema position, hoisting inline objects under their owner's path."""

    schema: Schema
    declared: Declarations = field(default_factory=dict)
    open: set[str] = field(default_factory=set)

    def definition(self, name: str) -> None:
        node = self.schema.corrected[self.schema.section][name]
        self.declare(name, node, f"/{self.schema.section}/{escape(name)}", None)

    def declare(self, name: str, node: Any, at: str, owner: str | None) -> None:
        """Declare `node` under `name`: a record if it is an object with members, else an alias."""
        if name in self.declared:
            other = self.declared[name].owner
            by = f"an inline object of {other}" if other else "a definition"
            raise self.error(
                at,
                f"the name {name!r} is taken already, by {by}",
                f"rename one of the two with a correction of {at}",
            )
        node = self.schema_object(node, at)
        doc = str(node.get("description", ""))
        if owner is not None:
            self.declared[name] = ir.Record(name, (), owner=owner)  # reserve the place behind the owner
        if _is_record(node):
            fields, bases = self.members(name, node, at)
            self.declared[name] = ir.Record(name, _reading_order(fields), bases, doc=doc, owner=owner)
            if "additionalProperties" in node:
                self.open.add(name)
        else:
            self.declared[name] = ir.Alias(name, self.type(node, at, name), doc, owner)

    def members(self, name: str, node: Mapping[str, Any], at: str) -> tuple[dict[str, ir.Field], tuple[str, ...]]:
        """The members of a record and the bases that its schema states itself (`allOf`)."""
        fields: dict[str, ir.Field] = {}
        bases: list[str] = []
        for index, part in enumerate(node.get("allOf", ())):
            where = f"{at}/allOf/{index}"
            if "$ref" in part:
                base = self.ref(part, where)
                bases.append(base)
                inherited, _ = self.members(name, self.target(base), self.pointer(base))
                fields |= inherited
            else:
                own, more = self.members(name, self.schema_object(part, where), where)
                fields |= own
                bases.extend(more)
        extra = node.get("additionalProperties", {})
        if extra not in ({}, True):
            raise self.error(
                f"{at}/additionalProperties",
                "an object with declared members and constrained other members is not supported",
                self.correction(f"{at}/additionalProperties", extra),
            )
        required = node.get("required", [])
        properties = node.get("properties", {})
        for wire in {**properties, **{wire: {} for wire in required if wire not in fields}}:
            where = f"{at}/properties/{escape(wire)}"
            member = self.schema_object(properties.get(wire, {}), where)
            kind = self.type(member, where, name + _hoist_step(wire))
            doc = str(member.get("description", "")) or (fields[wire].doc if wire in fields else "")
            fields[wire] = ir.Field(wire, kind, wire in required, doc)
        for wire in required:
            fields[wire] = replace(fields[wire], required=True)
        return fields, tuple(dict.fromkeys(bases))

    def type(self, node: Any, at: str, path: str) -> ir.Type:
        """The type of a schema position; `path` is the name an inline object gets here."""
        node = self.schema_object(node, at)
        match node:
            case {"$ref": str()}:
                return ir.Ref(self.ref(node, at))
            case {"anyOf": list()}:
                arms: list[Any] = node["anyOf"]
                steps = [f"{path}Option{index + 1}" if len(arms) > 1 else path for index in range(len(arms))]
                typed = (self.type(arm, f"{at}/anyOf/{i}", steps[i]) for i, arm in enumerate(arms))
                return ir.Union(tuple(typed), ir.Arm(0))
            case {"const": str() | int() as value}:
                return ir.Const(value)
            case {"const": other}:
                raise self.unsupported(f"{at}/const", other)
            case {"enum": list()}:
                values: list[Any] = node["enum"]
                if not values or not all(isinstance(value, str) for value in values):
                    raise self.unsupported(f"{at}/enum", values)
                return ir.Enum(tuple(values))
            case {"type": list()}:
                kinds: list[Any] = node["type"]
                return ir.Union(tuple(self.type({**node, "type": kind}, at, path) for kind in kinds), ir.Arm(0))
            case {"type": "array"}:
                return ir.ListOf(self.type(node.get("items", {}), f"{at}/items", f"{path}Item"), node.get("maxItems"))
            case {"type": "string" | "boolean" | "null" as kind}:
                return ir.Scalar(kind, node.get("format"))
            case {"type": "integer" | "number" as kind}:
                return ir.Scalar(kind, node.get("format"), node.get("minimum"), node.get("maximum"))
            case _ if _is_record(node):
                owner = self.owner(at)
                self.declare(path, node, at, owner)
                return ir.Ref(path)
            case {"type": "object"}:
                extra = node.get("additionalProperties", {})
                return ir.MapOf(
                    ir.Any() if extra is True else self.type(extra, f"{at}/additionalProperties", f"{path}Value")
                )
            case {"type": other}:
                raise self.error(
                    f"{at}/type", f"unknown type {json.dumps(other)}", self.correction(f"{at}/type", other)
                )
            case _ if set(node) <= {"description", "title", "$comment"}:
                return ir.Any()
            case _:
                raise self.error(at, f"a schema without a type: {json.dumps(node)[:200]}", self.correction(at, node))

    def schema_object(self, node: Any, at: str) -> dict[str, Any]:
        """`node` with only known keywords; `true` is the schema that admits everything."""
        if node is True:
            return {}
        if not is_object(node):
            raise self.error(at, f"not a schema: {json.dumps(node)[:200]}", self.correction(at, node))
        for keyword in node:
            if keyword not in _KEYWORDS:
                where = f"{at}/{escape(keyword)}"
                raise self.error(
                    where, f"unknown JSON Schema keyword {keyword!r}", self.correction(where, node[keyword])
                )
            if not _well_formed(keyword, node):
                raise self.unsupported(f"{at}/{escape(keyword)}", node[keyword])
        return node

    def ref(self, node: Mapping[str, Any], at: str) -> str:
        """The definition that `$ref` names."""
        target = str(node["$ref"])
        prefix = f"#/{self.schema.section}/"
        name = target.removeprefix(prefix).replace("~1", "/").replace("~0", "~")
        if not target.startswith(prefix) or name not in self.schema.corrected[self.schema.section]:
            raise self.error(
                f"{at}/$ref", f"dangling reference {target!r}", self.correction(f"{at}/$ref", target, f"{prefix}<name>")
            )
        return name

    def target(self, name: str) -> Mapping[str, Any]:
        return self.schema_object(self.schema.corrected[self.schema.section][name], self.pointer(name))

    def pointer(self, name: str) -> str:
        return f"/{self.schema.section}/{escape(name)}"

    def owner(self, at: str) -> str:
        return at.split("/")[2].replace("~1", "/").replace("~0", "~")

    def error(self, at: str, reason: str, fix: str) -> BindgenError:
        return BindgenError(f"{self.schema.file}#{at}", reason, fix)

    def unsupported(self, at: str, value: Any) -> BindgenError:
        return self.error(at, f"{json.dumps(value)} is not supported", self.correction(at, value))

    def correction(self, at: str, old: Any, new: Any = None) -> str:
        """The overlay line that would settle an error at `at`."""
        entry = {"pointer": at, "old": old} | ({"new": new} if new is not None else {}) | {"reason": "…"}
        return f"add to corrections in {self.schema.overlay.file}: {json.dumps(entry, ensure_ascii=False)}"


def _well_formed(keyword: str, node: Document) -> bool:
    """Whether a keyword's value has the shape that JSON Schema gives it; what templates write must be what it seems."""
    value: Any = node[keyword]
    match keyword:
        case "minimum" | "maximum":
            number = isinstance(value, (int, float)) and not isinstance(value, bool)
            return number and (node.get("type") != "integer" or float(value).is_integer()) and abs(value) < 2**53
        case "maxItems":
            return isinstance(value, int) and not isinstance(value, bool) and value >= 0
        case "required":
            return is_array(value) and all(isinstance(item, str) for item in value)
        case "properties":
            return is_object(value)
        case "anyOf" | "allOf":
            return is_array(value) and bool(value)
        case "description" | "format" | "$ref":
            return isinstance(value, str)
        case _:
            return True


def _is_record(node: Mapping[str, Any]) -> bool:
    return bool(node.get("properties") or node.get("required") or "allOf" in node)


def _hoist_step(wire: str) -> str:
    """`inputSchema` -> `InputSchema`, `_meta` -> `Meta`, `a/b` -> `AB`: a step of a hoisted name."""
    words = "".join(char if char.isalnum() else " " for char in wire).split()
    return "".join(word[0].upper() + word[1:] for word in words) or "Empty"


def _reading_order(fields: Mapping[str, ir.Field]) -> tuple[ir.Field, ...]:
    """Constants, then required, then optional members; `_meta` last."""

    def key(member: ir.Field) -> tuple[bool, bool, bool]:
        constant = isinstance(member.type, ir.Const) and member.required
        return (member.wire == "_meta", not constant, not member.required)

    return tuple(sorted(fields.values(), key=key))


def _refuse_recursion(walk: _Walk) -> None:
    """No alias may contain itself by way of aliases only: hardly any language can say that."""
    aliases = {name: d for name, d in walk.declared.items() if isinstance(d, ir.Alias)}

    def below(name: str) -> set[str]:
        seen: set[str] = set()
        queue = [name]
        while queue:
            found = {used for used in ir.references(aliases[queue.pop()].type) if used in aliases} - seen
            seen |= found
            queue += found
        return seen

    knots = [name for name in aliases if name in below(name)]
    for name in sorted(knots, key=lambda knot: not isinstance(aliases[knot].type, ir.Union))[:1]:
        definition = aliases[name].owner or name
        at, old = walk.pointer(definition), walk.target(definition)
        raise RecursiveAlias(walk.schema.file, walk.schema.overlay.file, at, old)


# --- facts of the overlay --------------------------------------------------------------------------------------------


def _fill(declared: Declarations) -> Declarations:
    """Required constants fill themselves in."""

    def fill(_: ir.Record, member: ir.Field) -> ir.Field:
        match member:
            case ir.Field(required=True, type=ir.Const(value=value)) if not isinstance(value, bool):
                return replace(member, fill=value)
            case _:
                return member

    return _map_fields(declared, fill)


def _fill_derived(declared: Declarations, overlay: Overlay) -> Declarations:
    """The overlay's construct values, on the named record and all that derive from it."""
    used: set[str] = set()

    def fill(record: ir.Record, member: ir.Field) -> ir.Field:
        for name in (record.name, *ancestors(declared, record.name)):
            entry = overlay.fill.get(f"{name}.{member.wire}")
            if entry is not None:
                used.add(f"{name}.{member.wire}")
                _check_fill(member, entry.value, f"{name}.{member.wire}", overlay)
                return replace(member, fill=entry.value) if member.required and member.fill is None else member
        return member

    filled = _map_fields(declared, fill)
    for entry in overlay.fill:
        if entry not in used:
            raise overlay.stale("fill", entry, "no such member")
    return filled


def _check_fill(member: ir.Field, value: str | int, place: str, overlay: Overlay) -> None:
    match member.type:
        case ir.Scalar(kind=kind) if isinstance(value, str) != (kind == "string"):
            raise BindgenError(
                f"{overlay.file}#fill", f"{place}: {json.dumps(value)} is no {kind}", "fill in a legal value"
            )
        case _:
            pass


def _deprecate(declared: Declarations, overlay: Overlay) -> Declarations:
    """Mark what the overlay calls deprecated, and say so in its description."""
    result = dict(declared)
    for entry, reason in overlay.deprecated.items():
        name, _, wire = entry.partition(".")
        declaration = result.get(name)
        if declaration is None:
            raise overlay.stale("deprecated", entry, "no such definition")
        if not wire:
            result[name] = replace(declaration, deprecated=True, doc=_with_note(declaration.doc, reason))
        elif isinstance(declaration, ir.Record) and declaration.field(wire):
            marked = (
                replace(f, deprecated=True, doc=_with_note(f.doc, reason)) if f.wire == wire else f
                for f in declaration.fields
            )
            result[name] = replace(declaration, fields=tuple(marked))
        else:
            raise overlay.stale("deprecated", entry, "no such member")
    return result


def _with_note(doc: str, reason: str) -> str:
    return f"{doc}\n\nDeprecated: {reason}".strip()


def _kinds(declared: Declarations, free: set[str], overlay: Overlay) -> Declarations:
    """Opaque by overlay; open if reached through `_meta`, or free with nothing derived; else closed."""
    metas = {
        f.type.name
        for r in declared.values()
        if isinstance(r, ir.Record)
        for f in r.fields
        if f.wire == "_meta" and isinstance(f.type, ir.Ref)
    }
    derived_from = {base for r in declared.values() if isinstance(r, ir.Record) for base in r.bases}
    result = dict(declared)
    for name, record in declared.items():
        if not isinstance(record, ir.Record):
            continue
        if name in overlay.opaque:
            result[name] = replace(record, kind="opaque")
        elif name in overlay.open or (
            name not in overlay.closed and (name in metas or (name in free and name not in derived_from))
        ):
            result[name] = replace(record, kind="open")
    for section in ("opaque", "open", "closed"):
        for name in getattr(overlay, section):
            if not isinstance(declared.get(name), ir.Record):
                raise overlay.stale(section, name, "no such record")
    return result


def _open_enums(declared: Declarations, overlay: Overlay) -> Declarations:
    result = dict(declared)
    for name in overlay.open_enums:
        match declared.get(name):
            case ir.Alias(type=ir.Enum() as enum) as alias:
                result[name] = replace(alias, type=replace(enum, open=True))
            case _:
                raise overlay.stale("open_enums", name, "no such enum")
    return result


def _severity(declared: Declarations, overlay: Overlay) -> tuple[str, ...]:
    for name, order in overlay.severity.items():
        match declared.get(name):
            case ir.Alias(type=ir.Enum(values=values)) if sorted(values) == sorted(order):
                return order
            case _:
                raise overlay.stale("severity", name, "not an enum with exactly these values")
    return ()


def _check_names(declared: Declarations, overlay: Overlay) -> None:
    for name in overlay.topics:
        if name not in declared:
            raise overlay.stale("topics", name, "no such declaration")
    for rule in overlay.receive:
        record = declared.get(rule.definition)
        if not isinstance(record, ir.Record) or record.field(rule.member) is None:
            raise overlay.stale("receive", f"{rule.definition}.{rule.member}", "no such member")


# --- unions ----------------------------------------------------------------------------------------------------------


def _plan(declared: Declarations, overlay: Overlay) -> Declarations:
    """Flatten every union and give it its plan."""
    used: set[str] = set()

    def settle(type: ir.Type, site: str) -> ir.Type:
        match type:
            case ir.ListOf(item=item):
                return replace(type, item=settle(item, site))
            case ir.MapOf(value=value):
                return replace(type, value=settle(value, site))
            case ir.Union(arms=arms):
                flat = tuple(settle(arm, site) for arm in unions.flatten(arms, declared.__getitem__))
                if len(flat) == 1:
                    return flat[0]
                order = overlay.unions.get(site)
                try:
                    unranked = unions.plan(flat, declared.__getitem__)
                except unions.Ambiguous as ambiguous:
                    if order is None:
                        raise _ambiguous(site, ambiguous, declared, overlay) from None
                    used.add(site)
                    try:
                        return ir.Union(flat, unions.plan(flat, declared.__getitem__, order.order))
                    except unions.Ambiguous as still:
                        raise _ambiguous(site, still, declared, overlay) from None
                return ir.Union(flat, unranked)
            case _:
                return type

    result: Declarations = {}
    for name, declaration in declared.items():
        if isinstance(declaration, ir.Alias):
            result[name] = replace(declaration, type=settle(declaration.type, name))
        else:
            fields = (replace(f, type=settle(f.type, f"{name}.{f.wire}")) for f in declaration.fields)
            result[name] = replace(declaration, fields=tuple(fields))
    for site in overlay.unions:
        if site not in used:
            raise overlay.stale("unions", site, "no such union, or the schema decides it by itself")
    return result


def _ambiguous(site: str, ambiguous: unions.Ambiguous, declared: Declarations, overlay: Overlay) -> BindgenError:
    records = {name: d for name in ambiguous.arms if isinstance(d := declared.get(name), ir.Record)}
    where = f"{overlay.file}#unions"
    if len(records) != len(ambiguous.arms):
        return BindgenError(
            where,
            f"the union {site} cannot be decided: {', '.join(ambiguous.arms)} look alike and cannot be ranked",
            f"correct the schema so that they differ (corrections in {overlay.file})",
        )
    return Unranked(overlay.file, site, unions.rank(records))


def ancestors(declared: Mapping[str, ir.Declaration], name: str) -> tuple[str, ...]:
    """All bases of `name`, direct ones first, each once."""
    found: dict[str, None] = {}
    declaration = declared[name]
    queue = list(declaration.bases) if isinstance(declaration, ir.Record) else []
    while queue:
        base = queue.pop(0)
        found[base] = None
        record = declared[base]
        queue.extend(record.bases if isinstance(record, ir.Record) else ())
    return tuple(found)


def _map_fields(declared: Declarations, change: Callable[[ir.Record, ir.Field], ir.Field]) -> Declarations:
    return {
        name: replace(d, fields=tuple(change(d, f) for f in d.fields)) if isinstance(d, ir.Record) else d
        for name, d in declared.items()
    }
