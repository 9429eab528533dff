"""A client of the weather server: asks what it can do, uses it, and listens for changes."""

import sys
from pathlib import Path

import anyio

from mcp_bindings.pydantic.v2026_07_28 import AsyncClient, ClientHandlers, types
from mcp_bindings.runtime import stdio
from mcp_bindings.runtime.peer import Peer, Transport


class Handlers(ClientHandlers):
    async def elicit(self, params: types.ElicitRequestParams) -> types.ElicitResult:
        return types.ElicitResult(action="decline")


async def main(server: Peer | Transport) -> None:
    info = types.Implementation(name="example-client", version="1.0.0")
    async with AsyncClient(server, info=info, handlers=Handlers()) as client:
        print((await client.discover()).capabilities)
        print([tool.title async for tool in client.iter_tools()])
        asked = {"location": "San Francisco", "units": "imperial"}
        print(await client.call_tool(name="weather_current", arguments=asked))
        with anyio.move_on_after(5):
            async with client.listen(tools_list_changed=True) as changes:
                async for change in changes:
                    print(change.method, len((await client.list_tools()).tools))


if __name__ == "__main__":
    anyio.run(main, stdio.connect(sys.executable, Path(__file__).with_name("weather_server.py")))
