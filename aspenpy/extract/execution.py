"""Execution: a program is compiled and run by the user's command, and its lines are counted: by gcov or, much slower,
 by Valgrind's lackey, which prints the address of each instruction.

What is compiled are the units that are extracted, expanded and laid out in a folder of its own; the command is run as
it was given, word by word and without a shell, with the program's name in it replaced by the path of what was compiled.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import threading
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal, NoReturn

from aspenpy.extract import heap_blocks, locality, outcomes
from aspenpy.extract import records as r
from aspenpy.extract.counted_fortran import LENIENT, MARKER, CountedFortran, order_by_modules
from aspenpy.extract.counted_fortran import RECORDER as RECORDER_MODULE
from aspenpy.extract.counted_units import CountedUnit, RunCounts, mark_expanded, merge_counts, read_records
from aspenpy.extract.fortran_text import FortranText
from aspenpy.extract.recorders import write_recorder
from aspenpy.extract.units import MOST_BYTES, TranslationUnit
from aspenpy.language.diagnostics import AspenError, fail
from aspenpy.language.opening import read_text_file, read_whole_file
from aspenpy.language.source import Span
from aspenpy.record import Record

Tool = Literal["gcov", "lackey"]

COMPILING = 600
"""Seconds that a compiler may take."""

RUNNING = 600
"""Seconds that a run may take."""

ALLOWED = "--allow-failure counts a run that ends so"

_PLACE = re.compile(r"\{([A-Za-z_]\w*)\}")


class ProgramCommand(Record):
    """The words of a command; `{n}` stands for the value of `n`. `program` is the word that names what is compiled: the
    first that begins with `./`, else the first."""

    words: tuple[str, ...]
    program: int

    def names(self) -> tuple[str, ...]:
        """The sizes that the program is given; those in its own name are macros that it is compiled with."""
        given = (*self.words[: self.program], *self.words[self.program + 1 :])
        return tuple(dict.fromkeys(name for word in given for name in _PLACE.findall(word)))

    def fill_in(self, values: Mapping[str, float], built: Sequence[str]) -> list[str]:
        """The command at some sizes, with what was built in place of the program."""

        def fill_word(word: str) -> str:
            return _PLACE.sub(lambda match: plain_text(values[match[1]]) if match[1] in values else match[0], word)

        before, behind = self.words[: self.program], self.words[self.program + 1 :]
        return [*map(fill_word, before), *built, *map(fill_word, behind)]


def parse_command(text: str) -> ProgramCommand:
    """Parses the words of a command. Raises AspenError."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        fail("bad-command", f"`{text}` is no command: {str(error).lower()}")
    if not words:
        fail("bad-command", "--run: there is no command", hint='such as --run "./a.out {n}"')
    local = [place for place, word in enumerate(words) if word.startswith("./")]
    return ProgramCommand(tuple(words), local[0] if local else 0)


def plain_text(value: float) -> str:
    return str(int(value)) if float(value).is_integer() else repr(float(value))


class Build(Record):
    """The build of a program: its units with the options of the preprocessor, as for the extraction; the linker's
    options; the compiler."""

    units: tuple[TranslationUnit, ...]
    links: tuple[str, ...] = ()
    compiler: str | None = None
    openmp: bool = False
    counts: Tool = "gcov"

    def find_compiler(self) -> str:
        """The compiler that is named, else GCC's for the languages of the units. Raises AspenError."""
        named = self.compiler if self.compiler and "fortran" not in self.compiler else None
        compiler = named or ("g++" if any(unit.is_cpp for unit in self.units) else "gcc")
        if shutil.which(compiler) is None:
            fail("no-compiler", f"--run needs the compiler `{compiler}`, which is not installed")
        return compiler

    def find_fortran_compiler(self) -> str:
        """The compiler that is named, if it is one of Fortran, else gfortran, in the version of the one of C that is
        named. Raises AspenError."""
        named = os.path.basename(self.compiler or "")
        version = re.fullmatch(r"(?:gcc|g\+\+)(-[\d.]+)", named)
        is_fortran = "fortran" in named or named.startswith("mpif")
        compiler = self.compiler if is_fortran and self.compiler else f"gfortran{version[1] if version else ''}"
        if shutil.which(compiler) is None:
            fail("no-compiler", f"--run needs the compiler `{compiler}`, which is not installed")
        return compiler


Lines = dict[int, float]
"""How often the lines of a unit ran."""


class Compiled:
    """A program that was compiled in a folder of its own. `programs` are the units as the source has them."""

    options: tuple[str, ...] = ()

    def __init__(
        self,
        build: Build,
        programs: Sequence[r.Program],
        recorded: Sequence[Span],
        pointers: Sequence[Span],
        touched: Sequence[locality.Site],
        tested: Sequence[Span],
        *,
        folder: str,
    ) -> None:
        self.build, self.programs, self.folder = build, programs, folder
        self.recorded = {span: number for number, span in enumerate((*recorded, *pointers))}
        self.pointers = len(self.recorded) - len(recorded)  # the last of them
        self.sites = touched
        self.touched = locality.number_spans(touched)
        self.tests = tested
        self.tested = {span: number for number, span in enumerate(tested)}
        self.records = os.path.join(folder, "records")
        self.outcomes = os.path.join(folder, "outcomes")
        self.blocks = os.path.join(folder, "blocks")
        self.touches = os.path.join(folder, "touches")
        self.units: list[CountedUnit | CountedFortran] = []
        self.program = os.path.join(folder, "program")

    def compile(self, macros: Mapping[str, float]) -> None:
        """Compiles the program with macros set; without tests, touches, then records of pointers, and then of whole
        numbers, where it cannot be compiled with them. Raises AspenError."""
        try:
            self._build(macros)
        except AspenError:
            if self.tested or self.touched:
                self.touched = self.touched if self.tested else {}
                self.tested = {}
                self.compile(macros)
                return
            if not self.recorded:
                raise
            self.recorded = {} if self.pointers <= 0 else dict(list(self.recorded.items())[: -self.pointers])
            self.pointers = 0
            self.compile(macros)

    def _build(self, macros: Mapping[str, float]) -> None:
        is_mixed = any(unit.is_fortran for unit in self.build.units)
        if is_mixed:
            self.build.find_fortran_compiler()
        is_plain = all(unit.is_fortran for unit in self.build.units)
        compiler = "gcc" if is_plain else self.build.find_compiler()
        parallel = ["-fopenmp", "-fprofile-update=atomic"] if self.build.openmp else []
        defined = [f"-D{name}={plain_text(value)}" for name, value in macros.items()]
        self.units, objects = [], []
        for place, (unit, program) in enumerate(zip(self.build.units, self.programs, strict=True)):
            path = os.path.join(self.folder, f"{place}_{os.path.basename(unit.path)}")
            if unit.is_fortran:
                self.units.append(self._lay_out(unit, program, path, defined, macros))
                objects.append(f"{os.path.splitext(path)[0]}.o")
                continue
            self._expand(compiler, unit, [*defined, *parallel[:1]], path, tuple(macros))
            self.units.append(CountedUnit(path, program, unit.is_cpp))
            Path(path).write_text(self.units[-1].text(self.recorded, self.touched, self.tested), encoding="utf-8")
            objects.append(f"{os.path.splitext(path)[0]}.o")
            standard = [flag for flag in unit.flags if flag.startswith("-std=")]
            options = [*standard, "-w", "-O0", *self.options, *parallel, "-fpreprocessed", "-c", *unit.language(), path]
            self._compile(compiler, [*options, "-o", objects[-1]], unit)
        objects += self._build_recorder() if is_mixed or self.recorded or self.touched or self.tested else []
        linked = [*self.options, *parallel, *objects, "-o", self.program, *self.build.links, "-lm"]
        if is_mixed:
            compiler, module = self._compile_fortran(parallel)
            linked += [module, *(["-lstdc++"] if any(unit.is_cpp for unit in self.build.units) else [])]
        self._compile(compiler, linked, self.build.units[0])

    def _lay_out(
        self, unit: TranslationUnit, program: r.Program, path: str, defined: list[str], macros: Mapping[str, float]
    ) -> CountedFortran:
        """A unit of Fortran, its text with marks in a file whose name says its form alone."""
        text = FortranText(unit.path, (*unit.flags, *defined))
        for name in sorted(text.defined_again & macros.keys()):
            _refuse_fixed_macro(unit.path, name)
        found = CountedFortran(f"{os.path.splitext(path)[0]}.{'f' if text.is_fixed else 'f90'}", text, program)
        Path(found.path).write_text(found.text(self.recorded, self.touched, self.tested), encoding="utf-8")
        return found

    def _compile_fortran(self, parallel: list[str]) -> tuple[str, str]:
        """Compiles the units of Fortran, those whose modules others use first. Returns the compiler, which links, and
        the object of the module that keeps records."""
        compiler = self.build.find_fortran_compiler()
        places = ["-J", self.folder, "-I", self.folder]  # and no other: the user's folder may have modules of its own
        recorder = os.path.join(self.folder, "aspenpy_recorder.f90")
        Path(recorder).write_text(RECORDER_MODULE, encoding="utf-8")
        units = dict(zip((unit.path for unit in self.units), self.build.units, strict=True))
        module = f"{recorder[:-4]}_module.o"
        self._compile(compiler, ["-c", *places, recorder, "-o", module], self.build.units[0], self.folder)
        for found in order_by_modules([unit for unit in self.units if isinstance(unit, CountedFortran)]):
            unit = units[found.path]
            flags = [
                f"-I{os.path.abspath(flag[2:])}" if flag[:2] == "-I" and flag[2:] else flag
                for flag in unit.flags
                if not flag.startswith(("-D", "-U", "-cpp"))
            ]
            options = ["-w", "-O0", *self.options, *parallel, *LENIENT, *flags, *places, "-c", found.path]
            self._compile(compiler, [*options, "-o", f"{os.path.splitext(found.path)[0]}.o"], unit, self.folder)
        return compiler, module

    def _build_recorder(self) -> list[str]:
        """The object of what keeps the records."""
        source = os.path.join(self.folder, "recorder.c")
        numbered = {"PLACES": self.recorded, "SITES": self.sites, "BRANCHES": self.tests}
        files = {"records": self.records, "blocks": self.blocks, "touches": self.touches, "outcomes": self.outcomes}
        text = write_recorder({name: max(1, len(each)) for name, each in numbered.items()}, files)
        Path(source).write_text(text + MARKER, encoding="utf-8")
        built = os.path.join(self.folder, "recorder.o")
        self._compile("gcc", ["-O2", "-c", source, "-o", built], self.build.units[0])
        return [built]

    def _expand(
        self, compiler: str, unit: TranslationUnit, options: list[str], path: str, macros: tuple[str, ...]
    ) -> None:
        """Writes the text of a unit with its macros and headers expanded."""
        done = self._compile(compiler, [*unit.flags, *options, "-E", *unit.language(), unit.path, "-o", path], unit)
        for name in macros:
            if f'"{name}" redefined' in done.stderr:
                _refuse_fixed_macro(unit.path, name)
        text = read_whole_file(path, MOST_BYTES).decode("utf-8", "replace")
        Path(path).write_text(mark_expanded(text), encoding="utf-8")

    def _compile(
        self, compiler: str, options: list[str], unit: TranslationUnit, folder: str | None = None
    ) -> subprocess.CompletedProcess[str]:
        line = [compiler, *options]
        try:
            done = subprocess.run(line, capture_output=True, text=True, errors="replace", timeout=COMPILING, cwd=folder)
        except (OSError, subprocess.TimeoutExpired) as error:
            fail("not-compiled", f"`{compiler}` cannot be run: {error}")
        if done.returncode:
            said = [text for text in done.stderr.splitlines() if "error" in text or "undefined" in text]
            reason = said[0].replace(self.folder + os.sep, "") if said else f"status {done.returncode}"
            hint = "-I, -D and --std are as for the extraction; --link NAME adds a library"
            fail("not-compiled", f"`{compiler}` cannot compile `{unit.path}`: {reason}", hint=hint)
        return done

    def count(self, command: ProgramCommand, sizes: Mapping[str, float], allow_failure: bool) -> RunCounts:
        """Runs the command and counts statements. Raises AspenError."""
        names = (self.records, self.blocks, self.touches, self.outcomes)
        for name in filter(os.path.exists, names):
            os.remove(name)
        lines = self.count_lines(command, sizes, allow_failure)
        counts = merge_counts(unit.count(found) for unit, found in zip(self.units, lines, strict=True))
        texts = [read_text_file(name) if os.path.exists(name) else "" for name in names]
        spans = {number: span for span, number in self.recorded.items()}
        guessed = {self.tests[number]: found for number, found in outcomes.read_outcomes(texts[3]).items()}
        return counts.replace(
            recorded={spans[number]: value for number, value in read_records(texts[0]).items()},
            pointed={spans[number]: found for number, found in heap_blocks.read_pointed(texts[1]).items()},
            touched={self.sites[number]: found for number, found in locality.read_touches(texts[2]).items()},
            guessed={span: found for span, found in guessed.items() if not found.calls},
            compared={span: found for span, found in guessed.items() if found.calls},
        )

    def count_lines(self, command: ProgramCommand, sizes: Mapping[str, float], allow_failure: bool) -> list[Lines]:
        """Runs the command and counts the lines of each unit. Raises AspenError."""
        raise NotImplementedError


class Coverage(Compiled):
    """A program that counts its lines itself."""

    options = ("--coverage",)

    def count_lines(self, command: ProgramCommand, sizes: Mapping[str, float], allow_failure: bool) -> list[Lines]:
        words = command.fill_in(sizes, [self.program])
        counts = [f"{os.path.splitext(unit.path)[0]}.gcda" for unit in self.units]
        for name in filter(os.path.exists, counts):
            os.remove(name)
        run_command(words, allow_failure)
        if not any(map(os.path.exists, counts)):
            fail(
                "no-counts",
                f"`{' '.join(words)}` has not run the program to its end: gcov has no counts",
                hint="the program's name in the command is what is compiled, such as ./a.out",
            )
        return [self._read_counts(name) if os.path.exists(name) else {} for name in counts]

    def _read_counts(self, path: str) -> Lines:
        gcov = [_gcov_name(self.build.compiler), "--json-format", "--stdout", path]
        try:
            done = subprocess.run(gcov, cwd=self.folder, capture_output=True, text=True, timeout=COMPILING, check=True)
            read = json.loads(done.stdout)
        except (OSError, subprocess.SubprocessError, ValueError) as error:
            fail("no-counts", f"gcov cannot read the counts: {error}", hint="gcov comes with the compiler GCC")
        lines: Lines = {}
        for file in read.get("files", ()):
            begun = {(each["name"], each["start_line"]): each["execution_count"] for each in file["functions"]}
            for line in file["lines"]:
                number = line["line_number"]
                # A loop that begins a function shares the block of its head: its passes count there, too.
                count = begun.get((line.get("function_name"), number), line["count"])
                lines[number] = lines.get(number, 0) + count
        return lines


class Traced(Compiled):
    """A program whose instructions lackey lists. A line ran as often as its first instruction."""

    options = ("-g", "-gdwarf-4", "-fno-pie", "-no-pie")

    def count_lines(self, command: ProgramCommand, sizes: Mapping[str, float], allow_failure: bool) -> list[Lines]:
        for tool in ("valgrind", "objdump"):
            if shutil.which(tool) is None:
                fail("no-counts", f"--counts lackey needs `{tool}`, which is not installed")
        traced = ["valgrind", "--tool=lackey", "--basic-counts=no", "--trace-mem=yes", self.program]
        executed = self._count_instructions(command.fill_in(sizes, traced), allow_failure)
        counts: dict[str, Lines] = {os.path.basename(unit.path): {} for unit in self.units}
        for name, line, address in self._list_first_addresses():
            if name in counts:
                counts[name][line] = counts[name].get(line, 0) + executed.get(address, 0)
        return list(counts.values())

    @staticmethod
    def _count_instructions(words: list[str], allow_failure: bool) -> Mapping[int, int]:
        """Executions of each instruction, by its address."""
        seen: dict[bytes, int] = {}
        try:
            process = subprocess.Popen(
                words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, bufsize=2**20
            )
        except OSError as error:
            fail("no-command", f"`{words[0]}` cannot be run: {error.strerror}")
        limit = threading.Timer(RUNNING, process.kill)
        limit.start()
        with process:
            for line in process.stderr or ():
                if line.startswith(b"I  "):
                    seen[line] = seen.get(line, 0) + 1
        limit.cancel()
        if process.returncode and not allow_failure:
            fail("command-failed", f"`{' '.join(words)}` ended with status {process.returncode}", hint=ALLOWED)
        return {int(line[3:].partition(b",")[0], 16): count for line, count in seen.items() if b"," in line}

    def _list_first_addresses(self) -> Iterator[tuple[str, int, int]]:
        """File, line and address of the first instruction of each line in each function."""
        listed = [
            subprocess.run(["objdump", *words, self.program], capture_output=True, text=True, check=True).stdout
            for words in (["--dwarf=decodedline"], ["-t"])
        ]
        functions = sorted(int(text.split()[0], 16) for text in listed[1].splitlines() if re.search(r"\bF\b", text))
        first: dict[tuple[str, int, int], int] = {}
        for text in listed[0].splitlines():
            row = re.match(r"(\S+)\s+(\d+)\s+0x([0-9a-f]+)\b", text)
            if row is not None:
                address = int(row[3], 16)
                key = (row[1], int(row[2]), bisect_right(functions, address))
                first[key] = min(address, first.get(key, address))
        yield from ((name, line, address) for (name, line, _), address in first.items())


def _refuse_fixed_macro(path: str, name: str) -> NoReturn:
    hint = f"put `#ifndef {name}` around its definition, or read the size from the command line"
    fail("fixed-macro", f"`{path}` defines `{name}` whatever --over says", hint=hint)


def run_command(command: list[str], allow_failure: bool = False) -> None:
    """Runs a command with its output discarded. Raises AspenError where it ends with a signal, or with an error that is
    not allowed."""
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=RUNNING
        )
    except OSError as error:
        fail("no-command", f"`{command[0]}` cannot be run: {error.strerror}")
    except subprocess.TimeoutExpired:
        fail(
            "command-failed", f"`{' '.join(command)}` has not ended after {RUNNING} s", hint="counts of small sizes do"
        )
    if done.returncode < 0 or (done.returncode and not allow_failure):
        said = done.stderr.decode("utf-8", "replace").strip()[-1000:]
        ended = f"`{' '.join(command)}` ended with status {done.returncode}"
        fail("command-failed", ended, hint=said.splitlines()[-1] if said else ALLOWED)


def _gcov_name(compiler: str | None) -> str:
    """The gcov that belongs to a compiler: `gcc-13` has `gcov-13`."""
    version = re.search(r"(?:gcc|g\+\+)(-[\d.]+)$", compiler or "")
    name = f"gcov{version[1]}" if version else "gcov"
    return name if shutil.which(name) else "gcov"


@contextmanager
def prepare_program(
    build: Build,
    programs: Sequence[r.Program],
    recorded: Sequence[Span],
    pointers: Sequence[Span],
    touched: Sequence[locality.Site] = (),
    tested: Sequence[Span] = (),
) -> Iterator[Compiled]:
    """A program in a folder that is removed afterwards. Raises AspenError."""
    with TemporaryDirectory(prefix="aspenpy-") as folder:
        yield PROGRAMS[build.counts](build, programs, recorded, pointers, touched, tested, folder=folder)


PROGRAMS: dict[Tool, type[Compiled]] = {"gcov": Coverage, "lackey": Traced}
