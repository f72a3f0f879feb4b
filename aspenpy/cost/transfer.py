"""What moving data over a link takes."""

from __future__ import annotations

from collections.abc import Iterable

from aspenpy.cost.instances import Instances
from aspenpy.cost.prices import Offer, longest
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr

LINK = "intracomm"
"""The resource that moves data between the sockets of a node."""


def over_link(offer: Offer, volume: Expr, instances: Iterable[Instances]) -> Expr:
    """Seconds for so many bytes to the devices that blocks with such instances have work for: each of their links
    carries an equal part, at its latency."""
    links = longest([each.count_used(offer.place) for each in instances])
    return graph.substitute([offer.resource.time], {offer.resource.argument: graph.div(volume, links)})[0]
