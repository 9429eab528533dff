"""Small schemas written in the test that needs them."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from mcp_bindgen import ir, source
from mcp_bindgen.build import build
from mcp_bindgen.overlay import parse_overlay

REVISION = "2099-01-01"


def model(definitions: dict[str, Any], overlay: dict[str, Any] | None = None) -> ir.Protocol:
    """The intermediate model of inline `definitions` with an inline overlay."""
    pin = source.Pin(REVISION, "schema.json", "inline", "0" * 64, REVISION)
    corrections = parse_overlay(overlay or {}, "overlay.json")
    return build(source.correct({"$defs": definitions}, corrections, REVISION, pin, "schema.json"))


def schema_folder(folder: Path, definitions: dict[str, Any], overlay: dict[str, Any] | None = None) -> Path:
    """A schema folder on disk with one pinned revision, for tests of the command line."""
    data = json.dumps({"$defs": definitions}).encode()
    (folder / REVISION).mkdir(parents=True)
    (folder / REVISION / "schema.json").write_bytes(data)
    (folder / REVISION / "overlay.json").write_text(json.dumps(overlay or {}))
    pin = {"path": "schema.json", "commit": "inline", "sha256": hashlib.sha256(data).hexdigest(), "date": REVISION}
    (folder / source.PINS).write_text(json.dumps({"repository": "inline", "revisions": {REVISION: pin}}))
    return folder


def obj(required: str = "", **properties: Any) -> dict[str, Any]:
    """An object schema; `required` lists names separated by spaces."""
    return {"type": "object", "properties": properties, "required": required.split()}


def const(value: str) -> dict[str, Any]:
    return {"type": "string", "const": value}


def ref(name: str) -> dict[str, Any]:
    return {"$ref": f"#/$defs/{name}"}


STRING = {"type": "string"}
