"""`aspenpy roofline`: its page, object, rows, script and picture."""

import csv
import io
import json
from itertools import combinations
from math import dist
from pathlib import Path

import pytest

from aspenpy.report.roofline_picture import CROWDED, label_offsets
from aspenpy.tables.drawing import spread_apart
from tests.cli.conftest import Runner, models, run

__all__ = ["models", "run"]

PAGE = """\
roofline of Cluster, socket Processor

ceilings (ridge: the flop/B from which on they hold)
  flops as       of one     of all  ridge with Memory  component
  ────────  ───────────  ─────────  ─────────────────  ─────────
  plain       1 Gflop/s  8 Gflop/s                0.4  Core
  dp        500 Mflop/s  4 Gflop/s                0.2  Core

bandwidths
  memory  resource       as   of one   of all
  ──────  ─────────────  ──  ───────  ───────
  Memory  loads, stores      10 GB/s  20 GB/s

below them
  kernel   time  flop/B    attainable  bound by           predicted  of the roof  bottleneck
  ──────  ─────  ──────  ────────────  ──────────────  ────────────  ───────────  ──────────
  axpy    15 us  0.0833  1.67 Gflop/s  loads + stores  1.33 Gflop/s       80.0 %  loads
    axpy  12 us  0.0833  1.67 Gflop/s  loads + stores  1.67 Gflop/s      100.0 %  loads
"""
"""20 kflop and 240 kB: 12 us at 20 GB/s, 15 us with the message."""

ON = ("roofline", "axpy.aspen", "--machine", "cluster.aspen")


def test_page(run: Runner) -> None:
    assert run(*ON) == (0, PAGE, "")
    assert run("roofline", "--machine", "cluster.aspen").out == PAGE[: PAGE.index("\nbelow them")]


def test_json(run: Runner) -> None:
    found = json.loads(run(*ON, "--format", "json").out)
    assert (found["machine"], found["socket"]) == ("Cluster", "Processor")
    plain, double = found["compute"]
    assert (double["traits"], double["rate"], double["count"]) == (["dp"], pytest.approx(4e9), 8)
    assert plain["ridges"] == {"Memory": pytest.approx(0.4)}
    assert [item["rate"] for item in found["memory"]] == [pytest.approx(2e10)]
    whole, kernel = found["points"]
    assert (whole["kernel"], kernel["kernel"]) == (None, "axpy")
    assert (whole["flops"], whole["bytes"], whole["predicted"]) == (20000, 240000, pytest.approx(20e3 / 15e-6))


def test_csv(run: Runner) -> None:
    rows = list(csv.DictReader(io.StringIO(run(*ON, "--format", "csv").out)))
    assert [row["kind"] for row in rows] == ["compute", "compute", "memory", "application", "kernel"]
    assert float(rows[-1]["attainable"]) == pytest.approx(20e3 / 12e-6)


@pytest.mark.parametrize(("suffix", "begins"), [(".svg", b"<?xml"), (".png", b"\x89PNG")])
def test_picture(run: Runner, models: Path, suffix: str, begins: bytes) -> None:
    pytest.importorskip("matplotlib", reason="the extra `plot` is not installed")
    assert run(*ON, "--picture", f"roof{suffix}").status == 0
    drawn = (models / f"roof{suffix}").read_bytes()
    assert drawn.startswith(begins)
    if suffix == ".svg":
        roof = (b"roof of what runs:", b"all 8 Core", b"all 2 Memory", b"dp: 4 Gflop/s", b"Memory: 20 GB/s")
        assert all(text in drawn for text in (*roof, b"2  axpy"))


def test_labels_keep_apart() -> None:
    assert spread_apart([0.1, 0.11, 0.5], 0.03) == pytest.approx([0.1, 0.13, 0.5])
    assert spread_apart([0.97, 0.98], 0.05) == pytest.approx([0.95, 1.0])
    places = [(2.0, 2.0), (2.02, 2.0), (2.04, 2.0), (4.0, 2.0), (2.0, 3.0)]
    name = [(3.9 + 0.05 * step, 1.83) for step in range(9)]
    numbers = [(x + right, y + up) for (x, y), (right, up) in zip(places, label_offsets(places, name), strict=True)]
    assert all(dist(number, each) >= CROWDED for number in numbers for each in [*places, *name])
    assert all(dist(*pair) >= CROWDED for pair in combinations(numbers, 2))
    assert all(dist(*pair) < 0.4 for pair in zip(places, numbers, strict=True))
    assert numbers[4] == pytest.approx((2.0, 3.0 - 1.3 * CROWDED))  # below where nothing is near


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--socket", "Procesor"), "did you mean `Processor`?"),
        (("--set", "clok=1"), "did you mean `clock`?"),
        (("--picture", "roof.bmp"), "cannot draw `roof.bmp`"),
        (("axpi",), "there is no file and no application in the library called `axpi`"),
    ],
)
def test_refused(run: Runner, arguments: tuple[str, ...], said: str) -> None:
    outcome = run("roofline", "--machine", "cluster.aspen", *arguments)
    assert outcome.status == 2
    assert said in outcome.err
