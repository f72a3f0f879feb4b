"""Options of a command line: a run says how often the loops and conditions held that read them."""

import shutil
from pathlib import Path

import pytest

from aspenpy.extract.extraction import extract
from aspenpy.extract.model_runs import ProgramRun

pytest.importorskip("clang.cindex", reason="C is read by libclang: pip install 'aspenpy[extract]'")
pytestmark = pytest.mark.skipif(not shutil.which("gcc"), reason="compiles programs with GCC")

BY_HAND = """#include <stdlib.h>
#include <string.h>
static int nx = 10, ny = 10;
static int read_options(int argc, char **argv) {
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "-x") == 0 && i + 1 < argc) nx = atoi(argv[++i]);
    else if (strcmp(argv[i], "-y") == 0 && i + 1 < argc) ny = atoi(argv[++i]);
    else return 1;
  }
  return 0;
}
"""

BY_GETOPT = """#include <stdlib.h>
#include <unistd.h>
static int nx = 10, ny = 10;
static int read_options(int argc, char **argv) {
  int c;
  while ((c = getopt(argc, argv, "x:y:")) != -1) switch (c) {
      case 'x': nx = atoi(optarg); break;
      case 'y': ny = atoi(optarg); break;
      default: return 1;
    }
  return 0;
}
"""

MAIN = """int main(int argc, char **argv) {
  if (read_options(argc, argv)) return 2;
  double *a = malloc(nx * ny * sizeof(double));
  for (int i = 0; i < nx * ny; i++) a[i] = i;
  return a[0] > 0;
}
"""


@pytest.mark.parametrize(("text", "loop"), [(BY_HAND, "i"), (BY_GETOPT, "loop")])
def test_the_loop_over_options_is_that_of_the_run(text: str, loop: str, tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text(text + MAIN, encoding="utf-8")
    found = extract(tmp_path / "a.c", run=ProgramRun("./a.out -x 100 -y 50"))
    values = {hole.name: str(hole.fit) for hole in found.holes if hole.fit is not None}
    assert found.left() == ()
    assert values[f"read_options_{loop}_passes"] == "2"
    assert {values["nx_2" if "nx_2" in values else "nx"], values["ny_2" if "ny_2" in values else "ny"]} == {"100", "50"}
