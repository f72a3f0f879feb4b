"""`aspenpy count`: count flops, bytes and messages by kernel; solve for the size that needs a given amount."""

from __future__ import annotations

from typing import Any

from aspenpy.answers.counting import Counts
from aspenpy.language.axis import ends
from aspenpy.report.counting import inverse as reported
from aspenpy.shell.entry import case_of_arguments
from aspenpy.shell.failure import CommandError
from aspenpy.shell.option import Arguments, Examples, flag, machine, option, words
from aspenpy.shell.options import ALL_FORMATS, MODEL, OUTSIDE, SEED, VALUES
from aspenpy.shell.output import answer

EXAMPLES: Examples = (
    ("every resource, in all and by kernel", "aspenpy count comd"),
    ("one resource, vectorised and in double precision only", "aspenpy count comd --resource flops --traits dp,simd"),
    ("the matrix that takes 1 Tflop", "aspenpy count matmul --solve n --target 1e12"),
    ("the same in whole numbers", "aspenpy count matmul --solve n --target 2e12 --integer --range 1..1e6"),
)

OPTIONS = (
    MODEL,
    machine(required=False, why=", for names that the application leaves to it"),
    *VALUES,
    OUTSIDE,
    option("--resource", "R", "only this: flops, loads, ..., bytes"),
    option("--traits", "NAME,...", "only requirements that have all of these traits; sp also means: not dp"),
    option("--solve", "NAME", "finds the values of this parameter that meet --target"),
    option("--target", "AMOUNT", "of --resource (default: flops), a number or an expression"),
    flag("--integer", "with --solve: whole values only, found exactly"),
    option("--range", "LOW..HIGH", "with --solve: where to look (default: the range that it declares)"),
    ALL_FORMATS,
    SEED,
)


def run(arguments: Arguments) -> int:
    if (arguments.solve is None) != (arguments.target is None):
        raise CommandError("--solve and --target belong together: --solve n --target 1e12")
    if arguments.solve is None and (arguments.integer or arguments.range):
        raise CommandError("--integer and --range say how to --solve")
    counts = Counts(case_of_arguments(arguments), traits=tuple(words(arguments.traits)))
    if arguments.solve is None:
        return answer(counts.report(resource=arguments.resource), arguments)
    solutions = counts.solve(
        arguments.solve,
        counts.number(arguments.target, "--target"),
        arguments.resource or "flops",
        whole=arguments.integer,
        within=_range(counts, arguments.range),
    )
    return answer(reported(counts, solutions), arguments)


def _range(counts: Counts, text: str | None) -> tuple[Any, Any] | None:
    if text is None:
        return None
    low, high = ends(text, "--range")
    if high is None or not low.text() or not high.text():
        raise CommandError(f"--range: expected LOW..HIGH, such as 1..1e6, not `{text}`")
    return counts.number(low.text(), "--range"), counts.number(high.text(), "--range")
