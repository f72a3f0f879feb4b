"""`aspenpy parallelism`: show how many instances of each block could run at once, by call path."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from aspenpy.analysis.parallelism import Parallelism
from aspenpy.cli.entry import only_entry
from aspenpy.cli.output import answer
from aspenpy.cli.parser import Examples, add_machine, add_model, add_outside, add_values, settings_of
from aspenpy.library import load_application, load_machine
from aspenpy.scope import DEFAULT_SEED

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
    parser.add_argument(
        "--seed", metavar="N", type=int, default=DEFAULT_SEED, help=f"of random draws (default: {DEFAULT_SEED})"
    )


def run(arguments: Namespace) -> int:
    application = load_application(arguments.model, allow_outside=arguments.allow_outside)
    found = Parallelism(
        application,
        kernel=only_entry(application, arguments.kernel),
        set=settings_of(arguments),
        machine=load_machine(arguments.machine, allow_outside=arguments.allow_outside) if arguments.machine else None,
        seed=arguments.seed,
    )
    answer(found.report(), arguments.format)
    return 0
