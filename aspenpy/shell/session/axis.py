"""Axis: the values that a parameter takes in turn, typed as `n=1..1e6:log:20`, `ranks=8,64` or `n`."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor, log2

from aspenpy.answers.scope import Value
from aspenpy.language.axis import Axis, Extent, read_axis, read_literal
from aspenpy.language.diagnostics import fail
from aspenpy.language.source import Span
from aspenpy.models.application.ranges import range_of_symbol
from aspenpy.record import Record
from aspenpy.shell.session.line import refuse_line
from aspenpy.shell.session.question import read_question, symbol_at
from aspenpy.shell.session.state import State

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


def values_at(span: Span, state: State, count: int) -> Values:
    """The values that are asked for there; so many, where it does not say how many. Raises AspenError."""
    axis = read_axis(span)
    if len(axis.items) == 1 and not span.text().endswith("}"):
        refuse_line("a range LOW..HIGH", axis.items[0], USAGE)
    if axis.items:
        name = _parameter_of(axis, state)
        return Values(name, tuple(number(item, state) for item in axis.items), log=False)
    wanted = _read_range(axis, span, state)
    spaced = _powers(wanted) if wanted.pow2 else _space_values(wanted, wanted.count or count)
    return Values(wanted.name, spaced, wanted.log)


def interval(span: Span, state: State) -> Range:
    """The range that stands there, with its options, or the one that a parameter declares. Raises AspenError."""
    axis = read_axis(span)
    if axis.items:
        refuse_line("a range LOW..HIGH", axis.items[0], USAGE)
    wanted = _read_range(axis, span, state)
    if wanted.pow2:
        refuse_line("log, lin or whole", span, USAGE)
    return wanted


def _read_range(found: Axis, span: Span, state: State) -> Range:
    name = _parameter_of(found, state)
    if found.whole is False or not 2 <= (found.count or 2) <= MOST_VALUES:
        refuse_line(f"log, lin, pow2, whole, or how many values from 2 to {MOST_VALUES:,}", span, USAGE)
    if found.low is None or found.high is None:
        low, high = _find_declared_range(name, span, state)
    else:
        low, high = number(found.low, state), number(found.high, state)
    if low >= high:
        fail("empty-range", f"the range is empty: {float(low):.6g} is not below {float(high):.6g}", span)
    pow2 = found.spacing == "pow2"
    log = pow2 or found.log(low, high)
    if log and low <= 0:
        fail("bad-range", f"equal ratios cannot begin at {float(low):.6g}", span, hint="begin above 0, or say :lin")
    return Range(low, high, log, name, found.declared, span, bool(found.whole), found.count, pow2)


def _parameter_of(found: Axis, state: State) -> str:
    assert found.name_span is not None
    return parameter(found.name_span, state)


def parameter(span: Span, state: State) -> str:
    """The name of a parameter of the models."""
    if not span.text():
        refuse_line("a parameter", span, USAGE)
    symbol_at(span, state)
    return span.text()


def number(span: Span, state: State) -> Value:
    """The value of an expression in the names of models and session."""
    if not span.text():
        refuse_line("a number or an expression", span, USAGE)
    found = read_literal(span) if span.text()[-1].isalpha() else None
    value: Value = (
        read_question(span, state).along()() if found is None else int(found) if found.is_integer() else found
    )
    try:
        float(value)
    except OverflowError:
        fail("bad-range", f"`{span.text()}` does not fit into double precision", span)
    return value


def _find_declared_range(name: str, span: Span, state: State) -> tuple[Value, Value]:
    """The range that the parameter declares, as values."""
    scope = state.prediction.scope
    parameters = (*state.application.parameters.values(), *state.required_machine.parameters)
    if ends := range_of_symbol(scope.symbol(name), parameters):
        low, high = scope.values(ends, state.seed)
        return low, high
    fail("no-range", f"`{name}` declares no range to go over", span, hint=f"say one: {name}=LOW..HIGH")


def _space_values(wanted: Range, count: int) -> tuple[Value, ...]:
    """From one end, exactly, to the other, exactly."""
    low, high = wanted.low, wanted.high
    shares = [Fraction(place, count - 1) for place in range(1, count - 1)]
    exact = not wanted.log and not isinstance(low + high, float)
    along = wanted if exact else Extent(float(low), float(high), wanted.log)
    between: list[Value] = [along.value(share if exact else float(share)) for share in shares]
    if not wanted.whole:
        return (low, *(_plain(value) for value in between), high)
    first, last = int(-(-low // 1)), int(high // 1)
    if first > last:
        fail("empty-range", f"there is no whole number from {float(low):.6g} to {float(high):.6g}", wanted.span)
    return tuple(sorted({min(last, max(first, round(value))) for value in (low, *between, high)}))


def _powers(wanted: Range) -> tuple[Value, ...]:
    """The powers of two from one end to the other, exactly."""
    first, last = ceil(log2(float(wanted.low))), floor(log2(float(wanted.high)))
    if first > last:
        message = f"there are no powers of two from {float(wanted.low):.6g} to {float(wanted.high):.6g}"
        fail("empty-range", message, wanted.span)
    return tuple(_plain(Fraction(2) ** power) for power in range(first, last + 1))


def _plain(value: Value) -> Value:
    """A fraction that is whole, as a whole number."""
    return value.numerator if isinstance(value, Fraction) and value.denominator == 1 else value
