"""Nest: an affine access, by its strides in bytes and its trip counts, from the innermost loop outwards."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from aspenpy.cost.caches.level import Level
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.expr.polynomial import certainly_shorter, term
from aspenpy.record import Record


class Loop(Record):
    """A loop as one array sees it: `trips` times, `stride` bytes further each time."""

    stride: Expr
    trips: Expr

    @property
    def moves(self) -> bool:
        """Whether it takes the access anywhere."""
        return self.stride is not graph.ZERO and self.trips is not graph.ONE

    @property
    def repeats(self) -> bool:
        """Whether it touches again what the loops inside have touched."""
        return self.stride is graph.ZERO and self.trips is not graph.ONE


STILL = Loop(graph.ZERO, graph.ONE)
"""A loop that does nothing."""


class Nest(Record):
    """Words of `word` bytes, accessed by loops; the i-th loop is the i-th of every nest in the block. The first word
    stands where a line begins; `place` is its address, where the model says it."""

    word: Expr
    loops: tuple[Loop, ...]
    place: Expr | None = None

    @property
    def accesses(self) -> Expr:
        return product(loop.trips for loop in self.loops)

    @property
    def outermost(self) -> int:
        """How many loops there are up to the outermost that moves the access."""
        return max((depth for depth, loop in enumerate(self.loops, 1) if loop.moves), default=0)

    def moving(self, depth: int) -> tuple[Loop, ...]:
        """Those of the innermost `depth` loops that move, the shortest stride first. Where neither is surely shorter,
        words side by side are, and a number than what a parameter says."""
        loops = [loop for loop in self.loops[:depth] if loop.moves]
        return tuple(loops[place] for place in _shortest_first(tuple([loop.stride for loop in loops]), self.word))

    def lines(self, depth: int, line: Expr) -> Expr:
        """Distinct lines that the innermost `depth` loops touch.

        The loops with the k shortest strides make runs, the others repeat them; a run is no longer than its span, and a
        dense one as long, so that the smallest product over k is the footprint.
        """
        loops = self.moving(depth)
        outer = tuple(loop for loop in self.loops[depth:] if loop.moves)
        candidates = []
        for inner in range(len(loops) + 1):
            apart = loops[inner:]
            run = self.run_lines(loops[:inner], (*apart, *outer), line)
            candidates.append(product(loop.trips for loop in apart) * run)
        return graph.apply("min", *candidates) if len(candidates) > 1 else candidates[0]

    def seams(self, depth: int, line: Expr) -> Expr:
        """Lines that hold the end of one row and the begin of the next, where the loop `depth` walks across rows that
        loops inside step through. Rows shorter than a line are touched side by side."""
        loops = self.moving(depth)
        walked = loops.index(self.loops[depth - 1]) + 1
        rows = product(loop.trips for loop in loops[walked:])
        by_rows = rows * self.run_lines(loops[:walked], loops[walked:], line)
        apart = graph.compare(">=", loops[walked].stride, line)
        return graph.if_else(apart, graph.apply("max", 0, by_rows - self.lines(depth, line)), 0)

    def crosses(self, depth: int) -> bool:
        """Whether the loop `depth` walks across rows."""
        loops = self.moving(depth)
        return self.loops[depth - 1].moves and loops[-1] is not self.loops[depth - 1]

    def run_lines(self, loops: tuple[Loop, ...], others: tuple[Loop, ...], line: Expr) -> Expr:
        """Lines of one run that begins anywhere the other loops take it: at each multiple of `step` bytes in a line
        alike, so that it has on average one more than its length, less a step."""
        if not loops:
            return graph.ONE
        step = line
        for loop in others:
            step = graph.apply("gcd", step, loop.stride)
        steps = graph.apply("ceil", self.span(loops) / step)
        return (steps - 1) * step / line + 1

    def span(self, loops: Iterable[Loop]) -> Expr:
        """Bytes from the first to behind the last of what some loops touch."""
        return graph.add(self.word, *(loop.stride * (loop.trips - 1) for loop in loops))

    def dense(self, depth: int) -> bool:
        """Whether the innermost `depth` loops certainly touch one run, each going on where the last one ended."""
        ends = self.word
        for loop in self.moving(depth):
            if term(loop.stride, all_positive=True) != term(ends, all_positive=True):
                return False
            ends = loop.stride * loop.trips
        return True

    def sets_in_turn(self, level: Level) -> Expr:
        """Sets in which the lines of the innermost loop that moves lie, where it takes a line after the other and they
        find no room together; 0 where it does not."""
        walk = next((loop for loop in self.loops if loop.moves), None)
        if walk is None or walk.stride is self.word:
            return graph.ZERO
        round_trip = level.line * level.sets
        met = graph.apply("min", level.sets, round_trip / graph.apply("gcd", walk.stride, round_trip))
        apart = graph.compare(">=", walk.stride, level.line)
        crowded = graph.junction("and", apart, graph.compare(">", walk.trips, level.room * met))
        return graph.if_else(crowded, met, 0)


@lru_cache(maxsize=1024)
def _shortest_first(strides: tuple[Expr, ...], word: Expr) -> tuple[int, ...]:
    """Their places in order. An array of a block is asked for it at every level, beside every other array."""
    places: list[int] = []
    for place, stride in enumerate(strides):
        longer = (k for k, other in enumerate(places) if _shorter(stride, strides[other], word))
        places.insert(next(longer, len(places)), place)
    return tuple(places)


def _shorter(first: Expr, second: Expr, word: Expr) -> bool:
    if certainly_shorter(first, second) or certainly_shorter(second, first):
        return certainly_shorter(first, second)
    return first is not second and (first is word or (first.kind == "number" and second.kind != "number"))


def longest(trips: Iterable[Expr]) -> Expr:
    """The trips of a loop, which arrays outside of it give as 1."""
    different = list(dict.fromkeys(count for count in trips if count is not graph.ONE)) or [graph.ONE]
    return graph.apply("max", *different) if len(different) > 1 else different[0]


def product(factors: Iterable[Expr]) -> Expr:
    return graph.mul(*factors)
