"""`aspenpy explain`: every link of the chain, with numbers worked out by hand."""

import json
from pathlib import Path

import pytest

from aspenpy.shell.main import main
from tests.cli.conftest import Runner

EXPLAINED = """\
15 us in all

axpy, "y = a*x + y": flops
  requirement            flops [2] as dp
  written at             axpy.aspen:8:7
  one instance asks for  2 flop
  instances              n = 1,000
  the run asks for       20 kflop
  served by              Cluster/Node/Processor/Core, 8 in all
  seconds of an amount   count/Core.speed
  written at             cluster.aspen:21:3
  as dp                  base*2
  one instance takes     2/Core.speed*2 = 4 ns
  all of them take       ceil(instances/8) times as long
  the run takes          5 us, 33.3 % of the runtime
"""

COMMAND = ("explain", "axpy.aspen", "--machine", "cluster.aspen")


def test_table(run: Runner) -> None:
    outcome = run(*COMMAND, "axpy")
    assert (outcome.status, outcome.err) == (0, "")
    assert outcome.out.startswith(EXPLAINED)
    assert outcome.out.count("served by") == 3


def test_json(run: Runner) -> None:
    found = json.loads(run(*COMMAND, "--format", "json").out)
    assert found["runtime"] == {"value": pytest.approx(15e-6, rel=1e-12), "unit": "s"}
    message, *others = found["steps"]
    assert [step["resource"] for step in others] == ["flops", "loads", "stores"]
    assert message["kernel"] == "main"
    assert message["component"] == "Cluster/Fabric"
    assert message["serial"]["value"] == pytest.approx(3e-6, rel=1e-12)
    assert message["source"] == {"file": "axpy.aspen", "line": 19, "column": 7, "text": "messages [1000]"}
    assert others[0]["traits"] == [{"name": "dp", "formula": "base*2"}]
    assert others[1]["bounds"] is True


def test_trait_that_the_machine_does_not_know(run: Runner) -> None:
    outcome = run(*COMMAND, "--kernel", "axpy")
    assert "not known to this machine" not in outcome.out


def test_unknown_kernel(run: Runner) -> None:
    outcome = run(*COMMAND, "axpi")
    assert outcome == (2, "", "error: no kernel `axpi` ran\n  = hint: did you mean `axpy`?\n")


def test_a_halo_is_said_in_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """6*100*100 doubles are 480 kB; a kernel with arguments sends another amount in each call."""
    model = tmp_path / "m.aspen"
    model.write_text(
        "model m { param n = 100 param ranks = 64\n"
        "kernel faces(param k) { execute [ranks] { messages [6*k*n^2] of size [8] as halo(3) } }\n"
        "kernel once { execute [ranks] { messages [6*n^2] of size [8] as halo(3) } }\n"
        "kernel main { call once call faces(1) call faces(2) } }",
        encoding="utf-8",
    )
    assert main(["explain", str(model), "--machine", "haswell"]) == 0
    said = capsys.readouterr().out
    assert "as halo                each of 64 ranks sends 480 kB to its neighbours\n" in said
    assert "each of 64 ranks sends 6*k*n^2*8 bytes to its neighbours\n" in said
    assert max(map(len, said.splitlines())) < 140
    assert main(["explain", str(model), "--machine", "haswell", "--format", "json"]) == 0
    steps = json.loads(capsys.readouterr().out)["steps"]
    formulas = [exchange["formula"] for step in steps for exchange in step["exchanges"]]
    assert len(formulas) == 2
    assert all("infiniband_fdr.latency" in formula for formula in formulas)


LONG = """\
model m {
  param first_dimension = 100
  param second_dimension = 20
  param halo_of_the_side = 2
  kernel main {
    execute { flops [(first_dimension + halo_of_the_side)*(second_dimension + halo_of_the_side)*first_dimension] as dp }
  }
  kernel faces(param level) {
    execute { flops [(first_dimension/2^level + 1)*second_dimension*(first_dimension/2^level + halo_of_the_side)] }
  }
}
"""


def test_a_long_formula_names_its_terms(run: Runner, models: Path) -> None:
    """(100 + 2)*(20 + 2)*100 = 224,400 flops at 1 ns, twice as long in double precision; what a row above has is called
    the amount, and what occurs twice has a name."""
    (models / "long.aspen").write_text(
        LONG.replace("(param level)", "").replace("^level", "^halo_of_the_side"), encoding="utf-8"
    )
    lines = run("explain", "long.aspen", "--machine", "cluster.aspen").out.splitlines()
    assert "  one instance takes     amount/Core.speed*2 = 449 us" in lines
    lines = run("explain", "long.aspen", "--machine", "cluster.aspen", "--kernel", "faces").out.splitlines()
    assert "  one instance asks for  (t1 + 1)*second_dimension*(t1 + halo_of_the_side) = 14 kflop" in lines
    assert "  where t1               first_dimension/2^halo_of_the_side" in lines
