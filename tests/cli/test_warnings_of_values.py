"""Warnings that go with the values of a case: `eval`, `expr` and `sensitivity` tell each once, in the same words."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from aspenpy.shell.main import main

MODEL = """model wide {
  param n = 5 in 1 .. 10
  data v [4000]
  kernel main { execute { loads [n] from v } }
}
"""
MACHINE = """machine m { node n }
node n { socket s }
socket s { core [1] c  memory d }
core c { resource flops(x) [x/1e9] }
memory d { property capacity [1000] resource loads(x) [x/1e9] }
"""
LINES = ("eval", "expr --free n", "sensitivity", "sensitivity --method derivative")
WARNING = "`main` touches 4 times the capacity of the memory"  # 4000 B of 1000 B
OUTSIDE = "`n` is 20"


@pytest.fixture(autouse=True)
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("wide.aspen").write_text(MODEL, encoding="utf-8")
    Path("m.aspen").write_text(MACHINE, encoding="utf-8")


@pytest.mark.parametrize("line", LINES)
def test_it_is_told_once(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    command, *options = line.split()
    assert main([command, "wide.aspen", "--machine", "m.aspen", *options]) == 0
    told = capsys.readouterr()
    assert told.err.count(WARNING) == 1
    assert WARNING not in told.out


@pytest.mark.parametrize("command", ["eval", "sensitivity"])
def test_it_is_in_the_json(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, "wide.aspen", "--machine", "m.aspen", "--format", "json"]) == 0
    told = capsys.readouterr()
    assert [item["message"] for item in json.loads(told.out)["diagnostics"]] == [WARNING]
    assert told.err == ""


@pytest.mark.parametrize("line", ["eval", "expr", "sensitivity"])
def test_so_is_a_value_outside_its_range(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([line, "wide.aspen", "--machine", "m.aspen", "--set", "n=20"]) == 0
    assert capsys.readouterr().err.count(OUTSIDE) == 1


def test_a_formula_whose_own_value_is_none(capsys: pytest.CaptureFixture[str]) -> None:
    """`sqrt(5 - 10)` cannot be warned of; the formula in `n` has values elsewhere."""
    Path("wide.aspen").write_text(
        MODEL.replace("loads [n]", "loads [sqrt(n - 10)]").replace("[4000]", "[sqrt(n-10)]"), encoding="utf-8"
    )
    assert main(["expr", "wide.aspen", "--machine", "m.aspen", "--free", "n"]) == 0
    told = capsys.readouterr()
    assert (told.out, told.err) == ("sqrt(n - 10)/1e9\n", "")
