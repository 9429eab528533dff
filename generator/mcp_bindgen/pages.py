"""The documents that the project keeps by generating them: changes, a reference per revision, the template context."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from . import diff, ir, report
from .context import Revision
from .reference import Reference
from .render import render_page
from .style import Style
from .vocabulary import vocabulary


def pages(protocols: Sequence[ir.Protocol], styles: Sequence[Style], templates: Path) -> dict[Path, str]:
    """Path below the documents' folder -> text, under the generated mark. Raises BindgenError."""
    files = {Path("templates.md"): render_page("docs/templates.md.jinja", templates, vocabulary())}
    for old, new in pairwise(protocols):
        found = diff.compare(old, new)
        files[Path("changes") / f"{found.old}..{found.new}.md"] = _changes(found, templates)
    for before, protocol in zip((None, *protocols), protocols, strict=False):
        revision = Revision(protocol, styles[0])
        context = {"reference": Reference(revision), "before": before.revision if before else None}
        text = render_page("docs/reference.md.jinja", templates, context, revision)
        files[Path("reference") / f"{protocol.revision}.md"] = text
    return files


def changes(found: diff.Diff, templates: Path) -> str:
    """The page about one diff, without the mark."""
    return _changes(found, templates).partition("\n\n")[2]


def _changes(found: diff.Diff, templates: Path) -> str:
    context = {"diff": found, "sections": report.sections(found), "summary": report.summary(found)}
    return render_page("docs/changes.md.jinja", templates, context)
