"""Loops around an access, and their domain: the values that their counters take, where the bounds of a loop depend on
the counters around it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import product as pairs_of
from typing import Any

from aspenpy.expr import graph
from aspenpy.expr.expansion import gather_terms, multiply_out, write_form
from aspenpy.expr.graph import Expr
from aspenpy.expr.polynomial import Monomial, Polynomial
from aspenpy.record import Record

MOST_LOOPS = 32
"""Loops of a nest; those of people have a dozen."""

COUNTERS = tuple(graph.symbol(f"loop {depth}", "nest") for depth in range(1, MOST_LOOPS + 2))
"""The counters of the loops of a block, from the innermost outwards; the last is for the passes of a `reuse`."""


class StridedLoop(Record):
    """A loop as one array sees it: `trips` times, `stride` bytes further each time. Its counter begins at `low`, which
    like its trips may depend on the counters of loops around it."""

    stride: Expr
    trips: Expr
    low: Expr = graph.ZERO

    @property
    def moves(self) -> bool:
        """Whether it takes the access anywhere."""
        return self.stride is not graph.ZERO and self.trips is not graph.ONE

    @property
    def repeats(self) -> bool:
        """Whether it touches again what the loops inside have touched."""
        return self.stride is graph.ZERO and self.trips is not graph.ONE

    @property
    def high(self) -> Expr:
        """The last value of its counter."""
        return self.low + self.trips - 1

    @property
    def is_triangular(self) -> bool:
        """Whether its trips or its first value depend on the counter of another loop."""
        return bool((graph.free_symbols(self.trips) | graph.free_symbols(self.low)) & _ALL_COUNTERS)


_ALL_COUNTERS = frozenset(COUNTERS)

STILL = StridedLoop(graph.ZERO, graph.ONE)
"""A loop of one pass that stays where it is: the neutral element of a nest."""


class CrookedBound(ValueError):
    """A bound of a loop that is not linear in the counters of the loops around it."""


class Bounds(Record):
    """A counter is at least each of `lows` and at most each of `highs`."""

    lows: tuple[Expr, ...]
    highs: tuple[Expr, ...]

    @property
    def low(self) -> Expr:
        return graph.apply("max", *self.lows) if len(self.lows) > 1 else self.lows[0]

    @property
    def high(self) -> Expr:
        return graph.apply("min", *self.highs) if len(self.highs) > 1 else self.highs[0]

    @property
    def trips(self) -> Expr:
        return gather_terms(self.high - self.low + 1)


class IterationDomain(Record):
    """The passes of some loops, the innermost first. Each of `constraints` is not negative in any of them; `ends` are
    the bounds that each counter was given."""

    constraints: tuple[Expr, ...]
    ends: tuple[tuple[Expr, Expr, Expr], ...]

    @classmethod
    def of(cls, loops: Sequence[StridedLoop]) -> IterationDomain:
        ends = tuple((counter, loop.low, loop.high) for counter, loop in zip(COUNTERS, loops, strict=False))
        sides = (side for counter, low, high in ends for side in (counter - low, high - counter))
        return cls(tuple(map(gather_terms, sides)), ends)

    def bounds(self, counter: Expr) -> tuple[Bounds, tuple[Expr, ...]]:
        """The bounds of a counter by the others, and the constraints that do not concern it."""
        lows, highs, others = list[Expr](), list[Expr](), list[Expr]()
        for constraint in self.constraints:
            slope, rest = _split_linear(constraint, counter)
            if slope:
                (lows if slope > 0 else highs).append(gather_terms(graph.div(rest, graph.number(-slope))))
            else:
                others.append(constraint)
        lows = self._drop_implied_bounds(lows, 1)
        highs = self._drop_implied_bounds(highs, -1)
        return Bounds(tuple(lows), tuple(highs)), tuple(others)

    def eliminate(self, counter: Expr) -> IterationDomain:
        """The values of the other counters for which there is one of this (Fourier and Motzkin's elimination)."""
        bounds, others = self.bounds(counter)
        more = (gather_terms(high - low) for low, high in pairs_of(bounds.lows, bounds.highs))
        kept = (constraint for constraint in more if not graph.free_symbols(constraint).isdisjoint(COUNTERS))
        return self.replace(constraints=tuple(dict.fromkeys([*others, *kept])))

    def _drop_implied_bounds(self, bounds: Sequence[Expr], sign: int) -> list[Expr]:
        """The bounds of one side without those that another one implies."""
        needed = list(dict.fromkeys(bounds))
        for bound in list(needed):
            others = (other for other in needed if other is not bound)
            if any(self.is_nonnegative(graph.number(sign) * (other - bound)) for other in others):
                needed.remove(bound)
        return needed

    def is_nonnegative(self, expr: Expr) -> bool:
        """Whether an expression is certainly at least 0 in all passes, for parameters of at least 1."""
        terms = multiply_out(self._extreme(expr, len(self.ends), -1)).terms
        several = {monomial: factor for monomial, factor in terms.items() if monomial}
        grows = all(factor > 0 and all(power > 0 for _, power in powers) for powers, factor in several.items())
        return grows and sum(terms.values()) >= 0

    def ends_of(self, exprs: Mapping[Any, Expr], depth: int, sign: int) -> dict[Any, Expr]:
        """The least (`sign` -1) or largest (1) values of some expressions in the passes of the innermost loops."""
        return {key: self._extreme(expr, depth, sign) for key, expr in exprs.items()}

    def _extreme(self, expr: Expr, depth: int, sign: int) -> Expr:
        """The least (`sign` -1) or largest (1) value: each counter, from the innermost on, is put at its end."""
        for counter, low, high in self.ends[:depth]:
            slope, rest = _split_linear(expr, counter)
            if slope:
                expr = gather_terms(rest + graph.number(slope) * (low if slope * sign < 0 else high))
        return expr


def _split_linear(expr: Expr, counter: Expr) -> tuple[Fraction, Expr]:
    """(slope, rest) of an expression that is slope * counter + rest; raises CrookedBound where it is not linear."""
    slope, rest = Fraction(0), dict[Monomial, Fraction]()
    for monomial, factor in multiply_out(expr).terms.items():
        if monomial == ((counter, 1),):
            slope = factor
        elif any(counter in graph.free_symbols(base) for base, _ in monomial):
            raise CrookedBound
        else:
            rest[monomial] = factor
    return slope, write_form(Polynomial(rest))
