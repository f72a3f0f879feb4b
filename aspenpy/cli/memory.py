"""`aspenpy memory`: show the data that kernels touch, and whether they fit into memory."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from aspenpy.analysis.footprint import Footprint
from aspenpy.cli.entry import only_entry
from aspenpy.cli.output import answer
from aspenpy.cli.parser import Examples, add_machine, add_model, add_outside, add_values, settings_of
from aspenpy.library import load_application, load_machine
from aspenpy.scope import DEFAULT_SEED

EXAMPLES: Examples = (
    ("what each kernel touches", "aspenpy memory comd"),
    ("against the memory of a machine", "aspenpy memory comd --machine haswell --set nx=400 --set ny=400 --set nz=400"),
    ("for a program", "aspenpy memory stream --machine simple --format json"),
)


def add_arguments(parser: ArgumentParser) -> None:
    add_model(parser)
    add_machine(parser, required=False, why=", whose memory it should fit")
    parser.add_argument("--socket", metavar="S", help="the kind of socket to run on, where the machine has several")
    add_values(parser)
    add_outside(parser)
    parser.add_argument("--format", choices=("table", "json", "csv"), default="table", help="default: table")
    parser.add_argument(
        "--seed", metavar="N", type=int, default=DEFAULT_SEED, help=f"of random draws (default: {DEFAULT_SEED})"
    )


def run(arguments: Namespace) -> int:
    application = load_application(arguments.model, allow_outside=arguments.allow_outside)
    footprint = Footprint(
        application,
        kernel=only_entry(application, arguments.kernel),
        set=settings_of(arguments),
        machine=load_machine(arguments.machine, allow_outside=arguments.allow_outside) if arguments.machine else None,
        socket=arguments.socket,
        seed=arguments.seed,
    )
    answer(footprint.report(), arguments.format)
    return 0
