"""Message types as msgspec Structs: the fast style."""
