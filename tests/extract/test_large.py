"""Programs of 50,000 lines, in the time and memory that they may take; smaller ones in the usual run."""

import subprocess
import sys
from pathlib import Path

import pytest

from aspenpy.extract.extraction import extract
from tests.thorough import THOROUGH, some
from tests.timing import is_done_in

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


def cost(text: str, folder: Path, name: str = "a.c") -> tuple[float, float]:
    """Seconds of the processor and MiB."""
    if sys.platform != "linux":
        pytest.skip("the most memory of a process is read in /proc")
    (folder / name).write_text(DATA + text, encoding="utf-8")
    ran = subprocess.run([sys.executable, "-c", EXTRACTION, str(folder / name)], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr[-2000:]
    seconds, size = map(float, ran.stdout.split())
    return seconds, size


@pytest.mark.parametrize("shape", [functions, statements, loops])
def test_large_programs_have_models(shape: object, tmp_path: Path) -> None:
    lines = some(50_000, 500)
    seconds, size = cost(shape(lines), tmp_path)  # type: ignore[operator]
    assert seconds < (60 if THOROUGH else 6)
    assert size < 1024


def kernels(number: int) -> str:
    text = "__global__ void NAME(float *y, const float *x, int n) {\n  int i = blockIdx.x*blockDim.x + threadIdx.x;\n"
    text += "  if (i < n) y[i] = 2.0f*x[i] + y[i];\n}\n"
    launches = "".join(f"  k{k}<<<(n + 255)/256, 256>>>(y, x, n);\n" for k in range(number))
    heads = "".join(text.replace("NAME", f"k{k}") for k in range(number))
    return (
        f"{heads}int main() {{ float *x, *y; int n = 1 << 20; cudaMalloc(&x, 4*n); cudaMalloc(&y, 4*n);\n{launches}}}\n"
    )


def balance(parts: list[str]) -> str:
    half = len(parts) // 2
    return f"({balance(parts[:half])} + {balance(parts[half:])})" if half else parts[0]


def operands(index: str, number: int = 2000) -> str:
    parts = [f"x[{index.replace('K', str(k + 2))}]" for k in range(number)]
    text = f"__global__ void k(float *x) {{\n  int i = blockIdx.x*256 + threadIdx.x; x[i] = {balance(parts)}; }}\n"
    return f"{text}int main() {{ float *x; cudaMalloc(&x, 1 << 22); k<<<64, 256>>>(x); }}\n"


@pytest.mark.parametrize("text", [kernels(300), operands("i + K"), operands("i*K"), operands("i % K")])
def test_large_programs_of_devices_have_models(text: str, tmp_path: Path) -> None:
    """Quadratic or lane by lane, they took from 9 to more than 100 s."""
    sizes: list[float] = []

    def measure() -> float:
        seconds, size = cost(text, tmp_path, "a.cu")
        sizes.append(size)
        return seconds

    assert is_done_in(6, measure)
    assert min(sizes) < 1024


def test_what_is_not_looked_at_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.cu").write_text(operands("i % K", 200), encoding="utf-8")
    told = [each for each in extract(tmp_path / "a.cu").diagnostics if each.code == "too-large"]
    assert [each.span.position().line for each in told if each.span] == [3]
