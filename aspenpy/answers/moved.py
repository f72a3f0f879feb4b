"""Moved: what each requirement moves at each level of the memory hierarchy, over a run."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from aspenpy.cost.caches.traffic import Traffic
from aspenpy.expr import graph
from aspenpy.models.application import flow
from aspenpy.models.application.total import Leaf, Total, Totals

QUANTITIES = ("accesses", "misses", "fetched", "written_back", "victims")
"""Of a requirement at a level: words or lines that reach it, those not found; bytes of lines fetched, of dirty lines
written back, and of clean ones given to a level that takes victims."""

MOVING = ("fetched", "written_back", "victims")
"""Those in bytes."""


class Moved(Total):
    """One of the `QUANTITIES` of a requirement at a level."""

    quantity: str
    kernel: str
    requirement: flow.Requirement
    level: str


class ByLevel(Leaf):
    """The leaf that keeps each requirement's traffic at each level apart, from the `traffic` of a kernel's blocks."""

    def __init__(self, traffic: Callable[[flow.Block, flow.Kernel], Iterable[Traffic]]) -> None:
        self.traffic = traffic

    def block(self, block: flow.Block, kernel: flow.Kernel) -> Totals:
        totals: Totals = {}
        for traffic in self.traffic(block, kernel):
            for use in traffic.levels:
                lines = (graph.mul(count, use.level.line) for count in (use.fetched, use.written_back, use.victims))
                worth = (use.accesses, use.misses, *lines)
                for name, amount in zip(QUANTITIES, worth, strict=True):
                    key = Moved(name, kernel.name, traffic.access.requirement, use.level.name)
                    totals[key] = graph.mul(block.parallelism, amount)
        return totals
