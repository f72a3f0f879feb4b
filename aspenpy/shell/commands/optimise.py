"""`aspenpy optimise`: minimise or maximise a metric under constraints."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from aspenpy.language.diagnostics import distinct
from aspenpy.report.front_picture import draw
from aspenpy.report.optimum import report as reported
from aspenpy.shell.commands.sensitivity import add_vary, varied
from aspenpy.shell.entry import case_of_arguments, machine_named
from aspenpy.shell.failure import CommandError
from aspenpy.shell.output import answer
from aspenpy.shell.parser import Examples, add_machine, add_model, add_outside, add_seed, add_values
from aspenpy.shell.pictures import save
from aspenpy.studies.explore.asked import answered, goals_of
from aspenpy.studies.explore.optimise import require_scipy
from aspenpy.studies.explore.pareto import Front
from aspenpy.studies.explore.space import spanned

if TYPE_CHECKING:
    pass

EXAMPLES: Examples = (
    (
        "the fastest machine of several",
        "aspenpy optimise comd --machine simple --minimise runtime --vary machine=simple,haswell,cori_haswell",
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


def add_arguments(parser: ArgumentParser) -> None:
    add_model(parser)
    add_machine(parser, required=True)
    parser.add_argument("--socket", metavar="S", help="the kind of socket to run on, where the machine has several")
    add_values(parser)
    for sense in ("minimise", "maximise"):
        parser.add_argument(
            f"--{sense}",
            metavar="QUANTITY,...",
            action="append",
            default=[],
            help="a metric (runtime, flops, a property such as cost, ...), a parameter, or an expression of them; "
            "of several the Pareto front",
        )
    parser.add_argument(
        "--subject-to",
        metavar="CONSTRAINTS",
        action="append",
        default=[],
        help="comparisons by commas, units allowed: 'cost <= 1000, runtime <= 2 s'",
    )
    add_vary(parser, "required")
    parser.add_argument("--format", choices=("table", "json", "csv"), default="table", help="default: table")
    parser.add_argument("--picture", metavar="FILE", help="also draws a Pareto front: an .svg, .png or .pdf file")
    add_seed(parser)
    add_outside(parser)


def run(arguments: Namespace) -> int:
    if not (arguments.minimise or arguments.maximise):
        raise CommandError("nothing to optimise: --minimise QUANTITY or --maximise QUANTITY")
    if not arguments.vary:
        raise CommandError("nothing varies: --vary NAME,...")

    require_scipy()
    goals = goals_of(arguments.minimise, arguments.maximise)
    if arguments.picture and len(goals) < 2:
        raise CommandError("--picture draws a Pareto front: give several quantities")
    case = case_of_arguments(arguments)
    space = spanned(case, varied(arguments.vary), lambda name: machine_named(name, arguments))
    result = answered(space, goals, arguments.subject_to, arguments.seed)
    names = {prediction.machine.name for prediction in space.cases}
    subject = f"{case.application.name} on {case.required_machine.name}" if len(names) == 1 else case.application.name
    warnings = distinct(item for prediction in space.cases for item in prediction.tree.warnings)
    answer(reported(result, space, subject).replace(diagnostics=tuple(warnings)), arguments.format)
    if arguments.picture and isinstance(result, Front):
        front = result
        save(arguments.picture, lambda: draw(front, space, subject))
    return 0
