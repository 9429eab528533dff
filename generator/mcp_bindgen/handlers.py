"""The handlers that a server or a client may write for a revision: the signatures of the generated base classes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from .context import Revision

Side: TypeAlias = Literal["server", "client"]

BASES: dict[Side, str] = {"server": "Server", "client": "ClientHandlers"}
CONTEXT = "ServerContext"


@dataclass(frozen=True)
class Handler:
    """One handler; `params` and `results` are Python names of types, `announced`: a capability tells of it."""

    name: str
    wire: str
    params: str | None
    results: tuple[str, ...]
    has_context: bool
    announced: bool


def handlers(revision: Revision, side: Side) -> tuple[Handler, ...]:
    """All handlers of one side, requests first, in the order of the method table."""
    return (*_requests(revision, side), *_notifications(revision, side))


def _requests(revision: Revision, side: Side) -> Iterator[Handler]:
    for call in revision.calls:
        method = call.method
        if method.kind != "request" or call.sender == side or (side == "server" and method.role != "wire"):
            continue
        answers = call.alternatives.values() if side == "server" else ()
        results = tuple(revision.names.of(name) for name in (method.result, *answers) if name)
        params = revision.names.of(method.params) if method.params else None
        yield Handler(method.name, method.wire, params, results, side == "server", method.capability is not None)


def _notifications(revision: Revision, side: Side) -> Iterator[Handler]:
    for call in revision.calls:
        method = call.method
        if method.kind == "notification" and call.sender != side:
            params = revision.names.of(method.params) if method.params else None
            yield Handler(f"on_{method.name}", method.wire, params, (), False, False)
