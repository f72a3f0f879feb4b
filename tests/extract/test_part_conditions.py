"""Parts of conditions that are computed where others do not decide: how often a run comes there, by hand."""

import re
import shutil
from pathlib import Path

import pytest

import aspenpy
from aspenpy.extract.extraction import extract
from aspenpy.extract.model_runs import ProgramRun

pytest.importorskip("clang.cindex", reason="C is read by libclang: pip install 'aspenpy[extract]'")
pytestmark = pytest.mark.skipif(not (shutil.which("gcc") and shutil.which("gcov")), reason="compiles programs with GCC")

PROGRAM = """
#include <stdio.h>
double w[64];
typedef struct { int is_open; double mass; } Cell;
Cell cells[64];
static double weight(int i) {
  double s = 0;
  for (int k = 0; k < 8; k++) s += w[(i + k) % 64]*3.5;
  return s;
}
int main(void) {
  double s = 0, c = 0;
  for (int i = 0; i < 64; i++) { w[i] = 1 + i; cells[i].is_open = i % 4 == 0; cells[i].mass = i % 2; }
  for (int i = 0; i < 64; i++) { int flag = cells[i].is_open, k = 0; c = w[i]; BODY }
  printf("%g %g\\n", s, c);
  return 0;
}
"""

BODIES = {  # with the calls of `weight`
    "variable": ("if (flag && weight(i) > 3) s += 1;", 16),
    "opposite": ("if (!flag && weight(i) > 3) s += 1;", 48),
    "either": ("if (flag || weight(i) > 3) s += 1;", 48),
    "member": ("if (cells[i].is_open && weight(i) > 3) s += 1;", 16),
    "number": ("s += cells[i].mass && weight(i) > 3;", 32),
    "pointer": ("const double *p = flag ? w + i : 0; if (p && weight(i) > 3) s += 1;", 16),
    "three": ("if (flag && cells[i].is_open && c < 33 && weight(i) > 3) s += 1;", 8),
    "inside": ("if (flag && (c > 32 || weight(i) > 3)) s += 1;", 8),
    "selection": ("s += flag ? weight(i) : 2;", 16),
    "else_if": ("if (c > 32) s += 1; else if (flag && weight(i) > 3) s += 2;", 8),
    "else_if_behind": ("if (flag) s += 1; else if (c > 32) s += 3; else if (c < 17 || weight(i) > 3) s += 2;", 12),
    "while": ("while (k < i % 5 && weight(k) > -1) k++;", 12 * 10 + 6),
    "while_on_data": ("while (w[k] < c && weight(k) < 200) k++;", 1 + 2 + 3 + 4 * 60),
    "do": ("do k++; while (k < i % 5 && weight(k) > -1);", 12 * 6 + 3),
    "while_variable": ("int ok = 1; while (ok) { k++; s += weight(k); ok = k < i % 5; }", 12 * 11 + 7),
    "for": ("for (k = 0; k < 9 && w[k] < c && weight(k) > -1; k++) s += 1;", 36 + 9 * 55),
}


LOOPS = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
typedef struct { double low[3]; int n; } Box;
int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 40;
  double s = 0, x[64];
  char text[64] = "", copy[64];
  for (int i = 0; i < 64; i++) x[i] = i;
  for (int i = 0; i < n; i++) {
    Box box = {{1.5, 2.5, 3.5}, i};
    for (const double *p = x; p; p++) if (*p > 5 && *p > i % 9) { s *= 1.5; break; }
    for (int k = i; k < 64 && x[k] >= 0;) { if (x[k] > 9 && x[k] > 20) break; s = s*1.5; k += 3; }
    int kept = 1 + (int)x[i % 8];
    memcpy(copy, text, kept);
    s += box.low[box.n % 3];
  }
  printf("%g %c\\n", s, copy[0]);
  return 0;
}
"""


def test_loops_that_a_break_behind_several_tests_ends(tmp_path: Path) -> None:
    """The first loop ends behind the first number above 5 and i % 9, the second in steps of 3 behind 20."""
    searched = sum(max(6, i % 9 + 1) + 1 for i in range(80))
    stepped = sum(len(range(i, 21, 3)) for i in range(80))
    (tmp_path / "loops.c").write_text(LOOPS, encoding="utf-8")
    found = extract(tmp_path / "loops.c", level="source", run=ProgramRun("./a.out 80"))
    assert not found.left()
    model = aspenpy.parse(found.text)
    assert float(aspenpy.count(model, "flops", traits=["multiply"])) == pytest.approx(stepped + 80, rel=2e-3)
    values = dict(re.findall(r"param main_(\w+) = (\S+) counted", found.text))
    assert float(values["p_passes"]) == pytest.approx(searched / 80, rel=1e-3)
    assert values["memcpy_bytes"] == "4.5"  # from 1 to 8 by turns
    assert "data low [24]" in found.text


def test_a_size_with_a_default_is_one_of_the_command(tmp_path: Path) -> None:
    (tmp_path / "loops.c").write_text(LOOPS, encoding="utf-8")
    found = extract(tmp_path / "loops.c", level="source", run=ProgramRun("./a.out 80", smaller=True))
    assert "param n = 80  // `n`, of the command" in found.text
    assert "param n = 40 " in extract(tmp_path / "loops.c").text


def count_products(folder: Path, name: str, text: str) -> float:
    (folder / name).write_text(text, encoding="utf-8")
    found = extract(folder / name, level="source", run=ProgramRun("./a.out"))
    assert not [hole.name for hole in found.left() if "bytes" not in hole.name]
    return float(aspenpy.count(aspenpy.parse(found.text), "flops", traits=["multiply"]))


@pytest.mark.parametrize("name", BODIES)
def test_parts_that_call_run_as_often_as_in_a_run(name: str, tmp_path: Path) -> None:
    body, calls = BODIES[name]
    assert count_products(tmp_path, "program.c", PROGRAM.replace("BODY", body)) == pytest.approx(8 * calls, rel=1e-3)


def test_objects_that_are_conditions(tmp_path: Path) -> None:
    """Of 64 a quarter holds something, by an operator that has to be called outright."""
    text = PROGRAM.replace(
        "int main", "struct Held { int n; explicit operator bool() const { return n != 0; } };\nint main"
    )
    body = "Held held{flag}; if (held && weight(i) > 3) s += 1;"
    assert count_products(tmp_path, "program.cc", text.replace("BODY", body)) == pytest.approx(8 * 16, rel=1e-3)
