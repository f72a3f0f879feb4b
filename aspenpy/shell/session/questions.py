"""Questions: the commands that ask about the state and leave it as it is."""

from __future__ import annotations

from typing import Any

from aspenpy.answers.counting import Counts
from aspenpy.answers.inverse import JUMPING_FUNCTIONS
from aspenpy.answers.profile import Profile
from aspenpy.explore.comparison import Comparison
from aspenpy.expr import graph
from aspenpy.expr.derivative import differentiate
from aspenpy.expr.gathered import gather_numbers
from aspenpy.expr.graph import Expr
from aspenpy.expr.printer import MOST_NODES, TooLarge, text_if_short, to_text
from aspenpy.language.axis import split_axes
from aspenpy.language.diagnostics import AspenError, fail
from aspenpy.language.dimensions import format_quantity, prefixed_unit
from aspenpy.language.source import Span, split_at_commas
from aspenpy.models.library import load_machine
from aspenpy.models.machine.model import Machine
from aspenpy.models.units import unit_of_parameter
from aspenpy.shell.session.conversation import Answer, Conversation, format_cell, runtime_line, sweep_table, value_table
from aspenpy.shell.session.question import (
    Question,
    first_word,
    is_declared,
    metrics_of,
    place_errors,
    read_question,
    refuse_line,
    split_around,
)
from aspenpy.shell.session.ranges import Values, find_parameter, read_interval, values_at
from aspenpy.shell.session.solving import answer_equation
from aspenpy.shell.session.state import SessionState
from aspenpy.sweeps.declarations import is_countable
from aspenpy.sweeps.run import StudyRun
from aspenpy.sweeps.study import GridDimension, Study
from aspenpy.sweeps.sweep import compute_in_memory
from aspenpy.tables.numbers import Amount, format_setting_with_unit
from aspenpy.tables.table import Column, Page, Paragraph, Plot, Table, Title

SLOPE_STEP = 1e-4  # of a central difference, in parts of the value: its error is of the square of that
LONGEST_FORMULA = 1_000  # characters of a derivative, which is often much longer than what it is of


def formula_page(question: Question, state: SessionState) -> Page:
    """The expression as a formula."""
    return (Paragraph(f"{question.text} = {_write_formula(question.formula(*state.free), question.span)}"),)


def slope_page(question: Question, name: str, span: Span, state: SessionState) -> Page:
    """The derivative by a parameter as a formula in it and in the free ones, its value here, and the elasticity: by
    how many percent the expression changes where the parameter changes by one."""
    symbol = question.prediction.scope.symbol(name)
    formula = question.formula(name, *state.free)
    if symbol not in graph.free_symbols(formula):
        fail("no-effect", f"`{question.text}` does not depend on `{name}`", span)
    scope = question.prediction.scope
    (here,) = scope.values([symbol], state.seed)
    below = unit_of_parameter(name, state.application, state.required_machine)
    title = Title(f"d {_put_in_brackets(question.text)} / d {name}")
    try:
        slope = differentiate(formula, symbol)
        (there,) = scope.values([slope], state.seed)
    except ValueError as error:
        return title, *_slope_by_differences(question, name, here, below, str(error))
    except AspenError as error:
        return title, *_slope_by_differences(question, name, here, below, error.diagnostics[0].message)
    facts = [
        (f"at {name} = {format_setting_with_unit(Amount(here, below))}", _format_slope(question, there, here, below))
    ]
    facts += _elasticity_rows(question, name, here, there)
    facts.append(("formula", _shorten_formula(text_if_short(slope))))
    jumps = sorted(
        {node.payload for node in graph.topological_order(formula) if graph.is_call(node, JUMPING_FUNCTIONS)}
    )
    note = f"Between the jumps of {' and '.join(jumps)}; at them there is no slope."
    return (title, _facts_table(facts), *([Paragraph(note)] if jumps else []))


def _format_slope(question: Question, slope: Any, here: Any, below: str) -> str:
    """A derivative in the unit of the expression, per the unit that the parameter's value is read in: for a clock of 2
    GHz per GHz, not per Hz."""
    size, unit = prefixed_unit(here, below)
    return format_cell(Amount(slope * size, question.unit)) + (f" per {unit}" if unit else "")


def _slope_by_differences(question: Question, name: str, here: Any, below: str, why: str) -> Page:
    """The slope between two neighbours, where the formula has no derivative that has a value."""
    whole = is_countable(name, question.prediction)
    step = 1 if whole else (abs(here) or 1) * SLOPE_STEP
    value = question.as_function(name)
    low, high = here - step, here + step
    slope = (value(high) - value(low)) / (high - low)
    ends = " to ".join(
        format_setting_with_unit(Amount(end, below)) if whole else format_quantity(end, below, 6) for end in (low, high)
    )
    facts = [(f"from {name} = {ends}", _format_slope(question, slope, here, below))]
    facts += _elasticity_rows(question, name, here, slope)
    note = f"By differences: there is no derivative ({why})."
    return _facts_table(facts), Paragraph(note)


def _facts_table(facts: list[tuple[str, str]]) -> Table:
    return Table((Column(""), Column("", wrapped=True)), tuple(facts))


def _elasticity_rows(question: Question, name: str, here: Any, slope: Any) -> list[tuple[str, str]]:
    if not (question.value and here):
        return []
    relative = float(slope) * float(here) / float(question.value)
    return [("elasticity", f"{relative:.4g} % for each percent of {name}")]


def _shorten_formula(text: str | None) -> str:
    if text is None:
        return f"too long to be shown: more than {MOST_NODES:,} terms"
    return text if len(text) <= LONGEST_FORMULA else f"too long to be shown: {len(text):,} characters"


def _put_in_brackets(text: str) -> str:
    return text if text.isidentifier() else f"({text})"


def _write_formula(formula: Expr, span: Span) -> str:
    try:
        return to_text(gather_numbers(formula))
    except TooLarge as error:
        fail("too-large", str(error), span, hint="`aspenpy expr --c` writes formulas of any size")


COMPARE = "compare MACHINE, ... [over NAME=LOW..HIGH]"

POINTS_PLOTTED = 240
POINTS_LISTED = 10  # of an axis that does not say how many
MOST_ROWS = 1_000  # of a table of a sweep; of more points it is told what is least and largest


def show(session: Conversation, rest: Span) -> Answer:
    """The prediction, or the values of expressions."""
    if not rest.text():
        return Answer((*session.prediction.report().page, *runtime_line(session.state)))
    return Answer(value_table([(item, _baseline_question(item, session)) for item in _read_questions(rest, session)]))


def _split_at_word(rest: Span, word: str) -> tuple[Span, Span]:
    """The text before the last such word, nothing if there is none, and the text behind it."""
    return split_around(rest, word) or (Span(rest.source, rest.start, rest.start), rest)


def _read_questions(span: Span, session: Conversation) -> list[Question]:
    return [read_question(part, session.state) for part in split_at_commas(span) or [span]]


def _baseline_question(question: Question, session: Conversation) -> Question | None:
    """The same question, asked of the baseline; None where it is the same state, or has no answer."""
    if session.state.baseline is None or question.span.text() == "":
        return None
    before = session.state.baseline.changed(names=session.state.names)
    try:
        there = read_question(question.span, before)
        _ = there.value
    except AspenError:
        return None  # such as a parameter of another machine
    return there


def expr(session: Conversation, rest: Span) -> Answer:
    """A formula in the free parameters."""
    return Answer(formula_page(read_question(rest, session.state), session.state))


def diff(session: Conversation, rest: Span) -> Answer:
    """The derivative by a parameter."""
    what, name = _split_at_word(rest, "by")
    return Answer(
        slope_page(read_question(what, session.state), find_parameter(name, session.state), name, session.state)
    )


def solve(session: Conversation, rest: Span) -> Answer:
    """All values of a parameter at which an equation holds."""
    return Answer(answer_equation(rest, session.state))


def plot(session: Conversation, rest: Span) -> Answer:
    """Curves over a parameter; those of one unit are one picture."""
    what, where = _split_at_word(rest, "over")
    along = values_at(where, session.state, POINTS_PLOTTED)
    xs = tuple(map(float, along.values))
    curves: dict[str, dict[str, tuple[float, ...]]] = {}
    for question in _read_questions(what, session):
        curves.setdefault(question.unit, {})[question.text] = _compute_heights(question, along)
    return Answer(tuple(Plot(curve, unit, along.name, xs, along.log) for unit, curve in curves.items()))


def _compute_heights(question: Question, along: Values) -> tuple[float, ...]:
    """A height for each value, not a number where there is none. Raises AspenError where there is none at all."""
    value = question.as_function(along.name)
    heights, failures = [], []
    for x in along.values:
        try:
            heights.append(float(value(x)))
        except AspenError as error:
            heights.append(float("nan"))
            failures.append(error)
    if len(failures) == len(heights):
        raise failures[0]
    return tuple(heights)


def sweep(session: Conversation, rest: Span) -> Answer:
    """A table of values over parameters; of more rows than anybody reads, what is least and largest."""
    from itertools import product
    from math import prod

    what, where = _split_at_word(rest, "over")
    questions = _read_questions(what, session)
    axes = [values_at(part, session.state, POINTS_LISTED) for part in split_axes(where) or [where]]
    names = [item.name for item in axes]
    size = prod(len(item.values) for item in axes)
    if size > MOST_ROWS:
        for question in questions:
            if question.text not in metrics_of(question.prediction) or is_declared(session.state, question.text):
                hint = "say how many values: NAME=LOW..HIGH:10; metrics such as runtime are summed up beyond"
                fail("too-large", f"a table of {size:,} rows is more than {MOST_ROWS:,}", where, hint=hint)
        return Answer(_summarise_metrics([item.text for item in questions], axes, where, session.state))
    points = list(product(*(item.values for item in axes)))
    columns = [[_value_or_none(item, point) for point in points] for item in (q.as_function(*names) for q in questions)]
    units = [unit_of_parameter(name, session.state.application, session.state.required_machine) for name in names]
    return Answer(sweep_table([*zip(names, units, strict=True)], questions, points, columns))


def _summarise_metrics(names: list[str], axes: list[Values], where: Span, state: SessionState) -> Page:
    """The least and greatest values of metrics, and where they are."""
    import numpy

    dimensions = [GridDimension(item.name, {item.name: numpy.array(item.values, dtype=float)}) for item in axes]
    study = Study([state], [], dimensions, metrics=names)
    with place_errors(where):
        return compute_in_memory(StudyRun(study, processes=False)).report().page


def _value_or_none(value: Any, point: tuple[Any, ...]) -> Any:
    try:
        return value(*point)
    except AspenError:
        return None


def compare(session: Conversation, rest: Span) -> Answer:
    """Compares this machine with others, and with a range the places where the fastest changes."""
    state = session.state
    who, where = split_around(rest, "over") or (rest, None)
    names = split_at_commas(who)
    if len({name.text() for name in names}) < len(names):
        refuse_line("each machine once", who, COMPARE)
    others = [_load_machine(name) for name in names]
    if not others:
        refuse_line("machines to compare with", rest, COMPARE)
    comparison = Comparison([state, *(state.changed(machine=machine, socket=socket) for machine, socket in others)])
    if where is None:
        return Answer(comparison.report().page)
    wanted = read_interval(where, state)
    sweep = comparison.over(wanted.name, wanted.low, wanted.high, whole=wanted.whole or None)
    return Answer(comparison.report(sweep=sweep).page)


def _load_machine(span: Span) -> tuple[Machine, str | None]:
    name, socket = first_word(span)
    with place_errors(name):
        return load_machine(name.text()), socket.text() or None


def explain(session: Conversation, rest: Span) -> Answer:
    """The chain behind the runtime, requirement by requirement."""
    return Answer(session.prediction.explain(rest.text() or None).report().page)


def profile(session: Conversation, rest: Span) -> Answer:
    """Shows the time by kernel; with `calls` also who calls whom."""
    if rest.text() not in ("", "calls"):
        refuse_line("`calls` or nothing", rest, "profile [calls]")
    return Answer(Profile(session.prediction).report(calls=bool(rest.text())).page)


def count(session: Conversation, rest: Span) -> Answer:
    """Shows the amounts of resources, in all and by kernel."""
    return Answer(Counts(session.state).report(resource=rest.text() or None).page)
