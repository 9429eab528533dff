"""The command line: `mcp-bindgen generate|check|verify|explain|styles`."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

from . import __version__, cache, source
from .build import build
from .errors import BindgenError
from .explain import explain
from .ir import Protocol
from .output import compare, unified, write
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
    selection.add_argument("--package", default="mcp_bindings", help="dotted name of the package")
    selection.add_argument(
        "--runtime", default="", metavar="MODULE", help="use an installed runtime, e.g. mcp_bindings.runtime"
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
    add("styles", _styles, "List the built-in styles and what they keep.")
    return parser


def protocols(schema: Path, revisions: Sequence[str] | None) -> list[Protocol]:
    """The intermediate models of the named revisions, oldest first; all pinned ones by default."""
    pinned = source.read_pins(schema)
    chosen = [revision for revision in pinned if not revisions or revision in revisions]
    for revision in revisions or ():
        if revision not in pinned:
            source.load(schema, revision)
    return [build(source.load(schema, revision)) for revision in chosen]


def _files(arguments: argparse.Namespace) -> dict[Path, str]:
    """The files to emit: from the cache if they were made from exactly these inputs before."""
    templates: Path = arguments.templates
    styles = [load_style(templates, name) for name in arguments.style or builtin_styles(templates)]
    trees = [Path(__file__).parent, templates, arguments.schema, *(layer for s in styles for layer in s.layers)]
    choice = json.dumps([arguments.revision, [s.name for s in styles], arguments.package, arguments.runtime])
    address = cache.key(cache.fingerprint(trees), choice, version("black"), version("jinja2"))
    kept = cache.read(address)
    if kept is not None:
        return {Path(path): text for path, text in json.loads(kept).items()}
    from .context import Target
    from .formatting import format_all  # these two bring jinja2 and black
    from .render import render

    models = protocols(arguments.schema, arguments.revision)
    target = Target(arguments.package, arguments.runtime)
    files = format_all(render(models, styles, templates, target), _progress)
    cache.write(address, json.dumps({path.as_posix(): text for path, text in files.items()}))
    return files


def _progress(done: int, total: int) -> None:
    if sys.stderr.isatty():
        end = "\n" if done == total else ""
        print(f"\rformatting {done}/{total}", end=end, file=sys.stderr, flush=True)


def _generate(arguments: argparse.Namespace) -> int:
    files = _files(arguments)
    difference = compare(files, arguments.out)
    write(files, arguments.out, difference)
    written = len(difference.missing) + len(difference.changed)
    removed = f", {len(difference.orphans)} orphans removed" if difference.orphans else ""
    print(f"{len(files)} files, {written} written{removed}")
    return 0


def _check(arguments: argparse.Namespace) -> int:
    files = _files(arguments)
    difference = compare(files, arguments.out)
    sys.stdout.writelines(unified(files, arguments.out, difference))
    if difference:
        print(f"mcp-bindgen: {arguments.out} is not what the generator emits; run `make generate`", file=sys.stderr)
        return 1
    return 0


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
        for line in report.terminal(found, _in_colour(), shutil.get_terminal_size().columns):
            print(line)
    return 1 if found.breaking() else 0


def _in_colour() -> bool:
    """Whether to colour: on a terminal, unless NO_COLOR is set to anything."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def _styles(arguments: argparse.Namespace) -> int:
    for name in builtin_styles(arguments.templates):
        style = load_style(arguments.templates, name)
        keeps = "keeps" if style.keeps_unknown else "drops"
        checks = "checks" if style.validates_on_construct else "does not check"
        needs = ", ".join(style.requires) or "the standard library only"
        print(f"{name}: needs {needs}; keeps {style.bases} bases; {keeps} undeclared members; {checks} on construction")
    return 0
