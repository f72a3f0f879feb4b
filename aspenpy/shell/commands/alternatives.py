"""Commands that choose where to run: `compare` among machines, `place` among the sockets of one."""

from __future__ import annotations

from aspenpy.answers.placement.best import place
from aspenpy.answers.prediction import predict
from aspenpy.explore.comparison import Comparison
from aspenpy.explore.crossovers import Crossovers
from aspenpy.language.axis import read_interval
from aspenpy.report.comparison import draw_comparison
from aspenpy.report.lanes_picture import draw_placement
from aspenpy.shell.failure import CommandError
from aspenpy.shell.operands import case_of_arguments, machines_of
from aspenpy.shell.option import Arguments, command, flag, repeatable_option, split_pairs
from aspenpy.shell.options import (
    MODEL,
    NO_INTERVAL,
    OUTSIDE,
    PAR,
    PICTURE,
    RANKS,
    RESULTS,
    SEED,
    SOCKETS,
    VALUES,
    machine,
    machines,
)
from aspenpy.shell.output import deliver
from aspenpy.shell.progress import report_activity
from aspenpy.shell.study_options import OVER, TRANSFER


@command(
    "compare",
    "compare",
    "Compare machines for one application; find where the fastest changes",
    options=(
        MODEL,
        machines(required=True),
        SOCKETS,
        *VALUES,
        PAR,
        *RANKS,
        OVER.adapt(
            "; here one interval: where the fastest changes in it, with :whole behind it of whole values, exactly"
        ),
        TRANSFER,
        PICTURE.adapt(", with --over: the runtimes"),
        OUTSIDE,
        NO_INTERVAL,
        *RESULTS,
        SEED,
    ),
    examples=(
        ("two machines side by side", "aspenpy compare comd --machine simple,haswell"),
        (
            "all sockets of one machine, the data first moved to the second",
            "aspenpy compare matmul --machine keeneland --transfer",
        ),
        ("where the faster one changes", "aspenpy compare stream --machine haswell,cori_haswell --over n=1..1e6:whole"),
    ),
)
def run_compare(arguments: Arguments) -> int:
    if len(arguments.over) > 1:
        raise CommandError("--over: `compare` goes over one parameter; `sweep` over several")
    if not arguments.over and arguments.picture:
        raise CommandError("--picture belongs to --over NAME=LOW..HIGH")
    case = case_of_arguments(arguments)
    cases = [case.changed(machine=machine, socket=socket) for machine, socket in machines_of(arguments)]
    comparison = Comparison(cases, transfer=arguments.transfer)
    sweep = _find_crossovers(comparison, arguments) if arguments.over else None
    report = comparison.report(sweep=sweep, interval=not arguments.no_interval)
    return deliver(report, arguments, None if sweep is None else lambda: draw_comparison(sweep))


def _find_crossovers(comparison: Comparison, arguments: Arguments) -> Crossovers:
    name, low, high, whole = read_interval(arguments.over[0], "--over", "n=10..1e6")
    ends = []
    for end in (low, high):
        probe = predict(comparison.case.with_set({name: end.text()}))
        ends.append(probe.scope.values([probe.scope.symbol(name)], comparison.seed)[0])
    sweep = comparison.over(
        name, ends[0], ends[1], whole=whole, progress=lambda part: report_activity(f"crossovers over {name}", part)
    )
    _ = sweep.crossovers
    return sweep


@command(
    "place",
    "compare",
    "Assign kernels to CPUs and GPUs of one machine; find the fastest assignment, data transfers included",
    options=(
        MODEL,
        machine(required=True),
        repeatable_option(
            "--on",
            "KERNEL=SOCKET,...",
            "where kernels run, and what they call; all others on the machine's first socket, or with --best where it "
            "is best (default: the best for all)",
        ),
        flag("--best", "with --on: finds the best sockets for all other kernels"),
        repeatable_option(
            "--data", "NAME=SOCKET,...", "where data structures lie at first (default: at the machine's first socket)"
        ),
        *VALUES,
        *RANKS,
        PAR,
        OUTSIDE,
        *RESULTS,
        PICTURE,
        SEED,
    ),
    examples=(
        ("the fastest socket for each kernel", "aspenpy place cg --machine keeneland"),
        ("drawn, each kernel in its socket's colour", "aspenpy place cg --machine keeneland --picture place.svg"),
        ("a placement of one's own", "aspenpy place hpcg --machine keeneland --on multiply=nvidia_m2090"),
        (
            "the best of those in which a kernel stays where it is",
            "aspenpy place cg --machine keeneland --on start=nvidia_m2090 --best",
        ),
        ("data that are there already", "aspenpy place fft1d --machine keeneland --data signal=nvidia_m2090"),
    ),
)
def run_place(arguments: Arguments) -> int:
    placement = place(
        case_of_arguments(arguments),
        sockets=split_pairs("--on", "KERNEL=SOCKET", _split_parts(arguments.on)),
        best=arguments.best or not arguments.on,
        data=split_pairs("--data", "NAME=SOCKET", _split_parts(arguments.data)),
    )
    return deliver(placement.report(), arguments, lambda: draw_placement(placement))


def _split_parts(texts: list[str]) -> list[str]:
    return [part.strip() for text in texts for part in text.split(",")]
