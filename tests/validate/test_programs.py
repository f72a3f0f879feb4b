"""Programs in C that `validate` compiles, counts and predicts."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from aspenpy.assembly.mca import find_simulator
from aspenpy.shell.main import main

pytest.importorskip("clang.cindex", reason="C is read by libclang: pip install 'aspenpy[extract]'")
pytestmark = pytest.mark.skipif(not shutil.which("gcc"), reason="compiles programs with GCC")

OPTIONS = ["--machine", "haswell", "--least-runs", "2", "--most-runs", "2"]
CG = Path(__file__).parents[1] / "extract" / "whole" / "cg"


def test_a_command_without_sizes_is_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    subprocess.run(["gcc", "-O2", *sorted(map(str, CG.glob("*.c"))), "-o", "cg", "-lm"], check=True)
    assert main(["validate", str(CG), "--run", "./cg -s 6 -i 9", *OPTIONS]) == 0
    said = capsys.readouterr()
    assert re.search(r"multiply +9 ", said.out)  # steps of the command
    assert "1 point\n" in said.out
    assert "placeholder" not in said.err


RECURSIVE = """#include <stdlib.h>
static double half(int n) { double s = n; if (n > 1) s *= half(n / 2); return s; }
int main(int argc, char **argv) {
  int n = atoi(argv[1]);
  double s = 0;
  for (int i = 0; i < n; i++) s += half(i);
  return s < 0;
}
"""


def test_placeholders_that_matter_are_named_and_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("half.c").write_text(RECURSIVE, encoding="utf-8")
    subprocess.run(["gcc", "-O2", "half.c", "-o", "half"], check=True)
    words = ["validate", "half.c", "--run", "./half {n}", "--over", "n=100,200", *OPTIONS]
    assert main(words) == 0
    assert "placeholder" not in capsys.readouterr().err  # the run counts how often it calls itself
    words += ["--compiler", "no-such-gcc"]
    assert main(words) == 0
    said = capsys.readouterr().err
    assert "warning: `half_flops` has a placeholder, 20: half of it changes the runtime by" in said
    assert "`n` has a placeholder" not in said  # an axis
    assert main([*words, "--strict"]) == 2
    assert "error: `half_flops` has a placeholder" in capsys.readouterr().err
    assert main([*words, "--strict", "--set", "half_flops=30"]) == 0


def test_a_program_that_cannot_be_counted_is_predicted_from_its_source(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("half.c").write_text(RECURSIVE, encoding="utf-8")
    words = ["validate", "half.c", "--run", "true {n}", "--over", "n=100", *OPTIONS, "--compiler", "no-such-gcc"]
    assert main(words) == 0
    assert "no counts of a run: --run needs the compiler `no-such-gcc`" in capsys.readouterr().err


PLAIN = """#include <stdlib.h>
int main(int argc, char **argv) {
  int n = atoi(argv[1]);
  double *x = malloc(n * sizeof(double)), s = 0;
  for (int i = 0; i < n; i++) x[i] = i;
  for (int i = 0; i < n; i++) s += x[i];
  return s < 0;
}
"""


@pytest.mark.parametrize("level", ["1", "3"])
def test_extract_and_validate_compile_as_the_program_was(
    level: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Both take the options that GCC has written into the program, and say so with the same words."""
    monkeypatch.chdir(tmp_path)
    Path("plain.c").write_text(PLAIN, encoding="utf-8")
    subprocess.run(["gcc", f"-O{level}", "-g", "plain.c", "-o", "plain"], check=True)
    assert main(["extract", "plain.c", "--run", "./plain 100", "-o", "plain.aspen"]) == 0
    extracted = capsys.readouterr().err
    assert main(["validate", "plain.c", "--run", "./plain 100", *OPTIONS]) == 0
    note = f"extracted with --as o{level}: GCC's options in ./plain"
    assert note in capsys.readouterr().err
    if find_simulator() is not None:
        assert note in extracted
        assert f"compiled by gcc -mtune=generic -march=x86-64 -O{level}" in Path("plain.aspen").read_text(
            encoding="utf-8"
        )


SHARED_LOOP = """#include <stdlib.h>
int main(int argc, char **argv) {
  int n = atoi(argv[1]);
  double *x = malloc(n * sizeof(double)), s = 0;
#pragma omp parallel for reduction(+ : s)
  for (int i = 0; i < n; i++) { x[i] = i; s += x[i]; }
  return s < 0;
}
"""


@pytest.mark.parametrize(("options", "threads"), [([], 1), (["-fopenmp"], 3)])
def test_threads_are_those_of_the_program_that_runs(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    options: list[str],
    threads: int,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    Path("shared.c").write_text(SHARED_LOOP, encoding="utf-8")
    subprocess.run(["gcc", "-O2", *options, "shared.c", "-o", "shared"], check=True)
    words = ["validate", "shared.c", "--run", "./shared 100000", *OPTIONS]
    assert main(words) == 0
    said = capsys.readouterr().err
    assert f"note: `threads` is {threads}, as `./shared` has here" in said
    assert "`threads` has a placeholder" not in said
    assert main([*words, "--set", "threads=2"]) == 0
    assert main(["validate", "shared.c", "--run", "./shared{n} 100000", "--over", "n=1", *OPTIONS]) == 2
    assert "cannot be 0.5" not in capsys.readouterr().err  # half of a thread


def test_a_command_that_fails_is_refused_before_the_program_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("broken.c").write_text("this is no program", encoding="utf-8")
    assert main(["validate", "broken.c", "--run", "false", *OPTIONS]) == 2
    assert "error: `false` ended with status 1" in capsys.readouterr().err


PARTLY_COUNTED = """#include <algorithm>
#include <cstdlib>
#include <vector>
int main(int argc, char **argv) {
  int n = atoi(argv[1]);
  std::vector<int> x(n);
  for (int i = 0; i < n; i++) x[i] = (i * 7919L) % n;
  std::partial_sort(x.begin(), x.begin() + n / 2, x.end(), [](int a, int b) { return a < b; });
  return x[0];
}
"""


@pytest.mark.skipif(not shutil.which("g++"), reason="compiles programs with GCC")
def test_sorts_of_which_only_comparisons_are_counted_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("half.cpp").write_text(PARTLY_COUNTED, encoding="utf-8")
    subprocess.run(["g++", "-O2", "half.cpp", "-o", "half"], check=True)
    assert main(["validate", "half.cpp", "--run", "./half 1000", *OPTIONS]) == 0
    assert "warning: of `partial_sort` only the comparisons are counted" in capsys.readouterr().err
