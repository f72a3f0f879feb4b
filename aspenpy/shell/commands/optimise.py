"""`aspenpy optimise`: minimise or maximise a metric under constraints."""

from __future__ import annotations

from aspenpy.explore.asked import goals_of, search_goals
from aspenpy.explore.optimise import require_scipy
from aspenpy.explore.pareto import Front
from aspenpy.explore.space import make_space
from aspenpy.report.optimum import draw, subject_of
from aspenpy.shell.commands.sensitivity import add_machines, vary
from aspenpy.shell.entry import case_of_arguments, machine_named
from aspenpy.shell.failure import CommandError
from aspenpy.shell.option import Arguments, Examples, repeatable_option
from aspenpy.shell.options import (
    ALL_FORMATS,
    MODEL,
    OUTSIDE,
    PAR,
    PICTURE,
    RANKS,
    SEED,
    SOCKET,
    TABLES,
    VALUES,
    machine_names,
    machines,
)
from aspenpy.shell.output import deliver
from aspenpy.shell.study_options import MAXIMISE, MINIMISE

EXAMPLES: Examples = (
    (
        "the fastest machine of several",
        "aspenpy optimise comd --machine simple,haswell,cori_haswell --minimise runtime",
    ),
    (
        "the largest problem within a time",
        "aspenpy optimise matmul --machine simple --maximise n --subject-to 'runtime <= 1 s' --vary n=1..4000",
    ),
    (
        "real and whole numbers, with what binds",
        "aspenpy optimise matmul --machine simple --set ranks=64 --minimise runtime --vary simple_clock,simple_cores "
        "--subject-to 'simple_clock * simple_cores <= 16 GHz'",
    ),
    (
        "two quantities at once: a Pareto front",
        "aspenpy optimise matmul --machine simple --set ranks=64 --minimise 'runtime, simple_cores' "
        "--vary simple_cores",
    ),
)

QUANTITIES = (
    ": a metric (runtime, flops, a property such as cost, ...), a parameter, or an expression of them; of several "
    "the Pareto front"
)

OPTIONS = (
    MODEL,
    machines(required=False, why=", which then vary, as with --vary machine=A,B"),
    SOCKET,
    *VALUES,
    PAR,
    *RANKS,
    MINIMISE.here(QUANTITIES),
    MAXIMISE.here(QUANTITIES),
    repeatable_option(
        "--subject-to", "CONSTRAINTS", "comparisons by commas, units allowed: 'cost <= 1000, runtime <= 2 s'"
    ),
    vary("required"),
    ALL_FORMATS,
    TABLES,
    PICTURE.here(": the Pareto front"),
    SEED,
    OUTSIDE,
)


def run(arguments: Arguments) -> int:
    if not (arguments.minimise or arguments.maximise):
        raise CommandError("nothing to optimise: --minimise QUANTITY or --maximise QUANTITY")
    if not (arguments.vary or len(machine_names(arguments.machines)) > 1):
        raise CommandError("nothing varies: --vary NAME,...")
    require_scipy()
    names = add_machines(arguments)
    goals = goals_of(arguments.minimise, arguments.maximise)
    if arguments.picture and len(goals) < 2:
        raise CommandError("--picture draws a Pareto front: give several quantities")
    case = case_of_arguments(arguments)
    space = make_space(case, names, lambda name: machine_named(name, arguments))
    result = search_goals(space, goals, arguments.subject_to, arguments.seed)
    drawn = (lambda: draw(result, space, subject_of(space))) if isinstance(result, Front) else None
    return deliver(result.report(), arguments, drawn)
