"""`aspenpy trace`: list what runs, in order."""

from __future__ import annotations

from aspenpy.answers.trace import MOST, PASSES, Trace
from aspenpy.cost.mapper import warnings_of
from aspenpy.shell.entry import case_of_arguments
from aspenpy.shell.option import Arguments, Examples, option, positive
from aspenpy.shell.options import ALL_FORMATS, MODEL, SEED, SETTINGS, TABLES, machine
from aspenpy.shell.output import deliver

EXAMPLES: Examples = (
    ("the beginning of every loop", "aspenpy trace jacobi"),
    ("with the time on a machine", "aspenpy trace comd --machine haswell --passes 1"),
    ("more of it", "aspenpy trace comd --machine haswell --most 1000 --passes 10"),
    ("for a program", "aspenpy trace stream --machine simple --format json"),
)

OPTIONS = (
    MODEL,
    machine(required=False, why=", for the times"),
    *SETTINGS,
    option("--most", "N", f"at most so many steps (default: {MOST})", type=positive, default=MOST),
    option("--passes", "N", f"of each loop (default: {PASSES})", type=positive, default=PASSES),
    ALL_FORMATS,
    TABLES,
    SEED,
)


def run(arguments: Arguments) -> int:
    case = case_of_arguments(arguments)
    trace = Trace(case, most=arguments.most, passes=arguments.passes)
    warnings = warnings_of(case.application, case.machine, case.socket, case.kernel)
    return deliver(trace.report().replace(diagnostics=tuple(warnings)), arguments)
