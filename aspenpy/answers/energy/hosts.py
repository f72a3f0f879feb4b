"""Hosts: processors whose programs drive the accelerators that work.

They are awake while the accelerators compute: a process for each rank waits for its device on a core of its own, which
is at work for that (TU Dresden's POWER9, tud-zih-energy/2022-power9-occ: 14.5 W for a core that waits, 14.7 to 16.3 W
for one that computes). Of a host are charged its idle power, that of its uncore, and such a core for each rank.
"""

from __future__ import annotations

from functools import cached_property

from aspenpy.answers.energy.power import PowerTree
from aspenpy.cost.assumed import LANES_WITH_WORK
from aspenpy.cost.ranks import ratio_of_counts
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.models.machine.model import Place

IDLE, CORE, UNCORE = "idle_power", "active_core_power", "uncore_power"


class Hosts:
    """The processors on the nodes of the accelerators that work, which state `idle_power`; none where processors work
    themselves."""

    def __init__(self, power_tree: PowerTree) -> None:
        self.power_tree = power_tree

    @cached_property
    def node(self) -> Place | None:
        """The kind of node that the accelerators are in; None where processors work."""
        lanes = any(LANES_WITH_WORK in place.component.properties for place in self.power_tree.places.values())
        nodes = (place for place in self.power_tree.places.values() if place.component.type == "node")
        return next(nodes, None) if lanes else None

    def includes(self, place: Place) -> bool:
        """Whether a component is a host."""
        if self.node is None or place.component.type != "socket" or place.path == self.power_tree.central.path:
            return False
        beside = place.path[: len(self.node.path)] == self.node.path
        return beside and IDLE in place.component.properties and not self._is_accelerator(place)

    def _is_accelerator(self, place: Place) -> bool:
        inside = self.power_tree.machine.first_places(place.component.name)
        return any(LANES_WITH_WORK in part.component.properties and place.component in part.parents for part in inside)

    def watts(self, place: Place) -> Expr:
        """Watts of one host."""
        stated = [self.power_tree.read_property(name, "power", place) or graph.ZERO for name in (IDLE, UNCORE)]
        core = self.power_tree.read_property(CORE, "power", place) or graph.ZERO
        return graph.add(*stated, graph.mul(ratio_of_counts(self._ranked.count, place.count), core))

    @cached_property
    def _ranked(self) -> Place:
        """The component that one rank occupies, a device or a part of one."""
        flagged = (place for place in self.power_tree.places.values() if "rank" in place.component.properties)
        return next((place for place in flagged if self.power_tree.in_socket(place)), self.power_tree.central)
