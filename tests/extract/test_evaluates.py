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


NEIGHBOURS = """#include <stdlib.h>
int main(int argc, char **argv) {
  int n = atoi(argv[1]), total = 0;
  double **values = malloc(n * n * n * sizeof *values);
  for (int i = 0; i < n * n * n; i++) values[i] = malloc(27 * sizeof(double));
  for (int z = 0; z < n; z++)
    for (int y = 0; y < n; y++)
      for (int x = 0; x < n; x++) {
        int row = (z * n + y) * n + x;
        double *value = values[row];
        for (int dz = -1; dz <= 1; dz++)
          if (z + dz > -1 && z + dz < n)
            for (int dy = -1; dy <= 1; dy++)
              if (y + dy > -1 && y + dy < n)
                for (int dx = -1; dx <= 1; dx++)
                  if (x + dx > -1 && x + dx < n) {
                    if (dx == 0 && dy == 0 && dz == 0) *value++ = 26.0;
                    else *value++ = -1.0;
                    total++;
                  }
      }
  return total == 0;
}
"""


def test_formulas_that_are_too_long_give_way_to_counts(tmp_path: Path) -> None:
    (tmp_path / "program.c").write_text(NEIGHBOURS, encoding="utf-8")
    found = extract(tmp_path / "program.c", run=ProgramRun("./a.out 12"))
    assert found.left() == ()
    assert max(map(len, found.text.splitlines())) < 2000
    application = aspenpy.load_application(_write(tmp_path / "program.aspen", found.text))
    report = aspenpy.predict(application, aspenpy.load_machine("haswell")).to_json()
    entries = (3 * 12 - 2) ** 3  # of the matrix of 27 neighbours
    assert report["resources"]["stores"]["amount"] == pytest.approx(8 * entries + 8 * 12**3, rel=0.02)


@pytest.mark.parametrize(
    ("source", "size"), [(NEVER_TAKEN, "3000"), (MOVED, "60"), (PLANES, "7")], ids=["never taken", "moved", "planes"]
)
@pytest.mark.parametrize("level", ["source", "o2"])
def test_models_that_a_run_filled_have_a_runtime(tmp_path: Path, source: str, size: str, level: str) -> None:
    (tmp_path / "program.c").write_text(source, encoding="utf-8")
    found = extract(tmp_path / "program.c", level=level, run=ProgramRun(f"./a.out {size}"))  # type: ignore[arg-type]
    application = aspenpy.load_application(_write(tmp_path / "program.aspen", found.text))
    for name in ("haswell", "a64fx"):
        runtime = float(aspenpy.predict(application, aspenpy.load_machine(name)).runtime)
        assert math.isfinite(runtime)
        assert runtime > 0


def _write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path
