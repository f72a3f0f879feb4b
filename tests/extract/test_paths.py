"""Cycles of passes as a run took them: functions that are called, branches by their shares, short loops inside."""

import re
import shutil
from pathlib import Path

import pytest

import aspenpy
from aspenpy.assembly.compiling import Recipe
from aspenpy.assembly.mca import find_simulator
from aspenpy.extract.extraction import extract
from aspenpy.extract.model_runs import ProgramRun

pytest.importorskip("clang.cindex", reason="C is read by libclang: pip install 'aspenpy[extract]'")
pytestmark = [
    pytest.mark.skipif(not shutil.which("gcc"), reason="compiles programs with GCC"),
    pytest.mark.skipif(find_simulator() is None, reason="simulates with llvm-mca"),
]

CHAIN = """double chain(double x) {
  return x{products};
}
"""

CALLS = """#include <stdlib.h>
double chain(double x);
int main(int argc, char **argv) {
  int n = atoi(argv[1]);
  double *x = malloc(n * sizeof(double)), y = 1;
  for (int i = 0; i < n; i++) x[i] = i % RARE == 0;
  for (int i = 0; i < n; i++) if (x[i] > 0) y = chain(y);
  return y == 2;
}
"""


def cycles(folder: Path, rare: int, products: int) -> float:
    """Cycles of a pass of the loop that calls, by the model."""
    (folder / "chain.c").write_text(CHAIN.replace("{products}", " * 1.0000001" * products), encoding="utf-8")
    (folder / "main.c").write_text(CALLS.replace("RARE", str(rare)), encoding="utf-8")
    files = [folder / "main.c", folder / "chain.c"]
    text = extract(files, level="o2", run=ProgramRun("./a.out 20000"), recipe=Recipe()).text
    found = re.findall(r"chain \[(?:([\d.]+)\*)?n(?:/(\d+))?\] as window", text)
    assert found, text
    return max(float(times or 1) / float(part or 1) for times, part in found)


@pytest.mark.parametrize("products", [20, 40])
def test_functions_that_are_called_are_walked(products: int, tmp_path: Path) -> None:
    """A product waits 3 to 5 cycles for the one before (Fog, instruction tables: Zen 3, Skylake 4, Haswell 5)."""
    assert 2.8 * products < cycles(tmp_path, 1, products) < 5.5 * products


def test_branches_are_taken_as_often_as_they_were(tmp_path: Path) -> None:
    always = cycles(tmp_path, 1, 40)
    assert cycles(tmp_path, 4, 40) == pytest.approx(always / 4, rel=0.3)
    assert cycles(tmp_path, 1000, 40) < always / 10


EARLY = """#include <stdlib.h>
int main(int argc, char **argv) {
  int n = atoi(argv[1]), total = 0;
  for (int i = 0; i < n; i++) {
    double x = 1 + i * 1e-9;
    int k = 0;
    while (k < LIMIT && x < 1e6) { x = x * 2 + 1e-9; k++; }
    total += k;
  }
  return total == 3;
}
"""


def cycles_of_rows(folder: Path, limit: int) -> float:
    """Cycles of a row of the loop that is left early, by the model."""
    (folder / "early.c").write_text(EARLY.replace("LIMIT", str(limit)), encoding="utf-8")
    found = extract(folder / "early.c", level="o2", run=ProgramRun("./a.out 20000"), recipe=Recipe())
    (folder / "model.aspen").write_text(found.text, encoding="utf-8")
    return float(aspenpy.count(aspenpy.load_application(folder / "model.aspen"), "chain")) / 20_000


def test_rows_of_a_loop_that_is_left_early_are_as_long_as_in_the_run(tmp_path: Path) -> None:
    """1 doubles to above 1e6 in 20 passes, whatever the limit: at most one behind the other (two sums of up to 4 cycles
    each), and at least as their 6 instructions leave a core of 8 a cycle. Rows overlap: a Zen 4 takes 49.5 cycles."""
    rows = cycles_of_rows(tmp_path, 40)
    assert 20 * 6 / 8 < rows < 20 * 8
    assert cycles_of_rows(tmp_path, 100) == pytest.approx(rows, rel=0.01)
    assert cycles_of_rows(tmp_path, 1000) == pytest.approx(rows, rel=0.01)


LONG = """#include <stdlib.h>
int main(int argc, char **argv) {
  int n = atoi(argv[1]);
  char *x = calloc(n + 1, 1);
  for (int p = 2; p * p <= n; p++)
    if (!x[p])
      for (int m = p * p; m <= n; m += p) x[m] = 1;
  return x[3];
}
"""


def test_a_long_loop_behind_a_rare_branch_has_its_cycles(tmp_path: Path) -> None:
    """A store each pass, of which no processor known makes more than two a cycle; passes counted here, one by one."""
    most = 40_000
    is_struck, stores = [False] * (most + 1), 0
    for prime in range(2, 201):
        if not is_struck[prime]:
            for multiple in range(prime * prime, most + 1, prime):
                is_struck[multiple], stores = True, stores + 1
    (tmp_path / "long.c").write_text(LONG, encoding="utf-8")
    found = extract(tmp_path / "long.c", level="o2", run=ProgramRun(f"./a.out {most}"), recipe=Recipe())
    (tmp_path / "model.aspen").write_text(found.text, encoding="utf-8")
    total = float(aspenpy.count(aspenpy.load_application(tmp_path / "model.aspen"), "chain"))
    assert 0.5 * stores < total < 3 * stores


SMALLER = """#include <stdlib.h>
int main(int argc, char **argv) {
  int n = atoi(argv[1]);
  int *d = malloc(n * n * sizeof(int));
  for (int i = 0; i < n * n; i++) d[i] = (i * 7919) % 1000;
  for (int k = 0; k < n; k++)
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++)
        if (d[i * n + k] + d[k * n + j] < d[i * n + j]) d[i * n + j] = d[i * n + k] + d[k * n + j];
  return d[1] == 7;
}
"""


def test_an_innermost_loop_is_none_that_has_others_inside(tmp_path: Path) -> None:
    """Six instructions a pass, three of which load: one to two cycles on all cores that take two or three loads."""
    (tmp_path / "smaller.c").write_text(SMALLER, encoding="utf-8")
    found = extract(tmp_path / "smaller.c", level="o2", run=ProgramRun("./a.out 60"), recipe=Recipe())
    (tmp_path / "model.aspen").write_text(found.text, encoding="utf-8")
    total = float(aspenpy.count(aspenpy.load_application(tmp_path / "model.aspen"), "chain"))
    assert 0.9 * 60**3 < total < 2.2 * 60**3


FILLED = """#include <stdlib.h>
int main(int argc, char **argv) {
  int n = atoi(argv[1]), head = 0, rounds = 0;
  int *x = malloc(n * sizeof(int));
  for (int t = 0; t < 2; t++) {
    for (int i = 0; i < n; i++) x[i] = -1;
    head = 0;
    while (head < n) {
      for (int k = 0; k < 1 + head % 3; k++)
        if (x[(head * 7 + k) % n] < 0) { x[head] = k; rounds++; }
      head++;
    }
  }
  return rounds == 3;
}
"""


def test_loops_that_fill_memory_are_those_of_the_library(tmp_path: Path) -> None:
    """GCC calls memset for the first loop: the block has cycles, at least two for each pass of the loop behind it."""
    (tmp_path / "filled.c").write_text(FILLED, encoding="utf-8")
    found = extract(tmp_path / "filled.c", level="o2", run=ProgramRun("./a.out 3000"), recipe=Recipe())
    assert "in 3 of 3 loops" in found.text or "in 2 of 2 loops" in found.text, found.text
    (tmp_path / "model.aspen").write_text(found.text, encoding="utf-8")
    total = float(aspenpy.count(aspenpy.load_application(tmp_path / "model.aspen"), "chain"))
    assert 2 * 3000 * (4 / 32 + 2) < total < 2 * 3000 * 100


CONVOLUTION = """#include <stdlib.h>
int main(int argc, char **argv) {
  int n = atoi(argv[1]);
  int kernel[3][3] = {{1, 2, 1}, {2, 4, 2}, {1, 2, 1}};
  unsigned char *in = calloc(n, n), *out = calloc(n, n);
  for (int y = 1; y < n - 1; y++)
    for (int x = 1; x < n - 1; x++) {
      int sum = 0;
      for (int a = -1; a <= 1; a++)
        for (int b = -1; b <= 1; b++) sum += kernel[a + 1][b + 1] * in[(y + a) * n + x + b];
      out[y * n + x] = sum / 16;
    }
  return out[n + 1];
}
"""


def test_loops_that_are_written_out_in_vectors_are_no_slower(tmp_path: Path) -> None:
    """Whole numbers, so that no flops tell how many passes a lap in vectors makes: its stores do."""
    (tmp_path / "convolution.c").write_text(CONVOLUTION, encoding="utf-8")
    totals = []
    for level in ("-O2", "-O3"):
        run, recipe = ProgramRun("./a.out 300"), Recipe((level,))
        found = extract(tmp_path / "convolution.c", level="o2", run=run, recipe=recipe)
        (tmp_path / "model.aspen").write_text(found.text, encoding="utf-8")
        totals.append(float(aspenpy.count(aspenpy.load_application(tmp_path / "model.aspen"), "chain")) / 298**2)
    assert 0 < totals[1] < 1.2 * totals[0] < 1.2 * 40


RECURSION = """#include <stdlib.h>
void walk(const int *child, int at, double *sum) {
  *sum = *sum{products};
  for (int q = 0; q < 4; q++)
    if (child[4 * at + q] >= 0) walk(child, child[4 * at + q], sum);
}
int main(int argc, char **argv) {
  int n = atoi(argv[1]), *child = malloc(4 * n * sizeof(int));
  double sum = 1;
  for (int i = 0; i < 4 * n; i++) child[i] = i + 1 < n ? i + 1 : -1;
  walk(child, 0, &sum);
  return sum == 2;
}
"""


def test_the_runs_of_a_function_that_calls_itself_count_once(tmp_path: Path) -> None:
    """40 products in each run are the function's own, 120 cycles and more: they are no part of the loop's passes."""
    (tmp_path / "walk.c").write_text(RECURSION.replace("{products}", " * 1.0000001" * 40), encoding="utf-8")
    text = extract([tmp_path / "walk.c"], level="o2", run=ProgramRun("./a.out 5000"), recipe=Recipe()).text
    ((times, part),) = re.findall(r"chain \[(?:(\d+)\*)?walk_q_passes(?:/(\d+))?\] as window", text)
    assert float(times or 1) / float(part or 1) < 10, text  # with the products of one call in four it were 23 and more


BOX = """#include <stdlib.h>
static void box(int n, const float *restrict u, float *restrict v) {
  for (int i = 1; i < n - 1; i++) for (int j = 1; j < n - 1; j++) for (int k = 1; k < n - 1; k++) {
    float sum = 0;
    for (int a = -1; a <= 1; a++) for (int b = -1; b <= 1; b++) for (int c = -1; c <= 1; c++)
      sum += u[((long)(i + a) * n + j + b) * n + k + c];
    v[((long)i * n + j) * n + k] = sum / 27;
  }
}
int main(int argc, char **argv) {
  int n = atoi(argv[1]);
  float *u = calloc((long)n * n * n, 4), *v = calloc((long)n * n * n, 4);
  for (int step = 0; step < 4; step++) box(n, u, v);
  return v[n] > 0;
}
"""


def test_points_that_vectors_compute_together_share_their_cycles(tmp_path: Path) -> None:
    """27 points around each, their loops written out, four of them in a vector: 27 additions of vectors and their loads
    that are not aligned, two a cycle at most, and rows of 62 points end in two that have no vector."""
    (tmp_path / "box.c").write_text(BOX, encoding="utf-8")
    found = {}
    for level in ("-O2", "-O3"):
        made = extract(
            [tmp_path / "box.c"], level="o" + level[-1], run=ProgramRun("./a.out 64"), recipe=Recipe((level,))
        )
        (body,) = re.findall(r"kernel box.*?\n  }", made.text, re.DOTALL)
        app = aspenpy.parse(
            made.text.replace(body, "\n".join(line for line in body.splitlines() if "from" not in line))
        )
        found[level] = float(aspenpy.count(app, "chain", kernel="box")) / 62**3
    assert 27 / 2 / 4 < found["-O3"] < found["-O2"] / 2


LISTS = """#include <stdlib.h>
int main(int argc, char **argv) {
  int n = atoi(argv[1]);
  int *next = malloc(n * sizeof(int)), *head = malloc(n / 20 * sizeof(int));
  double *x = malloc(n * sizeof(double)), y = 0;
  for (int j = 0; j < n; j++) { next[j] = j % 20 ? j - 1 : -1; x[j] = j % 400; }
  for (int i = 0; i < n / 20; i++) head[i] = 20 * i + 19;
  for (int i = 0; i < n / 20; i++)
    for (int k = 0; k < 3; k++)
      for (int j = head[(i + k) % (n / 20)]; j >= 0; j = next[j]) {
        if (x[j] > 1) continue;
        y += 1.0 / (x[j] + 3.0) * 24.0 - 2.5;
      }
  return y == 2;
}
"""


def test_loops_are_entered_though_what_is_computed_ahead_of_them_stands_behind_a_condition(tmp_path: Path) -> None:
    """A member of a list takes six instructions at least (load, compare, jump, load, test, jump), of which no processor
    begins more than ten in a cycle. Constants of the quotient are loaded ahead of the loop, and are seldom used."""
    (tmp_path / "lists.c").write_text(LISTS, encoding="utf-8")
    text = extract([tmp_path / "lists.c"], level="o2", run=ProgramRun("./a.out 40000"), recipe=Recipe()).text
    block = text[text.index("lists.c:8") :]
    found = re.search(r"chain \[(?:(\d+)\*)?floor\(n/20\)(?:/(\d+))?\] as window", block)
    assert found is not None, block
    assert float(found[1] or 1) / float(found[2] or 1) > 60 * 6 / 10


TREE = """#include <stdlib.h>
struct node { struct node *child[2]; };
static unsigned long s = 88172645463325252ul;
static unsigned next(void) { s ^= s << 13; s ^= s >> 7; s ^= s << 17; return s >> 30; }
__attribute__((noipa)) long find(const struct node *root, const unsigned *keys) {
  long steps = 0;
  for (int i = 0; i < 4000; i++) {
    const struct node *p = root;
    unsigned key = keys[i];
    while (p) {
      p = p->child[key >> 31];
      key <<= 1;
      steps++;
    }
  }
  return steps;
}
int main(int argc, char **argv) {
  int n = atoi(argv[1]), used = 1;
  struct node *pool = calloc(n, sizeof *pool);
  unsigned *keys = malloc(4000 * sizeof *keys);
  GROW
  for (int i = 0; i < 4000; i++) keys[i] = next();
  return find(pool, keys) == 0;
}
"""
AT_RANDOM = """while (used < n) {
    unsigned key = next();
    struct node *p = pool;
    for (; p->child[key >> 31]; key <<= 1) p = p->child[key >> 31];
    p->child[key >> 31] = &pool[used++];
  }"""
FULL = "for (; used < n - 1; used++) pool[(used - 1) / 2].child[(used - 1) % 2] = &pool[used];"


def cycles_of_look_ups(folder: Path, grow: str, sizes: list[float]) -> list[float]:
    """Cycles of a look-up by the model at some sizes, without wrong guesses."""
    (folder / "tree.c").write_text(TREE.replace("GROW", grow), encoding="utf-8")
    run = ProgramRun("./a.out {n}", over={"n": sizes})
    text = extract([folder / "tree.c"], level="o2", run=run, recipe=Recipe(("-O2",))).text
    app = aspenpy.parse("\n".join(line for line in text.splitlines() if "as load" not in line))
    return [float(aspenpy.count(app, "chain", kernel="find", set={"n": n})) / 4000 for n in sizes]


def test_look_ups_behind_wrong_guesses_do_not_overlap(tmp_path: Path) -> None:
    """The end of a look-up in a tree that grew at random is known when its chain of some log2(n) loads of 5 cycles and
    shifts is, and two of three are guessed wrongly; in a full tree all look-ups have ten steps, and the next begins."""
    few, many = cycles_of_look_ups(tmp_path, AT_RANDOM, [500, 8000])
    assert 0.6 * 9 * 5 < few < 9 * 7 * 1.2
    assert many - few == pytest.approx(4 * 5, rel=0.35)
    (full,) = cycles_of_look_ups(tmp_path, FULL, [1024])
    assert full < few / 1.5


SCAN = """#include <stdlib.h>
__attribute__((noipa)) long count(const char *text) {
  long found = 0;
  for (const char *p = text;;) {
    while (*p && *p != 'q') p++;
    if (!*p) break;
    found += p++ - text;
  }
  return found;
}
int main(int argc, char **argv) {
  int n = atoi(argv[1]);
  char *text = calloc(n + 1, 1);
  for (int i = 0; i < n; i++) text[i] = i % 20 == 19 ? 'q' : 'a';
  return count(text) == 0;
}
"""


def test_loops_that_a_compiler_has_made_one_have_the_laps_of_the_inner_one(tmp_path: Path) -> None:
    """Each byte is loaded, compared twice and stepped over, with a jump for each comparison: five operations, of which
    a core begins three to six a cycle."""
    (tmp_path / "scan.c").write_text(SCAN, encoding="utf-8")
    text = extract([tmp_path / "scan.c"], level="o2", run=ProgramRun("./a.out 20000"), recipe=Recipe(("-O2",))).text
    found = float(aspenpy.count(aspenpy.parse(text), "chain", kernel="count")) / 20000
    assert 5 / 6 <= found <= 5 / 3 * 1.5


DISTANCES = """#include <stdlib.h>
KIND float distance(const float *a, const float *b, int dims) {
  float sum = 0;
  LOOP
  return sum;
}
int main(int argc, char **argv) {
  int n = atoi(argv[1]), dims = atoi(argv[2]), few = 12, sum = 0;
  float *x = calloc(n * dims, sizeof(float)), *c = calloc(few * dims, sizeof(float));
  for (int i = 0; i < n; i++) {
    int best = 0;
    float least = 1e30f;
    for (int k = 0; k < few; k++) {
      float found = distance(x + i * dims, c + k * dims, dims);
      if (found < least) {
        least = found;
        best = k;
      }
    }
    sum += best;
  }
  return sum == 3;
}
"""
STEP = "sum += (a[i] - b[i]) * (a[i] - b[i]);"
FORWARD = f"for (int i = 0; i < dims; i++) {STEP}"


def model_of_distances(folder: Path, kind: str, loop: str) -> Path:
    (folder / "distances.c").write_text(DISTANCES.replace("KIND", kind).replace("LOOP", loop), encoding="utf-8")
    found = extract(folder / "distances.c", level="o2", run=ProgramRun("./a.out 5000 18"), recipe=Recipe())
    (folder / "model.aspen").write_text(found.text, encoding="utf-8")
    return folder / "model.aspen"


def test_functions_whose_loops_a_compiler_inlined_stand_where_they_are_called(tmp_path: Path) -> None:
    """Rows of 18 passes that each wait for the one before overlap with the next rows, which a function with cycles of
    its own does not show."""
    inlined = model_of_distances(tmp_path, "static", FORWARD)
    assert "kernel distance" not in inlined.read_text("utf-8")
    assert aspenpy.count(aspenpy.load_application(inlined), "flops") == pytest.approx(
        5000 * 12 * (18 * 3 + 1), rel=0.01
    )
    called = model_of_distances(tmp_path, "__attribute__((noinline))", FORWARD)
    assert "kernel distance" in called.read_text("utf-8")
    assert aspenpy.count(aspenpy.load_application(called), "flops") == pytest.approx(5000 * 12 * (18 * 3 + 1), rel=0.01)


def test_a_way_back_inside_a_loop_has_no_laps_of_its_own(tmp_path: Path) -> None:
    """Where a row may have no passes, GCC jumps back inside the loop over rows; a row that has one pass at least has no
    such way, and takes as long."""
    some = aspenpy.load_application(model_of_distances(tmp_path, "static", FORWARD))
    least = aspenpy.load_application(
        model_of_distances(tmp_path, "static", f"int i = 0; do {{ {STEP} i++; }} while (i < dims);")
    )
    assert aspenpy.count(some, "chain") == pytest.approx(aspenpy.count(least, "chain"), rel=0.3)


HORNER = """#include <stdlib.h>
void horner(const double *x, double *y, int n) {
  for (int i = 0; i < n; i++) {
    double s = 0.1, t = x[i];
    for (int k = 0; k < 12; k++)
      s = s * t + 0.5;
    y[i] = s;
  }
}
int main(int argc, char **argv) {
  int n = atoi(argv[1]);
  double *x = calloc(n, sizeof(double)), *y = malloc(n * sizeof(double));
  for (int r = 0; r < 20; r++)
    horner(x, y, n);
  return y[n / 2] == 2;
}
"""


def test_of_two_versions_the_one_in_vectors_has_the_path(tmp_path: Path) -> None:
    """GCC writes a loop over arrays that might overlap twice, once in vectors, whose counter lies on another line.
    Four lanes of 12 products and sums, two of which begin in a cycle, take 1.5 cycles a pass, and one lane 6."""
    (tmp_path / "k.c").write_text(HORNER, encoding="utf-8")
    recipe = Recipe(("-O3", "-mavx2", "-mfma"), target="znver4")
    found = extract(tmp_path / "k.c", level="o3", run=ProgramRun("./a.out 1000"), recipe=recipe)
    kernel = found.text.partition("kernel horner")[2].partition("kernel ")[0]
    ((times, part),) = re.findall(r"chain \[(?:(\d+)\*)?n(?:/(\d+))?\] as window", kernel)
    assert 1.5 <= int(times or 1) / int(part or 1) < 2
    assert "add, dp, simd" in kernel


BYTES = """
int product(const unsigned char *w, const signed char *x, int *y, int n) {
  for (int i = 0; i < n; i++) { int s = 0;
    for (int j = 0; j < n; j++)
      s += w[(long)i * n + j] * x[j];
    y[i] = s;
  }
  return 0;
}
"""


def test_lines_of_code_in_vectors_are_those_of_its_statements(tmp_path: Path) -> None:
    """GCC gives the statements of a loop in vectors no line of their own where it keeps not where statements begin; the
    loop for the last passes, one at a time, would stand for all of them. A lap of one pass takes a cycle at least."""
    (tmp_path / "product.c").write_text(BYTES, encoding="utf-8")
    options = ("-O3", "-march=icelake-server", "-mprefer-vector-width=512")
    recipe = Recipe(options, target="icelake-server")
    found = extract(tmp_path / "product.c", level="o3", recipe=recipe)
    cycles = aspenpy.count(aspenpy.parse(found.text, "product.aspen"), "chain", set={"n": 4096})
    assert 0 < cycles < 0.1 * 4096**2
