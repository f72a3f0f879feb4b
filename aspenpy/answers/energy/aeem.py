"""AEEM, Aspen's embedded energy model: Umar, dissertation (Virginia Tech, 2018), section 3.4.2, equations 3.2 to 3.9.

    E = sum over kernels of calls * E_i                                     (3.9)
    E_i = T_i * (P_static + P_dynamic) + E_comm                             (3.2, 3.3)
    P_static = P_cpu_idle + P_mem_idle                                      (3.4)
    P_dynamic = a_cpu * P_cpu_dynamic + a_mem * P_mem_dynamic               (3.5)
    a = achieved over maximum rate                                          (3.7)
    E_comm = message volume / bandwidth * P_nic_dynamic                     (3.8)

T_i * a is the time that the work would take at the maximum rate, so that every term is watts times seconds that add up
over blocks. The maximum of flops is that under the requirement's own traits, as in figure 3.8, of the cores that have
work; that of bytes is the memory's, whatever the traits say. What one component serves overlaps as its time does.
"""

from __future__ import annotations

from aspenpy.answers.energy.options import EnergyOptions
from aspenpy.answers.energy.power import INTERCONNECT, MEMORY, PowerTree, adapter_seconds
from aspenpy.answers.energy.term import Cause, EnergyTerm, Key
from aspenpy.cost.cost import CostTree
from aspenpy.cost.instances import Instances
from aspenpy.cost.prices import BlockCost, Offer, RequirementCost, conflict_groups, slowest
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.language.source import Span
from aspenpy.models.application.total import Totals, sum_terms
from aspenpy.models.machine.model import Place

BEYOND = "3.5, more"  # what terms that equation 3.5 does not have are told by


class Aeem:
    """The terms of the model on one machine. Raises AspenError where power is not declared, or cannot be."""

    def __init__(self, tree: CostTree, options: EnergyOptions) -> None:
        self.tree = tree
        self.options = options
        self.power_tree = PowerTree(tree.machine, tree.socket, tree.origins)
        self.power_tree.offers |= tree.residence.where.assumed_offers | tree.residence.offers
        self.terms: dict[Key, EnergyTerm] = {}
        self._add_idle_terms()
        if options.active_cores:
            self._add_active_cores()
        if options.uncore:
            self._add_uncore_term()
        self._loads = {
            name: self._add_load_term(offer)
            for name, offer in self.power_tree.offers.items()
            if self._is_requested(name)
        }

    # -- terms -----------------------------------------------------------------------------------

    def _add_idle_terms(self) -> None:
        """Adds idle terms (equation 3.4); with the whole machine charged, of all that stands in it."""
        power_tree = self.power_tree
        if self.options.charged == "machine":
            for place in self.tree.machine.places():
                self._add_idle(place, place.count)
        else:
            for place in power_tree.places.values():
                if power_tree.in_socket(place) or self._serves_memory(place):
                    self._add_idle(place, power_tree.in_one_socket(place))
        self._refuse_without_idle()

    def _refuse_without_idle(self) -> None:
        """Refuses a machine whose computing components declare no idle power; memories, which have their own, do not
        count."""
        power_tree = self.power_tree
        inside = [place for place in power_tree.places.values() if power_tree.in_socket(place)]
        if any(power_tree.power(place).static is not None for place in inside if place.component.type != MEMORY):
            return
        asked = [
            offer
            for name, offer in power_tree.offers.items()
            if self._is_requested(name) and power_tree.in_socket(offer.place)
        ]
        if power_tree.socket is not None:
            power_tree.refuse_missing(power_tree.socket.component, "static")
        elif asked:
            power_tree.refuse_missing(asked[0].place.component, "static", asked[0])

    def _serves_memory(self, place: Place) -> bool:
        """Whether it is a memory that stands beside the sockets and serves them."""
        return place.component.type == MEMORY and any(
            offer.place.path == place.path for offer in self.power_tree.offers.values()
        )

    def _add_idle(self, place: Place, number: Expr) -> None:
        power = self.power_tree.power(place)
        if power.static is not None:
            watts = graph.mul(number, power.static)
            self._add("idle", place, watts, equation="3.4", elapsed=True, span=power.static_span)

    def _add(self, cause: Cause, place: Place, rate: Expr, *, equation: str, elapsed: bool, span: Span | None) -> Key:
        """Adds a term; a component that stands in several places of the machine's tree has one for all."""
        key = Key(cause, place.component.name)
        if key in self.terms and elapsed:
            rate = graph.add(self.terms[key].rate, rate)
        self.terms[key] = EnergyTerm(key, place.path, rate, unit="W", equation=equation, elapsed=elapsed, span=span)
        return key

    def _add_load_term(self, offer: Offer) -> Key | None:
        """The term that pays for what load adds to serve a resource; None for a link that draws nothing more."""
        place = self.power_tree.find_consumer(offer)
        if place is None:
            return None
        power = self.power_tree.power(place)
        assert power.dynamic is not None, place.path
        if offer.place.component.type == INTERCONNECT:
            return self._add("messages", place, power.dynamic, equation="3.8", elapsed=False, span=power.dynamic_span)
        one = self.options.charged == "socket"
        watts = graph.mul(self.power_tree.in_one_socket(place), power.dynamic) if one else power.dynamic
        return self._add("active", place, watts, equation="3.5", elapsed=False, span=power.dynamic_span)

    def _is_requested(self, resource: str) -> bool:
        return any(resource == item.server for block in self.tree.blocks.values() for item in block.requirements)

    def _add_active_cores(self) -> None:
        """Power of each core at work, a property of its socket."""
        socket, watts = self.power_tree.require_declared_property("active_core_power")
        span = socket.component.properties["active_core_power"].span
        self._add("active cores", socket, watts, equation=BEYOND, elapsed=True, span=span)

    def _add_uncore_term(self) -> None:
        """Power that goes with the square of the clock outside of the cores."""
        socket, watts = self.power_tree.require_declared_property("uncore_power")
        _, clock = self.power_tree.require_declared_property("uncore_clock", "clock")
        _, reference = self.power_tree.require_declared_property("uncore_reference", "clock")
        rate = graph.mul(watts, graph.power(graph.div(clock, reference), 2))
        span = socket.component.properties["uncore_power"].span
        self._add("uncore", socket, rate, equation=BEYOND, elapsed=True, span=span)

    # -- amounts ---------------------------------------------------------------------------------

    def amounts(self, cost: BlockCost) -> Totals:
        """Seconds that the watts of each term are drawn for; of several components together, component-seconds."""
        totals: Totals = {key: self._elapsed_time(key, cost) for key, term in self.terms.items() if term.elapsed}
        busy: dict[Key, dict[str, list[Expr]]] = {}
        for item in cost.requirements:
            key = self._loads[item.server] if item.offer is not None else None
            if key is not None and item.offer is not None:
                seconds = self._seconds(item, item.offer, key, cost)
                busy.setdefault(key, {}).setdefault(item.server, []).append(seconds)
        for key, resources in busy.items():
            times = {resource: sum_terms(parts) for resource, parts in resources.items()}
            totals[key] = slowest(conflict_groups(times, self.tree.conflicts))
        return totals

    def waiting(self, cost: BlockCost) -> Expr:
        """None: the model knows no cap."""
        return graph.ZERO

    def _elapsed_time(self, key: Key, cost: BlockCost) -> Expr:
        """The block's time, for each socket that has work and for each core at work."""
        number = graph.ONE
        if key.cause == "active cores":
            cores = self.power_tree.cores
            most = (
                self.power_tree.in_one_socket(cores)
                if self.options.charged == "socket"
                else cost.instances.available(cores)
            )
            number = graph.apply("min", cost.instances.together, most)
        elif self.options.charged != "socket" and (key.cause == "uncore" or self.options.charged == "cores_used"):
            number = self._sockets_used(cost.instances)
        return graph.mul(number, cost.time)

    def _sockets_used(self, instances: Instances) -> Expr:
        """Instances are dealt out evenly, so each has a socket of its own as long as there are some."""
        if self.power_tree.socket is None:
            return graph.ONE
        return instances.count_used(self.power_tree.socket)

    def _seconds(self, item: RequirementCost, offer: Offer, key: Key, cost: BlockCost) -> Expr:
        """Seconds for which the work needs the drawing component at its maximum rate (equation 3.7, times T_i)."""
        if key.cause == "messages":
            return adapter_seconds(item, offer, cost.instances.count, self.options.nic)
        instances = item.together
        serial = (
            self.power_tree.memory_seconds(item, cost.instances)
            if offer.place.component.type == MEMORY
            else item.serial
        )
        if self.options.charged == "socket":
            share = graph.div(instances, cost.instances.available(offer.place))
            return graph.mul(graph.apply("max", graph.apply("min", instances, graph.ONE), share), serial)
        drawing = self.power_tree.places[self.terms[key].path]
        return graph.mul(graph.div(graph.mul(instances, drawing.count), offer.place.count), serial)
