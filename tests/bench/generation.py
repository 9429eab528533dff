"""The generator's own speed, against one run of datamodel-codegen over the newest schema."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from .measure import Row, commands, less

ROOT = Path(__file__).parents[2]

# From the schema files to the formatted type modules of every revision and style, with an empty cache.
TYPES = """
from pathlib import Path
from mcp_bindgen import cli, source
from mcp_bindgen.formatting import format_all
from mcp_bindgen.render import Target, render
from mcp_bindgen.style import builtin_styles, load_style
if __name__ == "__main__":
    root = source.package_root()
    styles = [load_style(root / "templates", name) for name in builtin_styles(root / "templates")]
    files = render(cli.protocols(root / "schema", None), styles, root / "templates", Target())
    format_all({path: text for path, text in files.items() if "types" in path.parts}, lambda done, total: None)
"""


def rows() -> Iterator[Row]:
    """The rows on generation: from nothing, and with nothing changed."""
    binaries = Path(sys.executable).parent
    schema = ROOT / "schema" / "2026-07-28" / "schema.json"
    with tempfile.TemporaryDirectory() as folder:
        env = {**os.environ, "XDG_CACHE_HOME": f"{folder}/cache"}
        models = ["--output", f"{folder}/models.py", "--output-model-type", "pydantic_v2.BaseModel"]
        peer = [str(binaries / "datamodel-codegen"), "--input", str(schema), "--input-file-type", "jsonschema", *models]
        ours = str(binaries / "mcp-bindgen")
        cold = ["sh", "-c", f"rm -rf {folder}/cache && exec {sys.executable} -c '{TYPES}'"]
        wall = commands({"peer": peer, "cold": cold}, 3, env)
        subprocess.run([ours, "generate", "--out", f"{folder}/out"], check=True, env=env, capture_output=True)
        again = commands(
            {
                "peer": peer,
                "generate": [ours, "generate", "--out", f"{folder}/out"],
                "check": [ours, "check", "--out", f"{folder}/out"],
            },
            5,
            env,
        )
    yield less("generate all types, no cache / one datamodel-codegen run", wall["cold"], wall["peer"], "ms", 4.0)
    yield less("generate, nothing changed / one datamodel-codegen run", again["generate"], again["peer"], "ms", 0.5)
    yield less("check, nothing changed / one datamodel-codegen run", again["check"], again["peer"], "ms", 0.5)
