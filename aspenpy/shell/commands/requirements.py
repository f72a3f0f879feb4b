"""Commands that need no machine: `count`, `memory` and `parallelism` say what an application asks for."""

from __future__ import annotations

from aspenpy.answers.counting import Counts, Inverse
from aspenpy.answers.footprint import Footprint
from aspenpy.answers.parallelism import Parallelism
from aspenpy.language.axis import parse_axis
from aspenpy.language.diagnostics import fail
from aspenpy.report.counts import report_inverse
from aspenpy.report.lanes_picture import draw_parallelism
from aspenpy.shell.failure import CommandError
from aspenpy.shell.operands import case_of_arguments
from aspenpy.shell.option import Arguments, command, option, split_words
from aspenpy.shell.options import MODEL, OUTSIDE, PICTURE, RANKS, RESULTS, SEED, SOCKET, VALUES, machine
from aspenpy.shell.output import deliver


@command(
    "count",
    "count",
    "Count flops, bytes and messages by kernel; solve for the size that needs a given amount",
    options=(
        MODEL,
        machine(required=False, why=", for names that the application leaves to it"),
        *VALUES,
        OUTSIDE,
        option("--resource", "R", "only this: flops, loads, ..., bytes"),
        option("--traits", "NAME,...", "only requirements that have all of these traits; sp also means: not dp"),
        option(
            "--solve",
            "NAME=LOW..HIGH",
            "finds the values of this parameter that meet --target, in the range it declares if only NAME is given; "
            "with :whole behind it whole values only, exactly",
        ),
        option("--target", "AMOUNT", "of --resource (default: flops), a number or an expression"),
        *RESULTS,
        SEED,
    ),
    examples=(
        ("every resource, in all and by kernel", "aspenpy count comd"),
        (
            "one resource, vectorised and in double precision only",
            "aspenpy count comd --resource flops --traits dp,simd",
        ),
        ("the matrix that takes 1 Tflop", "aspenpy count matmul --solve n --target 1e12"),
        ("the same in whole numbers", "aspenpy count matmul --solve n=1..1e6:whole --target 2e12"),
    ),
)
def run_count(arguments: Arguments) -> int:
    if (arguments.solve is None) != (arguments.target is None):
        raise CommandError("--solve and --target belong together: --solve n --target 1e12")
    counts = Counts(case_of_arguments(arguments), traits=tuple(split_words(arguments.traits)))
    if arguments.solve is None:
        try:
            return deliver(counts.report(resource=arguments.resource), arguments)
        except OverflowError:  # JSON and CSV have exact numbers of any size
            counts.require_floats()
            raise
    return deliver(report_inverse(counts, _find_solutions(counts, arguments)), arguments)


def _find_solutions(counts: Counts, arguments: Arguments) -> Inverse:
    axis = parse_axis(arguments.solve, "<--solve>")
    if axis.items or axis.spacing or axis.count or axis.is_real:
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


@command(
    "memory",
    "count",
    "Show the data that kernels touch, and whether they fit into memory",
    options=(
        MODEL,
        machine(required=False, why=", whose memory it should fit"),
        SOCKET,
        *VALUES,
        *RANKS,
        OUTSIDE,
        *RESULTS,
        SEED,
    ),
    examples=(
        ("what each kernel touches", "aspenpy memory comd"),
        (
            "against the memory of a machine",
            "aspenpy memory comd --machine haswell --set nx=400 --set ny=400 --set nz=400",
        ),
        ("for a program", "aspenpy memory stream --machine simple --format json"),
    ),
)
def run_memory(arguments: Arguments) -> int:
    return deliver(Footprint(case_of_arguments(arguments)).report(), arguments)


@command(
    "parallelism",
    "count",
    "Show how many instances of each block could run at once, by call path",
    options=(
        MODEL,
        machine(required=False, why=", for names that the application leaves to it"),
        *VALUES,
        OUTSIDE,
        *RESULTS,
        PICTURE,
        SEED,
    ),
    examples=(
        ("every block on every call path", "aspenpy parallelism comd"),
        ("with other values", "aspenpy parallelism comd --set ranks=64"),
        ("for a spreadsheet", "aspenpy parallelism fft3d --format csv"),
    ),
)
def run_parallelism(arguments: Arguments) -> int:
    parallelism = Parallelism(case_of_arguments(arguments))
    return deliver(parallelism.report(), arguments, lambda: draw_parallelism(parallelism))
