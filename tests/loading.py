"""The runtime under test: the generated package if there is one, else the templates that it is emitted from."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parent.parent
_GENERATED = ROOT / "generated"
_TEMPLATES = ROOT / "templates" / "runtime"
_STAND_IN = "runtime_from_templates"


def runtime(module: str) -> ModuleType:
    """A module of the runtime by its short name, the same one for every caller."""
    if (_GENERATED / "mcp_bindings" / "runtime" / f"{module}.py").is_file():
        if str(_GENERATED) not in sys.path:
            sys.path.insert(0, str(_GENERATED))
        return import_module(f"mcp_bindings.runtime.{module}")
    if _STAND_IN not in sys.modules:
        spec = spec_from_file_location(
            _STAND_IN, _TEMPLATES / "__init__.py", submodule_search_locations=[str(_TEMPLATES)]
        )
        assert spec is not None
        assert spec.loader is not None
        package = sys.modules[_STAND_IN] = module_from_spec(spec)
        spec.loader.exec_module(package)
    return import_module(f"{_STAND_IN}.{module}")
