"""Multi-round trips, seen from the client: what the server asks for, and how the request is sent again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from .failures import InvalidMessage
from .plain import an_object

MAX_ROUNDS: Final = 10
"""How often a server may ask before a client gives up, unless said otherwise."""


def asked(result: Mapping[str, Any]) -> dict[str, tuple[str, dict[str, Any]]]:
    """The inputs that an `input_required` result asks for: by key, a method and its params."""
    requests = an_object(result.get("inputRequests", {}))
    if requests is None or ("inputRequests" not in result and "requestState" not in result):
        raise InvalidMessage("the server requires input, but does not say which")
    found: dict[str, tuple[str, dict[str, Any]]] = {}
    for key, value in requests.items():
        request = an_object(value) or {}
        method: object = request.get("method")
        params = an_object(request.get("params", {}))
        if not isinstance(method, str) or params is None:
            raise InvalidMessage(f"the server requires input {key!r}, which is not a valid request")
        found[key] = (method, params)
    return found


def next_params(params: Mapping[str, Any], result: Mapping[str, Any], answers: Mapping[str, Any]) -> dict[str, Any]:
    """The params of the next round: those of the first, with this round's answers and this round's state.

    Nothing of earlier rounds is carried over: what the server wants to remember is in the state.
    """
    following = {key: value for key, value in params.items() if key not in ("inputResponses", "requestState")}
    if answers:
        following["inputResponses"] = dict(answers)
    if "requestState" in result:
        state: object = result["requestState"]
        if not isinstance(state, str):
            raise InvalidMessage("requestState is not a string")
        following["requestState"] = state
    return following


def pause(count: int) -> float:
    """How many seconds to wait before a retry for which the server asked without wanting any input."""
    return min(0.05 * float(2**count), 5.0)
