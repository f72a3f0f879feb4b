"""Solving: all values of a parameter at which an equation holds, by `answers.inverse`."""

from __future__ import annotations

import math
from typing import NoReturn

from aspenpy.answers.inverse import Roots, Search
from aspenpy.answers.scope import Value
from aspenpy.expr import graph
from aspenpy.language.axis import is_wide
from aspenpy.language.diagnostics import AspenError, fail
from aspenpy.language.source import Span, split_at_sign
from aspenpy.report.counts import exactly_between, write_exactly
from aspenpy.shell.session.axis import Range, interval, number, parameter
from aspenpy.shell.session.line import around, refuse_line
from aspenpy.shell.session.question import Question, read_question
from aspenpy.shell.session.state import State
from aspenpy.shell.session.whatif import format_cell
from aspenpy.tables.numbers import Amount, setting
from aspenpy.tables.table import Column, Page, Paragraph, Part, Table, Title

USAGE = "solve EXPR = EXPR for NAME, or for NAME=LOW..HIGH, with :whole behind it for whole numbers"

WIDEST = (1, 10**18)  # where a parameter without a range is looked for


def answer_equation(rest: Span, state: State) -> Page:
    """The page that answers `EXPR = EXPR for RANGE`; raises AspenError."""
    parts = around(rest, "for")
    sides = parts and (split_at_sign(parts[0], "==") or split_at_sign(parts[0], "="))
    if not parts or not sides or not sides[0].text() or not sides[1].text():
        refuse_line("EXPR = EXPR for NAME", rest, USAGE)
    within = _within(parts[1], state)
    question, target = read_question(sides[0], state), _target(sides[1], within.name, state)
    roots = _search(question, target, within)
    if not roots.solutions and not roots.leaps:
        _out_of_reach(question, target, within)
    return _page(question, target, within, roots)


def _within(span: Span, state: State) -> Range:
    """Where to look: the range that was typed, or that the parameter declares, or the widest."""
    try:
        return interval(span, state)
    except AspenError as error:
        if error.diagnostics[0].code != "no-range":
            raise
    return Range(*WIDEST, is_wide(*WIDEST), parameter(span, state), declared=False, span=span)


def _target(span: Span, name: str, state: State) -> Value:
    target = read_question(span, state)
    if state.prediction.scope.symbol(name) in graph.free_symbols(target.formula(name)):
        hint = f"bring what depends on `{name}` to the left"
        fail("two-sided", f"what stands on the right depends on `{name}`", span, hint=hint)
    return number(span, state)


def _search(question: Question, target: Value, within: Range) -> Roots:
    symbol = question.prediction.scope.symbol(within.name)
    formula = question.formula(within.name)
    if symbol not in graph.free_symbols(formula):
        fail("no-effect", f"`{question.text}` does not depend on `{within.name}`", question.span)
    low, high = (math.ceil(within.low), math.floor(within.high)) if within.whole else (within.low, within.high)
    if low > high:
        fail("empty-range", "there is no whole number in the range", within.span)
    try:
        return Search(formula, symbol, question.along(within.name), target, within.whole).run(low, high)
    except AspenError as error:
        if error.diagnostics[0].code != "not-proven":
            raise
        hint = f"look in a smaller range: for {within.name}=LOW..HIGH" + ("" if within.whole else ", or add :whole")
        raise AspenError(error.diagnostics[0].replace(hint=hint, span=within.span)) from None


def _out_of_reach(question: Question, target: Value, within: Range) -> NoReturn:
    value = question.along(within.name)
    ends = " and ".join(_format_solution(value(end), question.unit) for end in (within.low, within.high))
    places = f"from {setting(within.low)} to {setting(within.high)}"
    message = f"no `{within.name}` {places} makes `{question.text}` {_format_solution(target, question.unit)}"
    hint = f"at the ends it is {ends}; `for {within.name}=LOW..HIGH` looks elsewhere"
    fail("out-of-reach", message, within.span, hint=hint)


def _page(question: Question, target: Value, within: Range, roots: Roots) -> Page:
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
    tried = f"Tried: {name} from {setting(within.low)} to {setting(within.high)}{whose}; {numbers}."
    return (*parts, Paragraph(tried))


def _format_solution(value: Value, unit: str) -> str:
    return format_cell(Amount(value, unit))
