"""`aspenpy sweep`: what it prints, draws and refuses."""

import json
import subprocess

import numpy
import pytest

from aspenpy.report.sweep import axis_scale
from tests.cli.conftest import Runner

ON = ("sweep", "axpy.aspen", "--machine", "cluster.aspen")

PAGE = """\
axpy on Cluster: runtime over n (3), 3 points

metric   least  median  largest
───────  ─────  ──────  ───────
runtime   3 us   15 us   123 us

expected  no interval for the least; never compared with runs: messages (100.0 % of runtime)

at the                n
───────────────  ──────
least runtime         0
largest runtime  10,000
"""
"""12 ns for each of n and 3 us for the message."""


def test_page(run: Runner) -> None:
    assert run(*ON, "--over", "n=0,1000,10k") == (0, PAGE, run(*ON, "--over", "n=0,1000,10k").err)
    assert "warning: `n` is 0, outside its range 1 .. 1000000" in run(*ON, "--over", "n=0,1000").err


def test_points_without_a_value(run: Runner) -> None:
    found = run(*ON, "--over", "clock=0,1e9", "--over", "n=-1,1000")
    assert found.status == 0
    why = "a block cannot run in -1 parallel instances: the parallelism must not be negative"
    assert [" ".join(line.split()) for line in found.out.splitlines()[-4:]] == [
        "no value points share first at clock first at n",
        " ".join("─" * width for width in (len(why), 6, 6, 14, 10)),
        "division by zero 1 25.0 % 0 Hz 1,000",
        f"{why} 2 50.0 % 0 Hz -1",
    ]


def test_a_picture_that_cannot_be_drawn_costs_no_sweep(run: Runner) -> None:
    found = run(*ON, "--over", "n=0,1000", "--picture", "p.bmp")
    assert (found.status, found.out) == (2, "")
    assert "the name of a picture ends with .svg, .png, .pdf" in found.err


def test_object(run: Runner) -> None:
    found = json.loads(run(*ON, "--over", "n=1000,2000", "--metric", "runtime,flops", "--format", "json").out)
    assert found["metrics"]["runtime"]["least"] == {"value": pytest.approx(15e-6, rel=1e-12), "at": {"n": 1000}}
    assert found["metrics"]["flops"]["largest"] == {"value": 40000, "at": {"n": 2000}}
    assert (found["points"], found["dimensions"]) == (2, {"n": 2})


@pytest.mark.parametrize("axes", [["n"], ["n", "clock=1e9..2e9:20"], ["n=10..1000", "machine=cluster.aspen,haswell"]])
def test_picture(run: Runner, models, axes: list[str]) -> None:
    pytest.importorskip("matplotlib")
    over = [argument for axis in axes for argument in ("--over", axis)]
    assert run(*ON, *over, "--picture", "p.svg").status == 0
    text = (models / "p.svg").read_text(encoding="utf-8")
    assert ">runtime<" in text or ">runtime: " in text
    assert (">haswell<" in text) == ("machine=" in axes[-1])


@pytest.mark.parametrize(
    ("points", "scale"),
    [
        ([128, 256, 512, 1024], "log"),
        ([128, 160, 200, 250, 312], "log"),  # equal ratios, rounded
        ([10, 20, 30, 40], "linear"),
        ([1, 25, 49], "linear"),
        ([1, 100], "log"),
        ([3, 1, 2], "linear"),
        ([0, 1, 1000], "linear"),
    ],
)
def test_points_in_equal_ratios_are_drawn_so(points: list[int], scale: str) -> None:
    assert axis_scale(numpy.array(points)) == scale


def test_nothing_but_the_summary_where_results_are_too_large(run: Runner) -> None:
    found = run(*ON, "--over", "n=1..9:real:100", "--memory-limit", "500B")
    assert found.status == 0
    assert "median" in found.out
    assert run(*ON, "--over", "n=1..9:real:100", "--memory-limit", "500B", "--picture", "p.svg").err.startswith(
        "error: too many points for a picture"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "aspenpy: a sweep goes over something: --over n=1k..1M:log:200\n"),
        (["--over", "n", "--over", "n"], "aspenpy: --over: there are two axes `n`\n"),
        (
            ["--over", "n", "--samples", "many"],
            "aspenpy: --samples: expected a whole number from 1 on, not `many`; "
            "`aspenpy sweep --help` says what it takes\n",
        ),
        (
            ["--over", "n", "--memory-limit", "3 s"],
            "aspenpy: --memory-limit: expected a size, such as 500MB or 1GiB, not `3 s`; "
            "`aspenpy sweep --help` says what it takes\n",
        ),
        (
            ["--over", "n", "--metric", "a,,b"],
            "aspenpy: --metric: expected different names with commas between them, not `a,,b`\n",
        ),
        (["--over", "n", "--resume"], "aspenpy: --resume belongs to -o FILE: it takes up what was begun there\n"),
        (
            ["--over", "n=9..1"],
            "error: the range of `n` is empty: 9 is above 1\n --> <--over>:1:1\n"
            "1 | n=9..1\n  | ^^^^^^\n  = hint: the lower end comes first: n=1..9\n",
        ),
        (
            ["--over", "n=0..1:log"],
            "error: `n` cannot go from 0 in equal ratios\n --> <--over>:1:1\n"
            "1 | n=0..1:log\n  | ^^^^^^^^^^\n  = hint: begin above 0, or say :lin\n",
        ),
        (
            ["--over", "speed"],
            "error: unknown parameter `speed`\n  = hint: did you mean `Core.speed`?\n",
        ),
        (
            ["--over", "n=0,m"],
            "error: unknown name `m`\n --> <n>:1:1\n1 | m\n  | ^\n  = hint: the parameters are Core.speed, clock, n\n",
        ),
        (
            ["--over", "clock=0,1", "--fail-fast"],
            "error: division by zero\n  --> cluster.aspen:21:26\n"
            "21 |   resource flops(count) [count/(speed*1 flop)] with dp [base*2]\n"
            "   |                          ^^^^^^^^^^^^^^^^^^^^\n  = at clock = 0\n",
        ),
        (
            ["--over", "n", "-o", "r.xls"],
            "error: cannot tell the format of `r.xls` from its name\n"
            "  = hint: the name of a result ends with .npz, .csv, .json, .parquet, .nc, .zarr\n",
        ),
    ],
)
def test_refused(run: Runner, arguments: list[str], message: str) -> None:
    assert run(*ON, *arguments) == (2, "", message)


def test_a_pipe_sees_nothing_but_the_summary(spawn) -> None:
    process: subprocess.Popen[bytes] = spawn(*ON, "--over", "n")
    out, err = process.communicate()
    assert (process.returncode, err) == (0, b"")
    assert b"\x1b" not in out
