"""Message types as pydantic v2 models: validated on construction, unknown members kept."""
