"""`aspenpy network`: show a machine's network: topology, messages, collectives."""

from __future__ import annotations

from aspenpy.answers.network import Network
from aspenpy.cost.network.collectives import COLLECTIVES
from aspenpy.models.library import load_machine
from aspenpy.report.network import draw
from aspenpy.shell.failure import CommandError
from aspenpy.shell.option import Arguments, Examples
from aspenpy.shell.options import ALL_FORMATS, OUTSIDE, PICTURE, SET, SOCKET, TABLES, machine, settings_of
from aspenpy.shell.output import deliver
from aspenpy.shell.ranks import ranks_in
from aspenpy.shell.study_options import RANK_COUNTS

EXAMPLES: Examples = (
    ("the topology, and one message by its size", "aspenpy network --machine bluegene_q"),
    (
        "the fastest algorithms of collectives among so many ranks",
        "aspenpy network --machine frontier --socket amd_mi250x --ranks 8192",
    ),
    (
        "of another design",
        "aspenpy network --machine frontier --socket amd_mi250x --ranks 64 --set slingshot_11_latency=1e-6",
    ),
    ("for a program", "aspenpy network --machine bluegene_q --format json"),
)

COLLECTIVE_SIZES = (8, 1000, 10**6)  # Bytes that collectives are shown for


OPTIONS = (
    machine(required=True),
    SOCKET.here(": its ranks exchange messages, over links inside of nodes too"),
    RANK_COUNTS.here("; one of them: also what collectives among so many take"),
    SET,
    ALL_FORMATS,
    TABLES,
    PICTURE.here(": time by size"),
    OUTSIDE,
)


def run(arguments: Arguments) -> int:
    ranks = None
    if arguments.ranks is not None:
        ranks, *more = ranks_in(arguments.ranks)
        if more:
            raise CommandError("--ranks: `network` takes one number of ranks; `scale` takes several")
    found = load_machine(arguments.machine, allow_outside=arguments.allow_outside)
    network = Network(found, set=settings_of(arguments), socket=arguments.socket)
    collectives = [
        network.collective(name, ranks, size)
        for name in COLLECTIVES
        for size in (COLLECTIVE_SIZES if name != "barrier" else (0,))
        if ranks is not None
    ]
    report = network.report(collectives=collectives, ranks=ranks)
    return deliver(report, arguments, lambda: draw(network))
