"""Runs of functions that begin with a loop, by the program's own count of them."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from aspenpy.extract.extraction import extract
from aspenpy.extract.model_runs import ProgramRun

pytest.importorskip("clang.cindex", reason="C is read by libclang: pip install 'aspenpy[extract]'")
pytestmark = pytest.mark.skipif(not shutil.which("gcc"), reason="compiles programs with GCC")

SORT = """static void sort(int *a, int lo, int hi) {
  while (lo < hi) {
    int p = a[(lo + hi) / 2], i = lo, j = hi;
    while (i <= j) {
      while (a[i] < p) i++;
      while (a[j] > p) j--;
      if (i <= j) { int t = a[i]; a[i] = a[j]; a[j] = t; i++; j--; }
    }
    calls++;
    sort(a, lo, j);
    lo = i;
  }
}
"""

PROGRAM = """#include <stdio.h>
#include <stdlib.h>
static int calls = 1;
SORT
int main(int argc, char **argv) {
  int n = atoi(argv[1]), *a = malloc(n * sizeof(int));
  unsigned s = 1;
  for (int i = 0; i < n; i++) { s = s * 1664525u + 1013904223u; a[i] = s >> 8; }
  sort(a, 0, n - 1);
  printf("%d\\n", calls);
  return 0;
}
"""


@pytest.mark.parametrize("sort", [SORT, " ".join(SORT.split()) + "\n"], ids=["lines", "one line"])
def test_a_function_that_begins_with_a_loop_runs_as_often_as_it_says(sort: str, tmp_path: Path) -> None:
    source = tmp_path / "program.c"
    source.write_text(PROGRAM.replace("SORT", sort), encoding="utf-8")
    subprocess.run(["gcc", source, "-o", tmp_path / "program"], check=True)
    said = subprocess.run([tmp_path / "program", "5000"], capture_output=True, text=True, check=True).stdout
    text = extract(source, run=ProgramRun("./a.out 5000")).text
    found = re.search(r"param sort_runs = (\S+)", text)
    assert found is not None, text
    assert float(found[1]) == pytest.approx(int(said), rel=1e-3)  # four digits are written
