"""How a program was compiled: the level of optimisation that its compile command, or the program itself, tells."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from aspenpy.extract.registers import Level
from aspenpy.language.diagnostics import AspenError
from aspenpy.language.opening import content_of, text_of
from aspenpy.language.schema import json_in, mismatch
from aspenpy.record import Record

DATABASE = "compile_commands.json"
"""The compile commands of a project, as CMake and others write them (Clang, JSON Compilation Database Format)."""

NEAR = (".", "build", "..", "../build")
"""Folders in which it is looked for, from that of the source on."""

LEVELS: dict[str, Level] = {
    "": "o1",
    "0": "source",
    "g": "o1",
    "1": "o1",
    "2": "o2",
    "s": "o2",
    "3": "o3",
    "fast": "o3",
}
"""The level of `extract` by what stands behind `-O`."""

ENTRY: Mapping[str, Any] = {"arguments": [], "command": ""}
SHAPE = {"directory": str, "file": str, "arguments": [str], "command": str}
"""What an entry has without being there, and the shape of all that is looked at."""

USUAL: Level = "o2"
MOST_BYTES = 64 << 20
_PRODUCER = re.compile(rb"GNU C(?:\+\+)?\d* \d[^\0]{0,2000}")
"""What GCC writes into a program with -g or -frecord-gcc-switches."""


class Compiled(Record):
    """The level, and what says so."""

    level: Level
    said_by: str


def compiled(source: str, program: str = "") -> Compiled:
    """By the compile commands beside a source, else by a compiled program; where neither tells, the usual level of
    released programs."""
    for folder in NEAR:
        path = Path(source).parent / folder / DATABASE
        found = _of_flags(_flags(path, Path(source)))
        if found is not None:
            return Compiled(found, os.path.relpath(path))
    found = _of_flags(_recorded(program)) if program else None
    if found is not None:
        return Compiled(found, f"GCC's options in {program}")
    return Compiled(USUAL, "neither compile_commands.json nor the program states its options")


def _of_flags(flags: Sequence[str]) -> Level | None:
    """The last `-O` counts, as for compilers; without vectors, the third level is as the second here."""
    chosen = [LEVELS[flag[2:]] for flag in flags if flag.startswith("-O") and flag[2:] in LEVELS]
    if not chosen:
        return None
    return "o2" if chosen[-1] == "o3" and "-fno-tree-vectorize" in flags else chosen[-1]


def _flags(path: Path, source: Path) -> list[str]:
    """The words of a source's compile command; none where there is no such file, or no such source in it."""
    try:
        commands = json_in(text_of(path, MOST_BYTES))
        for entry in commands if mismatch(commands, [{str: object}]) is None else ():
            stated = {**ENTRY, **{name: value for name, value in entry.items() if name in SHAPE}}
            if mismatch(stated, SHAPE) is None and _real(stated) == source.resolve():
                return stated["arguments"] or shlex.split(stated["command"])
    except (AspenError, OSError, ValueError):
        return []
    return []


def _real(entry: Mapping[str, Any]) -> Path:
    return Path(entry["directory"], entry["file"]).resolve()


def _recorded(program: str) -> list[str]:
    """The options that GCC has written into a program."""
    try:
        found = _PRODUCER.search(content_of(program, MOST_BYTES))
    except AspenError:
        return []
    return found[0].decode(errors="replace").split() if found else []
