"""The generated packages under test, and comparison of JSON that knows `1`, `1.0` and `true` apart."""

from __future__ import annotations

import json
import os
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from conftest import REVISIONS, ROOT, SHARED, TEMPLATES
from mcp_bindgen.names import module
from mcp_bindgen.style import Style, builtin_styles, load_style

STYLES = {name: load_style(TEMPLATES, name) for name in builtin_styles(TEMPLATES)}
SURFACES = [(style, revision) for style in STYLES for revision in REVISIONS]
EXAMPLES = ROOT / "tests" / "examples"


@cache
def surface(style: str, revision: str) -> ModuleType:
    """The package of a revision in a style."""
    return import_module(f"mcp_bindings.{style}.{module(revision)}")


@cache
def table(revision: str) -> dict[str, Any]:
    """The definition table of a revision."""
    definitions: dict[str, Any] = import_module(f"mcp_bindings.definitions.{module(revision)}").DEFINITIONS
    return definitions


def exact(value: Any) -> Any:
    """A value that is equal only to the same JSON: number types count, member order does not."""
    match value:
        case dict():
            return {key: exact(item) for key, item in value.items()}
        case list() | tuple():
            return [exact(item) for item in value]
        case str() | None:
            return value
        case _:
            return (type(value).__name__, value)


def declared_only(revision: str, name: str, value: Any) -> Any:
    """`value` without undeclared members of closed records: what a style that drops them may keep."""
    from mcp_bindings.runtime import definitions as defs

    definitions = table(revision)

    def strip(type: Any, value: Any) -> Any:
        match type:
            case defs.Ref(name=name):
                return strip(definitions[name], value)
            case defs.Record(kind="opaque"):
                return value
            case defs.Record(fields=fields, kind=kind) if isinstance(value, dict):
                known = {field.wire: field.type for field in fields}
                return {
                    key: strip(known[key], item) if key in known else item
                    for key, item in value.items()
                    if key in known or kind == "open"
                }
            case defs.ListOf(item=item) if isinstance(value, list):
                return [strip(item, each) for each in value]
            case defs.MapOf(value=inner) if isinstance(value, dict):
                return {key: strip(inner, each) for key, each in value.items()}
            case defs.Union(arms=arms, plan=plan):
                label = plan(value)
                return value if label is None else strip(arms[label], value)
            case _:
                return value

    return strip(defs.Ref(name), value)


def kept(style: Style, revision: str, name: str, value: Any) -> Any:
    """What a round trip in `style` must give back."""
    return value if style.keeps_unknown else declared_only(revision, name, value)


def assert_round_trip(style: str, revision: str, name: str, value: Any) -> None:
    """Through objects and through bytes, the JSON comes back identical, or without what the style says it drops."""
    package = surface(style, revision)
    type = getattr(package.types, name)
    expected = exact(kept(STYLES[style], revision, name, value))
    data = json.dumps(value).encode()
    for decoded in (package.codec.decode(type, value), package.codec.decode_json(type, data)):
        assert exact(package.codec.encode(decoded)) == expected
        assert exact(json.loads(package.codec.encode_json(decoded))) == expected


def official_examples() -> Path | None:
    """The folder of the specification's own examples: below SPEC, or beside the checkout."""
    candidates = [SHARED / "spec" / "2026-07-28" / "examples"]
    if "SPEC" in os.environ:
        candidates.insert(0, Path(os.environ["SPEC"]) / "schema" / "2026-07-28" / "examples")
    return next((folder for folder in candidates if folder.is_dir()), None)
