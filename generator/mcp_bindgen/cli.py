"""The command line: `mcp-bindgen generate|check|verify|explain|diff|bump|scaffold|upgrade|styles`."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import version
from keyword import iskeyword
from pathlib import Path

from . import __version__, cache, source
from .build import build
from .errors import BindgenError
from .explain import explain
from .ir import Protocol
from .output import compare, unified, write
from .overlay import read_overlay
from .style import builtin_styles, load_style


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; the exit code is 0, 1 for a finding or a bad input, 2 for wrong usage."""
    parser = _parser()
    arguments = parser.parse_args(argv)
    try:
        return int(arguments.run(arguments))
    except BindgenError as error:
        print(f"mcp-bindgen: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:
        sys.stderr.close()
        return 1
    except KeyboardInterrupt:
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("mcp-bindgen", description="Typed Python bindings from the MCP schema.")
    parser.add_argument("--version", action="version", version=f"mcp-bindgen {__version__}")
    root = source.package_root()
    inputs = argparse.ArgumentParser(add_help=False)
    inputs.add_argument("--schema", type=Path, default=root / "schema", help="folder of schema files and pins")
    inputs.add_argument("--templates", type=Path, default=root / "templates", help="folder of built-in templates")
    revisions = argparse.ArgumentParser(add_help=False)
    revisions.add_argument("--revision", action="append", metavar="R", help="revisions (default: all pinned ones)")
    selection = argparse.ArgumentParser(add_help=False, parents=[revisions])
    selection.add_argument(
        "--style", action="append", metavar="NAME|FOLDER", help="styles (default: all built-in ones)"
    )
    selection.add_argument("--out", type=Path, default=Path("generated"), help="output folder (default: generated)")
    selection.add_argument("--package", type=_module, default="mcp_bindings", help="dotted name of the package")
    selection.add_argument(
        "--runtime",
        type=_module,
        metavar="MODULE",
        help="use an installed runtime, e.g. mcp_bindings.runtime",
    )
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")

    def add(name: str, run: object, help: str, *parents: argparse.ArgumentParser) -> argparse.ArgumentParser:
        command = commands.add_parser(name, help=help, description=help, parents=[inputs, *parents])
        command.set_defaults(run=run)
        return command

    add("generate", _generate, "Write the bindings.", selection)
    add("check", _check, "Compare the bindings on disk with what would be generated; write nothing.", selection)
    add("verify", _verify, "Compare the model with datamodel-code-generator's reading of the schemas.", revisions)
    command = add("explain", _explain, "Print a definition or method as the model sees it.", revisions)
    command.add_argument("name", metavar="NAME", help="a definition, an inline object or a wire method")
    command = add("diff", _diff, "Tell what changed between two revisions; exit 1 if that breaks anybody.")
    command.add_argument("old", metavar="A", help="the revision to start from")
    command.add_argument("new", metavar="B", help="the revision to go to")
    form = command.add_mutually_exclusive_group()
    form.add_argument("--markdown", action="store_true", help="as a page like those in docs/changes")
    form.add_argument("--json", action="store_true", help="as JSON, every change on its own")
    command = add("bump", _bump, "Take a new revision of the schema, or a corrected copy of a known one.")
    command.add_argument("name", metavar="REVISION", help="the revision, as the spec names it")
    origin = command.add_mutually_exclusive_group()
    origin.add_argument("--source", metavar="PATH|URL", help="the schema.json (default: the spec repository's)")
    origin.add_argument("--ref", default="main", help="branch, tag or commit of the spec repository (default: main)")
    command.add_argument("--no-second-opinion", action="store_true", help="do not ask datamodel-code-generator")
    command = add("scaffold", _scaffold, "Write a class of handlers that you own, or add to it what is missing.")
    command.add_argument("side", choices=["server", "client"], help="whose handlers")
    command.add_argument("file", type=Path, metavar="FILE", help="the module; nothing that is there is overwritten")
    command.add_argument("--revision", metavar="R", help="the revision (default: the latest)")
    command.add_argument("--methods", nargs="+", default=[], metavar="METHOD", help="e.g. tools/call; or all")
    command.add_argument("--class", dest="name", metavar="NAME", help="the class (default: from the file's name)")
    command.add_argument("--style", default="pydantic", help="the style of a new module (default: pydantic)")
    command.add_argument("--package", default="mcp_bindings", help="the package of a new module")
    command = add(
        "upgrade", _upgrade, "Move your code from one revision to another, and report what is yours to decide."
    )
    command.add_argument("paths", type=Path, nargs="+", metavar="PATH", help="modules, or folders of them")
    command.add_argument("--from", dest="old", required=True, metavar="A", help="the revision that the code uses")
    command.add_argument("--to", dest="new", required=True, metavar="B", help="the revision that it shall use")
    command.add_argument("--check", action="store_true", help="write nothing; exit 1 if there is anything to do")
    command.add_argument("--diff", action="store_true", help="write nothing; print the changes")
    add("styles", _styles, "List the built-in styles and what they keep.")
    return parser


def _module(text: str) -> str:
    """A dotted module name from the command line."""
    if not all(part.isidentifier() and not iskeyword(part) for part in text.split(".")):
        raise argparse.ArgumentTypeError(f"{text!r} is no dotted module name")
    return text


def protocols(schema: Path, revisions: Sequence[str] | None) -> list[Protocol]:
    """The intermediate models of the named revisions, oldest first; all pinned ones by default."""
    pinned = source.read_pins(schema)
    chosen = [revision for revision in pinned if not revisions or revision in revisions]
    for revision in revisions or ():
        if revision not in pinned:
            source.load(schema, revision)
    return [build(source.load(schema, revision)) for revision in chosen]


def _outputs(arguments: argparse.Namespace) -> dict[Path, dict[Path, str]]:
    """Folder -> the files to emit below it: from the cache if they were made from exactly these inputs before."""
    templates: Path = arguments.templates
    styles = [load_style(templates, name) for name in arguments.style or builtin_styles(templates)]
    documents = _documents(arguments)
    trees = [Path(__file__).parent, templates, arguments.schema, *(layer for s in styles for layer in s.layers)]
    choice = [arguments.revision, [s.name for s in styles], arguments.package, arguments.runtime, bool(documents)]
    address = cache.key(cache.fingerprint(trees), json.dumps(choice), version("black"), version("jinja2"))
    kept = cache.read(address)
    if kept is not None:
        made = [{Path(path): text for path, text in files.items()} for files in json.loads(kept)]
    else:
        from .context import Target  # these bring jinja2 and black
        from .formatting import format_all
        from .pages import pages
        from .render import render

        models = protocols(arguments.schema, arguments.revision)
        target = Target(arguments.package, arguments.runtime or "")
        made = [format_all(render(models, styles, templates, target), _progress)]
        made += [pages(models, styles, templates)] if documents else []
        plain = [{path.as_posix(): text for path, text in files.items()} for files in made]
        cache.write(address, json.dumps(plain))
    folders: list[Path] = [arguments.out, *([documents] if documents else [])]
    return dict(zip(folders, made, strict=True))


def _documents(arguments: argparse.Namespace) -> Path | None:
    """The folder of the project's own documents, if it is the project's own bindings that are made, all of them."""
    project = source.package_root()
    own = arguments.out.resolve() == project / "generated" and arguments.schema.resolve() == project / "schema"
    partial = arguments.revision or arguments.style or arguments.runtime or arguments.package != "mcp_bindings"
    return project / "docs" if own and not partial else None


def _progress(done: int, total: int) -> None:
    if sys.stderr.isatty():
        end = "\n" if done == total else ""
        print(f"\rformatting {done}/{total}", end=end, file=sys.stderr, flush=True)


def _generate(arguments: argparse.Namespace) -> int:
    for folder, files in _outputs(arguments).items():
        difference = compare(files, folder)
        write(files, folder, difference)
        written = len(difference.missing) + len(difference.changed)
        removed = f", {len(difference.orphans)} orphans removed" if difference.orphans else ""
        print(f"{folder.name}: {len(files)} files, {written} written{removed}")
    return 0


def _check(arguments: argparse.Namespace) -> int:
    stale: list[Path] = []
    for folder, files in _outputs(arguments).items():
        difference = compare(files, folder)
        sys.stdout.writelines(unified(files, folder, difference))
        stale += [folder] if difference else []
    unreviewed = [] if os.environ.get("ALLOW_UNREVIEWED") else _unreviewed(arguments)
    for question in unreviewed:
        print(
            f"mcp-bindgen: {question} is proposed: review it, then drop its `review` mark from the overlay",
            file=sys.stderr,
        )
    for folder in stale:
        print(f"mcp-bindgen: {folder} is not what the generator emits; run `make generate`", file=sys.stderr)
    return 1 if stale or unreviewed else 0


def _unreviewed(arguments: argparse.Namespace) -> list[str]:
    """The questions that are open in the overlays, as `file#section.entry`."""
    folder: Path = arguments.schema
    chosen = arguments.revision or source.read_pins(folder)
    overlays = [read_overlay(folder / revision / "overlay.json") for revision in chosen]
    return [f"{overlay.file}#{question}" for overlay in overlays for question in overlay.open_questions]


def _verify(arguments: argparse.Namespace) -> int:
    from . import oracle

    surprises = 0
    for protocol in protocols(arguments.schema, arguments.revision):
        schema = source.load(arguments.schema, protocol.revision)
        found = oracle.unexpected(oracle.compare(protocol, schema), schema.overlay)
        definitions = sum(not d.owner for d in protocol.declarations.values())
        for disagreement in found:
            print(f"{protocol.revision}: {disagreement}")
        print(f"{protocol.revision}: {definitions} definitions compared, {len(found)} disagreements")
        surprises += len(found)
    return 1 if surprises else 0


def _explain(arguments: argparse.Namespace) -> int:
    templates: Path = arguments.templates
    styles = [load_style(templates, name) for name in builtin_styles(templates)]
    chosen = arguments.revision or [list(source.read_pins(arguments.schema))[-1]]
    for protocol in protocols(arguments.schema, chosen):
        for line in explain(protocol, arguments.name, styles):
            print(line)
    return 0


def _diff(arguments: argparse.Namespace) -> int:
    from . import diff, report

    old, new = (build(source.load(arguments.schema, revision)) for revision in (arguments.old, arguments.new))
    found = diff.compare(old, new)
    if arguments.json:
        print(json.dumps(report.document(found), indent=2, ensure_ascii=False))
    elif arguments.markdown:
        from . import pages

        print(pages.changes(found, arguments.templates), end="")
    else:
        for line in report.terminal(found, _in_colour(), _width()):
            print(line)
    return 1 if found.breaking() else 0


def _bump(arguments: argparse.Namespace) -> int:
    from . import bump, fetch

    folder: Path = arguments.schema
    bump.check_name(arguments.name)
    if arguments.source:
        origin = fetch.given(arguments.source, arguments.name)
    else:
        repository = source.read_repository(folder)
        origin = fetch.published(repository, arguments.name, fetch.commit_of(repository, arguments.ref))
    opinion = None
    try:
        data = fetch.fetch(origin.location, _tell_progress)
        _tell("building the model")
        found = bump.bump(folder, arguments.name, origin, data, datetime.now(UTC).date().isoformat())
        if found.draft and not arguments.no_second_opinion:
            _tell("asking datamodel-code-generator")
            opinion = bump.second_opinion(found.draft)
    finally:
        _tell("")
    write(found.files, folder, replace(compare(found.files, folder), orphans=()))
    for line in bump.tell(found, opinion, _in_colour(), _width()):
        print(line)
    if found.draft:
        settle = "settle the questions, then " if found.draft.questions else ""
        print(f"\nnext: {settle}`make generate` and `make test`")
    return 0


def _scaffold(arguments: argparse.Namespace) -> int:
    from . import handlers, scaffold, usage
    from .context import Revision

    templates: Path = arguments.templates
    file: Path = arguments.file
    styles = [load_style(templates, name) for name in builtin_styles(templates)]
    models = {protocol.revision: protocol for protocol in protocols(arguments.schema, None)}
    name = arguments.revision or list(models)[-1]
    if name not in models:
        source.load(arguments.schema, name)
    tables = {r: handlers.handlers(Revision(model, styles[0]), arguments.side) for r, model in models.items()}
    own = {handler.name: handler for handler in tables[name]}
    wanted = scaffold.Wanted(
        side=arguments.side,
        revision=name,
        home=f"{arguments.package}.{arguments.style}",
        module=Revision(models[name], styles[0]).module,
        handlers=scaffold.choose(tables[name], arguments.methods, name),
        all=own,
        gone={h.name: h.wire for table in tables.values() for h in table if h.name not in own},
    )
    if file.exists():
        made = scaffold.renew(usage.read(file), wanted, arguments.name)
        changed = bool(made.added or made.updated)
    else:
        made = scaffold.fresh(wanted, arguments.name or scaffold.class_name(file, arguments.side))
        changed = True
    if changed:
        usage.save(file, made.data)
    for remark in made.remarks:
        print(remark)
    summary = [
        f"{word} {', '.join(names)}" for word, names in (("added", made.added), ("updated", made.updated)) if names
    ]
    print(f"{file}: {'; '.join(summary) or 'nothing to add'}")
    return 1 if made.remarks else 0


def _upgrade(arguments: argparse.Namespace) -> int:
    from . import upgrade, usage
    from .context import Revision
    from .moves import moves

    styles = [load_style(arguments.templates, name) for name in builtin_styles(arguments.templates)]
    old, new = (build(source.load(arguments.schema, name)) for name in (arguments.old, arguments.new))
    moved = moves(Revision(old, styles[0]), Revision(new, styles[0]))
    found = [made for file in upgrade.modules(arguments.paths) if (made := upgrade.upgrade(file, moved))]
    changed = [made for made in found if made.changed]
    for made in changed:
        if arguments.diff:
            sys.stdout.writelines(made.unified())
        elif not arguments.check:
            usage.save(made.file, made.after)
    for made in found:
        for finding in made.findings:
            print(f"{made.file}:{finding.line}: {finding.text}")
    open_ends = sum(len(made.findings) for made in found)
    done = "to change" if arguments.check or arguments.diff else "changed"
    print(f"{len(changed)} files {done}, {open_ends} places to look at")
    return 1 if open_ends or (arguments.check and changed) else 0


def _tell(text: str) -> None:
    """Progress, on a terminal only: one line that the next one replaces."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)


def _in_colour() -> bool:
    """Whether to colour: on a terminal, unless NO_COLOR is set to anything."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def _tell_progress(done: int, total: int | None) -> None:
    _tell(f"fetching {done:,} of {total:,} bytes" if total else f"fetching {done:,} bytes")


def _width() -> int:
    return shutil.get_terminal_size((100, 24)).columns


def _styles(arguments: argparse.Namespace) -> int:
    for name in builtin_styles(arguments.templates):
        style = load_style(arguments.templates, name)
        keeps = "keeps" if style.keeps_unknown else "drops"
        checks = "checks" if style.validates_on_construct else "does not check"
        needs = ", ".join(style.requires) or "the standard library only"
        print(f"{name}: needs {needs}; keeps {style.bases} bases; {keeps} undeclared members; {checks} on construction")
    return 0
