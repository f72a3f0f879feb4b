"""Numbers of executions: sums over the counters of loops, in closed form.

The passes of a nest in which some conditions hold are the whole points of a polyhedron. Loops are summed from the
innermost outwards by Faulhaber's formula; where two bounds compete the sum is split, so that each part has one (the
elementary way of Pugh, "Counting solutions to Presburger formulas", PLDI 1994). What is known of a bound's sign follows
from the extremes of the counters around it.
"""

from __future__ import annotations

from collections.abc import Sequence

from aspenpy.expr import graph
from aspenpy.expr.node import Expr
from aspenpy.expr.polynomial import Exact, Polynomial, atom_polynomial
from aspenpy.extract import values as v
from aspenpy.extract.costs import Guard, Nest
from aspenpy.extract.values import ONE, ZERO, TooLong, Value
from aspenpy.record import Record

MOST_PARTS = 64
"""Parts into which a sum is split."""


class NoClosedForm(Exception):
    """A sum has no closed form here: the loop stays a loop in the model."""


class GuardedLoops(Record):
    """Loops, the outermost first, and conditions on their counters."""

    nests: tuple[Nest, ...]
    guards: tuple[Guard, ...] = ()


class Counter:
    """Counts, and collects the `assumptions` (values from 0 on) under which its formulas hold."""

    def __init__(self) -> None:
        self.assumptions: dict[object, Value] = {}
        self.parts = 0
        self.around: list[Nest] = []  # loops of the model around what is counted

    def total(self, amount: Value, domain: GuardedLoops) -> Value:
        """The sum of an amount over a domain. Raises `NoClosedForm`."""
        self.parts = 0
        try:
            return self._sum_over_nests(amount, domain.nests, domain.guards)
        except TooLong:
            raise NoClosedForm from None

    def _sum_over_nests(self, amount: Value, nests: tuple[Nest, ...], guards: tuple[Guard, ...]) -> Value:
        self.parts += 1
        if self.parts > MOST_PARTS:
            raise NoClosedForm
        if not amount.terms:
            return ZERO
        if not nests:
            return v.multiply(amount, self._guard_factor(guards))
        *outer, nest = nests
        around = tuple(outer)
        counter = nest.counter
        if nest.share is not None:
            amount = v.multiply(amount, nest.share)
        mine = [guard for guard in guards if v.has_symbol(guard.value, counter)]
        others = tuple(guard for guard in guards if not v.has_symbol(guard.value, counter))
        if not mine and not v.has_symbol(amount, counter) and (passes := self._tile_passes(nest, around)) is not None:
            return self._sum_over_nests(v.multiply(amount, passes), around, others)
        lows, highs = [ZERO], list(nest.bounds)
        for guard in mine:
            low, high = _counter_limits(guard, counter)
            lows += low
            highs += high
        return self._sum_between(amount, counter, lows, highs, around, others)

    def _tile_passes(self, nest: Nest, around: tuple[Nest, ...]) -> Value | None:
        """Passes of the loop inside a tile, min(B, L - B*t) in tile t, as one atom."""
        if len(nest.bounds) != 2:
            return None
        for whole, rest in (nest.bounds, nest.bounds[::-1]):
            for outer in around:
                straight = v.linear_parts(rest, outer.counter)
                if straight is None or not v.is_same(straight[1], -whole):
                    continue
                if not v.counters(straight[0]) and not v.counters(whole):
                    return atom_polynomial(graph.apply("min", v.to_expression(whole), v.to_expression(rest)))
        return None

    def _sum_between(
        self,
        amount: Value,
        counter: Expr,
        lows: list[Value],
        highs: list[Value],
        around: tuple[Nest, ...],
        guards: tuple[Guard, ...],
    ) -> Value:
        """Sum between the largest of the low limits and the smallest of the high limits."""
        for limits, sign in ((lows, 1), (highs, -1)):
            while len(limits) > 1:
                first, second = limits[0], limits[1]
                ahead = (
                    v.subtract(first, second) if sign > 0 else v.subtract(second, first)
                )  # first decides where this is >= 0
                if self.assume_nonnegative(ahead, around, guards):
                    del limits[1]
                elif self.assume_nonnegative(-ahead, around, guards):
                    del limits[0]
                else:
                    return self._split_sum(
                        amount, counter, limits=(lows, highs), sign=sign, ahead=ahead, around=around, guards=guards
                    )
        low, high = lows[0], highs[0]
        width = v.subtract(high, low)
        if not self.assume_nonnegative(width, around, guards):
            guards = (*guards, Guard(width))
        summed = v.sum_over(amount, counter, low, high)
        if summed is None:
            summed = _sum_over_tiles(amount, counter, low, high)
        return self._sum_over_nests(summed, around, guards)

    def _split_sum(
        self,
        amount: Value,
        counter: Expr,
        *,
        limits: tuple[list[Value], list[Value]],
        sign: int,
        ahead: Value,
        around: tuple[Nest, ...],
        guards: tuple[Guard, ...],
    ) -> Value:
        """Sum of the two cases of which of two limits decides."""
        lows, highs = limits
        chosen = lows if sign > 0 else highs
        sides = []
        for place, guard in ((1, Guard(ahead)), (0, Guard(v.subtract(-ahead, ONE)))):
            left = [limit for at, limit in enumerate(chosen) if at != place]
            both = (left, list(highs)) if sign > 0 else (list(lows), left)
            sides.append(self._sum_between(amount, counter, *both, around, (*guards, guard)))
        return v.add(*sides)

    # -- signs -------------------------------------------------------------------------------------

    def assume_nonnegative(self, value: Value, nests: Sequence[Nest], guards: Sequence[Guard]) -> bool:
        """Whether a value is never negative in a domain. A value of sizes alone is assumed so where large sizes make it
        so."""
        if self.is_nonnegative(value, nests, guards):
            return True
        if (dividend := v.rounded_dividend(value)) is not None:
            return self.assume_nonnegative(dividend, nests, guards)
        if v.counters(value) or not v.is_one_signed(value) or v.sign_for_large(value) != 1:
            return False
        if any(base.kind != "symbol" for monomial in value.terms for base, _ in monomial):
            return False
        self.assumptions.setdefault(v.value_key(value), value)
        return True

    def is_nonnegative(self, value: Value, nests: Sequence[Nest], guards: Sequence[Guard]) -> bool:
        """Whether a value is never negative in a domain, whatever the sizes are from 1 on."""
        nests = [*self.around, *nests]
        if self._is_lowest_nonnegative(value, nests):
            return True
        return any(
            guard.operator == ">=" and self._is_lowest_nonnegative(v.subtract(value, guard.value), list(nests))
            for guard in guards[:8]
        )

    def _is_lowest_nonnegative(self, value: Value, nests: list[Nest]) -> bool:
        """Whether the smallest value at the ends of the counters is not negative."""
        while nests and not v.has_symbol(value, nests[-1].counter):
            nests = nests[:-1]
        if not nests:
            return not v.counters(value) and (v.is_never_negative(value) or self._is_assumed(value))
        nest = nests[-1]
        straight = v.linear_parts(value, nest.counter)
        if straight is None or v.counters(straight[1]):
            return False
        start, step = straight
        if v.is_never_negative(step):
            return self._is_lowest_nonnegative(start, nests[:-1])
        if not v.is_never_negative(-step):
            return False
        return any(
            self._is_lowest_nonnegative(v.add(start, v.multiply(step, v.subtract(bound, ONE))), nests[:-1])
            for bound in nest.bounds
        )

    def _is_assumed(self, value: Value) -> bool:
        """Whether a value is not negative by an earlier assumption."""
        return any(v.is_never_negative(v.subtract(value, assumed)) for assumed in self.assumptions.values())

    def _guard_factor(self, guards: Sequence[Guard]) -> Value:
        """Factor that is 1 where all conditions on sizes hold, and else 0."""
        result = ONE
        for guard in guards:
            value = v.to_expression(guard.value)
            if guard.operator == "==":
                if (known := v.number(guard.value)) is not None:
                    factor = ZERO if known else ONE
                else:
                    factor = v.subtract(ONE, atom_polynomial(graph.apply("min", 1, graph.apply("abs", value))))
            elif self.assume_nonnegative(guard.value, (), ()):
                continue
            elif (known := v.number(guard.value)) is not None:
                factor = ONE if known >= 0 else ZERO
            else:
                factor = atom_polynomial(
                    graph.apply("min", 1, graph.apply("max", 0, v.to_expression(v.add(guard.value, ONE))))
                )
            result = v.multiply(result, factor)
        return result


def _counter_limits(guard: Guard, counter: Expr) -> tuple[list[Value], list[Value]]:
    """The low and the high limit that a condition puts on a counter."""
    straight = v.linear_parts(guard.value, counter)
    if straight is None or v.counters(straight[1]):
        raise NoClosedForm
    start, step = straight
    if guard.operator == "==":
        at = v.quotient(-start, step)
        if at is None:
            raise NoClosedForm
        return [at], [v.add(at, ONE)]
    if v.is_never_negative(step):
        return [v.ceil_quotient(-start, step)], []
    if v.is_never_negative(-step):
        return [], [v.add(v.floor_quotient(start, -step), ONE)]
    raise NoClosedForm


def _sum_over_tiles(amount: Value, counter: Expr, low: Value, high: Value) -> Value:
    """The sum of powers of min(B, L - B*t) over t = 0, 1, ... below ceil(L/B): all tiles but the last are whole."""
    result = ZERO
    for monomial, coefficient in amount.terms.items():
        atoms = [
            (base, power)
            for base, power in monomial
            if base is counter or (base.kind != "symbol" and counter in graph.free_symbols(base))
        ]
        rest: Exact = Polynomial({type(monomial)([part for part in monomial if part not in atoms]): coefficient})
        if not atoms:
            result = v.add(result, v.multiply(rest, v.subtract(high, low)))
            continue
        (base, power), *more = atoms
        if more or low.terms or power < 1 or base.kind != "apply" or base.payload != "min" or len(base.args) != 2:
            raise NoClosedForm
        result = v.add(result, v.multiply(rest, _sum_of_tiles(base, power, counter, high)))
    return result


def _sum_of_tiles(base: Expr, power: int, counter: Expr, high: Value) -> Value:
    sides = [v.from_expression(argument) for argument in base.args]
    for whole, left in (sides, sides[::-1]):
        straight = v.linear_parts(left, counter)
        if straight is None or v.has_symbol(whole, counter) or not v.is_same(straight[1], -whole):
            continue
        length = straight[0]
        if not v.is_same(high, v.ceil_quotient(length, whole)):
            continue
        if power == 1:
            return length
        tiles = v.floor_quotient(length, whole)
        last = v.subtract(length, v.multiply(tiles, whole))
        return v.add(v.multiply(tiles, v.raise_to(whole, power)), v.raise_to(last, power))
    raise NoClosedForm
