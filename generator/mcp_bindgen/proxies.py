"""How the methods of a revision are called: what proxies, handlers and sessions need beyond the method table."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from . import ir, names, unions
from .build import ancestors
from .errors import BindgenError

RESERVED = frozenset({"meta", "timeout", "on_progress"})
"""Keywords that every proxy has; a param of that name gets a trailing underscore there."""

_ROUTING = ("name", "uri")
_PER_ROUND = ("inputResponses", "requestState")
_INPUT_REQUIRED = "InputRequiredResult"
_LINK = re.compile(r"\{@link (\w+?Notification)")


@dataclass(frozen=True)
class Keyword:
    """A keyword of a proxy: the member that it fills, in which record."""

    record: str
    field: ir.Field
    per_round: bool = False

    @property
    def optional(self) -> bool:
        """Whether it may be left out."""
        return not self.field.required


@dataclass(frozen=True)
class Call:
    """A method of the table, in one direction or both, with the facts that proxies are made from."""

    method: ir.Method
    sender: Literal["client", "server", "both"]
    meta: str | None
    """The declaration of `_meta` in its params; None if they do not declare it."""
    keywords: tuple[Keyword, ...]
    """The members of its params, required ones first, those of a flattened member in its place; without `_meta`."""
    items: ir.Field | None = None
    """The list in a paginated result."""
    cacheable: bool = False
    name_param: str | None = None
    topic: str | None = None
    """For notifications: the filter member of the listen request that asks for them."""
    topic_key: str | None = None
    alternatives: Mapping[str, str] = field(default_factory=dict[str, str])
    """Other results, by their `resultType`."""
    assumed: Mapping[str, str | int | None] = field(default_factory=dict[str, str | int | None])
    """What a receiver assumes for members that the peer left out of the result."""

    @property
    def constant(self) -> str:
        """The name of its constant."""
        return self.method.name.upper()

    @property
    def iterator(self) -> str | None:
        """The name of the iterator over all pages, if there are pages."""
        return f"iter_{self.method.name.removeprefix('list_')}" if self.items else None


@dataclass(frozen=True)
class Switch:
    """A capability that nothing but its owner can know of: an attribute to set, and the path of what it switches on."""

    attribute: str
    path: tuple[str, ...]
    doc: str
    flag: bool = False
    """Whether it is switched on by true, and not by an object."""


def calls(protocol: ir.Protocol) -> tuple[Call, ...]:
    """Every method once, in the order of the table; one that both sides send is one row."""
    rows: dict[str, Call] = {}
    for method in protocol.methods:
        known = rows.get(method.wire)
        if known is None:
            rows[method.wire] = _call(protocol, method)
        elif known.method == replace(method, sender=known.method.sender):
            rows[method.wire] = replace(known, sender="both")
        else:
            reason = f"{method.wire} means different things in the two directions"
            fix = f"correct {known.method.message} or {method.message} so that they agree"
            raise BindgenError(f"MCP {protocol.revision}", reason, fix)
    return tuple(rows.values())


def switches(protocol: ir.Protocol, capabilities: str, derived: Iterable[str]) -> tuple[Switch, ...]:
    """The switches of a capabilities record. `derived` are the paths that follow from what is implemented."""
    record = protocol.record(capabilities)
    paths = set(derived)
    found: list[Switch] = []
    for member in record.fields:
        inner = _record(protocol, member.type)
        details = inner.fields if inner is not None and inner.kind == "closed" else ()
        if not details and member.wire not in paths and not _keyed(protocol, member.type):
            found.append(_switch(protocol, (member,)))
        found += [_switch(protocol, (member, d)) for d in details if f"{member.wire}.{d.wire}" not in paths]
    return tuple(found)


def _switch(protocol: ir.Protocol, members: tuple[ir.Field, ...]) -> Switch:
    last = members[-1]
    resolved = unions.resolve(last.type, lambda name: protocol.declarations[name])
    return Switch(
        "_".join(names.attribute(member.wire) for member in members),
        tuple(member.wire for member in members),
        last.doc,
        isinstance(resolved, ir.Scalar),
    )


def nullable(protocol: ir.Protocol, type: ir.Type) -> bool:
    """Whether null is a value of the type."""
    match unions.resolve(type, lambda name: protocol.declarations[name]):
        case ir.Any() | ir.Scalar(kind="null"):
            return True
        case ir.Union(arms=arms):
            return any(nullable(protocol, arm) for arm in arms)
        case _:
            return False


def _call(protocol: ir.Protocol, method: ir.Method) -> Call:
    params = _record(protocol, ir.Ref(method.params)) if method.params else None
    meta = params.field("_meta") if params else None
    result = _record(protocol, ir.Ref(method.result)) if method.result else None
    pages = result is not None and result.field("nextCursor") is not None
    lists = [f for f in result.fields if isinstance(f.type, ir.ListOf)] if result and pages else []
    routing = [f.wire for f in params.fields if f.wire in _ROUTING and f.required] if params else []
    topic, key = _topic(protocol, method, params)
    return Call(
        method,
        method.sender,
        meta.type.name if meta and isinstance(meta.type, ir.Ref) else None,
        _keywords(protocol, method, params),
        items=lists[0] if lists else None,
        cacheable=result is not None and result.field("ttlMs") is not None,
        name_param=routing[0] if routing and method.kind == "request" else None,
        topic=topic,
        topic_key=key,
        alternatives=_alternatives(protocol, method),
        assumed=_assumed(protocol, method.result) if method.role == "wire" else {},
    )


def _keywords(protocol: ir.Protocol, method: ir.Method, params: ir.Record | None) -> tuple[Keyword, ...]:
    found: list[Keyword] = []
    for member in params.fields if params else ():
        inner = _record(protocol, member.type) if member.wire == method.flatten else None
        if params is None or member.wire == "_meta" or member.fill is not None:
            continue
        if inner is not None:
            found += [Keyword(inner.name, f) for f in inner.fields]
        else:
            found.append(Keyword(params.name, member, method.multi_round and member.wire in _PER_ROUND))
    return tuple(sorted(found, key=lambda keyword: keyword.optional))


def _alternatives(protocol: ir.Protocol, method: ir.Method) -> dict[str, str]:
    if not method.multi_round:
        return {}
    tag = protocol.record(_INPUT_REQUIRED).field("resultType")
    assert tag is not None
    return {str(tag.type.value): _INPUT_REQUIRED} if isinstance(tag.type, ir.Const) else {}


def _assumed(protocol: ir.Protocol, result: str | None) -> dict[str, str | int | None]:
    record = _record(protocol, ir.Ref(result)) if result else None
    if record is None:
        return {}
    line = {record.name, *ancestors(protocol.declarations, record.name)}
    return {rule.member: rule.value for rule in protocol.receive if rule.definition in line}


def _topic(
    protocol: ir.Protocol, method: ir.Method, params: ir.Record | None
) -> tuple[str, str | None] | tuple[None, None]:
    """The filter member whose description links to this notification, and the param that a list there is about."""
    if method.kind != "notification" or method.sender != "server":
        return None, None
    for listen in protocol.methods:
        request = _record(protocol, ir.Ref(listen.params)) if listen.params and listen.flatten else None
        wanted = request.field(listen.flatten) if request and listen.flatten else None
        filter = _record(protocol, wanted.type) if wanted else None
        for member in filter.fields if filter else ():
            if _LINK.findall(member.doc) == [method.message]:
                required = [f.wire for f in params.fields if f.required] if params else []
                return member.wire, required[0] if isinstance(member.type, ir.ListOf) else None
    return None, None


def _record(protocol: ir.Protocol, type: ir.Type) -> ir.Record | None:
    resolved = unions.resolve(type, lambda name: protocol.declarations[name])
    found = protocol.declarations[resolved.name] if isinstance(resolved, ir.Ref) else None
    return found if isinstance(found, ir.Record) else None


def _keyed(protocol: ir.Protocol, type: ir.Type) -> bool:
    """Whether the type is a map of settings by name, such as extensions."""
    resolved = unions.resolve(type, lambda name: protocol.declarations[name])
    if not isinstance(resolved, ir.MapOf):
        return False
    return not isinstance(unions.resolve(resolved.value, lambda name: protocol.declarations[name]), ir.Any)
