"""Power: the watts that the components of a machine declare, idle and on top of that at full load, and the tree of
those components: how many there are, and which of them consumes energy for which.

They are declared by `static power [..]` and `dynamic power [..]`, or by the properties `idle` and `tdp`, of which the
second is what full load draws in all (Umar, dissertation 2018, equation 3.6).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Literal, NoReturn

from aspenpy.answers.energy.options import NicMode
from aspenpy.cost.cost import CostTree
from aspenpy.cost.instances import FILE_SYSTEM, Instances
from aspenpy.cost.prices import Offer, RequirementCost
from aspenpy.cost.target import target_of
from aspenpy.expr import graph
from aspenpy.expr.derivative import differentiate
from aspenpy.expr.graph import Expr
from aspenpy.language import nodes
from aspenpy.language.diagnostics import Related, fail
from aspenpy.language.lower import Origins
from aspenpy.language.source import Span
from aspenpy.models.machine.model import Component, Machine, Place
from aspenpy.record import Record

Kind = Literal["static", "dynamic"]

HOW = "write `static power [10 W]` and `dynamic power [120 W]`, or the properties `idle` and `tdp`"


class Power(Record):
    """Watts of one component: `static` always, `dynamic` on top at full load. None where the machine does not say."""

    component: Component
    static: Expr | None
    dynamic: Expr | None
    static_span: Span | None
    dynamic_span: Span | None

    @property
    def declared(self) -> bool:
        return self.static is not None or self.dynamic is not None


def power_of(machine: Machine, component: Component, origins: Origins) -> Power:
    """The power of a component. Raises AspenError where it is declared twice, or its `tdp` without idle power."""
    node = next(node for node in reversed(machine.node.components) if node.name == component.name)
    spans: dict[str, Span | None] = {item.kind: item.span for item in node.items if isinstance(item, nodes.PowerDraw)}
    watts: dict[str, Expr] = dict(component.power)
    for kind, name in (("static", "idle"), ("dynamic", "tdp")):
        declared = component.properties.get(name)
        if declared is None or declared.value is None:
            continue
        if kind in watts:
            message = f"{component.type} `{component.name}` declares its {kind} power and its `{name}`"
            related = (Related(spans[kind], f"the {kind} power is here"),)
            fail("power-twice", message, declared.span, related=related, hint="keep one of them")
        watts[kind], spans[kind] = declared.symbol, declared.span
    return Power(
        component,
        _check_watts("power", watts.get("static"), spans.get("static"), origins),
        _check_watts("design_power", _dynamic_watts(component, watts), spans.get("dynamic"), origins),
        spans.get("static"),
        spans.get("dynamic"),
    )


def _dynamic_watts(component: Component, watts: dict[str, Expr]) -> Expr | None:
    """A `tdp` holds the idle power as well (equation 3.6)."""
    full = watts.get("dynamic")
    if full is None or "dynamic" in component.power:
        return full
    if "static" not in watts:
        declared = f"{component.type} `{component.name}` declares its `tdp` and no idle power"
        message = f"{declared}, so the power that load adds is unknown"
        fail("no-power", message, component.properties["tdp"].span, hint="write `property idle [10 W]`")
    return graph.sub(full, watts["static"])


def _check_watts(law: str, watts: Expr | None, span: Span | None, origins: Origins) -> Expr | None:
    """The watts, refused where they are negative."""
    if watts is None:
        return None
    checked = graph.checked(law, watts)
    if span is not None:
        origins[checked] = span
    return checked


MEMORY, LINK, INTERCONNECT = "memory", "link", "interconnect"  # types of components whose power the law tells apart
OWN_ALONE = (LINK, INTERCONNECT, FILE_SYSTEM)  # whose work draws on nothing around them


class PowerTree:
    """A machine as its energy model sees it; `origins` learns where the watts are written."""

    def __init__(self, machine: Machine, socket: str | None, origins: Origins) -> None:
        self.machine = machine
        self.origins = origins
        self.powers = {name: power_of(machine, item, origins) for name, item in machine.components.items()}
        self.offers = dict(target_of(machine, socket).offers)
        self.places = {place.path: place for place in machine.first_places(socket)}
        self.socket = next((item for item in self.places.values() if item.component.name == socket), None)

    def power(self, place: Place) -> Power:
        return self.powers[place.component.name]

    def in_socket(self, place: Place) -> bool:
        """Whether it is the socket or a part of it. A machine without sockets is one itself, but for its network."""
        if self.socket is None:
            return place.component.type != INTERCONNECT
        return place.path[: len(self.socket.path)] == self.socket.path

    def in_one_socket(self, place: Place) -> Expr:
        """Number of this component in one socket; 1 for what stands beside the sockets."""
        if not self.in_socket(place):
            return graph.ONE
        return place.count if self.socket is None else graph.div(place.count, self.socket.count)

    @cached_property
    def cores(self) -> Place:
        """The component that serves flops; raises AspenError where none does."""
        offer = self.offers.get("flops")
        if offer is None:
            self._refuse("no core: nothing on it offers `flops`")
        return offer.place

    def find_consumer(self, offer: Offer) -> Place | None:
        """The component whose power at load goes into serving a resource: itself, or the nearest around it that
        declares what load adds, within the socket if it is in one. A memory without power of its own draws from its
        socket, as those on the boards of accelerators do. A link, an interconnect inside a node, or a file system
        draws no more than what it declares."""
        place = offer.place
        half = self.power(place)
        if place.component.type == MEMORY and half.declared and (half.static is None or half.dynamic is None):
            self.refuse_missing(place.component, "dynamic" if half.dynamic is None else "static", offer)
        found = self._nearest(offer)
        in_a_node = place.component.type == INTERCONNECT and len(place.parents) > 1
        if found is None and place.component.type not in (LINK, FILE_SYSTEM) and not in_a_node:
            culprit = place if self.socket is None or not self.in_socket(place) else self.socket
            self.refuse_missing(culprit.component, "dynamic", offer)
        return found

    def _nearest(self, offer: Offer) -> Place | None:
        place = offer.place
        around = [place] if place.component.type in OWN_ALONE else list(self._upwards(place))
        return next((item for item in around if self.power(item).dynamic is not None), None)

    @cached_property
    def never_drawn(self) -> list[Place]:
        """Components that declare what load adds, where no load can be: whatever is served, others are nearer."""
        drawing = {found.path for offer in self.offers.values() if (found := self._nearest(offer)) is not None}
        return [
            item for item in self.places.values() if self.power(item).dynamic is not None and item.path not in drawing
        ]

    @property
    def central(self) -> Place:
        """The component that states properties of power: the socket, or the machine if it has none."""
        return self.socket or self.places[(self.machine.root.name,)]

    def feeds(self, path: tuple[str, ...]) -> bool:
        """Whether the power of a component comes through its socket, whose cap then holds for it: that of all in it but
        memory with power of its own, as DRAM has."""
        central = self.central
        place = self.places.get(path)
        own = path != central.path and place is not None and place.component.type == MEMORY
        return path[: len(central.path)] == central.path and not (own and self.powers[path[-1]].declared)

    def read_property(self, name: str, law: str, place: Place | None = None) -> Expr | None:
        """A property that the socket or another component may state, refused where it breaks the law."""
        declared = (place or self.central).component.properties.get(name)
        if declared is None or declared.value is None:
            return None
        value = graph.checked(law, declared.symbol)
        if declared.span is not None:
            self.origins[value] = declared.span
        return value

    def require_declared_property(self, name: str, law: str = "power") -> tuple[Place, Expr]:
        """A property that the socket, or the machine if it has none, has to declare, refused where it breaks the law;
        with the component that declares it."""
        place = self.central
        declared = place.component.properties.get(name)
        if declared is None or declared.value is None:
            message = f"{place.component.type} `{place.component.name}` declares no `{name}`"
            hint = f"write `property {name} [..]` in it, with its unit"
            fail("no-power", message, place.component.name_span, hint=hint)
        value = self.read_property(name, law)
        assert value is not None, name
        return place, value

    def memory_seconds(self, item: RequirementCost, instances: Instances) -> Expr:
        """Seconds for which a requirement of one instance keeps its memory busy at the memory's own rate, whatever its
        traits. Behind caches, these are the seconds of what they fetch and write back."""
        if item.traffic is None:
            return item.base
        parts = (("loads", item.traffic.read_bytes), ("stores", item.traffic.written_bytes))
        memory = f"{item.offer.place.component.name}." if item.offer is not None and item.offer.alias else ""
        served = [
            (self.offers[memory + name].resource, amount) for name, amount in parts if memory + name in self.offers
        ]
        return graph.add(
            *(graph.substitute([by.time], {by.argument: instances.share(amount)})[0] for by, amount in served)
        )

    def _upwards(self, place: Place) -> Iterator[Place]:
        """The component, and those around it as far as its socket."""
        for length in range(len(place.path), 0, -1):
            around = self.places[place.path[:length]]
            yield around
            if self.socket is not None and around.path == self.socket.path:
                return

    def refuse_missing(self, component: Component, kind: str, offer: Offer | None = None) -> NoReturn:
        """Says whose power is missing, and for what."""
        message = f"{component.type} `{component.name}` declares no {kind} power, so the energy is unknown"
        related: tuple[Related, ...] = ()
        if offer is not None and offer.resource.name_span is not None:
            server = offer.place.component
            text = f"which `{server.name}` needs to serve `{offer.resource.name}`"
            related = (Related(offer.resource.name_span, text),)
        fail("no-power", message, component.name_span, related=related, hint=HOW)

    def _refuse(self, what: str) -> NoReturn:
        fail("no-power", f"machine `{self.machine.name}` has {what}", self.machine.root.name_span)


def adapter_seconds(cost: RequirementCost, offer: Offer, parallelism: Expr, mode: NicMode) -> Expr:
    """Seconds of one adapter's dynamic power that are charged for the messages of all instances of a block."""
    if mode == "single_nic":
        return cost.time
    if mode == "all_nics":
        return graph.mul(cost.time, offer.place.count)
    volume = graph.mul(parallelism, cost.requirement.amount)
    return graph.mul(volume, _seconds_a_byte(offer))


def adapters(
    power_tree: PowerTree, tree: CostTree, *, within_cap: bool = False
) -> dict[str, tuple[Place, Expr, Span | None]]:
    """The adapters that consume power for the messages of a run, by the resource that they serve: the component, its
    watts, and where they are stated. With `within_cap` those alone whose power the cap of a socket limits."""
    asked = {need.resource for block in tree.blocks for need in block.requirements}
    found: dict[str, tuple[Place, Expr, Span | None]] = {}
    for name, offer in power_tree.offers.items():
        limited = not within_cap or power_tree.feeds(offer.place.path)
        if name in asked and limited and offer.place.component.type == INTERCONNECT:
            place = power_tree.find_consumer(offer)
            power = power_tree.power(place) if place is not None else None
            if place is not None and power is not None and power.dynamic is not None:
                found[name] = (place, power.dynamic, power.dynamic_span)
    return found


def _seconds_a_byte(offer: Offer) -> Expr:
    """One over the bandwidth that the interconnect declares, else over that of its time, if it is a straight line."""
    component = offer.place.component
    bandwidth = component.value("bandwidth")
    if bandwidth is not None:
        return graph.div(graph.ONE, bandwidth)
    slope = differentiate(offer.resource.time, offer.resource.argument)
    if slope is graph.ZERO or offer.resource.argument in graph.free_symbols(slope):
        message = f"{component.type} `{component.name}` declares no bandwidth, and equation 3.8 divides by it"
        hint = "write `property bandwidth [4 GB/s]`, or charge the time by `single_nic` or `all_nics`"
        fail("no-bandwidth", message, offer.resource.name_span, hint=hint)
    return slope
