"""What jumps and the parts of expressions leave out: how often statements behind a return, a `continue` and `&&` run,
against gcov's counts."""

import re
import shutil
import subprocess
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
static double weight(int i, double t) {
  double s = 0;
  for (int k = 0; k < 8; k++)
    s += w[(i + k) % 64]*t;
  return s;
}
FUNCTION
int main(void) {
  double s = 0;
  for (int i = 0; i < 64; i++) w[i] = i*0.1;
  for (int r = 0; r < 20; r++) s += find(1.0);
  printf("%g\\n", s);
  return 0;
}
"""

FUNCTIONS = {
    "one_that_returns": """
static double one(int i, double t) { if (weight(i, t) > 3.0) return 1; return weight(i, 2.0); }
double find(double t) {
  double s = 0;
  for (int i = 0; i < 64; i++) { s += one(i, t); if (s > 55) break; }
  return s;
}""",
    "loop_that_returns": """
double find(double t) { for (int i = 0; i < 64; i++) if (weight(i, t) > 40.0) return weight(i, 2.0); return -1; }""",
    "loop_before_the_rest": """
static double pick(int r, double t) {
  double s = 0;
  for (int i = 0; i < 4; i++) { double c = (r + i)*t; if (c > 30.0) return c; s += c; }
  return s + weight(r, t);
}
double find(double t) { double s = 0; for (int r = 0; r < 64; r++) s += pick(r, t); return s; }""",
    "branch_that_continues": """
double find(double t) {
  double s = 0;
  for (int r = 0; r < 64; r++) {
    if (r*t > 10) { s += r*t; if (s > 90) continue; s += 1; }
    s += weight(r, t);
  }
  return s;
}""",
    "switch_that_returns": """
static double one(int i, double t) {
  double s = t;
  switch (i*5 % 7) { case 0: return 1; case 1: s += 2; break; case 2: return s; default: s += 3; }
  return s + weight(i, t);
}
double find(double t) { double s = 0; for (int r = 0; r < 64; r++) s += one(r, t); return s; }""",
    "selection": """
double find(double t) {
  double s = 0;
  for (int r = 0; r < 64; r++) { double c = (r*7 % 64)*t; s = c > 55 ? weight(r, t) : s; }
  return s;
}""",
    "test_that_fails": """
double find(double t) {
  double s = 0;
  int i = 0;
  while (weight(i, t) < 5) { s += i; i++; }
  return s;
}""",
    "parts_of_conditions": """
double find(double t) {
  double s = 0;
  for (int r = 0; r < 64; r++) {
    double c = (r*7 % 64)*t;
    if (c > 50 && c < 60 && weight(r, t) > 3) s += 1;
    s += c < 20 || weight(r, t) > 20;
  }
  return s;
}""",
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_calls_behind_a_return(name: str, tmp_path: Path) -> None:
    text = PROGRAM.replace("FUNCTION", FUNCTIONS[name])
    source = tmp_path / "program.c"
    source.write_text(text, encoding="utf-8")

    def run(*command: str) -> str:
        return subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True).stdout

    run("gcc", "-O0", "--coverage", "program.c", "-o", "counted")
    run("./counted")
    counted = re.search(r"(\d+): +7:", run("gcov", "-t", "counted-program.gcda"))
    assert counted is not None
    run("gcc", "-O1", "program.c", "-o", "program")
    found = extract(source, level="source", run=ProgramRun(str(tmp_path / "program")))
    (tmp_path / "program.aspen").write_text(found.text, encoding="utf-8")
    loads = float(aspenpy.count(aspenpy.load_application(tmp_path / "program.aspen"), "loads"))
    assert loads / 8 == pytest.approx(int(counted[1]), rel=0.03)
