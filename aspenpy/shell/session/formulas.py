"""Formulas: an expression in the free parameters, and its derivative."""

from __future__ import annotations

from typing import Any

from aspenpy.answers.inverse import JUMPING_FUNCTIONS
from aspenpy.expr import graph
from aspenpy.expr.derivative import derivative
from aspenpy.expr.graph import Expr
from aspenpy.expr.printer import MOST_NODES, TooLarge, text_if_short, to_text
from aspenpy.language.diagnostics import AspenError, fail
from aspenpy.language.dimensions import format_quantity, prefixed_unit
from aspenpy.language.source import Span
from aspenpy.models.units import unit_of_parameter
from aspenpy.shell.session.question import Question
from aspenpy.shell.session.state import State
from aspenpy.shell.session.whatif import format_cell
from aspenpy.sweeps.declarations import is_countable
from aspenpy.tables.numbers import Amount, worth
from aspenpy.tables.table import Column, Page, Paragraph, Table, Title

NEAR = 1e-4  # how far apart neighbours are, in parts of the value, where they are not whole numbers
LONGEST_FORMULA = 1_000  # characters of a derivative, which is often much longer than what it is of


def formula_page(question: Question, state: State) -> Page:
    """The expression as a formula."""
    return (Paragraph(f"{question.text} = {_text(question.formula(*state.free), question.span)}"),)


def slope_page(question: Question, name: str, place: Span, state: State) -> Page:
    """The derivative by a parameter as a formula in it and in the free ones, its value here, and the elasticity: by
    how many percent the expression changes where the parameter changes by one."""
    symbol = question.prediction.scope.symbol(name)
    formula = question.formula(name, *state.free)
    if symbol not in graph.free_symbols(formula):
        fail("no-effect", f"`{question.text}` does not depend on `{name}`", place)
    scope = question.prediction.scope
    (here,) = scope.values([symbol], state.seed)
    below = unit_of_parameter(name, state.application, state.required_machine)
    title = Title(f"d {_put_in_brackets(question.text)} / d {name}")
    try:
        slope = derivative(formula, symbol)
        (there,) = scope.values([slope], state.seed)
    except ValueError as error:
        return title, *_by_differences(question, name, here, below, str(error))
    except AspenError as error:
        return title, *_by_differences(question, name, here, below, error.diagnostics[0].message)
    facts = [(f"at {name} = {worth(Amount(here, below))}", _slope(question, there, here, below))]
    facts += _elasticity(question, name, here, there)
    facts.append(("formula", _shorten_formula(text_if_short(slope))))
    jumps = sorted(_jumps(formula))
    note = f"Between the jumps of {' and '.join(jumps)}; at them there is no slope."
    return (title, _table(facts), *([Paragraph(note)] if jumps else []))


def _slope(question: Question, slope: Any, here: Any, below: str) -> str:
    """A derivative in the unit of the expression, per the unit that the parameter's value is read in: a clock of 2 GHz
    changes it by so much per GHz, not per Hz."""
    size, unit = prefixed_unit(here, below)
    return format_cell(Amount(slope * size, question.unit)) + (f" per {unit}" if unit else "")


def _by_differences(question: Question, name: str, here: Any, below: str, why: str) -> Page:
    """The slope between two neighbours, where the formula has no derivative that has a value."""
    whole = is_countable(name, question.prediction)
    step = 1 if whole else (abs(here) or 1) * NEAR
    value = question.along(name)
    low, high = here - step, here + step
    slope = (value(high) - value(low)) / (high - low)
    ends = " to ".join(worth(Amount(end, below)) if whole else format_quantity(end, below, 6) for end in (low, high))
    facts = [(f"from {name} = {ends}", _slope(question, slope, here, below))]
    facts += _elasticity(question, name, here, slope)
    note = f"By differences: there is no derivative ({why})."
    return _table(facts), Paragraph(note)


def _table(facts: list[tuple[str, str]]) -> Table:
    return Table((Column(""), Column("", wrapped=True)), tuple(facts))


def _elasticity(question: Question, name: str, here: Any, slope: Any) -> list[tuple[str, str]]:
    if not (question.value and here):
        return []
    relative = float(slope) * float(here) / float(question.value)
    return [("elasticity", f"{relative:.4g} % for each percent of {name}")]


def _shorten_formula(text: str | None) -> str:
    if text is None:
        return f"too long to be shown: more than {MOST_NODES:,} terms"
    return text if len(text) <= LONGEST_FORMULA else f"too long to be shown: {len(text):,} characters"


def _jumps(formula: Expr) -> set[str]:
    """The functions in a formula that jump."""
    return {node.payload for node in graph.topological_order(formula) if graph.is_call(node, JUMPING_FUNCTIONS)}


def _put_in_brackets(text: str) -> str:
    return text if text.isidentifier() else f"({text})"


def _text(formula: Expr, place: Span) -> str:
    try:
        return to_text(formula)
    except TooLarge as error:
        fail("too-large", str(error), place, hint="`aspenpy expr --c` writes formulas of any size")
