"""`aspenpy roofline`: show the roofline of a machine, and applications below it."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from aspenpy.answers.case import Case
from aspenpy.answers.roofline import Roofline
from aspenpy.language.files import put_whole
from aspenpy.models.library import load_application
from aspenpy.report.roofline_gnuplot import script
from aspenpy.report.roofline_picture import draw
from aspenpy.shell.entry import machine_named, only_entry
from aspenpy.shell.failure import CommandError
from aspenpy.shell.output import answer
from aspenpy.shell.parser import Examples, add_seed, add_settings, settings_of
from aspenpy.shell.pictures import save

EXAMPLES: Examples = (
    ("the ceilings of a machine, and from which intensity on they hold", "aspenpy roofline haswell"),
    ("of one of its sockets", "aspenpy roofline keeneland --socket nvidia_m2090"),
    ("applications, and their kernels, below them", "aspenpy roofline haswell --app comd lulesh"),
    ("for a program", "aspenpy roofline haswell --app spmv --format json"),
)


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("machine", metavar="MACHINE", help="a machine: a file, or a name of `aspenpy list machines`")
    parser.add_argument(
        "--app",
        metavar="MODEL",
        nargs="+",
        action="extend",
        default=[],
        dest="applications",
        help="applications to place below the roof: files, or names of `aspenpy list apps`",
    )
    add_settings(parser)
    parser.add_argument("--format", choices=("table", "json", "csv"), default="table", help="default: table")
    parser.add_argument("--picture", metavar="FILE", help="also draws the roofline: an .svg, .png or .pdf file")
    parser.add_argument("--gnuplot", metavar="FILE", help="also writes it as a script for gnuplot")
    add_seed(parser)


def run(arguments: Namespace) -> int:
    machine = machine_named(arguments.machine, arguments)
    applications = [load_application(name, allow_outside=arguments.allow_outside) for name in arguments.applications]
    overlap = arguments.par == "overlap"
    cases = [
        Case(item, machine, kernel=only_entry(item, arguments.kernel), seed=arguments.seed, overlap=overlap)
        for item in applications
    ]
    found = Roofline(machine, cases, socket=arguments.socket, set=settings_of(arguments))
    answer(found.report(), arguments.format)
    if arguments.picture:
        save(arguments.picture, lambda: draw(found))
    if arguments.gnuplot:
        _save(arguments.gnuplot, script(found, arguments.gnuplot))
    return 0


def _save(path: str, text: str) -> None:
    try:
        put_whole(path, text)
    except OSError as error:
        raise CommandError(f"cannot write `{path}`: {error.strerror}") from None
