"""`aspenpy fit`: calibrate parameters to measurements."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from aspenpy.language.files import require_writable, write_whole
from aspenpy.report.fit import percent
from aspenpy.report.fit_picture import draw
from aspenpy.shell.commands.fmt import standard_input
from aspenpy.shell.entry import case_of_arguments
from aspenpy.shell.failure import CommandError
from aspenpy.shell.output import answer
from aspenpy.shell.parser import Examples, add_machine, add_model, add_seed, add_settings
from aspenpy.shell.pictures import save
from aspenpy.shell.progress import Progress
from aspenpy.studies.empirical.fit import fit

EXAMPLES: Examples = (
    (
        "how many repetitions explain two counts of bytes",
        r"printf 'n,bytes [GB]\n1e6,1.55\n2e6,3.25\n' | aspenpy fit stream - --vary repetitions",
    ),
    (
        "the same from runtimes, a whole number of them, and the model with it in a file",
        r"printf 'n,runtime [ms]\n1e6,62\n4e6,251\n'"
        " | aspenpy fit stream - --machine simple --vary repetitions --integer repetitions -o fitted.aspen",
    ),
)


def add_arguments(parser: ArgumentParser) -> None:
    add_model(parser)
    parser.add_argument(
        "data",
        metavar="DATA",
        help="measurements, a CSV file, or - for standard input: columns `runtime`, `runtime [ms]` or a resource "
        "(`flops`), `machine`, `socket`, and parameters",
    )
    add_machine(parser, required=False, why="; where no column `machine` says which")
    add_settings(parser)
    parser.add_argument(
        "--vary",
        metavar="NAME,...",
        help="parameters to fit, of the application or the machine (default: the application's that have a range and "
        "that the measurements determine)",
    )
    parser.add_argument("--integer", metavar="NAME,...", help="which of it takes whole values only")
    parser.add_argument(
        "--column",
        metavar="NAME=HEADER",
        action="append",
        default=[],
        dest="columns",
        help="takes a column by another name, such as 'runtime [ms]=time/ms', and leaves out all that are not taken; "
        "may be repeated",
    )
    parser.add_argument("--confidence", metavar="C", type=float, default=0.95, help="of intervals (default: 0.95)")
    parser.add_argument("-o", "--output", metavar="FILE", help="also writes the model with the fitted values in place")
    parser.add_argument("--picture", metavar="FILE", help="also draws the errors: an .svg, .png or .pdf file")
    parser.add_argument("--format", choices=("table", "json", "csv"), default="table", help="default: table")
    add_seed(parser)


def run(arguments: Namespace) -> int:
    case = case_of_arguments(arguments)
    for path in (arguments.output, arguments.picture):
        if path:
            require_writable(path)
    with Progress() as progress:
        found = fit(
            case,
            standard_input() if arguments.data == "-" else arguments.data,
            vary=_names(arguments.vary),
            integer=_names(arguments.integer),
            columns=_columns(arguments.columns),
            confidence=arguments.confidence,
            allow_outside=arguments.allow_outside,
            watch=lambda error: progress.say(f"fitting: root mean square of the errors {percent(error)}"),
        )
    if arguments.output:
        write_whole(arguments.output, found.to_aspen(arguments.output, allow_outside=arguments.allow_outside))
    if arguments.picture:
        save(arguments.picture, lambda: draw(found))
    answer(found.report(), arguments.format)
    return 0


def _names(text: str | None) -> list[str]:
    return [name.strip() for name in (text or "").split(",") if name.strip()]


def _columns(given: list[str]) -> dict[str, str]:
    """The headers of `--column` by the names they are taken by."""
    found: dict[str, str] = {}
    for text in given:
        name, equals, header = text.partition("=")
        if not equals or not name.strip() or not header.strip():
            raise CommandError(f"--column: expected NAME=HEADER, such as n=size, not `{text}`")
        found[name.strip()] = header.strip()
    return found
