"""Ranges of a parameter and the values that it takes in turn, typed as `n=1..1e6:log:20`, `ranks=8,64` or `n`."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor, log2

from aspenpy.answers.scope import Value
from aspenpy.language.axis import Axis, Extent, read_axis, read_literal
from aspenpy.language.diagnostics import fail
from aspenpy.language.source import Span
from aspenpy.models.model import range_of_symbol
from aspenpy.record import Record
from aspenpy.shell.session.question import read_question, refuse_line, symbol_at
from aspenpy.shell.session.state import SessionState

MOST_VALUES = 10_000  # of one axis
USAGE = "NAME=LOW..HIGH, perhaps with :log, :lin, :pow2, :whole or a number of values behind it, or NAME=8,64"


class Range(Extent):
    """A range from `low` to `high`, as it was typed or declared; `count` is None where it was not said."""

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


def _read_range(axis: Axis, span: Span, state: SessionState) -> Range:
    name = _name_of_parameter(axis, state)
    if axis.is_real or not 2 <= (axis.count or 2) <= MOST_VALUES:
        refuse_line(f"log, lin, pow2, whole, or how many values from 2 to {MOST_VALUES:,}", span, USAGE)
    if axis.low is None or axis.high is None:
        low, high = _find_declared_range(name, span, state)
    else:
        low, high = evaluate_number(axis.low, state), evaluate_number(axis.high, state)
    if low >= high:
        fail("empty-range", f"the range is empty: {float(low):.6g} is not below {float(high):.6g}", span)
    pow2 = axis.spacing == "pow2"
    log = pow2 or axis.is_logarithmic(low, high)
    if log and low <= 0:
        fail("bad-range", f"equal ratios cannot begin at {float(low):.6g}", span, hint="begin above 0, or say :lin")
    return Range(
        low,
        high,
        log,
        name=name,
        declared=axis.declared,
        span=span,
        whole=bool(axis.whole),
        count=axis.count,
        pow2=pow2,
    )


def _name_of_parameter(axis: Axis, state: SessionState) -> str:
    assert axis.name_span is not None
    return find_parameter(axis.name_span, state)


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
    """Values spread evenly over the range, both ends exact."""
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
    """The powers of two within the range, exact."""
    first, last = ceil(log2(float(wanted.low))), floor(log2(float(wanted.high)))
    if first > last:
        message = f"there are no powers of two from {float(wanted.low):.6g} to {float(wanted.high):.6g}"
        fail("empty-range", message, wanted.span)
    return tuple(_drop_fraction(Fraction(2) ** power) for power in range(first, last + 1))


def _drop_fraction(value: Value) -> Value:
    """A fraction that is whole, as a whole number."""
    return value.numerator if isinstance(value, Fraction) and value.denominator == 1 else value
