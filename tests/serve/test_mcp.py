"""The server of the Model Context Protocol, asked by the client of its own SDK: the same numbers as the commands, and
what is refused."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import aspenpy
from aspenpy.shell import tool_server
from aspenpy.shell.main import main
from aspenpy.shell.tool_server import CommandTools, make_server

MODEL = "model mine { param n = 1e6  kernel main { execute { flops [n] as dp } } }\n"


def ask(folder: Path, name: str, **arguments: Any) -> tuple[bool, str]:
    """Whether the tool failed, and the text of its answer."""
    mcp = pytest.importorskip("mcp", reason="the extra `mcp` is not installed")

    async def call() -> Any:
        async with mcp.Client(make_server(folder)) as client:
            return await client.call_tool(name, arguments)

    found = asyncio.run(call())
    return bool(found.is_error), "\n".join(part.text for part in found.content)


def answer(folder: Path, name: str, **arguments: Any) -> Any:
    failed, text = ask(folder, name, **arguments)
    assert not failed, text
    return json.loads(text)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "inside").mkdir()
    (tmp_path / "inside" / "mine.aspen").write_text(MODEL, encoding="utf-8")
    (tmp_path / "secret.aspen").write_text(MODEL.replace("mine", "secret"), encoding="utf-8")
    return tmp_path / "inside"


def test_tools_and_their_arguments(folder: Path) -> None:
    mcp = pytest.importorskip("mcp", reason="the extra `mcp` is not installed")

    async def tools() -> Any:
        async with mcp.Client(make_server(folder)) as client:
            return (await client.list_tools()).tools

    found = {tool.name: tool for tool in asyncio.run(tools())}
    assert sorted(found) == ["check", "compare", "eval", "explain", "list", "sweep"]
    assert all(tool.description for tool in found.values())
    assert found["eval"].input_schema["required"] == ["model", "machine"]


def test_numbers_are_those_of_the_library(folder: Path) -> None:
    simple = aspenpy.load_machine("simple")
    wanted = aspenpy.predict(aspenpy.load_application(folder / "mine.aspen"), simple, set={"n": 2e6}).runtime
    found = answer(folder, "eval", model="mine.aspen", machine="simple", settings={"n": 2e6})
    assert found["runtime"]["value"] == pytest.approx(wanted)
    points = answer(folder, "sweep", model="mine.aspen", machine="simple", over=["n=1e6,2e6"])
    assert points["metrics"]["runtime"]["largest"]["value"] == pytest.approx(wanted)
    both = answer(folder, "compare", model="stream", machines=["simple", "haswell"])
    assert {item["machine"] for item in both["machines"]} == {"simple", "haswell"}
    assert answer(folder, "explain", model="stream", machine="simple", kernel="triad")
    assert "simple" in {row["name"] for row in answer(folder, "list", kind="machines")["machines"]}
    assert answer(folder, "check", models=["mine.aspen"])


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("eval", {"model": "../secret.aspen", "machine": "simple"}, "neither a name of the library nor a file"),
        ("eval", {"model": "/etc/passwd", "machine": "simple"}, "neither a name of the library nor a file"),
        ("eval", {"model": "--output=x", "machine": "simple"}, "neither a name of the library nor a file"),
        ("eval", {"model": "mine.aspen", "machine": "simpel"}, "did you mean `simple`"),
        ("eval", {"model": "mine.aspen", "machine": "simple", "settings": {"m": 1}}, "unknown parameter"),
        ("eval", {"model": "mine.aspen", "machine": "simple", "settings": {"n -o": 1}}, "`n -o` is no name"),
        ("eval", {"model": "mine.aspen", "machine": "simple", "kernel": "-h"}, "`-h` is no name"),
        ("sweep", {"model": "mine.aspen", "machine": "simple", "over": ["machine=../x"]}, "an axis is NAME=LOW..HIGH"),
        ("compare", {"model": "mine.aspen", "machines": []}, "expected 1 to 50 machines"),
    ],
)
def test_what_is_refused(folder: Path, name: str, arguments: dict[str, Any], message: str) -> None:
    failed, text = ask(folder, name, **arguments)
    assert failed
    assert message in text


def test_a_link_out_of_the_folder_is_refused(folder: Path) -> None:
    (folder / "link.aspen").symlink_to(folder.parent / "secret.aspen")
    with pytest.raises(ValueError, match="neither a name of the library nor a file"):
        CommandTools(folder).eval("link.aspen", "simple")


def test_limits_of_time_and_length(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tool_server, "LONGEST", 10)
    with pytest.raises(ValueError, match="characters, 10 at most"):
        CommandTools(folder).list("apps")
    monkeypatch.setattr(tool_server, "SECONDS", 1e-3)
    with pytest.raises(ValueError, match="takes longer than"):
        CommandTools(folder).list("apps")


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux holds a process to its address space")
def test_limit_of_memory(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert CommandTools(folder).eval("comd", "haswell")["application"] == "comd"
    monkeypatch.setattr(tool_server, "MEMORY", 8 << 20)
    with pytest.raises(ValueError, match=r"(?i)memory|cannot allocate|failed to map"):
        CommandTools(folder).eval("comd", "haswell")


def test_the_command_speaks_on_standard_output(folder: Path) -> None:
    pytest.importorskip("mcp", reason="the extra `mcp` is not installed")
    ran = subprocess.run(
        [sys.executable, "-m", "aspenpy", "serve", "--mcp"],
        cwd=folder,
        input="",
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (ran.returncode, ran.stdout) == (0, "")


def test_what_the_command_refuses(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    pytest.importorskip("mcp", reason="the extra `mcp` is not installed")
    for words, message in (
        (["serve"], "serves one protocol: --mcp"),
        (["serve", "--mcp", "--folder", "no"], "is no folder"),
    ):
        assert main(words) == 2
        assert message in capsys.readouterr().err
