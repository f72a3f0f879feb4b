"""Counts of one run in a model that is asked about other sizes: marked in the text, and said in answers."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import aspenpy
from aspenpy import build as b
from aspenpy.answers.counting import Counts
from aspenpy.extract.extraction import extract
from aspenpy.extract.model_runs import ProgramRun
from aspenpy.shell.main import main as run

MODEL = """model m {
  param n = 100
  param edge = 4
  param passes = 37 counted at n = 100, edge = 4
  param nonzeros = 5*n - 2 counted at edge = 4
  param unused = 7 counted at n = 100

  kernel main {
    iterate [passes] { execute { flops [nonzeros] as dp } }
  }
}
"""

PROGRAM = """#include <stdlib.h>
#define ROUNDS 3
double x[100000], sum;
int main(int argc, char **argv) {
  int n = atoi(argv[1]);
  double low = 0, high = n;
  while (high - low > 0.5) {
    if (x[0] + low < 1) high = 0.5 * (low + high);
    else low = 0.5 * (low + high);
  }
  for (int t = 0; t < ROUNDS; t++)
    for (int i = 0; i < n; i++) sum += x[i] * high;
  return 0;
}
"""


def said(answer: object) -> list[str]:
    """The messages of an answer about counts of other sizes, with their hints."""
    found = [item for item in answer.diagnostics if item.code == "counted-elsewhere"]  # type: ignore[attr-defined]
    return [f"{item.message}; {item.hint}" for item in found]


def test_answers_name_what_does_not_follow_a_size() -> None:
    model, simple = aspenpy.parse(MODEL), aspenpy.load_machine("simple")
    of_n = (
        "`passes` was counted at n = 100 and does not follow it to 400; "
        'extract --run "... {n} ..." --over n=25,50,100 has them as formulas of n'
    )
    of_edge = (
        "`passes` and `nonzeros` were counted at edge = 4 and do not follow it to 8; "
        'extract --run "... {edge} ..." --over edge=1,2,4 has them as formulas of edge'
    )
    assert said(aspenpy.predict(model, simple)) == []
    assert said(aspenpy.predict(model, simple, set={"n": 100})) == []
    assert said(aspenpy.predict(model, simple, set={"n": 400})) == [of_n]
    assert said(aspenpy.predict(model, simple, set={"edge": 8})) == [of_edge]
    assert said(Counts(model, set={"edge": 8})) == [of_edge]
    assert said(Counts(model)) == []
    assert said(aspenpy.predict(model, simple, set={"n": 400, "passes": 74})) == []


@pytest.mark.parametrize(("sizes", "told"), [("100,200,400", "to 400"), ("25,100", "to 25"), ("100", "")])
def test_sweeps_name_what_does_not_follow(
    sizes: str, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "m.aspen").write_text(MODEL, encoding="utf-8")
    assert run(["sweep", str(tmp_path / "m.aspen"), "--machine", "simple", "--over", f"n={sizes}"]) == 0
    found = [line for line in capsys.readouterr().err.splitlines() if "not follow" in line]
    assert len(found) == bool(told)
    assert all(line.endswith(told) for line in found)


def test_the_mark_is_written_and_built() -> None:
    model = aspenpy.parse(MODEL)
    assert model.to_aspen() == MODEL
    assert aspenpy.parse(model.to_aspen()) == model
    assert b.param("passes", 37, counted_at={"n": 100, "edge": 4}) == model.declared["passes"]


@pytest.mark.parametrize(
    "text",
    ["model m { kernel main { param k = 3 counted at n = 2  execute { flops [k] } } }", "param k = 3 counted at n = 2"],
)
def test_only_applications_are_counted(text: str) -> None:
    with pytest.raises(aspenpy.AspenError, match="which no program is run for"):
        aspenpy.parse(text)


@pytest.mark.skipif(shutil.which("gcc") is None, reason="runs are compiled with GCC")
def test_runs_mark_what_stays(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text(PROGRAM, encoding="utf-8")
    text = extract(tmp_path / "a.c", run=ProgramRun("./a.out 1000")).text
    halvings = 11  # 1000 falls to 0.49 in so many
    assert f"param main_loop_passes = {halvings} counted at n = 1000, ROUNDS = 3" in text
    assert "param n = 1000  //" in text
    simple = aspenpy.load_machine("simple")
    assert len(said(aspenpy.predict(aspenpy.parse(text), simple, set={"n": 2000}))) == 1
    assert said(aspenpy.predict(aspenpy.parse(text), simple)) == []

    text = extract(tmp_path / "a.c", run=ProgramRun("./a.out {n}", {"n": [500, 1000, 2000, 4000]})).text
    assert "param main_loop_passes = log2(n) + 1.034 counted at ROUNDS = 3" in text
    assert said(aspenpy.predict(aspenpy.parse(text), simple, set={"n": 2000})) == []
    assert len(said(aspenpy.predict(aspenpy.parse(text), simple, set={"ROUNDS": 6}))) == 1
