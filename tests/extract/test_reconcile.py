"""Models beside runs, line by line: what is taken from the run, and what is named."""

import re
import shutil
from pathlib import Path

import pytest

from aspenpy import load_application, load_machine, predict
from aspenpy.extract.extraction import Extraction, extract
from aspenpy.extract.model_runs import ProgramRun
from aspenpy.extract.reconcile import LineCount
from tests.extract import callgrind, modelled

pytest.importorskip("clang.cindex", reason="C is read by libclang: pip install 'aspenpy[extract]'")
pytestmark = pytest.mark.skipif(not shutil.which("gcc"), reason="compiles programs with GCC")

WHOLE = Path(__file__).parent / "whole"


def lines(found: Extraction) -> dict[str, LineCount]:
    assert found.reconciliation is not None
    return {line.text: line for line in found.reconciliation.lines}


@pytest.mark.skipif(not shutil.which("valgrind"), reason="counts instructions with Valgrind")
def test_a_merge_sort_compares_as_often_as_it_ran(tmp_path: Path) -> None:
    folder = WHOLE / "sort"
    found = extract(folder, run=ProgramRun("./a.out 700"))
    others = [str(folder / name) for name in ("sort.c", "values.c")]
    ran = callgrind.counted(folder / "main.c", tmp_path, "-O0", *others, function="main", arguments=("700",))
    (tmp_path / "model.aspen").write_text(found.text, encoding="utf-8")
    # The second comparison of `a || b` counts as if it were always made.
    assert modelled.operations(tmp_path / "model.aspen")["compare dp"] == pytest.approx(ran["compare dp"], rel=0.08)
    assert all(line.is_near() for line in lines(found).values())


TRIANGLES = """#include <stdlib.h>
double x[4000];
static void part(int low, int high) { for (int i = low; i < high; i++) x[i] *= 1.5; }
int main(int argc, char **argv) {
  int n = atoi(argv[1]);
  for (int i = 0; i < n; i++)
    for (int j = i; j < n; j += 3)
      for (int k = j; k < n; k++) { if (k < 2 * j) x[k] += 1.5; }
  for (int i = 0; i < n; i++) part(i, 2 * i);
  return 0;
}
"""


def test_a_replay_counts_as_loops_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aspenpy.extract.text.MOST_LETTERS", 10**6)
    (tmp_path / "triangles.c").write_text(TRIANGLES, encoding="utf-8")
    found = lines(extract(tmp_path / "triangles.c", run=ProgramRun("./a.out 40")))
    n = 40
    middle = [(i, j) for i in range(n) for j in range(i, n, 3)]
    inner = [(j, k) for _, j in middle for k in range(j, n)]
    expected = {
        "for (int j = i; j < n; j += 3)": len(middle),
        "for (int k = j; k < n; k++)": len(inner),
        "k < 2 * j": sum(k < 2 * j for j, k in inner),
        "part()": n,
        "for (int i = low; i < high; i++)": n * (n - 1) // 2,
    }
    assert {text: found[text].run for text in expected} == expected
    assert {text: found[text].model for text in expected} == pytest.approx(expected, rel=0.05)


UNEQUAL = """#include <stdlib.h>
static int limit(int i) { return i % 2 ? 3 : 30; }
int main(int argc, char **argv) {
  int n = atoi(argv[1]), *m = malloc(n * sizeof(int));
  double s = 1;
  for (int i = 0; i < n; i++) m[i] = limit(i);
  for (int i = 0; i < n; i++) for (int k = 0; k < m[i]; k++) s += 1.5;
  for (int i = 0; i < n; i += 2) for (int k = 0; k < m[i]; k++) s *= 1.5;
  for (int i = 1; i < n; i += 2) for (int k = 0; k < m[i]; k++) s /= 1.5;
  return s < 0;
}
"""


def test_loops_that_differ_take_the_counts_of_the_run(tmp_path: Path) -> None:
    (tmp_path / "unequal.c").write_text(UNEQUAL, encoding="utf-8")
    found = extract(tmp_path / "unequal.c", run=ProgramRun("./a.out {n}", {"n": [100, 200, 400]}))
    (tmp_path / "model.aspen").write_text(found.text, encoding="utf-8")
    total = modelled.operations(tmp_path / "model.aspen")
    ran = {"add dp": 200 * 33, "multiply dp": 200 * 30, "divide dp": 200 * 3}
    assert {kind: total[kind] for kind in ran} == pytest.approx(ran, rel=1e-3)
    assert found.reconciliation is not None
    assert not found.reconciliation.lines_far_off()
    assert found.reconciliation.operations == pytest.approx({"closed": 0, "fitted": 1, "assumed": 0}, abs=1e-3)


def test_calls_that_differ_are_named(tmp_path: Path) -> None:
    text = """double x = 1e-9;
    static void half(int n);
    static void other(int n) { if (n > 1) { half(n / 2); half(n / 2); } for (int i = 0; i < 9; i++) x *= 1.5; }
    static void half(int n) { if (n > 1) { other(n / 2); other(n / 2); } for (int i = 0; i < 9; i++) x *= 1.5; }
    int main(void) { half(8); return x < 0; }
    """
    (tmp_path / "calls.c").write_text(text, encoding="utf-8")
    found = extract(tmp_path / "calls.c", run=ProgramRun("./a.out"))
    (half,) = [item for item in found.diagnostics if item.code == "differs" and "half()" in item.message]
    assert re.search(r"1 times, the run 5$", half.message)


def test_totals_of_nested_loops_have_laws(tmp_path: Path) -> None:
    found = extract(WHOLE / "sort", run=ProgramRun("./a.out {n}", {"n": [128, 256, 512, 1024]}))
    text = re.sub(r"param n = 1024", "param n = 4096", found.text)
    (tmp_path / "model.aspen").write_text(text, encoding="utf-8")
    total = modelled.operations(tmp_path / "model.aspen")
    (tmp_path / "far").mkdir()
    (tmp_path / "far" / "model.aspen").write_text(
        extract(WHOLE / "sort", run=ProgramRun("./a.out 4096")).text, encoding="utf-8"
    )
    ran = modelled.operations(tmp_path / "far" / "model.aspen")
    assert total["compare dp"] == pytest.approx(ran["compare dp"], rel=0.03)  # at four times the largest size
    sparse = extract(WHOLE / "cg", run=ProgramRun("./a.out -s {s} -i 100", {"s": [4, 6, 8, 10]}))
    assert "param total = max(0, 7*s^3 - 6*s^2)" in sparse.text
    assert "param start_difference = max(0, 7 - 6/s)" in sparse.text


@pytest.mark.parametrize("name", ["haswell", "simple", "a64fx"])
def test_rows_of_a_mean_length_are_priced(name: str, tmp_path: Path) -> None:
    (tmp_path / "unequal.c").write_text(UNEQUAL.replace("? 3 : 30", "% 7"), encoding="utf-8")
    found = extract(tmp_path / "unequal.c", run=ProgramRun("./a.out 100"))
    (tmp_path / "model.aspen").write_text(found.text, encoding="utf-8")
    assert predict(load_application(tmp_path / "model.aspen"), load_machine(name)).runtime > 0
