"""Runs at smaller sizes of a command: formulas from them against runs at larger sizes."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import aspenpy
from aspenpy.extract.extraction import Extraction, extract
from aspenpy.extract.fit import FittedFormula, FitTerm, fit_formula, fit_through_last, join_terms
from aspenpy.extract.model_runs import ProgramRun
from aspenpy.extract.smaller_runs import CommandSize
from aspenpy.language.source import Source, Span

needs_gcc = pytest.mark.skipif(shutil.which("gcc") is None, reason="runs are compiled with GCC")

GRID = """#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
  int rows = atoi(argv[1]), columns = atoi(argv[2]), mode = atoi(argv[3]), found = 0;
  if (LIMIT) return 3;
  double *x = malloc(rows * columns * sizeof(double)), sum = 0;
  int *kept = malloc(rows * columns * sizeof(int));
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < columns; j++)
      if ((i + j) % 4 == 0) kept[found++] = i * columns + j;
  for (int i = 0; i < rows * columns; i++) x[i] = mode;
  int k = 0;
  while (k < found) sum += x[kept[k++]];
  printf("%g\\n", sum);
  return 0;
}
"""


def extract_grid(folder: Path, limit: str, smaller: bool = True) -> Extraction:
    (folder / "grid.c").write_text(GRID.replace("LIMIT", limit), encoding="utf-8")
    return extract(folder / "grid.c", run=ProgramRun("./a.out 80 48 2", smaller=smaller))


@needs_gcc
def test_counts_follow_two_sizes(tmp_path: Path) -> None:
    """A quarter of the cells is kept at all sizes that 4 divides."""
    found = extract_grid(tmp_path, "0")
    notes = [item.message for item in found.diagnostics if item.code == "smaller-runs"]
    assert notes == ["also run with rows = 10, 20, 40, then columns = 6, 12, 24: what is counted becomes formulas"]
    model, simple = aspenpy.parse(found.text), aspenpy.load_machine("simple")
    for rows, columns in ((80, 48), (160, 48), (320, 192)):
        sizes = {"rows": rows, "columns": columns}
        prediction = aspenpy.predict(model, simple, set=sizes)
        assert float(aspenpy.count(model, "flops", traits=["add"], set=sizes)) == pytest.approx(
            rows * columns / 4, rel=0.02
        )
        assert "counted-elsewhere" not in {item.code for item in prediction.diagnostics}


@needs_gcc
@pytest.mark.parametrize(("limit", "smaller"), [("rows < 80 || columns < 48", True), ("0", False)])
def test_what_has_no_smaller_runs_is_marked(limit: str, smaller: bool, tmp_path: Path) -> None:
    found = extract_grid(tmp_path, limit, smaller)
    assert "smaller-runs" not in {item.code for item in found.diagnostics}
    assert "counted at rows = 80, columns = 48" in found.text


@needs_gcc
def test_files_that_a_program_writes_are_those_of_its_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "sizes").write_text("none yet", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    written = 'fprintf(fopen("results/sizes", "w"), "%d %d\\n", rows, columns) < 0'
    found = extract_grid(tmp_path, written)
    notes = [item.message for item in found.diagnostics if "smaller-runs" in item.code]
    said = "was written during the run, by the program or another: none at smaller sizes follow"
    assert notes == [f"`results/sizes` {said}"]
    assert (tmp_path / "results" / "sizes").read_text(encoding="utf-8") == "80 48\n"
    assert "counted at rows = 80, columns = 48" in found.text


@pytest.mark.parametrize(("value", "smaller"), [(31, [15, 19, 23]), (32, [4, 8, 16])])
def test_small_sizes_stay_near(value: int, smaller: list[int]) -> None:
    assert CommandSize("n", 1, value, Span(Source("n"), 0, 1)).list_smaller() == smaller


def test_formulas_have_the_last_run() -> None:
    """The power is that of the runs, the factor that of the last; what is no power stays as it was counted last."""
    terms = [FitTerm("n", exponent) for exponent in (1, 2)]
    points = [({"n": n}, 3.0 * n * n * (1.02 if n < 80 else 1), 1.0) for n in (10.0, 20.0, 40.0, 80.0)]
    found = fit_through_last(points, lambda kept: fit_formula([(sizes, value) for sizes, value, _ in kept], terms))
    assert found.evaluate({"n": 80}) == pytest.approx(3 * 80 * 80, rel=1e-3)
    assert found.evaluate({"n": 320}) == pytest.approx(3 * 320 * 320, rel=0.05)
    points = [({"n": n}, 2.0**n, 1.0) for n in (8.0, 10.0, 12.0, 16.0)]
    found = fit_through_last(points, lambda kept: fit_formula([(sizes, value) for sizes, value, _ in kept], terms))
    assert found == FittedFormula(65536.0, (), 1, error=0.0)


def test_products_of_sizes() -> None:
    terms = [FitTerm(name, exponent) for exponent in (1, 2) for name in ("n", "m")]
    points = [({"n": n, "m": m}, 0.5 * n * n * m) for n, m in ((10.0, 40.0), (20.0, 40.0), (40.0, 10.0), (40.0, 40.0))]
    assert str(fit_formula(points, [*terms, *join_terms(terms)])) in ("0.5*n^2*m", "0.5*m*n^2")
