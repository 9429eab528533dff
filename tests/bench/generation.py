"""The generator's own speed, against one run of datamodel-codegen over the newest schema."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from .measure import Row, commands, less

ROOT = Path(__file__).parents[2]


def rows() -> Iterator[Row]:
    """The rows on generation: from nothing, and with nothing changed."""
    binaries = Path(sys.executable).parent
    schema = ROOT / "schema" / "2026-07-28" / "schema.json"
    with tempfile.TemporaryDirectory() as folder:
        env = {**os.environ, "XDG_CACHE_HOME": f"{folder}/cache"}
        models = ["--output", f"{folder}/models.py", "--output-model-type", "pydantic_v2.BaseModel"]
        peer = [str(binaries / "datamodel-codegen"), "--input", str(schema), "--input-file-type", "jsonschema", *models]
        ours = str(binaries / "mcp-bindgen")
        cold = ["sh", "-c", f"rm -rf {folder}/cache {folder}/out && exec {ours} generate --out {folder}/out"]
        wall = commands({"peer": peer, "cold": cold}, 5, env)
        again = commands(
            {
                "peer": peer,
                "generate": [ours, "generate", "--out", f"{folder}/out"],
                "check": [ours, "check", "--out", f"{folder}/out"],
            },
            5,
            env,
        )
    yield less("generate everything, no cache / one datamodel-codegen run", wall["cold"], wall["peer"], "ms", 4.0)
    yield less("generate, nothing changed / one datamodel-codegen run", again["generate"], again["peer"], "ms", 0.5)
    yield less("check, nothing changed / one datamodel-codegen run", again["check"], again["peer"], "ms", 0.5)
