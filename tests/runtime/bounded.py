"""Tests that may not hang."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import wraps
from typing import ParamSpec

import anyio

P = ParamSpec("P")
PATIENCE = 30.0


def bounded(test: Callable[P, Awaitable[None]]) -> Callable[P, Awaitable[None]]:
    """Fail the test if it does not end by itself. The bound is generous: it says nothing about speed."""

    @wraps(test)
    async def run(*args: P.args, **kwargs: P.kwargs) -> None:
        with anyio.fail_after(PATIENCE):
            await test(*args, **kwargs)

    return run
