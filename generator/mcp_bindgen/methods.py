"""The method table: direction from the Client/Server unions, results from naming, embedded requests apart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

from . import ir
from .errors import BindgenError
from .names import snake
from .overlay import Overlay

_WIRE: tuple[tuple[str, Literal["request", "notification"], Literal["client", "server"]], ...] = (
    ("ClientRequest", "request", "client"),
    ("ClientNotification", "notification", "client"),
    ("ServerRequest", "request", "server"),
    ("ServerNotification", "notification", "server"),
)
_EMBEDDED = "InputRequest"
_MULTI_ROUND = "InputRequiredResult"


def method_table(declared: Mapping[str, ir.Declaration], overlay: Overlay) -> tuple[ir.Method, ...]:
    """Every method of the revision, wire ones first. Raises BindgenError for stale overlay entries."""
    rows: list[ir.Method] = []
    for union, kind, sender in _WIRE:
        rows += [_method(declared, name, kind, sender, overlay) for name in _arms(declared, union)]
    for name in _arms(declared, _EMBEDDED):
        rows.append(replace(_method(declared, name, "request", "server", overlay), role="embedded"))
    messages = {row.message for row in rows}
    wires = {row.wire for row in rows}
    for message in overlay.renames:
        if message not in messages:
            raise overlay.stale("renames", message, "no such message")
    for wire in overlay.capabilities:
        if wire not in wires:
            raise overlay.stale("capabilities", wire, "no such method")
    for params in overlay.flatten:
        if params not in {row.params for row in rows}:
            raise overlay.stale("flatten", params, "no such params")
    return tuple(rows)


def _arms(declared: Mapping[str, ir.Declaration], union: str) -> list[str]:
    match declared.get(union):
        case ir.Alias(type=ir.Union(arms=arms)):
            return [arm.name for arm in arms if isinstance(arm, ir.Ref)]
        case ir.Alias(type=ir.Ref(name=name)):
            return [name]
        case ir.Record() as record:
            return [_repeated(declared, record)]
        case _:
            return []


def _repeated(declared: Mapping[str, ir.Declaration], union: ir.Record) -> str:
    """The message that a union of one spells out again instead of referring to it, else the union itself."""
    shape = [(f.wire, f.type, f.required) for f in union.fields]
    for other in declared.values():
        fields = other.fields if isinstance(other, ir.Record) and other.name != union.name else ()
        if fields and [(f.wire, f.type, f.required) for f in fields] == shape:
            return other.name
    return union.name


def _method(
    declared: Mapping[str, ir.Declaration],
    message: str,
    kind: Literal["request", "notification"],
    sender: Literal["client", "server"],
    overlay: Overlay,
) -> ir.Method:
    record = declared[message]
    method = record.field("method") if isinstance(record, ir.Record) else None
    if not isinstance(record, ir.Record) or method is None or not isinstance(method.type, ir.Const):
        raise BindgenError(
            f"{overlay.file}#corrections",
            f"{message} is a {kind} without a constant `method`",
            f"correct the definition {message}",
        )
    params = record.field("params")
    stem = message.removesuffix("Request" if kind == "request" else "Notification")
    result, multi_round = _result(declared, stem) if kind == "request" else (None, False)
    rename = overlay.renames.get(message)
    params_name = params.type.name if params and isinstance(params.type, ir.Ref) else None
    flatten = overlay.flatten.get(params_name) if params_name else None
    wire = str(method.type.value)
    return ir.Method(
        wire=wire,
        name=rename.method if rename else snake(stem),
        kind=kind,
        sender=sender,
        message=message,
        params=params_name,
        params_required=bool(params and params.required),
        result=result,
        multi_round=multi_round,
        capability=overlay.capabilities.get(wire),
        flatten=flatten.member if flatten else None,
        doc=record.doc,
        deprecated=record.deprecated,
    )


def _result(declared: Mapping[str, ir.Declaration], stem: str) -> tuple[str, bool]:
    """`XResultResponse.result` if there is one, else `XResult`, else `EmptyResult`; and whether it may take rounds."""
    response = declared.get(f"{stem}ResultResponse")
    member = response.field("result") if isinstance(response, ir.Record) else None
    match member.type if member else None:
        case ir.Ref(name=name):
            return name, False
        case ir.Union(arms=arms):
            names = [arm.name for arm in arms if isinstance(arm, ir.Ref)]
            final = [name for name in names if name != _MULTI_ROUND]
            if len(final) == 1:
                return final[0], len(final) < len(names)
        case _:
            pass
    name = f"{stem}Result"
    return (name if name in declared else "EmptyResult"), False
