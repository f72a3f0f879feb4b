"""Inverse: at which values of a parameter a quantity meets a target, all of them in an interval.

The interval is split until the quantity rises or falls from one end of a piece to the other, or cannot reach the
target in it (`analysis.bounds` proves either); in a piece where it only rises, halving finds the place. For whole
numbers all arithmetic is exact.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise

from aspenpy.expr import graph
from aspenpy.expr.bounds import bound_over_box
from aspenpy.expr.derivative import differentiate
from aspenpy.expr.functions import FUNCTIONS
from aspenpy.expr.graph import Expr
from aspenpy.expr.intervals import ANYWHERE, FALLING, DirectedInterval, Real, magnitude_of_end
from aspenpy.language.diagnostics import fail
from aspenpy.record import Record

MOST_PIECES = 20_000  # pieces of the interval that are looked at before giving up
FEW = 32  # whole numbers that are tried one by one
NARROW = 1e-13  # a piece of real numbers so narrow, relative to where it lies, is a point
CLOSE = 1e-12  # a value this close to the target, relative to it, meets it: what floating-point arithmetic can tell
JUMPING_FUNCTIONS = frozenset(name for name, function in FUNCTIONS.items() if function.jumps)
JUMPING_KINDS = frozenset({"if_else", "index", "draw", "failure"})

Piece = tuple[Real, Real]  # both ends of an interval


class Solution(Record):
    """Values that meet the target, from `low` to `high`: one, where they are equal."""

    low: Real
    high: Real


class Leap(Record):
    """Two neighbouring values of the parameter, and the quantity there: it leaps over the target between them."""

    before: Real
    amount_before: Real
    behind: Real
    amount_behind: Real


class Roots(Record):
    """Solutions that a search has found, from the smallest value on."""

    solutions: tuple[Solution, ...]
    leaps: tuple[Leap, ...]


class RootSearch:
    """The search for all values of a symbol, from `low` to `high`, at which an expression of nothing else meets a
    target; `value` gives the expression's value at one of the symbol's. Of whole numbers with `whole`."""

    most_pieces = MOST_PIECES

    def __init__(self, expr: Expr, symbol: Expr, value: Callable[[Real], Real], target: Real, whole: bool) -> None:
        self.expr = expr
        self.symbol = symbol
        self._value = value
        self.target = target
        self.whole = whole
        self.slope = None if may_leap(expr, symbol) else differentiate(expr, symbol)
        self.solutions: list[Solution] = []
        self.leaps: list[Leap] = []
        self._known: dict[Real, Real] = {}
        self.looked_at = 0

    def run(self, low: Real, high: Real) -> Roots:
        """Finds all solutions from `low` to `high`; raises AspenError where they cannot be told apart."""
        pieces = [(low, high)]
        while pieces:
            low, high = self._next(pieces)
            if self._is_spent():
                self._leave([(low, high), *pieces])
                break
            interval = self._bounds_between(low, high)
            if interval == ANYWHERE and not self.whole and self._is_small(low, high):
                self._leave([(low, high)])
                continue
            if not self._may_reach(interval):
                continue
            if interval.direction is not None:
                self._solve_monotone(low, high, interval.direction == FALLING)
            elif self._is_small(low, high):
                self._try_each(low, high)
            else:
                pieces += self._split_piece(low, high)
        return Roots(tuple(self._merge_solutions()), tuple(sorted(self.leaps, key=lambda leap: leap.before)))

    # -- pieces ----------------------------------------------------------------------------------

    def _next(self, pieces: list[Piece]) -> Piece:
        """The piece that is looked at next, taken out."""
        self.looked_at += 1
        return pieces.pop()

    def _is_spent(self) -> bool:
        """Whether no more pieces may be looked at."""
        return self.looked_at > self.most_pieces

    def _leave(self, pieces: list[Piece]) -> None:
        """Pieces in which nothing can be proven."""
        message = f"cannot prove that all values from {float(pieces[0][0]):.9g} on are found"
        other = "" if self.whole else ", or whole numbers"
        hint = f"the amount rises and falls too often; search a smaller range{other}"
        fail("not-proven", message, hint=hint)

    def value(self, x: Real) -> Real:
        if x not in self._known:
            self._known[x] = self._value(x)
        return self._known[x]

    def _bounds_between(self, low: Real, high: Real) -> DirectedInterval:
        if low == high:
            return DirectedInterval(self.value(low), self.value(low), 0)
        box = {self.symbol: (low, high)}
        bounded = bound_over_box(self.expr, box, self.symbol)
        if bounded.direction is None and self.slope is not None:
            slope = bound_over_box(self.slope, box, self.symbol)
            if slope.low >= 0 or slope.high <= 0:
                return bounded._replace(direction=1 if slope.low >= 0 else -1)
        return bounded

    def _may_reach(self, interval: DirectedInterval) -> bool:
        """Whether the value may reach the target between two bounds; what rounding leaves open counts as yes."""
        slack = CLOSE * magnitude_of_end(self.target) if float in (type(interval.low), type(interval.high)) else 0
        return interval.low - slack <= self.target <= interval.high + slack

    def _is_small(self, low: Real, high: Real) -> bool:
        return (
            high - low < FEW
            if self.whole
            else high - low <= NARROW * max(magnitude_of_end(low), magnitude_of_end(high))
        )

    def _split_piece(self, low: Real, high: Real) -> list[tuple[Real, Real]]:
        """The lower one last: it is looked at first. Of whole numbers they have no end in common."""
        middle = self._middle(low, high)
        if not self.whole:
            return [(middle, high), (low, middle)]
        self._note_leap(middle, middle + 1)
        return [(middle + 1, high), (low, middle)]

    def _try_each(self, low: Real, high: Real) -> None:
        tried = range(int(low), int(high) + 1) if self.whole else (low, high)
        self.solutions += [Solution(x, x) for x in tried if self._is_met_by(self.value(x))]
        for before, behind in pairwise(tried):
            self._note_leap(before, behind)

    def _is_met_by(self, value: Real) -> bool:
        if self.whole and not isinstance(value, float) and not isinstance(self.target, float):
            return value == self.target
        return magnitude_of_end(value - self.target) <= CLOSE * magnitude_of_end(self.target)

    # -- where it only rises, or only falls ------------------------------------------------------

    def _solve_monotone(self, low: Real, high: Real, falling: bool) -> None:
        """The values from the first that reaches the target to the last that does not pass it."""
        sign = -1 if falling else 1

        def is_reached(x: Real) -> bool:
            return sign * (self.value(x) - self.target) >= 0

        def is_passed(x: Real) -> bool:
            return sign * (self.value(x) - self.target) > 0

        if not is_reached(high) or is_passed(low):
            end = high if not is_reached(high) else low
            if self._is_met_by(self.value(end)):
                self.solutions.append(Solution(end, end))
            return
        before, first = (low, low) if is_reached(low) else self._turn(low, high, is_reached)
        nearest = min((first, before), key=lambda x: magnitude_of_end(self.value(x) - self.target))
        if not self._is_met_by(self.value(nearest)):
            self._note_leap(before, first)
        elif is_passed(first):
            self.solutions.append(Solution(nearest, nearest))
        else:
            last = high if not is_passed(high) else self._turn(first, high, is_passed)[0]
            point = not self.whole and last - first <= NARROW * max(magnitude_of_end(first), magnitude_of_end(last))
            self.solutions.append(Solution(first, first if point else last))

    def _turn(self, low: Real, high: Real, holds: Callable[[Real], bool]) -> tuple[Real, Real]:
        """The last value at which it does not hold, as it does not at `low`, and the next, at which it does."""
        while True:
            middle = self._middle(low, high)
            if not low < middle < high:
                return low, high
            if holds(middle):
                high = middle
            else:
                low = middle

    def _middle(self, low: Real, high: Real) -> Real:
        if self.whole:
            return (low + high) // 2
        middle = Fraction(float(low + high) / 2)
        return middle.numerator if middle.denominator == 1 else middle

    def _note_leap(self, before: Real, behind: Real) -> None:
        """Notes two neighbours if the target lies between their values and is neither of them."""
        values = self.value(before), self.value(behind)
        if min(values) < self.target < max(values) and not any(map(self._is_met_by, values)):
            self.leaps.append(Leap(before, values[0], behind, values[1]))

    def _merge_solutions(self) -> list[Solution]:
        """The solutions in order, with neighbours that touch merged."""
        merged: list[Solution] = []
        for solution in sorted(self.solutions, key=lambda solution: solution.low):
            gap = 1 if self.whole else Fraction(1, 10**10) * max(magnitude_of_end(solution.low), 1)
            if merged and solution.low - merged[-1].high <= gap:
                previous = merged.pop()
                joined = Solution(previous.low, max(previous.high, solution.high))
                solution = joined if self.whole or joined.high - joined.low > gap else previous
            merged.append(solution)
        return merged


def may_leap(expr: Expr, symbol: Expr) -> bool:
    """Whether the expression may leap as the symbol moves, so that its slope does not tell where it goes."""
    moving = dict.fromkeys(graph.dependents(expr, on=[symbol]))
    return any(
        node.kind in JUMPING_KINDS
        or graph.is_call(node, JUMPING_FUNCTIONS)
        or (node.kind == "sum" and node.args[1] in moving)
        for node in moving
    )
