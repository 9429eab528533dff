"""UNSET: one object, falsy, and never mistaken for data."""

from __future__ import annotations

import copy
import json
import pickle
import subprocess
import sys

import pytest

from loading import runtime

unset = runtime("unset")
UNSET = unset.UNSET


def test_there_is_one() -> None:
    assert isinstance(UNSET, unset.UnsetType)
    assert unset.UnsetType.UNSET is UNSET
    assert list(unset.UnsetType) == [UNSET]


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickle_keeps_the_identity(protocol: int) -> None:
    assert pickle.loads(pickle.dumps(UNSET, protocol)) is UNSET
    assert pickle.loads(pickle.dumps([UNSET, {"a": UNSET}], protocol)) == [UNSET, {"a": UNSET}]


def test_copies_are_the_same() -> None:
    assert copy.copy(UNSET) is UNSET
    assert copy.deepcopy({"a": [UNSET]})["a"][0] is UNSET


def test_it_is_neither_null_nor_true() -> None:
    assert UNSET is not None
    assert UNSET != None  # noqa: E711
    assert not UNSET
    assert hash(UNSET) == hash(UNSET)
    assert repr(UNSET) == str(UNSET) == f"{UNSET}" == "UNSET"


def test_no_json_writer_takes_it_for_data() -> None:
    msgspec = pytest.importorskip("msgspec")
    pydantic_core = pytest.importorskip("pydantic_core")
    for write in (json.dumps, msgspec.json.encode, pydantic_core.to_json):
        with pytest.raises((TypeError, pydantic_core.PydanticSerializationError)):
            write({"a": UNSET})


def test_the_package_loads_nothing_until_asked() -> None:
    package = sys.modules[unset.__name__.rpartition(".")[0]]
    root = next(iter(package.__path__))
    program = f"""
import importlib.util, sys
spec = importlib.util.spec_from_file_location("r", {root!r} + "/__init__.py", submodule_search_locations=[{root!r}])
package = sys.modules["r"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(package)
assert not [name for name in sys.modules if name.startswith("r.")], sorted(sys.modules)
assert set(package.__all__) <= set(dir(package))
for name in ("UNSET", "UnsetType", "DecodeError"):
    assert name in package.__all__
    assert getattr(package, name) is getattr(package, name)
assert "r.unset" in sys.modules and "r.errors" in sys.modules and "r.decoding" not in sys.modules
try:
    package.nonsense
except AttributeError as error:
    assert "nonsense" in str(error)
else:
    raise SystemExit("no AttributeError")
"""
    subprocess.run([sys.executable, "-c", program], check=True)
