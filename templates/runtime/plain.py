"""JSON values that came from outside, with types that a checker can follow."""

from __future__ import annotations

from typing import Any, cast


def an_object(value: object) -> dict[str, Any] | None:
    """`value` if it is a JSON object."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


def an_array(value: object) -> list[object] | None:
    """`value` if it is a JSON array."""
    return cast("list[object]", value) if isinstance(value, list) else None
