"""Results kept between runs, addressed by the content they were made from: safe to delete, never stale."""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Iterable
from pathlib import Path


def folder() -> Path:
    """Where the cache is: `$XDG_CACHE_HOME/mcp-bindgen`, or `~/.cache/mcp-bindgen`."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "mcp-bindgen"


def key(*parts: str) -> str:
    """The address of what is made from `parts`."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(f"{len(part)}:".encode())
        digest.update(part.encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def fingerprint(trees: Iterable[Path]) -> str:
    """The address of everything in some folders: names and bytes of all files."""
    digest = hashlib.sha256()
    for tree in trees:
        for path in sorted(tree.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                data = path.read_bytes()
                digest.update(f"{path.relative_to(tree).as_posix()}\0{len(data)}\0".encode())
                digest.update(data)
    return digest.hexdigest()


def read(address: str) -> str | None:
    """What is kept at `address`, if anything."""
    try:
        return (folder() / address[:2] / address).read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        return None


def write(address: str, text: str) -> None:
    """Keep `text`. A cache that cannot be written is only slow, so errors are ignored."""
    file = folder() / address[:2] / address
    temporary = file.with_suffix(f".{os.getpid()}")
    with contextlib.suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_text(text, "utf-8")
        temporary.replace(file)
