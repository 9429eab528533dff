"""black over what was rendered: in parallel, and only for text that was not formatted before."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ProcessPoolExecutor
from importlib.metadata import version
from pathlib import Path

from . import cache
from .errors import BindgenError

LINE_LENGTH = 120
Progress = Callable[[int, int], None]


def format_all(files: Mapping[Path, str], progress: Progress) -> dict[Path, str]:
    """The files with every Python module formatted.

    `progress(done, total)` is called as files finish. Raises BindgenError if a template produced invalid Python.
    """
    formatted = dict(files)
    black = version("black")
    addresses = {path: cache.key(black, str(LINE_LENGTH), text) for path, text in files.items() if path.suffix == ".py"}
    missing: list[Path] = []
    for path, address in addresses.items():
        kept = cache.read(address)
        if kept is None:
            missing.append(path)
        else:
            formatted[path] = kept
    missing.sort(key=lambda path: -len(files[path]))  # the longest first: the pool ends together
    for done, (path, (text, problem)) in enumerate(zip(missing, _run([files[p] for p in missing]), strict=True), 1):
        if problem:
            raise BindgenError(
                str(path), f"the templates produced invalid Python: {problem}", "correct the template it comes from"
            )
        formatted[path] = text
        cache.write(addresses[path], text)
        progress(done, len(missing))
    return formatted


def _run(texts: list[str]) -> Iterable[tuple[str, str]]:
    workers = min(os.cpu_count() or 1, len(texts))
    if workers <= 1:
        yield from map(_format, texts)
        return
    with ProcessPoolExecutor(workers) as pool:
        yield from pool.map(_format, texts)


def _format(text: str) -> tuple[str, str]:
    """The formatted text, or nothing and what is wrong with it."""
    import black  # costs 160 ms: only where something has to be formatted
    from black.mode import TargetVersion
    from black.parsing import InvalidInput

    mode = black.Mode(target_versions={TargetVersion.PY311}, line_length=LINE_LENGTH)
    try:
        return black.format_str(text, mode=mode), ""
    except (InvalidInput, ValueError) as error:
        return "", str(error)
