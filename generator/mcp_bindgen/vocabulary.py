"""The words that templates may use, read from the docstrings that stand beside their definitions."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from . import context, ir, names, proxies, render, style, topics

_CLASSES = {
    "page": context.Page,
    "revision": context.Revision,
    "names": names.Names,
    "topic": topics.Topic,
    "call": proxies.Call,
    "keyword": proxies.Keyword,
    "switch": proxies.Switch,
    "style": style.Style,
    "protocol": ir.Protocol,
    "record": ir.Record,
    "field": ir.Field,
    "alias": ir.Alias,
    "method": ir.Method,
}


@dataclass(frozen=True)
class Word:
    """A name, how it is called if it is, and what it says of itself."""

    name: str
    call: str
    doc: str


def vocabulary() -> dict[str, Any]:
    """What docs/templates.md is made of: the words of each class, tests and filters, and the version."""
    return {
        "version": context.VERSION,
        "words": {name: tuple(words(cls)) for name, cls in _CLASSES.items()},
        "about": {name: inspect.getdoc(cls) or "" for name, cls in _CLASSES.items()},
        "tests": {name: inspect.getdoc(cls) or "" for name, cls in render.TESTS.items()},
        "filters": {name: _function(function, name) for name, function in render.FILTERS.items()},
    }


def words(cls: type) -> Iterator[Word]:
    """The public attributes, properties and methods of a class in the order they are written, with their docstrings."""
    body = ast.parse(textwrap.dedent(inspect.getsource(cls))).body[0]
    assert isinstance(body, ast.ClassDef)
    for node, following in zip(body.body, [*body.body[1:], None], strict=True):
        match node:
            case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation) if not name.startswith("_"):
                yield Word(name, ast.unparse(annotation), _text(following))
            case ast.FunctionDef(name=name, args=args, returns=returns) if not name.startswith("_"):
                properties = {ast.unparse(decorator) for decorator in node.decorator_list}
                result = ast.unparse(returns) if returns else ""
                parameters = ", ".join(ast.unparse(args).split(", ")[1:])
                signature = result if properties & {"property", "cached_property"} else f"({parameters}) -> {result}"
                yield Word(name, signature, ast.get_docstring(node) or "")
            case _:
                pass


def _text(node: ast.stmt | None) -> str:
    """The string that stands alone after an attribute."""
    match node:
        case ast.Expr(value=ast.Constant(value=str(text))):
            return inspect.cleandoc(text)
        case _:
            return ""


def _function(function: Callable[..., str], name: str) -> Word:
    parameters = ", ".join(list(inspect.signature(function).parameters)[1:])
    return Word(name, f"({parameters})" if parameters else "", inspect.getdoc(function) or "")
