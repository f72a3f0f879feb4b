"""Occupancy: what of a machine a run occupies, and what is idle beside it."""

from __future__ import annotations

from functools import cached_property

from aspenpy.answers.energy.options import EnergyOptions
from aspenpy.answers.energy.power import MEMORY, PowerTree
from aspenpy.answers.energy.term import Key
from aspenpy.cost.cost import CostTree
from aspenpy.cost.prices import longest
from aspenpy.cost.ranks import Instances, ratio
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.language.source import Span
from aspenpy.models.machine.model import Place
from aspenpy.record import Record

SLEEP = "sleep_power"


class Partner(Record):
    """A component that is there and has no work: the watts of one, and where they are stated."""

    place: Place
    watts: Expr
    span: Span | None


class Occupancy:
    """The sockets with work, the memories that serve them, and idle partners where those are charged."""

    def __init__(self, where: PowerTree, options: EnergyOptions, tree: CostTree) -> None:
        self.where = where
        self.charged = options.charged
        self._definitions = tree.definitions.keys()
        self._known: dict[tuple[str, ...], list[Expr]] = {}
        self._all = tuple({cost.instances.count: cost.instances for cost in tree.blocks.values()}.values())

    def working(self, instances: Instances) -> Expr:
        """The sockets that have work in a block, one at least."""
        return graph.ONE if self.where.socket is None else instances.count_used(self.where.socket)

    def held(self, instances: Instances, place: Place | None = None) -> Expr:
        """The sockets, or other components, that the run occupies while a block runs: those with work in any block,
        as far as what each asks for is known outside of its kernel."""
        place = place or self.where.socket
        if place is None:
            return graph.ONE
        if place.path not in self._known:
            others = [each.count_used(place) for each in self._all]
            self._known[place.path] = [used for used in others if graph.free_symbols(used) <= self._definitions]
        return longest([*dict.fromkeys([instances.count_used(place), *self._known[place.path]])])

    @cached_property
    def beside(self) -> list[Place]:
        """What else of a socket that works consumes idle power of its own: memories, in it or beside it."""
        serving = {offer.place.path for offer in self.where.offers.values()}
        return [
            place
            for place in self.where.places.values()
            if self.where.power(place).static is not None
            and place.path != self.where.central.path
            and (self.where.in_socket(place) or (place.component.type == MEMORY and place.path in serving))
        ]

    @cached_property
    def partners(self) -> list[Partner]:
        """What is idle: on the same nodes, or in the whole machine."""
        if self.charged not in ("nodes_used", "machine"):
            return []
        there = [
            place
            for place in self.where.machine.places()
            if self.charged == "machine" or any(parent.type == "node" for parent in place.parents)
        ]
        return [partner for partner in map(self._partner, there) if partner is not None]

    def _partner(self, place: Place) -> Partner | None:
        watts = self.where.stated(SLEEP, "power", place)
        if watts is not None:
            return Partner(place, watts, place.component.properties[SLEEP].span)
        power = self.where.power(place)
        return None if power.static is None else Partner(place, power.static, power.static_span)

    def idle(self, instances: Instances) -> dict[Key, Expr]:
        """How many of each partner are idle while a block runs."""
        numbers: dict[Key, Expr] = {}
        for item in self.partners:
            key = Key("idle partners", item.place.component.name)
            numbers[key] = graph.add(numbers.get(key, graph.ZERO), self._number(item.place, instances))
        return numbers

    def _number(self, place: Place, instances: Instances) -> Expr:
        """All there are, on the nodes or in the machine, less those at work."""
        there = place.count
        node = next((item for item in self.where.places.values() if item.component.type == "node"), None)
        if self.charged == "nodes_used" and node is not None:
            there = graph.mul(ratio(place.count, node.count), self.held(instances, node))
        working = place.path == self.where.central.path or any(place.path == item.path for item in self.beside)
        if not working:
            return there
        return graph.sub(there, graph.mul(self.where.in_one_socket(place), self.held(instances)))
