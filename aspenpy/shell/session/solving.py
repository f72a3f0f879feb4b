"""Solving: the values of a parameter at which an equation holds."""

from __future__ import annotations

from math import ceil, floor
from typing import NoReturn

from aspenpy.answers.inverse import Roots, RootSearch
from aspenpy.answers.scope import Value
from aspenpy.expr import graph
from aspenpy.language.axis import is_wide
from aspenpy.language.diagnostics import AspenError, fail
from aspenpy.language.source import Span, split_at_sign
from aspenpy.report.counts import exactly_between, write_exactly
from aspenpy.shell.session.conversation import format_cell
from aspenpy.shell.session.question import Question, read_question, refuse_line, split_around
from aspenpy.shell.session.ranges import Range, evaluate_number, find_parameter, read_interval
from aspenpy.shell.session.state import SessionState
from aspenpy.tables.numbers import Amount, format_setting
from aspenpy.tables.table import Column, Page, Paragraph, Part, Table, Title

SOLVE = "solve EXPR = EXPR for NAME, or for NAME=LOW..HIGH, with :whole behind it for whole numbers"

WIDEST = (1, 10**18)  # where a parameter without a range is looked for: no problem has a size beyond exa-


def answer_equation(rest: Span, state: SessionState) -> Page:
    """The page that answers `EXPR = EXPR for RANGE`; raises AspenError."""
    parts = split_around(rest, "for")
    sides = parts and (split_at_sign(parts[0], "==") or split_at_sign(parts[0], "="))
    if not parts or not sides or not sides[0].text() or not sides[1].text():
        refuse_line("EXPR = EXPR for NAME", rest, SOLVE)
    within = _read_search_range(parts[1], state)
    question, target = read_question(sides[0], state), _read_target(sides[1], within.name, state)
    roots = _search_solutions(question, target, within)
    if not roots.solutions and not roots.leaps:
        _refuse_out_of_reach(question, target, within)
    return _make_page(question, target, within, roots)


def _read_search_range(span: Span, state: SessionState) -> Range:
    """The range to search: the one typed, else the one that the parameter declares, else the widest."""
    try:
        return read_interval(span, state)
    except AspenError as error:
        if error.diagnostics[0].code != "no-range":
            raise
    return Range(*WIDEST, is_wide(*WIDEST), find_parameter(span, state), declared=False, span=span)


def _read_target(span: Span, name: str, state: SessionState) -> Value:
    target = read_question(span, state)
    if state.prediction.scope.symbol(name) in graph.free_symbols(target.formula(name)):
        hint = f"bring what depends on `{name}` to the left"
        fail("two-sided", f"what stands on the right depends on `{name}`", span, hint=hint)
    return evaluate_number(span, state)


def _search_solutions(question: Question, target: Value, within: Range) -> Roots:
    symbol = question.prediction.scope.symbol(within.name)
    formula = question.formula(within.name)
    if symbol not in graph.free_symbols(formula):
        fail("no-effect", f"`{question.text}` does not depend on `{within.name}`", question.span)
    low, high = (ceil(within.low), floor(within.high)) if within.whole else (within.low, within.high)
    if low > high:
        fail("empty-range", "there is no whole number in the range", within.span)
    try:
        return RootSearch(formula, symbol, question.as_function(within.name), target, within.whole).run(low, high)
    except AspenError as error:
        if error.diagnostics[0].code != "not-proven":
            raise
        hint = f"look in a smaller range: for {within.name}=LOW..HIGH" + ("" if within.whole else ", or add :whole")
        raise AspenError(error.diagnostics[0].replace(hint=hint, span=within.span)) from None


def _refuse_out_of_reach(question: Question, target: Value, within: Range) -> NoReturn:
    value = question.as_function(within.name)
    ends = " and ".join(_format_solution(value(end), question.unit) for end in (within.low, within.high))
    places = f"from {format_setting(within.low)} to {format_setting(within.high)}"
    message = f"no `{within.name}` {places} makes `{question.text}` {_format_solution(target, question.unit)}"
    hint = f"at the ends it is {ends}; `for {within.name}=LOW..HIGH` looks elsewhere"
    fail("out-of-reach", message, within.span, hint=hint)


def _make_page(question: Question, target: Value, within: Range, roots: Roots) -> Page:
    name = within.name
    values = [exactly_between(item.low, item.high) for item in roots.solutions]
    where = f"at {name} = {values[0]}" if len(values) == 1 else f"at {len(values)} values of {name}"
    where = where if values else f"at no {name}"
    parts: list[Part] = [Title(f"{question.text} = {_format_solution(target, question.unit)} {where}")]
    if len(values) > 1:
        parts.append(Table((Column(name, align="right"),), tuple((value,) for value in values)))
    if roots.leaps:
        shown = Column(question.text, lambda value: _format_solution(value, question.unit), "unit")
        columns = (Column(name, write_exactly, "right"), shown, Column(f"next {name}", write_exactly, "right"), shown)
        rows = tuple((item.before, item.amount_before, item.behind, item.amount_behind) for item in roots.leaps)
        parts.append(Table(columns, rows, title="leaps over it"))
    numbers = "whole numbers only" if within.whole else "all real numbers"
    whose = ", the range it declares" if within.declared else ""
    tried = f"Tried: {name} from {format_setting(within.low)} to {format_setting(within.high)}{whose}; {numbers}."
    return (*parts, Paragraph(tried))


def _format_solution(value: Value, unit: str) -> str:
    return format_cell(Amount(value, unit))
