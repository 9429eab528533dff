"""`python -m tests.conformance [server | client | inspector] [pydantic | msgspec]`: run the official suite, and the
official Inspector on our server, and print their verdicts.

Exits non-zero on any failure that `baseline.yml` does not list, and on any entry there that passes.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from . import suite

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
BINDINGS = Path(os.environ.get("BINDINGS", ROOT / "generated"))
"""Where the generated package is."""
STYLES = ("pydantic", "msgspec")
LEGS = ("server", "client", "inspector")
EXPECTED = suite.read_lists(suite.BASELINE.read_text())
"""The scenarios that may fail, by leg."""


def main(arguments: Sequence[str]) -> int:
    """Run the chosen legs in the chosen styles, all of them if none is chosen."""
    legs = [leg for leg in LEGS if leg in arguments] or LEGS
    styles = [style for style in STYLES if style in arguments] or STYLES
    unknown = set(arguments) - {*LEGS, *STYLES}
    if unknown:
        raise SystemExit(f"conformance: there is no {', '.join(sorted(unknown))}")
    counted = suite.scored()
    problems: list[str] = []
    for leg in legs:
        for style in styles:
            if leg == "inspector":
                problems += inspect(style)
                continue
            found = run(leg, style, counted[leg])
            print_table(leg, style, found)
            problems += [f"{leg}, {style}: {each}" for each in suite.judge(found, counted[leg], EXPECTED[leg])]
    for problem in problems:
        print(f"! {problem}")
    print("conformance:", f"{len(problems)} problems" if problems else "as expected")
    return bool(problems)


def run(leg: str, style: str, counted: set[str]) -> list[suite.Verdict]:
    """One leg in one style."""
    if leg == "server":
        with serving(style) as url:
            return invoke(counted, "server", "--url", url, "--requirements", suite.REVISION)
    arguments = ("client", "--command", f"{sys.executable} {HERE / 'client.py'} {style}")
    found = invoke(counted, *arguments, "--requirements", suite.REVISION)
    # The suite starts all its clients at once. One that a busy machine has starved gets a second chance, alone.
    again: list[suite.Verdict] = []
    for verdict in found:
        if not verdict.ok and verdict.scenario not in EXPECTED["client"]:
            only = ("--scenario", verdict.scenario, "--spec-version", suite.REVISION)
            again += (replace(each, alone=True) for each in invoke(counted, *arguments, *only))
    renewed = {verdict.scenario: verdict for verdict in again}
    return [renewed.get(verdict.scenario, verdict) for verdict in found]


def invoke(counted: set[str], leg: str, *arguments: str) -> list[suite.Verdict]:
    """Run the suite. Its exit code only repeats what its output folder says."""
    with tempfile.TemporaryDirectory() as folder:
        line = suite.command(leg, *arguments, "-o", folder, "--timeout", "120000")
        subprocess.run(line, capture_output=True, env=environment(), timeout=600)
        return suite.verdicts(Path(folder), "server-" if leg == "server" else "", counted)


def inspect(style: str) -> list[str]:
    """Have the Inspector list our tools and call one."""
    with serving(style) as url:
        listed = suite.inspect(url, "--method", "tools/list")
        called = suite.inspect(url, "--method", "tools/call", "--tool-name", "test_simple_text")
    ok = len(listed.get("tools", ())) > 20 and "content" in called
    print(f"\ninspector, {style}: {len(listed.get('tools', ()))} tools listed, one called: {'ok' if ok else 'FAILED'}")
    return [] if ok else [f"inspector, {style}: {str([listed, called])[:500]}"]


def environment() -> dict[str, str]:
    """The environment in which the generated package is found."""
    return {**suite.environment(), "PYTHONPATH": str(BINDINGS)}


@contextmanager
def serving(style: str) -> Generator[str, None, None]:
    """Our server with all fixtures, at the URL that this gives."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    line = [sys.executable, str(HERE / "everything.py"), style, str(port)]
    process = subprocess.Popen(line, env=environment())
    try:
        for _ in range(200):
            if process.poll() is not None:
                raise SystemExit("conformance: the server did not start")
            with socket.socket() as client:
                if client.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.05)
        yield f"http://localhost:{port}/mcp"
    finally:
        process.terminate()
        process.wait(10)


def print_table(leg: str, style: str, found: Sequence[suite.Verdict]) -> None:
    """One line per scenario, then the sums."""
    print(f"\n{leg}, {style}")
    for verdict in sorted(found, key=lambda each: (not each.scored, each.scenario)):
        mark = "ok" if verdict.ok else "FAILED"
        notes = [
            "" if verdict.scored else "not scored",
            "by the official SDK's OAuth provider" if verdict.scenario.startswith("auth/") else "",
            f"{verdict.warned} warnings" if verdict.warned else "",
            f"{verdict.skipped} skipped" if verdict.skipped else "",
            "alone, after it had failed among others" if verdict.alone else "",
        ]
        print(f"  {verdict.scenario:<48} {mark:<7} {verdict.passed:>3}  {', '.join(filter(None, notes))}".rstrip())
        if verdict.scenario not in EXPECTED[leg]:
            for failure in verdict.failures:
                print(f"      {failure[:200]}")
    scored = [verdict for verdict in found if verdict.scored]
    print(f"  {sum(verdict.ok for verdict in scored)} of {len(scored)} scored scenarios pass")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
