"""`aspenpy trace`: list what runs, in order."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, Namespace

from aspenpy.answers.trace import MOST, PASSES, Trace
from aspenpy.cost.mapper import warnings_of
from aspenpy.shell.entry import case_of_arguments
from aspenpy.shell.output import answer
from aspenpy.shell.parser import Examples, add_machine, add_model, add_seed, add_settings

EXAMPLES: Examples = (
    ("the beginning of every loop", "aspenpy trace jacobi"),
    ("with the time on a machine", "aspenpy trace comd --machine haswell --passes 1"),
    ("more of it", "aspenpy trace comd --machine haswell --most 1000 --passes 10"),
    ("for a program", "aspenpy trace stream --machine simple --format json"),
)


def add_arguments(parser: ArgumentParser) -> None:
    add_model(parser)
    add_machine(parser, required=False, why=", for the times")
    add_settings(parser)
    parser.add_argument(
        "--most", metavar="N", type=_positive, default=MOST, help=f"at most so many steps (default: {MOST})"
    )
    parser.add_argument(
        "--passes", metavar="N", type=_positive, default=PASSES, help=f"of each loop (default: {PASSES})"
    )
    parser.add_argument("--format", choices=("table", "json"), default="table", help="default: table")
    add_seed(parser)


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise ArgumentTypeError(f"expected a whole number from 1 on, not `{text}`")
    return int(text)


def run(arguments: Namespace) -> int:
    case = case_of_arguments(arguments)
    trace = Trace(case, most=arguments.most, passes=arguments.passes)
    warnings = warnings_of(case.application, case.machine, case.socket, case.kernel)
    answer(trace.report().replace(diagnostics=tuple(warnings)), arguments.format)
    return 0
