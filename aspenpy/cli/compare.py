"""`aspenpy compare`: compare machines for one application; find where the fastest changes."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from aspenpy.axis import interval
from aspenpy.cli.entry import only_entry
from aspenpy.cli.failure import CommandError
from aspenpy.cli.output import answer
from aspenpy.cli.parser import Examples, add_model, add_outside, add_values, settings_of
from aspenpy.cli.progress import Progress
from aspenpy.explore.comparison import Comparison, Sweep
from aspenpy.library import load_application, load_machine
from aspenpy.machine.model import Machine
from aspenpy.prediction import predict
from aspenpy.scope import DEFAULT_SEED

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
    parser.add_argument("--machine", metavar="A,B,...", required=True, help="the machines, files or names, by commas")
    parser.add_argument(
        "--socket", metavar="S,...", help="their sockets: one for each machine, or several for a single machine"
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
    parser.add_argument(
        "--seed", metavar="N", type=int, default=DEFAULT_SEED, help=f"of random draws (default: {DEFAULT_SEED})"
    )


def run(arguments: Namespace) -> int:
    if arguments.over is None and (arguments.integer or arguments.picture):
        raise CommandError("--integer and --picture belong to --over NAME=LOW..HIGH")
    application = load_application(arguments.model, allow_outside=arguments.allow_outside)
    comparison = Comparison(
        application,
        _machines(arguments),
        kernel=only_entry(application, arguments.kernel),
        set=settings_of(arguments),
        transfer=arguments.transfer,
        seed=arguments.seed,
    )
    sweep = None if arguments.over is None else _sweep(comparison, arguments)
    if arguments.picture and sweep is not None:
        from aspenpy.cli.pictures import save
        from aspenpy.report.comparison_picture import draw

        save(arguments.picture, lambda: draw(sweep))
    answer(comparison.report(sweep=sweep), arguments.format)
    return 0


def _machines(arguments: Namespace) -> list[tuple[Machine, str | None]]:
    """Machines with their sockets, paired in order; a single machine takes all the sockets."""
    machines = [load_machine(name, allow_outside=arguments.allow_outside) for name in _split(arguments.machine)]
    sockets: list[str | None] = list(_split(arguments.socket)) if arguments.socket else [None]
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
    first = comparison.contenders[0].prediction
    ends = []
    for end in (low, high):
        probe = predict(
            comparison.application,
            first.machine,
            socket=first.socket,
            kernel=comparison.kernel,
            set={**comparison.set, name: end.text()},
            seed=comparison.seed,
        )
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
