"""What templates see: the protocol with names and order, and the questions that every style asks about it.

docs/templates.md is made from the docstrings here. A change that takes something away raises VERSION.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from . import __version__, docs, ir, names, proxies, topics, unions
from .build import ancestors
from .style import Style

VERSION = 1
IMPORTS = "\0imports\0"


@dataclass(frozen=True)
class Target:
    """What to emit: the package's dotted name, and where its runtime is (empty: emitted with it)."""

    package: str = "mcp_bindings"
    runtime: str = ""

    @property
    def folder(self) -> Path:
        return Path(*self.package.split("."))


@dataclass(frozen=True)
class Revision:
    """One protocol revision as templates see it, for one style."""

    protocol: ir.Protocol
    style: Style

    @cached_property
    def names(self) -> names.Names:
        return names.name_all(self.protocol)

    @cached_property
    def topics(self) -> tuple[topics.Topic, ...]:
        """The topic modules, in import order."""
        return topics.arrange(self.protocol)

    @cached_property
    def topic_of(self) -> dict[str, str]:
        """Declaration name -> topic name."""
        return {name: topic.name for topic in self.topics for name in topic.declarations}

    @property
    def module(self) -> str:
        """The package of the revision, `v2026_07_28`."""
        return names.module(self.protocol.revision)

    @property
    def has_sessions(self) -> bool:
        """Whether the revision has what clients and servers are made of, or is a mere set of types."""
        needed = {"ClientCapabilities", "ServerCapabilities", "Implementation"}
        return bool(self.protocol.methods) and needed <= self.protocol.declarations.keys()

    def declaration(self, name: str) -> ir.Declaration:
        return self.protocol.declarations[name]

    def resolve(self, type: ir.Type) -> ir.Type:
        """`type` behind aliases; a record stays a Ref."""
        return unions.resolve(type, self.declaration)

    def record(self, type: ir.Type | str) -> ir.Record | None:
        """The record that a type or a declaration name comes down to, if it does."""
        resolved = self.resolve(ir.Ref(type) if isinstance(type, str) else type)
        found = self.declaration(resolved.name) if isinstance(resolved, ir.Ref) else None
        return found if isinstance(found, ir.Record) else None

    def bases(self, record: ir.Record) -> tuple[str, ...]:
        """The bases that this style keeps, in order. An opaque record has none."""
        kept = tuple(b for b in record.bases if (base := self.record(b)) is not None and base.kind == record.kind)
        return {"all": kept, "one": kept[:1], "none": ()}[self.style.bases]

    def inherited(self, record: ir.Record) -> dict[str, ir.Field]:
        """The members that the kept bases declare, by wire name, as the nearest base has them."""
        found: dict[str, ir.Field] = {}
        for base in reversed(self.bases(record)):
            parent = self.record(base)
            assert parent is not None
            found |= {f.wire: f for f in parent.fields}
        return found

    def own_fields(self, record: ir.Record) -> tuple[ir.Field, ...]:
        """The members to write in the class body: new ones, and those that differ from the kept bases'."""
        inherited = self.inherited(record)
        return tuple(f for f in record.fields if inherited.get(f.wire) != f)

    @cached_property
    def _derived(self) -> set[str]:
        return {b for r in self.protocol.records for b in ancestors(self.protocol.declarations, r.name)}

    def has_derived(self, name: str) -> bool:
        """Whether some record extends `name`: a field of that type may hold more than it declares."""
        return name in self._derived

    def stands_for_records(self, record: ir.Record, member: ir.Field) -> bool:
        """Whether `member` is a free map that a derived record narrows to a record, as requests do with `params`."""
        if not isinstance(self.resolve(member.type), ir.MapOf):
            return False
        heirs = (r for r in self.protocol.records if record.name in ancestors(self.protocol.declarations, r.name))
        narrowed = (heir.field(member.wire) for heir in heirs)
        return any(f is not None and not isinstance(self.resolve(f.type), ir.MapOf) for f in narrowed)

    def attribute(self, record: ir.Record | str, wire: str) -> str:
        """The Python attribute of a member."""
        return self.names.attribute(record if isinstance(record, str) else record.name, wire)

    def implied(self, attribute: str, wire: str) -> bool:
        """Whether the attribute implies the wire name (camelCase), so that it need not be written."""
        return names.camel(attribute) == wire

    def doc(self, text: str) -> str:
        """A description with its links repaired."""
        return docs.repair(text, self.protocol.declarations)

    def summary(self, record: ir.Record) -> str:
        """What to say of a record that the schema does not describe."""
        if record.owner:
            return f"An object inside `{record.owner}`."
        method = next((m for m in self.protocol.methods if record.name in (m.message, m.params, m.result)), None)
        if method is None:
            return f"`{record.name}`."
        part = {method.message: "The message", method.params: "Parameters", method.result: "The result"}[record.name]
        return f"{part} of `{method.wire}`."

    def labels(self, union: ir.Union) -> tuple[str, ...]:
        """A distinct label per arm, as plans use them."""
        return unions.labels(union.arms)

    def simple_tag(self, union: ir.Union) -> str | None:
        """The tag member, if the arms are records, each with one required tag value of its own, and nothing else."""
        match union.plan:
            case ir.ByTag(member=member, cases=cases, default=None) if all(isinstance(p, ir.Arm) for _, p in cases):
                arms = unions.leaves(union.plan)
                return member if len(cases) == len(arms) == len(union.arms) else None
            case _:
                return None

    @cached_property
    def _tags(self) -> dict[str, str]:
        tags: dict[str, str] = {}
        for type in self._types():
            if isinstance(type, ir.Union) and (member := self.simple_tag(type)):
                for arm in type.arms:
                    if isinstance(arm, ir.Ref):
                        tags.setdefault(arm.name, member)
        return tags

    def tag(self, record: ir.Record | str) -> str | None:
        """The member that tells this record apart in the simple-tag unions it is an arm of, if any."""
        return self._tags.get(record if isinstance(record, str) else record.name)

    def all_unions(self) -> tuple[ir.Union, ...]:
        """Every union of the protocol, each once."""
        return tuple(dict.fromkeys(type for type in self._types() if isinstance(type, ir.Union)))

    @cached_property
    def calls(self) -> tuple[proxies.Call, ...]:
        """Every method once, with what proxies and handlers are made from: see proxies.py."""
        return proxies.calls(self.protocol)

    def switches(self, side: Literal["client", "server"]) -> tuple[proxies.Switch, ...]:
        """The capabilities of a side that do not follow from its handlers: `attribute`, `path`, `doc`, `flag`."""
        derived = {
            call.method.capability
            for call in self.calls
            if call.method.capability and call.method.kind == "request" and call.sender != side
        }
        return proxies.switches(self.protocol, f"{side.title()}Capabilities", derived)

    def nullable(self, type: ir.Type) -> bool:
        """Whether null is a value of the type, so that an optional member of it is UNSET when absent."""
        return proxies.nullable(self.protocol, type)

    def _types(self) -> list[ir.Type]:
        found: list[ir.Type] = []

        def visit(type: ir.Type) -> None:
            found.append(type)
            for child in ir.children(type):
                visit(child)

        for declaration in self.protocol.declarations.values():
            if isinstance(declaration, ir.Alias):
                visit(declaration.type)
            else:
                for member in declaration.fields:
                    visit(member.type)
        return found


@dataclass
class Imports:
    """The imports of one module, collected while its body renders. A spec name never hides one: it gets a `_`."""

    taken: frozenset[str]
    lines: dict[tuple[str, str], str] = field(default_factory=dict)
    checking: dict[tuple[str, str], str] = field(default_factory=dict)

    def use(self, module: str, name: str = "", checking: bool = False) -> str:
        """Import `name` from `module` (or the module itself) and return how to write it."""
        local = name or module.rpartition(".")[2] or module
        if local in self.taken:
            local = f"_{local}"
        (self.checking if checking else self.lines)[module, name] = local
        return local

    def own(self, module: str, name: str, checking: bool = False) -> str:
        """Import a generated class under its own name."""
        (self.checking if checking else self.lines)[module, name] = name
        return name

    def block(self) -> str:
        """The import statements: standard library and others first, relative ones last; black tidies the rest."""
        checking = {key: local for key, local in self.checking.items() if key not in self.lines}
        runtime = dict(self.lines)
        if checking:
            runtime["typing", "TYPE_CHECKING"] = "TYPE_CHECKING"
        text = _statements(runtime, "")
        if checking:
            text += "\n\nif TYPE_CHECKING:\n" + _statements(checking, "    ")
        return text


@dataclass(frozen=True)
class Page:
    """The names that a template sees, for the one file that it renders."""

    _path: Path
    _target: Target
    _imported: Imports

    style: Style | None
    """The style being rendered; None in files that serve all styles."""
    revision: Revision | None
    """The revision being rendered, see below; None in files that serve all revisions."""
    topic: topics.Topic | None = None
    """The topic being rendered (`name`, `title`, `declarations` in order); None outside `topic/`."""
    protocols: Sequence[ir.Protocol] = ()
    """Every revision that is being generated, oldest first."""
    styles: Sequence[Style] = ()
    """Every style that is being generated."""

    @property
    def context_version(self) -> int:
        """The version of this context. It rises when something is taken away."""
        return VERSION

    @property
    def generator_version(self) -> str:
        """The version of mcp-bindgen."""
        return __version__

    @property
    def package(self) -> str:
        """The dotted name of the package being generated."""
        return self._target.package

    @property
    def protocol(self) -> ir.Protocol | None:
        """`revision.protocol`."""
        return self.revision.protocol if self.revision else None

    @property
    def names(self) -> names.Names | None:
        """`revision.names`."""
        return self.revision.names if self.revision else None

    def revision_module(self, revision: str) -> str:
        """The package of a revision: `2026-07-28` -> `v2026_07_28`."""
        return names.module(revision)

    def use(self, module: str, name: str = "", checking: bool = False) -> str:
        """Import `name` from `module` (or the module itself) and return how to write it.

        With `checking` the import is made for type checkers only. Where a name of the spec would be hidden, the
        returned name has a `_`: always write what is returned.
        """
        return self._imported.use(module, name, checking)

    def imports(self) -> str:
        """Where the import statements go, all that the file has asked for, sorted."""
        return IMPORTS

    def use_type(self, name: str, checking: bool = False) -> str:
        """The class or alias of a declaration, imported unless it stands in this topic module.

        Modules other than those of the types import it for type checkers only: loading it is up to them.
        """
        assert self.revision is not None
        python = self.revision.names.of(name)
        home = self.revision.topic_of[name]
        if self.topic is not None and self.topic.name == home:
            return python
        inside = "types" in self._path.parts
        return self._imported.own(f".{home}" if inside else f".types.{home}", python, checking or not inside)

    def is_before(self, name: str, current: str) -> bool:
        """Whether the declaration `name` is already defined where `current` is being defined."""
        assert self.revision is not None
        assert self.topic is not None
        if self.revision.topic_of[name] != self.topic.name:
            return True
        return self.topic.declarations.index(name) < self.topic.declarations.index(current)

    def runtime(self, module: str = "") -> str:
        """The runtime module to import from, absolute when the package uses an installed runtime."""
        if self._target.runtime:
            return f"{self._target.runtime}.{module}" if module else self._target.runtime
        return "." * (self._depth + 1) + (f"runtime.{module}" if module else "runtime")

    def style_module(self, module: str) -> str:
        """A module of the style's own folder to import from, such as `message`."""
        return "." * self._depth + module

    def definitions(self) -> str:
        """The module of the revision's definition table to import from."""
        assert self.revision is not None
        return "." * (self._depth + 1) + f"definitions.{self.revision.module}"

    @property
    def _depth(self) -> int:
        return len(self._path.parts) - len(self._target.folder.parts) - 1


def visible(page: Page) -> dict[str, Any]:
    """The names that a template sees."""
    return {name: getattr(page, name) for name in dir(page) if not name.startswith("_")}


def _statements(lines: dict[tuple[str, str], str], indent: str) -> str:
    modules: dict[str, list[str]] = {}
    for (module, name), local in sorted(lines.items()):
        wanted = name or module
        modules.setdefault(module, []).append(wanted if wanted == local else f"{wanted} as {local}")
        if not name:
            modules[module][-1] = f"import {modules[module][-1]}"

    def rank(module: str) -> tuple[int, int, str]:
        return (
            0 if module in _STDLIB else 2 if module.startswith(".") else 1,
            -len(module) + len(module.lstrip(".")),
            module,
        )

    groups: list[str] = []
    previous: int | None = None
    for module in sorted(modules, key=rank):
        if previous is not None and rank(module)[0] != previous:
            groups.append("")
        previous = rank(module)[0]
        plain = [item for item in modules[module] if item.startswith("import ")]
        named = [item for item in modules[module] if not item.startswith("import ")]
        groups.extend(indent + item for item in plain)
        if named:
            groups.append(f"{indent}from {module} import {', '.join(named)}")
    return "\n".join(groups)


_STDLIB = frozenset({"typing", "collections.abc", "dataclasses", "enum", "sys", "importlib", "functools", "types"})

Use = Callable[..., str]
