"""Loop: one of the loops around an access."""

from __future__ import annotations

from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.record import Record

COUNTERS = tuple(graph.symbol(f"loop {depth}", "nest") for depth in range(1, 34))
"""The counters of the loops of a block, from the innermost outwards."""


class Loop(Record):
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
    def depends(self) -> bool:
        """Whether its trips or its begin follow an outer counter."""
        return bool((graph.free_symbols(self.trips) | graph.free_symbols(self.low)) & _ALL_COUNTERS)


_ALL_COUNTERS = frozenset(COUNTERS)

STILL = Loop(graph.ZERO, graph.ONE)
"""A loop that does nothing."""
