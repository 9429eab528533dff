"""Running a coroutine in a context of its own, inside the task that awaits it."""

from __future__ import annotations

import types
from collections.abc import Callable, Coroutine, Generator
from contextvars import copy_context
from typing import Any, TypeVar

T = TypeVar("T")


@types.coroutine
def isolated(coroutine: Coroutine[Any, Any, T], on_suspend: Callable[[], None] | None = None) -> Generator[Any, Any, T]:
    """Await `coroutine` so that the context variables it sets are gone afterwards.

    Tasks are reused for many requests, and in one process a client's task runs the server's handler: what one handler
    leaves in a context variable must reach neither the next one nor the caller. A task per request would give the same
    at many times the price. `on_suspend` is called whenever the coroutine begins to wait.
    """
    run = copy_context().run
    send, throw = coroutine.send, coroutine.throw
    try:
        waiting_for = run(send, None)
        while True:
            if on_suspend is not None:
                on_suspend()
            try:
                value = yield waiting_for
            except BaseException as error:
                waiting_for = run(throw, error)
            else:
                waiting_for = run(send, value)
    except StopIteration as stop:
        result: T = stop.value
        return result
    finally:
        coroutine.close()
