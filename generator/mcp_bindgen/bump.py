"""A new revision, or a corrected copy of a known one: from its bytes to pin, overlay and a list of what to review."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import diff, ir, report, source
from .build import build
from .draft import Draft, Input, draft
from .errors import BindgenError
from .fetch import Origin
from .overlay import read_overlay

_REVISION = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]*")


@dataclass(frozen=True)
class Bump:
    """What a bump found: the files to write below the schema folder, and what to tell."""

    revision: str
    origin: Origin
    size: int
    sha256: str
    files: Mapping[Path, str]
    draft: Draft | None
    previous: ir.Protocol | None
    known: bool


def check_name(revision: str) -> None:
    """Raise BindgenError for what cannot be the name of a revision."""
    if not _REVISION.fullmatch(revision):
        raise BindgenError(revision, "not a revision", "name it as the spec's folder is called, e.g. 2026-07-28")


def bump(folder: Path, revision: str, origin: Origin, data: bytes, date: str) -> Bump:
    """What the schema `data` of `revision` makes of the schema folder; nothing is written. Raises BindgenError."""
    pins = source.read_pins(folder)
    digest = hashlib.sha256(data).hexdigest()
    known = revision in pins
    if known and pins[revision].sha256 == digest:
        return Bump(revision, origin, len(data), digest, {}, None, None, known)
    pin = source.Pin(revision, origin.path, origin.commit, digest, date)
    document = source.parse(Path(origin.location), data)
    place = folder / revision
    neighbour = revision if known else _neighbour(pins, revision)
    previous = _model(folder, neighbour, pins) if neighbour else None
    start = _overlay(folder / neighbour / "overlay.json") if neighbour else {}
    if not known:
        start = _merged(start, _overlay(place / "overlay.json"))
    made = draft(Input(document, pin, origin.location, str(place / "overlay.json")), start, previous)
    files = {
        Path(revision) / "schema.json": _text(data, origin.location),
        Path(revision) / "overlay.json": _json(made.overlay),
        Path(source.PINS): _json(_pinned(folder, pin)),
    }
    return Bump(revision, origin, len(data), digest, files, made, previous, known)


def second_opinion(made: Draft) -> tuple[str, ...]:
    """What datamodel-code-generator sees differently, beyond what the overlay lists."""
    from . import oracle  # brings the whole tool

    try:
        found = oracle.compare(made.protocol, made.schema)
    except Exception as error:  # the other tool's own trouble is no reason to refuse a schema
        return (f"none: datamodel-code-generator fails with {type(error).__name__}: {_shortened(str(error))}",)
    listed = made.schema.overlay.disagreements
    agreed = [place for place in listed if place not in {d.place for d in found}]
    surprises = [str(d) for d in found if d.place not in listed]
    return (*surprises, *(f"{place}: the two agree now, drop it from disagreements" for place in agreed))


def tell(found: Bump, disagreements: tuple[str, ...] | None, colour: bool, width: int) -> Iterator[str]:
    """What a person wants to know about a bump, what to review first."""
    yield f"{found.revision}: {found.size:,} bytes, sha256 {found.sha256}"
    yield f"  from {found.origin.location}" + (f", commit {found.origin.commit}" if found.draft else "")
    if found.draft is None:
        yield "  the pinned copy already: nothing to do"
        return
    made = found.draft
    if made.questions:
        yield ""
        yield f"to review in {made.schema.overlay.file}, `check` fails until the marks are gone:"
        for question in made.questions:
            yield f"  {question.section}.{question.entry}: {question.text}"
            if question.example is not None:
                yield f"      {json.dumps(question.example, ensure_ascii=False)}"
    yield ""
    start = found.previous.revision if found.previous else "nothing"
    yield f"overlay: started from {start}, {made.kept} entries kept, {len(made.dropped)} dropped"
    for dropped in made.dropped:
        yield f"  {dropped.section} {dropped.entry}: {_shortened(dropped.reason)}"
    if disagreements is not None:
        definitions = sum(not d.owner for d in made.protocol.declarations.values())
        yield ""
        yield f"second opinion: {definitions} definitions compared, {len(disagreements)} disagreements"
        yield from (f"  {line}" for line in disagreements)
    if found.previous is not None:
        yield ""
        changes = diff.compare(found.previous, made.protocol)
        if found.known:
            yield from report.terminal(changes, colour, width)
        else:
            yield f"{changes.old} -> {changes.new}: {report.summary(changes)}"
            yield f"  in full: mcp-bindgen diff {changes.old} {changes.new}"


def _neighbour(pins: Mapping[str, source.Pin], revision: str) -> str | None:
    """The revision to start from: the one before, else the one after."""
    older = [known for known in pins if known < revision]
    return older[-1] if older else next(iter(pins), None)


def _model(folder: Path, revision: str, pins: Mapping[str, source.Pin]) -> ir.Protocol | None:
    """The model of a pinned revision; None if its file has been changed by hand, which a bump is there to settle."""
    file = folder / revision / "schema.json"
    if file.exists() and hashlib.sha256(file.read_bytes()).hexdigest() != pins[revision].sha256:
        return None
    return build(source.load(folder, revision))


def _text(data: bytes, where: str) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BindgenError(where, f"not UTF-8: {error}", "JSON is exchanged in UTF-8") from None


def _overlay(file: Path) -> dict[str, Any]:
    read_overlay(file)  # for its errors
    document: dict[str, Any] = json.loads(file.read_bytes()) if file.exists() else {}
    return document


def _merged(start: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
    """`start` with the entries that somebody wrote for the new revision already on top."""
    merged = dict(start)
    for section, content in own.items():
        base = merged.get(section, type(content)())
        if isinstance(content, dict):
            merged[section] = {**base, **content}
        else:
            merged[section] = [*base, *(row for row in content if row not in base)]
    return merged


def _pinned(folder: Path, pin: source.Pin) -> dict[str, Any]:
    """The pins with `pin`, the revisions in order."""
    document: dict[str, Any] = json.loads((folder / source.PINS).read_bytes())
    row = {"path": pin.path, "commit": pin.commit, "sha256": pin.sha256, "date": pin.date}
    revisions = {**document["revisions"], pin.revision: row}
    return {**document, "revisions": dict(sorted(revisions.items()))}


def _json(document: dict[str, Any]) -> str:
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _shortened(text: str, most: int = 160) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
