"""`aspenpy explain`: explain a prediction step by step, from the line in the model to the seconds."""

from __future__ import annotations

from aspenpy.answers.prediction import predict
from aspenpy.shell.entry import case_of_arguments, only_entry
from aspenpy.shell.option import Arguments, Examples, flag, option
from aspenpy.shell.options import ALL_FORMATS, MODEL, SEED, SETTINGS, TABLES, machine
from aspenpy.shell.output import deliver

EXAMPLES: Examples = (
    ("every requirement of every kernel", "aspenpy explain stream --machine simple"),
    ("those of one kernel", "aspenpy explain comd lennard_jones_force --machine haswell"),
    ("cycles a cache line, level by level", "aspenpy explain cache_triad --machine epyc_7763 --ecm"),
    ("for a program", "aspenpy explain comd halo_exchange --machine haswell --format json"),
)

OPTIONS = (
    MODEL,
    option("explained", "KERNEL", "explains the requirements of this kernel (default: all)", nargs="?"),
    machine(required=True),
    flag("--ecm", "shows the execution-cache-memory model instead: cycles a cache line on one core, level by level"),
    *SETTINGS,
    ALL_FORMATS,
    TABLES,
    SEED,
)


def run(arguments: Arguments) -> int:
    case = case_of_arguments(arguments, "main")
    without_main = None if "main" in case.application.kernels else arguments.explained
    kernel = only_entry(case.application, arguments.kernel or without_main)
    prediction = predict(case.changed(kernel=kernel))
    explanation = prediction.ecm(arguments.explained) if arguments.ecm else prediction.explain(arguments.explained)
    return deliver(explanation.report(), arguments)
