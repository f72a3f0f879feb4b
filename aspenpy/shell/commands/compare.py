"""`aspenpy compare`: compare machines for one application; find where the fastest changes."""

from __future__ import annotations

from aspenpy.answers.prediction import predict
from aspenpy.language.axis import interval
from aspenpy.report.comparison import draw
from aspenpy.shell.entry import case_of_arguments, machines_of
from aspenpy.shell.failure import CommandError
from aspenpy.shell.option import Arguments, Examples, flag, machines, option
from aspenpy.shell.options import ALL_FORMATS, MODEL, OUTSIDE, PAR, RANKS, SEED, SOCKETS, VALUES
from aspenpy.shell.output import answer
from aspenpy.shell.progress import Progress
from aspenpy.studies.explore.comparison import Comparison, Sweep

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
    machines("the machines, files or names", required=True),
    SOCKETS,
    *VALUES,
    PAR,
    *RANKS,
    option(
        "--over",
        "NAME=LOW..HIGH",
        "finds all crossovers of this parameter's interval; with :whole behind it of whole values only, exactly",
    ),
    flag(
        "--transfer",
        "the kernel's data are on the first device; on any other, the time to move them over its link is added",
    ),
    option("--picture", "FILE", "with --over: draws the runtimes, as .svg, .png or .pdf"),
    OUTSIDE,
    ALL_FORMATS,
    SEED,
)


def run(arguments: Arguments) -> int:
    if arguments.over is None and arguments.picture:
        raise CommandError("--picture belongs to --over NAME=LOW..HIGH")
    case = case_of_arguments(arguments)
    cases = [case.changed(machine=machine, socket=socket) for machine, socket in machines_of(arguments)]
    comparison = Comparison(cases, transfer=arguments.transfer)
    sweep = None if arguments.over is None else _sweep(comparison, arguments)
    return answer(comparison.report(sweep=sweep), arguments, None if sweep is None else lambda: draw(sweep))


def _sweep(comparison: Comparison, arguments: Arguments) -> Sweep:
    name, low, high, whole = interval(arguments.over, "--over", "n=10..1e6")
    ends = []
    for end in (low, high):
        probe = predict(comparison.case.with_set({name: end.text()}))
        ends.append(probe.scope.values([probe.scope.symbol(name)], comparison.seed)[0])
    with Progress() as progress:
        sweep = comparison.over(
            name,
            ends[0],
            ends[1],
            whole=whole,
            progress=lambda part: progress.say(f"crossovers over {name}: {100 * part:.0f} % searched"),
        )
        _ = sweep.crossovers
    return sweep
