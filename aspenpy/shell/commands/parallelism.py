"""`aspenpy parallelism`: show how many instances of each block could run at once, by call path."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from aspenpy.answers.parallelism import Parallelism
from aspenpy.shell.entry import case_of_arguments
from aspenpy.shell.output import answer
from aspenpy.shell.parser import Examples, add_machine, add_model, add_outside, add_seed, add_values

EXAMPLES: Examples = (
    ("every block on every call path", "aspenpy parallelism comd"),
    ("with other values", "aspenpy parallelism comd --set ranks=64"),
    ("for a spreadsheet", "aspenpy parallelism fft3d --format csv"),
)


def add_arguments(parser: ArgumentParser) -> None:
    add_model(parser)
    add_machine(parser, required=False, why=", for names that the application leaves to it")
    add_values(parser)
    add_outside(parser)
    parser.add_argument("--format", choices=("table", "json", "csv"), default="table", help="default: table")
    add_seed(parser)


def run(arguments: Namespace) -> int:
    answer(Parallelism(case_of_arguments(arguments)).report(), arguments.format)
    return 0
