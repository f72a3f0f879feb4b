"""`aspenpy explain`: explain a prediction step by step, from the line in the model to the seconds."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from aspenpy.cli.entry import only_entry
from aspenpy.cli.output import answer
from aspenpy.cli.parser import Examples, add_machine, add_model, add_settings, settings_of
from aspenpy.library import load_application, load_machine
from aspenpy.prediction import predict

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
    application = load_application(arguments.model, allow_outside=arguments.allow_outside)
    machine = load_machine(arguments.machine, allow_outside=arguments.allow_outside)
    without_main = None if "main" in application.kernels else arguments.explained
    prediction = predict(
        application,
        machine,
        socket=arguments.socket,
        kernel=only_entry(application, arguments.kernel or without_main),
        set=settings_of(arguments),
        overlap=arguments.par == "overlap",
    )
    answer(prediction.explain(arguments.explained).report(), arguments.format)
    return 0
