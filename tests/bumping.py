"""Bumps into schema folders made for a test, and a revision that does not exist yet."""

from __future__ import annotations

import json
import shutil
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from conftest import REVISIONS, SCHEMA
from inline import STRING, const, obj, ref
from mcp_bindgen import bump, cli, fetch, source

NEXT = "2099-06-01"
BEFORE = dict(zip(REVISIONS[1:], REVISIONS, strict=False))


def only(folder: Path, *revisions: str) -> Path:
    """A schema folder with some of the checked-in revisions."""
    for revision in revisions:
        shutil.copytree(SCHEMA / revision, folder / revision)
    pins = json.loads((SCHEMA / source.PINS).read_bytes())
    pins["revisions"] = {revision: pins["revisions"][revision] for revision in revisions}
    (folder / source.PINS).write_text(json.dumps(pins))
    return folder


def run(folder: Path, revision: str, origin: str, *more: str) -> int:
    return cli.main(["bump", revision, "--source", origin, "--schema", str(folder), "--no-second-opinion", *more])


@cache
def bump_of(revision: str) -> bump.Bump:
    """The bump from the revision before to a checked-in one, or to the synthetic next one; nothing is written."""
    before = BEFORE.get(revision, REVISIONS[-1])
    with TemporaryDirectory() as name:
        folder = only(Path(name), before)
        data = json.dumps(synthetic()).encode() if revision == NEXT else schema_bytes(revision)
        origin = fetch.given(f"{revision}.json", revision)
        return bump.bump(folder, revision, origin, data, "2099-01-01")


def schema_bytes(revision: str) -> bytes:
    return (SCHEMA / revision / "schema.json").read_bytes()


def bumped(folder: Path, revision: str) -> Path:
    """A schema folder after that bump."""
    only(folder, BEFORE.get(revision, REVISIONS[-1]))
    for path, text in bump_of(revision).files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(text.encode())
    return folder


def synthetic() -> dict[str, Any]:
    """The latest schema with a new method, a new notification, a new arm, a new error, a rename and a removal."""
    document: dict[str, Any] = json.loads((SCHEMA / REVISIONS[-1] / "schema.json").read_bytes())
    defs = document["$defs"]
    call = defs["CallToolRequest"]
    defs["SearchToolsRequest"] = json.loads(json.dumps(call).replace("tools/call", "tools/search"))
    defs["SearchToolsRequest"]["properties"]["params"] = ref("SearchToolsRequestParams")
    meta = ref("RequestMetaObject")
    defs["SearchToolsRequestParams"] = obj("_meta query", query=STRING, _meta=meta)
    defs["SearchToolsResult"] = json.loads(json.dumps(defs["ListToolsResult"]))
    defs["ClientRequest"]["anyOf"].append(ref("SearchToolsRequest"))
    defs["ServerResult"]["anyOf"].append(ref("SearchToolsResult"))
    changed = json.dumps(defs["ToolListChangedNotification"])
    defs["ServerOverloadedNotification"] = json.loads(changed.replace("tools/list_changed", "overloaded"))
    defs["ServerNotification"]["anyOf"].append(ref("ServerOverloadedNotification"))
    defs["VideoContent"] = obj("type url", type=const("video"), url=STRING)
    defs["ContentBlock"]["anyOf"].append(ref("VideoContent"))
    error = json.dumps(defs["HeaderMismatchError"])
    defs["QuotaExceededError"] = json.loads(error.replace("-32020", "-32099"))
    del defs["Tool"]["properties"]["annotations"]
    text = json.dumps(document).replace('"#/$defs/PromptArgument"', '"#/$defs/PromptTemplateArgument"')
    document = json.loads(text)
    document["$defs"]["PromptTemplateArgument"] = document["$defs"].pop("PromptArgument")
    return document
