"""`aspenpy compare`: compare machines for one application; find where the fastest changes."""

from __future__ import annotations

from aspenpy.answers.prediction import predict
from aspenpy.explore.comparison import Comparison, Sweep
from aspenpy.language.axis import read_interval
from aspenpy.report.comparison import draw
from aspenpy.shell.entry import case_of_arguments, machines_of
from aspenpy.shell.failure import CommandError
from aspenpy.shell.option import Arguments, Examples
from aspenpy.shell.options import (
    ALL_FORMATS,
    MODEL,
    OUTSIDE,
    PAR,
    PICTURE,
    RANKS,
    SEED,
    SOCKETS,
    TABLES,
    VALUES,
    machines,
)
from aspenpy.shell.output import deliver
from aspenpy.shell.progress import say
from aspenpy.shell.study_options import OVER, TRANSFER

EXAMPLES: Examples = (
    ("two machines side by side", "aspenpy compare comd --machine simple,haswell"),
    (
        "all sockets of one machine, the data first moved to the second",
        "aspenpy compare matmul --machine keeneland --transfer",
    ),
    ("where the faster one changes", "aspenpy compare stream --machine haswell,cori_haswell --over n=1..1e6:whole"),
)

OPTIONS = (
    MODEL,
    machines(required=True),
    SOCKETS,
    *VALUES,
    PAR,
    *RANKS,
    OVER.here("; here one interval: where the fastest changes in it, with :whole behind it of whole values, exactly"),
    TRANSFER,
    PICTURE.here(", with --over: the runtimes"),
    OUTSIDE,
    ALL_FORMATS,
    TABLES,
    SEED,
)


def run(arguments: Arguments) -> int:
    if len(arguments.over) > 1:
        raise CommandError("--over: `compare` goes over one parameter; `sweep` over several")
    if not arguments.over and arguments.picture:
        raise CommandError("--picture belongs to --over NAME=LOW..HIGH")
    case = case_of_arguments(arguments)
    cases = [case.changed(machine=machine, socket=socket) for machine, socket in machines_of(arguments)]
    comparison = Comparison(cases, transfer=arguments.transfer)
    sweep = _sweep(comparison, arguments) if arguments.over else None
    return deliver(comparison.report(sweep=sweep), arguments, None if sweep is None else lambda: draw(sweep))


def _sweep(comparison: Comparison, arguments: Arguments) -> Sweep:
    name, low, high, whole = read_interval(arguments.over[0], "--over", "n=10..1e6")
    ends = []
    for end in (low, high):
        probe = predict(comparison.case.with_set({name: end.text()}))
        ends.append(probe.scope.values([probe.scope.symbol(name)], comparison.seed)[0])
    sweep = comparison.over(
        name,
        ends[0],
        ends[1],
        whole=whole,
        progress=lambda part: say(f"crossovers over {name}", part),
    )
    _ = sweep.crossovers
    return sweep
