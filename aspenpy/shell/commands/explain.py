"""`aspenpy explain`: explain a prediction step by step, from the line in the model to the seconds."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from aspenpy.answers.prediction import predict
from aspenpy.shell.entry import case_of_arguments, only_entry
from aspenpy.shell.output import answer
from aspenpy.shell.parser import Examples, add_machine, add_model, add_settings

EXAMPLES: Examples = (
    ("every requirement of every kernel", "aspenpy explain stream --machine simple"),
    ("those of one kernel", "aspenpy explain comd lennard_jones_force --machine haswell"),
    ("for a program", "aspenpy explain comd halo_exchange --machine haswell --format json"),
)


def add_arguments(parser: ArgumentParser) -> None:
    add_model(parser)
    parser.add_argument(
        "explained", metavar="KERNEL", nargs="?", help="explains the requirements of this kernel (default: all)"
    )
    add_machine(parser, required=True)
    add_settings(parser)
    parser.add_argument("--format", choices=("table", "json"), default="table", help="default: table")


def run(arguments: Namespace) -> int:
    case = case_of_arguments(arguments, "main")
    without_main = None if "main" in case.application.kernels else arguments.explained
    kernel = only_entry(case.application, arguments.kernel or without_main)
    answer(predict(case.changed(kernel=kernel)).explain(arguments.explained).report(), arguments.format)
    return 0
