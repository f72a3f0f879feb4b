"""Loops of C as they are compiled, with a simulator of one cycle an instruction in place of llvm-mca; and with that."""

import json
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from aspenpy.assembly.compiling import Recipe
from aspenpy.assembly.mca import Simulator, find_simulator
from aspenpy.extract import compiled
from aspenpy.extract.extraction import extract
from aspenpy.shell.commands import extract as command_extract
from aspenpy.shell.main import main

pytest.importorskip("clang.cindex", reason="C is read by libclang: pip install 'aspenpy[extract]'")
pytestmark = pytest.mark.skipif(not shutil.which("gcc"), reason="compiles programs with GCC")


@pytest.fixture(autouse=True)
def _count_instructions(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    if request.function.__name__.startswith("test_real"):
        return

    def count(simulator: Simulator, processor: str, windows: Sequence[Sequence[str]]) -> list[int]:
        return [len(window) for window in windows]

    monkeypatch.setattr(compiled, "find_simulator", lambda: Simulator("", "19.0", "znver4"))
    monkeypatch.setattr(compiled, "simulate", count)


def model(folder: Path, text: str, *options: str) -> str:
    (folder / "k.c").write_text(text, encoding="utf-8")
    return extract(folder / "k.c", recipe=Recipe(options or ("-O2", "-fno-tree-vectorize"), "gcc")).text


SCALE = "void f(int n, double *x) {\n  for (int i = 0; i < n; i++)\n    x[i] *= 3;\n}\n"


def test_a_scalar_loop_has_the_instructions_of_its_body(tmp_path: Path) -> None:
    """Load and multiply, store, step, compare, jump."""
    found = model(tmp_path, SCALE)
    assert "flops [n] as multiply, dp\n" in found
    cycles = found.partition("chain [")[2].partition("*n")[0]
    assert cycles in ("5", "6")
    assert "as window, znver4" in found
    assert "// compiled by gcc -O2 -fno-tree-vectorize; cycles of znver4 by llvm-mca 19.0, in 1 of 1 loops" in found


@pytest.mark.parametrize("call", ["fmax(most, x[i])", "fmin(x[i], most)"])
def test_a_loop_that_calls_a_small_function_has_cycles(call: str, tmp_path: Path) -> None:
    """The seven of the call, its loads and what keeps its operands on the stack, and four of the loop; one that calls a
    function whose instructions nobody knows has none."""
    text = f"""#include <math.h>
double f(int n, double *x) {{
  double most = 0;
  for (int i = 0; i < n; i++)
    most = {call};
  return most;
}}
"""
    found = model(tmp_path, text)
    assert 10 <= float(found.partition("chain [")[2].partition("*n")[0]) <= 18
    assert "chain [" not in model(tmp_path, text.replace(call, "sin(x[i]) + most"))


def test_a_vectorised_loop_makes_two_passes_a_lap(tmp_path: Path) -> None:
    found = model(tmp_path, SCALE, "-O3", "-mno-avx")
    assert "as multiply, dp, simd" in found
    (line,) = (line for line in found.splitlines() if "window" in line)
    numerator, _, denominator = line.partition("[")[2].partition("]")[0].partition("/")
    each = float(numerator.replace("*n", "").replace("n", "1") or 1) / float(denominator or 1)
    assert each in (2.5, 3, 3.5)  # five to seven instructions for two


def test_rows_of_constant_length_are_simulated_whole(tmp_path: Path) -> None:
    text = (
        "double a[100][7], y[100];\nvoid f(void) {\n  for (int i = 0; i < 100; i++) {\n    double s = 0;\n"
        "    for (int j = 0; j < 7; j++)\n      s += a[i][j];\n    y[i] = s;\n  }\n}\n"
    )
    found = model(tmp_path, text, "-O1")
    (line,) = (line for line in found.splitlines() if "window" in line)
    cycles = float(line.partition("[")[2].partition("]")[0])
    assert 100 * (7 * 3 + 4) <= cycles <= 100 * (7 * 3 + 9)  # without the jumps behind comparisons


def test_rows_of_open_length_have_a_law(tmp_path: Path) -> None:
    text = (
        "void f(int n, int m, double *a, double *y) {\n  for (int i = 0; i < n; i++) {\n    double s = 0;\n"
        "    for (int j = 0; j < m; j++)\n      s += a[i * m + j];\n    y[i] = s;\n  }\n}\n"
    )
    assert "window, znver4" in model(tmp_path, text)


def test_loops_that_call_a_library_have_no_cycles(tmp_path: Path) -> None:
    text = "#include <math.h>\nvoid f(int n, double *x) { for (int i = 0; i < n; i++) x[i] = sin(x[i]); }\n"
    found = model(tmp_path, text)
    assert "window" not in found
    assert "in 0 of 1 loops" in found


def test_without_a_compiler_a_warning_says_so(tmp_path: Path) -> None:
    (tmp_path / "k.c").write_text(SCALE, encoding="utf-8")
    found = extract(tmp_path / "k.c", recipe=Recipe(("-O2",), "no-such-compiler"))
    assert "window" not in found.text
    assert "`no-such-compiler` is not installed" in found.diagnostics[0].message


def test_what_the_compiler_says_is_not_repeated(tmp_path: Path) -> None:
    (tmp_path / "k.c").write_text(SCALE, encoding="utf-8")
    found = extract(tmp_path / "k.c", recipe=Recipe(("-include", "/etc/passwd"), "gcc"))
    assert all("root" not in each.message + str(each.hint) for each in found.diagnostics)


def test_the_command_compiles(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "k.c").write_text(SCALE, encoding="utf-8")
    assert main(["extract", str(tmp_path / "k.c"), "--compile", "gcc -O3"]) == 0
    found = capsys.readouterr().out
    assert "by aspenpy extract --as o3" in found
    assert "as window, znver4" in found


def test_the_command_takes_programs_as_they_are_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "k.c").write_text(SCALE, encoding="utf-8")
    entry = {"directory": str(tmp_path), "file": "k.c", "command": "gcc -O3 -c k.c"}
    monkeypatch.setattr(command_extract, "find_simulator", lambda: Simulator("", "19.0", "znver4"))
    assert main(["extract", str(tmp_path / "k.c")]) == 0
    assert "// compiled by gcc -O2;" in capsys.readouterr().out
    (tmp_path / "compile_commands.json").write_text(json.dumps([entry]), encoding="utf-8")
    assert main(["extract", str(tmp_path / "k.c")]) == 0
    assert "// compiled by gcc -O3;" in capsys.readouterr().out
    assert main(["extract", str(tmp_path / "k.c"), "--as", "source"]) == 0
    assert "compiled by" not in capsys.readouterr().out


def test_without_llvm_mca_the_command_takes_the_source_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "k.c").write_text(SCALE, encoding="utf-8")
    monkeypatch.setattr(command_extract, "find_simulator", lambda: None)
    assert main(["extract", str(tmp_path / "k.c")]) == 0
    told = capsys.readouterr()
    assert "by aspenpy extract --as source\n" in told.out
    assert "llvm-mca not installed" in told.err


@pytest.mark.parametrize("command", ["gcc '-O2", "  "])
def test_what_is_no_command_is_refused(command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "k.c").write_text(SCALE, encoding="utf-8")
    assert main(["extract", str(tmp_path / "k.c"), "--compile", command]) == 2
    assert "--compile" in capsys.readouterr().err


@pytest.mark.skipif(find_simulator() is None, reason="llvm-mca is not installed")
def test_real_cycles_of_a_sum_in_order_are_the_latency_of_additions(tmp_path: Path) -> None:
    """Three cycles each on Haswell (Fog, instruction tables)."""
    text = (
        "double f(int n, double *x) {\n  double s = 0;\n  for (int i = 0; i < n; i++)\n    s += x[i];\n  return s;\n}\n"
    )
    (tmp_path / "k.c").write_text(text, encoding="utf-8")
    found = extract(tmp_path / "k.c", recipe=Recipe(("-O2",), "gcc", "haswell")).text
    assert "chain [3*n] as window, haswell" in found


def test_a_loop_whose_laps_may_pass_its_flops_by_has_cycles(tmp_path: Path) -> None:
    text = (
        "void f(int n, double *x) {\n  for (int i = 0; i < n; i++) {\n    double a = x[i];\n    if (a < -9) a = -9;\n"
        "    if (a > 9) a = 9;\n    x[i] = a * 1.5;\n  }\n}\n"
    )
    assert "window, znver4" in model(tmp_path, text)
