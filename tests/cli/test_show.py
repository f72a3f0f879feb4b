"""`aspenpy show`: what is in a model, with peaks and counts worked out by hand."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Runner

MACHINE = """\
machine Cluster: two nodes of four cores.

component           type          in all  static  offers
──────────────────  ────────────  ──────  ──────  ─────────────
Cluster             machine            1
├── Node            node               2
│   └── Processor   socket             2    10 W
│       ├── Core    core               8          flops
│       └── Memory  memory             2          loads, stores
└── Fabric          interconnect       1          messages

peaks
  resource  as       of one      of all  latency  component
  ────────  ──  ───────────  ──────────  ───────  ─────────
  flops           1 Gflop/s   8 Gflop/s           Core
  flops     dp  500 Mflop/s   4 Gflop/s           Core
  loads          10 GB/s     20 GB/s              Memory
  stores         10 GB/s     20 GB/s              Memory
  messages        1 GB/s      1 GB/s        2 us  Fabric

properties
  name        value  defined as
  ──────────  ─────  ──────────
  Core.speed  1 GHz  clock

parameters
  name   value  range
  ─────  ─────  ──────────────
  clock  1 GHz  1 GHz .. 2 GHz
"""

APPLICATION = """\
application axpy: y = a*x + y, ten times.

kernel    calls
────────  ─────
main          1
└── axpy     10

data  size  as
────  ────  ───────────
x     8 kB  Array(n, 8)

parameters
  name  value  range
  ────  ─────  ────────────
  n     1000   1 .. 1000000
"""


def test_machine(run: Runner) -> None:
    found = run("show", "cluster.aspen")
    assert found == (0, MACHINE, "")


def test_application(run: Runner) -> None:
    assert run("show", "axpy.aspen") == (0, APPLICATION, "")


CALLS = """
model calls {
  kernel unused { execute { flops [1] } call helper }
  kernel helper { execute { flops [1] } }
  kernel shared { execute { flops [1] } }
  kernel main { iterate [3] { call first } call shared }
  kernel first { call shared iterate [2] { call second } }
  kernel second { call shared }
}
"""


def test_kernels_that_are_never_called_run_no_times(run: Runner, models: Path) -> None:
    """Each kernel stands once with its calls, and those that no run reaches come last, in the order written: `unused`,
    and `helper`, which it alone calls."""
    (models / "calls.aspen").write_text(CALLS, encoding="utf-8")
    shown = run("show", "calls.aspen").out.split("\n\n")[1].splitlines()[2:]
    assert [tuple(line.split()[-2:]) for line in shown] == [
        ("main", "1"),
        ("first", "3"),
        ("shared", "3"),
        ("second", "6"),
        ("shared", "6"),
        ("shared", "1"),
        ("unused", "0"),
        ("helper", "0"),
    ]
    (tree,) = json.loads(run("show", "calls.aspen", "--format", "json").out)["calls"]
    assert (tree["kernel"], tree["calls"], [inner["kernel"] for inner in tree["callees"]]) == (
        "main",
        1,
        ["first", "shared"],
    )


def test_machine_as_json(run: Runner) -> None:
    found = json.loads(run("show", "cluster.aspen", "--format", "json").out)
    assert (found["machine"], found["summary"]) == ("Cluster", "two nodes of four cores.")
    assert found["sockets"] == ["Processor"]
    socket = found["tree"]["parts"][0]["parts"][0]
    assert (socket["name"], socket["count"], socket["static_power"], socket["dynamic_power"]) == (
        "Processor",
        2,
        10,
        None,
    )
    single, double = (peak for peak in found["peaks"]["resources"] if peak["resource"] == "flops")
    assert (single["traits"], single["rate"]) == ([], pytest.approx(1e9))
    assert (double["traits"], double["rate"], double["unit"]) == (["dp"], pytest.approx(5e8), "flop/s")
    assert double["count"] == 8
    # eight cores at 1 Gflop/s, half as much in double precision; two memories of 10 GB/s
    assert found["peaks"]["sp_flops"] == pytest.approx(8e9)
    assert found["peaks"]["dp_flops"] == pytest.approx(4e9)
    assert found["peaks"]["memory_bandwidth"] == pytest.approx(2e10)
    (messages,) = (peak for peak in found["peaks"]["resources"] if peak["resource"] == "messages")
    assert (messages["rate"], messages["latency"]) == (pytest.approx(1e9), pytest.approx(2e-6))
    assert found["parameters"] == [
        {"name": "clock", "value": 10**9, "unit": "Hz", "range": [10**9, 2 * 10**9], "definition": None}
    ]
    assert found["diagnostics"] == []


def test_application_as_json(run: Runner) -> None:
    found = json.loads(run("show", "axpy.aspen", "--format", "json").out)
    assert found["calls"] == [
        {"kernel": "main", "calls": 1, "callees": [{"kernel": "axpy", "calls": 10, "callees": []}]}
    ]
    assert found["data"] == [{"name": "x", "size": 8000, "unit": "B", "definition": "Array(n, 8)"}]
    assert found["kernels"] == [{"name": "axpy", "arguments": []}, {"name": "main", "arguments": []}]
    (parameter,) = found["parameters"]
    assert (parameter["value"], parameter["range"]) == (1000, [1, 1000000])


def test_warnings_stand_apart(run: Runner, models: Path) -> None:
    (models / "twice.aspen").write_text(
        "model twice { param n = 1 param n = 2 kernel main { execute { flops [n] } } }", encoding="utf-8"
    )
    outcome = run("show", "twice.aspen")
    assert outcome.status == 0
    assert outcome.err.startswith("warning: `n` is defined twice; this later definition holds\n")


def test_unknown_name(run: Runner) -> None:
    outcome = run("show", "simpel")
    assert outcome.status == 2
    assert outcome.err.endswith("  = hint: did you mean `simple`?\n")


def test_source(run: Runner, models: Path) -> None:
    assert run("show", "axpy.aspen", "--source") == (0, (models / "axpy.aspen").read_text(encoding="utf-8"), "")
    (models / "odd.aspen").write_text("model $", encoding="utf-8")
    assert run("show", "odd.aspen", "--source") == (0, "model $\n", "")
    refused = run("show", "axpy.aspen", "--source", "--format", "json")
    assert refused == (2, "", "aspenpy: --source and --format json are two ways to show a model\n")
