"""A package in this style only, from a schema that a test writes itself."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

from styles.packages import generate, load


def inline(
    folder: Path, package: str, definitions: dict[str, Any], overlay: dict[str, Any] | None = None
) -> ModuleType:
    """The revision of a package generated from `definitions`. `package` must be a name that no other test uses."""
    return load(generate(folder, package, definitions, overlay), package)["pydantic"]
