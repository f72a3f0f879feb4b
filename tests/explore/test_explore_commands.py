"""The commands `sensitivity` and `optimise`: what they print for programs, and what they refuse."""

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from aspenpy.explore.constraint import read_constraints
from aspenpy.shell.commands.variations import split_names
from aspenpy.shell.main import main

APPLICATION = """model work {
  param n = 16 in 1 .. 100
  kernel main { execute [n] { flops [8] } }
}
"""
MACHINE = """param cores = 2 in 1 .. 8
param clock = 1 in 1 .. 2
machine box { socket chip }
socket chip { property cost [5] core [cores] unit }
core unit { property cost [clock^2] resource flops(x) [x/clock] }
"""


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "work.aspen").write_text(APPLICATION, encoding="utf-8")
    (tmp_path / "box.aspen").write_text(MACHINE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments: str) -> int:
    command, *rest = arguments
    return main([command, "work.aspen", "--machine", "box.aspen", *rest])


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert run(*arguments) == 0
    return capsys.readouterr().out


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert run(*arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    return captured.err


@pytest.mark.usefixtures("models")
def test_an_elasticity_with_its_formula(capsys: pytest.CaptureFixture[str]) -> None:
    """The cost is 5 + cores clock^2, with clock = 1: of the clock 2 cores clock^2 over it, 4/7."""
    found = json.loads(printed(capsys, "sensitivity", "--metric", "cost", "--format", "json"))
    clock = next(item for item in found["elasticities"] if item["parameter"] == "clock")
    assert clock["here"] == pytest.approx(4 / 7, rel=1e-12)
    assert "clock" in clock["formula"]


@pytest.mark.parametrize("method", ["elasticity", "normalised", "sobol", "morris"])
@pytest.mark.parametrize("suffix", ["svg", "png"])
def test_every_method_draws(models: Path, capsys: pytest.CaptureFixture[str], method: str, suffix: str) -> None:
    pytest.importorskip("matplotlib")
    pytest.importorskip("SALib")
    asked = ["--vary", "clock=1..2:real,cores" if method != "elasticity" else "clock=1..2:real"]
    out = printed(
        capsys, "sensitivity", "--method", method, *asked, "--picture", f"tornado.{suffix}", "--format", "csv"
    )
    assert out.startswith("parameter,")
    assert (models / f"tornado.{suffix}").stat().st_size > 1000


@pytest.mark.usefixtures("models")
def test_an_optimum_for_programs(capsys: pytest.CaptureFixture[str]) -> None:
    """8/clock ceil(16/cores) with 5 + cores clock^2 <= 13: 8 cores at 1 take 16. The next better
    is 6 at 2, with 3 * 4 for 5 + 24."""
    pytest.importorskip("scipy")
    out = printed(
        capsys,
        "optimise",
        "--minimise",
        "runtime",
        "--subject-to",
        "cost <= 13",
        "--vary",
        "cores,clock=1,2",
        "--format",
        "json",
    )
    found = json.loads(out)
    assert (found["value"], found["unit"], found["proven"]) == (16.0, "s", True)
    assert found["point"] == {"cores": 8, "clock": "1"}
    (binding,) = found["binding"]
    assert (binding["next_bound"], binding["next_value"]) == (29.0, 12.0)


@pytest.mark.usefixtures("models")
def test_a_front_as_rows(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("scipy")
    rows = printed(
        capsys, "optimise", "--minimise", "runtime,cost", "--vary", "cores=1,2,4,8", "--format", "csv"
    ).split()
    assert rows == [
        "runtime,runtime_unit,cost,cores",
        "16.0,s,13.0,8",
        "32.0,s,9.0,4",
        "64.0,s,7.0,2",
        "128.0,s,6.0,1",
    ]


def test_commas_separate_names_and_values() -> None:
    assert split_names(["n=1..5,cores", "m=1,2,4"]) == ["n=1..5", "cores", "m=1,2,4"]
    assert split_names(["machine=a,b"]) == ["machine=a,b"]
    assert split_names(["m=1,2,n=3"]) == ["m=1,2", "n=3"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["sensitivity", "--pairs"], "--pairs belongs to --method sobol"),
        (["sensitivity", "--samples", "8"], "--samples belongs to"),
        (["sensitivity", "--vary", "n,,cores"], "--vary: a name is missing in `n,,cores`"),
        (["sensitivity", "--method", "normalised", "--vary", "machine=box.aspen,gone"], "gone"),
        (["sensitivity", "--vary", "nn"], "unknown parameter `nn`"),
        (["sensitivity", "--vary", "machine"], "hint: name them: machine=A,B"),
        (["sensitivity", "--picture", "t.bmp"], "cannot draw `t.bmp`"),
        (["sensitivity", "--method", "morris", "--samples", "1"], "at least 2 samples are needed, not 1"),
        (["optimise", "--vary", "n"], "nothing to optimise"),
        (["optimise", "--minimise", "runtime"], "nothing varies"),
        (["optimise", "--minimise", "runtime", "--vary", "n", "--picture", "x.svg"], "several quantities"),
        (["optimise", "--minimise", "runtime", "--vary", "n", "--subject-to", "cost < 3"], "hint: write `<=`"),
        (
            ["optimise", "--minimise", "runtime", "--vary", "n", "--subject-to", "cost <= 3"],
            "no point satisfies `cost <= 3`",
        ),
        (["optimise", "--minimise", "runtime +", "--vary", "n"], "runtime +"),
    ],
)
@pytest.mark.usefixtures("models")
def test_what_is_refused(capsys: pytest.CaptureFixture[str], arguments: list[str], message: str) -> None:
    pytest.importorskip("scipy")
    assert message in refused(capsys, *arguments)


@pytest.mark.parametrize(
    ("missing", "arguments", "extra"),
    [
        ("scipy", ["optimise", "--minimise", "runtime", "--vary", "n"], "aspenpy[optimise]"),
        ("SALib", ["sensitivity", "--method", "sobol"], "aspenpy[sensitivity]"),
        ("pymoo", ["optimise", "--minimise", "runtime,cost", "--vary", "clock=1..2:real"], "aspenpy[optimise]"),
    ],
)
@pytest.mark.usefixtures("models")
def test_what_is_not_installed_is_named(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, missing: str, arguments: list[str], extra: str
) -> None:
    from importlib import util

    there = util.find_spec
    for name in ("optimise", "variance"):
        monkeypatch.setattr(
            f"aspenpy.explore.{name}.find_spec", lambda wanted: None if wanted == missing else there(wanted)
        )
    assert f"pip install '{extra}'" in refused(capsys, *arguments)


def test_a_formula_too_large_to_be_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """p_k = p_(k-1)/(1 + p_(k-1)) is n/(1 + k n), written out 2^k terms; its elasticity is 1/(1 + k n)."""
    steps = 24
    declared = "".join(f"param p{k} = p{k - 1}/(1 + p{k - 1})\n" for k in range(1, steps + 1))
    model = tmp_path / "deep.aspen"
    model.write_text(
        f"model deep {{ param p0 = 0.25 in 0.1 .. 1\n{declared} kernel main "
        f"{{ execute {{ flops [1e9*p{steps}] }} }} }}",
        encoding="utf-8",
    )
    common = ["sensitivity", str(model), "--machine", "simple", "--vary", "p0", "--method", "derivative"]
    assert main([*common, "--format", "json"]) == 0
    page = json.loads(capsys.readouterr().out)
    (found,) = page["elasticities"]
    assert found["here"] == pytest.approx(1 / (1 + steps / 4), rel=1e-6)
    assert found["formula"] is None
    assert main(common) == 0
    assert "moves most with p0" in capsys.readouterr().out


@pytest.mark.usefixtures("models")
def test_indices_name_the_unit_of_their_parameter(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("SALib")
    Path("clocked.aspen").write_text(
        "param speed = 1 GHz machine clocked { core c } core c { resource flops(n) [n/(speed*1 flop)] }",
        encoding="utf-8",
    )
    Path("work.aspen").write_text("model work { param n = 10 kernel main { execute { flops [n] } } }", encoding="utf-8")
    varied = ("--vary", "speed=1e9..2e9:real,n=1..2:real", "--method", "sobol", "--samples", "8", "--format", "csv")
    assert main(["sensitivity", "work.aspen", "--machine", "clocked.aspen", *varied]) == 0
    rows = [*csv.DictReader(io.StringIO(capsys.readouterr().out))]
    assert {row["parameter"]: row["unit"] for row in rows} == {"speed": "Hz", "n": ""}


BRANCHES = """
model branches {
  param n = 1000 in 1 .. 1000
  param ranks = 1
  data d as Array(n, 8)
  kernel a { execute [n] { flops [10] } }
  kernel b { execute [n] { loads [8] from d } }
  kernel main { par { call a() call b() } }
}
"""


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("compare b.aspen --machine simple,haswell", lambda found: found["machines"][0]["runtime"]["value"]),
        ("optimise b.aspen --machine simple --maximise runtime --vary n", lambda found: found["value"]),
        ("scale b.aspen --machine simple --ranks 1..2 --strong", lambda found: found["points"][0]["time"]),
    ],
)
def test_branches_one_after_the_other_or_at_once(
    line: str,
    value: Callable[[Any], float],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """10,000 flops on 4 cores at 1 GHz take 2.5 us, 8,000 B at 10 GB/s 0.8 us."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "b.aspen").write_text(BRANCHES, encoding="utf-8")
    for par, seconds in (("add", 3.3e-6), ("overlap", 2.5e-6)):
        assert main([*line.split(), "--format", "json", "--par", par]) == 0
        assert value(json.loads(capsys.readouterr().out)) == pytest.approx(seconds, rel=1e-12)


def test_several_machines_vary(models: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Named by --machine, by --vary beside one of them, or by --vary alone."""
    pytest.importorskip("scipy")
    (models / "slow.aspen").write_text(MACHINE.replace("clock = 1", "clock = 0.5", 1), encoding="utf-8")
    both = "box.aspen,slow.aspen"
    answers = []
    for named in (
        ["--machine", both],
        ["--machine", "box.aspen", "--vary", f"machine={both}"],
        ["--vary", f"machine={both}"],
    ):
        assert main(["optimise", "work.aspen", *named, "--minimise", "runtime", "--format", "json"]) == 0
        answers.append(json.loads(capsys.readouterr().out))
    assert answers[0] == answers[1] == answers[2]
    assert main(["optimise", "work.aspen", "--minimise", "runtime", "--vary", "n=1..2"]) == 2
    assert "a machine is needed: --machine M, or --vary machine=A,B" in capsys.readouterr().err


def test_constraints_that_are_joined_have_their_own_texts() -> None:
    found = read_constraints(["n <= 4 and 2*m >= 2, max(k, 1) == 3", " n<=5 "])
    assert [item.text for item in found] == ["n <= 4", "2*m >= 2", "max(k, 1) == 3", "n<=5"]
