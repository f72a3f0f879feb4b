"""`aspenpy traffic`: predict traffic between caches and memory, and hit rates by access."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from aspenpy.answers.prediction import predict
from aspenpy.answers.traffic import Traffic
from aspenpy.report.traffic_picture import draw
from aspenpy.shell.entry import case_of_arguments
from aspenpy.shell.output import answer
from aspenpy.shell.parser import Examples, add_machine, add_model, add_outside, add_seed, add_values
from aspenpy.shell.pictures import save

EXAMPLES: Examples = (
    ("hits and misses of a matrix product", "aspenpy traffic cache_mm_reg --machine cachegrind"),
    ("of one that fits into the first cache", "aspenpy traffic cache_mm_reg --machine haswell --set n=50"),
    ("for a program", "aspenpy traffic cache_mm_reg --machine cachegrind --set n=160 --format json"),
)


def add_arguments(parser: ArgumentParser) -> None:
    add_model(parser)
    add_machine(parser, required=True)
    parser.add_argument("--socket", metavar="S", help="the kind of socket to run on, where the machine has several")
    add_values(parser)
    add_outside(parser)
    parser.add_argument("--format", choices=("table", "json", "csv"), default="table", help="default: table")
    parser.add_argument(
        "--picture", metavar="FILE", help="also draws the bytes of each level: an .svg, .png or .pdf file"
    )
    add_seed(parser)


def run(arguments: Namespace) -> int:
    prediction = predict(case_of_arguments(arguments))
    traffic = Traffic(prediction)
    answer(traffic.report(), arguments.format)
    if arguments.picture:
        save(arguments.picture, lambda: draw(traffic))
    return 0
