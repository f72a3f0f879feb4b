"""Solving: the values of a parameter at which an equation holds, and those that it takes in turn, typed as
`n=1..1e6:log:20`, `ranks=8,64` or `n`."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor, log2
from typing import NoReturn

from aspenpy.answers.inverse import Roots, RootSearch
from aspenpy.answers.scope import Value
from aspenpy.expr import graph
from aspenpy.language.axis import Axis, Extent, is_wide, read_axis, read_literal
from aspenpy.language.diagnostics import AspenError, fail
from aspenpy.language.source import Span, split_at_sign
from aspenpy.models.model import range_of_symbol
from aspenpy.record import Record
from aspenpy.report.counts import exactly_between, write_exactly
from aspenpy.shell.session.conversation import format_cell
from aspenpy.shell.session.question import Question, read_question, refuse_line, split_around, symbol_at
from aspenpy.shell.session.state import SessionState
from aspenpy.tables.numbers import Amount, format_setting
from aspenpy.tables.table import Column, Page, Paragraph, Part, Table, Title

MOST_VALUES = 10_000  # of one axis
USAGE = "NAME=LOW..HIGH, perhaps with :log, :lin, :pow2, :whole or a number of values behind it, or NAME=8,64"


class Range(Extent):
    """From `low` to `high`, as it was typed or declared; `count` is None where it was not said."""

    name: str
    declared: bool
    span: Span
    whole: bool = False
    count: int | None = None
    pow2: bool = False


class Values(Record):
    """A parameter and its values in order, in equal ratios if `log`."""

    name: str
    values: tuple[Value, ...]
    log: bool


def values_at(span: Span, state: SessionState, count: int) -> Values:
    """Values of a parameter that the text at `span` asks for, `count` of them where it gives no number. Raises
    AspenError."""
    axis = read_axis(span)
    if len(axis.items) == 1 and not span.text().endswith("}"):
        refuse_line("a range LOW..HIGH", axis.items[0], USAGE)
    if axis.items:
        name = _name_of_parameter(axis, state)
        return Values(name, tuple(evaluate_number(item, state) for item in axis.items), log=False)
    wanted = _read_range(axis, span, state)
    spaced = _powers_of_two(wanted) if wanted.pow2 else _space_values(wanted, wanted.count or count)
    return Values(wanted.name, spaced, wanted.log)


def read_interval(span: Span, state: SessionState) -> Range:
    """The range in the text at `span`, with its options, or the one that a parameter declares. Raises AspenError."""
    axis = read_axis(span)
    if axis.items:
        refuse_line("a range LOW..HIGH", axis.items[0], USAGE)
    wanted = _read_range(axis, span, state)
    if wanted.pow2:
        refuse_line("log, lin or whole", span, USAGE)
    return wanted


def _read_range(found: Axis, span: Span, state: SessionState) -> Range:
    name = _name_of_parameter(found, state)
    if found.is_real or not 2 <= (found.count or 2) <= MOST_VALUES:
        refuse_line(f"log, lin, pow2, whole, or how many values from 2 to {MOST_VALUES:,}", span, USAGE)
    if found.low is None or found.high is None:
        low, high = _find_declared_range(name, span, state)
    else:
        low, high = evaluate_number(found.low, state), evaluate_number(found.high, state)
    if low >= high:
        fail("empty-range", f"the range is empty: {float(low):.6g} is not below {float(high):.6g}", span)
    pow2 = found.spacing == "pow2"
    log = pow2 or found.log(low, high)
    if log and low <= 0:
        fail("bad-range", f"equal ratios cannot begin at {float(low):.6g}", span, hint="begin above 0, or say :lin")
    return Range(
        low,
        high,
        log,
        name=name,
        declared=found.declared,
        span=span,
        whole=bool(found.whole),
        count=found.count,
        pow2=pow2,
    )


def _name_of_parameter(found: Axis, state: SessionState) -> str:
    assert found.name_span is not None
    return find_parameter(found.name_span, state)


def find_parameter(span: Span, state: SessionState) -> str:
    """The name of a parameter of the models."""
    if not span.text():
        refuse_line("a parameter", span, USAGE)
    symbol_at(span, state)  # for its error alone
    return span.text()


def evaluate_number(span: Span, state: SessionState) -> Value:
    """The value of an expression in the names of models and session."""
    if not span.text():
        refuse_line("a number or an expression", span, USAGE)
    # `8k` and `4Mi` are numbers of the session: the language has no such suffixes.
    literal = read_literal(span) if span.text()[-1].isalpha() else None
    if literal is None:
        value: Value = read_question(span, state).as_function()()
    else:
        value = int(literal) if literal.is_integer() else literal
    try:
        float(value)
    except OverflowError:
        fail("bad-range", f"`{span.text()}` does not fit into double precision", span)
    return value


def _find_declared_range(name: str, span: Span, state: SessionState) -> tuple[Value, Value]:
    """The range that the parameter declares, as values."""
    scope = state.prediction.scope
    parameters = (*state.application.parameters.values(), *state.required_machine.parameters)
    if ends := range_of_symbol(scope.symbol(name), parameters):
        low, high = scope.values(ends, state.seed)
        return low, high
    fail("no-range", f"`{name}` declares no range to go over", span, hint=f"say one: {name}=LOW..HIGH")


def _space_values(wanted: Range, count: int) -> tuple[Value, ...]:
    """Values from one end to the other, both ends exactly."""
    low, high = wanted.low, wanted.high
    shares = [Fraction(index, count - 1) for index in range(1, count - 1)]
    exact = not wanted.log and not isinstance(low + high, float)
    along = wanted if exact else Extent(float(low), float(high), wanted.log)
    between: list[Value] = [along.value(share if exact else float(share)) for share in shares]
    if not wanted.whole:
        return (low, *(_drop_fraction(value) for value in between), high)
    first, last = ceil(low), floor(high)
    if first > last:
        fail("empty-range", f"there is no whole number from {float(low):.6g} to {float(high):.6g}", wanted.span)
    return tuple(sorted({min(last, max(first, round(value))) for value in (low, *between, high)}))


def _powers_of_two(wanted: Range) -> tuple[Value, ...]:
    """The powers of two from one end to the other, exactly."""
    first, last = ceil(log2(float(wanted.low))), floor(log2(float(wanted.high)))
    if first > last:
        message = f"there are no powers of two from {float(wanted.low):.6g} to {float(wanted.high):.6g}"
        fail("empty-range", message, wanted.span)
    return tuple(_drop_fraction(Fraction(2) ** power) for power in range(first, last + 1))


def _drop_fraction(value: Value) -> Value:
    """A fraction that is whole, as a whole number."""
    return value.numerator if isinstance(value, Fraction) and value.denominator == 1 else value


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
