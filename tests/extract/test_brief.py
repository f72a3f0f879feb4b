"""Models of programs so long that their loops are summed up, and laws of rows, by hand."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace

import pytest

import aspenpy
from aspenpy.expr import graph
from aspenpy.expr.polynomial import atom_polynomial, constant_polynomial
from aspenpy.extract import naming
from aspenpy.extract.extraction import extract
from aspenpy.extract.loop_cycles import _law_of_rows
from aspenpy.extract.values import COUNTER, number, substitute

pytest.importorskip("clang.cindex", reason="C is read by libclang: pip install 'aspenpy[extract]'")

PROGRAM = """
void f(int n, int m, double a, double *restrict x, double *restrict y, double *restrict z, float *restrict w) {
  for (int i = 0; i < n; i++) y[i] = x[i] * a;
  for (int j = 0; j < m; j++) z[j] += w[j];
  z[0] = 5;
  if (n > 3) { for (int i = 0; i < n; i++) x[i] = 0; } else { y[0] = 1; }
  for (int i = 0; i < n; i++) { g(m); for (int j = 0; j < m; j++) z[j] *= 2.5; }
}
"""


def totals(n: int, m: int) -> dict[str, int]:
    """Operations and bytes; the loop with a call inside stays a loop."""
    return {"flops": n + m + m + n * m, "loads": 8 * n + 12 * m + 8 * n * m, "stores": 8 * (n + m + 1 + n) + 8 * n * m}


@pytest.mark.parametrize("words", [-1, 10**9])
def test_a_brief_model_has_the_same_totals(words: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(naming, "MOST_WORDS", words)
    (tmp_path / "a.c").write_text("void g(int k);\n" + PROGRAM, encoding="utf-8")
    found = extract(tmp_path / "a.c", level="source")
    application = aspenpy.parse(found.text)
    for n, m in ((10, 7), (64, 1000)):
        assert {
            name: aspenpy.count(application, resource=name, set={"n": n, "m": m, "g_flops": 0}) for name in totals(n, m)
        } == totals(n, m)
    is_brief = words < 0
    assert [item.code for item in found.diagnostics].count("too-large") == is_brief
    assert ("from x" in found.text) != is_brief
    assert ("as stream" in found.text) != is_brief


ROWS = [(4, Fraction(10)), (8, Fraction(18)), (16, Fraction(40))]


@pytest.mark.parametrize(
    ("steady", "passes", "cycles"),
    [
        (Fraction(2), 4, 10),  # of the lines 2 K + 2 and 2.75 K - 4 the larger
        (Fraction(2), 6, 14),
        (Fraction(2), 8, 18),
        (Fraction(2), 16, 40),
        (Fraction(2), 20, 51),
        (Fraction(11, 4), 20, 51),
        (Fraction(3), 20, 52),  # a long loop has the slope 3: 3 K - 8
        (Fraction(3), 16, 40),
        (Fraction(3), 4, 10),
    ],
)
def test_cycles_of_a_row_are_the_largest_of_straight_lines(steady: Fraction, passes: int, cycles: int) -> None:
    law = _law_of_rows(SimpleNamespace(bounds=[constant_polynomial(passes)], share=None), ROWS, steady)  # type: ignore[arg-type]
    assert number(law) == cycles


def test_one_row_is_a_constant() -> None:
    law = _law_of_rows(SimpleNamespace(bounds=[constant_polynomial(9)], share=None), ROWS[:1], Fraction(3))  # type: ignore[arg-type]
    assert number(law) == 10


def test_rows_of_a_triangle_have_one_line() -> None:
    """Through the shortest and the longest, (40 - 10)/(16 - 4) = 2.5 a pass, since sums of the larger of two have no
    closed form."""
    counter = graph.symbol("i", COUNTER)
    law = _law_of_rows(SimpleNamespace(bounds=[atom_polynomial(counter)], share=None), ROWS, Fraction(3))  # type: ignore[arg-type]
    assert [number(substitute(law, {counter: constant_polynomial(k)})) for k in (4, 8, 16)] == [10, 20, 40]
