"""Kernels in the first cache as GCC compiles them, timed on this host and predicted with cycles by llvm-mca.

    python benchmarks/windows.py [MACHINE]

Without a file of a machine, the host is probed first. Kernels whose name's hash is odd were held back while the rules
were made; those of AFTERWARDS were written when they were finished.
"""

import hashlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import aspenpy
from aspenpy.assembly.compiling import Recipe
from aspenpy.models.library import parse
from aspenpy.probe.probe import probe

KERNELS = Path(__file__).parent / "windows"
LEVELS = ("O2", "O3")
TIMINGS = 40
LENGTH = 2e-4
"""Seconds of a timing, short enough for some to meet nobody else on the host."""

AFTERWARDS = frozenset(
    "axpby back_substitute bilinear copy_scale cumulative_max energy heat lcg legendre mandel_step newton "
    "outer_product shift_mask sum4 table_sum wide_rows".split()
)
OPEN = {"sparse": {"row_difference": 4}, "rows": {"n_0_1_12": 12, "n_0_1_12_2": 12}}
"""Parameters that the source leaves open."""


def size_of(source: Path) -> int:
    found = re.search(r"atoi\(argv\[1\]\) : (\d+)", source.read_text(encoding="utf-8"))
    assert found is not None
    return int(found[1])


def measure(source: Path, level: str, folder: str) -> float:
    """The least time of a call in seconds."""
    program = f"{folder}/{source.stem}.{level}"
    subprocess.run(["gcc", f"-{level}", source, "-o", program, "-lm"], check=True)

    def time(calls: int) -> float:
        return float(subprocess.check_output([program, str(size_of(source)), str(calls)]))

    calls = max(3, int(LENGTH / time(1000)))
    return min(time(calls) for _ in range(TIMINGS))


def predict(source: Path, level: str, machine: aspenpy.Machine, recipe: Recipe | None) -> float:
    """The time of one more call in seconds."""
    found = aspenpy.extract_application(source, level=level.lower(), chains=True, integers=True, recipe=recipe)
    application = parse(found.text, source.name)
    sizes = {"n": size_of(source), **OPEN.get(source.stem, {})}
    few, many = (aspenpy.predict(application, machine, set={**sizes, "reps": reps}).runtime for reps in (1, 1001))
    return float(many - few) / 1000


def group_of(name: str) -> str:
    if name in AFTERWARDS:
        return "afterwards"
    return "held back" if hashlib.sha256(name.encode()).digest()[0] % 2 else "seen"


def main() -> None:
    machine = aspenpy.load_machine(sys.argv[1]) if len(sys.argv) > 1 else parse(probe("here").text)
    factors: dict[tuple[str, str], list[tuple[float, float]]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for source in sorted(KERNELS.glob("*.c")):
            for level in LEVELS:
                measured = measure(source, level, folder)
                without, compiled = (
                    predict(source, level, machine, recipe) / measured for recipe in (None, Recipe((f"-{level}",)))
                )
                name = group_of(source.stem)
                print(f"{source.stem:16} {level} {1e9 * measured:9.1f} ns {without:6.2f} {compiled:6.2f}  {name}")
                pair = max(without, 1 / without), max(compiled, 1 / compiled)
                factors.setdefault((name, level), []).append(pair)
    for (name, level), pairs in sorted(factors.items()):
        for title, each in zip(("without cycles", "with"), zip(*pairs, strict=True), strict=True):
            near = sum(factor <= 1.3 for factor in each)
            print(
                f"{name:10} {level} {title:14} median {statistics.median(each):.2f} worst {max(each):.2f} "
                f"within 30 %: {near} of {len(each)}"
            )


if __name__ == "__main__":
    if shutil.which("gcc") is None:
        sys.exit("gcc is not installed")
    main()
