"""`aspenpy show`: what is in a model."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import Any

from aspenpy.application.model import Application
from aspenpy.cli.models import loaded, path_of
from aspenpy.cli.output import emit_json, report, show
from aspenpy.cli.parser import Examples, add_outside
from aspenpy.files import Reader
from aspenpy.machine.model import Machine
from aspenpy.present import application, machine
from aspenpy.present.library import summary
from aspenpy.present.page import Page

EXAMPLES: Examples = (
    ("a machine: its tree, peaks, properties, parameters", "aspenpy show simple"),
    ("an application: its calls, data, parameters", "aspenpy show comd"),
    ("for a program", "aspenpy show keeneland --format json"),
)


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("model", metavar="NAME", help="a model: a file, or a name of `aspenpy list`")
    parser.add_argument("--format", choices=("table", "json"), default="table", help="default: table")
    add_outside(parser)


def run(arguments: Namespace) -> int:
    reader = Reader(allow_outside=arguments.allow_outside)
    source = reader.read(path_of(arguments.model))
    model = loaded(source, reader)
    if arguments.format == "json":
        emit_json(_object(model, summary(source)))
        return 0
    report(model.warnings)
    show(_page(model, summary(source)))
    return 0


def _page(model: Application | Machine, said: str) -> Page:
    return application.page(model, said) if isinstance(model, Application) else machine.page(model, said)


def _object(model: Application | Machine, said: str) -> dict[str, Any]:
    found = application.as_json(model, said) if isinstance(model, Application) else machine.as_json(model, said)
    return found | {"diagnostics": [diagnostic.to_json() for diagnostic in model.warnings]}
