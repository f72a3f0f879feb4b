"""The C program of this folder, compiled with the timing of the probe."""

from __future__ import annotations

import subprocess
from pathlib import Path

from aspenpy.engine.shared_object import find_compiler
from aspenpy.probe import benchmark

HERE = Path(__file__).parent
SOURCES = HERE / "kernels"
BUILD = HERE.parents[1] / "build" / "validate"

OPTIONS = ("-O2", "-fopenmp-simd", "-fno-math-errno")
"""Loops that say so are vectorized, no other."""

TIMING = benchmark.HERE / "timing.c"


def compiled(folder: Path = BUILD, *more: str) -> Path:
    """The program of the kernels, compiled for this machine, by `more` options, where it is older than its sources."""
    chosen = find_compiler()
    if chosen is None:
        raise FileNotFoundError("no C compiler: install gcc, or name one in CC")
    target = folder / "kernels"
    needed = [*sorted(SOURCES.iterdir()), TIMING, TIMING.with_suffix(".h")]
    if target.exists() and target.stat().st_mtime > max(path.stat().st_mtime for path in needed):
        return target
    folder.mkdir(parents=True, exist_ok=True)
    options = ["-std=gnu11", "-march=native", *OPTIONS, "-I", str(benchmark.HERE), *more]
    files = [str(path) for path in needed if path.suffix == ".c"]
    subprocess.run([chosen, *options, *files, "-o", str(target), "-lm", "-lpthread"], check=True)
    return target


def printed(program: Path, *arguments: object) -> str:
    """What a program prints."""
    command = [str(program), *map(str, arguments)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout
