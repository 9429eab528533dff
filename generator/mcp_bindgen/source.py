"""Schema files on disk: pins, bytes, and the corrected document that everything else starts from."""

from __future__ import annotations

import copy
import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import ir
from .document import Document, is_array, is_object
from .errors import BindgenError
from .overlay import Correction, Overlay, read_overlay

PINS = "PINNED.json"


@dataclass(frozen=True)
class Pin:
    """What PINNED.json promises about one revision's schema.json."""

    revision: str
    path: str
    commit: str
    sha256: str
    date: str


@dataclass(frozen=True)
class Schema:
    """One revision as read: the upstream document, its overlay, and the document with corrections applied."""

    source: ir.Source
    revision: str
    upstream: Document
    corrected: Document
    overlay: Overlay
    file: str

    @property
    def section(self) -> str:
        """The keyword that holds the definitions: `$defs` or `definitions`."""
        return "$defs" if "$defs" in self.corrected else "definitions"


def package_root() -> Path:
    """The folder that holds `templates` and `schema`: package data in a wheel, else the checkout."""
    data = Path(__file__).parent / "data"
    return data if data.is_dir() else Path(__file__).parents[2]


def read_pins(folder: Path) -> dict[str, Pin]:
    """The pins of `folder`/PINNED.json, oldest revision first. Raises BindgenError."""
    file = folder / PINS
    document = parse(file, _read(file))
    try:
        return {
            revision: Pin(revision, row["path"], row["commit"], row["sha256"], row["date"])
            for revision, row in sorted(document["revisions"].items())
        }
    except (KeyError, TypeError, AttributeError) as error:
        raise BindgenError(
            str(file),
            f"not a pin file ({error!r})",
            'it must read {"revisions": {"<revision>": {"path", "commit", "sha256", "date"}}}',
        ) from None


def read_repository(folder: Path) -> str:
    """The repository that the pins speak of. Raises BindgenError."""
    file = folder / PINS
    repository = parse(file, _read(file)).get("repository")
    if not isinstance(repository, str):
        raise BindgenError(str(file), "no repository", "name the schema with SOURCE=path-or-url")
    return repository


def load(folder: Path, revision: str) -> Schema:
    """Read, verify and correct the schema of `revision`. Raises BindgenError."""
    pins = read_pins(folder)
    if revision not in pins:
        known = ", ".join(pins)
        raise BindgenError(
            str(folder / PINS), f"no revision {revision!r}", f"choose one of {known}, or run `make bump`"
        )
    pin = pins[revision]
    file = folder / revision / "schema.json"
    data = _read(file)
    digest = hashlib.sha256(data).hexdigest()
    if digest != pin.sha256:
        raise BindgenError(
            str(file),
            f"sha256 is {digest}, the pin says {pin.sha256}",
            f"restore the pinned file, or take the new one with `make bump REVISION={revision} SOURCE={file}`",
        )
    return correct(parse(file, data), read_overlay(folder / revision / "overlay.json"), revision, pin, str(file))


def correct(document: Document, overlay: Overlay, revision: str, pin: Pin, file: str) -> Schema:
    """Apply the overlay's corrections to `document`, which stays untouched. Raises BindgenError."""
    if not any(is_object(document.get(section)) for section in ("$defs", "definitions")):
        raise BindgenError(file, "no definitions: neither `$defs` nor `definitions` is an object", "take another file")
    corrected = copy.deepcopy(document)
    for correction in overlay.corrections:
        _apply(corrected, correction, overlay.file)
    return Schema(ir.Source(pin.path, pin.sha256, pin.commit), revision, document, corrected, overlay, file)


def escape(token: str) -> str:
    """`token` as a step of a JSON pointer (RFC 6901)."""
    return token.replace("~", "~0").replace("/", "~1")


def _apply(document: Document, correction: Correction, file: str) -> None:
    where = f"{file}#corrections {correction.pointer}"
    steps = [step.replace("~1", "/").replace("~0", "~") for step in correction.pointer.split("/")[1:]]
    drop = f"the schema has changed: drop or renew the correction of {correction.pointer} in {file}"
    if not steps:
        raise BindgenError(where, "a correction needs a pointer below the root")
    parent: Any = document
    for step in steps[:-1]:
        parent = _step(parent, step)
        if parent is _MISSING:
            raise BindgenError(where, f"nothing is at {step!r}", drop)
    last = steps[-1]
    found = _step(parent, last)
    if not _same(found, correction.old):
        expected = "nothing" if correction.old is _MISSING else json.dumps(correction.old)
        actual = "nothing" if found is _MISSING else json.dumps(found)
        raise BindgenError(where, f"expected {expected}, found {actual}", drop)
    key: Any = int(last) if is_array(parent) else last
    if correction.new is _MISSING:
        del parent[key]
    elif is_array(parent) and key == len(parent):
        parent.append(copy.deepcopy(correction.new))
    else:
        parent[key] = copy.deepcopy(correction.new)


_MISSING = Correction.MISSING


def _step(value: Any, step: str) -> Any:
    if is_object(value):
        return value.get(step, _MISSING)
    if is_array(value) and step.isdecimal() and int(step) < len(value):
        return value[int(step)]
    return _MISSING


def _same(left: Any, right: Any) -> bool:
    if left is _MISSING or right is _MISSING:
        return left is right
    return json.dumps(left, sort_keys=True) == json.dumps(right, sort_keys=True)


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise BindgenError(
            str(file), f"cannot be read ({error.strerror})", "`make bump` fetches schema files"
        ) from None


def parse(file: Path, data: bytes) -> Document:
    try:
        document = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise BindgenError(str(file), f"not JSON: {error}") from None
    if not is_object(document):
        raise BindgenError(str(file), "not a JSON object")
    return document
