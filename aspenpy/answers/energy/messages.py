"""Messages: the energy of a network's adapters, in the three readings of the dissertation's equation 3.8.

Umar, dissertation 2018: the equation takes the volume over the bandwidth of a link, so that the energy does not depend
on the topology; figure 3.15 takes the time on one adapter; physically every adapter draws power in that time.
"""

from __future__ import annotations

from aspenpy.answers.energy.options import NicMode
from aspenpy.answers.energy.power import INTERCONNECT, PowerTree
from aspenpy.cost.cost import CostTree
from aspenpy.cost.prices import Offer, RequirementCost
from aspenpy.expr import graph
from aspenpy.expr.derivative import derivative
from aspenpy.expr.graph import Expr
from aspenpy.language.diagnostics import fail
from aspenpy.language.source import Span
from aspenpy.models.machine.model import Place


def adapter_seconds(cost: RequirementCost, offer: Offer, parallelism: Expr, mode: NicMode) -> Expr:
    """For how many seconds of one adapter's dynamic power the messages of all instances of a block are charged."""
    if mode == "single_nic":
        return cost.time
    if mode == "all_nics":
        return graph.mul(cost.time, offer.place.count)
    volume = graph.mul(parallelism, cost.requirement.amount)
    return graph.mul(volume, _seconds_a_byte(offer))


def adapters(
    where: PowerTree, tree: CostTree, *, within_cap: bool = False
) -> dict[str, tuple[Place, Expr, Span | None]]:
    """The adapters that consume power for the messages of a run, by the resource that they serve: the component, its
    watts, and where they are stated. With `within_cap` those alone whose power the cap of a socket limits."""
    asked = {need.resource for block in tree.blocks for need in block.requirements}
    found: dict[str, tuple[Place, Expr, Span | None]] = {}
    for name, offer in where.offers.items():
        limited = not within_cap or where.feeds(offer.place.path)
        if name in asked and limited and offer.place.component.type == INTERCONNECT:
            place = where.drawing(offer)
            power = where.power(place) if place is not None else None
            if place is not None and power is not None and power.dynamic is not None:
                found[name] = (place, power.dynamic, power.dynamic_span)
    return found


def _seconds_a_byte(offer: Offer) -> Expr:
    """One over the bandwidth that the interconnect declares, else over that of its time, if it is a straight line."""
    component = offer.place.component
    bandwidth = component.value("bandwidth")
    if bandwidth is not None:
        return graph.div(graph.ONE, bandwidth)
    slope = derivative(offer.resource.time, offer.resource.argument)
    if slope is graph.ZERO or offer.resource.argument in graph.free_symbols(slope):
        message = f"{component.type} `{component.name}` declares no bandwidth, and equation 3.8 divides by it"
        hint = "write `property bandwidth [4 GB/s]`, or charge the time by `single_nic` or `all_nics`"
        fail("no-bandwidth", message, offer.resource.name_span, hint=hint)
    return slope
