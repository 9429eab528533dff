"""Fixtures over what the checkout holds: revisions, their schemas and their models."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from mcp_bindgen import ir, source
from mcp_bindgen.build import build

ROOT = Path(__file__).parent.parent
SCHEMA = ROOT / "schema"
TEMPLATES = ROOT / "templates"
SHARED = ROOT.parent / "shared"
REVISIONS = tuple(source.read_pins(SCHEMA))
LATEST = REVISIONS[-1]


@cache
def schema_of(revision: str) -> source.Schema:
    return source.load(SCHEMA, revision)


@cache
def protocol_of(revision: str) -> ir.Protocol:
    return build(schema_of(revision))


@pytest.fixture(params=REVISIONS)
def revision(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def schema(revision: str) -> source.Schema:
    return schema_of(revision)


@pytest.fixture
def protocol(revision: str) -> ir.Protocol:
    return protocol_of(revision)
