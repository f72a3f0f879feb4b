"""`aspenpy traffic`: predict traffic between caches and memory, and hit rates by access."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from aspenpy.analysis.traffic import Traffic
from aspenpy.cli.entry import only_entry
from aspenpy.cli.output import answer
from aspenpy.cli.parser import Examples, add_machine, add_model, add_outside, add_values, settings_of
from aspenpy.library import load_application, load_machine
from aspenpy.prediction import predict
from aspenpy.scope import DEFAULT_SEED

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
    parser.add_argument(
        "--seed", metavar="N", type=int, default=DEFAULT_SEED, help=f"of random draws (default: {DEFAULT_SEED})"
    )


def run(arguments: Namespace) -> int:
    outside = arguments.allow_outside
    application = load_application(arguments.model, allow_outside=outside)
    prediction = predict(
        application,
        load_machine(arguments.machine, allow_outside=outside),
        kernel=only_entry(application, arguments.kernel),
        set=settings_of(arguments),
        socket=arguments.socket,
        seed=arguments.seed,
    )
    traffic = Traffic(prediction)
    answer(traffic.report(), arguments.format)
    if arguments.picture:
        from aspenpy.cli.pictures import save
        from aspenpy.report.traffic_picture import draw

        save(arguments.picture, lambda: draw(traffic))
    return 0
