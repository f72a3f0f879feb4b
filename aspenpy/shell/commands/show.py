"""`aspenpy show`: show what is in a model: a machine's tree and peaks, an application's calls and data."""

from __future__ import annotations

from aspenpy.language.files import Reader
from aspenpy.models.library import load_source
from aspenpy.report.library import summary
from aspenpy.shell.failure import CommandError
from aspenpy.shell.models import path_of
from aspenpy.shell.option import Arguments, Examples, flag, option
from aspenpy.shell.options import ALL_FORMATS, OUTSIDE, TABLES
from aspenpy.shell.output import deliver, deliver_text, show_source

EXAMPLES: Examples = (
    ("a machine: its tree, peaks, properties, parameters", "aspenpy show simple"),
    ("an application: its calls, data, parameters", "aspenpy show comd"),
    ("its text, in colour on a terminal", "aspenpy show stream --source"),
    ("for a program", "aspenpy show keeneland --format json"),
)

OPTIONS = (
    option("either", "NAME", "a model: a file, or a name of `aspenpy list`"),
    flag("--source", "shows the text of the model, in colour on a terminal"),
    ALL_FORMATS,
    TABLES,
    OUTSIDE,
)


def run(arguments: Arguments) -> int:
    reader = Reader(allow_outside=arguments.allow_outside)
    source = reader.read(path_of(arguments.either))
    if not arguments.source:
        return deliver(load_source(source, reader).report(summary=summary(source)), arguments)
    if arguments.format != "table":
        raise CommandError(f"--source and --format {arguments.format} are two ways to show a model")
    if arguments.results is None:
        show_source(source.text)  # as it stands, whether it is a model or not
    else:
        deliver_text(source.text, arguments)
    return 0
