"""The C programs of this folder, compiled, and the caches that the operating system says this machine has."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
SOURCES = HERE / "kernels"
BUILD = HERE.parents[1] / "build" / "validate"
CACHES = Path("/sys/devices/system/cpu/cpu0/cache")

KERNELS = ("-O2", "-fopenmp-simd", "-fno-math-errno")
"""Loops that say so are vectorized, no other."""

MEASURING = ("-O1", "-fexpensive-optimizations", "-fopenmp-simd", "-fno-math-errno")
"""Fused multiply-adds are formed, and nothing is vectorized that does not say so."""


class Caches(NamedTuple):
    """Bytes of a core's first and second cache and of the third, and their ways."""

    sizes: tuple[int, int, int]
    ways: tuple[int, int, int]
    line: int


def compiler() -> str | None:
    """The C compiler there is: that of `CC`, else gcc or clang."""
    return next(
        (found for name in (os.environ.get("CC"), "gcc", "clang") if name and (found := shutil.which(name))), None
    )


def compiled(name: str, folder: Path = BUILD, *more: str) -> Path:
    """The program `kernels` or `machine`, compiled for this machine, by `more` options, where it is older than its
    sources."""
    chosen = compiler()
    if chosen is None:
        raise FileNotFoundError("no C compiler: install gcc, or name one in CC")
    target = folder / name
    needed = sorted({*SOURCES.iterdir()} - ({SOURCES / "machine.c"} if name == "kernels" else set()))
    if name == "machine":
        needed = [SOURCES / file for file in ("machine.c", "timing.c", "timing.h", "real.h")]
    if target.exists() and target.stat().st_mtime > max(path.stat().st_mtime for path in needed):
        return target
    folder.mkdir(parents=True, exist_ok=True)
    options = [*(KERNELS if name == "kernels" else MEASURING), *more]
    files = [str(path) for path in needed if path.suffix == ".c"]
    command = [chosen, "-std=gnu11", "-march=native", *options, *files, "-o", str(target), "-lm", "-lpthread"]
    subprocess.run(command, check=True)
    return target


def printed(program: Path, *arguments: object) -> str:
    """What a program prints."""
    command = [str(program), *map(str, arguments)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def caches() -> Caches:
    """The data caches of the first core, as the operating system tells."""
    found: dict[int, tuple[int, int, int]] = {}
    for folder in sorted(CACHES.glob("index*")):
        if (folder / "type").read_text().strip() != "Instruction":
            sizes = (folder / "size").read_text().strip().removesuffix("K")
            numbers = (int((folder / name).read_text()) for name in ("ways_of_associativity", "coherency_line_size"))
            found[int((folder / "level").read_text())] = (int(sizes) * 1024, *numbers)
    if not {1, 2, 3} <= set(found):
        raise FileNotFoundError("this machine does not tell three levels of caches")
    sizes, ways, lines = zip(*(found[level] for level in (1, 2, 3)), strict=True)
    return Caches(sizes, ways, lines[0])


def processor() -> str:
    """What the operating system calls the processor."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "unknown")
