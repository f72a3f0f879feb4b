"""Functions that a run has executed and that the model has nothing of are named."""

import shutil
from pathlib import Path

import pytest

from aspenpy.extract.extraction import extract
from aspenpy.extract.model_runs import ProgramRun

pytest.importorskip("clang.cindex", reason="C is read by libclang: pip install 'aspenpy[extract]'")
pytestmark = pytest.mark.skipif(not shutil.which("gcc"), reason="compiles programs with GCC")

CALLED_BY_A_LIBRARY = """#include <search.h>
static double x[300];
static void *root;
static int compare(const void *a, const void *b) {
  double one = *(const double *)a;
  double two = *(const double *)b;
  return (one > two) - (one < two);
}
static int rare(void) { return 1; }
static int (*volatile from_outside)(void) = rare;
int main(void) {
  for (int i = 0; i < 300; i++) x[i] = (i * 7919) % 300;
  for (int i = 0; i < 300; i++) tsearch(x + i, &root, compare);
  return x[0] > 300;
}
"""


def test_a_function_that_only_a_library_calls_is_named(tmp_path: Path) -> None:
    (tmp_path / "sorted.c").write_text(CALLED_BY_A_LIBRARY, encoding="utf-8")
    found = extract(tmp_path / "sorted.c", run=ProgramRun("./a.out"))
    (told,) = [item for item in found.diagnostics if item.code == "unmodelled"]
    assert "`compare`" in told.message
    # some 300 log2(300) comparisons of three lines in a balanced tree are far more than 300 assignments and calls
    share = float(told.message.partition("`: ")[2].partition(" %")[0])
    assert 75 < share < 100


def test_functions_that_were_not_asked_for_are_not_named(tmp_path: Path) -> None:
    (tmp_path / "sorted.c").write_text(CALLED_BY_A_LIBRARY, encoding="utf-8")
    found = extract(tmp_path / "sorted.c", functions=("rare",), run=ProgramRun("./a.out"))
    assert not [item for item in found.diagnostics if item.code == "unmodelled"]
