"""The options that say where ranks live, on every command whose answer depends on it: against arithmetic by hand."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Runner, models, run

__all__ = ["models", "run"]

MACHINE = """
machine g { node [2] box }
node box { socket [4] gpu }
socket gpu { property rank core [100] sm memory hbm static power [50] dynamic power [100] }
core sm { resource flops(n) [n/1e9] dynamic power [3] }
memory hbm { resource loads(b) [b/1e12] property capacity [1e12] property bandwidth [1e12] }
"""

WORK = """
model w {
  param parts = 1000 in 100 .. 2000
  param ranks = 4 in 1 .. 8
  param each = 1e9 in 1e6 .. 1e12
  data x [8]
  kernel main { execute [ranks] of [parts] "work" { flops [each] } }
}
"""

ON_DEVICES, ON_CORES = 0.01, 1.0
"""Seconds of a rank's 1e9 flops on the 100 cores of a device, in ten turns of 1000 parts, and on one of them."""


@pytest.fixture(autouse=True)
def ranks(models: Path) -> None:
    (models / "g.aspen").write_text(MACHINE, encoding="utf-8")
    (models / "h.aspen").write_text(
        MACHINE.replace("machine g", "machine h").replace("n/1e9", "n/2e9"), encoding="utf-8"
    )
    (models / "w.aspen").write_text(WORK, encoding="utf-8")
    (models / "measured.csv").write_text("ranks,runtime\n1,1\n2,1\n", encoding="utf-8")


ON_G = ("w.aspen", "--machine", "g.aspen")
TABLES = ("--format", "json")
SECONDS = {
    "eval": lambda found: found["runtime"]["value"],
    "explain": lambda found: found["runtime"]["value"],
    "profile": lambda found: found["runtime"]["value"],
    "trace": lambda found: found["steps"][0]["duration"],
    "scale": lambda found: found["points"][0]["time"],
    "sweep": lambda found: found["metrics"]["runtime"]["least"]["value"],
    "compare": lambda found: found["machines"][0]["runtime"]["value"],
}
MORE = {"scale": ("--ranks", "1..4"), "sweep": ("--over", "ranks=1,2,4")}


@pytest.mark.parametrize("command", SECONDS)
@pytest.mark.parametrize(("options", "seconds"), [((), ON_DEVICES), (("--ranks-on", "core"), ON_CORES)])
def test_each_command_takes_the_options(run: Runner, command: str, options: tuple[str, ...], seconds: float) -> None:
    asked = ON_G if command != "compare" else ("w.aspen", "--machine", "g.aspen,h.aspen")
    outcome = run(command, *asked, *MORE.get(command, ()), *TABLES, *options)
    assert outcome.status == 0, outcome.err
    assert SECONDS[command](json.loads(outcome.out)) == pytest.approx(seconds, rel=1e-12)


COMMANDS = {
    "expr": (*ON_G, "--free", "parts"),
    "energy": (*ON_G, "--charged", "machine"),
    "place": ON_G,
    "optimise": (*ON_G, "--minimise", "runtime", "--vary", "ranks=1..4"),
    "sensitivity": (*ON_G, "--vary", "parts=150..1000", "--method", "normalised"),
    "roofline": ("w.aspen", "--machine", "g.aspen"),
    "fit": ("w.aspen", "measured.csv", "--machine", "g.aspen", "--vary", "each"),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_what_ranks_occupy_changes_the_answer(run: Runner, command: str) -> None:
    outcomes = [run(command, *COMMANDS[command], *options) for options in ((), ("--ranks-on", "core"))]
    assert [outcome.status for outcome in outcomes] == [0, 0], outcomes[0].err
    assert outcomes[0].out != outcomes[1].out


def test_a_command_that_needs_no_times_takes_them(run: Runner) -> None:
    assert run("memory", *ON_G, "--ranks-on", "core").status == 0


def test_sweeps_of_other_ranks_are_other_sweeps(run: Runner) -> None:
    asked = ("sweep", *ON_G, "--over", "ranks=1,2,4", *TABLES)
    hashes = [json.loads(run(*asked, *options).out)["model_hash"] for options in ((), (), ("--ranks-on", "core"))]
    assert hashes[0] == hashes[1] != hashes[2]


def test_json_says_where_ranks_live(run: Runner) -> None:
    def ranks(*options: str) -> Any:
        return json.loads(run("eval", *ON_G, *TABLES, *options).out)["ranks"]

    counts = {"ranks": 4, "nodes": 1, "of_node": 4, "sockets": 4, "of_socket": 1}
    assert ranks() == {"on": "gpu", "per_node": None, "distribution": "compact", **counts}
    assert ranks("--ranks-on", "core", "--ranks-per-node", "7", "--distribution", "scatter") == {
        "on": "sm",
        "per_node": 7,
        "distribution": "scatter",
        "ranks": 4,
        "nodes": 1,
        "of_node": 4,
        "sockets": 4,
        "of_socket": 1,
    }


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--ranks-per-node", "0"), "expected a whole number from 1 on, not `0`"),
        (("--ranks-per-node", "-3"), "expected a whole number from 1 on, not `-3`"),
        (("--ranks-per-node", "1.5"), "expected a whole number from 1 on, not `1.5`"),
        (("--ranks-per-node", "many"), "expected a whole number from 1 on, not `many`"),
        (("--ranks-per-node", "9" * 5000), f"expected a whole number from 1 on, not `{'9' * 60}`"),
        (("--ranks-per-node", "1" + "0" * 20), "1e+20 ranks on a node, and it has places for 4"),
        (("--ranks-on", ""), "no `` with cores for a rank to occupy"),
        (
            ("--distribution", "compcat"),
            "unknown distribution of ranks `compcat`",
        ),
    ],
)
def test_what_is_refused(run: Runner, options: tuple[str, ...], says: str) -> None:
    outcome = run("eval", *ON_G, *options)
    assert (outcome.status, outcome.out) == (2, "")
    assert says in outcome.err


@pytest.mark.parametrize("option", [("--ranks-on", "core"), ("--ranks-per-node", "2"), ("--distribution", "cyclic")])
def test_they_are_refused_without_a_machine(run: Runner, option: tuple[str, str]) -> None:
    outcome = run("memory", "w.aspen", *option)
    assert outcome.status == 2
    assert outcome.err.endswith("--machine M says which\n")


def test_machines_that_are_swept_over_take_them(run: Runner) -> None:
    outcome = run("sweep", "w.aspen", "--over", "machine=g.aspen,h.aspen", "--ranks-on", "core", *TABLES)
    least = json.loads(outcome.out)["metrics"]["runtime"]["least"]["value"]
    assert least == pytest.approx(ON_CORES / 2, rel=1e-12)


def test_scaling_beyond_the_machine_tells_both_numbers(run: Runner) -> None:
    outcome = run("scale", *ON_G, "--ranks", "16")
    assert "16 ranks, and `g` has places for 8: each occupies a socket, `gpu`" in outcome.err


def test_a_session_has_them_as_commands(run: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = ("bind core", "undo", "ranks-per-node 2", "distribution scatter", "ranks-per-node", "set ranks=9")
    monkeypatch.setattr(sys, "stdin", io.StringIO("\n".join(lines)))
    outcome = run("repl", *ON_G)
    assert outcome.out.splitlines() == [
        "runtime 1 s, 100 times the baseline (10 ms)",
        "undone `bind core`: runtime 10 ms, the same as the baseline",
        *3 * ["runtime 10 ms, the same as the baseline"],
    ]
    assert "run fewer, `set ranks=8`, or let each occupy less, `bind core`" in outcome.err


def test_explain_shows_over_how_many_cores_each_rank_is_spread(run: Runner) -> None:
    """150 parts on 100 cores take two turns: 75 at work on average, 1e9/75 flops each."""
    page = run("explain", *ON_G, "--set", "parts=150").out
    assert "  each is spread over    75 cores\n" in page
    assert "  a core of each takes   13.3 ms\n  all of them take       as long\n" in page
    (step,) = json.loads(run("explain", *ON_G, "--set", "parts=150", *TABLES).out)["steps"]
    assert step["spread"] == 75
    page = run("explain", *ON_G, "--ranks-on", "core").out
    assert "  each is spread over    1 core\n" in page


def test_a_formula_has_no_more_in_it_than_the_ranks_need(run: Runner) -> None:
    formula = run("expr", *ON_G, "--free", "ranks,each", "--ranks-on", "core").out
    assert formula == "min(1, ceil(if(ranks <= 800, ranks, undefined)))*(each/1e9)\n"


def test_a_trace_says_in_how_many_parts_a_rank_shares_its_work_out(run: Runner) -> None:
    assert 'block "work" in 4 instances of 1,000 parts' in run("trace", *ON_G).out
    assert 'block "work" in 1 instance of 1,000 parts' in run("trace", *ON_G, "--set", "ranks=1").out
    block = json.loads(run("trace", *ON_G, *TABLES).out)["steps"][1]
    assert block["values"] == {"instances": 4, "width": 1000}


def test_parallelism_counts_the_parts(run: Runner) -> None:
    assert run("parallelism", "w.aspen").out.startswith("w: main has up to 4,000 parts at once\n")
    (block,) = json.loads(run("parallelism", "w.aspen", *TABLES).out)["blocks"]
    assert (block["instances"], block["width"], block["together"]) == (4, 1000, 4000)


SHARED = MACHINE.replace("[4] gpu }", "[4] gpu memory hbm }").replace("sm memory hbm", "sm")


@pytest.mark.parametrize(
    ("machine", "ranks", "options", "fullest"),
    [
        (MACHINE, 4, (), 250e9),
        (MACHINE, 1, (), 1000e9),
        (MACHINE, 4, ("--ranks-on", "core"), 1000e9),  # all on the first device
        (SHARED, 5, (), 800e9),  # four of five in the first node
        (SHARED, 6, ("--distribution", "scatter"), 500e9),
        (SHARED, 1, ("--ranks-on", "machine"), 500e9),  # one rank has both memories
    ],
)
def test_memory_of_the_fullest_device(
    run: Runner, models: Path, machine: str, ranks: int, options: tuple[str, ...], fullest: float
) -> None:
    (models / "g.aspen").write_text(machine.replace("capacity [1e12]", "capacity [600e9]"), encoding="utf-8")
    (models / "w.aspen").write_text(
        WORK.replace("x [8]", "x [1e12]").replace("flops [each]", "loads [each] from x"), encoding="utf-8"
    )
    outcome = run("memory", *ON_G, "--set", f"ranks={ranks}", *options, *TABLES)
    assert outcome.status == 0, outcome.err
    found = json.loads(outcome.out)
    assert found["memories"][0]["fullest"] == pytest.approx(fullest, rel=1e-12)
    assert found["memory"]["fits"] is (fullest <= 600e9)
    told = [item["message"] for item in found["diagnostics"]]
    held = {1000e9: "1 TB", 800e9: "800 GB"}.get(fullest)
    assert told == ([f"the ranks of `main` have {held} on one `hbm`, which holds 600 GB"] if held else [])
    predicted = json.loads(run("eval", *ON_G, "--set", f"ranks={ranks}", *options, *TABLES).out)["diagnostics"]
    assert told == [item["message"] for item in predicted if item["code"] == "exceeds-memory"]


def test_scaling_says_what_ranks_have_and_what_limits_them(run: Runner, models: Path) -> None:
    """A rank's share of 1e12 flops takes 1e12/ranks/1e11 s on 100 cores; 2e9 bytes 2 ms on a device, however many."""
    (models / "w.aspen").write_text(WORK.replace("flops [each]", "flops [1e12/ranks] loads [2e12]"), encoding="utf-8")
    outcome = run("scale", *ON_G, "--ranks", "1..8")
    assert "each rank has  a socket, `gpu`; compact\n" in outcome.out
    points = json.loads(run("scale", *ON_G, "--ranks", "1..8", *TABLES).out)["points"]
    assert [point["time"] for point in points] == pytest.approx([10, 5, 2.5, 2])
    assert [point["bound_by"] for point in points] == ["flops", "flops", "flops", "loads"]
    assert [point["component"] for point in points] == [*3 * ["g/box/gpu/sm"], "g/box/gpu/hbm"]
    assert [point["efficiency"] for point in points] == pytest.approx([1, 1, 1, 10 / 16])


def test_other_answers_say_where_ranks_live(run: Runner) -> None:
    counts = {"ranks": 4, "nodes": 1, "of_node": 4, "sockets": 1, "of_socket": 4}
    there = {"on": "sm", "per_node": None, "distribution": "compact", **counts}
    energy = json.loads(run("energy", *ON_G, "--ranks-on", "core", *TABLES).out)
    assert energy["ranks"] == there
    compared = json.loads(run("compare", "w.aspen", "--machine", "g.aspen,h.aspen", "--ranks-on", "core", *TABLES).out)
    assert [item["ranks"] for item in compared["machines"]] == [there, there]
    asked = ("sweep", *ON_G, "--over", "ranks=1,2", *TABLES, "--ranks-on", "core", "--ranks-per-node", "3")
    assert json.loads(run(*asked).out)["ranks"] == "bind=core, ranks_per_node=3"
