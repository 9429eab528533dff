"""Packages generated from schemas that a test writes itself."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from inline import REVISION, schema_folder
from mcp_bindgen import cli
from mcp_bindgen.names import module
from roundtrip.surfaces import STYLES


def generate(folder: Path, package: str, definitions: dict[str, Any], overlay: dict[str, Any] | None = None) -> Path:
    """Generate `package` in all styles below `folder` and return the folder to import it from."""
    schema, out = folder / "schema", folder / "out"
    schema.mkdir()
    arguments = ["--schema", str(schema_folder(schema, definitions, overlay)), "--out", str(out), "--package", package]
    assert cli.main(["generate", *arguments]) == 0
    return out


def load(out: Path, package: str) -> dict[str, ModuleType]:
    """Style -> the package's only revision. `package` must be a name that no other test uses."""
    sys.path.insert(0, str(out))
    try:
        importlib.invalidate_caches()
        loaded = {style: importlib.import_module(f"{package}.{style}.{module(REVISION)}") for style in STYLES}
        for revision in loaded.values():
            for name in ("types", "codec"):
                getattr(revision, name)
            for name in revision.types.__all__:
                getattr(revision.types, name)
    finally:
        sys.path.remove(str(out))
    return loaded


def decode_error(revision: ModuleType) -> type[Exception]:
    """The package's own DecodeError: each package has a runtime of its own."""
    error: type[Exception] = importlib.import_module(f"{revision.__name__.rsplit('.', 2)[0]}.runtime").DecodeError
    return error
