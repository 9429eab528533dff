"""mcp-bindgen: typed Python bindings from the Model Context Protocol's JSON Schema."""

__version__ = "0.1.0"
