"""A user's code moved to a later revision: what is rewritten, what is reported, and that nothing else changes."""

from __future__ import annotations

import difflib
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT, TEMPLATES, protocol_of
from inline import REVISION, STRING, const, model, obj, ref
from mcp_bindgen import cli, usage
from mcp_bindgen.context import Revision
from mcp_bindgen.moves import Moves, moves
from mcp_bindgen.style import load_style
from mcp_bindgen.upgrade import upgrade

PROGRAMS = Path(__file__).parent / "programs"
NEXT = "2099-06-01"
STYLE = load_style(TEMPLATES, "pydantic")

# program -> from, to, and what is left to decide
REAL: dict[str, tuple[str, str, list[str]]] = {
    "host": (
        "2025-03-26",
        "2025-06-18",
        ["68: CallToolResult.content: may also be ResourceLink", "76: PromptMessage.content: may also be ResourceLink"],
    ),
    "gateway": (
        "2025-06-18",
        "2025-11-25",
        [
            "107: ElicitRequest.params: may also be ElicitRequestURLParams",
            "107: in 2025-11-25 this may also be ElicitRequestURLParams, which has no requested_schema",
            "110: ElicitRequest.params: may also be ElicitRequestURLParams",
        ],
    ),
    "archive_server": (
        "2025-11-25",
        "2026-07-28",
        [
            "64: types.ToolExecution is gone in 2026-07-28",
            "65: execution= of Tool(…) is gone in 2026-07-28",
            "88: CallToolRequestParams.task is gone in 2026-07-28",
            "89: CallToolRequestParams.task is gone in 2026-07-28",
            "128: the handler set_logging_level() is gone in 2026-07-28",
            "128: types.SetLevelRequestParams is gone in 2026-07-28",
            "132: the handler on_roots_list_changed() is gone in 2026-07-28",
            "138: methods.URL_ELICITATION_REQUIRED is gone in 2026-07-28",
            "145: a string names the revision 2025-11-25",
        ],
    ),
}


def text(stage: str, program: str) -> str:
    return (PROGRAMS / stage / f"{program}.py.txt").read_text("utf-8")


def run(*arguments: str | Path) -> int:
    return cli.main(["upgrade", *map(str, arguments)])


@pytest.mark.parametrize("program", REAL)
def test_real_programs(program: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old, new, findings = REAL[program]
    file = tmp_path / f"{program}.py"
    file.write_text(text("before", program))
    assert run(file, "--from", old, "--to", new) == 1
    assert file.read_text() == text("after", program)
    told = capsys.readouterr().out.splitlines()
    assert told == [*(f"{file}:{line}" for line in findings), f"1 files changed, {len(findings)} places to look at"]


@pytest.mark.parametrize("program", REAL)
def test_programs_are_realistic(program: str) -> None:
    assert len(text("before", program).splitlines()) > 100


@pytest.mark.parametrize("program", REAL)
def test_what_is_settled_by_hand_is_what_was_reported(program: str) -> None:
    """Every edit from the upgraded program to the one that type-checks is near a reported line, or follows from one."""
    lines = {int(finding.partition(":")[0]) for finding in REAL[program][2]}
    after, settled = text("after", program).splitlines(), text("settled", program).splitlines()
    followed = {"host": {31, 64}, "gateway": set[int](), "archive_server": {61, 82}}[program]
    for tag, first, last, _, _ in difflib.SequenceMatcher(None, after, settled).get_opcodes():
        if tag != "equal":
            assert any(first <= line <= last + 1 for line in lines | followed), after[first : last + 1]


def test_programs_type_check_before_and_after(tmp_path: Path) -> None:
    for stage in ("before", "settled"):
        for program in REAL:
            (tmp_path / f"{stage}_{program}.py").write_text(text(stage, program))
    command = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "--no-error-summary"]
    environment = {"MYPYPATH": str(ROOT / "generated"), "PATH": "", "MYPY_CACHE_DIR": str(ROOT / ".mypy_cache")}
    files = sorted(map(str, tmp_path.glob("*.py")))
    done = subprocess.run([*command, *files], capture_output=True, text=True, env=environment, check=False)
    assert done.stdout == ""


@pytest.mark.parametrize("program", REAL)
def test_twice_changes_nothing(program: str, tmp_path: Path) -> None:
    old, new, _ = REAL[program]
    file = tmp_path / f"{program}.py"
    file.write_text(text("settled", program))
    assert run(file, "--from", old, "--to", new) == 0
    assert file.read_text() == text("settled", program)


# --- the command -----------------------------------------------------------------------------------------------------


def test_check_writes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "a.py"
    before = "from mcp_bindings.pydantic.v2025_03_26 import types\n"
    file.write_text(before)
    assert run(tmp_path, "--from", "2025-03-26", "--to", "2025-06-18", "--check") == 1
    assert file.read_text() == before
    assert "1 files to change, 0 places to look at" in capsys.readouterr().out
    assert run(tmp_path, "--from", "2025-03-26", "--to", "2025-06-18") == 0
    assert run(tmp_path, "--from", "2025-03-26", "--to", "2025-06-18", "--check") == 0


def test_diff_writes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "a.py"
    before = "from mcp_bindings.pydantic.v2025_03_26.types import ResourceReference\n"
    file.write_text(before)
    assert run(file, "--from", "2025-03-26", "--to", "2025-06-18", "--diff") == 0
    assert file.read_text() == before
    told = capsys.readouterr().out
    assert f"-{before}" in told
    assert "+from mcp_bindings.pydantic.v2025_06_18.types import ResourceTemplateReference\n" in told


def test_only_modules_of_the_user_are_touched(tmp_path: Path) -> None:
    uses = "from mcp_bindings.pydantic.v2025_03_26 import types\n"
    theirs = [".venv/lib/a.py", "node_modules/b.py", "site-packages/c.py", "notes.txt", "other.py", "made.py"]
    for name in ("mine.py", "package/deep.py", *theirs):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(uses)
    (tmp_path / "other.py").write_text("import os\n")
    (tmp_path / "made.py").write_text(f"# Generated by mcp-bindgen\n{uses}")
    before = {name: (tmp_path / name).read_text() for name in theirs}
    run(tmp_path, "--from", "2025-03-26", "--to", "2025-06-18")
    assert {name: (tmp_path / name).read_text() for name in theirs} == before
    assert all("v2025_06_18" in (tmp_path / name).read_text() for name in ("mine.py", "package/deep.py"))


@pytest.mark.parametrize(
    ("content", "arguments", "reason"),
    [
        ("from mcp_bindings.pydantic.v2025_03_26 import (\n", ("2025-03-26", "2025-06-18"), "not Python"),
        ("", ("2025-03-26", "1999-01-01"), "no revision '1999-01-01'"),
        (None, ("2025-03-26", "2025-06-18"), "no such file or folder"),
    ],
)
def test_mistakes(
    content: str | None, arguments: tuple[str, str], reason: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "a.py"
    if content is not None:
        file.write_text(content)
    assert run(file, "--from", arguments[0], "--to", arguments[1]) == 1
    assert reason in capsys.readouterr().err


# --- single decisions ------------------------------------------------------------------------------------------------

META = obj(trace=STRING)
BEFORE: dict[str, Any] = {
    "Box": obj("kind maxSize", kind=const("box"), maxSize=STRING, label=STRING, lid=STRING),
    "Crate": obj("kind weight", kind=const("crate"), weight=STRING, maker=STRING),
    "Content": {"anyOf": [ref("Box"), ref("Crate")]},
    "OldNote": obj("text written", text=STRING, written=STRING),
    "Gone": obj("x", x=STRING),
    "PackRequestParams": obj("box", box=ref("Box"), hint=STRING, _meta=META),
    "PackRequest": obj("method params", method=const("boxes/pack"), params=ref("PackRequestParams")),
    "PackResult": obj("boxes", boxes={"type": "array", "items": ref("Box")}, content=ref("Content")),
    "DropRequest": obj("method", method=const("boxes/drop"), params=ref("PackRequestParams")),
    "DropResult": obj("ok", ok=STRING),
    "ClientRequest": {"anyOf": [ref("PackRequest"), ref("DropRequest")]},
}
AFTER = {
    name: definition
    for name, definition in BEFORE.items()
    if name not in ("Gone", "DropRequest", "DropResult", "OldNote")
} | {
    "Box": obj("kind maxSizeBytes colour", kind=const("box"), maxSizeBytes=STRING, label=STRING, colour=STRING),
    "Note": BEFORE["OldNote"],
    "PackRequestParams": obj("box deadline", box=ref("Box"), deadline=STRING, _meta=META),
    "ClientRequest": ref("PackRequest"),
}
HEAD = """from acme.wire.v2099_01_01 import AsyncClient, Client, ClientHandlers, Server, codec, methods, types
from acme.wire.v2099_01_01.types import Box
"""


def inline_moves() -> Moves:
    renames = {"renames": {"PackRequest": {"method": "pack_all", "reason": "r"}}}
    new = replace(model(AFTER, renames), revision=NEXT)
    return moves(Revision(model(BEFORE), STYLE), Revision(new, STYLE))


def moved(code: str, tmp_path: Path) -> tuple[str, list[str]]:
    """The code behind HEAD as it is afterwards, and the findings without their lines."""
    file = tmp_path / "code.py"
    file.write_text(HEAD + code)
    made = upgrade(file, inline_moves())
    assert made is not None
    return made.after.decode().partition("types import Box\n")[2], [finding.text for finding in made.findings]


REWRITTEN: dict[str, tuple[str, str]] = {
    "a type through its module": ("x: types.OldNote", "x: types.Note"),
    "a constructor's keyword": ("Box(max_size='1', colour='red')", "Box(max_size_bytes='1', colour='red')"),
    "an attribute of an annotated parameter": (
        "def f(b: Box): return b.max_size",
        "def f(b: Box): return b.max_size_bytes",
    ),
    "of what is optional": (
        "def f(b: Box | None): return b and b.max_size",
        "def f(b: Box | None): return b and b.max_size_bytes",
    ),
    "of what was constructed": (
        "b = Box(max_size='1', colour='r')\nb.max_size",
        "b = Box(max_size_bytes='1', colour='r')\nb.max_size_bytes",
    ),
    "of what was decoded": ("b = codec.decode(Box, {})\nb.max_size", "b = codec.decode(Box, {})\nb.max_size_bytes"),
    "of an item": (
        "def f(r: types.PackResult):\n    for b in r.boxes:\n        b.max_size\n"
        "    return [b.max_size for b in r.boxes]",
        "def f(r: types.PackResult):\n    for b in r.boxes:\n        b.max_size_bytes\n"
        "    return [b.max_size_bytes for b in r.boxes]",
    ),
    "of an index": ("def f(r: list[Box]): r[0].max_size", "def f(r: list[Box]): r[0].max_size_bytes"),
    "of a function's result": (
        "def f() -> Box: ...\nf().max_size",
        "def f() -> Box: ...\nf().max_size_bytes",
    ),
    "in a pattern": (
        "match x:\n    case Box(max_size=s): pass",
        "match x:\n    case Box(max_size_bytes=s): pass",
    ),
    "a client's method": (
        "async def f(c: AsyncClient): (await c.pack(box=b, deadline='d')).boxes[0].max_size",
        "async def f(c: AsyncClient): (await c.pack_all(box=b, deadline='d')).boxes[0].max_size_bytes",
    ),
    "its other form": (
        "with Client(s, info=i) as c:\n    c.pack_raw(p)",
        "with Client(s, info=i) as c:\n    c.pack_all_raw(p)",
    ),
    "of an attribute of oneself": (
        "class A:\n    def __init__(self):\n        self.c = AsyncClient(s, info=i)\n    def g(self):\n"
        "        self.c.pack_raw(p)",
        "class A:\n    def __init__(self):\n        self.c = AsyncClient(s, info=i)\n    def g(self):\n"
        "        self.c.pack_all_raw(p)",
    ),
    "a handler": (
        "class S(Server):\n    async def pack(self, params, ctx): return params.box.max_size",
        "class S(Server):\n    async def pack_all(self, params, ctx): return params.box.max_size_bytes",
    ),
    "a constant": ("methods.PACK", "methods.PACK_ALL"),
    "a quoted annotation": ("def f(x: 'types.OldNote'): ...", "def f(x: 'types.Note'): ..."),
    "an inner import": (
        "def f():\n    from acme.wire.v2099_01_01.types import OldNote\n    return OldNote",
        "def f():\n    from acme.wire.v2099_06_01.types import Note\n    return Note",
    ),
    "by another name": (
        "from acme.wire.v2099_01_01.types import OldNote as N\nN(text='')",
        "from acme.wire.v2099_06_01.types import Note as N\nN(text='')",
    ),
    "where the new name is taken": (
        "from acme.wire.v2099_01_01.types import OldNote\nclass Note(OldNote): ...",
        "from acme.wire.v2099_06_01.types import Note as OldNote\nclass Note(OldNote): ...",
    ),
    "a module": (
        "from acme.wire import v2099_01_01\nv2099_01_01.types.OldNote",
        "from acme.wire import v2099_06_01\nv2099_06_01.types.Note",
    ),
    "a whole path": (
        "import acme.wire.v2099_01_01\nacme.wire.v2099_01_01.types.OldNote",
        "import acme.wire.v2099_06_01\nacme.wire.v2099_06_01.types.Note",
    ),
}


@pytest.mark.parametrize("case", REWRITTEN)
def test_what_is_certain(case: str, tmp_path: Path) -> None:
    before, after = REWRITTEN[case]
    code, _ = moved(before, tmp_path)
    assert code == after


REPORTED: dict[str, tuple[str, str]] = {
    "a type that is gone": ("types.Gone", "types.Gone is gone"),
    "an import of it": ("from acme.wire.v2099_01_01.types import Gone", "types.Gone is gone"),
    "a keyword that is gone": ("Box(max_size='1', lid='l', colour='r')", "lid= of Box(…) is gone"),
    "a member that is needed now": ("Box(max_size='1')", "Box(…) needs colour"),
    "an attribute that is gone": ("def f(b: Box): b.lid", "Box.lid is gone"),
    "of something unknown, by its name": ("def f(b): b.lid", ".lid: if this is Box.lid, it is gone or renamed"),
    "a client's method that is gone": ("def f(c: Client): c.drop()", "the client's drop() is gone"),
    "a keyword of a client's method": ("def f(c: Client): c.pack(box=b, hint='h')", "hint= of pack(…) is gone"),
    "one that it needs now": ("def f(c: Client): c.pack(box=b)", "pack(…) needs deadline"),
    "a handler that is gone": ("class S(Server):\n    async def drop(self, p, ctx): ...", "the handler drop() is gone"),
    "a constant that is gone": ("methods.DROP", "methods.DROP is gone"),
    "a wire method": ("send('boxes/drop')", "boxes/drop is gone"),
    "the revision in a string": ("VERSION = '2099-01-01'", "a string names the revision"),
    "the module in a string": ("import_module('acme.wire.v2099_01_01')", "a string names v2099_01_01"),
    "a pattern": ("match x:\n    case Box(lid=l): pass", ".lid is gone"),
    "everything": ("from acme.wire.v2099_01_01.types import *", "what `import *` brings cannot be followed"),
}


@pytest.mark.parametrize("case", REPORTED)
def test_what_is_reported(case: str, tmp_path: Path) -> None:
    before, finding = REPORTED[case]
    _, findings = moved(before, tmp_path)
    assert any(text.startswith(finding) for text in findings), findings


LEFT_ALONE = [
    "def f(b): return b.max_size_of_things",
    "def f(b): return b.label",
    "OldNote = 1",
    "x = {'max_size': 1}",
    "class C:\n    def pack(self): ...",
    "def f(c): c.pack(box=1)",
    "text = 'OldNote and Box'",
    "def f(b: Box): return b.label  # max_size",
]


@pytest.mark.parametrize("code", LEFT_ALONE)
def test_what_is_left_alone(code: str, tmp_path: Path) -> None:
    after, findings = moved(code, tmp_path)
    assert after == code
    assert findings == []


def test_comments_and_layout_stay(tmp_path: Path) -> None:
    code = "def   f( b : Box ) :  # one\n\n\n\treturn    b . max_size   ;   # two\n"
    after, _ = moved(code, tmp_path)
    assert after == code.replace("max_size", "max_size_bytes")


@pytest.mark.parametrize(
    ("dotted", "place"),
    [
        ("mcp_bindings.pydantic.v2026_07_28", usage.Place("mcp_bindings.pydantic", "v2026_07_28", "")),
        ("a.v2026_07_28.types.Tool", usage.Place("a", "v2026_07_28", "types.Tool")),
        (".wire.v2026_07_28.types.tools_call.Tool", usage.Place(".wire", "v2026_07_28", "types.tools_call.Tool")),
        ("mypackage.validators.types", None),
        ("os.path", None),
    ],
)
def test_places(dotted: str, place: usage.Place | None) -> None:
    assert usage.place_of(dotted) == place


def test_every_revision_moves_to_every_later_one() -> None:
    names = re.compile(r"[A-Za-z_]\w*")
    for old, new in (("2024-11-05", "2026-07-28"), ("2025-06-18", "2025-11-25")):
        found = moves(Revision(protocol_of(old), STYLE), Revision(protocol_of(new), STYLE))
        tables = [found.types, found.constants, found.clients, found.handlers("server"), found.handlers("client")]
        for table in tables:
            assert all(names.fullmatch(name) for pair in table.items() for name in pair if name)
    assert REVISION < NEXT
