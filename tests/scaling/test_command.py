"""`aspenpy scale`: its page, object, rows and picture."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from tests.cli.conftest import Runner, models, run
from tests.scaling.test_scaling import CLUSTER, WORK

__all__ = ["models", "run"]

ON = ("scale", "work.aspen", "--machine", "net.aspen")

PAGE = """\
strong scaling of work on cluster

ranks     `ranks` from 1 to 4
fastest   4 ranks, 254 us
expected  195 us to 565 us on 4 ranks in nine of ten cases bound by operations
calls     allreduce, talk: the longest first, on 4 ranks

ranks    time  speedup  efficiency  communication  bound by       longest calls
─────  ──────  ───────  ──────────  ─────────────  ─────────────  ─────────────────────────
    1    1 ms        1     100.0 %          0.0 %  flops on lane
    2  503 us     1.99      99.4 %          0.6 %  flops on lane  talk 2 us, allreduce 1 us
    4  254 us     3.94      98.4 %          1.6 %  flops on lane  allreduce 2 us, talk 2 us
"""


@pytest.fixture(autouse=True)
def both(models: Path) -> None:
    (models / "work.aspen").write_text(WORK, encoding="utf-8")
    (models / "net.aspen").write_text(CLUSTER, encoding="utf-8")


def test_page(run: Runner) -> None:
    assert run(*ON, "--ranks", "1..4") == (0, PAGE, "")


def test_weak_page(run: Runner) -> None:
    out = run(*ON, "--ranks", "1,4", "--weak", "--problem", "n", "--isoefficiency", "0.9").out
    assert "problem   n grows with the ranks" in out
    assert "problem for 90.0 %" in out
    assert "fastest" not in out


@pytest.mark.parametrize(
    ("problem", "goes"),
    [
        (("n",), "n grows with the ranks: n = 8,000,000 on 8"),
        (("n,n,n",), "n * n * n grows with the ranks: n = 2,000,000 on 8"),
        (("n", "--per-rank"), "n of each rank stays"),
    ],
)
def test_the_problem_of_weak_scaling(run: Runner, problem: tuple[str, ...], goes: str) -> None:
    """On eight times as many ranks: a cube of eight times the points has an edge of twice the length."""
    assert f"problem   {goes}\n" in run(*ON, "--ranks", "1,8", "--weak", "--problem", *problem).out


def test_json(run: Runner) -> None:
    found = json.loads(run(*ON, "--ranks", "1..1k", "--format", "json").out)
    assert (found["mode"], found["parameter"], found["optimal_ranks"], found["turns"]) == ("strong", "ranks", 512, True)
    assert found["dominant_calls"] == ["allreduce", "talk"]
    assert [point["ranks"] for point in found["points"]] == [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1000]
    four = found["points"][2]
    assert four["time"] == pytest.approx(254e-6)
    assert four["efficiency"] == pytest.approx(1 / 4 / 0.254)
    assert four["communication_share"] == pytest.approx(4 / 254)
    assert four["calls"] == pytest.approx({"allreduce": 2e-6, "talk": 2e-6})


def test_csv(run: Runner) -> None:
    rows = list(csv.DictReader(io.StringIO(run(*ON, "--ranks", "1,2", "--format", "csv").out)))
    assert [float(row["time"]) for row in rows] == pytest.approx([1e-3, 503e-6])
    assert float(rows[1]["allreduce"]) == pytest.approx(1e-6)


@pytest.mark.parametrize("mode", ["--strong", "--weak"])
def test_picture(run: Runner, models: Path, mode: str) -> None:
    assert run(*ON, "--ranks", "1..64", mode, "--problem", "n", "--picture", "scale.svg").status == 0
    drawn = (models / "scale.svg").read_text(encoding="utf-8")
    assert f"{mode[2:]} scaling of work on cluster" in drawn
    assert "of it, communication" in drawn
    assert ("fastest, on 64" in drawn) is (mode == "--strong")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--ranks", "0..8"), "--ranks: expected whole numbers from 1 on, such as 1..8M or 1,8,64, not `0..8`"),
        (("--ranks", "many"), "--ranks: expected whole numbers from 1 on, such as 1..8M or 1,8,64, not `many`"),
        (("--ranks", "8..1"), "--ranks: 8..1 has nothing in it"),
        (("--ranks", "8", "--strong", "--weak"), "--strong and --weak exclude each other"),
        (("--ranks", "8", "--isoefficiency", "2"), "--isoefficiency: an efficiency is above 0 and 1 at most, not 2"),
    ],
)
def test_mistakes(run: Runner, arguments: tuple[str, ...], message: str) -> None:
    assert run(*ON, *arguments) == (2, "", f"aspenpy: {message}\n")
