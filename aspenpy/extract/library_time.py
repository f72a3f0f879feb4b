"""Time in libraries: a program as it is built runs beside a timer that notes where it is, tick by tick.

What stands in a function of the program, by the debug lines of the function around all that was inlined, is the
program's own time, which the model has from its text. All else is a library's: its time belongs to the line of the
program that called it, with the cycles of a chain of additions as the unit.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from tempfile import TemporaryDirectory

from aspenpy.assembly.compiling import NATIVE, PATIENCE, Recipe
from aspenpy.extract.costs import LIBRARY, Arithmetic, Item, Nest, rewrite_inside, walk_items
from aspenpy.extract.execution import ProgramCommand, plain_text, run_command
from aspenpy.extract.paths import Located, line_of, real_path
from aspenpy.extract.reconcile import SHOWN_SHARE
from aspenpy.extract.recorders import write_recorder
from aspenpy.extract.scope import Names, TimedLines
from aspenpy.extract.units import TranslationUnit
from aspenpy.language.diagnostics import AspenError, Diagnostic, warning
from aspenpy.language.opening import read_text_file
from aspenpy.record import Record

FEWEST_TICKS = 60
"""Ticks of a run from which on its shares are taken: that of one half is 6.5 % off then (one standard error)."""

ENOUGH_TICKS = 200
"""Ticks behind which the command is not run again."""

MOST_RUNS = 4

FEWEST_OF_A_LINE = 3
"""Ticks from which on the time of a line is taken."""

Frame = tuple[str, str, int]
"""A function, its file and the line there; what was inlined has the functions around it behind it."""


class LibraryTime(Record):
    """Seconds of a run in a library that a line of the program called, and the name of what was called most."""

    seconds: float
    name: str


class SampledRun(Record):
    """Seconds of a run on processors, those of a cycle of a chain of additions, the seconds of the program's own
    functions by their names, and those of libraries by the line that called them."""

    seconds: float
    cycle: float
    own: Mapping[str, float]
    libraries: Mapping[Located, LibraryTime]

    @property
    def library_share(self) -> float:
        return sum(each.seconds for each in self.libraries.values()) / self.seconds if self.seconds else 0.0


def add_hidden_calls(items: list[Item], names: Names, hidden: Collection[Located]) -> list[Item]:
    """The items of a function with the cycles of calls of libraries that its text does not show, such as those of
    destructors: each beside what stands nearest to its line."""
    spans = (item.span for item in walk_items(items) if not isinstance(item, Nest))
    lines = {line_of(span) for span in spans if span is not None}
    at: dict[Located, list[Located]] = {}
    for file, line in sorted(hidden):
        near = [known for path, known in lines if path == file]
        if near and min(near) <= line <= max(near):
            at.setdefault((file, min(near, key=lambda known: (abs(known - line), known))), []).append((file, line))

    def rewrite(inside: list[Item]) -> list[Item]:
        found: list[Item] = []
        done: set[Located] = set()
        for item in inside:
            found.append(rewrite_inside(item, rewrite))
            span = None if isinstance(item, Nest) else item.span
            if span is None or (place := line_of(span)) in done:
                continue
            done.add(place)
            for called in at.get(place, ()):
                if cycles := names.find_library_cycles(span, called):
                    found.append(Arithmetic(LIBRARY, cycles[0], 1, span, cycles[1]))
        return found

    return rewrite(items) if at else items


def warn_missing(sampled: SampledRun, modelled: Collection[str]) -> list[Diagnostic]:
    """Names the lines whose calls of libraries took a good part of a run's time, and that the model does not reach."""
    hint = "what the library does there is missing from the model"
    return [
        warning("unmodelled", f"{os.path.basename(file)}:{line}: {said}", hint=hint)
        for (file, line), time in sampled.libraries.items()
        if f"{file}:{line}" not in modelled and time.seconds > SHOWN_SHARE * sampled.seconds
        for said in [f"the run was for {time.seconds / sampled.seconds:.1%} of its time in `{time.name}`, called here"]
    ]


def list_timed(sampled: Sequence[SampledRun], shown: Collection[Located]) -> TimedLines:
    """The lines of calls of libraries that took time in runs; the text shows those of `shown`."""
    names = {place: time.name for times in sampled for place, time in times.libraries.items()}
    return TimedLines(names, frozenset(names.keys() - set(shown)))


def sample_program(
    units: Sequence[TranslationUnit],
    recipe: Recipe,
    links: Sequence[str],
    command: ProgramCommand,
    sizes: Mapping[str, float],
    *,
    files: Collection[str],
    allow_failure: bool,
) -> SampledRun | None:
    """Runs a program as the recipe builds it, with a timer; `files` are those with its text. None where that cannot be
    done here, or took too few ticks to say anything."""
    if recipe.target != NATIVE or command.program or any(unit.is_fortran or unit.is_cuda for unit in units):
        return None
    tools = ("gcc", "addr2line", "c++filt", recipe.command(units[0].path)[0])
    if not all(map(shutil.which, tools)):
        return None
    with TemporaryDirectory(prefix="aspenpy-") as folder:
        macros = [f"-D{name}={plain_text(value)}" for name, value in sizes.items() if name not in command.names()]
        program = _build(units, recipe, [*links], macros, folder)
        if program is None:
            return None
        lines = _run_repeatedly(command.fill_in(sizes, [program]), os.path.join(folder, "samples"), allow_failure)
        ticks = [line.split() for line in lines if not _HEAD.match(line)]
        heads = [line.split() for line in lines if _HEAD.match(line)]
        if len(ticks) < FEWEST_TICKS or not heads:
            return None
        places = {frame for tick in ticks for frame in tick if not frame.startswith(("=", "?"))}
        frames = _find_lines(program, sorted(places))
    seconds = sum(float(head[0]) for head in heads) / len(heads)
    cycle = min(float(head[1]) for head in heads)
    return _summarise(seconds, cycle, ticks, frames, {real_path(file) for file in files})


def _run_repeatedly(words: list[str], noted: str, allow_failure: bool) -> list[str]:
    """The lines that the runs of a program note, of which there are as many as give enough ticks."""
    lines: list[str] = []
    for _ in range(MOST_RUNS):
        try:
            run_command(words, allow_failure)
        except AspenError:
            return []
        lines = read_text_file(noted).splitlines() if os.path.exists(noted) else []
        if len(lines) > ENOUGH_TICKS:
            break
    return lines


def _summarise(
    seconds: float,
    cycle: float,
    ticks: Sequence[Sequence[str]],
    frames: Mapping[str, Sequence[Frame]],
    files: Collection[str],
) -> SampledRun:
    """Seconds by function and line, of ticks that share those of a run equally."""
    own, libraries, names = _attribute(ticks, frames, files)
    each = seconds / len(ticks)
    plain = _demangle({name for found in names.values() for name in found})
    times = {
        place: LibraryTime(each * count, plain[names[place].most_common(1)[0][0]])
        for place, count in libraries.items()
        if count >= FEWEST_OF_A_LINE
    }
    return SampledRun(seconds, cycle, {name: each * count for name, count in own.items()}, times)


_HEAD = re.compile(r"[\d.]+(?:e[-+]\d+)? [\d.]+(?:e[-+]\d+)?$")


def _build(
    units: Sequence[TranslationUnit], recipe: Recipe, links: list[str], macros: list[str], folder: str
) -> str | None:
    """Path of the program with its timer; None where it cannot be built."""
    source = os.path.join(folder, "samples.c")
    with open(source, "w", encoding="utf-8") as file:
        file.write(write_recorder({}, {"samples": os.path.join(folder, "samples")}))
    objects = [os.path.join(folder, "samples.o")]
    lines = [["gcc", "-O2", "-c", source, "-o", objects[0]]]
    for number, unit in enumerate(units):
        objects.append(os.path.join(folder, f"{number}.o"))
        command = [*recipe.command(unit.path), *unit.flags, *macros, "-g", "-fno-lto", "-w", "-c"]
        lines.append([*command, os.path.abspath(unit.path), "-o", objects[-1]])
    program = os.path.join(folder, "program")
    linker = "g++" if any(unit.is_cpp for unit in units) else "gcc"
    threads = ["-fopenmp"] if "-fopenmp" in recipe.options else []
    lines.append([linker, *threads, *objects, "-o", program, *links, "-lm", "-ldl"])
    for line in lines:
        try:
            subprocess.run(line, capture_output=True, check=True, timeout=PATIENCE, stdin=subprocess.DEVNULL)
        except (OSError, subprocess.SubprocessError):
            return None
    return program


def _find_lines(program: str, places: Sequence[str]) -> dict[str, list[Frame]]:
    """The function and line of places in a program, what was inlined before what it was inlined into."""
    asked = "\n".join(f"0x{place}" for place in places)
    found: dict[str, list[Frame]] = {place: [] for place in places}
    here, function = "", ""
    for line in _ask(["addr2line", "-e", program, "-f", "-i", "-a"], asked):
        if line.startswith("0x"):
            here, function = f"{int(line, 16):x}", ""
        elif not function:
            function = line
        else:
            file, _, number = line.split(" (disc")[0].rpartition(":")
            found.setdefault(here, []).append((function, real_path(file), int(number) if number.isdigit() else 0))
            function = ""
    return found


def _ask(command: Sequence[str], text: str) -> list[str]:
    """The lines that a tool answers to a text; none where it does not end."""
    try:
        done = subprocess.run(
            command, input=text, capture_output=True, text=True, errors="replace", check=False, timeout=PATIENCE
        )
    except (OSError, subprocess.SubprocessError):
        return []
    return done.stdout.splitlines()


def _attribute(
    ticks: Iterable[Sequence[str]], frames: Mapping[str, Sequence[Frame]], files: Collection[str]
) -> tuple[Counter[str], Counter[Located], dict[Located, Counter[str]]]:
    """Ticks of the program's own functions; those of libraries by the line that called them; what they were in."""
    own: Counter[str] = Counter()
    libraries: Counter[Located] = Counter()
    names: dict[Located, Counter[str]] = {}
    for tick in ticks:
        inner = "a library"
        for depth, place in enumerate(tick):
            known = frames.get(place, ())
            if not known or known[-1][1] not in files:
                name = known[-1][0] if known else place[1:]
                inner = name if name.strip("?") else inner
                continue
            if depth == 0:
                own[known[-1][0]] += 1
            else:
                line = next((file, number) for _, file, number in known if file in files)
                libraries[line] += 1
                names.setdefault(line, Counter())[inner] += 1
            break
    return own, libraries, names


def _demangle(names: Collection[str]) -> dict[str, str]:
    """Names of functions without the types of their arguments and templates."""
    listed = sorted(names)
    said = _ask(["c++filt", "-p"], "\n".join(listed))
    return {
        name: _shorten(text) for name, text in zip(listed, said if len(said) == len(listed) else listed, strict=True)
    }


def _shorten(name: str) -> str:
    """A C++ name without the arguments of its templates, and without inner namespaces."""
    before = None
    while before != name:
        before, name = name, re.sub(r"<[^<>]*>", "", name)
    return name.replace("std::__cxx11::", "std::").replace("std::__detail::", "std::") or before
