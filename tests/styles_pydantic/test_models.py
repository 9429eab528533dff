"""The generated classes as pydantic models: what their users may do with them as such, and how they are built."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, TypeAdapter, ValidationError

from conftest import LATEST, REVISIONS
from mcp_bindgen.names import module
from mcp_bindings.pydantic.message import Message, OpenMap
from mcp_bindings.runtime import DecodeError
from roundtrip.surfaces import surface
from styles.samples import kinds
from styles_pydantic.packages import inline

TOOL = {"name": "t", "inputSchema": {"type": "object", "b": 1, "a": 2}, "_meta": {"k": None}, "input_schema": "unknown"}


def types(revision: str = LATEST) -> Any:
    return surface("pydantic", revision).types


def codec(revision: str = LATEST) -> Any:
    return surface("pydantic", revision).codec


def python(script: str, *options: str) -> str:
    """What a fresh process prints."""
    package = Path(sys.modules["mcp_bindings"].__file__ or "").parents[1]
    command = [sys.executable, *options, "-c", f"import sys\nsys.path.insert(0, {str(package)!r})\n{script}"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


# --- building --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("revision", REVISIONS)
def test_importing_builds_no_model_and_warns_of_nothing(revision: str) -> None:
    script = f"""
from mcp_bindings.pydantic.{module(revision)} import types
models = [value for name in types.__all__ if hasattr(value := getattr(types, name), "model_fields")]
print(sum(model.__pydantic_complete__ for model in models), len(models) > 80)
"""
    assert python(script, "-W", "error").split() == ["0", "True"]


def test_the_common_path_loads_no_table() -> None:
    script = f"""
from mcp_bindings.pydantic.{module(LATEST)} import codec, types
codec.encode_json(codec.decode_json(types.TextContent, b'{{"type":"text","text":"x"}}'))
print([name for name in sys.modules if name.startswith("mcp_bindings") and name.endswith(("ing", "definitions"))])
"""
    assert python(script).strip() == "[]"


@pytest.mark.parametrize("revision", REVISIONS)
def test_decoding_does_not_call_constructors(revision: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """pydantic would, if it did not take ours for its own. The mark that makes it do so is not documented."""
    for kind in kinds("pydantic", revision):
        kind.cls.model_rebuild()
        assert kind.cls.__pydantic_custom_init__ is False, str(kind)

    def refuse(*args: object, **members: object) -> None:
        raise AssertionError("called")

    monkeypatch.setattr(Message, "__init__", refuse)
    monkeypatch.setattr(OpenMap, "__init__", refuse)
    assert codec(revision).decode(types(revision).Implementation, {"name": "n", "version": "v"}).name == "n"


# --- as models -------------------------------------------------------------------------------------------------------


def test_pydantic_reads_and_writes_wire_names_by_itself() -> None:
    tool = types().Tool.model_validate(TOOL)
    assert tool == codec().decode(types().Tool, TOOL) == types().Tool.model_validate_json(json.dumps(TOOL))
    assert tool.model_dump(exclude_defaults=True) == TOOL
    assert json.loads(tool.model_dump_json(exclude_defaults=True)) == TOOL
    with pytest.raises(ValidationError):
        types().Tool.model_validate({"name": "t", "input_schema": {"type": "object"}})
    block = TypeAdapter(types().ContentBlock).validate_python({"type": "text", "text": "x"})
    assert block == types().TextContent(text="x")


def test_records_inside_models_of_ones_own() -> None:
    latest = types()

    class Call(BaseModel):
        tool: latest.Tool
        blocks: list[latest.ContentBlock]

    wire = {"tool": TOOL, "blocks": [{"type": "text", "text": "x"}]}
    call = Call.model_validate_json(json.dumps(wire))
    assert call.blocks == [latest.TextContent(text="x")]
    assert call.model_dump(exclude_defaults=True) == wire
    assert Call(tool=call.tool, blocks=call.blocks) == call


@pytest.mark.filterwarnings("ignore:Default value UNSET")
@pytest.mark.parametrize("revision", REVISIONS)
def test_every_definition_has_a_json_schema(revision: str) -> None:
    for name in types(revision).__all__:
        for mode in ("validation", "serialization"):
            assert TypeAdapter(getattr(types(revision), name)).json_schema(mode=mode) is not None, name


def test_subclasses_of_ones_own() -> None:
    """They stand wherever their base may, and nothing of them is lost."""

    class Priced(types().Tool):
        price_cents: int
        note: str | None = None

    tool = Priced(name="t", input_schema={"type": "object"}, price_cents=5)
    wire = {"name": "t", "inputSchema": {"type": "object"}, "priceCents": 5}
    assert codec().encode(tool) == wire
    assert codec().encode(types().ListToolsResult(tools=[tool]))["tools"] == [wire]
    assert codec().decode(Priced, wire) == tool
    with pytest.raises(DecodeError, match="Priced"):
        codec().decode(Priced, {**wire, "priceCents": "5"})


def test_derived_records_in_the_place_of_their_base() -> None:
    link = types().ResourceLink(name="r", uri="u:r", meta={"k": 1})
    listed = codec().encode(types().ListResourcesResult(resources=[link]))
    assert listed["resources"] == [{"type": "resource_link", "name": "r", "uri": "u:r", "_meta": {"k": 1}}]
    answer = types().JSONRPCResultResponse(id=1, result=types().CallToolResult(content=[], structured_content=None))
    assert codec().encode(answer)["result"] == {"resultType": "complete", "content": [], "structuredContent": None}


def test_types_that_no_definition_has() -> None:
    wire = [{"name": "t", "inputSchema": {"type": "object"}}]
    tools = codec().decode(list[types().Tool], wire)
    assert tools == codec().decode_json(list[types().Tool], json.dumps(wire))
    assert codec().encode(tools) == codec().encode({"k": tools})["k"] == wire
    blocks = codec().decode(dict[str, types().ContentBlock], {"k": {"type": "text", "text": "x"}})
    assert blocks == {"k": types().TextContent(text="x")}
    for bad in ([{"name": 1}], {}, [None]):
        with pytest.raises(DecodeError):
            codec().decode(list[types().Tool], bad)


@pytest.mark.parametrize(
    ("members", "error"),
    [
        ({"name": "t"}, ValidationError),
        ({"name": 5, "input_schema": {"type": "object"}}, ValidationError),
        ({"name": "t", "input_schema": {"type": "array"}}, ValidationError),
        ({"name": "t", "input_schema": {"type": "object", "x": float("nan")}}, ValidationError),
        ({"name": "t", "input_schema": {"type": "object"}, "icons": ()}, ValidationError),
        ({"name": "t", "inputSchema": {"type": "object"}}, TypeError),
        ({"name": "t", "input_schema": {"type": "object"}, "price": 5}, TypeError),
    ],
)
def test_constructors_check(members: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        types().Tool(**members)


def test_constructors_take_what_derived_records_narrow() -> None:
    """`params` of a plain request is a map on the wire; whoever makes one may have a record for it."""
    params = types().CompleteRequestParams(
        meta=types().RequestMetaObject(protocol_version=LATEST, client_capabilities=types().ClientCapabilities()),
        argument=types().CompleteRequestParamsArgument(name="a", value="v"),
        ref=types().PromptReference(name="p"),
    )
    made = types().JSONRPCRequest(id=1, method="completion/complete", params=params)
    wire = codec().encode(made)
    assert wire["params"] == codec().encode(params)
    assert codec().decode(types().JSONRPCRequest, wire).params == wire["params"]
    assert codec().decode(types().CompleteRequest, wire).params == params


# --- constants that Python takes for each other ----------------------------------------------------------------------


@pytest.fixture(scope="module")
def constants(tmp_path_factory: pytest.TempPathFactory) -> Any:
    properties = {"one": {"const": 1}, "zero": {"const": 0}, "yes": {"const": True}, "no": {"const": False}}
    record = {"type": "object", "properties": properties, "required": []}
    return inline(tmp_path_factory.mktemp("constants"), "pydantic_constants", {"Constants": record})


@pytest.mark.parametrize(
    ("wire", "good", "bad"),
    [
        ("one", ["1", "1.0"], ["true", "0", '"1"', "null", "1.5"]),
        ("zero", ["0", "0.0", "-0"], ["false", "1", "[]"]),
        ("yes", ["true"], ["1", "1.0", "false", '"true"']),
        ("no", ["false"], ["0", "0.0", "true", "null"]),
    ],
)
def test_true_is_not_one(constants: Any, wire: str, good: list[str], bad: list[str]) -> None:
    cls = constants.types.Constants
    for text in good:
        value = constants.codec.decode_json(cls, f'{{"{wire}":{text}}}')
        assert constants.codec.decode(cls, {wire: json.loads(text)}) == value
        expected = {"one": 1, "zero": 0, "yes": True, "no": False}[wire]
        assert repr(getattr(value, wire)) == repr(expected)
    for text in bad:
        for decode, form in (
            (constants.codec.decode_json, f'{{"{wire}":{text}}}'),
            (constants.codec.decode, {wire: json.loads(text)}),
        ):
            with pytest.raises(Exception, match=f"Constants: {wire}: "):
                decode(cls, form)
