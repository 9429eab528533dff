"""Styles: folders of templates in layers, and what each style says about itself in style.toml."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .errors import BindgenError

_DEFAULTS: dict[str, Any] = {
    "extends": "",
    "requires": [],
    "bases": "all",
    "keeps_unknown": False,
    "validates_on_construct": False,
    "attributes": "snake",
}


@dataclass(frozen=True)
class Style:
    """One style: its name, its template folders from most to least specific, and its declarations.

    `bases` is `all`, `one` or `none`: how much inheritance the target can keep. `keeps_unknown` says whether
    undeclared members of closed records survive; `validates_on_construct` whether constructors check types.
    `attributes` is `snake` or `wire`.
    """

    name: str
    layers: tuple[Path, ...]
    requires: tuple[str, ...]
    bases: str
    keeps_unknown: bool
    validates_on_construct: bool
    attributes: str


def builtin_styles(templates: Path) -> tuple[str, ...]:
    """The names of the styles that come with the generator."""
    return tuple(sorted(file.parent.name for file in templates.glob("*/style.toml")))


def load_style(templates: Path, name: str) -> Style:
    """The built-in style called `name`, or the user's in the folder `name`. Raises BindgenError."""
    folder = templates / name if name in builtin_styles(templates) else Path(name)
    file = folder / "style.toml"
    if not file.is_file():
        known = ", ".join(builtin_styles(templates))
        raise BindgenError(name, "no such style", f"name one of {known}, or a folder with a style.toml in it")
    try:
        declared = tomllib.loads(file.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BindgenError(str(file), f"not TOML: {error}") from None
    unknown = sorted(declared.keys() - _DEFAULTS.keys())
    if unknown:
        raise BindgenError(str(file), f"unknown keys {', '.join(unknown)}", f"keys are {', '.join(_DEFAULTS)}")
    parent = load_style(templates, str(declared["extends"])) if declared.get("extends") else None
    inherited = {key: getattr(parent, key) for key in _DEFAULTS if parent and key != "extends"}
    values = {**_DEFAULTS, **inherited, **declared}
    for key, allowed in {"bases": ("all", "one", "none"), "attributes": ("snake", "wire")}.items():
        if values[key] not in allowed:
            raise BindgenError(str(file), f"{key} = {values[key]!r}", f"{key} is one of {', '.join(allowed)}")
    return Style(
        name=folder.resolve().name,
        layers=(folder, *(parent.layers if parent else (templates / "base",))),
        requires=tuple(values["requires"]),
        bases=str(values["bases"]),
        keeps_unknown=bool(values["keeps_unknown"]),
        validates_on_construct=bool(values["validates_on_construct"]),
        attributes=str(values["attributes"]),
    )
