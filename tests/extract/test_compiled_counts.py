"""Flops, loads and stores of compiled loops, by hand and as callgrind counted them."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

import aspenpy
from aspenpy.answers.case import Case
from aspenpy.assembly.compiling import Recipe
from aspenpy.assembly.mca import find_simulator
from aspenpy.extract.extraction import extract
from aspenpy.extract.model_runs import ProgramRun
from tests.extract import callgrind

pytest.importorskip("clang.cindex", reason="C is read by libclang: pip install 'aspenpy[extract]'")
pytestmark = [
    pytest.mark.skipif(not shutil.which("gcc"), reason="compiles programs with GCC"),
    pytest.mark.skipif(find_simulator() is None, reason="simulates with llvm-mca"),
]

BY_VALUE = """#include <stdlib.h>
typedef struct { double a, b, c, d; } cell;
__attribute__((noinline)) double weigh(cell z) {
  double product = z.a * z.b;
  if (product < 0) return 0;
  return product * z.c + z.a / z.d;
}
int main(int argc, char **argv) {
  int n = atoi(argv[1]);
  cell *x = malloc(n * sizeof(cell));
  double sum = 0;
  for (int i = 0; i < n; i++) x[i] = (cell){i, 1, 2, 3};
  for (int i = 0; i < n; i++) sum += weigh(x[i]);
  return sum < 0;
}
"""


def per_pass(text: str, kind: str) -> float:
    """Bytes of the stack that a pass of the loops over n loads or stores."""
    total = 0.0
    for times, part, size in re.findall(rf"{kind} \[(?:([\d.]+)\*)?n(?:/(\d+))?\] of size \[(\d)\] \w+ stack", text):
        total += float(times or 1) / float(part or 1) * int(size)
    return total


def test_a_structure_that_is_passed_by_value_is_on_the_stack(tmp_path: Path) -> None:
    """One of 32 bytes is passed in memory (System V psABI for AMD64, section 3.2.3): stored, and loaded again, beside
    the address where the call returns to; the constant 0 may be loaded."""
    (tmp_path / "a.c").write_text(BY_VALUE, encoding="utf-8")
    text = extract(tmp_path / "a.c", level="o2", run=ProgramRun("./a.out 5000"), recipe=Recipe()).text
    assert 40 <= per_pass(text, "stores") <= 56, text
    assert 40 <= per_pass(text, "loads") <= 72, text
    assert aspenpy.predict(aspenpy.load_application(text), aspenpy.load_machine("simple")).runtime > 0


EARLY = """#include <stdlib.h>
double scale = 2;
__attribute__((noinline)) void mix(const double *a, const double *b, double *to) {
  double x = a[0] * b[0], y = a[1] * b[1], z = a[2] * b[2];
  if (x < 0) { to[0] = x; to[1] = y; to[2] = z; return; }
  if (y < 0) { to[0] = y; to[1] = z; to[2] = x; return; }
  to[0] = x * y * z * scale;
  to[1] = x / y;
  to[2] = z / y;
}
int main(int argc, char **argv) {
  int n = atoi(argv[1]);
  double *a = malloc((n + 4) * sizeof(double)), *b = malloc((n + 4) * sizeof(double)), *to = malloc((n + 4) * 8);
  for (int i = 0; i < n + 4; i++) a[i] = b[i] = 1 + i % 7;
  for (int i = 0; i < n; i++) mix(&a[i], &b[i], &to[i]);
  return to[0] < 0;
}
"""


CALLING = """#include <math.h>
#include <stdlib.h>
int main(int argc, char **argv) {
  int n = atoi(argv[1]);
  double *x = malloc(n * sizeof(double)), sum = 0;
  for (int i = 0; i < n; i++) x[i] = 1e-3 * i;
  for (int i = 0; i < n; i++) sum += exp(x[i]);
  return sum < 0;
}
"""


def test_a_call_of_a_library_leaves_no_sum_in_a_register(tmp_path: Path) -> None:
    """No vector register outlives a call (System V psABI for AMD64, section 3.2.1): each pass stores the sum and the
    address where the call returns to, and loads the sum; the first loop may load a constant."""
    (tmp_path / "a.c").write_text(CALLING, encoding="utf-8")
    run, recipe = ProgramRun("./a.out 5000"), Recipe(("-O2", "-fno-tree-vectorize"))
    text = extract(tmp_path / "a.c", level="o2", run=run, recipe=recipe).text
    assert per_pass(text, "stores") == 16, text
    assert 8 <= per_pass(text, "loads") <= 16, text


SCALARS = Recipe(("-O2", "-fno-tree-vectorize"))


def test_a_rare_return_leaves_the_way_past_it(tmp_path: Path) -> None:
    """No product is below 0: each call has 6 products and 2 divisions, behind jumps to what all ways share."""
    (tmp_path / "a.c").write_text(EARLY, encoding="utf-8")
    text = extract(tmp_path / "a.c", level="o2", run=ProgramRun("./a.out 4000"), recipe=SCALARS).text
    application = aspenpy.load_application(text)
    flops = {name: float(aspenpy.count(application, "flops", traits=(name,))) for name in ("multiply", "divide")}
    assert flops == {"multiply": pytest.approx(6 * 4000, rel=0.02), "divide": pytest.approx(2 * 4000, rel=0.02)}


MEDIAN = """#include <stdlib.h>
static void order(unsigned char *a, unsigned char *b) {
  unsigned char low = *a < *b ? *a : *b, high = *a < *b ? *b : *a;
  *a = low;
  *b = high;
}
__attribute__((noinline)) void median(int w, int h, const unsigned char *from, unsigned char *to) {
  for (int y = 1; y < h - 1; y++)
    for (int x = 1; x < w - 1; x++) {
      unsigned char p[5];
      int n = 0;
      for (int d = -1; d <= 1; d++) p[n++] = from[y * w + x + d];
      p[n++] = from[(y - 1) * w + x];
      p[n] = from[(y + 1) * w + x];
      order(&p[0], &p[1]); order(&p[3], &p[4]); order(&p[0], &p[3]); order(&p[1], &p[4]);
      order(&p[1], &p[2]); order(&p[2], &p[3]); order(&p[1], &p[2]);
      to[y * w + x] = p[2];
    }
}
int main(int argc, char **argv) {
  int w = atoi(argv[1]), h = 60;
  unsigned char *from = calloc(w, h), *to = calloc(w, h);
  median(w, h, from, to);
  return to[w + 1] == 255;
}
"""


@pytest.mark.skipif(not shutil.which("valgrind"), reason="counts with Valgrind")
def test_small_arrays_that_are_sorted_stay_in_registers(tmp_path: Path) -> None:
    """Loads and stores of the function that sorts five words in an array of its own, against callgrind's."""
    source, program, counts = tmp_path / "a.c", tmp_path / "program", tmp_path / "counts"
    source.write_text(MEDIAN, encoding="utf-8")
    found = extract(source, level="o2", run=ProgramRun("./a.out 200"), recipe=Recipe())
    application = aspenpy.load_application(found.text)
    subprocess.run(["gcc", "-O2", "-no-pie", str(source), "-o", str(program)], check=True)
    command = ["valgrind", "--tool=callgrind", "--dump-instr=yes", "--compress-pos=no", "--compress-strings=no"]
    command += ["--toggle-collect=median", f"--callgrind-out-file={counts}", str(program), "200"]
    subprocess.run(command, check=True, capture_output=True)
    listed = subprocess.check_output(["objdump", "-d", "--no-show-raw-insn", str(program)], text=True)
    ran = callgrind.executed(counts)
    moved = {"load": 0, "store": 0}
    for address, name, operands in callgrind._LINE.findall(listed):
        for kind, size in callgrind.moves(name.split()[-1], operands.strip()):
            moved[kind] += ran[int(address, 16)] * size
    case = Case(application)
    assert float(aspenpy.count(case, "loads")) == pytest.approx(moved["load"], rel=0.05)
    assert float(aspenpy.count(case, "stores")) == pytest.approx(moved["store"], rel=0.05)
