"""A weather server on stdio. Its client starts it: python examples/weather_client.py"""

from weather_tools import TOOLS

from mcp_bindings.pydantic.v2026_07_28 import Server, ServerContext, types
from mcp_bindings.runtime import stdio


class Weather(Server):
    tools_list_changed = True

    async def list_tools(self, params: types.PaginatedRequestParams, ctx: ServerContext) -> types.ListToolsResult:
        return types.ListToolsResult(tools=TOOLS, ttl_ms=300_000, cache_scope="public")

    async def list_resources(
        self, params: types.PaginatedRequestParams, ctx: ServerContext
    ) -> types.ListResourcesResult:
        return types.ListResourcesResult(resources=[])

    async def call_tool(self, params: types.CallToolRequestParams, ctx: ServerContext) -> types.CallToolResult:
        place = (params.arguments or {}).get("location")
        weather = "68°F, partly cloudy with light winds from the west at 8 mph. Humidity: 65%"
        return types.CallToolResult(content=[types.TextContent(text=f"Current weather in {place}: {weather}")])


server = Weather(
    info=types.Implementation(name="example-server", version="1.0.0"), identify="discover", discover_ttl=3600
)
if __name__ == "__main__":
    stdio.serve(server)
