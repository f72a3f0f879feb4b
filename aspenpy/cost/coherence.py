"""What cores wait for each other's lines, where they store to the same ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from aspenpy.cost.prices import LevelCost
from aspenpy.cost.ranks import Instances
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.models.machine.model import Machine, Place

if TYPE_CHECKING:
    from aspenpy.cost.caches.traffic import Traffic

COHERENCE = "coherence"
"""What the time counts for, as `loads` does for that of a memory."""

LATENCY = "transfer_latency"
"""The property of what joins cores: seconds in which a line that one of them has written comes to another."""


def joining_cores(machine: Machine, socket: str | None) -> tuple[Place, ...]:
    """What joins cores and says how long a line takes between them, the innermost first: shared caches, the socket, the
    node."""
    core = machine.first_core(socket)
    if core is None:
        return ()
    around = (place for place in machine.first_places(socket) if place.path[:-1] == core.path[: len(place.path) - 1])
    stated = [place for place in around if place.component.value(LATENCY) is not None and place.path != core.path]
    return tuple(sorted(stated, key=lambda place: (-len(place.path), place.component.type != "cache")))


def coherence_costs(
    traffic: Iterable[Traffic], instances: Instances, places: Sequence[Place], core: Place | None
) -> tuple[LevelCost, ...]:
    """Seconds of the stores to lines that all instances write.

    A store takes its line from the core that wrote it last (write-invalidate; Papamarcos and Patel, ISCA 1984). Of P
    cores that store alike each was it as likely: of those that the place k joins p(k), so that a store waits
    sum of (p(k) - p(k-1))/P t(k) with p(0) = 1, itself. Each core has one store under way at a time, and each line one
    owner, so that P cores get no more than L lines do (David, Guerraoui and Trigonakis, SOSP 2013).
    """
    shared = [item for item in traffic if item.access.shared]
    if core is None or not places or not shared:
        return ()
    waiting, inside = graph.ZERO, graph.ONE
    for place in places:
        latency = place.component.value(LATENCY)
        assert latency is not None
        cores = graph.apply("min", instances.busy_at(place), graph.div(core.count, place.count))
        joined = graph.apply("max", inside, cores)
        waiting += (joined - inside) * latency
        inside = joined
    seconds = graph.add(*(_of_one(item, instances, waiting / inside, inside) for item in shared))
    return (LevelCost(COHERENCE, places[-1], graph.mul(instances.busy_at(core), seconds), graph.ZERO),)


def _of_one(item: Traffic, instances: Instances, wait: Expr, cores: Expr) -> Expr:
    """Seconds of one access on a core that waits so long a store, beside so many others."""
    access, line = item.access, item.levels[0].level.line
    lines = access.footprint(line)
    crowd = graph.ONE if lines is None else graph.apply("max", 1, cores / lines)
    return graph.mul(instances.share(access.accesses), access.check, wait, crowd)
