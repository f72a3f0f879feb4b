"""Responding: power that goes with the cores at work, their clock, the clock outside of them, flops and bytes.

    E = S*(P_idle*T' + P_uncore*(u/u_0)^2*T_u) + n*P_core*T + sum of e_flop*W + sum of e_byte*Q + messages
    T_u = least*T' + min((1 - least)*T, T_memory/saturation)

of a block that takes T seconds, T' where a power cap makes it wait, with n cores at work in a run on S sockets. The
watts are properties of the socket, and go with the clock where the machine writes a law of it. P_core is static and
switched power of a core together: fitted laws of server processors and the constants of an energy roofline (Choi and
others, IPDPS 2013) are both of this form. The uncore's clock follows the traffic: all of its power is consumed where
memory is busy for `saturation` of the time, the part `least` always. Servers of files consume their `dynamic power`
while they are busy.
"""

from __future__ import annotations

from functools import cached_property

from aspenpy.answers.energy.headroom import Headroom
from aspenpy.answers.energy.hosts import CORE, IDLE, UNCORE, Hosts
from aspenpy.answers.energy.options import EnergyOptions
from aspenpy.answers.energy.power import MEMORY, PowerTree, adapter_seconds, adapters
from aspenpy.answers.energy.term import Cause, EnergyTerm, Key, Unit
from aspenpy.cost.cost import CostTree
from aspenpy.cost.instances import Instances, is_file_system
from aspenpy.cost.operations import PRECISIONS, PRODUCT, has_product_units, read_operation
from aspenpy.cost.prices import MEMORY_RESOURCES, BlockCost, RequirementCost, longest
from aspenpy.cost.ranks import ratio_of_counts
from aspenpy.cost.value_mistakes import ValueMistake
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.language.source import Span
from aspenpy.models.application.total import Totals, add_totals, sum_terms
from aspenpy.models.machine.model import Component, Place
from aspenpy.record import Record

SLEEP = "sleep_power"
PARTNERS, HOSTS = "idle partners", "hosts"


class Partner(Record):
    """A component that draws power beside the working ones: its watts, where they are stated, and the cause."""

    place: Place
    watts: Expr
    span: Span | None
    cause: Cause


class Occupancy:
    """The sockets with work, the memories that serve them, and idle partners where those are charged."""

    def __init__(self, power_tree: PowerTree, options: EnergyOptions, tree: CostTree) -> None:
        self.power_tree = power_tree
        self.charged = options.charged
        self._definitions = tree.definitions.keys()
        self._known: dict[tuple[str, ...], list[Expr]] = {}
        self._all = tuple({cost.instances.count: cost.instances for cost in tree.blocks.values()}.values())

    def sockets_at_work(self, instances: Instances) -> Expr:
        """The sockets that have work in a block, one at least."""
        return graph.ONE if self.power_tree.socket is None else instances.count_used(self.power_tree.socket)

    def count_occupied(self, instances: Instances, place: Place | None = None) -> Expr:
        """The sockets, or other components, that the run occupies while a block runs: those with work in any block,
        as far as what each asks for is known outside of its kernel."""
        place = place or self.power_tree.socket
        if place is None:
            return graph.ONE
        if place.path not in self._known:
            others = [each.count_used(place) for each in self._all]
            self._known[place.path] = [used for used in others if graph.free_symbols(used) <= self._definitions]
        return longest([*dict.fromkeys([instances.count_used(place), *self._known[place.path]])])

    @cached_property
    def beside(self) -> list[Place]:
        """Other components of a working socket with idle power of their own: memories, in it or beside it."""
        serving = {offer.place.path for offer in self.power_tree.offers.values()}
        return [
            place
            for place in self.power_tree.places.values()
            if self.power_tree.power(place).static is not None
            and place.path != self.power_tree.central.path
            and (self.power_tree.in_socket(place) or (place.component.type == MEMORY and place.path in serving))
        ]

    @cached_property
    def partners(self) -> list[Partner]:
        """Idle components that are charged: on the same nodes, or in the whole machine."""
        if self.charged not in ("nodes_used", "machine"):
            return []
        there = [
            place
            for place in self.power_tree.machine.places()
            if self.charged == "machine" or any(parent.type == "node" for parent in place.parents)
        ]
        idle = [partner for partner in map(self._make_partner, there) if partner is not None]
        return [*idle, *(self._make_host(place) for place in there if self.hosts.includes(place))]

    @cached_property
    def hosts(self) -> Hosts:
        return Hosts(self.power_tree)

    def _make_partner(self, place: Place) -> Partner | None:
        watts = self.power_tree.read_property(SLEEP, "power", place)
        if watts is not None:
            return Partner(place, watts, place.component.properties[SLEEP].span, PARTNERS)
        power = self.power_tree.power(place)
        return None if power.static is None else Partner(place, power.static, power.static_span, PARTNERS)

    def _make_host(self, place: Place) -> Partner:
        return Partner(place, self.hosts.watts(place), place.component.properties[IDLE].span, HOSTS)

    def idle(self, instances: Instances) -> dict[Key, Expr]:
        """The number of idle components of each kind while a block runs."""
        numbers: dict[Key, Expr] = {}
        for item in self.partners:
            key = Key(item.cause, item.place.component.name)
            number = self._count_hosts if item.cause == HOSTS else self._number
            numbers[key] = graph.add(numbers.get(key, graph.ZERO), number(item.place, instances))
        return numbers

    def _count_hosts(self, place: Place, instances: Instances) -> Expr:
        """Hosts on the nodes that the run occupies."""
        assert self.hosts.node is not None, place.path
        node = self.hosts.node
        return graph.mul(ratio_of_counts(place.count, node.count), self.count_occupied(instances, node))

    def _number(self, place: Place, instances: Instances) -> Expr:
        """The number of components that are idle, on the nodes or in the machine: those there are less those at
        work."""
        there = place.count
        node = next((item for item in self.power_tree.places.values() if item.component.type == "node"), None)
        if self.charged == "nodes_used" and node is not None:
            there = graph.mul(ratio_of_counts(place.count, node.count), self.count_occupied(instances, node))
        if self.hosts.includes(place):
            return graph.sub(there, self._count_hosts(place, instances))
        working = place.path == self.power_tree.central.path or any(place.path == item.path for item in self.beside)
        if not working:
            return there
        return graph.sub(there, graph.mul(self.power_tree.in_one_socket(place), self.count_occupied(instances)))


FLOPS, BYTES = "energy_per_flop", "energy_per_byte"
EQUATION = "stated"
FILES = "files"  # cause of what servers of files consume
SHARED = ("messages", FILES)  # causes of energy that no socket consumes


class Responding:
    """The terms of the model on one machine. Raises AspenError where the socket does not state `idle_power`. With
    `within_cap` adapters count only where the cap of the socket limits them: who asks how long a run waits for its cap
    need not know what the network draws."""

    def __init__(self, tree: CostTree, options: EnergyOptions, *, within_cap: bool = False) -> None:
        self.options = options
        self.power_tree = PowerTree(tree.machine, tree.socket, tree.origins)
        self.power_tree.offers |= tree.residence.where.assumed_offers | tree.residence.offers
        self.occupancy = Occupancy(self.power_tree, options, tree)
        self.terms: dict[Key, EnergyTerm] = {}
        self._idle()
        self._cores = self._add_watts("active cores", CORE)
        self._uncore = self._uncore_term()
        self._saturation = self.power_tree.read_property("uncore_saturation", "efficiency")
        self._least = self._uncore_least()
        drawn_by = adapters(self.power_tree, tree, within_cap=within_cap)
        self._ports = {name: self._add("messages", *drawn) for name, drawn in drawn_by.items()}
        asked = [(item, cost.instances) for cost in tree.blocks.values() for item in cost.requirements]
        self._asked = {item: self._amounts_of_requirement(item, instances) for item, instances in asked}  # adds terms
        self._headroom = Headroom(self.power_tree, options)

    # -- terms -----------------------------------------------------------------------------------

    def _add(
        self, cause: Cause, place: Place, rate: Expr, span: Span | None, elapsed: bool = False, unit: Unit = "W"
    ) -> Key:
        key = Key(cause, place.component.name)
        self.terms[key] = EnergyTerm(key, place.path, rate, unit=unit, equation=EQUATION, elapsed=elapsed, span=span)
        return key

    def _idle(self) -> None:
        """The socket that works, memories that serve it, and what else is charged for being there."""
        socket, watts = self.power_tree.require_declared_property(IDLE)
        self._add("idle", socket, watts, socket.component.properties[IDLE].span, elapsed=True)
        for place in self.occupancy.beside:
            power = self.power_tree.power(place)
            assert power.static is not None, place.path
            watts = graph.mul(self.power_tree.in_one_socket(place), power.static)
            self._add("idle", place, watts, power.static_span, elapsed=True)
        for partner in self.occupancy.partners:
            self._add(partner.cause, partner.place, partner.watts, partner.span, elapsed=True)

    def _add_watts(self, cause: Cause, name: str) -> Key | None:
        rate = self.power_tree.read_property(name, "power")
        if rate is None:
            return None
        place = self.power_tree.central
        return self._add(cause, place, rate, place.component.properties[name].span)

    def _uncore_term(self) -> Key | None:
        """Power that goes with the square of the clock outside of the cores, where the machine states one."""
        key = self._add_watts("uncore", UNCORE)
        clock = self.power_tree.read_property("uncore_clock", "clock")
        if key is not None and clock is not None:
            _, reference = self.power_tree.require_declared_property("uncore_reference", "clock")
            term = self.terms[key]
            squared = graph.power(graph.div(clock, reference), 2)
            self.terms[key] = term.replace(rate=graph.mul(term.rate, squared))
        return key

    def _uncore_least(self) -> Expr:
        """The part of the uncore's power that is consumed without traffic: all, where nothing says how it follows."""
        if self._saturation is None:
            return graph.ONE
        least = self.power_tree.read_property("uncore_least", "amount")
        if least is None:
            return graph.ZERO
        mistake = ValueMistake(
            code="no-share",
            message="`uncore_least` is a part of the uncore's power, 1 at most",
            span=self.power_tree.central.component.properties["uncore_least"].span,
            hint="write 0.25 for a quarter",
            subject=least,
        )
        return graph.if_else(graph.compare("<=", least, graph.ONE), least, graph.failure(mistake))

    # -- amounts ---------------------------------------------------------------------------------

    def amounts(self, cost: BlockCost) -> Totals:
        """Seconds, flops and bytes of one execution of the block by all its instances, as far as they are charged."""
        time = graph.add(cost.time, self.waiting(cost))
        one = self.options.charged == "socket"
        numbers = self._numbers(graph.ONE if one else self.occupancy.count_occupied(cost.instances))
        numbers |= self.occupancy.idle(cost.instances)
        work = self._work(cost)
        if one:
            sockets = self.occupancy.sockets_at_work(cost.instances)
            work = {key: worth if key.cause in SHARED else graph.div(worth, sockets) for key, worth in work.items()}
        return add_totals([{key: graph.mul(number, time) for key, number in numbers.items()}, work])

    def waiting(self, cost: BlockCost) -> Expr:
        """Seconds by which a power cap makes the block longer."""
        sockets = self.occupancy.sockets_at_work(cost.instances)
        return self._headroom.waiting(self.terms, self._numbers(sockets), self._work(cost), sockets, cost.time)

    def _numbers(self, sockets: Expr) -> dict[Key, Expr]:
        """Number of components at work for each of the energy terms that grow while the cap makes them wait."""
        numbers = {Key("idle", self.power_tree.central.component.name): sockets}
        numbers |= {Key("idle", place.component.name): sockets for place in self.occupancy.beside}
        if self._uncore is not None:
            numbers[self._uncore] = graph.mul(sockets, self._least)
        return numbers

    def _work(self, cost: BlockCost) -> Totals:
        """The amounts that waiting does not change."""
        totals = add_totals([self._asked[item] for item in cost.requirements])
        if self._cores is not None:
            kinds = {offer.place.path: offer.place for item in cost.requirements for offer in item.beside}
            places = [self.power_tree.cores, *kinds.values()]
            there = graph.add(*(cost.instances.available(place) for place in places))
            cores = graph.apply("min", cost.instances.together, there)
            totals[self._cores] = graph.mul(cores, cost.time)
        if self._uncore is not None and self._saturation is not None:
            totals[self._uncore] = self._uncore_seconds(cost, self._saturation)
        return totals

    def _uncore_seconds(self, cost: BlockCost, saturation: Expr) -> Expr:
        """Socket-seconds in which traffic has the uncore consume what it does not always."""
        busy = [
            graph.div(self._memory_seconds(item, cost.instances), self.power_tree.in_one_socket(item.offer.place))
            for item in cost.requirements
            if item.offer is not None and item.offer.place.component.type == MEMORY
        ]
        sockets = self.occupancy.sockets_at_work(cost.instances)
        most = graph.mul(sockets, graph.sub(1, self._least), cost.time)
        return graph.apply("min", most, graph.div(sum_terms(busy), saturation))

    def _memory_seconds(self, item: RequirementCost, instances: Instances) -> Expr:
        """Memory-seconds at the memories' own rate, whatever traits say."""
        return graph.mul(item.together, self.power_tree.memory_seconds(item, instances))

    def _amounts_of_requirement(self, item: RequirementCost, instances: Instances) -> Totals:
        name, requirement = item.requirement.resource, item.requirement
        if name == "flops":
            key = self._flops(item)
            return {} if key is None else {key: graph.mul(instances.count, requirement.amount)}
        if name in MEMORY_RESOURCES and item.offer is not None:
            return add_totals(
                [self._amounts_of_memory(item, item.offer.place, instances), self._amounts_of_caches(item, instances)]
            )
        if name in self._ports and item.offer is not None:
            seconds = adapter_seconds(item, item.offer, instances.count, self.options.nic)
            return {self._ports[name]: seconds}
        if item.offer is not None and is_file_system(item.offer.place):
            return self._amounts_of_files(item, item.offer.place)
        return {}

    def _amounts_of_files(self, item: RequirementCost, place: Place) -> Totals:
        """Energy of a file server while it is busy; its idle power is shared by all its users and left out."""
        power = self.power_tree.power(place)
        if power.dynamic is None:
            return {}
        key = self._add(FILES, place, power.dynamic, power.dynamic_span)
        return {key: graph.mul(item.together, item.serial)}

    def _flops(self, item: RequirementCost) -> Key | None:
        """The term of the most particular class whose energy the socket states. Products that run on lanes take what is
        stated for products in their precision; `energy_per_flop_tensor` is that of units of their own."""
        requirement, on_units = item.requirement, True
        if item.offer is not None:
            component, resource = item.offer.place.component, item.offer.resource
            requirement = read_operation(requirement, graph.ONE, component, resource).requirement
            on_units = has_product_units(requirement, component, resource)
        traits = [trait.name for trait in requirement.traits]
        precision = [PRECISIONS[name] for name in traits if name in PRECISIONS] or ["sp"]
        classes = [f"{PRODUCT}_{precision[0]}", *([PRODUCT] if on_units else [])] if PRODUCT in traits else []
        socket = self.power_tree.central
        for each in (*classes, precision[0], ""):
            name = f"{FLOPS}_{each}" if each else FLOPS
            rate = self.power_tree.read_property(name, "energy")
            if rate is not None:
                cause = f"{each.replace('_', ' ')} flops" if each else "flops"
                return self._add(cause, socket, rate, socket.component.properties[name].span, unit="J/flop")
        return None

    def _amounts_of_memory(self, item: RequirementCost, place: Place, instances: Instances) -> Totals:
        """Joules of what memory sends and takes: by the byte where it or its socket says so, and what its own dynamic
        power is while it is busy."""
        totals: Totals = {}
        for stating in dict.fromkeys((place.path, self.power_tree.central.path)):
            holder = self.power_tree.places[stating]
            rate = self.power_tree.read_property(BYTES, "energy", holder)
            if rate is not None:
                span = holder.component.properties[BYTES].span
                totals[self._add("bytes", holder, rate, span, unit="J/B")] = graph.mul(
                    instances.count, self._bytes(item)
                )
        power = self.power_tree.power(place)
        if power.dynamic is not None:
            key = self._add("active", place, power.dynamic, power.dynamic_span)
            totals[key] = self._memory_seconds(item, instances)
        return totals

    def _bytes(self, item: RequirementCost) -> Expr:
        if item.traffic is None:
            return item.requirement.amount
        return graph.add(item.traffic.read_bytes, item.traffic.written_bytes)

    def _amounts_of_caches(self, item: RequirementCost, instances: Instances) -> Totals:
        """Joules of what goes through each cache that states them for a byte."""
        totals: Totals = {}
        for served in item.traffic.served if item.traffic is not None else ():
            place = served.level.place
            rate = self.power_tree.read_property(BYTES, "energy", place)
            if rate is not None:
                key = self._add("bytes", place, rate, place.component.properties[BYTES].span, unit="J/B")
                totals[key] = graph.mul(instances.count, graph.add(served.sent, served.taken))
        return totals


def states_responding_power(component: Component) -> bool:
    """Whether a socket states the model."""
    return IDLE in component.properties
