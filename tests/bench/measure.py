"""How things are measured: medians, interleaved with the peer, in fresh processes where state matters."""

from __future__ import annotations

import gc
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """A measure: our figure, the peer's, their ratio, and the bar that the ratio should reach.

    `at_most` says which side of the bar is good.
    """

    what: str
    ours: float
    peer: float
    unit: str
    bar: float
    at_most: bool
    ratio: float

    @property
    def reached(self) -> bool:
        return self.ratio <= self.bar if self.at_most else self.ratio >= self.bar

    def __str__(self) -> str:
        sign = "<=" if self.at_most else ">="
        mark = "reached" if self.reached else "missed"
        return (
            f"{self.what:<64} {self.ours:>10.4g} {self.peer:>10.4g} {self.unit:<4} "
            f"{self.ratio:>7.2f} x  {sign} {self.bar:g} x  {mark}"
        )


def less(what: str, ours: float, peer: float, unit: str, bar: float) -> Row:
    """A cost: ours may be at most `bar` times the peer's."""
    return Row(what, ours, peer, unit, bar, True, ours / peer)


def faster(what: str, ours: float, peer: float, unit: str, bar: float) -> Row:
    """A cost that has to be beaten: the peer's is at least `bar` times ours."""
    return Row(what, ours, peer, unit, bar, False, peer / ours)


def more(what: str, ours: float, peer: float, unit: str, bar: float) -> Row:
    """A rate: ours is at least `bar` times the peer's."""
    return Row(what, ours, peer, unit, bar, False, ours / peer)


def per_call(
    functions: Mapping[str, Callable[[], object]], rounds: int = 15, seconds: float = 0.02
) -> dict[str, float]:
    """Microseconds of processor time per call of each function: the median of interleaved batches."""
    repeats: dict[str, int] = {}
    for name, function in functions.items():
        function()
        start, count = time.process_time(), 0
        while time.process_time() - start < seconds:
            function()
            count += 1
        repeats[name] = max(count, 1)
    samples: dict[str, list[float]] = {name: [] for name in functions}
    for _ in range(rounds):
        for name, function in functions.items():
            gc.collect()
            start = time.process_time()
            for _ in range(repeats[name]):
                function()
            samples[name].append((time.process_time() - start) / repeats[name] * 1e6)
    return {name: statistics.median(values) for name, values in samples.items()}


def processes(snippets: Mapping[str, str], rounds: int = 11, env: Mapping[str, str] | None = None) -> dict[str, float]:
    """Milliseconds of wall time of `python -c snippet` for each: the median of interleaved fresh processes."""
    return commands({name: [sys.executable, "-c", snippet] for name, snippet in snippets.items()}, rounds, env)


def commands(lines: Mapping[str, Sequence[str]], rounds: int, env: Mapping[str, str] | None = None) -> dict[str, float]:
    """Milliseconds of wall time of each command line: the median of interleaved runs after one warm-up."""
    samples: dict[str, list[float]] = {name: [] for name in lines}
    for number in range(rounds + 1):
        for name, line in lines.items():
            start = time.perf_counter()
            subprocess.run(line, check=True, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            if number:
                samples[name].append((time.perf_counter() - start) * 1e3)
    return {name: statistics.median(values) for name, values in samples.items()}
