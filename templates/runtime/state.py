"""Request state that a client carries for the server, signed so that nobody else can make or change it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .failures import McpError, invalid_params

if TYPE_CHECKING:
    from itsdangerous import URLSafeTimedSerializer


class StateSigner:
    """Signs values into `requestState` strings and reads them back.

    A state is bound to the request it came from (its method and params) and to the principal on whose behalf that was
    made: it opens nothing elsewhere. It is signed, not encrypted, so the client can read it; and it can be used more
    than once while it lasts. Every process that may serve the retry needs the same secret.
    """

    def __init__(self, secret: str | bytes, lifetime: int) -> None:
        self._secret = secret
        self._lifetime = lifetime
        self._made: URLSafeTimedSerializer | None = None

    def seal(self, value: Any, method: str, params: Mapping[str, Any], principal: str | None) -> str:
        """The state that carries a JSON value."""
        return str(self._serializer().dumps([_binding(method, params, principal), value]))

    def open(self, state: str | None, method: str, params: Mapping[str, Any], principal: str | None) -> Any:
        """The value in a state. Raises McpError (invalid params) if it is missing, forged, foreign or too old."""
        from itsdangerous import BadData

        try:
            binding, value = self._serializer().loads(state or "", max_age=self._lifetime)
        except (BadData, ValueError, TypeError):
            raise _refused() from None
        if binding != _binding(method, params, principal):
            raise _refused()
        return value

    def _serializer(self) -> URLSafeTimedSerializer:
        if self._made is None:
            from itsdangerous import URLSafeTimedSerializer

            self._made = URLSafeTimedSerializer(
                self._secret, salt="mcp.requestState", signer_kwargs={"digest_method": hashlib.sha256}
            )
        return self._made


def _refused() -> McpError:
    return invalid_params("requestState is not valid here, or no longer")


def _binding(method: str, params: Mapping[str, Any], principal: str | None) -> str:
    """A digest of what a state is good for. The params that change from round to round have no part in it."""
    lasting = {key: params[key] for key in params if key not in ("_meta", "inputResponses", "requestState")}
    text = json.dumps([method, lasting, principal], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]
