"""Baseline: a snapshot in a file, with what it was taken of, so that it can be taken anew and compared."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Container, Mapping, Sequence
from pathlib import Path
from typing import Any

from aspenpy.answers.case import Case
from aspenpy.explore.snapshot import Snapshot, read_snapshot, take_snapshot
from aspenpy.extract.extraction import extract, warn_unknown
from aspenpy.extract.records import CPP, FORTRAN, C
from aspenpy.language.diagnostics import Diagnostic, fail
from aspenpy.language.opening import read_text_file
from aspenpy.models.application.model import Application
from aspenpy.models.library import load_application, load_machine, parse
from aspenpy.record import Record

_POSITION = re.compile(r"^\s*// (\S+:\d+):")
"""The comment above a kernel or block of an extracted model: its file and line in the program."""


class Origin(Record):
    """The subject of a snapshot: an application, or a program of which a model is made, of one file or several, and
    machines. Each is a name of the library, or a file as seen from the folder of the baseline; `set` gives values of
    parameters."""

    model: str | Sequence[str]
    machines: tuple[str, ...]
    kernel: str | None
    set: Mapping[str, Any]

    def take_snapshot(
        self,
        folder: Path,
        choose_kernel: Callable[[Application, str | None], str],
        tell: Callable[[Sequence[Diagnostic]], None] | None = None,
    ) -> Snapshot:
        """The snapshot as it is now. `choose_kernel` names the kernel to evaluate where none, or one, is stated; `tell`
        takes what the source of a program leaves open."""
        names = [self.model] if isinstance(self.model, str) else self.model
        application, positions, open_questions = load_program([_locate(name, folder) for name in names], known=self.set)
        if tell is not None:
            tell(open_questions)
        kernel = choose_kernel(application, self.kernel)
        machines = [load_machine(_locate(name, folder)) for name in self.machines]
        cases = [Case(application, machine, kernel=kernel, set=self.set) for machine in machines]
        return take_snapshot(cases, positions)


class Baseline(Record):
    """A snapshot and what it was taken of."""

    origin: Origin
    snapshot: Snapshot

    def to_text(self) -> str:
        """The text of a file from which `read_baseline` reads the same."""
        origin = {name: getattr(self.origin, name) for name in Origin._fields}
        return json.dumps({**self.snapshot.to_json(), "of": origin}, indent=1) + "\n"


def read_baseline(path: str) -> Baseline:
    """The baseline in a file. Raises AspenError where there is none."""
    text = read_text_file(path, hint="--begin MODEL --machine M writes it")
    try:
        kept = json.loads(text)
        origin = {name: kept["of"][name] for name in Origin._fields}
        return Baseline(Origin(**origin | {"machines": tuple(origin["machines"])}), read_snapshot(kept, path))
    except (ValueError, KeyError, TypeError):
        fail("bad-snapshot", f"`{path}` is no baseline", hint="--begin and --machine begin one")


def is_program(name: str) -> bool:
    """Whether a model is made of this: a file of C, C++, Fortran, CUDA or HIP, a folder, or compile_commands.json."""
    return os.path.splitext(name)[1] in _SOURCES or os.path.basename(name) == COMMANDS or os.path.isdir(name)


COMMANDS = "compile_commands.json"
_SOURCES = C | CPP | FORTRAN | {".cu", ".hip"}


def load_program(
    names: Sequence[str], known: Container[str] = ()
) -> tuple[Application, dict[int, str], Sequence[Diagnostic]]:
    """An application; and of a program the positions in its source, by the lines of its model, and what its source
    leaves open but for the parameters that are `known`. A program may be of several files."""
    if len(names) == 1 and not is_program(names[0]):
        return load_application(names[0]), {}, ()
    extraction = extract(names, level="o2")
    text = extraction.text
    application = parse(text, names[0])
    assert isinstance(application, Application)
    positions, position = {}, ""
    for number, line in enumerate(text.splitlines(), 1):
        if found := _POSITION.match(line):
            position = found[1]
        if position:
            positions[number] = position
    settled = [warn_unknown(hole) for hole in extraction.holes if hole.name in known]
    return application, positions, [item for item in extraction.diagnostics if item not in settled]


def _locate(name: str, folder: Path) -> str:
    """The path of a file in a folder; a name of the library as it is."""
    return str(folder / name) if (folder / name).exists() else name
