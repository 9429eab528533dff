"""A class of handlers that its user owns: written once, and later only added to, so that no other byte changes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

import libcst as cst

from . import usage
from .errors import BindgenError
from .handlers import BASES, CONTEXT, Handler, Side

_LINE_LENGTH = 88  # black's own default: this is the user's file
_ANYTHING = frozenset({"Any", "object"})
_NOTHING = frozenset({"Any", "NoReturn", "Never"})


@dataclass(frozen=True)
class Wanted:
    """What to write: for which side, from which bindings, which handlers, and which there are."""

    side: Side
    revision: str
    home: str
    """The package of the style, `mcp_bindings.pydantic`."""
    module: str
    handlers: tuple[Handler, ...]
    all: Mapping[str, Handler]
    gone: Mapping[str, str]
    """Handlers that only other revisions have, and the methods they are for."""


@dataclass(frozen=True)
class Scaffold:
    """The new content of a file, what was added and updated, and what its owner should look at."""

    data: bytes
    added: tuple[str, ...]
    updated: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()


def choose(handlers: Sequence[Handler], names: Sequence[str], revision: str) -> tuple[Handler, ...]:
    """The handlers called `names`, by wire method or in Python; those that a capability tells of if there are none.

    Raises BindgenError for a name that is no handler.
    """
    if not names:
        return tuple(handler for handler in handlers if handler.announced)
    if list(names) == ["all"]:
        return tuple(handlers)
    for name in names:
        if not any(name in (handler.name, handler.wire) for handler in handlers):
            known = ", ".join(handler.wire for handler in handlers)
            raise BindgenError(name, f"no method that this side answers in MCP {revision}", f"choose among {known}")
    return tuple(handler for handler in handlers if handler.name in names or handler.wire in names)


def fresh(wanted: Wanted, class_name: str) -> Scaffold:
    """A new module with the class."""
    base = BASES[wanted.side]
    names = [base, *([CONTEXT] if any(h.has_context for h in wanted.handlers) else []), "types"]
    stubs = "\n\n".join(_stub(handler, "types", CONTEXT) for handler in wanted.handlers)
    text = (
        f'"""{"An MCP server" if wanted.side == "server" else "What an MCP client answers"}, in terms of MCP '
        f'{wanted.revision}."""\n\n'
        "from __future__ import annotations\n\n"
        f"from {wanted.home}.{wanted.module} import {', '.join(names)}\n\n\n"
        f"class {class_name}({base}):\n"
        f'    """{"Override" if not stubs else "Fill in"} the handlers of what is offered."""\n\n{stubs}\n'
    )
    return Scaffold(_formatted(text).encode(), tuple(handler.name for handler in wanted.handlers))


def class_name(file: Path, side: Side) -> str:
    """`weather_server.py` -> `WeatherServer`."""
    words = [word for word in re.split(r"[^0-9A-Za-z]+", file.stem) if word]
    name = "".join(word[0].upper() + word[1:] for word in words)
    return name if name.isidentifier() and name != BASES[side] else f"My{BASES[side]}"


def renew(source: usage.Source, wanted: Wanted, name: str | None) -> Scaffold:
    """The user's module with what is missing in its class, and signatures as they are now. Raises BindgenError."""
    own, place = _own_class(source, wanted, name)
    wanted = replace(wanted, home=place.home)
    renewal = _Renewal(source, wanted, own)
    tree = _with_imports(source.tree.visit(renewal), wanted, renewal.asked)
    return Scaffold(tree.bytes, tuple(renewal.added), tuple(renewal.updated), tuple(renewal.remarks))


def _own_class(source: usage.Source, wanted: Wanted, name: str | None) -> tuple[cst.ClassDef, usage.Place]:
    base = BASES[wanted.side]
    finder = _Classes(source, base)
    source.tree.visit(finder)
    found = [row for row in finder.found if row[1].module == wanted.module and name in (None, row[0].name.value)]
    if len(found) == 1:
        return found[0]
    file = str(source.file)
    if found:
        names = ", ".join(own.name.value for own, _ in found)
        raise BindgenError(file, f"several classes derive from {base}: {names}", "choose one with --class")
    others = sorted({place.module for _, place in finder.found} - {wanted.module})
    if others:
        fix = f"move it first: mcp-bindgen upgrade {file} --from … --to {wanted.revision}"
        raise BindgenError(file, f"its class is for {others[0]}, not {wanted.module}", fix)
    which = f"class {name}" if name else "class"
    reason = f"no {which} that derives from the {base} of a {wanted.module} package"
    raise BindgenError(file, reason, "name a new file, or write the head of the class")


class _Classes(cst.CSTVisitor):
    """The classes that derive from the generated class `base`, and where that is."""

    def __init__(self, source: usage.Source, base: str) -> None:
        super().__init__()
        self.source = source
        self.base = base
        self.found: list[tuple[cst.ClassDef, usage.Place]] = []

    def visit_ClassDef(self, node: cst.ClassDef) -> None:
        for argument in node.bases:
            place = self.source.place(argument.value)
            if place and place.path.rpartition(".")[2] == self.base:
                self.found.append((node, place))


class _Renewal(cst.CSTTransformer):
    """Adds stubs to one class and renews its signatures."""

    def __init__(self, source: usage.Source, wanted: Wanted, own: cst.ClassDef) -> None:
        super().__init__()
        self.source = source
        self.wanted = wanted
        self.own = own
        self.added: list[str] = []
        self.updated: list[str] = []
        self.remarks: list[str] = []
        self.asked: dict[str, str] = {}
        self.depth: list[cst.CSTNode] = []
        self.local = {
            place.path: name
            for _, name, dotted in usage.imports(source.tree)
            if (place := usage.place_of(dotted)) and place.module == wanted.module
        }
        self.taken = {name for _, name, _ in usage.imports(source.tree)}

    def written(self, name: str) -> str:
        """How this module writes a name of the revision's package, which it may have to import first."""
        if name in self.local:
            return self.local[name]
        if "" in self.local:
            return f"{self.local['']}.{name}"
        if name not in self.asked:
            self.asked[name] = f"mcp_{name}" if name in self.taken else name
        return self.asked[name]

    def visit_ClassDef(self, node: cst.ClassDef) -> None:
        self.depth.append(node)

    def leave_ClassDef(self, original_node: cst.ClassDef, updated_node: cst.ClassDef) -> cst.ClassDef:
        self.depth.pop()
        if original_node is not self.own:
            return updated_node
        present = {node.name.value for node in original_node.body.body if isinstance(node, cst.FunctionDef)}
        missing = [handler for handler in self.wanted.handlers if handler.name not in present]
        self.added = [handler.name for handler in missing]
        if not missing:
            return updated_node
        stubs = list(self.stubs(missing))
        if isinstance(updated_node.body, cst.IndentedBlock):
            kept = [] if _is_placeholder(updated_node.body.body) else list(updated_node.body.body)
            if not kept:
                stubs[0] = stubs[0].with_changes(leading_lines=())
            return updated_node.with_changes(body=updated_node.body.with_changes(body=[*kept, *stubs]))
        stubs[0] = stubs[0].with_changes(leading_lines=())
        return updated_node.with_changes(body=cst.IndentedBlock(body=stubs))

    def visit_FunctionDef(self, node: cst.FunctionDef) -> None:
        self.depth.append(node)

    def leave_FunctionDef(self, original_node: cst.FunctionDef, updated_node: cst.FunctionDef) -> cst.FunctionDef:
        self.depth.pop()
        if not self.depth or self.depth[-1] is not self.own:
            return updated_node
        name = original_node.name.value
        handler = self.wanted.all.get(name)
        if handler is None:
            if name in self.wanted.gone:
                self.remark(
                    original_node,
                    f"{name} answers {self.wanted.gone[name]}, which MCP {self.wanted.revision} does not have",
                )
            return updated_node
        if original_node.asynchronous is None:
            self.remark(original_node, f"{name} has to be async")
        changed = self.signature(original_node, updated_node, handler)
        if changed is not updated_node:
            self.updated.append(name)
        return changed

    def signature(self, original: cst.FunctionDef, node: cst.FunctionDef, handler: Handler) -> cst.FunctionDef:
        """`node` with the annotations and the context that `handler` asks for; what fits stays as it is."""
        parameters = list(node.params.params)
        if len(parameters) > 1 and not self.takes(original.params.params[1].annotation, handler):
            annotation = self.annotation(f"{self.written('types')}.{handler.params}")
            parameters[1] = parameters[1].with_changes(annotation=annotation)
        if handler.has_context and len(parameters) == 2 and isinstance(node.params.star_arg, cst.MaybeSentinel):
            context = cst.Param(cst.Name("ctx"), self.annotation(self.written(CONTEXT)))
            own, _, ending = _commas(parameters, node.whitespace_before_params)
            last = parameters.pop()
            parameters += [last.with_changes(comma=own), context.with_changes(comma=ending)]
        if parameters != list(node.params.params):
            node = node.with_changes(params=node.params.with_changes(params=parameters))
        if original.returns is not None and not self.gives(original.returns, handler):
            node = node.with_changes(returns=original.returns.with_changes(annotation=self.result(handler)))
        return node

    def takes(self, annotation: cst.Annotation | None, handler: Handler) -> bool:
        arms = _arms(self.source, annotation.annotation) if annotation else _ANYTHING
        return handler.params is None or bool(arms & _ANYTHING) or handler.params in arms

    def gives(self, annotation: cst.Annotation, handler: Handler) -> bool:
        arms = _arms(self.source, annotation.annotation)
        return arms <= {*(handler.results or ("None",)), *_NOTHING}

    def result(self, handler: Handler) -> cst.BaseExpression:
        arms = [f"{self.written('types')}.{name}" for name in handler.results]
        return cst.parse_expression(" | ".join(arms) or "None")

    def annotation(self, text: str) -> cst.Annotation:
        return cst.Annotation(cst.parse_expression(text))

    def stubs(self, missing: Sequence[Handler]) -> Iterator[cst.FunctionDef]:
        for handler in missing:
            stub = _stub(handler, self.written("types"), self.written(CONTEXT) if handler.has_context else "")
            (made,) = cst.parse_module(_formatted(f"class A:\n{stub}\n"), self.source.tree.config_for_parsing).body
            assert isinstance(made, cst.ClassDef)
            (function,) = made.body.body
            assert isinstance(function, cst.FunctionDef)
            yield function.with_changes(leading_lines=[cst.EmptyLine(indent=False)])

    def remark(self, node: cst.CSTNode, text: str) -> None:
        self.remarks.append(f"{self.source.file}:{self.source.line(node)}: {text}")


def _stub(handler: Handler, types: str, context: str) -> str:
    """A handler that is still to be written, indented by four."""
    params = f"{types}.{handler.params}" if handler.params else "object"
    ctx = f", ctx: {context}" if handler.has_context else ""
    result = " | ".join(f"{types}.{name}" for name in handler.results) or "None"
    verb, body = ("Answer", "\n        raise NotImplementedError") if handler.results else ("Take", "")
    head = f"    async def {handler.name}(self, params: {params}{ctx}) -> {result}:"
    return f'{head}\n        """{verb} `{handler.wire}`."""{body}'


def _arms(source: usage.Source, node: cst.BaseExpression) -> frozenset[str]:
    """The names of the types in an annotation, without the modules they are in."""
    match node:
        case cst.BinaryOperation(left=left, operator=cst.BitOr(), right=right):
            return _arms(source, left) | _arms(source, right)
        case cst.Subscript(value=value, slice=elements) if usage.dotted(value).rpartition(".")[2] in (
            "Union",
            "Optional",
        ):
            arms = [_arms(source, e.slice.value) for e in elements if isinstance(e.slice, cst.Index)]
            return frozenset[str]().union(*arms, {"None"} if usage.dotted(value).endswith("Optional") else ())
        case cst.SimpleString():
            return _arms(source, cst.parse_expression(str(node.evaluated_value)))
        case _:
            place = source.place(node)
            written = usage.dotted(node) or source.tree.code_for_node(node)
            return frozenset({(place and place.type) or written.rpartition(".")[2]})


def _is_placeholder(body: Sequence[cst.BaseStatement]) -> bool:
    """Whether a class body is nothing but `pass` or `...`."""
    match body:
        case [cst.SimpleStatementLine(body=[cst.Pass() | cst.Expr(value=cst.Ellipsis())])]:
            return True
        case _:
            return False


_Comma: TypeAlias = cst.Comma | cst.MaybeSentinel


def _commas(items: Sequence[cst.Param | cst.ImportAlias], opening: cst.CSTNode) -> tuple[_Comma, _Comma, _Comma]:
    """The commas after the last of `items`, between what follows it, and at the end, laid out as the items are.

    `opening` is the whitespace before the first of them.
    """
    closing = items[-1].comma
    before = items[-2].comma if len(items) > 1 else closing
    line = before.whitespace_after if len(items) > 1 and isinstance(before, cst.Comma) else opening
    if not isinstance(line, cst.ParenthesizedWhitespace):
        between = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
        return between, between, closing
    bare = cst.TrailingWhitespace()  # without a comment
    between = cst.Comma(whitespace_after=line.with_changes(first_line=bare, empty_lines=()))
    if not isinstance(closing, cst.Comma) or not isinstance(closing.whitespace_after, cst.ParenthesizedWhitespace):
        return between, between, closing
    after = closing.whitespace_after
    own = closing.with_changes(whitespace_after=after.with_changes(indent=line.indent, last_line=line.last_line))
    return own, between, closing.with_changes(whitespace_after=after.with_changes(first_line=bare))


def _with_imports(tree: cst.Module, wanted: Wanted, asked: Mapping[str, str]) -> cst.Module:
    """The module with `asked` (name -> local name) imported from the revision's package."""
    if not asked:
        return tree
    package = f"{wanted.home}.{wanted.module}"
    names = [name if name == local else f"{name} as {local}" for name, local in asked.items()]
    statement = cst.parse_statement(f"from {package} import {', '.join(names)}\n", tree.config_for_parsing)
    adding = _Adding(package, statement)
    changed = tree.visit(adding)
    if adding.done:
        return changed
    last = max((i for i, node in enumerate(tree.body) if _imports_something(node)), default=-1)
    return tree.with_changes(body=[*tree.body[: last + 1], statement, *tree.body[last + 1 :]])


def _imports_something(node: cst.BaseStatement) -> bool:
    return isinstance(node, cst.SimpleStatementLine) and isinstance(node.body[0], (cst.Import, cst.ImportFrom))


class _Adding(cst.CSTTransformer):
    """Adds the names of an import statement to the first one from the same package."""

    def __init__(self, package: str, statement: cst.BaseStatement) -> None:
        super().__init__()
        assert isinstance(statement, cst.SimpleStatementLine)
        (wanted,) = statement.body
        assert isinstance(wanted, cst.ImportFrom)
        assert not isinstance(wanted.names, cst.ImportStar)
        self.package = package
        self.aliases = wanted.names
        self.done = False

    def leave_ImportFrom(self, original_node: cst.ImportFrom, updated_node: cst.ImportFrom) -> cst.ImportFrom:
        if self.done or isinstance(updated_node.names, cst.ImportStar) or usage.origin(original_node) != self.package:
            return updated_node
        self.done = True
        opening = updated_node.lpar.whitespace_after if updated_node.lpar else cst.SimpleWhitespace("")
        own, between, ending = _commas(updated_node.names, opening)
        *front, last = updated_node.names
        names = [*front, last.with_changes(comma=own), *(alias.with_changes(comma=between) for alias in self.aliases)]
        return updated_node.with_changes(names=[*names[:-1], names[-1].with_changes(comma=ending)])


def _formatted(text: str) -> str:
    import black  # costs 160 ms: only where something is written

    return black.format_str(text, mode=black.Mode(line_length=_LINE_LENGTH))
