"""`aspenpy traffic`: predict traffic between caches and memory, and hit rates by access."""

from __future__ import annotations

from aspenpy.answers.prediction import predict
from aspenpy.answers.traffic import Traffic
from aspenpy.report.traffic import draw_traffic
from aspenpy.shell.entry import case_of_arguments
from aspenpy.shell.option import Arguments, Examples
from aspenpy.shell.options import ALL_FORMATS, MODEL, OUTSIDE, PICTURE, RANKS, SEED, SOCKET, TABLES, VALUES, machine
from aspenpy.shell.output import deliver

EXAMPLES: Examples = (
    ("hits and misses of a matrix product", "aspenpy traffic cache_mm_reg --machine cachegrind"),
    ("of one that fits into the first cache", "aspenpy traffic cache_mm_reg --machine haswell --set n=50"),
    ("near an edge of a cache: with both sides", "aspenpy traffic cache_transpose --machine cachegrind --set n=171"),
    ("for a program", "aspenpy traffic cache_mm_reg --machine cachegrind --set n=160 --format json"),
)

OPTIONS = (
    MODEL,
    machine(required=True),
    SOCKET,
    *VALUES,
    *RANKS,
    OUTSIDE,
    ALL_FORMATS,
    TABLES,
    PICTURE.here(": the bytes of each level"),
    SEED,
)


def run(arguments: Arguments) -> int:
    traffic = Traffic(predict(case_of_arguments(arguments)))
    return deliver(traffic.report(), arguments, lambda: draw_traffic(traffic))
