"""The C programs of this folder, compiled with the timing of the probe."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import NamedTuple

from aspenpy.engine.shared_object import find_compiler
from aspenpy.probe import benchmark

HERE = Path(__file__).parent
BUILD = HERE.parents[1] / "build" / "validate"
TIMING = benchmark.HERE / "timing.c"


class Program(NamedTuple):
    """Kernels of a folder, and the options that they are compiled by."""

    name: str
    options: tuple[str, ...]

    @property
    def folder(self) -> Path:
        return HERE / self.name

    @property
    def sources(self) -> list[Path]:
        shared = [HERE / "kernels" / name for name in ("main.c", "numbers.c", "real.h")]
        return [*sorted({*shared, *self.folder.glob("*.[ch]")}), TIMING, TIMING.with_suffix(".h")]


KERNELS = Program("kernels", ("-O2", "-fopenmp-simd", "-fno-math-errno"))
"""Loops that say so are vectorized, no other."""

CLASSES = Program("classes", ("-O3",))
"""Written as programs are: the compiler chooses what is vectorized."""


def compiled(folder: Path = BUILD, *more: str, program: Program = KERNELS) -> Path:
    """A program, compiled for this machine, by `more` options, where it is older than its sources."""
    chosen = find_compiler()
    if chosen is None:
        raise FileNotFoundError("no C compiler: install gcc, or name one in CC")
    target = folder / program.name
    if target.exists() and target.stat().st_mtime > max(path.stat().st_mtime for path in program.sources):
        return target
    folder.mkdir(parents=True, exist_ok=True)
    include = ["-I", str(benchmark.HERE), "-I", str(HERE / "kernels"), "-I", str(program.folder)]
    table = f'-DTABLE="{program.folder / "table.h"}"'
    files = [str(path) for path in program.sources if path.suffix == ".c"]
    command = [chosen, "-std=gnu11", "-march=native", *program.options, *include, table, *more, *files]
    subprocess.run([*command, "-o", str(target), "-lm", "-lpthread"], check=True)
    return target


def printed(program: Path, *arguments: object) -> str:
    """What a program prints."""
    command = [str(program), *map(str, arguments)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout
