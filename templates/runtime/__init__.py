"""What all styles and revisions share. Names are loaded on first use, so that importing this package costs nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .errors import DecodeError as DecodeError
    from .failures import McpError as McpError
    from .unset import UNSET as UNSET
    from .unset import UnsetType as UnsetType

__all__ = ["UNSET", "DecodeError", "McpError", "UnsetType"]

_HOMES = {"UNSET": "unset", "UnsetType": "unset", "DecodeError": "errors", "McpError": "failures"}


if not TYPE_CHECKING:  # or checkers would take any name for one of these

    def __getattr__(name: str) -> object:
        home = _HOMES.get(name)
        if home is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module

        value = globals()[name] = getattr(import_module(f".{home}", __name__), name)
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
