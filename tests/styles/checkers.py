"""The two strict type checkers, run as users run them, in a folder of their own."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from conftest import ROOT

CHECKERS = ("mypy", "basedpyright")

_CACHE = ROOT / ".mypy_cache" / "users"
"""What mypy knows of the libraries, from the last time: it takes longer to read them than to check a user's file."""

Findings = dict[str, dict[int, str]]
"""File name -> line -> what is wrong there."""


def check(checker: str, folder: Path, files: Mapping[str, str], packages: Path, *also: Path) -> Findings:
    """What `checker` in strict mode says of `files`, written to `folder`; they import from below `packages`.

    And of what is in the folders `also`; nothing of what is imported otherwise.
    """
    for name, text in files.items():
        (folder / name).write_text(text, "utf-8")
    paths = [*files, *map(str, also)]
    return {"mypy": _mypy, "basedpyright": _basedpyright}[checker](folder, paths, packages)


def _mypy(folder: Path, paths: list[str], packages: Path) -> Findings:
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--follow-imports=silent"]
    run = _run([*command, "--cache-dir", str(_CACHE), *paths], folder, MYPYPATH=str(packages))
    found: Findings = {}
    for line in run.stdout.splitlines():
        match = re.match(r"(.+?):(\d+): error: (.*)", line)
        if match:
            found.setdefault(Path(match[1]).name, {})[int(match[2])] = match[3]
    assert run.returncode == bool(found), run.stdout + run.stderr
    return found


def _basedpyright(folder: Path, paths: list[str], packages: Path) -> Findings:
    settings = {
        "include": paths,
        "extraPaths": [str(packages)],
        "typeCheckingMode": "strict",
        "reportMissingModuleSource": False,
    }
    (folder / "pyrightconfig.json").write_text(json.dumps(settings))
    command = [sys.executable, "-m", "basedpyright", "--outputjson", "--pythonpath", sys.executable]
    run = _run([*command, "--project", str(folder)], folder)
    report = json.loads(run.stdout)
    found: Findings = {}
    for finding in report["generalDiagnostics"]:
        if finding["severity"] == "error":
            name = Path(finding["file"]).name
            found.setdefault(name, {})[finding["range"]["start"]["line"] + 1] = finding["message"]
    assert report["summary"]["filesAnalyzed"] >= len(paths), run.stdout + run.stderr
    return found


def _run(command: list[str], folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "MYPYPATH")}
    return subprocess.run(
        command, cwd=folder, env={**environment, **variables}, capture_output=True, text=True, check=False, timeout=300
    )
