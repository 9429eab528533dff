"""Reading order: which module a declaration belongs to, and where in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from . import ir
from .names import identifier, snake

SHARED = "shared"
NOTIFICATIONS = "notifications"
MESSAGES = "messages"


@dataclass(frozen=True)
class Topic:
    """A module of types. `title` is the method it serves, or what the shared ones hold."""

    name: str
    title: str
    declarations: tuple[str, ...]


def arrange(protocol: ir.Protocol) -> tuple[Topic, ...]:
    """Every declaration in exactly one topic; a topic only needs those before it.

    A method's own messages make its topic, with what only they reach. What several topics reach is shared, what no
    method reaches are the unions over all messages. The overlay may move a declaration to a topic of its choice.
    """
    owner = _own_messages(protocol)
    reached: dict[str, set[str]] = {name: set() for name in protocol.declarations}
    for name, topic in owner.items():
        _reach(protocol, name, topic, owner, reached)
    placed = {name: _place(name, owner, reached[name], protocol) for name in protocol.declarations}
    placed = {**placed, **protocol.topics}
    placed = _settle(placed, protocol)
    titles = {_topic_name(m): f"`{m.wire}`" for m in protocol.methods}
    titles |= {
        SHARED: "what several methods share",
        NOTIFICATIONS: "notifications",
        MESSAGES: "messages of any method",
    }
    order = _module_order(placed, protocol)
    return tuple(
        Topic(topic, titles.get(topic, topic.replace("_", " ")), _declaration_order(topic, placed, protocol))
        for topic in order
    )


def _topic_name(method: ir.Method) -> str:
    """`tools/call` -> `tools_call`; all notifications share a topic."""
    return NOTIFICATIONS if method.kind == "notification" else identifier(snake(method.wire.replace("/", "_")))


def _own_messages(protocol: ir.Protocol) -> dict[str, str]:
    """Requests, params, results and responses of each method, unless two methods use the same one."""
    owner: dict[str, str] = {}
    contested: set[str] = set()
    for method in protocol.methods:
        stem = method.message.removesuffix("Request")
        names = {method.message, method.params, method.result, f"{stem}ResultResponse"}
        for name in filter(None, names):
            topic = _topic_name(method)
            if name in protocol.declarations and owner.setdefault(name, topic) != topic:
                contested.add(name)
    return {name: topic for name, topic in owner.items() if name not in contested}


def _reach(
    protocol: ir.Protocol, name: str, topic: str, owner: Mapping[str, str], reached: dict[str, set[str]]
) -> None:
    if topic in reached[name]:
        return
    reached[name].add(topic)
    for used in ir.uses(protocol.declarations[name]):
        if used not in owner:
            _reach(protocol, used, topic, owner, reached)


def _place(name: str, owner: Mapping[str, str], topics: set[str], protocol: ir.Protocol) -> str:
    if name in owner:
        return owner[name]
    if len(topics) == 1:
        return next(iter(topics))
    return SHARED if topics else MESSAGES


def _settle(placed: dict[str, str], protocol: ir.Protocol) -> dict[str, str]:
    """Break module cycles: what a lower topic needs moves down into it, what needs the messages moves up."""
    placed = dict(placed)
    changed = True
    while changed:
        changed = False
        for name, topic in list(placed.items()):
            for used in ir.uses(protocol.declarations[name]):
                if topic == SHARED and placed[used] != SHARED:
                    placed[used], changed = SHARED, True
        cycle = _cycle(placed, protocol)
        if cycle:
            for name, topic in list(placed.items()):
                if topic in cycle and topic != MESSAGES:
                    placed[name], changed = SHARED, True
    return placed


def _edges(placed: Mapping[str, str], protocol: ir.Protocol) -> dict[str, set[str]]:
    edges: dict[str, set[str]] = {topic: set() for topic in placed.values()}
    for name, topic in placed.items():
        edges[topic] |= {placed[used] for used in ir.uses(protocol.declarations[name])} - {topic}
    return edges


def _cycle(placed: Mapping[str, str], protocol: ir.Protocol) -> set[str]:
    """The topics of one import cycle, empty if there is none."""
    edges = _edges(placed, protocol)

    def below(topic: str) -> set[str]:
        seen: set[str] = set()
        queue = [topic]
        while queue:
            for other in edges[queue.pop()]:
                if other not in seen:
                    seen.add(other)
                    queue.append(other)
        return seen

    for topic in edges:
        if topic in (reach := below(topic)):
            return {other for other in reach if topic in below(other)} | {topic}
    return set()


def _module_order(placed: Mapping[str, str], protocol: ir.Protocol) -> list[str]:
    edges = _edges(placed, protocol)
    order: list[str] = []

    def visit(topic: str) -> None:
        if topic not in order:
            for other in sorted(edges[topic]):
                visit(other)
            order.append(topic)

    for topic in (SHARED, *sorted(edges)):
        if topic in edges:
            visit(topic)
    return order


def _declaration_order(topic: str, placed: Mapping[str, str], protocol: ir.Protocol) -> tuple[str, ...]:
    """What is used stands before its user where the types allow; bases always do."""
    members = [name for name in protocol.declarations if placed[name] == topic]
    order: list[str] = []
    visiting: set[str] = set()

    def visit(name: str) -> None:
        if name in order or name in visiting:
            return
        visiting.add(name)
        for used in ir.uses(protocol.declarations[name]):
            if placed[used] == topic:
                visit(used)
        order.append(name)

    for name in members:
        visit(name)
    return tuple(order)
