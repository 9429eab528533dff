"""The messages that are decoded and encoded: what a host meets every day, at 2026-07-28."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

VERSION = "2026-07-28"
META = {
    "io.modelcontextprotocol/protocolVersion": VERSION,
    "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1.0.0"},
    "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}},
    "progressToken": "call-17",
}


@dataclass(frozen=True)
class Document:
    """A message: the method it belongs to, which kind it is, the type of its body, and its body."""

    title: str
    kind: str
    method: str
    type: str
    body: dict[str, Any]

    @property
    def frame(self) -> dict[str, Any]:
        """The whole JSON-RPC message."""
        match self.kind:
            case "request":
                return {"jsonrpc": "2.0", "id": 17, "method": self.method, "params": self.body}
            case "notification":
                return {"jsonrpc": "2.0", "method": self.method, "params": self.body}
            case _:
                return {"jsonrpc": "2.0", "id": 17, "result": self.body}

    def data(self, whole: bool) -> bytes:
        """Compact JSON of the message or of its body."""
        return json.dumps(self.frame if whole else self.body, separators=(",", ":")).encode()


def _tool(number: int) -> dict[str, Any]:
    return {
        "name": f"report_{number}",
        "title": f"Report number {number}",
        "description": "Collects the figures of a quarter, groups them by region and writes them as a table.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "quarter": {"type": "string", "description": "The quarter, as 2026Q3"},
                "regions": {"type": "array", "items": {"type": "string"}},
                "limit": {"type": "integer", "minimum": 1, "maximum": 500},
            },
            "required": ["quarter"],
        },
        "annotations": {"readOnlyHint": True, "openWorldHint": False},
    }


RESULT = {"resultType": "complete"}
CACHED = {**RESULT, "ttlMs": 60000, "cacheScope": "private"}

DOCUMENTS = (
    Document(
        "tools/list, 50 tools",
        "result",
        "tools/list",
        "ListToolsResult",
        {**CACHED, "tools": [_tool(n) for n in range(50)]},
    ),
    Document(
        "tools/call request",
        "request",
        "tools/call",
        "CallToolRequest",
        {"name": "report_7", "arguments": {"quarter": "2026Q3", "regions": ["north"], "limit": 20}, "_meta": META},
    ),
    Document(
        "tools/call result, 200 B",
        "result",
        "tools/call",
        "CallToolResult",
        {**RESULT, "content": [{"type": "text", "text": "Revenue in the north grew by 4.2 % to 1,240,000. " * 2}]},
    ),
    Document(
        "resources/read, 5 contents",
        "result",
        "resources/read",
        "ReadResourceResult",
        {
            **CACHED,
            "contents": [
                {"uri": f"file:///reports/{n}.md", "mimeType": "text/markdown", "text": "# Report\n\nAll is well. " * 8}
                for n in range(5)
            ],
        },
    ),
    Document(
        "progress notification",
        "notification",
        "notifications/progress",
        "ProgressNotification",
        {"progressToken": "call-17", "progress": 40, "total": 100, "message": "40 of 100"},
    ),
)
