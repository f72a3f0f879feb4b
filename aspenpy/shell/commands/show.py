"""`aspenpy show`: show what is in a model: a machine's tree and peaks, an application's calls and data."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from aspenpy.language.files import Reader
from aspenpy.language.source import Source
from aspenpy.report.library import summary
from aspenpy.shell.failure import CommandError
from aspenpy.shell.models import loaded, path_of
from aspenpy.shell.output import answer, show_source
from aspenpy.shell.parser import Examples, add_outside

EXAMPLES: Examples = (
    ("a machine: its tree, peaks, properties, parameters", "aspenpy show simple"),
    ("an application: its calls, data, parameters", "aspenpy show comd"),
    ("its text, in colour on a terminal", "aspenpy show stream --source"),
    ("for a program", "aspenpy show keeneland --format json"),
)


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("model", metavar="NAME", help="a model: a file, or a name of `aspenpy list`")
    parser.add_argument("--source", action="store_true", help="shows the text of the model, in colour on a terminal")
    parser.add_argument("--format", choices=("table", "json"), default="table", help="default: table")
    add_outside(parser)


def run(arguments: Namespace) -> int:
    reader = Reader(allow_outside=arguments.allow_outside)
    source = reader.read(path_of(arguments.model))
    if arguments.source:
        return _show_source(source, arguments)
    model = loaded(source, reader)
    answer(model.report(summary=summary(source)), arguments.format)
    return 0


def _show_source(source: Source, arguments: Namespace) -> int:
    """The text as it stands, whether it is a model or not."""
    if arguments.format == "json":
        raise CommandError("--source and --format json are two ways to show a model")
    show_source(source.text)
    return 0
