"""`python -m tests.bench [topic ...]`: print the table."""

from __future__ import annotations

import platform
import sys
from importlib import import_module, metadata
from pathlib import Path

TOPICS = ("imports", "codec", "generation", "sessions", "http")


def main(chosen: list[str]) -> int:
    """Run the topics; the exit code is 0 whatever the figures are."""
    sys.path.insert(0, str(Path(__file__).parents[2] / "generated"))
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in ("mcp", "pydantic", "msgspec"))
    print(f"Python {platform.python_version()}, {versions}; medians of one run")
    print(f"{'measure':<64} {'ours':>10} {'peer':>10}")
    for topic in chosen or TOPICS:
        for row in import_module(f"tests.bench.{topic}").rows():
            print(row, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
