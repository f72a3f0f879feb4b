"""Axis: the values that a parameter takes in turn, typed as `n=1..1e6:log:20`, `ranks={8, 64}` or `n`."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from aspenpy.diagnostics import fail
from aspenpy.record import Record
from aspenpy.scope import Value
from aspenpy.session.line import expected, halves, listed
from aspenpy.session.question import asked, symbol_at
from aspenpy.session.state import State
from aspenpy.source import Span

WIDE = 1_000
"""A range whose ends are so many times apart is gone over in equal ratios, unless told otherwise."""

MOST_VALUES = 10_000
"""Of one axis."""

USAGE = "NAME=LOW..HIGH, perhaps with :log, :lin, :whole or a number of values behind it, or NAME={8, 64}"

OPTIONS: dict[str, dict[str, Any]] = {"log": {"log": True}, "lin": {"log": False}, "whole": {"whole": True}}
"""What may stand behind a range, and what it changes; a whole number is how many values there are."""


class Range(Record):
    """From `low` to `high`, as it was typed or declared; `log` and `count` are None where nothing was said."""

    name: str
    low: Value
    high: Value
    declared: bool
    span: Span
    log: bool | None = None
    whole: bool = False
    count: int | None = None

    @property
    def is_log(self) -> bool:
        """Whether its values stand in equal ratios."""
        return self.high >= WIDE * self.low > 0 if self.log is None else self.log


class Axis(Record):
    """A parameter and its values in order, in equal ratios if `log`."""

    name: str
    values: tuple[Value, ...]
    log: bool


def axis(span: Span, state: State, count: int) -> Axis:
    """The axis that stands there; of so many values, where it does not say how many. Raises AspenError."""
    found = halves(span, "=")
    if found is None or not found[1].text().startswith("{"):
        wanted = interval(span, state)
        return Axis(wanted.name, _spaced(wanted, wanted.count or count), wanted.is_log)
    start, end = found[1].start + 1, found[1].end - 1
    if not found[1].text().endswith("}") or not listed(Span(span.source, start, end)):
        expected("values in braces", found[1], USAGE)
    values = tuple(number(item, state) for item in listed(Span(span.source, start, end)))
    return Axis(parameter(found[0], state), values, log=False)


def interval(span: Span, state: State) -> Range:
    """The range that stands there, with its options, or the one that a parameter declares. Raises AspenError."""
    found = halves(span, "=")
    if found is None:
        name = parameter(span, state)
        found_range = Range(name, *_declared(name, span, state), declared=True, span=span)
    else:
        head, *options = _options(found[1])
        ends = halves(head, "..")
        if ends is None or not ends[0].text() or not ends[1].text():
            expected("a range LOW..HIGH", found[1], USAGE)
        name, low, high = parameter(found[0], state), number(ends[0], state), number(ends[1], state)
        found_range = Range(name, low, high, declared=False, span=span).replace(**_meant(options))
    if found_range.low >= found_range.high:
        low, high = float(found_range.low), float(found_range.high)
        fail("empty-range", f"the range is empty: {low:.6g} is not below {high:.6g}", span)
    if found_range.is_log and found_range.low <= 0:
        message = f"equal ratios cannot begin at {float(found_range.low):.6g}"
        fail("bad-range", message, span, hint="begin above 0, or say :lin")
    return found_range


def parameter(span: Span, state: State) -> str:
    """The name of a parameter of the models."""
    if not span.text():
        expected("a parameter", span, USAGE)
    symbol_at(span, state)
    return span.text()


def number(span: Span, state: State) -> Value:
    """The value of an expression in the names of models and session."""
    if not span.text():
        expected("a number or an expression", span, USAGE)
    value: Value = asked(span, state).along()()
    try:
        float(value)
    except OverflowError:
        fail("bad-range", f"`{span.text()}` does not fit into double precision", span)
    return value


def _options(span: Span) -> list[Span]:
    found, rest = [], span
    while parted := halves(rest, ":"):
        found.append(parted[0])
        rest = parted[1]
    return [*found, rest]


def _meant(options: list[Span]) -> dict[str, Any]:
    changes: dict[str, Any] = {}
    for option in options:
        text = option.text()
        if text not in OPTIONS and not (text.isdecimal() and len(text) < 9 and 2 <= int(text) <= MOST_VALUES):
            expected(f"log, lin, whole, or how many values from 2 to {MOST_VALUES:,}", option, USAGE)
        said = OPTIONS.get(text) or {"count": int(text)}
        if said.keys() & changes.keys():
            fail("bad-range", f"`{text}` says once more what was said before it", option, hint="leave one out")
        changes |= said
    return changes


def _declared(name: str, span: Span, state: State) -> tuple[Value, Value]:
    """The range that the parameter declares, as values."""
    scope = state.prediction.scope
    symbol = scope.symbol(name)
    for item in (*state.application.parameters.values(), *state.required_machine.parameters):
        if item.symbol is symbol and item.low is not None and item.high is not None:
            low, high = scope.values([item.low, item.high], state.seed)
            return low, high
    fail("no-range", f"`{name}` declares no range to go over", span, hint=f"say one: {name}=LOW..HIGH")


def _spaced(wanted: Range, count: int) -> tuple[Value, ...]:
    """From one end, exactly, to the other, exactly."""
    low, high = wanted.low, wanted.high
    shares = [Fraction(place, count - 1) for place in range(1, count - 1)]
    if wanted.is_log:
        between: list[Value] = [float(low) * (float(high) / float(low)) ** float(share) for share in shares]
    else:
        between = [low + (high - low) * (float(share) if isinstance(low + high, float) else share) for share in shares]
    if not wanted.whole:
        return (low, *(_plain(value) for value in between), high)
    first, last = int(-(-low // 1)), int(high // 1)
    if first > last:
        fail("empty-range", f"there is no whole number from {float(low):.6g} to {float(high):.6g}", wanted.span)
    return tuple(sorted({min(last, max(first, round(value))) for value in (low, *between, high)}))


def _plain(value: Value) -> Value:
    """A fraction that is whole, as a whole number."""
    return value.numerator if isinstance(value, Fraction) and value.denominator == 1 else value
