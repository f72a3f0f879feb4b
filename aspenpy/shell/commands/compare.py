"""`aspenpy compare`: compare machines for one application; find where the fastest changes."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from aspenpy.answers.prediction import predict
from aspenpy.language.axis import interval
from aspenpy.models.machine.model import Machine
from aspenpy.report.comparison_picture import draw
from aspenpy.shell.entry import case_of_arguments, machine_named
from aspenpy.shell.failure import CommandError
from aspenpy.shell.output import answer
from aspenpy.shell.parser import Examples, add_model, add_outside, add_seed, add_values
from aspenpy.shell.pictures import save
from aspenpy.shell.progress import Progress
from aspenpy.studies.explore.comparison import Comparison, Sweep

EXAMPLES: Examples = (
    ("two machines side by side", "aspenpy compare comd --machine simple,haswell"),
    (
        "all sockets of one machine, the data first moved to the second",
        "aspenpy compare matmul --machine keeneland --transfer",
    ),
    ("where the faster one changes", "aspenpy compare stream --machine haswell,cori_haswell --over n=1..1e6 --integer"),
)


def add_arguments(parser: ArgumentParser) -> None:
    add_model(parser)
    parser.add_argument(
        "--machine", metavar="A,B,...", required=True, dest="machines", help="the machines, files or names, by commas"
    )
    parser.add_argument(
        "--socket",
        metavar="S,...",
        dest="sockets",
        help="their sockets: one for each machine, or several for a single machine",
    )
    add_values(parser)
    parser.add_argument("--over", metavar="NAME=LOW..HIGH", help="finds all crossovers of this parameter's interval")
    parser.add_argument("--integer", action="store_true", help="with --over: whole values only, found exactly")
    parser.add_argument(
        "--transfer",
        action="store_true",
        help="the kernel's data lie at the first: the others also move them over their link",
    )
    parser.add_argument("--picture", metavar="FILE", help="with --over: draws the runtimes, as .svg, .png or .pdf")
    add_outside(parser)
    parser.add_argument("--format", choices=("table", "json", "csv"), default="table", help="default: table")
    add_seed(parser)


def run(arguments: Namespace) -> int:
    if arguments.over is None and (arguments.integer or arguments.picture):
        raise CommandError("--integer and --picture belong to --over NAME=LOW..HIGH")
    case = case_of_arguments(arguments)
    cases = [case.changed(machine=machine, socket=socket) for machine, socket in _machines(arguments)]
    comparison = Comparison(cases, transfer=arguments.transfer)
    sweep = None if arguments.over is None else _sweep(comparison, arguments)
    if arguments.picture and sweep is not None:
        save(arguments.picture, lambda: draw(sweep))
    answer(comparison.report(sweep=sweep), arguments.format)
    return 0


def _machines(arguments: Namespace) -> list[tuple[Machine, str | None]]:
    """Machines with their sockets, paired in order; a single machine takes all the sockets."""
    machines = [machine_named(name, arguments) for name in _split(arguments.machines)]
    sockets: list[str | None] = list(_split(arguments.sockets)) if arguments.sockets else [None]
    if len(machines) == 1 and sockets == [None]:
        sockets = list(machines[0].sockets)
    if len(machines) == 1:
        machines *= len(sockets)
    if len(sockets) == 1:
        sockets *= len(machines)
    if len(machines) != len(sockets):
        raise CommandError(f"{len(machines)} machines and {len(sockets)} sockets: give one socket for each machine")
    return list(zip(machines, sockets, strict=True))


def _split(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _sweep(comparison: Comparison, arguments: Namespace) -> Sweep:
    name, low, high = interval(arguments.over, "--over", "n=10..1e6")
    ends = []
    for end in (low, high):
        probe = predict(comparison.case.with_set({name: end.text()}))
        ends.append(probe.scope.values([probe.scope.symbol(name)], comparison.seed)[0])
    with Progress() as progress:
        sweep = comparison.over(
            name,
            ends[0],
            ends[1],
            whole=arguments.integer,
            progress=lambda part: progress.say(f"crossovers over {name}: {100 * part:.0f} % proven"),
        )
        _ = sweep.crossovers
    return sweep
