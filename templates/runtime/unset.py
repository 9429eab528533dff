"""The mark for a member that is absent where `None` would be a value of its own."""

from __future__ import annotations

from enum import Enum
from typing import Any, Final, Literal, final


@final
class UnsetType(Enum):
    """The type of `UNSET`.

    An enum with one member, because type checkers narrow those: after `if value is not UNSET` they know the real type.
    """

    # The value is a bare object on purpose: JSON writers emit an enum member as its value, and an UNSET that strayed
    # into free-form data must be an error there, not a string.
    UNSET = object()

    def __repr__(self) -> str:
        return "UNSET"

    def __str__(self) -> str:
        return "UNSET"

    def __bool__(self) -> Literal[False]:
        return False

    def __reduce_ex__(self, protocol: object) -> tuple[Any, ...]:
        return getattr, (UnsetType, "UNSET")  # by name: the value is another object in every process


UNSET: Final = UnsetType.UNSET
"""Absent. `None` is JSON's null, and a value like any other."""
