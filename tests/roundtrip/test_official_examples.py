"""The specification's 129 example messages: not ours to commit, so their hashes are; SPEC=<checkout> runs them."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from conftest import LATEST, ROOT
from roundtrip.surfaces import STYLES, assert_round_trip, declared_only, exact, official_examples, surface

HASHES = dict(
    reversed(line.split("  ", 1)) for line in (ROOT / "tests" / "official_examples.sha256").read_text().splitlines()
)
FOLDER = official_examples()
needs_examples = pytest.mark.skipif(
    FOLDER is None,
    reason="the official examples are not here: set SPEC to a checkout of the specification's repository",
)

# Not an instance of its type by the schema itself: a complete result without ttlMs and cacheScope. It is what an older
# server sends, and decodes under the receive rules.
LACKS_MEMBERS = {"ReadResourceResultResponse/read-resource-result-response.json"}

# Undeclared members of closed records, which a style that keeps declared members only loses.
UNDECLARED = {"ListRootsRequest/list-roots-request.json": {"id"}}


def load(name: str) -> object:
    assert FOLDER is not None
    data = (FOLDER / name).read_bytes()
    assert hashlib.sha256(data).hexdigest() == HASHES[name], "another version of this example than the one we know"
    return json.loads(data)


def test_hashes_are_complete() -> None:
    assert len(HASHES) == 129


@needs_examples
def test_no_example_is_unknown() -> None:
    assert FOLDER is not None
    assert {file.relative_to(FOLDER).as_posix() for file in FOLDER.rglob("*.json")} == set(HASHES)


@needs_examples
@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("name", sorted(HASHES.keys() - LACKS_MEMBERS))
def test_round_trip(style: str, name: str) -> None:
    assert_round_trip(style, LATEST, Path(name).parent.name, load(name))


@needs_examples
@pytest.mark.parametrize("name", sorted(HASHES.keys() - LACKS_MEMBERS))
def test_what_a_style_without_undeclared_members_loses(name: str) -> None:
    value = load(name)
    left = declared_only(LATEST, Path(name).parent.name, value)
    if name in UNDECLARED:
        assert isinstance(value, dict)
        assert isinstance(left, dict)
        assert value.keys() - left.keys() == UNDECLARED[name]
    else:
        assert exact(left) == exact(value)


@needs_examples
@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("name", sorted(LACKS_MEMBERS))
def test_incomplete_examples_decode_under_the_receive_rules(style: str, name: str) -> None:
    from mcp_bindings.runtime import DecodeError

    package = surface(style, LATEST)
    message = load(name)
    assert isinstance(message, dict)
    type = getattr(package.types, Path(name).parent.name)
    with pytest.raises(DecodeError, match=r"ttlMs|cacheScope"):
        package.codec.decode(type, message)
    completed = {**message, "result": {**message["result"], "ttlMs": 0, "cacheScope": "private"}}
    assert_round_trip(style, LATEST, Path(name).parent.name, completed)
