"""The command `aspenpy check`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from aspenpy.answers.checks.files import check_file
from aspenpy.language.diagnostics import Diagnostic
from aspenpy.language.files import Reader
from aspenpy.models.library import load_machine
from aspenpy.shell.failure import CommandError
from aspenpy.shell.models import ModelFile, check_files
from aspenpy.shell.option import Arguments, command, option
from aspenpy.shell.options import OUTSIDE, RESULTS, SET, SOCKET, machine, settings_of
from aspenpy.shell.output import deliver
from aspenpy.shell.study_options import STRICT
from aspenpy.tables.table import CSV, Findings, Paragraph, Report, Table, make_columns


@command(
    "check",
    "models",
    "Check models for errors and likely mistakes",
    options=(
        option("files", "FILE", "a model, or a folder: all its files *.aspen, those in folders below too", nargs="+"),
        machine(required=False, why=", which the applications are to run on"),
        SOCKET.adapt(" (default: any of them)"),
        SET.adapt("; of the runs on --machine"),
        STRICT.adapt(", with status 1"),
        *RESULTS,
        OUTSIDE,
    ),
    examples=(
        ("models of the library; files and folders are named the same way", "aspenpy check comd haswell"),
        (
            "an application on a machine: does that know its resources and traits?",
            "aspenpy check comd --machine haswell",
        ),
        ("the values of a run on it", "aspenpy check hpcg --machine h100 --set ranks=4 --set h100_boards=4"),
        ("for an editor", "aspenpy check comd --format json"),
    ),
)
def run_check(arguments: Arguments) -> int:
    """0, with `--strict` 1 where there are warnings, 2 where there are errors."""
    return conclude(list({str(diagnostic): diagnostic for diagnostic in _check_all(arguments)}.values()), arguments)


COLUMNS = make_columns("severity code message file line column end_line end_column hint")


def conclude(diagnostics: list[Diagnostic], arguments: Arguments) -> int:
    """Writes what was found and how much that is, and returns the exit status."""
    counted = Counter(diagnostic.severity for diagnostic in diagnostics)
    objects = [diagnostic.to_json() for diagnostic in diagnostics]
    rows = tuple(tuple(item[column.name] for column in COLUMNS) for item in objects)
    counts = f"{_count_in_words(counted['error'], 'error')}, {_count_in_words(counted['warning'], 'warning')}"
    listed = (Findings(tuple(diagnostics)),) if diagnostics else ()
    parts = (*listed, Paragraph(counts), Table(COLUMNS, rows, media=CSV))
    data = {"errors": counted["error"], "warnings": counted["warning"], "diagnostics": objects}
    deliver(Report("check/1", "", data, parts), arguments)
    return 2 if counted["error"] else 1 if counted["warning"] and arguments.strict else 0


def _check_all(arguments: Arguments) -> Iterable[Diagnostic]:
    outside = arguments.allow_outside
    settings = settings_of(arguments)
    if settings and not arguments.machine:
        raise CommandError("--set gives values to a run: name the machine with --machine")
    machine = load_machine(arguments.machine, allow_outside=outside) if arguments.machine else None

    def check(file: ModelFile) -> Iterable[Diagnostic]:
        reader = Reader(allow_outside=outside)
        socket, part = arguments.socket, file.walked
        return check_file(file.path, machine, reader, socket=socket, settings=settings, part_allowed=part)

    return check_files(arguments.files, check)


def _count_in_words(count: int, noun: str) -> str:
    return f"{count or 'no'} {noun}{'' if count == 1 else 's'}"
