"""The ports of a core's loads and stores, where a block says how it touches data and not how it accesses them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from aspenpy.cost.instances import Instances
from aspenpy.cost.operations import WIDE
from aspenpy.cost.prices import LevelCost, Offer, longest
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.models.application import flow

if TYPE_CHECKING:
    from aspenpy.cost.caches.traffic import Traffic

ACCESSES = "accesses"
"""The resource of a core's loads and stores, one of each word, or of vectors `as simd`."""

WORD = 8
"""Bytes of which rates of vectors count the words."""


def port_costs(
    block: flow.Block, traffic: Collection[Traffic], instances: Instances, offers: Mapping[str, Offer]
) -> tuple[LevelCost, ...]:
    """Seconds in which the ports of a core that states `accesses` are busy with what a block loads and stores: each
    word is an access, or a part of one where its flops are of vectors. None where the block asks for `accesses` itself.
    Loads and stores have ports of their own."""
    offer = offers.get(ACCESSES)
    asked = any(requirement.resource == ACCESSES for requirement in block.requirements)
    if offer is None or asked or not traffic or ACCESSES in offer.assumed:
        return ()
    flops = [requirement for requirement in block.requirements if requirement.resource == "flops"]
    wide = any(trait.name == WIDE for requirement in flops for trait in requirement.traits)
    times = []
    for name, writes in (("load", False), ("store", True)):
        accesses = [item.access for item in traffic if item.access.writes is writes]
        rate, clock = _rate_of_port(offer, name, wide), offer.place.component.value("clock")
        if accesses and rate is not None and clock is not None:
            words = graph.add(*(access.accesses * _count_words(access.word, wide) for access in accesses))
            times.append(instances.busy_at(offer.place) * instances.share(words) / (clock * rate))
    return (LevelCost(ACCESSES, offer.place, longest(times), graph.ZERO),) if times else ()


def _count_words(bytes_of_one: Expr, wide: bool) -> Expr:
    return graph.div(bytes_of_one, WORD) if wide else graph.ONE


def _rate_of_port(offer: Offer, name: str, wide: bool) -> Expr | None:
    core = offer.place.component
    return core.value(f"{name}_dp_simd_rate") if wide else core.value(f"{name}_rate")
