"""One definition as the intermediate model sees it, for people."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Sequence

from . import ir, unions
from .context import Revision
from .errors import BindgenError
from .style import Style


def explain(protocol: ir.Protocol, name: str, styles: Sequence[Style]) -> Iterator[str]:
    """Lines about the definition, inline object or method called `name`. Raises BindgenError if there is none."""
    method = next((m for m in protocol.methods if name in (m.wire, m.name)), None)
    declaration = protocol.declarations.get(method.message if method else name)
    if declaration is None:
        names = [*protocol.declarations, *(m.wire for m in protocol.methods)]
        close = difflib.get_close_matches(name, names, 3) or names[:3]
        raise BindgenError(
            f"MCP {protocol.revision}", f"no definition or method called {name!r}", f"did you mean {', '.join(close)}?"
        )
    revision = Revision(protocol, styles[0])
    yield f"{declaration.name} (MCP {protocol.revision}){', deprecated' if declaration.deprecated else ''}"
    if declaration.owner:
        yield f"  inline object of {declaration.owner}"
    if declaration.doc:
        yield from (f"  | {line}".rstrip() for line in revision.doc(declaration.doc).splitlines())
    if isinstance(declaration, ir.Record):
        yield from _record(revision, declaration)
    else:
        yield f"  is {show(declaration.type)}"
        yield from _plans(revision, declaration.type, "")
    yield from _usage(protocol, declaration.name)
    for style in styles:
        view = Revision(protocol, style)
        yield f"  {style.name}: {view.module}.types.{view.topic_of[declaration.name]}.{view.names.of(declaration.name)}"


def show(type: ir.Type, name: Callable[[str], str] = str) -> str:
    """A type in words close to JSON Schema's; `name` says how to write a declaration's name."""
    match type:
        case ir.Scalar(kind=kind, minimum=low, maximum=high):
            bounds = (
                f" {'' if low is None else low}..{'' if high is None else high}" if (low, high) != (None, None) else ""
            )
            return f"{kind}{bounds}"
        case ir.Const(value=value):
            return f"constant {value!r}"
        case ir.Enum(values=values, open=is_open):
            return " | ".join(map(repr, values)) + (" | any other string" if is_open else "")
        case ir.ListOf(item=item, max_items=most):
            return f"list of {show(item, name)}" + (f", at most {most}" if most is not None else "")
        case ir.MapOf(value=value):
            return f"map of {show(value, name)}"
        case ir.Ref(name=declaration):
            return name(declaration)
        case ir.Any():
            return "any JSON value"
        case ir.Union(arms=arms):
            return "(" + " | ".join(show(arm, name) for arm in arms) + ")"


def _record(revision: Revision, record: ir.Record) -> Iterator[str]:
    kinds = {
        "closed": "object; undeclared members are tolerated",
        "open": "open map; undeclared members are kept",
        "opaque": "opaque object; declared members are checked, nothing is touched",
    }
    yield f"  {kinds[record.kind]}"
    if record.bases:
        yield f"  extends {', '.join(record.bases)}"
    for field in record.fields:
        attribute = revision.attribute(record, field.wire)
        named = f" as {attribute}" if attribute != field.wire else ""
        notes = ["required" if field.required else "optional"]
        if field.fill is not None:
            notes.append(f"filled in with {field.fill!r}")
        if field.deprecated:
            notes.append("deprecated")
        yield f"    {field.wire}{named}: {show(field.type)} ({', '.join(notes)})"
        yield from _plans(revision, field.type, "    ")


def _plans(revision: Revision, type: ir.Type, indent: str) -> Iterator[str]:
    if isinstance(type, ir.Union):
        yield f"{indent}  decided by:"
        yield from unions.explain(type.plan, revision.labels(type), f"{indent}    ")
    else:
        for child in ir.children(type):
            yield from _plans(revision, child, indent)


def _usage(protocol: ir.Protocol, name: str) -> Iterator[str]:
    for method in protocol.methods:
        if name in (method.message, method.params, method.result):
            part = {method.message: "message", method.params: "params", method.result: "result"}[name]
            sent = f"{method.kind} from the {method.sender}"
            embedded = ", embedded in results" if method.role == "embedded" else ""
            yield f"  {part} of {method.wire} ({sent}{embedded}), in Python {method.name}"
    users = [d.name for d in protocol.declarations.values() if name in ir.uses(d)]
    yield f"  used by {', '.join(users)}" if users else "  used by nothing"
