"""JSON documents as read, with guards that tell type checkers what a value is."""

from __future__ import annotations

from typing import Any, TypeAlias, TypeGuard

Document: TypeAlias = dict[str, Any]


def is_object(value: Any) -> TypeGuard[Document]:
    """Whether `value` is a JSON object."""
    return isinstance(value, dict)


def is_array(value: Any) -> TypeGuard[list[Any]]:
    """Whether `value` is a JSON array."""
    return isinstance(value, list)
