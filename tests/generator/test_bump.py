"""A new revision, or a corrected copy of a known one: what is written, kept, dropped and asked."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest
from jsonschema import Draft202012Validator

from bumping import BEFORE, NEXT, bump_of, bumped, only, run
from conftest import REVISIONS, SCHEMA, TEMPLATES, protocol_of, schema_of
from inline import REVISION, STRING, const, model, obj, ref, schema_folder
from mcp_bindgen import bump, cli, diff, fetch, ir, pages, source
from mcp_bindgen.build import build
from mcp_bindgen.draft import Input, draft
from mcp_bindgen.style import builtin_styles, load_style


def contents(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


# --- from each released revision to the next -------------------------------------------------------------------------

# What the machine cannot know: the entries, by section, that people added to or took out of the overlay that a bump
# leaves. With these the model is the checked-in one.
BY_PEOPLE: dict[str, dict[str, str]] = {
    "2025-03-26": {"inheritance": "Resource"},
    "2025-06-18": {
        "corrections": "/definitions/ElicitResult/properties/content/additionalProperties/type "
        "/definitions/ElicitRequest/properties/params/properties/_meta",
        "inheritance": "Resource",
    },
    "2025-11-25": {
        "corrections": "/$defs/ElicitResult/properties/content/additionalProperties/anyOf/1/type "
        "/$defs/CancelTaskRequest/properties/params/properties/_meta "
        "/$defs/ElicitationCompleteNotification/properties/params/properties/_meta "
        "/$defs/GetTaskPayloadRequest/properties/params/properties/_meta "
        "/$defs/GetTaskRequest/properties/params/properties/_meta",
        "open": "GetTaskPayloadResult",
        "deprecated": "LegacyTitledEnumSchema CreateMessageRequestParams.includeContext",
        "receive": "JSONRPCErrorResponse.id",
        "inheritance": "Resource ReadResourceRequestParams SubscribeRequestParams UnsubscribeRequestParams "
        "CancelledNotification LoggingMessageNotification ProgressNotification ResourceUpdatedNotification",
        "unions": "ClientResult ServerResult",
        "topics": "CreateTaskResult EnumSchema MultiSelectEnumSchema RelatedTaskMetadata SingleSelectEnumSchema Task "
        "TaskAugmentedRequestParams TaskMetadata TaskStatus URLElicitationRequiredError "
        "URLElicitationRequiredErrorError URLElicitationRequiredErrorErrorData",
        "capabilities": "notifications/elicitation/complete",
    },
    "2026-07-28": {
        "corrections": "/$defs/JSONValue /$defs/InputRequiredResult/properties/resultType/const "
        "/$defs/ClientNotification",
        "fill": "Result.resultType CacheableResult.ttlMs CacheableResult.cacheScope",
        "renames": "SubscriptionsListenRequest",
        "deprecated": "LoggingLevel LoggingMessageNotification LoggingMessageNotificationParams "
        "RequestMetaObject.io.modelcontextprotocol/logLevel ServerCapabilities.logging CreateMessageRequest "
        "CreateMessageRequestParams CreateMessageResult ModelHint ModelPreferences SamplingMessage "
        "SamplingMessageContentBlock ToolChoice ToolResultContent ToolUseContent ClientCapabilities.sampling "
        "ListRootsRequest ListRootsResult Root ClientCapabilities.roots CreateMessageRequestParams.includeContext",
        "receive": "Result.resultType CacheableResult.ttlMs CacheableResult.cacheScope",
        "inheritance": "CreateMessageRequest ElicitRequest ListRootsRequest NotificationMetaObject RequestMetaObject "
        "ResultMetaObject ReadResourceRequestParams",
        "topics": "HeaderMismatchError HeaderMismatchErrorError InputRequest InputRequests InputRequiredResult "
        "InputResponse InputResponseRequestParams InputResponses InternalError InvalidParamsError InvalidRequestError "
        "MethodNotFoundError MissingRequiredClientCapabilityError MissingRequiredClientCapabilityErrorError "
        "MissingRequiredClientCapabilityErrorErrorData ParseError UnsupportedProtocolVersionError "
        "UnsupportedProtocolVersionErrorError UnsupportedProtocolVersionErrorErrorData",
        "flatten": "SubscriptionsListenRequestParams",
    },
}


def entries(content: Any) -> dict[str, Any]:
    """A section of an overlay by entry, whether it is a table or a list."""
    if isinstance(content, dict):
        return content
    return {row.get("pointer") or f"{row['definition']}.{row['member']}": row for row in content}


def reviewed(made: dict[str, Any], truth: dict[str, Any], facts: dict[str, str]) -> dict[str, Any]:
    """The overlay `made` after a review that settles just `facts` as the overlay `truth` does."""
    result = {section: content for section, content in made.items() if section != "review"}
    for section, names in facts.items():
        right, mine = entries(truth.get(section, {})), entries(result.get(section, {}))
        for name in names.split():
            assert right.get(name) != mine.get(name), f"{section} {name} is the same already"
            mine = {k: v for k, v in mine.items() if k != name} | ({name: right[name]} if name in right else {})
        result[section] = list(mine.values()) if section in ("corrections", "receive") else mine
    return result


@pytest.mark.parametrize("revision", BEFORE)
def test_a_rehearsal_of_each_bump(revision: str, tmp_path: Path) -> None:
    folder = bumped(tmp_path, revision)
    assert (folder / revision / "schema.json").read_bytes() == (SCHEMA / revision / "schema.json").read_bytes()
    assert source.read_pins(folder)[revision].sha256 == source.read_pins(SCHEMA)[revision].sha256
    file = folder / revision / "overlay.json"
    truth = json.loads((SCHEMA / revision / "overlay.json").read_bytes())
    file.write_text(json.dumps(reviewed(json.loads(file.read_bytes()), truth, BY_PEOPLE[revision])))
    made, right = build(source.load(folder, revision)), protocol_of(revision)
    assert made.declarations == right.declarations
    assert made.methods == right.methods
    assert (made.constants, made.severity) == (right.constants, right.severity)
    assert set(made.receive) == set(right.receive)
    assert made.topics == right.topics


@pytest.mark.parametrize(
    ("revision", "questions"),
    [
        ("2025-03-26", {"capabilities.completion/complete"}),
        ("2025-06-18", {"opaque.ToolOutputSchema", "capabilities.elicitation/create"}),
        (
            "2025-11-25",
            {
                "unions.ClientResult",
                "unions.ServerResult",
                "constants.URL_ELICITATION_REQUIRED",
                "deprecated.CreateMessageRequestParams.includeContext",
                "capabilities.notifications/tasks/status",
                *(f"capabilities.tasks/{verb}" for verb in ("get", "result", "list", "cancel")),
            },
        ),
        (
            "2026-07-28",
            {
                "corrections./$defs/JSONValue",
                "constants.HEADER_MISMATCH",
                "constants.MISSING_REQUIRED_CLIENT_CAPABILITY",
                "constants.UNSUPPORTED_PROTOCOL_VERSION",
            },
        ),
    ],
)
def test_the_questions_of_each_bump(revision: str, questions: set[str], tmp_path: Path) -> None:
    folder = bumped(tmp_path, revision)
    assert set(build(source.load(folder, revision)).open_questions) == questions


def test_what_does_not_apply_any_more_is_listed_and_gone() -> None:
    found = bump_of("2026-07-28")
    told = "\n".join(bump.tell(found, None, False, 100))
    overlay = json.loads(found.files[Path("2026-07-28") / "overlay.json"])
    for section, entry in (
        ("renames", "SetLevelRequest"),
        ("capabilities", "tasks/get"),
        ("unions", "ClientResult"),
        ("constants", "URL_ELICITATION_REQUIRED"),
        ("topics", "Task"),
    ):
        assert f"{section} {entry}: " in told
        assert entry not in overlay.get(section, {})
    assert overlay["constants"]["LATEST_PROTOCOL_VERSION"] == "2026-07-28"


def test_corrections_follow_the_keyword_for_definitions() -> None:
    overlay = json.loads(bump_of("2025-11-25").files[Path("2025-11-25") / "overlay.json"])
    assert all(row["pointer"].startswith("/$defs/") for row in overlay.get("corrections", []))


def test_a_proposed_ranking_comes_with_an_instance_that_the_other_order_decodes_differently() -> None:
    made = bump_of("2025-11-25").draft
    assert made is not None
    schema = made.schema
    definitions = {"$defs": schema.corrected["$defs"]}
    for order in schema.overlay.unions.values():
        first, second = order.order[:2]
        for arm in (first, second):
            assert Draft202012Validator({**definitions, "$ref": f"#/$defs/{arm}"}).is_valid(order.example)


# --- a synthetic next revision ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def next_one(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, ir.Protocol]:
    folder = bumped(tmp_path_factory.mktemp("schema"), NEXT)
    return folder, build(source.load(folder, NEXT))


def test_a_new_method_is_in_the_table(next_one: tuple[Path, ir.Protocol]) -> None:
    _, protocol = next_one
    (method,) = (m for m in protocol.methods if m.wire == "tools/search")
    assert (method.name, method.kind, method.sender) == ("search_tools", "request", "client")
    assert (method.params, method.result) == ("SearchToolsRequestParams", "SearchToolsResult")
    assert method.capability == "tools"
    (notification,) = (m for m in protocol.methods if m.wire == "notifications/overloaded")
    assert (notification.name, notification.sender) == ("server_overloaded", "server")


def test_what_the_machine_proposes_for_it(next_one: tuple[Path, ir.Protocol]) -> None:
    _, protocol = next_one
    assert set(protocol.open_questions) == {
        "unions.ServerResult",  # the new result has the members of another
        "capabilities.tools/search",
        "constants.QUOTA_EXCEEDED",
    }
    assert protocol.constants["QUOTA_EXCEEDED"] == -32099


def test_its_diff(next_one: tuple[Path, ir.Protocol]) -> None:
    _, protocol = next_one
    found = diff.compare(protocol_of(REVISIONS[-1]), protocol)
    assert found.renamed.types == {"PromptArgument": "PromptTemplateArgument"}
    told = {(change.sign, change.place) for change in found.changes}
    assert {
        ("+", "tools/search"),
        ("+", "notifications/overloaded"),
        ("+", "ContentBlock"),
        ("-", "Tool.annotations"),
        ("~", "PromptArgument"),
        ("+", "QUOTA_EXCEEDED"),
    } <= told


def test_its_pages(next_one: tuple[Path, ir.Protocol]) -> None:
    _, protocol = next_one
    styles = [load_style(TEMPLATES, name) for name in builtin_styles(TEMPLATES)]
    made = pages.pages([protocol_of(REVISIONS[-1]), protocol], styles, TEMPLATES)
    assert "`tools/search`" in made[Path("reference") / f"{NEXT}.md"]
    assert "`tools/search`" in made[Path("changes") / f"{REVISIONS[-1]}..{NEXT}.md"]


def test_check_fails_until_the_marks_are_gone(
    next_one: tuple[Path, ir.Protocol], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, _ = next_one
    monkeypatch.setattr(cli, "_outputs", lambda arguments: {})
    monkeypatch.delenv("ALLOW_UNREVIEWED", raising=False)
    assert cli.main(["check", "--schema", str(folder)]) == 1
    assert "overlay.json#capabilities.tools/search" in capsys.readouterr().err
    monkeypatch.setenv("ALLOW_UNREVIEWED", "1")
    assert cli.main(["check", "--schema", str(folder)]) == 0


def test_entries_of_a_renamed_definition_move_with_it() -> None:
    record = obj("kind size", kind=const("box"), size=STRING)
    old = {"Box": record, "Holder": obj(box=ref("Box"))}
    new = {"StorageBox": record, "Holder": obj(box=ref("StorageBox"))}
    overlay = {"fill": {"Box.size": {"value": "m", "reason": "r"}}}
    pin = source.Pin(NEXT, "schema.json", "inline", "0" * 64, NEXT)
    made = draft(Input({"$defs": new}, pin, "schema.json", "overlay.json"), overlay, model(old, overlay))
    assert made.overlay["fill"] == {"StorageBox.size": {"value": "m", "reason": "r"}}
    assert [f"{q.section}.{q.entry}" for q in made.questions] == ["fill.StorageBox.size"]
    assert not made.dropped


def test_a_type_that_contains_itself_is_proposed_as_any_json() -> None:
    every = {"anyOf": [{"type": "array", "items": ref("Every")}, ref("Table"), STRING]}
    document = {"Every": every, "Table": {"type": "object", "additionalProperties": ref("Every")}, "A": obj(x=STRING)}
    pin = source.Pin(NEXT, "schema.json", "inline", "0" * 64, NEXT)
    made = draft(Input({"$defs": document}, pin, "schema.json", "overlay.json"), {}, model({"A": obj(x=STRING)}))
    assert made.protocol.declarations["Every"] == ir.Alias("Every", ir.Any())
    assert made.protocol.open_questions == ("corrections./$defs/Every",)


def test_arms_that_are_ranked_already_keep_their_order() -> None:
    same = obj("a", a=STRING)
    old = {"B": same, "C": same, "U": {"anyOf": [ref("B"), ref("C")]}}
    new = {"A": same, **old, "U": {"anyOf": [ref("A"), ref("B"), ref("C")]}}
    overlay = {"unions": {"U": {"order": ["C", "B"], "reason": "r"}}}
    pin = source.Pin(NEXT, "schema.json", "inline", "0" * 64, NEXT)
    made = draft(Input({"$defs": new}, pin, "schema.json", "overlay.json"), overlay, model(old, overlay))
    order = made.overlay["unions"]["U"]["order"]
    assert order.index("C") < order.index("B")
    assert made.overlay["unions"]["U"]["review"] is True


# --- copies of a known revision --------------------------------------------------------------------------------------


def test_the_pinned_copy_changes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = only(tmp_path, "2025-06-18")
    before = contents(folder)
    assert run(folder, "2025-06-18", str(SCHEMA / "2025-06-18" / "schema.json")) == 0
    assert contents(folder) == before
    assert "nothing to do" in capsys.readouterr().out


def test_a_corrected_copy_renews_the_pin_and_tells_what_changed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = schema_folder(tmp_path / "schema", {"A": obj("x", x=STRING)}, {"deprecated": {"A": "r"}})
    fixed = tmp_path / "fixed.json"
    fixed.write_text(json.dumps({"$defs": {"A": obj("x", x=STRING, y=STRING)}}))
    before = source.read_pins(folder)[REVISION]
    assert run(folder, REVISION, str(fixed)) == 0
    after = source.read_pins(folder)[REVISION]
    assert after.sha256 != before.sha256
    assert (folder / REVISION / "schema.json").read_bytes() == fixed.read_bytes()
    assert json.loads((folder / REVISION / "overlay.json").read_bytes()) == {"deprecated": {"A": "r"}}
    assert "A.y: added, optional: string" in capsys.readouterr().out


def test_a_file_changed_by_hand_can_be_taken(tmp_path: Path) -> None:
    folder = schema_folder(tmp_path / "schema", {"A": obj("x", x=STRING)})
    file = folder / REVISION / "schema.json"
    file.write_text(json.dumps({"$defs": {"A": obj("y", y=STRING)}}))
    assert run(folder, REVISION, str(file)) == 0
    assert build(source.load(folder, REVISION)).record("A").required == ("y",)


# --- an overlay that somebody started --------------------------------------------------------------------------------


def test_a_schema_that_cannot_be_built_writes_nothing_and_says_what_settles_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = schema_folder(tmp_path / "schema", {"A": obj("x", x=STRING)})
    file = tmp_path / "new.json"
    file.write_text(json.dumps({"$defs": {"A": obj("x", x=STRING | {"pattern": "^a"})}}))
    before = contents(folder)
    assert run(folder, NEXT, str(file)) == 1
    assert contents(folder) == before
    told = capsys.readouterr().err
    assert "unknown JSON Schema keyword 'pattern'" in told
    correction = {"pointer": "/$defs/A/properties/x/pattern", "old": "^a", "reason": "Documentation only."}
    (folder / NEXT).mkdir()
    (folder / NEXT / "overlay.json").write_text(json.dumps({"corrections": [correction]}))
    assert run(folder, NEXT, str(file)) == 0
    assert json.loads((folder / NEXT / "overlay.json").read_bytes())["corrections"] == [correction]


# --- where it comes from ---------------------------------------------------------------------------------------------


class Upstream(BaseHTTPRequestHandler):
    """Serves one document; /cut announces more than it sends."""

    body: ClassVar[bytes] = b""

    def do_GET(self) -> None:
        if self.path == "/missing":
            self.send_error(404)
            return
        self.send_response(200)
        if self.path != "/unannounced":
            self.send_header("Content-Length", str(len(self.body) + (10 if self.path == "/cut" else 0)))
        self.end_headers()
        self.wfile.write(self.body)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def upstream() -> Iterator[str]:
    Upstream.body = json.dumps({"$defs": {"A": obj("x", x=STRING)}}).encode()
    server = HTTPServer(("127.0.0.1", 0), Upstream)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.parametrize("name", ["schema.json", "unannounced"])
def test_over_http(name: str, upstream: str, tmp_path: Path) -> None:
    folder = schema_folder(tmp_path, {"A": obj("x", x=STRING)})
    assert run(folder, NEXT, f"{upstream}/{name}") == 0
    assert (folder / NEXT / "schema.json").read_bytes() == Upstream.body
    assert source.read_pins(folder)[NEXT].path == f"{upstream}/{name}"


def test_a_path_of_this_machine_does_not_get_into_the_pin(tmp_path: Path) -> None:
    folder = schema_folder(tmp_path / "schema", {"A": obj("x", x=STRING)})
    file = tmp_path / "new.json"
    file.write_text(json.dumps({"$defs": {"A": obj("y", y=STRING)}}))
    for origin in (str(file), file.as_uri()):
        assert run(folder, NEXT, origin) == 0
        assert source.read_pins(folder)[NEXT].path == f"schema/{NEXT}/schema.json"


@pytest.mark.parametrize(
    ("origin", "reason"),
    [
        ("{http}/missing", "the server answered 404"),
        ("{http}/cut", "the download was cut"),
        ("http://127.0.0.1:9/schema.json", "cannot be fetched"),
        ("file:///no/such/file.json", "cannot be fetched"),
        ("/no/such/file.json", "cannot be read"),
        ("ftp://example.com/schema.json", "ftp: is not supported"),
        ("{cut}", "not JSON"),
        ("{latin}", "not UTF-8"),
        ("{list}", "not a JSON object"),
        ("{empty}", "no definitions"),
    ],
)
def test_a_failure_leaves_nothing_behind(
    origin: str, reason: str, upstream: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = schema_folder(tmp_path / "schema", {"A": obj("x", x=STRING)})
    whole = json.dumps({"$defs": {"A": obj("x", x=STRING)}})
    texts = {"cut": whole[:40].encode(), "latin": whole.encode("utf-16"), "list": b"[]", "empty": b"{}"}
    names = {"http": upstream}
    for name, data in texts.items():
        (tmp_path / name).write_bytes(data)
        names[name] = str(tmp_path / name)
    before = contents(folder)
    assert run(folder, NEXT, origin.format(**names)) == 1
    assert contents(folder) == before
    told = capsys.readouterr().err
    assert reason in told
    assert "Traceback" not in told


@pytest.mark.parametrize("name", ["../escape", "", "a/b", ".hidden"])
def test_a_name_that_is_no_revision(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = schema_folder(tmp_path, {"A": obj("x", x=STRING)})
    assert run(folder, name, "anything") == 1
    assert "not a revision" in capsys.readouterr().err


def test_the_default_is_the_spec_repository_at_a_ref() -> None:
    origin = fetch.published("https://github.com/owner/spec", "2026-07-28", "abc1234")
    assert origin.location == "https://raw.githubusercontent.com/owner/spec/abc1234/schema/2026-07-28/schema.json"
    assert (origin.path, origin.commit) == ("schema/2026-07-28/schema.json", "abc1234")
    assert fetch.commit_of("https://github.com/owner/spec", "abc1234") == "abc1234"


def test_the_second_opinion(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = schema_folder(tmp_path / "schema", {"A": obj("x", x=STRING)})
    file = tmp_path / "new.json"
    file.write_text(json.dumps({"$defs": {"A": obj("x", x=STRING, y=STRING)}}))
    assert cli.main(["bump", NEXT, "--source", str(file), "--schema", str(folder)]) == 0
    assert "second opinion: 1 definitions compared, 0 disagreements" in capsys.readouterr().out


def test_another_tool_in_trouble_is_no_reason_to_refuse(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*arguments: object) -> None:
        raise RuntimeError("no")

    monkeypatch.setattr("mcp_bindgen.oracle.compare", broken)
    latest = schema_of(REVISIONS[-1])
    pin = source.read_pins(SCHEMA)[REVISIONS[-1]]
    overlay = json.loads((SCHEMA / REVISIONS[-1] / "overlay.json").read_bytes())
    made = draft(Input(latest.upstream, pin, "schema.json", "overlay.json"), overlay, None)
    assert bump.second_opinion(made) == ("none: datamodel-code-generator fails with RuntimeError: no",)


def test_progress_is_for_terminals_only(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = schema_folder(tmp_path / "schema", {"A": obj("x", x=STRING)})
    file = tmp_path / "new.json"
    file.write_text(json.dumps({"$defs": {"A": obj("y", y=STRING)}}))
    run(folder, NEXT, str(file))
    assert capsys.readouterr().err == ""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    run(folder, "2099-07-01", file.as_uri())
    told = capsys.readouterr().err
    assert "fetching" in told
    assert told.endswith("\r\x1b[K")
