"""Build both wheels, install them outside the checkout, generate there, and compare with what is checked in."""

from __future__ import annotations

import filecmp
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).parent.parent
STYLES = ("msgspec", "pydantic")


def run(*command: str | Path, cwd: Path) -> None:
    """Run a command; its output is shown only if it fails."""
    done = subprocess.run([str(part) for part in command], cwd=cwd, capture_output=True, text=True, check=False)
    if done.returncode:
        print(done.stdout + done.stderr, file=sys.stderr)
        raise SystemExit(f"failed: {' '.join(str(part) for part in command)}")


def main() -> int:
    """Exit code 0 if the wheels work on their own and generate the same bytes."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for project in (ROOT, ROOT / "generated"):
            run(
                sys.executable,
                "-m",
                "build",
                "--no-isolation",
                "--wheel",
                "--outdir",
                folder / "wheels",
                project,
                cwd=folder,
            )
        generator, bindings = (next((folder / "wheels").glob(f"mcp_{which}*.whl")) for which in ("bindgen", "bindings"))
        venv.create(folder / "venv", with_pip=True)
        python = folder / "venv" / "bin" / "python"
        pip = (python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
        run(*pip, "--constraint", ROOT / "requirements.lock", generator, cwd=folder)
        run(folder / "venv" / "bin" / "mcp-bindgen", "generate", "--out", folder / "out", cwd=folder)
        different = _differences(ROOT / "generated", folder / "out")
        if different:
            raise SystemExit("the wheel generates something else: " + ", ".join(different[:10]))
        run(*pip, "--constraint", ROOT / "requirements.lock", f"{bindings}[{','.join(STYLES)}]", cwd=folder)
        for style in STYLES:
            run(python, "-c", f"from mcp_bindings.{style}.v2026_07_28.types import *", cwd=folder)
    print(f"wheels: {generator.name} and {bindings.name} work outside the checkout")
    return 0


def _differences(left: Path, right: Path) -> list[str]:
    """Files that are not the same, byte for byte, in both folders."""
    names = {
        file.relative_to(folder).as_posix()
        for folder in (left, right)
        for file in folder.rglob("*")
        if file.is_file() and not {"__pycache__", "dist", "build"} & set(file.parts) and ".egg-info" not in str(file)
    }
    return sorted(
        name
        for name in names
        if not ((left / name).is_file() and (right / name).is_file() and filecmp.cmp(left / name, right / name, False))
    )


if __name__ == "__main__":
    sys.exit(main())
