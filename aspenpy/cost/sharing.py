"""Sharing: what a level of memory delivers to the cores that draw on it at the same time.

One core cannot draw all that a memory or a shared cache delivers. A component that says so,

    property attained_bandwidth [172 GB/s]  // of all its cores together, as STREAM measures it
    property core_bandwidth [13 GB/s]       // of one core alone

serves n of its c cores, an equal volume each, in

    T(n)^2 = T(1)^2 + (T(c)^2 - T(1)^2) (n^2 - 1)/(c^2 - 1)

with T(1) = volume/core_bandwidth and T(c) = c*volume/attained_bandwidth: the 2-norm of what a core takes alone and of
what the others take from it, its contention. Beyond c, cores take turns. Against 1,478 measured points of 21 processors
(likwid-bench, published with kerncraft), fitted at one core and at all, the median error is 4 %; `docs/nodes.md` shows
the worst rows. A block whose cores do other things for longer is in contention for as much: see `price_block`.
"""

from __future__ import annotations

from aspenpy.cost.instances import Instances
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.models.machine.model import Component, Place, one_of
from aspenpy.record import Record

AFFINITIES = ("scatter", "compact")

STORE_RATES = ("attained_store_bandwidth", "core_store_bandwidth")
"""Rates of stores, where they are not those of loads."""


class Sharing(Record):
    """Shares of a block's instances in the components at a place. `instances` are on the fullest of them. Times are in
    units of one volume at the attained bandwidth: `alone` if no other core ran, and in `contention` with others."""

    instances: Expr
    alone: Expr
    contention: Expr = graph.ZERO

    @property
    def time(self) -> Expr:
        """The time until all are served, in the same units."""
        return norm(self.alone, self.contention)

    def seconds(self, one: Expr) -> tuple[Expr, Expr]:
        """Seconds of all alone and in contention, where one volume takes so long at the attained bandwidth."""
        contention = graph.ZERO if self.contention is graph.ZERO else graph.mul(self.contention, one)
        return graph.mul(self.alone, one), contention

    @property
    def saturation(self) -> Expr:
        """The part of the attained bandwidth that so few cores draw."""
        return graph.ONE if self.contention is graph.ZERO else graph.div(self.instances, self.time)


def sharing(instances: Instances, place: Place, core: Place | None, line: Expr | None, resource: str) -> Sharing:
    """Shares of the instances of a block in a memory or cache, in units of what one core does."""
    busy = instances.busy_at(place)
    one_core = core_bandwidth(place.component, core, line, resource)
    all_cores = bandwidth_of_all_cores(place.component, resource)
    if core is None or one_core is None or all_cores is None:
        return Sharing(busy, busy)
    # The formula of the head in units of volume/attained_bandwidth: T(1) is `needed`, T(c) is `cores`, n is `active`.
    # One core is no faster than all together, and c volumes take no less than one: hence the two maxima.
    one = graph.ONE
    cores = graph.div(core.count, place.count)
    if instances.placement is None and affinity(place) == "compact":
        busy = graph.apply("max", graph.apply("min", instances.count, cores), busy)
    active = graph.apply("max", one, graph.apply("min", busy, cores))
    needed = graph.apply("max", one, graph.div(all_cores, one_core))
    turns = instances.busy_at(core)
    rise = graph.apply("max", graph.ZERO, graph.sub(_square_of(cores), _square_of(needed)))
    steps = graph.div(graph.sub(_square_of(active), one), graph.apply("max", one, graph.sub(_square_of(cores), one)))
    contention = graph.mul(turns, graph.apply("sqrt", graph.mul(rise, steps)))
    return Sharing(busy, graph.mul(turns, needed), contention)


def norm(*times: Expr) -> Expr:
    """The 2-norm of times."""
    several = [time for time in times if time is not graph.ZERO]
    if len(several) < 2:
        return several[0] if several else graph.ZERO
    return graph.apply("sqrt", graph.add(*map(_square_of, several)))


def core_bandwidth(component: Component, core: Place | None, line: Expr | None, resource: str) -> Expr | None:
    """Bandwidth of one core alone (bytes/s): stated, or as many lines as it has outstanding in each latency (Little's
    law); None where the machine says neither. A `serial` level sends at its full rate while the others wait. Each kind
    of core may state its own rate of a memory that they share."""
    stated = component.value("core_store_bandwidth") if resource == "stores" else None
    stated = stated or component.value("core_bandwidth")
    if component.type == "memory" and core is not None:
        stated = core.component.value("core_bandwidth") or stated
    if stated is not None or core is None:
        return stated
    if "serial" in component.properties:
        return bandwidth_of_all_cores(component, resource)
    waits, outstanding = component.value("latency"), core.component.value("outstanding")
    if not _is_memory_level(component) or waits is None or outstanding is None or line is None:
        return None
    return graph.div(graph.mul(outstanding, line), waits)


def _is_memory_level(component: Component) -> bool:
    """Whether a component is a level of memory: a message over a link waits for its latency once."""
    return component.type == "cache" or any(name in component.resources for name in ("loads", "stores"))


def bandwidth_of_all_cores(component: Component, resource: str) -> Expr | None:
    """Bandwidth of all cores together (bytes/s): as measured where the machine says so, else the data sheet's."""
    stated = component.value("attained_store_bandwidth") if resource == "stores" else None
    return stated or component.value("attained_bandwidth") or component.value("bandwidth")


def affinity(place: Place) -> str:
    """Binding of instances to cores: `compact` fills one component after the other, `scatter` spreads them evenly. The
    nearest component around that says so decides."""
    for component in (place.component, *reversed(place.parents)):
        if "affinity" in component.properties:
            return one_of(component, "affinity", AFFINITIES, AFFINITIES[0])
    return AFFINITIES[0]


def _square_of(value: Expr) -> Expr:
    return graph.mul(value, value)
