"""Sharing: what a level of memory delivers to the cores that draw on it at the same time.

One core cannot draw all that a memory or a shared cache delivers. A component that says so,

    property attained_bandwidth [172 GB/s]  // of all its cores together, as STREAM measures it
    property core_bandwidth [13 GB/s]       // of one core alone

serves n of its c cores in a time between that of one core and that of all:

    T(n)^2 = T(1)^2 + (T(c)^2 - T(1)^2) (n^2 - 1)/(c^2 - 1)

for equal shares of the work, with T(1) = volume/core_bandwidth and T(c) = c*volume/attained_bandwidth. It is the 2-norm
of a time that does not depend on the others and one that grows with them. Beyond c, cores take turns. Against 1,478
measured points of 21 processors (likwid-bench, published with kerncraft), fitted at one core and at all, the median
error is 4 %; `docs/nodes.md` shows the worst rows.
"""

from __future__ import annotations

from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.models.machine.model import Component, Place
from aspenpy.models.machine.words import one_of
from aspenpy.record import Record

AFFINITIES = ("scatter", "compact")


class Sharing(Record):
    """How instances of a block share the components at a place: `instances` on the fullest of them, and the part of the
    attained bandwidth that so many cores draw, 1 where the machine does not say what one core draws."""

    instances: Expr
    saturation: Expr

    def time(self, alone: Expr) -> Expr:
        """Seconds until all instances are served, where each would take `alone` at the attained bandwidth."""
        return graph.div(graph.mul(self.instances, alone), self.saturation)


def sharing(parallelism: Expr, place: Place, core: Place | None, line: Expr | None, resource: str) -> Sharing:
    """How `parallelism` instances of a block share a memory or cache."""
    even = graph.apply("ceil", graph.div(parallelism, place.count))
    one_core = core_bandwidth(place.component, core, line, resource)
    all_cores = attained_bandwidth(place.component, resource)
    if core is None or one_core is None or all_cores is None:
        return Sharing(even, graph.ONE)
    cores = graph.div(core.count, place.count)
    if affinity(place) == "compact":
        even = graph.apply("max", graph.apply("min", parallelism, cores), even)
    return Sharing(even, saturation(graph.apply("min", even, cores), cores, graph.div(all_cores, one_core)))


def saturation(active: Expr, cores: Expr, needed: Expr) -> Expr:
    """The part of the attained bandwidth that `active` of a component's `cores` draw, where `needed` times one core's
    bandwidth is the attained."""
    one = graph.ONE
    active = graph.apply("max", one, active)
    steps = graph.div(graph.sub(_square(active), one), graph.apply("max", one, graph.sub(_square(cores), one)))
    rise = graph.apply("max", graph.ZERO, graph.sub(_square(cores), _square(needed)))
    return graph.div(active, graph.apply("sqrt", graph.add(_square(needed), graph.mul(rise, steps))))


def core_bandwidth(component: Component, core: Place | None, line: Expr | None, resource: str) -> Expr | None:
    """What one core alone draws (bytes/s): stated, or as many lines as it has outstanding in each latency (Little's
    law); None where the machine says neither."""
    stated = component.value("core_store_bandwidth") if resource == "stores" else None
    stated = stated or component.value("core_bandwidth")
    if stated is not None or core is None:
        return stated
    waits, outstanding = component.value("latency"), core.component.value("outstanding")
    if waits is None or outstanding is None or line is None:
        return None
    return graph.div(graph.mul(outstanding, line), waits)


def attained_bandwidth(component: Component, resource: str) -> Expr | None:
    """What all cores together draw (bytes/s): as measured where the machine says so, else the data sheet's."""
    stated = component.value("attained_store_bandwidth") if resource == "stores" else None
    return stated or component.value("attained_bandwidth") or component.value("bandwidth")


def affinity(place: Place) -> str:
    """How instances are bound to cores: `compact` fills one component after the other, `scatter` spreads them evenly.
    The nearest component around that says so decides."""
    for component in (place.component, *reversed(place.parents)):
        if "affinity" in component.properties:
            return one_of(component, "affinity", AFFINITIES, AFFINITIES[0])
    return AFFINITIES[0]


def _square(value: Expr) -> Expr:
    return graph.mul(value, value)
