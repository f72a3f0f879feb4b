"""Smaller runs: the sizes that a command gives its program, each made smaller alone, so that what is counted becomes
formulas of them. A program that ends with an error at a smaller size has none of these runs."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import islice

from aspenpy.extract.execution import ProgramCommand, plain_text
from aspenpy.language.diagnostics import Diagnostic
from aspenpy.language.source import Span
from aspenpy.record import Record

LEAST_SIZE = 8
"""The smallest number of a command that is taken for a size: smaller ones choose ways, dimensions and repetitions."""

FAR, NEAR = (0.125, 0.25, 0.5), (0.5, 0.625, 0.75)
"""Parts of a size at which smaller runs are made, and of one below `SMALL`, where edges would be most of it."""

SMALL = 32

LONGEST, SHORT = 1.5, 5.0
"""How many times the time of the run that was asked for the smaller ones of each size may take together, and a time
that they may always take (s)."""

MOST_FILES = 10_000
"""Files of the folder in which a program runs that are looked at."""

_NUMBER = re.compile(r"(?:.*=)?([1-9]\d*)")


class CommandSize(Record):
    """A number in a command that the program reads: its name in the model, the word, and the place where it is read."""

    name: str
    word: int
    value: int
    span: Span

    def list_smaller(self) -> list[int]:
        parts = NEAR if self.value < SMALL else FAR
        return [int(self.value * part) for part in parts]


def find_command_sizes(
    command: ProgramCommand, read: Mapping[str, Span], recorded: Mapping[Span, float]
) -> list[CommandSize]:
    """The numbers behind the program's name in a command that parameters of the model, `read` at some places, had in
    the run."""
    numbers = {
        place: int(found[1])
        for place, word in enumerate(command.words)
        if place > command.program and (found := _NUMBER.fullmatch(word))
    }
    sizes = []
    for name, span in read.items():
        word = next((place for place, number in numbers.items() if number == recorded.get(span)), None)
        if word is not None and numbers[word] >= LEAST_SIZE:
            sizes.append(CommandSize(name, word, numbers.pop(word), span))
    return sizes


def name_sizes(command: ProgramCommand, sizes: list[CommandSize]) -> ProgramCommand:
    """The command with names in braces for its sizes."""
    words = list(command.words)
    for size in sizes:
        words[size.word] = words[size.word].removesuffix(str(size.value)) + f"{{{size.name}}}"
    return command.replace(words=tuple(words))


def list_files() -> dict[str, tuple[int, int]]:
    """The files below the folder in which programs run, by their ways: when each was written, and its bytes."""
    found = {}
    paths = (os.path.join(folder, name) for folder, _, names in os.walk(".") for name in names)
    for path in islice(paths, MOST_FILES):
        with suppress(OSError):  # it may be gone
            status = os.stat(path)
            found[path.removeprefix("./")] = status.st_mtime_ns, status.st_size
    return found


def note_smaller_runs(runs: Sequence[Mapping[str, float]], written: str) -> list[Diagnostic]:
    """The note of the smaller runs that were made, by the sizes of all runs; or that there are none, since the program
    may write a file anew."""
    if written:
        message = f"`{written}` was written during the run, by the program or another: none at smaller sizes follow"
        return [Diagnostic("no-smaller-runs", message, hint="--over names sizes to run it with", severity="note")]
    listed = [
        f"{name} = {', '.join(plain_text(sizes[name]) for sizes in runs if sizes[name] != value)}"
        for name, value in runs[-1].items()
    ]
    message = f"also run with {', then '.join(listed)}: what is counted becomes formulas"
    hint = "--over names other sizes, --single-run makes no such runs"
    return [Diagnostic("smaller-runs", message, hint=hint, severity="note")] if listed else []
