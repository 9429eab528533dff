"""What names in a user's module stand for: which of them lead into a revision's bindings, and where to."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import libcst as cst
from libcst.metadata import (
    CodeRange,
    MetadataWrapper,
    PositionProvider,
    QualifiedName,
    QualifiedNameProvider,
    QualifiedNameSource,
)

from .errors import BindgenError

Names: TypeAlias = Collection[QualifiedName]

_INTO = re.compile(r"(?P<home>\.*(?:\w+\.)*?)(?P<module>v(?:\d\w*|draft))(?:\.(?P<rest>[\w.]+))?")


@dataclass(frozen=True)
class Place:
    """A name in the bindings: the package of the style, the revision's module, and the path in it (may be empty)."""

    home: str
    module: str
    path: str

    @property
    def type(self) -> str | None:
        """The name of the type that this is, if it is one."""
        parts = self.path.split(".")
        return parts[-1] if parts[0] == "types" and len(parts) > 1 and parts[-1][:1].isupper() else None


@dataclass(frozen=True)
class Source:
    """A user's module: its tree, and what its nodes stand for."""

    file: Path
    tree: cst.Module
    names: Mapping[cst.CSTNode, Names | Callable[[], Names]]
    positions: Mapping[cst.CSTNode, CodeRange]

    def line(self, node: cst.CSTNode) -> int:
        return self.positions[node].start.line

    def place(self, node: cst.CSTNode) -> Place | None:
        """Where in some revision's bindings the node leads to, if it does."""
        return next(self.places(node), None)

    def places(self, node: cst.CSTNode) -> Iterator[Place]:
        for name in self.imported(node):
            place = place_of(name)
            if place is not None:
                yield place

    def imported(self, node: cst.CSTNode) -> Iterator[str]:
        """The dotted names that the node stands for by way of an import."""
        found = self.names.get(node, ())
        for name in found() if callable(found) else found:  # libcst works them out when they are asked for
            if name.source is QualifiedNameSource.IMPORT:
                yield name.name


def place_of(dotted: str) -> Place | None:
    """`mcp_bindings.pydantic.v2026_07_28.types.Tool` as a place; None for what is not inside a revision's package."""
    match = _INTO.fullmatch(dotted)
    return Place(match["home"].rstrip("."), match["module"], match["rest"] or "") if match else None


def read(file: Path) -> Source:
    """The user's module in `file`. Raises BindgenError if it is not readable as Python."""
    try:
        return parse(file, file.read_bytes())
    except OSError as error:
        raise BindgenError(str(file), f"cannot be read ({error.strerror})") from None


def parse(file: Path, data: bytes) -> Source:
    """The module `data`; `file` is its name in messages."""
    try:
        wrapper = MetadataWrapper(cst.parse_module(data), unsafe_skip_copy=True)
    except cst.ParserSyntaxError as error:
        raise BindgenError(f"{file}:{error.raw_line}", f"not Python: {error.message}", "correct it first") from None
    except (UnicodeDecodeError, LookupError, SyntaxError) as error:
        raise BindgenError(str(file), f"not Python: {error}", "correct it first") from None
    names = wrapper.resolve(QualifiedNameProvider)
    return Source(file, wrapper.module, names, wrapper.resolve(PositionProvider))


def imports(tree: cst.Module) -> Iterator[tuple[cst.Import | cst.ImportFrom, str, str]]:
    """Every name that a module imports outside of functions: the statement, the local name, and what it stands for."""
    collector = _Imports()
    tree.visit(collector)
    yield from collector.found


class _Imports(cst.CSTVisitor):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[cst.Import | cst.ImportFrom, str, str]] = []

    def visit_FunctionDef(self, node: cst.FunctionDef) -> bool:
        return False

    def visit_Import(self, node: cst.Import) -> None:
        for alias in node.names:
            dotted = alias.evaluated_name
            self.found.append((node, alias.evaluated_alias or dotted, dotted))

    def visit_ImportFrom(self, node: cst.ImportFrom) -> None:
        if isinstance(node.names, cst.ImportStar):
            return
        for alias in node.names:
            dotted = f"{origin(node)}.{alias.evaluated_name}"
            self.found.append((node, alias.evaluated_alias or alias.evaluated_name, dotted))


def origin(node: cst.ImportFrom) -> str:
    """The module that a `from` import names, relative dots included."""
    return "." * len(node.relative) + (dotted(node.module) if node.module else "")


def dotted(node: cst.BaseExpression) -> str:
    """`a.b.c` as text; empty for anything else."""
    match node:
        case cst.Name(value=value):
            return value
        case cst.Attribute(value=value, attr=cst.Name(value=last)) if front := dotted(value):
            return f"{front}.{last}"
        case _:
            return ""


def save(file: Path, data: bytes) -> None:
    """Write `file` by swapping, with the permissions that it had. Raises BindgenError."""
    temporary = file.with_name(f".{file.name}.{os.getpid()}.new")
    try:
        temporary.write_bytes(data)
        if file.exists():
            shutil.copymode(file, temporary)
        temporary.replace(file)
    except OSError as error:
        raise BindgenError(
            str(file), f"cannot be written ({error.strerror})", "free the path, then run it again"
        ) from None
    finally:
        temporary.unlink(missing_ok=True)
