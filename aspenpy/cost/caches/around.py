"""Around: what else happens in the block of an access."""

from __future__ import annotations

from collections.abc import Sequence

from aspenpy.cost.caches.access import Access
from aspenpy.cost.caches.interference import InterveningData
from aspenpy.cost.caches.level import Level
from aspenpy.cost.caches.nest import AccessNest
from aspenpy.cost.caches.siblings import Cover
from aspenpy.cost.caches.triangular import mean_over_counters
from aspenpy.cost.caches.warm import COLD, Last, Memory
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.record import Record


class AccessSurroundings(Record):
    """The surroundings of an access in its block: its other nests, those that have touched the same data structure
    `before`, the words that were `drawn` from it, and the `memory` of what the run touched before. One is `ahead` that
    touches in a pass of some loops all that the access does. `names` are those of the data structure and of the others
    that nests touch. What it `stored` to a structure is asked for, or what it touched at all."""

    nests: InterveningData
    before: tuple[AccessNest, ...]
    ahead: Cover | None
    drawn: Expr
    memory: Memory
    names: tuple[str | None, ...]
    stored: bool = False

    @property
    def first_alone(self) -> AccessSurroundings:
        """The reuse as if nothing else had touched the data structure before."""
        return self.replace(before=(), ahead=None, drawn=graph.ZERO)

    def last(self, access: Access, level: Level) -> Sequence[Last]:
        """The last touch of the data structure before the block began."""
        cold = access.cold or access.fresh or access.streaming
        return (COLD,) if cold else self.memory(access.requirement, level.line, access.warm, self.stored)

    def mean(self, nest: AccessNest, values: Sequence[Expr], depth: int = 1, weight: Expr = graph.ONE) -> list[Expr]:
        """The means of values over the passes of a nest's loops from `depth` outwards, where its block has loops that
        depend on each other."""
        if not (nest.is_triangular or self.nests.any_triangular):
            return list(values)
        nests = (nest, *self.nests.siblings, *(other for others in self.nests.others for other in others))
        return mean_over_counters(values, weight, [other.loops for other in nests], depth)
