"""Every diagnostic of a file, further syntax errors behind the first one included."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from aspenpy.allowance import one_allowance
from aspenpy.answers.checks.applications import check_application
from aspenpy.answers.checks.machines import check_machine
from aspenpy.answers.scope import Setting
from aspenpy.language import nodes
from aspenpy.language.diagnostics import AspenError, Diagnostic, Related, drop_repeats
from aspenpy.language.files import Reader
from aspenpy.language.parser import parse_file
from aspenpy.language.source import Source, Span
from aspenpy.models.application.dimensions import contradictions
from aspenpy.models.application.load import assemble_application as assemble_application
from aspenpy.models.library import source_of
from aspenpy.models.machine.dimensions import contradictions as machine_contradictions
from aspenpy.models.machine.load import assemble_machine as assemble_machine
from aspenpy.models.machine.model import Machine


@one_allowance
def check(
    model: str | Path,
    machine: Machine | None = None,
    *,
    socket: str | None = None,
    set: Mapping[str, Setting] | None = None,
    allow_outside: bool = False,
) -> tuple[Diagnostic, ...]:
    """Everything that is wrong or doubtful in a model, errors of syntax included: no exception for what stands in it.

    `model` and `allow_outside` are those of `load_application`. On a `machine` an application is mapped as well.
    `socket` is the kind of socket of that machine that it is mapped to, `set` gives parameters of that run other
    values.

    :returns: the diagnostics in the order of the text; empty where nothing is found
    :raises AspenError: never for a mistake in a model, nor for a file that is not there: each is a diagnostic
    """
    reader = Reader(allow_outside=allow_outside)
    try:
        return tuple(check_source(source_of(model, reader), machine, reader, socket=socket, settings=set))
    except AspenError as error:
        return error.diagnostics


def check_file(
    path: Path,
    machine: Machine | None,
    reader: Reader,
    *,
    socket: str | None = None,
    settings: Mapping[str, Setting] | None = None,
    part_allowed: bool = False,
) -> list[Diagnostic]:
    """The diagnostics of one file."""
    try:
        source = reader.read(path)
        return check_source(source, machine, reader, socket=socket, settings=settings, part_allowed=part_allowed)
    except AspenError as error:
        return list(error.diagnostics)


def check_source(
    source: Source,
    machine: Machine | None = None,
    reader: Reader | None = None,
    *,
    socket: str | None = None,
    settings: Mapping[str, Setting] | None = None,
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
        return [*contradicting, *check_application(application, machine, socket, settings)]
    if part_allowed and not any(component.type == "machine" for component in node.components):
        return warnings
    if node.declarations and not node.components:  # parameters alone, which models include
        return [*machine_contradictions(node), *warnings]
    whole = assemble_machine(node, warnings)
    return [*drop_repeats(machine_contradictions(whole.node)), *check_machine(whole)]


# -- further syntax errors -------------------------------------------------------------------------
#
# The parser stops at a mistake. Here the line with the mistake is put out of the way and the file read again, as long
# as the line is a whole declaration or a whole requirement and the next mistake lies behind it: what could be a
# consequence of the first one is not reported.

MOST_SYNTAX_ERRORS = 20

_DECLARATION = re.compile(r"\s*(param|enum|data|import|property)\b")
_REQUIREMENT = re.compile(r"\s*[A-Za-z_]\w*\s*\[")
_STAND_IN = "flops [0]"  # a requirement that keeps its block from being empty


def syntax_errors(source: Source, reader: Reader) -> list[Diagnostic]:
    """The first syntax error of a file and those behind it that are surely mistakes of their own."""
    errors: list[Diagnostic] = []
    text, reached = source.text, -1
    while len(errors) < MOST_SYNTAX_ERRORS:
        attempt = source.with_text(text)
        try:
            parse_file(attempt, reader, [])
            break
        except AspenError as error:
            mistake = error.diagnostics[0]
        if mistake.span is None or mistake.span.resolve().source is not attempt or mistake.span.start <= reached:
            return errors or [mistake]
        errors.append(_place_in_source(source, mistake))
        line = _line_bounds(text, mistake.span.start)
        stand_in = _replacement_for(text[slice(*line)])
        if stand_in is None:
            break
        text = text[: line[0]] + stand_in + text[line[1] :]
        reached = max(line[1], mistake.span.start)
    return errors


def _place_in_source(source: Source, mistake: Diagnostic) -> Diagnostic:
    """The diagnostic in the text as it was written."""

    def move_span(span: Span | None) -> Span | None:
        return None if span is None else Span(source, span.start, span.end)

    related = tuple(Related(move_span(item.span), item.label) for item in mistake.related)
    return mistake.replace(span=move_span(mistake.span), related=related)


def _line_bounds(text: str, index: int) -> tuple[int, int]:
    """Begin and end of the line with the mistake: the line before, if the parser met it at a line's first word."""
    begin = text.rfind("\n", 0, index) + 1
    if not text[begin:index].strip():
        earlier = text[:begin].rstrip()
        begin = earlier.rfind("\n") + 1
        return begin, len(earlier)
    end = text.find("\n", index)
    return begin, len(text) if end < 0 else end


def _replacement_for(line: str) -> str | None:
    """A replacement for the line, as long as it and surely right; None where nothing is sure."""
    code = line.partition("//")[0]
    if any(code.count(left) != code.count(right) for left, right in ("{}", "[]", "()")):
        return None
    if _DECLARATION.match(code):
        return " " * len(line)
    if _REQUIREMENT.match(code) and len(code) >= len(_STAND_IN):
        return _STAND_IN.ljust(len(line))
    return None
