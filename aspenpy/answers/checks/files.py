"""Every diagnostic of a file."""

from __future__ import annotations

from pathlib import Path

from aspenpy.answers.checks.applications import check_application
from aspenpy.answers.checks.machines import check_machine
from aspenpy.answers.checks.recovery import syntax_errors
from aspenpy.language import nodes
from aspenpy.language.diagnostics import AspenError, Diagnostic
from aspenpy.language.files import Reader
from aspenpy.language.parser import parse_file
from aspenpy.language.source import Source
from aspenpy.models.application.dimensions import contradictions
from aspenpy.models.application.load import assemble as assemble_application
from aspenpy.models.machine.dimensions import contradictions as machine_contradictions
from aspenpy.models.machine.load import assemble as assemble_machine
from aspenpy.models.machine.model import Machine


def check_file(
    path: Path, machine: Machine | None, reader: Reader, *, socket: str | None = None, part_allowed: bool = False
) -> list[Diagnostic]:
    """Every diagnostic of one file."""
    try:
        return check_source(reader.read(path), machine, reader, socket=socket, part_allowed=part_allowed)
    except AspenError as error:
        return list(error.diagnostics)


def check_source(
    source: Source,
    machine: Machine | None = None,
    reader: Reader | None = None,
    *,
    socket: str | None = None,
    part_allowed: bool = False,
) -> list[Diagnostic]:
    """Every diagnostic of one model; raises AspenError where it cannot even be loaded."""
    warnings: list[Diagnostic] = []
    reader = reader or Reader()
    try:
        node = parse_file(source, reader, warnings)
    except AspenError:
        return syntax_errors(source, reader)
    if isinstance(node, nodes.Application):
        contradicting = contradictions(node)
        application = assemble_application(node, source, warnings, reader)
        return [*contradicting, *check_application(application, machine, socket)]
    if part_allowed and not any(component.type == "machine" for component in node.components):
        return warnings
    return [*machine_contradictions(node), *check_machine(assemble_machine(node, warnings))]
