"""`aspenpy memory`: show the data that kernels touch, and whether they fit into memory."""

from __future__ import annotations

from aspenpy.answers.footprint import Footprint
from aspenpy.shell.entry import case_of_arguments
from aspenpy.shell.option import Arguments, Examples
from aspenpy.shell.options import ALL_FORMATS, MODEL, OUTSIDE, RANKS, SEED, SOCKET, TABLES, VALUES, machine
from aspenpy.shell.output import deliver

EXAMPLES: Examples = (
    ("what each kernel touches", "aspenpy memory comd"),
    ("against the memory of a machine", "aspenpy memory comd --machine haswell --set nx=400 --set ny=400 --set nz=400"),
    ("for a program", "aspenpy memory stream --machine simple --format json"),
)

OPTIONS = (
    MODEL,
    machine(required=False, why=", whose memory it should fit"),
    SOCKET,
    *VALUES,
    *RANKS,
    OUTSIDE,
    ALL_FORMATS,
    TABLES,
    SEED,
)


def run(arguments: Arguments) -> int:
    return deliver(Footprint(case_of_arguments(arguments)).report(), arguments)
