"""black over what was rendered: in parallel, and only for text that was not formatted before."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ProcessPoolExecutor
from importlib.metadata import version
from pathlib import Path

from platformdirs import user_cache_path

from .errors import BindgenError

LINE_LENGTH = 120
Progress = Callable[[int, int], None]


def format_all(files: Mapping[Path, str], progress: Progress, cache: Path | None = None) -> dict[Path, str]:
    """The files with every Python module formatted. The cache is content-addressed and safe to delete.

    `progress(done, total)` is called as files finish. Raises BindgenError if a template produced invalid Python.
    """
    cache = cache or user_cache_path("mcp-bindgen") / f"black-{version('black')}"
    formatted = dict(files)
    missing: list[Path] = []
    for path, text in files.items():
        if path.suffix == ".py":
            try:
                formatted[path] = (cache / _key(text)).read_text("utf-8")
            except OSError:
                missing.append(path)
    workers = min(os.cpu_count() or 1, len(missing))
    if workers <= 1:
        _collect(missing, map(_format, (files[path] for path in missing)), files, formatted, cache, progress)
    else:
        missing.sort(key=lambda path: -len(files[path]))  # the longest first: the pool ends together
        with ProcessPoolExecutor(workers) as pool:
            _collect(missing, pool.map(_format, [files[path] for path in missing]), files, formatted, cache, progress)
    return formatted


def _collect(
    paths: list[Path],
    results: Iterable[tuple[str, str]],
    files: Mapping[Path, str],
    formatted: dict[Path, str],
    cache: Path,
    progress: Progress,
) -> None:
    for done, (path, (text, problem)) in enumerate(zip(paths, results, strict=True), 1):
        if problem:
            raise BindgenError(
                str(path),
                f"the templates produced invalid Python: {problem}",
                "correct the template named on top of the file",
            )
        formatted[path] = text
        _store(cache / _key(files[path]), text)
        progress(done, len(paths))


def _format(text: str) -> tuple[str, str]:
    import black  # costs 160 ms: only where something has to be formatted
    from black.mode import TargetVersion
    from black.parsing import InvalidInput

    mode = black.Mode(target_versions={TargetVersion.PY311}, line_length=LINE_LENGTH)
    try:
        return black.format_str(text, mode=mode), ""
    except (InvalidInput, ValueError) as error:
        return "", str(error)


def _key(text: str) -> str:
    return hashlib.sha256(f"{LINE_LENGTH}\n{text}".encode()).hexdigest()


def _store(file: Path, text: str) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        temporary = file.with_suffix(f".{os.getpid()}")
        temporary.write_text(text, "utf-8")
        temporary.replace(file)
    except OSError:
        pass  # a cache that cannot be written is only slow
