"""`aspenpy memory`: show the data that kernels touch, and whether they fit into memory."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from aspenpy.answers.footprint import Footprint
from aspenpy.shell.entry import case_of_arguments
from aspenpy.shell.output import answer
from aspenpy.shell.parser import Examples, add_machine, add_model, add_outside, add_seed, add_values

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
    add_seed(parser)


def run(arguments: Namespace) -> int:
    answer(Footprint(case_of_arguments(arguments)).report(), arguments.format)
    return 0
