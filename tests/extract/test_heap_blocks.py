"""Sizes and identities of heap blocks that pointers point into during a run, against sizes counted by hand."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from aspenpy.extract import heap_blocks
from aspenpy.extract.extraction import extract
from aspenpy.extract.model_runs import ProgramRun
from aspenpy.extract.recorders import write_recorder

pytest.importorskip("clang.cindex", reason="C is read by libclang: pip install 'aspenpy[extract]'")
pytestmark = pytest.mark.skipif(not shutil.which("gcc"), reason="compiles programs with GCC")

VECTORS = """#include <stdlib.h>
typedef struct { int n; double *values; } vector;
typedef struct { int n; double **rows; int *length; } matrix;
static void make(vector *v, int n) { v->n = n; v->values = malloc(n * sizeof(double)); }
static void fill(vector *v) { for (int i = 0; i < v->n; i++) v->values[i] = 0.5 * i; }
static void add(double *sum, int *at, vector *x, vector *y) {
  for (int i = 0; i < x->n; i++) *sum += x->values[at[i]] * y->values[at[i]];
}
static void product(matrix *a, vector *x, vector *y) {
  for (int i = 0; i < a->n; i++) {
    double *row = a->rows[i];
    y->values[i] = 0;
    for (int j = 0; j < a->length[i]; j++) y->values[i] += row[j] * x->values[j];
  }
}
static void scale(matrix *a) {
  for (int i = 0; i < a->n; i++) {
    double *row = a->rows[i];
    for (int j = 0; j < a->length[i]; j++) row[j] *= 1.5;
  }
}
int main(int argc, char **argv) {
  int n = atoi(argv[1]);
  vector x, y, z;
  matrix a;
  double sum = 0;
  make(&x, n), make(&y, n), make(&z, n);
  fill(&x), fill(&y), fill(&z);
  a.n = n;
  a.rows = malloc(n * sizeof(double *));
  a.length = malloc(n * sizeof(int));
  for (int i = 0; i < n; i++) {
    a.length[i] = i % 2 ? 10 : 30;
    a.rows[i] = calloc(a.length[i], sizeof(double));
  }
  add(&sum, a.length, &x, &y);
  add(&sum, a.length, &y, &z);
  scale(&a);
  product(&a, &x, &y);
  return sum < 0;
}
"""


def test_bytes_behind_pointers_are_those_of_the_run(tmp_path: Path) -> None:
    (tmp_path / "vectors.c").write_text(VECTORS, encoding="utf-8")
    found = extract(tmp_path / "vectors.c", run=ProgramRun("./a.out 100"))
    assert found.left() == ()
    filled = dict(re.findall(r"param (\w+_bytes\w*) = (\S+)(?: counted at [^/]*)?  //", found.text))
    assert {value for name, value in filled.items() if name.startswith("values")} == {"800"}
    rows = re.findall(r"data (rows\w*) \[(.*)\]", found.text)
    assert len(rows) == 2  # pointers to rows, and the rows that two functions read
    uses = re.findall(rf"from ({rows[0][0]}|{rows[1][0]}) ", found.text)
    assert set(uses) == {name for name, _ in rows}


def test_sizes_are_fitted_over_runs(tmp_path: Path) -> None:
    (tmp_path / "vectors.c").write_text(VECTORS, encoding="utf-8")
    found = extract(tmp_path / "vectors.c", run=ProgramRun("./a.out {n}", {"n": [60, 100, 140, 200]}))
    filled = dict(re.findall(r"param (\w+_bytes\w*) = (\S+)(?: counted at [^/]*)?  //", found.text))
    assert {value for name, value in filled.items() if name.startswith("values")} == {"8*n"}


CONTAINERS = """
#include <cstdlib>
#include <vector>
struct Rows { std::vector<double> values; std::vector<int> places; };
struct Table { Rows rows; };
int main(int, char **argv) {
  Table t;
  int n = atoi(argv[1]);
  double s = 0;
  for (int i = 0; i < n; i++) if (i % 3) t.rows.values.push_back(0.5 * i);
  for (int i = 0; i < n; i++) t.rows.places.push_back(i * 7 % n);
  for (int i = 0; i < n; i++) if (i % 4) s += t.rows.values[t.rows.places[i] % 9];
  return s < 0;
}
"""


def test_containers_that_are_members_have_the_bytes_of_their_blocks(tmp_path: Path) -> None:
    """Of 300 numbers 200 are kept, for which libstdc++ doubles the memory up to 256; loops say those of all."""
    (tmp_path / "containers.cc").write_text(CONTAINERS, encoding="utf-8")
    found = extract(tmp_path / "containers.cc", level="source", run=ProgramRun("./a.out 300"))
    assert dict(re.findall(r"param (\w+)_bytes = (\d+)", found.text)) == {"values": "2048"}


RECORDED = """
void aspenpy_pointer(int, const volatile void *);
int main(int argc, char **argv) {
  char *rows[50], *one = malloc(1000), *two = malloc(3000);
  for (int i = 0; i < 50; i++) rows[i] = calloc(i + 1, 8);
  for (int i = 0; i < 50; i++) aspenpy_pointer(0, rows[i]), aspenpy_pointer(1, rows[i] + 8 * i);
  aspenpy_pointer(2, one), aspenpy_pointer(2, two + 2999), aspenpy_pointer(2, two);
  for (int i = 0; i < 9; i++) {
    char *again = malloc(5000);
    aspenpy_pointer(3, again + i);
    free(again);
  }
  one = realloc(one, 2000);
  aspenpy_pointer(4, one), aspenpy_pointer(5, &one), aspenpy_pointer(5, 0);
  aspenpy_pointer(6, argv[1] + 2);
  return 0;
}
"""


def test_recorder_against_sizes_by_hand(tmp_path: Path) -> None:
    text = write_recorder({"PLACES": 7}, {"blocks": str(tmp_path / "blocks")})
    (tmp_path / "recorder.c").write_text(text + RECORDED, encoding="utf-8")
    subprocess.run(["gcc", "-O1", "-w", "recorder.c"], cwd=tmp_path, check=True)
    subprocess.run(["./a.out", "words"], cwd=tmp_path, check=True)
    found = heap_blocks.read_pointed((tmp_path / "blocks").read_text(encoding="utf-8"))
    if not found:
        pytest.skip("the C library is not GNU's")
    rows = 8 * sum(range(1, 51))
    assert (found[0].total, found[0].mean) == (rows, rows / 50)
    assert found[1].has_blocks_of(found[0])
    assert found[2].mean == pytest.approx((1000 + 3000 + 3000) / 3)
    assert found[3].total == 5000  # one place, allocated nine times
    assert not found[3].has_blocks_of(found[0])
    assert found[4].mean == 2000
    assert 5 not in found  # neither on the stack nor null
    assert found[6].mean == len("words") + 1


def test_rows_of_two_matrices_by_turns_are_two_sets(tmp_path: Path) -> None:
    """Half a million blocks, of which neighbours belong to different matrices."""
    rows = 250_000
    (tmp_path / "rows.c").write_text(
        "#include <stdlib.h>\n"
        "int main(int argc, char **argv) {\n"
        "  int n = atoi(argv[1]);\n"
        "  double **a = malloc(n * sizeof(double *)), s = 0;\n"
        "  int **b = malloc(n * sizeof(int *));\n"
        "  for (int i = 0; i < n; i++) { a[i] = malloc(3 * sizeof(double)); b[i] = malloc(3 * sizeof(int)); }\n"
        "  for (int i = 0; i < n; i++) for (int j = 0; j < 3; j++) { a[i][j] = j; b[i][j] = j; }\n"
        "  for (int i = 0; i < n; i++) for (int j = 0; j < 3; j++) s += a[i][j] * b[i][j];\n"
        "  return s < 0;\n"
        "}\n",
        encoding="utf-8",
    )
    text = extract(tmp_path / "rows.c", run=ProgramRun(f"./a.out {rows}")).text
    assert {"24*n", "12*n"} <= set(re.findall(r"data \w+ \[(\S+)\]", text))
