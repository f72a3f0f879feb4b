"""`aspenpy parallelism`: show how many instances of each block could run at once, by call path."""

from __future__ import annotations

from aspenpy.answers.parallelism import Parallelism
from aspenpy.shell.entry import case_of_arguments
from aspenpy.shell.option import Arguments, Examples
from aspenpy.shell.options import ALL_FORMATS, MODEL, OUTSIDE, SEED, TABLES, VALUES, machine
from aspenpy.shell.output import deliver

EXAMPLES: Examples = (
    ("every block on every call path", "aspenpy parallelism comd"),
    ("with other values", "aspenpy parallelism comd --set ranks=64"),
    ("for a spreadsheet", "aspenpy parallelism fft3d --format csv"),
)

OPTIONS = (
    MODEL,
    machine(required=False, why=", for names that the application leaves to it"),
    *VALUES,
    OUTSIDE,
    ALL_FORMATS,
    TABLES,
    SEED,
)


def run(arguments: Arguments) -> int:
    return deliver(Parallelism(case_of_arguments(arguments)).report(), arguments)
