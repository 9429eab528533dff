"""What a server's own tools want repeated in headers: known from its list of tools, and checked before a call."""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Mapping
from time import monotonic
from typing import Any, Final, TypeAlias

from .context import Request
from .failures import McpError
from .http_headers import HeaderTable
from .http_params import Annotation, InvalidAnnotation, check_params, find_annotations, has_param_headers
from .meta import LOG_LEVEL, PROGRESS_TOKEN
from .paging import Pages
from .peer import Payload, as_object
from .plain import an_array, an_object
from .server_session import ServerSession

log = logging.getLogger("mcp.server")

CALL_TOOL: Final = "tools/call"
LIST_TOOLS: Final = "tools/list"

FRESH: Final = 1.0
"""How many seconds a list is the last word, even on tools that are not in it."""
KEPT: Final = 60.0
"""How many seconds a list is good for calls that agree with it."""
LISTS: Final = 256
"""How many lists are kept: what a server offers may depend on who asks."""

Wanted: TypeAlias = dict[str, tuple[Annotation, ...]]


class ToolHeaders:
    """Checks the headers of tool calls against the server's list of tools.

    A call is never refused on the word of an old list. If a list cannot be had, calls pass: those who route by these
    headers would rather have no check than no service.
    """

    def __init__(self, session: ServerSession) -> None:
        self._session = session
        self._lists: OrderedDict[str | None, tuple[float, Wanted]] = OrderedDict()

    async def check(self, params: Mapping[str, Any], headers: HeaderTable, principal: str | None) -> None:
        """Raise McpError unless the headers of a tool call repeat the arguments that they should."""
        name: object = params.get("name")
        arguments = an_object(params.get("arguments", {}))
        if not isinstance(name, str) or arguments is None:
            return  # decoding will tell
        if not arguments and not has_param_headers(headers):
            return
        known = self._lists.get(principal)
        age = monotonic() - known[0] if known is not None else KEPT
        if known is not None and age < KEPT and (name in known[1] or age < FRESH):
            try:
                check_params(known[1].get(name, ()), arguments, headers)
                return
            except McpError:
                if age < FRESH:
                    raise
        check_params((await self._list(params, principal)).get(name, ()), arguments, headers)

    async def _list(self, params: Mapping[str, Any], principal: str | None) -> Wanted:
        wanted: Wanted = {}
        try:
            pages = Pages()
            while pages.more:
                page = await self._page(params, pages.cursor, principal)
                _collect(page, wanted)
                cursor: object = page.get("nextCursor")
                pages.advance(cursor if isinstance(cursor, str) else None)
        except Exception:
            log.exception("The headers of tool calls are not checked: the list of tools failed")
        self._lists[principal] = monotonic(), wanted
        self._lists.move_to_end(principal)
        if len(self._lists) > LISTS:
            self._lists.popitem(last=False)
        return wanted

    async def _page(self, params: Mapping[str, Any], cursor: str | None, principal: str | None) -> dict[str, Any]:
        meta = {key: value for key, value in params["_meta"].items() if key not in (LOG_LEVEL, PROGRESS_TOKEN)}
        wire = {"_meta": meta} if cursor is None else {"_meta": meta, "cursor": cursor}
        request = Request("headers", LIST_TOOLS, wire, _Nowhere(), as_json=False, principal=principal)
        return as_object(await self._session.respond(request))


class _Nowhere:
    """Notifications of a request that nobody has sent."""

    def send(self, method: str, params: Payload) -> None:
        pass

    async def room(self) -> None:
        pass


def _collect(page: Mapping[str, Any], wanted: Wanted) -> None:
    for each in an_array(page.get("tools")) or ():
        tool = an_object(each) or {}
        name: object = tool.get("name")
        if not isinstance(name, str):
            continue
        try:
            wanted[name] = find_annotations(tool.get("inputSchema"))
        except InvalidAnnotation as error:
            log.warning("Clients will not call the tool %r over HTTP: %s", name, error)
            wanted[name] = ()
