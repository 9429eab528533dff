"""A FastMCP server on stdio."""

from __future__ import annotations

from fastmcp import Context, FastMCP

server = FastMCP("fast")


@server.tool
async def echo(text: str) -> str:
    return text


@server.tool
async def steps(ctx: Context) -> str:
    for step in (0, 50, 100):
        await ctx.report_progress(step, 100)
    return "done"


@server.tool
async def fail() -> str:
    raise ValueError("as asked")


@server.resource("file:///a")
def resource() -> str:
    return "é"


@server.prompt
def p(a: str) -> str:
    return f"prompt {a}"


if __name__ == "__main__":
    server.run(transport="stdio", show_banner=False)
