"""`aspenpy place`: kernels on several kinds of sockets of one machine, and what moving their data takes."""

from __future__ import annotations

from aspenpy.answers.placement.best import place
from aspenpy.shell.entry import case_of_arguments
from aspenpy.shell.option import Arguments, Examples, flag, pairs, repeatable_option
from aspenpy.shell.options import ALL_FORMATS, MODEL, OUTSIDE, PAR, RANKS, SEED, TABLES, VALUES, machine
from aspenpy.shell.output import deliver

EXAMPLES: Examples = (
    ("the fastest socket for each kernel", "aspenpy place cg --machine keeneland"),
    ("a placement of one's own", "aspenpy place hpcg --machine keeneland --on multiply=nvidia_m2090"),
    (
        "the best of those in which a kernel stays where it is",
        "aspenpy place cg --machine keeneland --on start=nvidia_m2090 --best",
    ),
    ("data that are there already", "aspenpy place fft1d --machine keeneland --data signal=nvidia_m2090"),
)

OPTIONS = (
    MODEL,
    machine(required=True),
    repeatable_option(
        "--on",
        "KERNEL=SOCKET,...",
        "where kernels run, and what they call; all others on the machine's first socket, or with --best where it is "
        "best (default: the best for all)",
    ),
    flag("--best", "with --on: finds the best sockets for all other kernels"),
    repeatable_option(
        "--data", "NAME=SOCKET,...", "where data structures lie at first (default: at the machine's first socket)"
    ),
    *VALUES,
    *RANKS,
    PAR,
    OUTSIDE,
    ALL_FORMATS,
    TABLES,
    SEED,
)


def run(arguments: Arguments) -> int:
    placement = place(
        case_of_arguments(arguments),
        sockets=pairs("--on", "KERNEL=SOCKET", _parts(arguments.on)),
        best=arguments.best or not arguments.on,
        data=pairs("--data", "NAME=SOCKET", _parts(arguments.data)),
    )
    return deliver(placement.report(), arguments)


def _parts(texts: list[str]) -> list[str]:
    return [part.strip() for text in texts for part in text.split(",")]
