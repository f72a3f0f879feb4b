"""`aspenpy place`: kernels on several kinds of sockets of one machine, and what moving their data takes."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from aspenpy.answers.placement.place import place
from aspenpy.shell.entry import case_of_arguments
from aspenpy.shell.failure import CommandError
from aspenpy.shell.output import answer
from aspenpy.shell.parser import Examples, add_machine, add_model, add_outside, add_seed, add_values

EXAMPLES: Examples = (
    ("the fastest socket for each kernel", "aspenpy place cg --machine keeneland"),
    (
        "a placement of one's own",
        "aspenpy place hpcg --machine keeneland --on multiply=nvidia_m2090",
    ),
    (
        "the best of those in which a kernel stays where it is",
        "aspenpy place cg --machine keeneland --on start=nvidia_m2090 --best",
    ),
    ("data that are there already", "aspenpy place fft1d --machine keeneland --data signal=nvidia_m2090"),
)


def add_arguments(parser: ArgumentParser) -> None:
    add_model(parser)
    add_machine(parser, required=True)
    parser.add_argument(
        "--on",
        metavar="KERNEL=SOCKET,...",
        action="append",
        default=[],
        help="where kernels run, and what they call; all others on the machine's first socket, or with --best where "
        "it is best (default: the best for all)",
    )
    parser.add_argument("--best", action="store_true", help="with --on: finds the best sockets for all other kernels")
    parser.add_argument(
        "--data",
        metavar="NAME=SOCKET,...",
        action="append",
        default=[],
        help="where data structures lie at first (default: at the machine's first socket)",
    )
    add_values(parser)
    parser.add_argument(
        "--par",
        choices=("add", "overlap"),
        default="add",
        help="whether the branches of `par` take their times one after the other or at once (default: add)",
    )
    add_outside(parser)
    parser.add_argument("--format", choices=("table", "json", "csv"), default="table", help="default: table")
    add_seed(parser)


def run(arguments: Namespace) -> int:
    found = place(
        case_of_arguments(arguments),
        sockets=pairs("--on", "KERNEL=SOCKET", arguments.on),
        best=arguments.best or not arguments.on,
        data=pairs("--data", "NAME=SOCKET", arguments.data),
    )
    answer(found.report(), arguments.format)
    return 0


def pairs(option: str, form: str, texts: list[str]) -> dict[str, str]:
    """What stands before and behind each `=`; of two for one name the later holds."""
    found: dict[str, str] = {}
    for text in (part for whole in texts for part in whole.split(",")):
        name, equals, socket = (part.strip() for part in text.partition("="))
        if not (name and equals and socket):
            raise CommandError(f"{option}: expected {form}, not `{text.strip()}`")
        found[name] = socket
    return found
