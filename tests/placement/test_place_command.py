"""`aspenpy place`: its page, object and rows, and what it refuses. The numbers are worked out in `test_placement`."""

import csv
import io
import json
from pathlib import Path

import pytest

from tests.cli.conftest import Runner, models, run
from tests.placement.test_placement import DATA, NODE, WORK

__all__ = ["models", "run"]

PAGE = """\
work on M: main takes 28 s

transfers take 8 s

kernel  socket  calls  time  moved for it   in
──────  ──────  ─────  ────  ────────────  ───
first   gpu         1  10 s           8 B  4 s
second  cpu         1  10 s           8 B  4 s

transfers
  data  from  to   times  volume   in
  ────  ────  ───  ─────  ──────  ───
  a     cpu   gpu      1     8 B  4 s
  a     gpu   cpu      1     8 B  4 s

beside it
  placement   runtime  times this
  ──────────  ───────  ──────────
  this           28 s           1
  all on cpu    110 s        3.93
  all on gpu     15 s       0.536
"""

ON = ("place", "work.aspen", "--machine", "node.aspen")


@pytest.fixture(autouse=True)
def files(models: Path) -> None:
    (models / "work.aspen").write_text(
        f"model work {{ {DATA} {WORK} kernel main {{ call first call second }} }}", encoding="utf-8"
    )
    (models / "node.aspen").write_text(NODE, encoding="utf-8")


def test_page(run: Runner) -> None:
    assert run(*ON, "--on", "first=gpu") == (0, PAGE, "")


def test_best(run: Runner) -> None:
    title, _, summary, *_ = run(*ON).out.splitlines()
    assert title == "work on M: main takes 15 s"
    assert summary == "the fastest of all placements (dynamic programming, 6 steps priced); transfers take 4 s"
    assert run(*ON, "--on", "first=cpu", "--best").out.startswith("work on M: main takes 105 s")


def test_json(run: Runner) -> None:
    found = json.loads(run(*ON, "--on", "first=gpu", "--format", "json").out)
    assert found["runtime"] == {"value": pytest.approx(28), "unit": "s"}
    assert found["transfer"]["value"] == pytest.approx(8)
    assert [(item["name"], item["socket"], item["moved"]["value"]) for item in found["kernels"]] == [
        ("first", "gpu", 8),
        ("second", "cpu", 8),
    ]
    assert [(item["from"], item["to"], item["times"]) for item in found["transfers"]] == [
        ("cpu", "gpu", 1),
        ("gpu", "cpu", 1),
    ]
    assert [item["runtime"]["value"] for item in found["alternatives"]] == pytest.approx([110, 15])
    assert found["search"] is None
    assert json.loads(run(*ON, "--format", "json").out)["search"]["proven"]


def test_csv(run: Runner) -> None:
    rows = list(csv.DictReader(io.StringIO(run(*ON, "--on", "first=gpu", "--format", "csv").out)))
    assert [(row["name"], row["socket"], float(row["time"]), float(row["moved"])) for row in rows] == [
        ("first", "gpu", 10, 8),
        ("second", "cpu", 10, 8),
    ]


def test_why_a_socket_cannot_have_it_all(run: Runner, models: Path) -> None:
    (models / "work.aspen").write_text("model work { kernel main { execute { tensor [100] } } }", encoding="utf-8")
    assert (
        run(*ON).out
        == """\
work on M: main takes 1 s

the fastest of all placements (dynamic programming, 1 step priced); nothing is moved

kernel  socket  calls  time  moved for it  in
──────  ──────  ─────  ────  ────────────  ──
main    gpu         1   1 s

beside it
  placement   runtime  times this  because
  ──────────  ───────  ──────────  ─────────────────────────────────────────────────────────────────────
  this            1 s           1
  all on cpu                       nothing on machine `M` with socket `cpu` offers the resource `tensor`
  all on gpu      1 s           1
"""
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--on", "first"], "--on: expected KERNEL=SOCKET, not `first`"),
        (["--data", "a=gpu,"], "--data: expected NAME=SOCKET, not ``"),
        (["--data", "a=gpus"], "did you mean `gpu`?"),
        (["--on", "frist=gpu"], "did you mean `first`?"),
    ],
)
def test_mistakes(run: Runner, arguments: list[str], said: str) -> None:
    found = run(*ON, *arguments)
    assert found.status == 2
    assert said in found.err
