"""What the expressions of a user's module are, as far as annotations, constructors and calls tell it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

import libcst as cst

from . import ir, usage
from .context import Revision
from .handlers import BASES, Side, handlers
from .moves import Moves

_CONTAINERS = frozenset(
    {"list", "Sequence", "Iterable", "tuple", "set", "dict", "Mapping", "Iterator", "AsyncIterator", "Collection"}
)
"""What holds items of the last type in its brackets."""


@dataclass(frozen=True)
class Value:
    """A value by its type in the old revision, and in the new one if it has any there."""

    old: ir.Type
    new: ir.Type | None


@dataclass(frozen=True)
class Client:
    """A client of the old revision."""


@dataclass(frozen=True)
class Own:
    """An instance of a class of handlers, seen from inside."""

    side: Side


Known: TypeAlias = Value | Client | Own


class Inference(cst.CSTVisitor):
    """Visits a module once; `owners` then says what the value before a dot is, where that is known."""

    def __init__(self, source: usage.Source, moves: Moves, module: str) -> None:
        super().__init__()
        self.source = source
        self.moves = moves
        self.module = module
        self.owners: dict[cst.Attribute, Known] = {}
        self.classes: dict[cst.FunctionDef, Side] = {}
        self.scopes: list[dict[str, Known]] = [{}]
        self.sides: list[Side | None] = []

    # --- scopes ------------------------------------------------------------------------------------------------------

    def visit_ClassDef(self, node: cst.ClassDef) -> None:
        paths = [place.path.rpartition(".")[2] for base in node.bases if (place := self.place(base.value))]
        self.sides.append(next((side for side, name in BASES.items() if name in paths), None))
        self.scopes.append({})

    def leave_ClassDef(self, original_node: cst.ClassDef) -> None:
        self.scopes.pop()
        self.sides.pop()

    def visit_FunctionDef(self, node: cst.FunctionDef) -> None:
        side = self.sides[-1] if self.sides else None
        if node.returns and (known := self.annotated(node.returns.annotation)):
            self.scopes[-1][f"{node.name.value}()"] = known
        self.scopes.append({})
        parameters = [*node.params.posonly_params, *node.params.params, *node.params.kwonly_params]
        for parameter in parameters:
            if parameter.annotation and (known := self.annotated(parameter.annotation.annotation)):
                self.scopes[-1][parameter.name.value] = known
        if side and parameters:
            self.classes[node] = side
            self.scopes[-1][parameters[0].name.value] = Own(side)
            params = next((h.params for h in handlers(self.moves.old, side) if h.name == node.name.value), None)
            if params and len(parameters) > 1 and parameters[1].annotation is None:
                self.scopes[-1][parameters[1].name.value] = self.declared(self.moves.declarations[params])
        self.sides.append(None)

    def leave_FunctionDef(self, original_node: cst.FunctionDef) -> None:
        self.scopes.pop()
        self.sides.pop()

    def visit_GeneratorExp(self, node: cst.GeneratorExp) -> None:
        self.comprehension(node.for_in)

    def visit_ListComp(self, node: cst.ListComp) -> None:
        self.comprehension(node.for_in)

    def visit_SetComp(self, node: cst.SetComp) -> None:
        self.comprehension(node.for_in)

    def visit_DictComp(self, node: cst.DictComp) -> None:
        self.comprehension(node.for_in)

    def comprehension(self, loop: cst.CompFor) -> None:
        """Bind the targets first: what they are used in stands before them."""
        self.bind(loop.target, self.item(self.known(loop.iter)))
        if loop.inner_for_in:
            self.comprehension(loop.inner_for_in)

    # --- bindings ----------------------------------------------------------------------------------------------------

    def leave_Assign(self, original_node: cst.Assign) -> None:
        for target in original_node.targets:
            self.bind(target.target, self.known(original_node.value))

    def leave_AnnAssign(self, original_node: cst.AnnAssign) -> None:
        self.bind(original_node.target, self.annotated(original_node.annotation.annotation))

    def leave_NamedExpr(self, original_node: cst.NamedExpr) -> None:
        self.bind(original_node.target, self.known(original_node.value))

    def visit_For_body(self, node: cst.For) -> None:
        self.bind(node.target, self.item(self.known(node.iter)))

    def leave_WithItem(self, original_node: cst.WithItem) -> None:
        if original_node.asname:
            self.bind(original_node.asname.name, self.known(original_node.item))

    def bind(self, target: cst.BaseExpression, known: Known | None) -> None:
        name = usage.dotted(target)
        if name:
            scope = self.scopes[-2] if "." in name and len(self.scopes) > 1 else self.scopes[-1]
            scope.pop(name, None)
            if known is not None:
                scope[name] = known

    def leave_Attribute(self, original_node: cst.Attribute) -> None:
        known = self.known(original_node.value)
        if known is not None:
            self.owners[original_node] = known

    # --- what things are ---------------------------------------------------------------------------------------------

    def place(self, node: cst.CSTNode) -> usage.Place | None:
        """Where the node leads to in the old revision's bindings."""
        found = self.source.place(node)
        return found if found and found.module == self.module else None

    def named(self, node: cst.CSTNode) -> str | None:
        """The declaration of a type that the node names."""
        place = self.place(node)
        return self.moves.declarations.get(place.type) if place and place.type else None

    def declared(self, declaration: str) -> Value:
        """A value of a declaration of the old revision."""
        new = self.moves.successor(declaration)
        return Value(ir.Ref(declaration), ir.Ref(new) if new else None)

    def known(self, node: cst.BaseExpression) -> Known | None:
        """What the value of an expression is."""
        for scope in reversed(self.scopes):
            if (name := usage.dotted(node)) and name in scope:
                return scope[name]
        match node:
            case cst.Attribute(value=value, attr=cst.Name(value=attribute)):
                return self.member(self.known(value), attribute)
            case cst.Await(expression=inner):
                return self.known(inner)
            case cst.Call(func=func):
                return self.called(node, func)
            case cst.Subscript(value=value):
                return self.item(self.known(value))
            case cst.BooleanOperation(left=left):
                return self.known(left)
            case cst.IfExp(body=body):
                return self.known(body)
            case _:
                return None

    def called(self, node: cst.Call, func: cst.BaseExpression) -> Known | None:
        place, first = self.place(func), node.args[0].value if node.args else None
        constructed = self.named(func)
        if constructed is not None:
            return self.declared(constructed)
        if place is not None:
            match place.path.split(".")[-2:]:
                case [*_, "AsyncClient" | "Client"]:
                    return Client()
                case ["codec", "decode" | "decode_json"] if first is not None:
                    wanted = self.named(first)
                    return self.declared(wanted) if wanted else None
                case ["codec", "replace"] if first is not None:
                    return self.known(first)
                case _:
                    return None
        if isinstance(func, cst.Attribute) and isinstance(self.known(func.value), Client):
            return self.answer(func.attr.value)
        name = f"{usage.dotted(func)}()"
        return next((scope[name] for scope in reversed(self.scopes) if name in scope), None)

    def answer(self, name: str) -> Value | None:
        """What a client's method returns; a list where it iterates."""
        call = self.moves.calls.get(name)
        if call is None or call.method.result is None:
            return None
        result = self.declared(call.method.result)
        if call.items and name == call.iterator:
            return self.member(result, self.moves.old.attribute(call.method.result, call.items.wire))
        return result

    def member(self, owner: Known | None, attribute: str) -> Value | None:
        """The value of an attribute: of the record, or of the first arm that has it."""
        if not isinstance(owner, Value):
            return None
        for record in records(owner.old, self.moves.old):
            for field in record.fields:
                if self.moves.old.attribute(record, field.wire) == attribute:
                    moved = self.moves.attributes(record.name).get(attribute)
                    return Value(field.type, self.member_now(owner.new, moved))
        return None

    def member_now(self, owner: ir.Type | None, attribute: str | None) -> ir.Type | None:
        for record in records(owner, self.moves.new):
            for field in record.fields:
                if self.moves.new.attribute(record, field.wire) == attribute:
                    return field.type
        return None

    def item(self, known: Known | None) -> Known | None:
        """What comes out of a list or a map."""
        if not isinstance(known, Value):
            return None
        old = _item(known.old, self.moves.old)
        return Value(old, _item(known.new, self.moves.new)) if old is not None else None

    def annotated(self, node: cst.BaseExpression) -> Known | None:
        """What an annotation says."""
        match node:
            case cst.BinaryOperation(left=left, right=right):
                return self.annotated(left) or self.annotated(right)
            case cst.Subscript(value=value, slice=[*_, cst.SubscriptElement(slice=cst.Index(value=inner))]):
                known = self.annotated(inner)
                outer = usage.dotted(value).rpartition(".")[2]
                if not isinstance(known, Value) or outer in ("Optional", "Annotated"):
                    return known
                return Value(ir.ListOf(known.old), known.new and ir.ListOf(known.new)) if outer in _CONTAINERS else None
            case _:
                place = self.place(node)
                if place and place.path.rpartition(".")[2] in ("AsyncClient", "Client"):
                    return Client()
                declaration = self.named(node)
                return self.declared(declaration) if declaration else None


def records(type: ir.Type | None, revision: Revision) -> Iterator[ir.Record]:
    """The records that a value of a type may be."""
    resolved = revision.resolve(type) if type is not None else None
    for arm in resolved.arms if isinstance(resolved, ir.Union) else (resolved,):
        record = revision.record(arm) if arm is not None else None
        if record is not None:
            yield record


def _item(type: ir.Type | None, revision: Revision) -> ir.Type | None:
    match revision.resolve(type) if type is not None else None:
        case ir.ListOf(item=inner) | ir.MapOf(value=inner):
            return inner
        case ir.Union(arms=arms):
            items = (_item(arm, revision) for arm in arms)
            return next((item for item in items if item is not None), None)
        case _:
            return None
