"""`aspenpy rdd`: its page, files, object and picture, and one message for each mistake."""

import json
import os
import re
from pathlib import Path

import numpy as np
import pytest

from aspenpy.traces.histogram import read_histogram
from tests.cli.conftest import Runner, models, run

__all__ = ["models", "run"]

TRACE = " L 1000,8\n L 1040,8\n L 1000,8\n S 1078,16\n S 1040,8\n L 1000,8\n"
"""Lines 40 41 40 41 42 41 40: first, first, 1, 1, first, 1, 2; the 16 bytes at 1078 lie in two lines."""

PAGE = """\
reuse distances of a.trace, in lines of 64 B

references to  addresses        references  first ones  median distance
─────────────  ───────────────  ──────────  ──────────  ───────────────
all                                      7           3                2
x              0x1000 - 0x1040           3           1                2

all (misses: of a fully associative LRU cache)
  distance  references  of all  cumulative  cache   misses
  ────────  ──────────  ──────  ──────────  ─────  ───────
         0           0   0.0 %       0.0 %   64 B  100.0 %
         1           3  42.9 %      42.9 %  128 B   57.1 %
     2 - 3           1  14.3 %      57.1 %  256 B   42.9 %
     first           3  42.9 %     100.0 %

x (misses: of a fully associative LRU cache)
  distance  references  of all  cumulative  cache   misses
  ────────  ──────────  ──────  ──────────  ─────  ───────
         0           0   0.0 %       0.0 %   64 B  100.0 %
         1           1  33.3 %      33.3 %  128 B   66.7 %
     2 - 3           1  33.3 %      66.7 %  256 B   33.3 %
     first           1  33.3 %     100.0 %
"""

FILE = """\
# reuse distances of: a.trace
# line_bytes: 64
# references: 7
# distance: other lines touched since the last reference to the line; inf: the first reference to it
distance,count,cumulative
1,3,0.42857142857142855
2,1,0.5714285714285714
inf,3,1
"""

X = ("--region", "x=0x1000-4160")


@pytest.fixture(autouse=True)
def trace(models: Path) -> Path:
    (models / "a.trace").write_text(TRACE, encoding="utf-8")
    return models / "a.trace"


def test_page(run: Runner) -> None:
    assert run("rdd", "a.trace", *X) == (0, PAGE, "")


def test_files(run: Runner, models: Path) -> None:
    outcome = run("rdd", "a.trace", "-o", "out.csv", *X)
    assert outcome == (0, PAGE + "\nout.csv is written\nout.x.csv is written\n", "")
    assert (models / "out.csv").read_text(encoding="utf-8") == FILE
    assert (read_histogram(models / "out.csv").distances, read_histogram(models / "out.x.csv").distances) == (
        (1, 2),
    ) * 2
    assert "# addresses: x, from 0x1000 up to 0x1040\n" in (models / "out.x.csv").read_text(encoding="utf-8")


def test_range_without_references(run: Runner, models: Path) -> None:
    outcome = run("rdd", "a.trace", "-o", "out.csv", "--region", "y=0-16")
    assert outcome.status == 0
    assert outcome.err == "warning: no reference to the range `y` is counted: `out.y.csv` is not written\n"
    assert not (models / "out.y.csv").exists()


def test_json(run: Runner) -> None:
    found = json.loads(run("rdd", "a.trace", *X, "--format", "json").out)
    assert (found["distances"], found["counts"], found["cold"], found["references"]) == ([1, 2], [3, 1], 3, 7)
    (part,) = found["ranges"]
    assert (part["name"], part["low"], part["high"], part["counts"]) == ("x", 0x1000, 0x1040, [1, 1])


def test_options(run: Runner) -> None:
    assert re.search("^all +3 +2 ", run("rdd", "a.trace", "--kinds", "stores").out, re.M)
    assert re.search("^all +3 +1 ", run("rdd", "a.trace", "--count", "stores").out, re.M)
    assert "in lines of 4096 B" in run("rdd", "a.trace", "--line", "4096").out


def test_sample(run: Runner, models: Path) -> None:
    np.tile(np.arange(0, 64 * 20_000, 64, dtype="<u8"), 3).tofile(models / "sweep")
    outcome = run("rdd", "sweep", "--sampling-rate", "0.1", "-o", "out.csv", "--bins", "log")
    assert "estimated from 10 % of the lines; standard error of a distance d: sqrt(9 d) lines" in outcome.out
    assert "standard error\n" in outcome.out
    assert read_histogram(models / "out.csv").cold == pytest.approx(1 / 3, rel=0.15)  # 4 sigma of 2000 sampled lines


@pytest.mark.parametrize(("suffix", "begins"), [(".svg", b"<?xml"), (".png", b"\x89PNG")])
def test_picture(run: Runner, models: Path, suffix: str, begins: bytes) -> None:
    pytest.importorskip("matplotlib", reason="the extra `plot` is not installed")
    assert run("rdd", "a.trace", *X, "--picture", f"out{suffix}").status == 0
    drawn = (models / f"out{suffix}").read_bytes()
    assert drawn.startswith(begins)
    if suffix == ".svg":
        assert all(text in drawn for text in (b"reuse distances of a.trace", b"2-3", b"first", b"256 B", b">x<"))


def test_picture_of_a_trace_without_reuse(run: Runner, models: Path) -> None:
    """In a file whose name is no formula."""
    pytest.importorskip("matplotlib", reason="the extra `plot` is not installed")
    (models / "$a_$b$").write_text(" L 1000,8\n", encoding="utf-8")
    assert run("rdd", "$a_$b$", "--picture", "out.svg").status == 0
    assert "reuse distances of $a_$b$" in (models / "out.svg").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("none",), "error: file not found: `none`\n"),
        ((".",), "error: `.` is a folder, not a file\n"),
        (
            ("axpy.aspen",),
            "error: `axpy.aspen` is in no format that is known: it begins with `// axpy: y = a*x",
        ),
        (
            ("a.trace", "--trace-format", "dinero"),
            "error: `a.trace`, line 1: `L 1000,8` is not a reference\n",
        ),
        (("a.trace", "-o", "none/a.csv"), "error: cannot write `none/a.csv`: no such file or directory\n"),
        (("a.trace", "-o", "."), "error: cannot write `.`: is a directory\n"),
        (("a.trace", "--picture", "a.bmp"), "aspenpy: cannot draw `a.bmp`: the name of a picture ends with .svg"),
        (
            ("a.trace", "--line", "60"),
            "error: a line cannot have 60 bytes\n  = hint: its size is a power",
        ),
        (
            ("a.trace", "--region", "x=5"),
            "aspenpy: --region: expected NAME=LOW-HIGH, such as A=0x1000-0x2000, not `x",
        ),
        (("a.trace", *X, *X), "aspenpy: --region: there are two ranges `x`\n"),
        (("a.trace", "--region", "x=9-5"), "error: the range `x` holds no 64-bit address\n"),
        (("a.trace", "--kinds", "lods"), "error: kinds: there are no references called `lods`\n  = hint: did you mean"),
        (("a.trace", "--count", "instructions"), "error: count: instructions do not take part\n"),
        (("a.trace", "--sampling-rate", "2"), "error: a sample cannot be 2 of the lines\n"),
        (("a.trace", "--kinds", "instructions"), "error: `a.trace` holds no instructions\n"),
    ],
)
def test_refused(run: Runner, models: Path, arguments: tuple[str, ...], said: str) -> None:
    before = sorted(models.iterdir())
    outcome = run("rdd", *arguments)
    assert (outcome.status, outcome.out) == (2, "")
    assert outcome.err.startswith(said)
    assert sorted(models.iterdir()) == before


def test_unwritable_folder(run: Runner, models: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may write everywhere")
    models.chmod(0o500)
    outcome = run("rdd", "a.trace", "-o", "a.csv")
    models.chmod(0o700)
    assert outcome.err == "error: cannot write `a.csv`: permission denied\n"
