"""`aspenpy explain`: every link of the chain, with numbers worked out by hand."""

import json

import pytest

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
