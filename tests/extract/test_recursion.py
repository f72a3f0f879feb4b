"""Functions that call themselves, as often as a run says, and structures copied as a whole; against operations counted
by hand."""

import re
import shutil
from pathlib import Path

import pytest

import aspenpy
from aspenpy.extract.extraction import extract
from aspenpy.extract.model_runs import ProgramRun

pytest.importorskip("clang.cindex", reason="C is read by libclang: pip install 'aspenpy[extract]'")
COMPILES = pytest.mark.skipif(not shutil.which("gcc"), reason="compiles programs with GCC")

HALVES = """#include <stdlib.h>
static void transform(int n, double *x, double *spare) {
  if (n == 1) return;
  int half = n / 2;
  for (int i = 0; i < half; i++) {
    spare[i] = x[2 * i];
    spare[half + i] = x[2 * i + 1];
  }
  transform(half, spare, x);
  transform(half, spare + half, x + half);
  for (int i = 0; i < half; i++) {
    double odd = 0.5 * spare[half + i];
    x[i] = spare[i] + odd;
    x[half + i] = spare[i] - odd;
  }
}
int main(int argc, char **argv) {
  int n = atoi(argv[1]);
  double *x = calloc(n, sizeof(double)), *spare = calloc(n, sizeof(double));
  transform(n, x, spare);
  transform(n, x, spare);
  return 0;
}
"""


@COMPILES
def test_recursions_run_as_often_as_counted(tmp_path: Path) -> None:
    (tmp_path / "halves.c").write_text(HALVES, encoding="utf-8")
    found = extract(tmp_path / "halves.c", run=ProgramRun("./a.out 1024"))
    assert found.left() == ()
    assert re.search(r"param transform_runs = 2047 ", found.text)  # leaves and inner nodes of the tree
    (tmp_path / "halves.aspen").write_text(found.text, encoding="utf-8")
    model = aspenpy.load_application(tmp_path / "halves.aspen")
    report = aspenpy.predict(model, aspenpy.load_machine("haswell")).to_json()
    levels = 10  # of n/2 products and n sums each, in both calls
    assert report["resources"]["flops"]["amount"] == pytest.approx(2 * levels * (512 + 1024), rel=0.01)


@COMPILES
def test_recursions_are_fitted_over_sizes(tmp_path: Path) -> None:
    (tmp_path / "halves.c").write_text(HALVES, encoding="utf-8")
    found = extract(tmp_path / "halves.c", run=ProgramRun("./a.out {n}", {"n": [64, 128, 256, 512]}))
    fitted = re.search(r"param transform_runs = ([\d.]+)\*n(?: counted at [^/]*)?  //", found.text)
    assert fitted is not None
    assert float(fitted[1]) == pytest.approx(2, rel=0.01)  # 2*n - 1


COPIED = """
typedef struct { double re, im; } number;
void product(int n, number *restrict x, number *restrict y) {
  for (int i = 0; i < n; i++) {
    number a = x[i], b = y[i];
    number c = {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
    y[i] = c;
  }
}
"""


def test_copies_of_structures_are_loads_and_stores(tmp_path: Path) -> None:
    (tmp_path / "copied.c").write_text(COPIED, encoding="utf-8")
    text = extract(tmp_path / "copied.c").text
    moved = re.findall(r"(loads|stores) \[n\] of size \[16\] (?:from|to) (\w+)", text)
    assert moved == [("loads", "x"), ("loads", "y"), ("stores", "y")]


SHIFTED = """
#define LOG 12
#define KEYS (1 << LOG)
#define BUFFER KEYS
int keys[BUFFER], count[1 << (LOG - 4)];
int main(void) {
  for (int i = 0; i < KEYS; i++) keys[i] = 3 * i;
  for (int i = 0; i < BUFFER; i++) count[keys[i] >> 8]++;
  return 0;
}
"""


def test_powers_of_two_in_macros_are_numbers(tmp_path: Path) -> None:
    (tmp_path / "keys.c").write_text(SHIFTED, encoding="utf-8")
    found = extract(tmp_path / "keys.c")
    assert found.left() == ()
    assert re.findall(r"data (\w+) .*?(\d+)(?:, 4\)|\])", found.text) == [("keys", "4096"), ("count", "256")]
    assert "loads [4096] of size [4] from keys" in found.text


MEDIANS = """
#include <algorithm>
#include <cstdlib>
#include <vector>
static void split(std::vector<int> &x, int low, int high) {
  if (high - low < 2) return;
  int middle = (low + high) / 2;
  std::nth_element(x.begin() + low, x.begin() + middle, x.begin() + high, [](int a, int b) { return a < b; });
  split(x, low, middle);
  split(x, middle, high);
}
int main(int argc, char **argv) {
  int n = atoi(argv[1]);
  std::vector<int> x(n);
  for (int i = 0; i < n; i++) x[i] = (i * 7919L) % n;
  split(x, 0, n);
  return x[0];
}
"""


@COMPILES
def test_comparisons_in_a_recursion_are_those_of_the_run(tmp_path: Path) -> None:
    """Calls of a comparator are a part of the calls of the function that calls itself around them, not of the one from
    outside: a part of the whole for each of n calls had n times as many."""
    (tmp_path / "p.cpp").write_text(MEDIANS, encoding="utf-8")
    found = extract(tmp_path / "p.cpp", run=ProgramRun("./a.out 4000"))
    assert "differs" not in [item.code for item in found.diagnostics]
    assert found.reconciliation is not None
    (line,) = [line for line in found.reconciliation.lines if "lambda" in line.text]
    assert line.model == pytest.approx(line.run, rel=0.05)


MERGE = """
#include <stdio.h>
#include <stdlib.h>
static void merge(const int *a, const int *b, int *o, int n) {
  int i = 0, j = 0, k = 0;
  while (i < n && j < n) {
    if (a[i] <= b[j]) o[k++] = a[i++];
    else o[k++] = b[j++];
  }
  while (i < n) o[k++] = a[i++];
  while (j < n) o[k++] = b[j++];
}
int main(int argc, char **argv) {
  int n = atoi(argv[1]), *a = malloc(4 * n), *b = malloc(4 * n), *o = malloc(8 * n);
  for (int i = 0; i < n; i++) { a[i] = 2 * i; b[i] = 3 * i; }
  merge(a, b, o, n);
  printf("%d\\n", o[n]);
  return 0;
}
"""


@COMPILES
def test_a_bound_over_what_was_0_in_the_run_says_no_size(tmp_path: Path) -> None:
    """Loops of a merge that went on from where another stopped."""
    (tmp_path / "merge.c").write_text(MERGE, encoding="utf-8")
    found = extract(tmp_path / "merge.c", level="o3", run=ProgramRun("./a.out 20000"))
    aspenpy.parse(found.text, "merge.aspen")
