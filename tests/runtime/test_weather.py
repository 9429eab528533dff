"""The weather example exchanges the frames of the specification's architecture page, member for member."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import anyio
import pytest

from runtime.bounded import bounded
from runtime.world import STYLES, connected, served

ROOT = Path(__file__).parent.parent.parent
FRAMES: list[dict[str, Any]] = json.loads((Path(__file__).with_name("weather_frames.json")).read_text("utf-8"))
ASKED = [step["frame"] for step in FRAMES if step["from"] == "client"]
TOLD = [step["frame"] for step in FRAMES if step["from"] == "server"]

pytestmark = pytest.mark.anyio


@pytest.fixture(params=STYLES)
def style(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def example(name: str, style: str, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """An example as it is, but for the style that it is written in."""
    source = (ROOT / "examples" / f"{name}.py").read_text("utf-8").replace("bindings.pydantic", f"bindings.{style}")
    module = ModuleType(name)
    module.__file__ = str(ROOT / "examples" / f"{name}.py")
    if name == "weather_server":
        example("weather_tools", style, monkeypatch)
    monkeypatch.setitem(sys.modules, name, module)
    exec(compile(source, f"{name}.py", "exec"), module.__dict__)
    return module


@bounded
async def test_the_server(style: str, monkeypatch: pytest.MonkeyPatch) -> None:
    server = example("weather_server", style, monkeypatch).server
    async with served(server) as line:
        told = [await line.ask(frame) for frame in ASKED[:4]]
        await server.notify_tool_list_changed()
        told.append(await line.receive())
        assert told == TOLD
        refreshed = await line.ask(ASKED[4])
        assert refreshed == {**TOLD[1], "id": 5}


@bounded
async def test_the_client(style: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    module = example("weather_client", style, monkeypatch)
    async with connected(style) as (peer, line), anyio.create_task_group() as tasks:
        tasks.start_soon(module.main, peer)
        asked = []
        for answers in (TOLD[:1], TOLD[1:2], TOLD[2:3], TOLD[3:5]):
            asked.append(await line.receive())
            await line.send(*answers)
        asked.append(await line.receive())
        await line.send({**TOLD[1], "id": 5})
        assert asked == ASKED
        while "list_changed 2" not in capsys.readouterr().out:
            await anyio.sleep(0.01)
        tasks.cancel_scope.cancel()


def test_the_server_on_stdio() -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p), "PYTHONIOENCODING": "ascii"}
    asked = "".join(json.dumps(frame) + "\n" for frame in ASKED[:3])
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples" / "weather_server.py")],
        input=asked.encode(),
        capture_output=True,
        env=environment,
        timeout=30,
    )
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert sorted(told, key=lambda frame: frame["id"]) == TOLD[:3]
    assert done.stderr == b""
