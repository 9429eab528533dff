"""Reading order: every declaration in one module, modules in import order, bases before what derives from them."""

from __future__ import annotations

from conftest import protocol_of
from inline import STRING, const, model, obj, ref
from mcp_bindgen import ir, topics


def test_everything_is_placed_once_and_in_order(protocol: ir.Protocol) -> None:
    arranged = topics.arrange(protocol)
    placed = [name for topic in arranged for name in topic.declarations]
    assert sorted(placed) == sorted(protocol.declarations)
    order = {topic.name: number for number, topic in enumerate(arranged)}
    home = {name: topic.name for topic in arranged for name in topic.declarations}
    position = {name: number for number, name in enumerate(placed)}
    for declaration in protocol.declarations.values():
        for used in ir.uses(declaration):
            assert order[home[used]] <= order[home[declaration.name]], f"{declaration.name} needs {used}"
        if isinstance(declaration, ir.Record):
            assert all(position[base] < position[declaration.name] for base in declaration.bases)


def test_what_one_method_alone_reaches_stands_with_it() -> None:
    home = {name: t.name for t in topics.arrange(protocol_of("2026-07-28")) for name in t.declarations}
    assert home["CallToolRequestParams"] == home["CallToolResult"] == "tools_call"
    assert home["PromptArgument"] == "prompts_list"
    assert home["TextContent"] == "shared"
    assert home["ElicitResult"] == "elicitation_create"
    assert home["InputRequiredResult"] == "input"
    assert home["ServerResult"] == "messages"


def test_a_cycle_of_modules_falls_together() -> None:
    """A request whose params hold the other's request, and the other way round."""

    def request(method: str, other: str) -> dict[str, object]:
        return obj("method params", method=const(method), params=obj("", next=ref(other)))

    protocol = model(
        {
            "ARequest": request("a", "BRequest"),
            "BRequest": request("b", "ARequest"),
            "ClientRequest": {"anyOf": [ref("ARequest"), ref("BRequest")]},
            "Other": obj("x", x=STRING),
        }
    )
    home = {name: t.name for t in topics.arrange(protocol) for name in t.declarations}
    assert home["ARequest"] == home["BRequest"] == "shared"
    assert home["Other"] == "messages"
