"""Race: where two runtimes of one parameter cross, as a search that proves what it says."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from time import monotonic, process_time

from aspenpy.answers.inverse import Piece, Search
from aspenpy.engine.python import Prepared
from aspenpy.explore.difference import difference, write_out_sums
from aspenpy.expr import graph
from aspenpy.expr.bounds import bounds
from aspenpy.expr.evaluate import EvaluationError
from aspenpy.expr.graph import Expr
from aspenpy.expr.intervals import FLAT, Range, Real, size

Seen = Callable[[float], None]  # is told which part of a search is done, 0 to 1: of it, or of the time that it may take


class Deadline:
    """When to stop: after seconds of processor time, or by the clock where the machine is busy with others."""

    def __init__(self, processor: float, clock: float) -> None:
        self._given = processor, clock
        self._began = process_time(), monotonic()

    @property
    def spent(self) -> float:
        """The part of either that is gone, 1 and more when it is time to stop."""
        passed = process_time() - self._began[0], monotonic() - self._began[1]
        return max(gone / given if given > 0 else math.inf for gone, given in zip(passed, self._given, strict=True))

    def part(self, number: int) -> Deadline:
        """One of so many equal parts of what is left, from now on."""
        left = max(0.0, 1 - self.spent) / number
        return Deadline(*(given * left for given in self._given))


MET = 1e-9  # times this close to each other where they change places meet there: the place itself is rounded
TIE = 1e-12  # times this close to each other, relative to them, are equal as far as floating point can tell


class Race(Search):
    """The search for where the ratio of two times is 1, with bounds that know how far apart the times are. What it
    cannot prove, or not until it is time to stop, is `left`."""

    most_pieces = 4_000
    until = Deadline(math.inf, math.inf)

    def __init__(
        self, first: Expr, second: Expr, symbol: Expr, ratio: Callable[[Real], Real], whole: bool, seed: int
    ) -> None:
        self.first, self.second = write_out_sums(first), write_out_sums(second)
        super().__init__(graph.div(self.first, self.second), symbol, ratio, 1, whole)
        self.progress: Seen = lambda part: None
        self._left: list[Piece] = []
        self._sides: dict[Real, int] = {}
        self._whole_width = 0.0
        self._quick = Prepared([first, second], [symbol], seed)

    @property
    def left(self) -> list[Piece]:
        """Pieces in which nothing was proven, neighbours joined, from the lowest on."""
        joined: list[Piece] = []
        for low, high in sorted(self._left):
            if joined and low - joined[-1][1] <= int(self.whole):
                low, high = joined.pop()[0], high
            joined.append((low, high))
        return joined

    def side(self, x: Real) -> int:
        """Which is faster: -1 the first, 1 the second, 0 neither; in floating point where that is enough to tell."""
        if x not in self._sides:
            self._sides[x] = self._judge(x)
        return self._sides[x]

    def _judge(self, x: Real) -> int:
        try:
            mine, theirs = self._quick(x)
        except EvaluationError:
            return self._side(x)  # which says in the models' terms what has no value
        if not abs(mine - theirs) > MET * max(abs(mine), abs(theirs)):
            return self._side(x)
        return -1 if mine < theirs else 1

    def _side(self, x: Real) -> int:
        apart = self.value(x) - 1
        return 0 if size(apart) <= TIE else -1 if apart < 0 else 1

    def turn(self, low: Real, high: Real) -> Piece:
        """Neighbours between two values at which different ones are the faster, between which they change places."""
        there = self.side(high)
        return self._turn(low, high, lambda x: self.side(x) == there)

    def _next(self, pieces: list[Piece]) -> Piece:
        """The widest first, so that what is left when time is up is as little as can be."""
        self.looked_at += 1
        widths = [_width(*piece) for piece in pieces]
        self._whole_width = self._whole_width or widths[0]
        proven = 1 - sum(widths) / self._whole_width if self._whole_width else 1.0
        self.progress(min(1.0, max(proven, self.until.spent)) / 2)  # trying values is the other half
        return pieces.pop(widths.index(max(widths)))

    def _is_spent(self) -> bool:
        return super()._is_spent() or self.until.spent >= 1

    def _leave(self, pieces: list[Piece]) -> None:
        self._left += pieces

    def _range(self, low: Real, high: Real) -> Range:
        """The ratio is 1 + (first - second)/second."""
        plain = super()._range(low, high)
        if low == high or plain.direction is not None or not plain.low < 1 < plain.high:
            return plain
        base = bounds(self.second, {self.symbol: (low, high)}, self.symbol)
        apart = difference(self.first, self.second, self.symbol, low, high)
        if apart.single and apart.low == 0:
            return Range(1, 1, FLAT)
        if base.low <= 0 or math.inf in (base.high, apart.high, -apart.low):
            return plain
        over = [Fraction(end) / Fraction(part) for end in apart[:2] for part in base[:2]]
        return Range(max(plain.low, 1 + min(over)), min(plain.high, 1 + max(over)))


def _width(low: Real, high: Real) -> float:
    """Of a piece: the ratio of its ends, where there is one."""
    return math.log(float(high) / float(low)) if low > 0 else float(high - low)
