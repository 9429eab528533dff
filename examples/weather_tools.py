"""The tools of the weather server, as clients see them."""

from mcp_bindings.pydantic.v2026_07_28 import types

TOOLS = [
    types.Tool(
        name="calculator_arithmetic",
        title="Calculator",
        description=(
            "Perform mathematical calculations including basic arithmetic, trigonometric functions, "
            "and algebraic operations"
        ),
        input_schema={
            "type": "object",
            "properties": {
                "expression": {
                    "type": "string",
                    "description": "Mathematical expression to evaluate (e.g., '2 + 3 * 4', 'sin(30)', 'sqrt(16)')",
                }
            },
            "required": ["expression"],
        },
    ),
    types.Tool(
        name="weather_current",
        title="Weather Information",
        description="Get current weather information for any location worldwide",
        input_schema={
            "type": "object",
            "properties": {
                "location": {
                    "type": "string",
                    "description": "City name, address, or coordinates (latitude,longitude)",
                },
                "units": {
                    "type": "string",
                    "enum": ["metric", "imperial", "kelvin"],
                    "description": "Temperature units to use in response",
                    "default": "metric",
                },
            },
            "required": ["location"],
        },
    ),
]
