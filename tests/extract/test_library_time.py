"""The time of libraries: noted by a timer while the program runs, and in the model by the line that calls."""

import re
import resource
import shutil
import subprocess
from pathlib import Path

import pytest

from aspenpy.assembly.compiling import Recipe
from aspenpy.assembly.mca import find_simulator
from aspenpy.extract.execution import parse_command
from aspenpy.extract.extraction import extract
from aspenpy.extract.library_time import SampledRun, sample_program
from aspenpy.extract.model_runs import ProgramRun
from aspenpy.extract.units import find_units

pytest.importorskip("clang.cindex", reason="C is read by libclang: pip install 'aspenpy[extract]'")
pytestmark = [
    pytest.mark.skipif(not shutil.which("g++") or not shutil.which("addr2line"), reason="compiles programs with GCC"),
    pytest.mark.skipif(find_simulator() is None, reason="simulates with llvm-mca"),
]

MAP = """#include <cstdlib>
#include <map>
static __attribute__((noinline)) double sum_up(const double *x, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += x[i % 64];
  return sum;
}
int main(int argc, char **argv) {
  int n = std::atoi(argv[1]);
  std::map<unsigned, int> seen;
  unsigned state = 1;
  for (int i = 0; i < n; i++) {
    state = state * 1664525u + 1013904223u;
    seen[state >> 12] += 1;
  }
  double x[64] = {};
  return sum_up(x, n) == seen.size();
}
"""
LOOP = 14
"""The line that looks up."""


def sample(file: Path, arguments: str) -> SampledRun:
    found = sample_program(
        find_units([str(file)], ()),
        Recipe(),
        (),
        parse_command(f"./a.out {arguments}"),
        {},
        files=[str(file)],
        allow_failure=False,
    )
    assert found is not None
    return found


def test_time_belongs_to_the_line_that_calls_a_library(tmp_path: Path) -> None:
    (tmp_path / "map.cpp").write_text(MAP, encoding="utf-8")
    found = sample(tmp_path / "map.cpp", "400000")
    lines = {line: time for (_, line), time in found.libraries.items()}
    assert LOOP in lines  # and the end of main, where the tree is destroyed
    assert re.search(r"Rb_tree|map|new|alloc", lines[LOOP].name)
    assert 0.1 < found.library_share <= 1  # the way down the tree is inlined, and main's own
    assert sum(found.own.values()) + found.library_share * found.seconds <= 1.0001 * found.seconds


def test_the_seconds_are_those_of_the_program(tmp_path: Path) -> None:
    """The same program without a timer takes as long; others on the machine may make either run longer."""
    (tmp_path / "map.cpp").write_text(MAP, encoding="utf-8")
    program = tmp_path / "a.out"
    subprocess.run(["g++", "-O2", str(tmp_path / "map.cpp"), "-o", str(program)], check=True)
    taken = []
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([str(program), "400000"], check=False)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        taken.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    found = sample(tmp_path / "map.cpp", "400000")
    assert min(taken) / 2 < found.seconds < 2 * max(taken)
    assert 1e-10 < found.cycle < 2e-9  # processors of 0.5 to 10 GHz


def test_the_model_has_cycles_of_libraries_where_they_are_called(tmp_path: Path) -> None:
    (tmp_path / "map.cpp").write_text(MAP, encoding="utf-8")
    found = extract([tmp_path / "map.cpp"], level="o2", run=ProgramRun("./a.out 400000"), recipe=Recipe())
    name = re.search(r"chain \[(?:n\*)?(\w+_cycles)(?:\*n)?\] as integer", found.text)
    assert name is not None, found.text
    value = re.search(rf"param {name[1]} = ([\d.e+]+)(?: counted at [^/]*)?  // .*map.cpp:{LOOP}\)", found.text)
    assert value is not None
    assert 50 < float(value[1]) < 20_000  # a tree of a million nodes: twenty levels of some cycles to a miss each


def test_a_short_run_says_nothing(tmp_path: Path) -> None:
    (tmp_path / "map.cpp").write_text(MAP, encoding="utf-8")
    found = extract([tmp_path / "map.cpp"], level="o2", run=ProgramRun("./a.out 100"), recipe=Recipe())
    assert "_cycles" not in found.text
