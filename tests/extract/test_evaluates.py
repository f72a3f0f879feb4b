"""Models that a run has filled have a runtime on every machine of the library, whatever shares and means came out."""

import math
import shutil
from pathlib import Path

import pytest

import aspenpy
from aspenpy.extract.extraction import extract
from aspenpy.extract.model_runs import ProgramRun

pytest.importorskip("clang.cindex", reason="C is read by libclang: pip install 'aspenpy[extract]'")
pytestmark = pytest.mark.skipif(not shutil.which("gcc"), reason="compiles programs with GCC")

NEVER_TAKEN = """#include <stdlib.h>
double x[4000], y[4000], most;
int at[4000], hits, misses, kept;
int main(int argc, char **argv) {
  int n = atoi(argv[1]);
  for (int i = 0; i < n; i++) at[i] = (i * 7919) % n;
  for (int i = 0; i < n; i++) {
    y[i] = x[at[i]];
    if (y[i] > 1e9) { most = y[i]; hits++; }
    else if (y[i] < -1e9) misses++;
    else kept++;
  }
  return kept != n;
}
"""

MOVED = """#include <stdlib.h>
#define MOST 16
typedef struct { int total, *count; double (*r)[3]; } boxes;
static void wrap(boxes *b, double side) {
  for (int box = 0; box < b->total; box++) {
    int i = 0;
    while (i < b->count[box]) {
      double *r = b->r[box * MOST + i];
      for (int m = 0; m < 3; m++) {
        if (r[m] < 0) r[m] += side;
        else if (r[m] >= side) r[m] -= side;
      }
      i++;
    }
  }
}
int main(int argc, char **argv) {
  boxes b;
  b.total = atoi(argv[1]);
  b.count = malloc(b.total * sizeof(int));
  b.r = calloc(b.total * MOST, sizeof(*b.r));
  for (int box = 0; box < b.total; box++) b.count[box] = 3 + box % 5;
  for (int i = 0; i < b.total * MOST; i++) b.r[i][i % 3] = (i * 37 % 100) * 0.03 - 1;
  for (int step = 0; step < 4; step++) wrap(&b, 2.0);
  return 0;
}
"""

PLANES = """#include <stdlib.h>
static void smooth(double **in, double **out, int n) {
  double sum[2048];
  for (int i = 1; i < n - 1; i++) {
    for (int j = 0; j < n; j++) sum[j] = in[i - 1][j] + in[i + 1][j];
    for (int j = 1; j < n - 1; j++) out[i][j] = 0.25 * (sum[j] + in[i][j - 1] + in[i][j + 1]);
  }
}
static double **make(int n) {
  double **rows = malloc(n * sizeof *rows);
  for (int i = 0; i < n; i++) rows[i] = calloc(n, sizeof **rows);
  return rows;
}
int main(int argc, char **argv) {
  int levels = atoi(argv[1]);
  double **u[9], **v[9];
  for (int k = 2; k <= levels; k++) u[k] = make((1 << k) + 2), v[k] = make((1 << k) + 2);
  for (int k = levels; k >= 2; k--) smooth(u[k], v[k], (1 << k) + 2);
  return 0;
}
"""


@pytest.mark.parametrize(
    ("source", "size"), [(NEVER_TAKEN, "3000"), (MOVED, "60"), (PLANES, "7")], ids=["never taken", "moved", "planes"]
)
@pytest.mark.parametrize("level", ["source", "o2"])
def test_models_that_a_run_filled_have_a_runtime(tmp_path: Path, source: str, size: str, level: str) -> None:
    (tmp_path / "program.c").write_text(source)
    found = extract(tmp_path / "program.c", level=level, run=ProgramRun(f"./a.out {size}"))  # type: ignore[arg-type]
    application = aspenpy.load_application(_write(tmp_path / "program.aspen", found.text))
    for name in ("haswell", "a64fx"):
        runtime = float(aspenpy.predict(application, aspenpy.load_machine(name)).runtime)
        assert math.isfinite(runtime)
        assert runtime > 0


def _write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path
