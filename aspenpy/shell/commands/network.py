"""`aspenpy network`: show a machine's network: topology, messages, collectives."""

from __future__ import annotations

from aspenpy.answers.network import Network
from aspenpy.cost.network.collectives import COLLECTIVES
from aspenpy.models.library import load_machine
from aspenpy.report.network import draw
from aspenpy.shell.failure import CommandError
from aspenpy.shell.option import Arguments, Examples, machine, option, picture, repeated
from aspenpy.shell.options import OUTSIDE, TABLE_OR_JSON, settings_of
from aspenpy.shell.output import answer

EXAMPLES: Examples = (
    ("the topology, and one message by its size", "aspenpy network --machine bluegene_q"),
    ("the fastest algorithms of collectives among so many ranks", "aspenpy network --machine frontier --ranks 8192"),
    ("of another design", "aspenpy network --machine frontier --set slingshot_11_latency=1e-6 --ranks 64"),
    ("for a program", "aspenpy network --machine bluegene_q --format json"),
)

COLLECTIVE_SIZES = (8, 1000, 10**6)  # Bytes that collectives are shown for


OPTIONS = (
    machine(required=True),
    option("--ranks", "N", "also what collectives among so many ranks take", type=int),
    repeated("--set", "NAME=EXPR", "gives a parameter of the machine another value; may be repeated", dest="settings"),
    TABLE_OR_JSON,
    picture("time by size"),
    OUTSIDE,
)


def run(arguments: Arguments) -> int:
    if arguments.ranks is not None and arguments.ranks < 1:
        raise CommandError(f"--ranks: a number of ranks is 1 or more, not {arguments.ranks}")
    found = load_machine(arguments.machine, allow_outside=arguments.allow_outside)
    network = Network(found, set=settings_of(arguments))
    collectives = [
        network.collective(name, arguments.ranks, size)
        for name in COLLECTIVES
        for size in (COLLECTIVE_SIZES if name != "barrier" else (0,))
        if arguments.ranks is not None
    ]
    report = network.report(collectives=collectives, ranks=arguments.ranks)
    return answer(report, arguments, lambda: draw(network))
