"""Translation units: the files of a program, each with the flags that it is compiled with.

They are named one by one, found in a folder, or listed with their flags by compile_commands.json (Clang, "JSON
Compilation Database Format Specification"), as CMake and bear write it.
"""

from __future__ import annotations

import itertools
import os
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from aspenpy.extract.device_functions import warp_option
from aspenpy.extract.records import CPP, CUDA, FORTRAN, HEADER_FOLDER_OPTIONS, C
from aspenpy.language.diagnostics import fail
from aspenpy.language.opening import read_text_file, read_whole_file
from aspenpy.language.schema import find_mismatch, parse_json
from aspenpy.record import Record

DATABASE = "compile_commands.json"

BELOW = ("", "build")
"""Folders, below that of a program, in which it is looked for."""

HEADERS = frozenset({".h", ".hpp", ".hh", ".hxx", ".H", ".cuh"})

MOST_UNITS = 5000
MOST_BYTES = 64 << 20
MOST_DATABASE = 16 << 20  # bytes, each of which takes up to 30 once read: 3 KB for each unit

ENTRY: Mapping[str, Any] = {"arguments": [], "command": "", "directory": ""}
SHAPE = {"directory": str, "file": str, "arguments": [str], "command": str}
"""What an entry has without being there, and the shape of all that is looked at."""

_WITH_FOLDER = (*HEADER_FOLDER_OPTIONS, "-include")
_PREPROCESSING = ("-D", "-U", "-std=")
FORTRAN_OPTIONS = ("-cpp", "-ffree-form", "-ffixed-form", "-fdefault-real-8", "-fdefault-integer-8")
"""Options of gfortran that change what a program means."""

LONGEST_QUOTED = 131_072
"""Characters of a command with quotes, whose words take a second for each million: Linux passes no longer word."""

_QUOTED = re.compile(r"['\"\\]")
_SPACES = re.compile(r"[ \t\r\n]+")

_INCLUDED = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"\n\0]+)"', re.MULTILINE)


class TranslationUnit(Record):
    """A file that is compiled, and its options for the preprocessor."""

    path: str
    flags: tuple[str, ...] = ()

    @property
    def is_cpp(self) -> bool:
        return os.path.splitext(self.path)[1] in CPP

    @property
    def is_fortran(self) -> bool:
        return os.path.splitext(self.path)[1] in FORTRAN

    @property
    def is_cuda(self) -> bool:
        return os.path.splitext(self.path)[1] in CUDA

    def language(self) -> tuple[str, str]:
        """The compiler's option for the language of the unit."""
        return "-x", "c++" if self.is_cpp else "c"


def find_units(paths: Sequence[str], flags: tuple[str, ...] = ()) -> tuple[TranslationUnit, ...]:
    """The translation units of files, folders and compile_commands.json, each file once; `flags` are added to those of
    each. Raises AspenError."""
    units: dict[str, TranslationUnit] = {}
    for path in paths:
        for unit in _units_of(path):
            all_flags = (*unit.flags, *flags)
            if any("\0" in word for word in (unit.path, *all_flags)):
                fail("file-not-readable", f"{unit.path!r} cannot be read: its name or a flag contains a null byte")
            units.setdefault(os.path.realpath(unit.path), unit.replace(flags=all_flags))
    if len(units) > MOST_UNITS:
        fail("too-large", f"{len(units):,} files are named; at most {MOST_UNITS:,} make one model")
    return tuple(units.values())


def _units_of(path: str) -> Iterator[TranslationUnit]:
    if os.path.isdir(path):
        databases = [os.path.join(path, folder, DATABASE) for folder in BELOW]
        listed = next((name for name in databases if os.path.exists(name)), None)
        yield from _list_folder(path) if listed is None else _list_database(listed)
    elif path.endswith(".json"):
        yield from _list_database(path)
    else:
        yield TranslationUnit(path)


def _list_folder(folder: str) -> list[TranslationUnit]:
    """The sources below a folder, without those that another one includes."""
    paths: list[str] = []
    for where, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        if "CMakeCache.txt" in files:  # what CMake has built below has programs of its own
            folders[:] = [name for name in folders if name != "CMakeFiles"]
        paths += (os.path.join(where, name) for name in sorted(files) if is_source(name))
    if not paths:
        hint = "their names end in .c, .cc, .cpp, .cu, .f90 or .f, for example"
        fail("no-sources", f"no source of C, C++, CUDA or Fortran below `{folder}`", hint=hint)
    included = set()
    for name in paths[:MOST_UNITS]:
        beside = os.path.dirname(name)
        for match in _INCLUDED.finditer(read_whole_file(name, MOST_BYTES).decode("utf-8", "replace")):
            included.add(os.path.realpath(os.path.join(beside, match[1])))
    return [TranslationUnit(name) for name in paths if os.path.realpath(name) not in included]


def is_source(name: str) -> bool:
    suffix = os.path.splitext(name)[1]
    return suffix in CPP | C | CUDA | FORTRAN and suffix not in HEADERS


def _list_database(path: str) -> Iterator[TranslationUnit]:
    """The sources in a compilation database. Raises AspenError."""
    entries = read_database(path)
    if not entries:
        hint = "CMake writes it with -DCMAKE_EXPORT_COMPILE_COMMANDS=ON"
        fail("no-sources", f"`{path}` lists no commands", hint=hint)
    for entry in entries:
        if is_source(entry["file"]):
            folder = os.path.join(os.path.dirname(os.path.abspath(path)), entry["directory"])
            name = os.path.relpath(os.path.join(folder, entry["file"]))
            words = words_of(entry)
            flags = _preprocessor_flags(words, folder)
            if os.path.splitext(name)[1] in FORTRAN:
                flags = itertools.chain(flags, (word for word in words if word in FORTRAN_OPTIONS))
            yield TranslationUnit(name, tuple(flags))


def read_database(path: str | Path) -> list[dict[str, Any]]:
    """The entries of a compilation database. Raises AspenError."""
    listed = parse_json(read_text_file(path, MOST_DATABASE))
    if find_mismatch(listed, [{str: object}]) is not None:
        fail("bad-database", f"`{path}` is no list of compile commands")
    entries = [{**ENTRY, **{name: value for name, value in entry.items() if name in SHAPE}} for entry in listed]
    for entry in entries:
        if find_mismatch(entry, SHAPE) is not None:
            fail("bad-database", f"`{path}` has an entry without `file` or with other values than texts")
    return entries


def words_of(entry: Mapping[str, Any]) -> list[str]:
    """The words of a compile command. Raises AspenError where it has no end, or is longer than a system runs."""
    command = entry["command"]
    if entry["arguments"] or _QUOTED.search(command) is None:
        return list(entry["arguments"]) or [word for word in _SPACES.split(command) if word]
    if len(command) > LONGEST_QUOTED:
        message = f"the compile command of `{entry['file']}` has quotes and {len(command):,} characters"
        fail("too-large", message, hint=f"such a command has at most {LONGEST_QUOTED:,}")
    try:
        return shlex.split(command)
    except ValueError as error:
        return fail("bad-database", f"the compile command of `{entry['file']}` has no end: {str(error).lower()}")


def _preprocessor_flags(words: Sequence[str], folder: str) -> Iterator[str]:
    """Options that the preprocessor sees, with folders as they are seen from anywhere."""
    waiting = iter(words)
    for word in waiting:
        option = next((name for name in _WITH_FOLDER if word.startswith(name)), None)
        if option is not None:
            name = word[len(option) :] or next(waiting, "")
            plain = option == "-include" and not os.path.exists(os.path.join(folder, name))
            yield from (option, name if plain else os.path.normpath(os.path.join(folder, name)))
        elif word in ("-D", "-U"):
            yield word + next(waiting, "")
        elif word.startswith(_PREPROCESSING):
            yield word
        elif word.startswith("--offload-arch=gfx"):  # GCN and CDNA have 64 threads, RDNA 32 (LLVM, "AMDGPU Processors")
            yield warp_option(64 if word.startswith("--offload-arch=gfx9") else 32)
