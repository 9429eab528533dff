"""The rendered files against the disk: compare, write by swapping, and tell orphans from the user's own files."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from .errors import BindgenError
from .render import MARK


@dataclass(frozen=True)
class Difference:
    """How the folder differs from what would be generated. `orphans` carry the mark but are not generated any more."""

    missing: tuple[Path, ...]
    changed: tuple[Path, ...]
    orphans: tuple[Path, ...]

    def __bool__(self) -> bool:
        return bool(self.missing or self.changed or self.orphans)


def compare(files: Mapping[Path, str], out: Path) -> Difference:
    """Compare `files` with the folder `out`, byte for byte."""
    missing: list[Path] = []
    changed: list[Path] = []
    for path, text in files.items():
        try:
            if (out / path).read_bytes() != text.encode():
                changed.append(path)
        except OSError:
            missing.append(path)
    orphans = [path for path in _marked_files(out) if path not in files]
    return Difference(tuple(missing), tuple(changed), tuple(orphans))


def unified(files: Mapping[Path, str], out: Path, difference: Difference) -> Iterator[str]:
    """A unified diff from the disk to what would be generated, then the orphans."""
    for path in (*difference.changed, *difference.missing):
        old = (out / path).read_text("utf-8", "replace").splitlines(True) if path in difference.changed else []
        yield from difflib.unified_diff(old, files[path].splitlines(True), f"{out / path}", f"{path} (generated)")
    for path in difference.orphans:
        yield f"orphan: {out / path} is marked as generated, and nothing generates it any more\n"


def write(files: Mapping[Path, str], out: Path, difference: Difference) -> None:
    """Bring `out` up to date: new text is written beside its place and swapped in; orphans go. Raises BindgenError."""
    staged: list[tuple[Path, Path]] = []
    try:
        for path in (*difference.missing, *difference.changed):
            place = out / path
            place.parent.mkdir(parents=True, exist_ok=True)
            temporary = place.with_name(f".{place.name}.{os.getpid()}.new")
            staged.append((temporary, place))
            temporary.write_bytes(files[path].encode())
        for temporary, place in staged:
            temporary.replace(place)
        for path in difference.orphans:
            (out / path).unlink()
            _drop_empty(out, (out / path).parent)
    except OSError as error:
        raise BindgenError(
            str(error.filename or out), f"cannot be written ({error.strerror})", "free the path, then run it again"
        ) from None
    finally:
        for temporary, _ in staged:
            temporary.unlink(missing_ok=True)


def _marked_files(out: Path) -> list[Path]:
    found: list[Path] = []
    for suffix in ("*.py", "*.toml", "*.md"):
        for file in sorted(out.rglob(suffix)):
            try:
                with file.open("rb") as stream:
                    head = stream.readline(200)
            except OSError:
                continue
            if MARK.encode() in head:
                found.append(file.relative_to(out))
    return found


def _drop_empty(out: Path, folder: Path) -> None:
    """Remove folders that an orphan left empty (compiled leftovers do not count)."""
    while folder != out and all(item.name == "__pycache__" for item in folder.iterdir()):
        for cache in folder.iterdir():
            for file in cache.iterdir():
                file.unlink()
            cache.rmdir()
        folder.rmdir()
        folder = folder.parent
