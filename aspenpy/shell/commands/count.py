"""`aspenpy count`: count flops, bytes and messages by kernel; solve for the size that needs a given amount."""

from __future__ import annotations

from aspenpy.answers.counting import Counts, Inverse
from aspenpy.language.axis import parse_axis
from aspenpy.language.diagnostics import fail
from aspenpy.report.counts import report_inverse as reported
from aspenpy.shell.entry import case_of_arguments
from aspenpy.shell.failure import CommandError
from aspenpy.shell.option import Arguments, Examples, option, words
from aspenpy.shell.options import ALL_FORMATS, MODEL, OUTSIDE, SEED, TABLES, VALUES, machine
from aspenpy.shell.output import deliver

EXAMPLES: Examples = (
    ("every resource, in all and by kernel", "aspenpy count comd"),
    ("one resource, vectorised and in double precision only", "aspenpy count comd --resource flops --traits dp,simd"),
    ("the matrix that takes 1 Tflop", "aspenpy count matmul --solve n --target 1e12"),
    ("the same in whole numbers", "aspenpy count matmul --solve n=1..1e6:whole --target 2e12"),
)

OPTIONS = (
    MODEL,
    machine(required=False, why=", for names that the application leaves to it"),
    *VALUES,
    OUTSIDE,
    option("--resource", "R", "only this: flops, loads, ..., bytes"),
    option("--traits", "NAME,...", "only requirements that have all of these traits; sp also means: not dp"),
    option(
        "--solve",
        "NAME=LOW..HIGH",
        "finds the values of this parameter that meet --target, in the range it declares if only NAME is given; with "
        ":whole behind it whole values only, exactly",
    ),
    option("--target", "AMOUNT", "of --resource (default: flops), a number or an expression"),
    ALL_FORMATS,
    TABLES,
    SEED,
)


def run(arguments: Arguments) -> int:
    if (arguments.solve is None) != (arguments.target is None):
        raise CommandError("--solve and --target belong together: --solve n --target 1e12")
    counts = Counts(case_of_arguments(arguments), traits=tuple(words(arguments.traits)))
    if arguments.solve is None:
        return deliver(counts.report(resource=arguments.resource), arguments)
    return deliver(reported(counts, _solutions(counts, arguments)), arguments)


def _solutions(counts: Counts, arguments: Arguments) -> Inverse:
    axis = parse_axis(arguments.solve, "<--solve>")
    if axis.items or axis.spacing or axis.count or axis.whole is False:
        hint = "write NAME, NAME=LOW..HIGH or NAME=LOW..HIGH:whole"
        fail("bad-axis", f"`{arguments.solve}` is no range to look for solutions in", axis.span, hint=hint)
    within = [counts.number(end.text(), "--solve") for end in (axis.low, axis.high) if end is not None]
    return counts.solve(
        axis.name,
        counts.number(arguments.target, "--target"),
        arguments.resource or "flops",
        whole=bool(axis.whole),
        within=(within[0], within[1]) if within else None,
    )
