"""The level of a build: which options of code generation a program is compiled with, as its compile commands or the
compiled program say it.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Sequence
from pathlib import Path

from aspenpy.extract.registers import Level
from aspenpy.extract.units import DATABASE, MOST_BYTES, read_database, words_of
from aspenpy.language.diagnostics import AspenError
from aspenpy.language.opening import read_whole_file
from aspenpy.record import Record

BUILD_FOLDERS = (".", "build", "..", "../build")
"""Folders in which it is looked for, from that of the source on."""

LEVELS: dict[str, Level] = {
    "0": "source", "": "o1", "g": "o1", "1": "o1", "2": "o2", "s": "o2", "3": "o3", "fast": "o3"
}  # fmt: skip
"""The level of `extract` by what stands behind `-O`."""

USUAL: Level = "o2"
_GENERATING = re.compile(
    r"-O\w*|-m(?:arch|tune|cpu|avx|sse|fma|no-|prefer-vector-width)[\w.=+-]*|"
    r"-f(?:no-)?(?:fast-math|unroll|tree|associative|finite|signed|strict|vect|openmp|math|ffp)[\w=-]*"
)
_PRODUCER = re.compile(rb"GNU (?:C(?:\+\+)?|Fortran)\d* \d[^\0]{0,2000}")
"""What GCC writes into a program with -g or -frecord-gcc-switches."""

_OPENMP = (b"GOMP_parallel", b"__kmpc_fork_call")
"""What programs call to share loops: the run-time libraries of GCC and of Clang."""


class CompileOptions(Record):
    """Options of code generation, and what says so."""

    options: tuple[str, ...]
    said_by: str

    @property
    def level(self) -> Level:
        return level_of_flags(self.options) or USUAL


def read_compile_options(source: str, program: str = "") -> CompileOptions:
    """Options from the compile commands beside a source, else from a compiled program, else the usual level of released
    programs."""
    for folder in BUILD_FOLDERS:
        path = Path(source).parent / folder / DATABASE
        flags = _read_flags(path, Path(source))
        if level_of_flags(flags) is not None:
            return CompileOptions(_select_generating(flags), os.path.relpath(path))
    flags = _read_recorded_flags(program) if program else []
    if level_of_flags(flags) is not None:
        return CompileOptions(_select_generating(flags), f"GCC's options in {program}")
    return CompileOptions((), "neither compile_commands.json nor the program states its options")


def program_of_command(text: str | None) -> str:
    """The program that a command runs: its first word that begins with `./`, else its first; nothing of a command that
    has no words, or whose program is named for its size."""
    try:
        words = shlex.split(text or "")
    except ValueError:  # told where the command is read
        return ""
    program = next((word for word in words if word.startswith("./")), next(iter(words), ""))
    return "" if "{" in program else program


def count_threads(program: str) -> int | None:
    """Threads among which a compiled program shares its loops: one where it has no function of OpenMP, else as many as
    OMP_NUM_THREADS says, or as this process may use processors. None where there is no such program."""
    try:
        text = read_whole_file(program, MOST_BYTES)
    except AspenError:
        return None
    if not any(name in text for name in _OPENMP):
        return 1
    stated = os.environ.get("OMP_NUM_THREADS", "").split(",")[0]
    return int(stated) if stated.isdecimal() and int(stated) else len(os.sched_getaffinity(0))


def _select_generating(flags: Sequence[str]) -> tuple[str, ...]:
    """The options that change code and do nothing else: they come from a file that anybody may have written."""
    return tuple(flag for flag in flags if _GENERATING.fullmatch(flag))


def level_of_flags(flags: Sequence[str]) -> Level | None:
    """The last `-O` counts, as for compilers; without vectors, the third level is as the second here."""
    chosen = [LEVELS[flag[2:]] for flag in flags if flag.startswith("-O") and flag[2:] in LEVELS]
    if not chosen:
        return None
    return "o2" if chosen[-1] == "o3" and "-fno-tree-vectorize" in flags else chosen[-1]


def _read_flags(path: Path, source: Path) -> list[str]:
    """The words of a source's compile command; none where there is no such file, or no such source in it."""
    try:
        for entry in read_database(path):
            if Path(entry["directory"], entry["file"]).resolve() == source.resolve():
                return words_of(entry)
    except (AspenError, OSError, ValueError):
        return []
    return []


def _read_recorded_flags(program: str) -> list[str]:
    """The options that GCC has written into a program."""
    try:
        found = _PRODUCER.search(read_whole_file(program, MOST_BYTES))
    except AspenError:
        return []
    return found[0].decode(errors="replace").split() if found else []
