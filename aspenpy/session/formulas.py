"""Formulas: an expression in the free parameters, and its derivative."""

from __future__ import annotations

from aspenpy.analysis.inverse import JUMPING_FUNCTIONS
from aspenpy.diagnostics import fail
from aspenpy.expr import graph
from aspenpy.expr.derivative import derivative
from aspenpy.expr.graph import Expr
from aspenpy.expr.printer import TooLarge, to_text
from aspenpy.present.numbers import Amount, setting
from aspenpy.present.page import Page, Paragraph, Title
from aspenpy.present.table import Column, Table
from aspenpy.present.whatif import told
from aspenpy.session.question import Question
from aspenpy.session.state import State
from aspenpy.source import Span

LONGEST_FORMULA = 1_000
"""Characters of a derivative, which is often much longer than what it is of."""


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
    try:
        slope = derivative(formula, symbol)
    except ValueError as error:
        fail("no-derivative", str(error), place)
    scope = question.prediction.scope
    elasticity = graph.div(graph.mul(slope, symbol), formula)
    here, there = scope.values([symbol, slope], state.seed)
    facts = [(f"at {name} = {setting(here)}", told(Amount(there, question.unit)))]
    if question.value and here:
        relative = float(scope.values([elasticity], state.seed)[0])
        facts.append(("elasticity", f"{relative:.4g} % for each percent of {name}"))
    text = _text(slope, question.span)
    long = f"too long to be shown: {len(text):,} characters"
    facts.append(("formula", text if len(text) <= LONGEST_FORMULA else long))
    title = Title(f"d {_bracketed(question.text)} / d {name}")
    jumps = sorted(_jumps(formula))
    note = f"Between the jumps of {' and '.join(jumps)}; at them there is no slope."
    return (title, Table((Column(""), Column("", wrapped=True)), tuple(facts)), *([Paragraph(note)] if jumps else []))


def _jumps(formula: Expr) -> set[str]:
    """The functions in a formula that jump."""
    nodes = graph.topological(formula)
    return {node.payload for node in nodes if node.kind == "apply" and node.payload in JUMPING_FUNCTIONS}


def _bracketed(text: str) -> str:
    return text if text.isidentifier() else f"({text})"


def _text(formula: Expr, place: Span) -> str:
    try:
        return to_text(formula)
    except TooLarge as error:
        fail("too-large", str(error), place, hint="`aspenpy expr --c` writes formulas of any size")
