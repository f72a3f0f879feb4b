"""What moving data over a link takes."""

from __future__ import annotations

from aspenpy.cost.prices import Offer
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr

LINK = "intracomm"
"""The resource that moves data between the sockets of a node."""


def over_link(offer: Offer, volume: Expr) -> Expr:
    """Seconds for so many bytes over a link, idealised: the serial time over the number of links, without rounding."""
    serial = graph.substitute([offer.resource.time], {offer.resource.argument: volume})[0]
    return graph.div(serial, offer.place.count)
