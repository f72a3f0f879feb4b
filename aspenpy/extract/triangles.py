"""Triangles: loops whose passes depend on loops around them, in the variables of the source.

The cache model takes such loops by their bounds, `j in i + 1 .. n - 1`. What it sees of two accesses, one on each side
of a diagonal or a row before the other, it sees in the counters that the source has, which count rows and columns.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from aspenpy.expr.node import Expr
from aspenpy.expr.polynomial import atom_polynomial
from aspenpy.extract import values as v
from aspenpy.extract.costs import Guard, Nest
from aspenpy.extract.values import ONE, ZERO, TooLong, Value
from aspenpy.record import Record

FURTHEST = 3
"""Rows or columns that an access may lie beside the counters of its loops."""


class CounterRange(Record):
    """Values of a counter from `low` to `high`, both included."""

    counter: Expr
    low: Value
    high: Value


Trips = Value | CounterRange
StridedLoop = tuple[Value, Trips]
"""A stride in bytes, and a mean number of passes or the values of a counter."""


def loop_key(loop: StridedLoop) -> object:
    """Key that is equal for loops with the same strides and trips, whatever their counters' names."""
    stride, trips = loop
    if isinstance(trips, CounterRange):
        return v.value_key(stride), v.value_key(trips.low), v.value_key(trips.high)
    return v.value_key(stride), v.value_key(trips)


def is_triangular(nests: Iterable[tuple[Nest, ...]]) -> bool:
    """Whether the passes of a loop depend on the counter of one around it."""
    return any(
        v.has_any_symbol(bound, [outer.counter for outer in around])
        for around in nests
        for nest in around
        for bound in nest.bounds
    )


def find_ranges(offset: Value, nests: tuple[Nest, ...], guards: tuple[Guard, ...]) -> list[StridedLoop] | None:
    """Loops of an access, the outermost first, by the values of their variables; None where a bound is no sum of
    counters and sizes."""
    try:
        found = _variable_ranges(nests)
        if found is None:
            return None
        ranges, counters = found
        of_variables = [guard.replace(value=v.substitute(guard.value, counters)) for guard in guards]
        bounded = _restrict_ranges(ranges, of_variables)
        if bounded is None or not all(_is_linear(one.low) and _is_linear(one.high) for one in bounded):
            return None
        return _shift_ranges(*_turn_upwards(v.substitute(offset, counters), bounded))
    except TooLong:
        return None


def _variable_ranges(nests: tuple[Nest, ...]) -> tuple[list[CounterRange], dict[Expr, Value]] | None:
    """Ranges of the loops' variables, and formulas for counters in them. A variable has the symbol of its counter."""
    counters: dict[Expr, Value] = {}
    ranges: list[CounterRange] = []
    for nest in nests:
        if len(nest.bounds) != 1 or nest.share is not None:
            return None
        last = v.subtract(v.substitute(nest.bounds[0], counters), ONE)
        if nest.first is None:
            ranges.append(CounterRange(nest.counter, ZERO, last))
            continue
        first = v.substitute(nest.first, counters)
        variable = atom_polynomial(nest.counter)
        if nest.is_downward:
            ranges.append(CounterRange(nest.counter, v.subtract(first, last), first))
            counters[nest.counter] = v.subtract(first, variable)
        else:
            ranges.append(CounterRange(nest.counter, first, v.add(first, last)))
            counters[nest.counter] = v.subtract(variable, first)
    return ranges, counters


def _restrict_ranges(ranges: list[CounterRange], guards: Sequence[Guard]) -> list[CounterRange] | None:
    """Ranges restricted to values for which conditions hold; None where that is no range."""
    restricted = list(ranges)
    for guard in guards:
        places = [place for place, one in enumerate(restricted) if v.has_symbol(guard.value, one.counter)]
        if not places:
            continue
        place = places[-1]
        straight = v.linear_parts(guard.value, restricted[place].counter)
        if straight is None or (slope := v.number(straight[1])) not in (1, -1):
            return None
        bound = -straight[0] if slope == 1 else straight[0]
        low, high = restricted[place].low, restricted[place].high
        above, below = v.distance(bound, low), v.distance(high, bound)
        if guard.operator == "==":  # in the rows of the loops around where it is one of the values
            inside = [Guard(v.subtract(bound, low), ">="), Guard(v.subtract(high, bound), ">=")]
            if (around := _restrict_ranges(restricted[:place], inside)) is None:
                return None
            restricted[:place], low, high = around, bound, bound
        elif slope == 1 and above is not None:
            low = bound if above > 0 else low
        elif slope == -1 and below is not None:
            high = bound if below > 0 else high
        else:
            return None
        restricted[place] = restricted[place].replace(low=low, high=high)
    return restricted


def _is_linear(bound: Value) -> bool:
    """Whether a bound is linear in counters, with numbers as factors."""
    for counter in v.counters(bound):
        straight = v.linear_parts(bound, counter)
        if straight is None or v.number(straight[1]) is None:
            return False
    return True


def _turn_upwards(offset: Value, ranges: list[CounterRange]) -> tuple[Value, list[CounterRange]]:
    """Offset and ranges with decreasing counters counted from their other end."""
    found = list(ranges)
    for place, one in reversed([*enumerate(ranges)]):
        straight = v.linear_parts(offset, one.counter)
        if straight is not None and straight[1].terms and v.is_never_negative(-straight[1]):
            low, high = found[place].low, found[place].high
            turned = {one.counter: v.subtract(v.add(low, high), atom_polynomial(one.counter))}
            offset = v.substitute(offset, turned)
            for inner in range(place + 1, len(found)):
                low, high = (v.substitute(bound, turned) for bound in (found[inner].low, found[inner].high))
                found[inner] = found[inner].replace(low=low, high=high)
    return offset, found


def _shift_ranges(offset: Value, ranges: list[CounterRange]) -> list[StridedLoop] | None:
    """Loops whose counters say where an access lies, as in row i + 1: whole strides in the offset are added to them."""
    strides: list[Value] = []
    counters = [one.counter for one in ranges]
    for counter in counters:
        straight = v.linear_parts(offset, counter)
        if straight is None or v.has_any_symbol(straight[1], counters):
            return None
        strides.append(straight[1])
    begin = v.substitute(offset, dict.fromkeys(counters, ZERO))
    steps = count_steps(begin, strides)
    if steps is not None:
        given = {
            counter: v.subtract(atom_polynomial(counter), v.scale(ONE, step))
            for counter, step in zip(counters, steps, strict=True)
            if step
        }
        ranges = [
            one.replace(
                low=v.add(v.substitute(one.low, given), v.scale(ONE, step)),
                high=v.add(v.substitute(one.high, given), v.scale(ONE, step)),
            )
            for one, step in zip(ranges, steps, strict=True)
        ]
    return list(zip(strides, ranges, strict=True))


def count_steps(distance: Value, strides: Sequence[Value]) -> tuple[int, ...] | None:
    """A distance in steps of each stride, the longest first; None where it is no such sum."""
    left, steps = distance, list[int]()
    for stride in strides:
        step = 0
        for sign in (1, -1) if stride.terms else ():
            for _ in range(FURTHEST):
                smaller = v.subtract(left, v.scale(stride, sign))
                if len(smaller) < len(left) or (len(stride) == 1 and len(left) == 1 and _is_nearer(smaller, left)):
                    left, step = smaller, step + sign
        steps.append(step)
    return tuple(steps) if not left.terms else None


def _is_nearer(a: Value, b: Value) -> bool:
    """Whether both have the same terms, and the first has the smaller coefficient in each."""
    return a.terms.keys() == b.terms.keys() and all(abs(a.terms[term]) < abs(b.terms[term]) for term in a.terms)
