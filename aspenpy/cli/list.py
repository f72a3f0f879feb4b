"""`aspenpy list`: the applications and machines of the library."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from aspenpy.cli.output import emit_json, show
from aspenpy.cli.parser import Examples

EXAMPLES: Examples = (
    ("applications", "aspenpy list apps"),
    ("machines", "aspenpy list machines"),
    ("for a program", "aspenpy list machines --format json"),
)


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("kind", metavar="KIND", choices=("apps", "machines"), help="apps or machines")
    parser.add_argument("--format", choices=("table", "json"), default="table", help="default: table")


def run(arguments: Namespace) -> int:
    from aspenpy.present.library import as_json, page

    if arguments.format == "json":
        emit_json(as_json(arguments.kind))
    else:
        show(page(arguments.kind))
    return 0
