"""HTTP: requests per second of server and client, and a server's memory, against the official SDK."""

from __future__ import annotations

import os
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

import mcp_bindings

from .measure import Row, less, more

PROGRAMS = Path(__file__).parent / "programs"
ROUNDS = 5
PLAIN = ("--loop", "asyncio", "--http", "h11")
FAST = ("--loop", "uvloop", "--http", "httptools")


def rows() -> Iterator[Row]:
    """All rows. Peers take turns, so that a busy moment hits both."""
    ours, theirs = rates(PLAIN, 3000)
    yield more("HTTP server, uvicorn: msgspec / SDK", ours, theirs, "/s", 2.5)
    ours, theirs = rates(FAST, 6000)
    yield more("HTTP server, uvloop and httptools: msgspec / SDK", ours, theirs, "/s", 5.0)
    with serving("ours", PLAIN) as (mine, _), serving("official", PLAIN) as (theirs_url, _):
        urls = {"ours": mine, "official": theirs_url, "httpx2": mine}
        for concurrent, count, bar in ((1, 1000, 1.5), (64, 2000, 1.9)):
            found: dict[str, list[float]] = {who: [] for who in urls}
            for _ in range(ROUNDS):
                for who, figures in found.items():
                    figures.append(run("http_clients.py", who, urls[who], concurrent, count))
            median = {who: statistics.median(figures) for who, figures in found.items()}
            title = "one by one" if concurrent == 1 else f"{concurrent} at once"
            yield more(f"HTTP, own client to own server, {title}", median["ours"], median["official"], "/s", bar)
            yield more("  the same: our client / httpx2 alone", median["ours"], median["httpx2"], "/s", 0.0)
    memory = {}
    for who in ("ours", "official"):
        with serving(who, PLAIN) as (url, process):
            run("load.py", url, 16, 10_000)
            memory[who] = resident(process)
    yield less("HTTP server memory after 10,000 requests", memory["ours"], memory["official"], "MB", 0.6)


def rates(options: tuple[str, ...], requests: int) -> tuple[float, float]:
    """Requests per second of both servers, under the same web server and load."""
    with serving("ours", options) as (ours, _), serving("official", options) as (official, _):
        found: dict[str, list[float]] = {ours: [], official: []}
        for number in range(ROUNDS + 1):
            for url, figures in found.items():
                rate = run("load.py", url, 16, requests if number else 500)
                if number:
                    figures.append(rate)
        return statistics.median(found[ours]), statistics.median(found[official])


def run(program: str, *arguments: object) -> float:
    """The figure that a program prints."""
    line = [sys.executable, str(PROGRAMS / program), *map(str, arguments)]
    return float(
        subprocess.run(line, check=True, capture_output=True, text=True, env=environment(), timeout=120).stdout
    )


def environment() -> dict[str, str]:
    """The environment in which the generated package is found."""
    return {**os.environ, "PYTHONPATH": str(Path(mcp_bindings.__file__).parents[1])}


@contextmanager
def serving(who: str, options: tuple[str, ...]) -> Generator[tuple[str, subprocess.Popen[bytes]], None, None]:
    """One of the servers in a process of its own: its URL, and the process."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    factory = () if who == "bare" else ("--factory",)
    app = ["http_servers:" + who, "--app-dir", str(PROGRAMS), *factory]
    line = [sys.executable, "-m", "uvicorn", *app, "--port", str(port), "--log-level", "error", "--no-access-log"]
    process = subprocess.Popen([*line, *options], env=environment())
    try:
        for _ in range(400):
            with socket.socket() as client:
                if client.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.05)
        yield f"http://127.0.0.1:{port}/mcp", process
    finally:
        process.terminate()
        process.wait()


def resident(process: subprocess.Popen[bytes]) -> float:
    """The memory of a process in MB."""
    for line in Path(f"/proc/{process.pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    raise RuntimeError("no such figure here")
