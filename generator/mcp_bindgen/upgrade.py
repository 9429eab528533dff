"""A user's code moved from one revision to another: what is certain is rewritten, the rest becomes a report."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import libcst as cst

from . import ir, usage
from .context import Revision
from .errors import BindgenError
from .handlers import Side, handlers
from .inference import Client, Inference, Known, Own, Value, records
from .moves import Moves
from .output import MARK

_SKIPPED = frozenset({"node_modules", "site-packages", "__pycache__"})


@dataclass(frozen=True, order=True)
class Finding:
    """Something that a person has to decide."""

    line: int
    text: str


@dataclass(frozen=True)
class Upgrade:
    """One module before and after, and what could not be decided in it."""

    file: Path
    before: bytes
    after: bytes
    findings: tuple[Finding, ...]

    @property
    def changed(self) -> bool:
        return self.before != self.after

    def unified(self) -> Iterator[str]:
        """The change as a unified diff."""
        before, after = (data.decode("utf-8", "replace").splitlines(True) for data in (self.before, self.after))
        yield from difflib.unified_diff(before, after, str(self.file), f"{self.file} (upgraded)")


def modules(paths: Sequence[Path]) -> Iterator[Path]:
    """The Python modules at and below `paths`, without hidden folders and installed packages. Raises BindgenError."""
    for path in paths:
        if path.is_file():
            yield path
        elif path.is_dir():
            for file in sorted(path.rglob("*.py")):
                inner = file.relative_to(path).parts
                if not any(part.startswith(".") or part in _SKIPPED for part in inner):
                    yield file
        else:
            raise BindgenError(str(path), "no such file or folder")


def upgrade(file: Path, moves: Moves) -> Upgrade | None:
    """The module in `file` moved; None if it does not use the old revision. Raises BindgenError."""
    try:
        data = file.read_bytes()
    except OSError as error:
        raise BindgenError(str(file), f"cannot be read ({error.strerror})") from None
    old, revision = moves.old.module, moves.old.protocol.revision
    if MARK.encode() in data[:200] or (old.encode() not in data and revision.encode() not in data):
        return None
    source = usage.parse(file, data)
    inference = Inference(source, moves, old)
    source.tree.visit(inference)
    rewrite = _Rewrite(source, moves, inference)
    tree = source.tree.visit(rewrite)
    return Upgrade(file, data, tree.bytes, tuple(sorted(set(rewrite.findings))))


class _Rewrite(cst.CSTTransformer):
    """Writes what is certain in terms of the new revision, and collects the rest."""

    def __init__(self, source: usage.Source, moves: Moves, inference: Inference) -> None:
        super().__init__()
        self.source = source
        self.moves = moves
        self.inference = inference
        self.old = moves.old.module
        self.new = moves.new.module
        self.revision = moves.new.protocol.revision
        self.findings: list[Finding] = []
        self.patterns: dict[cst.MatchKeywordElement, Mapping[str, str | None]] = {}
        words = set(re.findall(r"\w+", source.tree.code))
        self.clashing = {old for old, new in moves.types.items() if new and new != old and new in words}
        """Renamed types whose new name the module has already: they keep their old one, by `as`."""

    def tell(self, node: cst.CSTNode, text: str) -> None:
        self.findings.append(Finding(self.source.line(node), text))

    def gone(self, node: cst.CSTNode, what: str) -> None:
        self.tell(node, f"{what} is gone in {self.revision}")

    # --- imports -----------------------------------------------------------------------------------------------------

    def visit_ImportFrom(self, node: cst.ImportFrom) -> bool:
        return False

    def visit_Import(self, node: cst.Import) -> bool:
        return False

    def leave_ImportFrom(self, original_node: cst.ImportFrom, updated_node: cst.ImportFrom) -> cst.ImportFrom:
        if isinstance(original_node.names, cst.ImportStar):
            if self.old in usage.origin(original_node).split("."):
                self.tell(original_node, "what `import *` brings cannot be followed")
                return self.moved(updated_node, usage.origin(original_node))
            return updated_node
        origin = usage.origin(original_node)
        place = usage.place_of(origin)
        if place is None or place.module != self.old:
            names = [self.module_alias(alias, origin) for alias in original_node.names]
            return updated_node.with_changes(names=names) if names != list(original_node.names) else updated_node
        names = [self.alias(original_node, alias, place.path) for alias in original_node.names]
        return self.moved(updated_node, origin, names)

    def moved(
        self, node: cst.ImportFrom, origin: str, names: Sequence[cst.ImportAlias] | None = None
    ) -> cst.ImportFrom:
        """The statement with the new revision's module, and the topic that its types are in now."""
        steps = [self.new if step == self.old else step for step in origin.lstrip(".").split(".")]
        if "types" in steps[:-1] and names:
            topics = {self.moves.topics.get(alias.evaluated_name, steps[-1]) for alias in names}
            steps[-1:] = list(topics) if len(topics) == 1 else []
        module = cst.parse_expression(".".join(steps))
        changed = node.with_changes(module=module)
        return changed.with_changes(names=list(names)) if names else changed

    def module_alias(self, alias: cst.ImportAlias, origin: str) -> cst.ImportAlias:
        """`from package import v2025_11_25`."""
        inside = usage.place_of(f"{origin}.{alias.evaluated_name}")
        return alias.with_changes(name=cst.Name(self.new)) if inside and inside.module == self.old else alias

    def alias(self, statement: cst.ImportFrom, alias: cst.ImportAlias, path: str) -> cst.ImportAlias:
        """One imported name of the old revision."""
        name = alias.evaluated_name
        table = self.table(path)
        if table is None or name not in table:
            return alias
        new = table[name]
        if new is None:
            self.gone(statement, self.called(path, name))
            return alias
        if new != name and name in self.clashing and alias.asname is None:
            as_name = cst.AsName(cst.Name(name))
            return alias.with_changes(name=cst.Name(new), asname=as_name)
        return alias.with_changes(name=cst.Name(new)) if new != name else alias

    def table(self, path: str) -> Mapping[str, str | None] | None:
        """What became of the names in a module of the old revision."""
        return self.moves.types if path.startswith("types") else self.moves.constants if path == "methods" else None

    def called(self, path: str, name: str) -> str:
        return f"{'types' if path.startswith('types') else path}.{name}"

    def leave_Import(self, original_node: cst.Import, updated_node: cst.Import) -> cst.Import:
        names = [self.whole(alias) for alias in original_node.names]
        return updated_node.with_changes(names=names) if names != list(original_node.names) else updated_node

    def whole(self, alias: cst.ImportAlias) -> cst.ImportAlias:
        """`import package.v2025_11_25`."""
        steps = alias.evaluated_name.split(".")
        if self.old not in steps:
            return alias
        name = cst.parse_expression(".".join(self.new if step == self.old else step for step in steps))
        return alias.with_changes(name=name)

    # --- names -------------------------------------------------------------------------------------------------------

    def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.Name:
        place = self.inference.place(original_node)
        if place is None:
            return updated_node
        if not place.path:
            return updated_node.with_changes(value=self.new) if original_node.value == self.old else updated_node
        path, _, name = place.path.rpartition(".")
        new = (self.table(path) or {}).get(name)
        if new and new != name and original_node.value == name and name not in self.clashing:
            return updated_node.with_changes(value=new)
        return updated_node

    def leave_Attribute(self, original_node: cst.Attribute, updated_node: cst.Attribute) -> cst.Attribute:
        name = original_node.attr.value
        place = self.inference.place(original_node)
        if place is not None:
            new = self.new if not place.path and name == self.old else self.inside(original_node, place.path)
        else:
            owner = self.inference.owners.get(original_node)
            new = self.outside(original_node, owner, name)
        return updated_node.with_changes(attr=cst.Name(new)) if new and new != name else updated_node

    def inside(self, node: cst.Attribute, path: str) -> str | None:
        """The new name of an attribute of one of the revision's modules."""
        module, _, name = path.rpartition(".")
        table = self.table(module)
        if table is None or name not in table or name != node.attr.value:
            return None
        if table[name] is None:
            self.gone(node, self.called(module, name))
        return table[name]

    def outside(self, node: cst.Attribute, owner: Known | None, name: str) -> str | None:
        """The new name of an attribute of a value."""
        match owner:
            case None:
                if name in self.moves.distinctive and not any(self.source.imported(node)):
                    member = self.moves.distinctive[name]
                    self.tell(node, f".{name}: if this is {member}, it is gone or renamed in {self.revision}")
                return None
            case Client():
                return self.looked_up(node, self.moves.clients, name, f"the client's {name}()")
            case Own(side=side):
                table = self.moves.handlers(side) | self.moves.publishers
                return self.looked_up(node, table, name, f"{name}()")
            case Value():
                return self.member(node, owner, name)

    def member(self, node: cst.Attribute, owner: Value, name: str) -> str | None:
        """The new name of a record's attribute, if all records that it may be agree on it."""
        before = list(records(owner.old, self.moves.old))
        found = {self.moves.attributes(record.name).get(name, name) for record in before}
        new = found.pop() if len(found) == 1 else None
        for record in before:
            if self.moves.attributes(record.name).get(name, name) is None:
                self.gone(node, f"{record.name}.{name}")
            for change in self.moves.changed(record.name, name, "reading"):
                self.tell(node, change)
        if new and all(self.has(self.moves.old, record, name) for record in before):
            for record in records(owner.new, self.moves.new):
                if not self.has(self.moves.new, record, new):
                    self.tell(node, f"in {self.revision} this may also be {record.name}, which has no {new}")
        return new

    def has(self, revision: Revision, record: ir.Record, name: str) -> bool:
        return any(revision.attribute(record, field.wire) == name for field in record.fields)

    def looked_up(self, node: cst.CSTNode, table: Mapping[str, str | None], name: str, what: str) -> str | None:
        if name in table and table[name] is None:
            self.gone(node, what)
        return table.get(name)

    # --- calls, patterns, handlers -----------------------------------------------------------------------------------

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.Call:
        type = self.inference.named(original_node.func)
        if type is not None:
            table = self.moves.attributes(type)
            needed = self.moves.needed(type)
            what = f"{self.moves.old.names.of(type)}(…)"
        elif self.is_client(original_node.func):
            assert isinstance(original_node.func, cst.Attribute)
            call = self.moves.calls.get(original_node.func.attr.value)
            if call is None or original_node.func.attr.value != call.method.name:
                return updated_node
            table = self.moves.keywords(call) if self.moves.clients.get(call.method.name) else {}
            needed = self.moves.needed_keywords(call)
            what = f"{call.method.name}(…)"
        else:
            return updated_node
        for argument in original_node.args if type else ():
            for change in self.moves.changed(type or "", argument.keyword.value, "writing") if argument.keyword else ():
                self.tell(argument, change)
        pairs = zip(original_node.args, updated_node.args, strict=True)
        arguments = [self.argument(arg, new, table, what) for arg, new in pairs]
        given = {argument.keyword.value for argument in arguments if argument.keyword}
        missing = [name for name in needed if name not in given]
        if missing and not any(argument.star for argument in arguments):
            self.tell(original_node, f"{what} needs {', '.join(missing)} in {self.revision}")
        return updated_node.with_changes(args=arguments)

    def is_client(self, func: cst.BaseExpression) -> bool:
        return isinstance(func, cst.Attribute) and isinstance(self.inference.owners.get(func), Client)

    def argument(self, original: cst.Arg, arg: cst.Arg, table: Mapping[str, str | None], what: str) -> cst.Arg:
        name = original.keyword.value if original.keyword else ""
        if name not in table:
            return arg
        new = table[name]
        if new is None:
            self.gone(original, f"{name}= of {what}")
            return arg
        return arg.with_changes(keyword=cst.Name(new)) if new != name else arg

    def leave_MatchKeywordElement(
        self, original_node: cst.MatchKeywordElement, updated_node: cst.MatchKeywordElement
    ) -> cst.MatchKeywordElement:
        table = self.patterns.get(original_node, {})
        name = original_node.key.value
        if name in table and table[name] is None:
            self.gone(original_node, f".{name}")
        new = table.get(name)
        return updated_node.with_changes(key=cst.Name(new)) if new and new != name else updated_node

    def visit_MatchClass(self, node: cst.MatchClass) -> None:
        type = self.inference.named(node.cls)
        if type is not None:
            self.patterns |= dict.fromkeys(node.kwds, self.moves.attributes(type))

    def leave_FunctionDef(self, original_node: cst.FunctionDef, updated_node: cst.FunctionDef) -> cst.FunctionDef:
        side = self.inference.classes.get(original_node)
        if side is None:
            return updated_node
        name = original_node.name.value
        new = self.looked_up(original_node, self.moves.handlers(side), name, f"the handler {name}()")
        node = updated_node.with_changes(name=cst.Name(new)) if new and new != name else updated_node
        return self.parameter(original_node, node, side, new) if new else node

    def parameter(self, original: cst.FunctionDef, node: cst.FunctionDef, side: Side, name: str) -> cst.FunctionDef:
        """A handler takes what the new revision sends, though the name of its params may now stand for more."""
        before = next((h.params for h in handlers(self.moves.old, side) if h.name == original.name.value), None)
        after = next((h.params for h in handlers(self.moves.new, side) if h.name == name), None)
        parameters = list(node.params.params)
        annotation = original.params.params[1].annotation if len(parameters) > 1 else None
        place = self.inference.place(annotation.annotation) if annotation else None
        if after is None or place is None or place.type != before or self.moves.types.get(before or "") == after:
            return node
        self.tell(original, f"{name}() takes {after} in {self.revision}")
        now = parameters[1].annotation
        if now is None or not isinstance(now.annotation, cst.Attribute):
            return node
        expression = now.annotation.with_changes(attr=cst.Name(after))
        parameters[1] = parameters[1].with_changes(annotation=now.with_changes(annotation=expression))
        return node.with_changes(params=node.params.with_changes(params=parameters))

    # --- strings -----------------------------------------------------------------------------------------------------

    def leave_Annotation(self, original_node: cst.Annotation, updated_node: cst.Annotation) -> cst.Annotation:
        if not isinstance(original_node.annotation, cst.SimpleString):
            return updated_node
        written = original_node.annotation.value

        def replaced(match: re.Match[str]) -> str:
            return self.moves.types.get(match[0]) or match[0]

        text = re.sub(r"\b[A-Z]\w*", replaced, written) if self.inference.place(original_node.annotation) else written
        return updated_node.with_changes(annotation=cst.SimpleString(text)) if text != written else updated_node

    def visit_SimpleString(self, node: cst.SimpleString) -> None:
        value = node.evaluated_value
        if value == self.moves.old.protocol.revision:
            self.tell(node, f"a string names the revision {value}")
        elif isinstance(value, str) and value in self.moves.wires:
            self.gone(node, value)
        elif isinstance(value, str) and self.old in value:
            self.tell(node, f"a string names {self.old}")
