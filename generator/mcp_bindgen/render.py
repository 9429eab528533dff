"""From protocols and a style's templates to `{path: text}`, unformatted. Nothing here touches the disk for writing."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, cast

import jinja2

from . import __version__, ir
from .context import IMPORTS, Imports, Page, Revision, Target, visible
from .document import is_array, is_object
from .errors import BindgenError
from .formatting import LINE_LENGTH
from .output import MARK
from .style import Style

_SITE = "https://modelcontextprotocol.io"
TESTS = {
    cls.__name__.lower(): cls
    for cls in (ir.Record, ir.Alias, ir.Scalar, ir.Const, ir.Enum, ir.Ref, ir.Any, ir.Union, ir.Arm, ir.Ranked)
} | {
    "list_of": ir.ListOf,
    "map_of": ir.MapOf,
    "by_kind": ir.ByKind,
    "by_item": ir.ByItem,
    "by_tag": ir.ByTag,
    "by_key": ir.ByKey,
}


def render(
    protocols: Sequence[ir.Protocol], styles: Sequence[Style], templates: Path, target: Target
) -> dict[Path, str]:
    """All files of the package: path below the output folder -> text before formatting. Raises BindgenError."""
    files: dict[Path, str] = {}
    base = _Layers((templates / "base",), templates)
    common: dict[str, Any] = {"protocols": protocols, "styles": styles}
    if not target.runtime:
        for file in sorted((templates / "runtime").glob("*.py")):
            files[target.folder / "runtime" / file.name] = _marked(file.read_text("utf-8"), file.name, file, templates)
    scope = _Scope(base, target, None, None)
    files |= _folder(scope, "distribution", Path(), common)
    files |= _folder(scope, "package", target.folder, common)
    for protocol in protocols:
        revision = Revision(protocol, styles[0])
        files |= _one(
            _Scope(base, target, revision, None),
            "definitions/revision.py.jinja",
            target.folder / "definitions" / f"{revision.module}.py",
            common,
        )
    for style in styles:
        layers = _Layers((*style.layers, templates / "base"), templates)
        folder = target.folder / style.name
        files |= _folder(_Scope(layers, target, None, style), "style", folder, common)
        for protocol in protocols:
            revision = Revision(protocol, style)
            scope = _Scope(layers, target, revision, style)
            files |= _folder(scope, "revision", folder / revision.module, common)
            for topic in revision.topics:
                path = folder / revision.module / "types" / f"{topic.name}.py"
                files |= _one(scope, "topic/types.py.jinja", path, {**common, "topic": topic})
    return files


def render_page(template: str, templates: Path, extra: Mapping[str, Any], revision: Revision | None = None) -> str:
    """One document of the project from the base templates, which see the names of `extra` too. Raises BindgenError."""
    scope = _Scope(_Layers((templates / "base",), templates), Target(), revision, None)
    (text,) = _one(scope, template, Path(template).with_suffix(""), {}, extra).values()
    return text


@dataclass(frozen=True)
class _Layers:
    """Template folders, most specific first; `builtin:` reaches past the first."""

    folders: tuple[Path, ...]
    templates: Path

    @cached_property
    def environment(self) -> jinja2.Environment:
        own = jinja2.FileSystemLoader(list(dict.fromkeys(self.folders)))
        builtin = {f"builtin:{folder.name}": jinja2.FileSystemLoader(folder) for folder in self.templates.iterdir()}
        environment = jinja2.Environment(
            loader=jinja2.ChoiceLoader([own, jinja2.PrefixLoader(builtin)]),
            undefined=jinja2.StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            keep_trailing_newline=True,
            extensions=["jinja2.ext.do", "jinja2.ext.loopcontrols"],
        )
        for name, cls in TESTS.items():
            cast("dict[str, Any]", environment.tests)[name] = _instance_of(cls)
        environment.filters.update(FILTERS)
        return environment

    def scope(self, folder: str) -> Iterator[tuple[Path, Path]]:
        """(relative path, file) of everything that the layers hold in `folder`; the most specific layer wins."""
        found: dict[Path, Path] = {}
        for layer in self.folders:
            for file in sorted((layer / folder).rglob("*")):
                if file.is_file() and "__pycache__" not in file.parts:
                    found.setdefault(file.relative_to(layer / folder), file)
        yield from sorted(found.items())


def _instance_of(cls: type) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, cls)


@dataclass(frozen=True)
class _Scope:
    """Where a template is rendered: for the package, for a style, or for a revision in a style."""

    layers: _Layers
    target: Target
    revision: Revision | None
    style: Style | None


def _folder(scope: _Scope, folder: str, out: Path, page: Mapping[str, Any]) -> dict[Path, str]:
    files: dict[Path, str] = {}
    for relative, file in scope.layers.scope(folder):
        if relative.suffix == ".jinja":
            files |= _one(scope, f"{folder}/{relative.as_posix()}", out / relative.with_suffix(""), page)
        else:
            text = file.read_text("utf-8")
            if scope.target.runtime:  # a style's own modules say where the runtime is relative to themselves
                text = text.replace("from ..runtime", f"from {scope.target.runtime}")
            files[out / relative] = _marked(text, relative.name, file, scope.layers.templates, scope.revision)
    return files


def _one(
    scope: _Scope, template: str, path: Path, page: Mapping[str, Any], extra: Mapping[str, Any] = {}
) -> dict[Path, str]:
    revision = scope.revision
    taken = frozenset(revision.names.classes.values()) if revision and "types" in path.parts else frozenset[str]()
    imports = Imports(taken)
    context = visible(Page(path, scope.target, imports, scope.style, revision, **page)) | dict(extra)
    try:
        loaded = scope.layers.environment.get_template(template)
        text = loaded.render(context)
    except jinja2.TemplateSyntaxError as error:
        raise BindgenError(
            f"{error.filename or error.name}:{error.lineno}", f"template syntax: {error.message}"
        ) from None
    except jinja2.TemplateError as error:
        raise BindgenError(
            _template_line(error, template), f"template: {error.message or type(error).__name__}"
        ) from None
    if not text.strip() and path.suffix == ".py":
        return {}  # the template has nothing to say of this protocol
    text = text.replace(IMPORTS, imports.block())
    file = Path(loaded.filename or template)
    return {path: _marked(text, path.name, file, scope.layers.templates, revision)}


def _template_line(error: BaseException, template: str) -> str:
    """`file:line` of the innermost template frame of a traceback."""
    where = template
    trace = error.__traceback__
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if file.endswith(".jinja"):
            where = f"{file}:{trace.tb_lineno}"
        trace = trace.tb_next
    return where


def _marked(text: str, name: str, template: Path, templates: Path, revision: Revision | None = None) -> str:
    """`text` under the generated mark, in the comment syntax of the file's kind."""
    source = (
        template.relative_to(templates.parent)
        if template.is_relative_to(templates.parent)
        else Path(template.parent.name) / template.name
    )
    mark = f"{MARK} {__version__}"
    if revision:
        mark += f" from MCP {revision.protocol.revision}, schema sha256 {revision.protocol.source.sha256[:12]}"
    lines = [f"{mark}; do not edit.", f"Template: {source.as_posix()}"]
    match Path(name).suffix:
        case ".py" | ".toml" | ".pyi":
            return "".join(f"# {line}\n" for line in lines) + ("\n" + text.lstrip("\n") if text.strip() else "")
        case ".md":
            return f"<!-- {' '.join(lines)} -->\n\n{text.lstrip()}"
        case _:
            return text


# --- filters: the only way for text of the schema into the output ----------------------------------------------------


def literal(value: Any) -> str:
    """A Python literal for a JSON value, strings in double quotes."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=True) if value.isascii() else _unicode_literal(value)
    if is_array(value):
        return f"[{', '.join(map(literal, value))}]"
    if isinstance(value, tuple):
        items: list[Any] = [*value]
        return f"({', '.join(map(literal, items))}{',' if len(items) == 1 else ''})"
    if is_object(value):
        return "{" + ", ".join(f"{literal(key)}: {literal(item)}" for key, item in value.items()) + "}"
    return repr(value)


def _unicode_literal(value: str) -> str:
    text = repr(value)
    return (
        text if text.startswith('"') else json.dumps(value, ensure_ascii=False) if value.isprintable() else repr(value)
    )


def docstring(text: str, indent: int = 0) -> str:
    """A docstring literal, whatever the text holds; empty text gives nothing."""
    text = text.strip()
    if not text:
        return ""
    safe = _printable(_escaped(text))
    pad = " " * indent
    lines = _wrapped(safe.split("\n"), LINE_LENGTH - indent - 6)
    body = "\n".join(pad + line if line and number else line for number, line in enumerate(lines))
    closing = f"\n{pad}" if len(lines) > 1 else ""
    return f'"""{body}{closing}"""'


def _printable(text: str) -> str:
    """The text with everything but newlines, tabs and printable characters written as escapes."""
    return "".join(c if c in "\n\t" or c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def _escaped(text: str) -> str:
    """Backslashes, and the quotes that would end the literal, escaped."""
    body = text.rstrip('"')
    safe = body.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    return safe + '\\"' * (len(text) - len(body))


def _wrapped(lines: Iterable[str], width: int) -> list[str]:
    """The lines without trailing space, long ones broken between words; code between ``` stays as it is."""
    wrapped: list[str] = []
    code = False
    for line in lines:
        code ^= line.lstrip().startswith("```")
        if code or len(line) <= width:
            wrapped.append(line.rstrip())
            continue
        margin = " " * (len(line) - len(line.lstrip(" -*")))
        wrapped += textwrap.wrap(line, width, subsequent_indent=margin, break_long_words=False, break_on_hyphens=False)
    return wrapped


def comment(text: str, indent: int = 0) -> str:
    """The text as `#` comment lines."""
    pad = " " * indent
    lines = _printable(text.strip()).splitlines()
    return "\n".join(f"{pad if number else ''}# {line.strip()}".rstrip() for number, line in enumerate(lines))


def prose(text: str) -> str:
    """The text for a Markdown page: no HTML outside of code spans, the spec's own links made whole."""
    parts = text.strip().replace("](/", f"]({_SITE}/").split("`")
    return "`".join(part if number % 2 else part.replace("<", "&lt;") for number, part in enumerate(parts))


def cell(text: str) -> str:
    """The text on one line of a Markdown table."""
    return " ".join(prose(text).replace("|", "\\|").split())


FILTERS: Mapping[str, Callable[..., str]] = {
    "lit": literal,
    "doc": docstring,
    "comment": comment,
    "prose": prose,
    "cell": cell,
}
