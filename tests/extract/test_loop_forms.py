"""Loops with parts left out, tests behind the body, and memory from the heap: each program is compiled and run, and
what it counts is what the model says."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

import aspenpy
from aspenpy.extract.extraction import extract

pytest.importorskip("clang.cindex", reason="C is read by libclang: pip install 'aspenpy[extract]'")

LOOPS = [
    "for (int i = 0; i < n; i++) WORK",
    "int i = 0; for (; i < n; i++) WORK",
    "int i; for (i = 3; i < n;) { WORK i += 2; }",
    "int i = 0; for (; i <= n;) { WORK i += 3; }",
    "int i = 0; for (/* ; start; */; i < n; i++) WORK",
    "int i = 0; for (; i < n; // ;\n i++) WORK",
    'int i = 0; for (;i < n + sizeof(";;") - 3;i++) WORK',
    "int i = 0; for (; i < n + ';' - ';'; i++) WORK",
    "/* über é; ü */ int i = 0; for (; i < n; i++) WORK",
    "int i, j; for (i = 0, j = n; i < j; i++, j--) WORK",
    "for (int i = 0; i < (n > 20 ? 20 : n); i++) WORK",
    "int i = 0; while (i < n) { WORK i++; }",
    "int i = n; while (i > 0) { WORK i -= 4; }",
    "int i = 0; do { WORK i++; } while (i < n);",
    "int i = n; do { WORK i -= 2; } while (i > 0);",
    "int i = 7; do { WORK i++; } while (i < 3);",
    "int i = 2; do { WORK i++; } while (i < 3);",
    "int i = 2; do { WORK i++; } while (i <= 3);",
    "int i = 0; do { WORK i++; } while (i < n && i < 9);",
    "for (int j = 1; j < n; j++) { int i = 0; do { WORK i++; } while (i < j); }",
    "do { WORK } while (0);",
]


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
def test_passes_are_those_of_the_program(tmp_path: Path) -> None:
    """One product in each pass, counted by gcc's program for several sizes."""
    sizes = (20, 31, 64)  # models hold where n is at least 20, and say so
    functions = [f"void f{place}(int n) {{ {loop.replace('WORK', 'passes++;')} }}" for place, loop in enumerate(LOOPS)]
    calls = "".join(f'passes = 0; f{place}({n}); printf("%ld ", passes);' for place in range(len(LOOPS)) for n in sizes)
    program = "#include <stdio.h>\nlong passes;\n" + "\n".join(functions) + f"\nint main(void) {{ {calls} }}\n"
    (tmp_path / "count.c").write_text(program, encoding="utf-8")
    subprocess.run(["gcc", "-w", "count.c", "-o", "count"], cwd=tmp_path, check=True)
    printed = subprocess.run([tmp_path / "count"], capture_output=True, text=True, check=True).stdout.split()
    counted = iter(map(int, printed))
    for place, loop in enumerate(LOOPS):
        source = tmp_path / f"loop_{place}.c"
        source.write_text(f"void f(int n, double *x) {{ {loop.replace('WORK', 'x[0] *= 3;')} }}", encoding="utf-8")
        found = extract(source)
        assert not [hole.name for hole in found.holes if hole.name not in ("n", "x_bytes")], loop
        application = aspenpy.parse(found.text)
        for n in sizes:
            flops = aspenpy.count(application, resource="flops", set={"n": n} if "param n " in found.text else {})
            assert flops == next(counted), (loop, n)


@pytest.mark.parametrize(
    ("bound", "condition"),
    [("n > 20 ? 20 : n", "n - 20"), ("n > 20 ? n : 20", ""), ("n", "")],
)
def test_what_a_formula_takes_for_granted_stands_above_it(bound: str, condition: str, tmp_path: Path) -> None:
    """The shorter of two bounds is taken where that holds for the sizes that the model has."""
    (tmp_path / "a.c").write_text(
        f"void f(int n, double *x) {{ for (int i = 0; i < ({bound}); i++) x[0] *= 3; }}", encoding="utf-8"
    )
    lines = [line.strip() for line in extract(tmp_path / "a.c").text.splitlines() if "holds where" in line]
    assert lines == ([f"// holds where none of these is below 0: {condition}"] if condition else [])


@pytest.mark.parametrize(
    ("allocation", "size"),
    [
        ("auto w = std::make_unique<double[]>(n)", "8*n"),
        ("std::unique_ptr<float[]> w = std::make_unique<float[]>(2 * n)", "8*n"),
        ("auto w = std::make_unique<double>(2.5)", "8"),
        ("auto w = std::make_unique<int>(n)", "4"),
        ("auto w = std::make_shared<short>(n)", "2"),
        ("double *w = new double[n]", "8*n"),
        ("double *w = new double[3 * n]()", "24*n"),
        ("int *w = new int(n)", "4"),
        ("int *w = new int{n}", "4"),
        ("std::size_t *w = new std::size_t(n)", "8"),
        ("double *w = new (std::nothrow) double(n)", "8"),
    ],
)
def test_bytes_of_what_is_allocated(allocation: str, size: str, tmp_path: Path) -> None:
    (tmp_path / "a.cpp").write_text(
        f"#include <memory>\n#include <new>\nvoid f(int n) {{ {allocation}; *w.get() = 1; }}", encoding="utf-8"
    )
    text = (tmp_path / "a.cpp").read_text(encoding="utf-8")
    if "*w =" in text:
        (tmp_path / "a.cpp").write_text(text.replace("*w.get()", "*w"), encoding="utf-8")
    assert f"data w [{size}]" in extract(tmp_path / "a.cpp").text


RED_BLACK = """
double u[4096];
void relax(int n) {
  for (int colour = 0; colour < 2; colour++)
    for (int i = 1; i <= n; i++)
      for (int j = 1 + (i + colour) % 2; j <= n; j += 2) u[i * (n + 2) + j] *= 0.5;
}
int main(void) { relax(SIZE); return 0; }
"""


@pytest.mark.parametrize("size", [4, 7, 30, 61])
def test_red_and_black_points_are_all_points(tmp_path: Path, size: int) -> None:
    """Two colours together visit each of the points once, in rows whose step is two words; n of both parities."""
    (tmp_path / "a.c").write_text(RED_BLACK.replace("SIZE", str(size)), encoding="utf-8")
    text = extract(tmp_path / "a.c").text
    assert "iterate" not in text
    assert "nest(16, " in text
    application = aspenpy.load_application(text)
    assert aspenpy.count(application, "flops") == size**2
    assert aspenpy.count(application, "loads") == 8 * size**2  # bytes


ODD_ROWS = """
double u[4096];
int main(void) {
  for (int i = 0; i < SIZE; i++)
    for (int j = i % 3; j < SIZE; j += 3) u[64 * i + j] *= 0.5;
  return 0;
}
"""


@pytest.mark.parametrize("size", [9, 32, 61])
def test_rows_that_begin_at_remainders_are_a_mean(tmp_path: Path, size: int) -> None:
    """Where not each remainder is as frequent the mean is off by less than a pass of the outer loop."""
    (tmp_path / "a.c").write_text(ODD_ROWS.replace("SIZE", str(size)), encoding="utf-8")
    counted = sum(len(range(i % 3, size, 3)) for i in range(size))
    application = aspenpy.load_application(extract(tmp_path / "a.c").text)
    assert abs(aspenpy.count(application, "flops") - counted) <= 1


def test_constant_arrays_are_loaded_once(tmp_path: Path) -> None:
    """No store changes them, so that two words of weights stay in registers; others are loaded in each pass."""
    loop = "void f(int n, float *x, float *y) { for (int i = 0; i < n; i++) y[i] = w[0] * x[i] + w[1]; }"
    for kind, words in (("static const", "[2]"), ("static", "[2*n]")):
        (tmp_path / "a.c").write_text(f"{kind} float w[2] = {{1, 2}};\n{loop}", encoding="utf-8")
        assert f"loads {words} of size [4] from w" in extract(tmp_path / "a.c").text
