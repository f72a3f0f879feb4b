"""Programs of 50,000 lines, in the time and memory that they may take; smaller ones in the usual run."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.thorough import THOROUGH, some

pytest.importorskip("clang.cindex", reason="C is read by libclang: pip install 'aspenpy[extract]'")

DATA = "#pragma once\ndouble a[1000], b[1000];\n"


def functions(lines: int) -> str:
    names = [f"f{number}" for number in range(lines // 10)]
    texts = [
        f"void {name}(int n, double *x, const double *y, double alpha)\n{{\n  for (int i = 0; i < n; i++) {{\n"
        "    double sum = 0;\n    for (int j = 0; j < i; j++)\n      sum += a[j] * y[j] + 0.5;\n"
        "    if (sum > alpha)\n      x[i] = sum / b[i];\n  }\n}\n"
        for name in names
    ]
    calls = "".join(f"  {name}(100, b, a, 1.0);\n" for name in names)
    return f"{''.join(texts)}int main(void) {{\n{calls}}}\n"


def statements(lines: int) -> str:
    body = "".join(f"  a[{k % 1000}] = a[{k * 7 % 1000}] * x + b[{k * 3 % 1000}];\n" for k in range(lines))
    return f"void f(double x) {{\n{body}}}\n"


def loops(lines: int) -> str:
    loop = "  for (int i = 0; i < n; i++) {\n    double t = a[i] * x;\n    b[i] += t * t - a[7];\n  }\n"
    return f"void f(int n, double x) {{\n{loop * (lines // 4)}}}\n"


EXTRACTION = """
import resource, sys
from aspenpy.extract.extraction import extract
extract(sys.argv[1])
used = resource.getrusage(resource.RUSAGE_SELF)  # its maximum of memory is that of the process that forked
peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM:"))
print(used.ru_utime + used.ru_stime, int(peak.split()[1]) / 1024)
"""


def cost(text: str, folder: Path) -> tuple[float, float]:
    """Seconds of the processor and MiB."""
    (folder / "a.c").write_text(DATA + text)
    ran = subprocess.run([sys.executable, "-c", EXTRACTION, str(folder / "a.c")], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr[-2000:]
    seconds, size = map(float, ran.stdout.split())
    return seconds, size


@pytest.mark.parametrize("shape", [functions, statements, loops])
def test_large_programs_have_models(shape: object, tmp_path: Path) -> None:
    lines = some(50_000, 500)
    seconds, size = cost(shape(lines), tmp_path)  # type: ignore[operator]
    assert seconds < (60 if THOROUGH else 6)
    assert size < 1024
