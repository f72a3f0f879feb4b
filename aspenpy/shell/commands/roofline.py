"""`aspenpy roofline`: show the roofline of a machine, and applications below it."""

from __future__ import annotations

from aspenpy.answers.case import Case
from aspenpy.answers.roofline import Roofline
from aspenpy.language.files import put_whole
from aspenpy.models.library import load_application
from aspenpy.report.roofline_gnuplot import script
from aspenpy.report.roofline_picture import draw
from aspenpy.shell.entry import machine_named, only_entry, ranks_of
from aspenpy.shell.failure import writing
from aspenpy.shell.option import Arguments, Examples, option
from aspenpy.shell.options import ALL_FORMATS, PICTURE, SEED, SETTINGS, TABLES, machine, settings_of
from aspenpy.shell.output import deliver

EXAMPLES: Examples = (
    ("the ceilings of a machine, and from which intensity on they hold", "aspenpy roofline --machine haswell"),
    ("of one of its sockets", "aspenpy roofline --machine keeneland --socket nvidia_m2090"),
    ("applications, and their kernels, below them", "aspenpy roofline comd lulesh --machine haswell"),
    ("for a program", "aspenpy roofline spmv --machine haswell --format json"),
)

OPTIONS = (
    option(
        "applications",
        "MODEL",
        "applications to place below the roof: files, or names of `aspenpy list apps`",
        nargs="*",
    ),
    machine(required=True),
    *SETTINGS,
    ALL_FORMATS,
    TABLES,
    PICTURE.here(": the roofline"),
    option("--gnuplot", "FILE", "also writes it as a script for gnuplot"),
    SEED,
)


def run(arguments: Arguments) -> int:
    found = machine_named(arguments.machine, arguments)
    applications = [load_application(name, allow_outside=arguments.allow_outside) for name in arguments.applications]
    overlap = arguments.par == "overlap"
    cases = [
        Case(
            item,
            found,
            kernel=only_entry(item, arguments.kernel),
            seed=arguments.seed,
            overlap=overlap,
            **ranks_of(arguments),
        )
        for item in applications
    ]
    roofline = Roofline(found, cases, socket=arguments.socket, set=settings_of(arguments))
    deliver(roofline.report(), arguments, lambda: draw(roofline))
    if arguments.gnuplot:
        with writing(arguments.gnuplot):
            put_whole(arguments.gnuplot, script(roofline, arguments.gnuplot))
    return 0
