"""`aspenpy count`: count flops, bytes and messages by kernel; solve for the size that needs a given amount."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import Any

from aspenpy.answers.counting import Counts
from aspenpy.answers.evaluation import amount_of
from aspenpy.language.axis import ends
from aspenpy.report.counting import inverse as reported
from aspenpy.shell.entry import case_of_arguments
from aspenpy.shell.failure import CommandError
from aspenpy.shell.output import answer
from aspenpy.shell.parser import Examples, add_machine, add_model, add_outside, add_seed, add_values

EXAMPLES: Examples = (
    ("every resource, in all and by kernel", "aspenpy count comd"),
    ("one resource, vectorised and in double precision only", "aspenpy count comd --resource flops --traits dp,simd"),
    ("the matrix that takes 1 Tflop", "aspenpy count matmul --solve n --target 1e12"),
    ("the same in whole numbers", "aspenpy count matmul --solve n --target 2e12 --integer --range 1..1e6"),
)


def add_arguments(parser: ArgumentParser) -> None:
    add_model(parser)
    add_machine(parser, required=False, why=", for names that the application leaves to it")
    add_values(parser)
    add_outside(parser)
    parser.add_argument("--resource", metavar="R", help="only this: flops, loads, ..., bytes")
    parser.add_argument(
        "--traits",
        metavar="NAME,...",
        default="",
        help="only requirements that have all of these traits; sp also means: not dp",
    )
    parser.add_argument("--solve", metavar="NAME", help="finds the values of this parameter that meet --target")
    parser.add_argument("--target", metavar="AMOUNT", help="of --resource (default: flops), a number or an expression")
    parser.add_argument("--integer", action="store_true", help="with --solve: whole values only, found exactly")
    parser.add_argument(
        "--range", metavar="LOW..HIGH", help="with --solve: where to look (default: the range that it declares)"
    )
    parser.add_argument("--format", choices=("table", "json", "csv"), default="table", help="default: table")
    add_seed(parser)


def run(arguments: Namespace) -> int:
    _refuse_halves(arguments)
    case = case_of_arguments(arguments)
    counts = Counts(case, traits=tuple(name.strip() for name in arguments.traits.split(",") if name.strip()))
    if arguments.solve:
        _solve(counts, arguments)
    else:
        _count(counts, arguments)
    return 0


def _refuse_halves(arguments: Namespace) -> None:
    if (arguments.solve is None) != (arguments.target is None):
        raise CommandError("--solve and --target belong together: --solve n --target 1e12")
    if arguments.solve is None and (arguments.integer or arguments.range):
        raise CommandError("--integer and --range say how to --solve")


def _count(counts: Counts, arguments: Namespace) -> None:
    resource = arguments.resource
    if resource is not None:
        amount_of(dict.fromkeys(counts.amounts, counts.expression("bytes")), resource)
    answer(counts.report(resource=resource), arguments.format)


def _solve(counts: Counts, arguments: Namespace) -> None:
    inverse = counts.solve(
        arguments.solve,
        counts.number(arguments.target, "--target"),
        arguments.resource or "flops",
        whole=arguments.integer,
        within=_range(counts, arguments.range),
    )
    answer(reported(counts, inverse), arguments.format)


def _range(counts: Counts, text: str | None) -> tuple[Any, Any] | None:
    if text is None:
        return None
    low, high = ends(text, "--range")
    if high is None or not low.text() or not high.text():
        raise CommandError(f"--range: expected LOW..HIGH, such as 1..1e6, not `{text}`")
    return counts.number(low.text(), "--range"), counts.number(high.text(), "--range")
