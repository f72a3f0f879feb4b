"""`aspenpy network`: show a machine's network: topology, messages, collectives."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from aspenpy.answers.network import Network
from aspenpy.cost.network.collectives import COLLECTIVES
from aspenpy.models.library import load_machine
from aspenpy.report.network_picture import draw
from aspenpy.shell.failure import CommandError
from aspenpy.shell.output import answer
from aspenpy.shell.parser import Examples, add_outside, settings_of
from aspenpy.shell.pictures import save

EXAMPLES: Examples = (
    ("the topology, and one message by its size", "aspenpy network bluegene_q"),
    ("the fastest algorithms of collectives among so many ranks", "aspenpy network frontier --ranks 8192"),
    ("of another design", "aspenpy network frontier --set slingshot_11_latency=1e-6 --ranks 64"),
    ("for a program", "aspenpy network bluegene_q --format json"),
)

COLLECTIVE_SIZES = (8, 1000, 10**6)
"""Bytes that collectives are shown for."""


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("machine", metavar="MACHINE", help="a machine: a file, or a name of `aspenpy list machines`")
    parser.add_argument("--ranks", metavar="N", type=int, help="also what collectives among so many ranks take")
    parser.add_argument(
        "--set",
        metavar="NAME=EXPR",
        action="append",
        default=[],
        dest="settings",
        help="gives a parameter of the machine another value; may be repeated",
    )
    parser.add_argument("--format", choices=("table", "json"), default="table", help="default: table")
    parser.add_argument("--picture", metavar="FILE", help="also draws time by size: an .svg, .png or .pdf file")
    add_outside(parser)


def run(arguments: Namespace) -> int:
    if arguments.ranks is not None and arguments.ranks < 1:
        raise CommandError(f"--ranks: a number of ranks is 1 or more, not {arguments.ranks}")
    machine = load_machine(arguments.machine, allow_outside=arguments.allow_outside)
    network = Network(machine, set=settings_of(arguments))
    collectives = [
        network.collective(name, arguments.ranks, size)
        for name in COLLECTIVES
        for size in (COLLECTIVE_SIZES if name != "barrier" else (0,))
        if arguments.ranks is not None
    ]
    answer(network.report(collectives=collectives, ranks=arguments.ranks), arguments.format)
    if arguments.picture:
        save(arguments.picture, lambda: draw(network))
    return 0
