"""The documents that the project keeps about the protocol, as text: what changed, and a reference per revision."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from . import diff, ir, report
from .render import render_page


def pages(protocols: Sequence[ir.Protocol], templates: Path) -> dict[Path, str]:
    """Path below the documents' folder -> text, under the generated mark. Raises BindgenError."""
    files: dict[Path, str] = {}
    for old, new in pairwise(protocols):
        found = diff.compare(old, new)
        files[Path("changes") / f"{found.old}..{found.new}.md"] = _changes(found, templates)
    return files


def changes(found: diff.Diff, templates: Path) -> str:
    """The page about one diff, without the mark."""
    return _changes(found, templates).partition("\n\n")[2]


def _changes(found: diff.Diff, templates: Path) -> str:
    context = {"diff": found, "sections": report.sections(found), "summary": report.summary(found)}
    return render_page("docs/changes.md.jinja", templates, context)
