"""Bytes from where a schema is published: a path, `file:` or `http(s):`. Nothing is kept on disk."""

from __future__ import annotations

import re
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from urllib.parse import urlsplit

from .errors import BindgenError

Progress = Callable[[int, int | None], None]

_TIMEOUT = 30
_CHUNK = 64 * 1024
_LIMIT = 64 * 1024 * 1024
_GITHUB = re.compile(r"https://github\.com/([^/]+/[^/]+?)(?:\.git)?/?")
_COMMIT = re.compile(r"[0-9a-f]{7,40}")


@dataclass(frozen=True)
class Origin:
    """Where a schema comes from: what to open, and what the pin says of it."""

    location: str
    path: str
    commit: str


def published(repository: str, revision: str, ref: str) -> Origin:
    """The schema of `revision` in the spec's repository at `ref`. Raises BindgenError."""
    match = _GITHUB.fullmatch(repository)
    if match is None:
        raise BindgenError(
            repository, "no way to fetch single files from here is known", "name the file: SOURCE=path-or-url"
        )
    path = f"schema/{revision}/schema.json"
    return Origin(f"https://raw.githubusercontent.com/{match[1]}/{ref}/{path}", path, ref)


def commit_of(repository: str, ref: str) -> str:
    """The commit that `ref` is at now, or `ref` itself where the host does not tell."""
    match = _GITHUB.fullmatch(repository)
    if match is None or _COMMIT.fullmatch(ref):
        return ref
    request = urllib.request.Request(
        f"https://api.github.com/repos/{match[1]}/commits/{ref}",
        headers={"Accept": "application/vnd.github.sha", "User-Agent": "mcp-bindgen"},
    )
    try:
        with urllib.request.urlopen(request, timeout=_TIMEOUT) as response:
            commit = response.read(100).decode("ascii", "replace").strip()
    except (OSError, HTTPException):
        return ref
    return commit if _COMMIT.fullmatch(commit) else ref


def given(source: str, revision: str) -> Origin:
    """A path or URL that the user names. The pin keeps URLs, but no paths of the user's machine."""
    local = urlsplit(source).scheme not in ("http", "https")
    return Origin(source, f"schema/{revision}/schema.json" if local else source, "unknown")


def fetch(location: str, progress: Progress) -> bytes:
    """All bytes at `location`, `progress(done, total)` meanwhile. Raises BindgenError, also for a cut download."""
    scheme = urlsplit(location).scheme
    if scheme not in ("http", "https", "file"):
        if "://" in location:
            raise BindgenError(location, f"{scheme}: is not supported", "use a path, file:, http: or https:")
        return _local(Path(location))
    request = urllib.request.Request(location, headers={"User-Agent": "mcp-bindgen"})
    try:
        with urllib.request.urlopen(request, timeout=_TIMEOUT) as response:
            announced = response.headers.get("Content-Length")
            total = int(announced) if announced and announced.isdecimal() else None
            data = bytearray()
            while chunk := response.read(_CHUNK):
                data += chunk
                progress(len(data), total)
                if len(data) > _LIMIT:
                    raise BindgenError(location, f"more than {_LIMIT:,} bytes: no schema is that large")
    except urllib.error.HTTPError as error:
        raise BindgenError(
            location, f"the server answered {error.code} {error.reason}", "check the name and the ref"
        ) from None
    except (OSError, HTTPException, ValueError) as error:
        reason = getattr(error, "reason", None) or error
        raise BindgenError(
            location, f"cannot be fetched: {reason}", "check the address, or name a local file"
        ) from None
    if total is not None and len(data) != total:
        raise BindgenError(location, f"the download was cut: {len(data):,} of {total:,} bytes", "run it again")
    return bytes(data)


def _local(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise BindgenError(str(path), f"cannot be read ({error.strerror})", "name a schema.json, or its URL") from None
