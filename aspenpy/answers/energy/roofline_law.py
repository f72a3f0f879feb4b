"""The energy roofline: joules for each flop and each byte, and a constant power for as long as it takes.

    E = W * e_flop + Q * e_byte + pi_0 * T

Choi, Bedard, Fowler and Vuduc, "A roofline model of energy", IPDPS 2013. A machine declares the constants as properties
of its socket: `energy_per_flop` (and `energy_per_flop_dp`, where double precision takes another), `energy_per_byte` and
`constant_power`. Messages are charged as in the embedded energy model.
"""

from __future__ import annotations

from aspenpy.answers.energy.headroom import Headroom
from aspenpy.answers.energy.options import EnergyOptions
from aspenpy.answers.energy.power import PowerTree, adapter_seconds, adapters
from aspenpy.answers.energy.term import Cause, EnergyTerm, Key, Unit
from aspenpy.cost.cost import CostTree
from aspenpy.cost.instances import Instances
from aspenpy.cost.prices import BlockCost, RequirementCost
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.language.source import Span
from aspenpy.models.application.total import Totals, add_totals
from aspenpy.models.machine.model import Place

EQUATION = "Choi 2013"
FLOPS, DOUBLE_FLOPS, BYTES = "energy_per_flop", "energy_per_flop_dp", "energy_per_byte"
MEMORY_RESOURCES = ("loads", "stores")


class RooflineLaw:
    """The terms of the law on one machine. Raises AspenError where the machine does not declare its constants."""

    def __init__(self, tree: CostTree, options: EnergyOptions) -> None:
        self.options = options
        self.power_tree = PowerTree(tree.machine, tree.socket, tree.origins)
        self.terms: dict[Key, EnergyTerm] = {}
        self._constant = self._require_declared("constant", "constant_power", "W")
        self._flops = self._require_declared("flops", FLOPS, "J/flop")
        self._bytes = self._require_declared("bytes", BYTES, "J/B")
        self._double = self._double_precision()
        self._ports = {
            name: self._add("messages", place, watts, "W", span)
            for name, (place, watts, span) in adapters(self.power_tree, tree).items()
        }
        self._headroom = Headroom(self.power_tree, options)

    def _require_declared(self, cause: Cause, name: str, unit: Unit) -> Key:
        place, value = self.power_tree.require_declared_property(name, "power" if unit == "W" else "energy")
        return self._add(cause, place, value, unit, place.component.properties[name].span)

    def _add(self, cause: Cause, place: Place, rate: Expr, unit: Unit, span: Span | None) -> Key:
        key = Key(cause, place.component.name)
        self.terms[key] = EnergyTerm(
            key, place.path, rate, unit=unit, equation=EQUATION, elapsed=cause == "constant", span=span
        )
        return key

    def _double_precision(self) -> Expr | None:
        """Energy of a flop in double precision, relative to that of any flop; None where the machine does not say."""
        place = self.power_tree.places[self.terms[self._flops].path]
        if DOUBLE_FLOPS not in place.component.properties:
            return None
        return graph.div(
            self.power_tree.require_declared_property(DOUBLE_FLOPS, "energy")[1], self.terms[self._flops].rate
        )

    def amounts(self, cost: BlockCost) -> Totals:
        """Seconds, flops and bytes of one execution of the block by all its instances."""
        time = graph.add(cost.time, self.waiting(cost))
        return add_totals([{self._constant: graph.mul(self._charged_sockets(cost.instances), time)}, self._work(cost)])

    def waiting(self, cost: BlockCost) -> Expr:
        """Seconds by which a power cap makes the block longer."""
        sockets = graph.ONE if self.power_tree.socket is None else cost.instances.count_used(self.power_tree.socket)
        return self._headroom.waiting(self.terms, {self._constant: sockets}, self._work(cost), sockets, cost.time)

    def _work(self, cost: BlockCost) -> Totals:
        """Amounts that do not go with the time."""
        return add_totals([self._amount(item, cost.instances.count) for item in cost.requirements])

    def _amount(self, item: RequirementCost, instances: Expr) -> Totals:
        name = item.requirement.resource
        amount = graph.mul(instances, item.requirement.amount)
        if name == "flops":
            double = any(trait.name == "dp" for trait in item.requirement.traits)
            return {self._flops: graph.mul(amount, self._double) if double and self._double is not None else amount}
        if name in MEMORY_RESOURCES:
            if item.traffic is not None:  # of what goes through caches, memory's share
                amount = graph.mul(instances, graph.add(item.traffic.read_bytes, item.traffic.written_bytes))
            return {self._bytes: amount}
        if name in self._ports and item.offer is not None:
            return {self._ports[name]: adapter_seconds(item, item.offer, instances, self.options.nic)}
        return {}

    def _charged_sockets(self, instances: Instances) -> Expr:
        """The sockets whose constant power is charged."""
        if self.options.charged == "socket" or self.power_tree.socket is None:
            return graph.ONE
        if self.options.charged == "machine":
            return self.power_tree.socket.count
        return instances.count_used(self.power_tree.socket)
