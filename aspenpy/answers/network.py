"""Network: how a machine's nodes are joined, in numbers: figures of the topology, times of messages and collectives."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

from aspenpy.allowance import one_allowance
from aspenpy.answers.peaks import redefine_parameters
from aspenpy.answers.scope import Setting
from aspenpy.cost.interconnect import interconnect_of, topology_in_numbers
from aspenpy.cost.messages import exchange_of
from aspenpy.cost.network.collectives import COLLECTIVES
from aspenpy.cost.network.topology import Topology
from aspenpy.cost.paths import Paths, all_paths, paths_of
from aspenpy.cost.placement_options import MACHINES_OWN
from aspenpy.cost.prices import Offer
from aspenpy.cost.ranks import place_ranks
from aspenpy.cost.target import choose_socket
from aspenpy.cost.value_mistakes import locate_failures
from aspenpy.expr import graph
from aspenpy.expr.evaluate import evaluate_many
from aspenpy.expr.graph import Expr
from aspenpy.language.diagnostics import fail, require_known
from aspenpy.models.application import flow
from aspenpy.models.machine.model import Machine, Place
from aspenpy.record import Record
from aspenpy.tables.result import Result

SIZES = tuple(10**power for power in range(8))  # bytes, from 1 B to 10 MB


class Message(Record):
    """A message of `size` bytes on an idle network: seconds to an average node and to the farthest."""

    size: float
    time: float
    farthest: float

    @property
    def rate(self) -> float:
        return self.size / self.time


class Collective(Record):
    """One collective of so many bytes: seconds, the algorithm that is the fastest, and why that is a lower bound."""

    name: str
    size: float
    time: float
    algorithm: str | None
    lower_bound: str | None


@one_allowance
def network(machine: Machine, set: Mapping[str, Setting] | None = None, socket: str | None = None) -> Network:
    """The network of a machine, `set` changing parameters of it.

    `machine` is the machine; `set` gives its parameters other values; `socket` is the kind of socket on which ranks of
    collectives are, where the machine has several.

    :returns: topology, latencies in seconds, bandwidths in B/s, and times of collectives
    :raises AspenError: where the machine has no network, and for a parameter that it does not have
    """
    return Network(machine, set, socket)


class Network(Result):
    """The network of a machine, `set` changing parameters of it; ranks are on a kind of `socket`. Raises AspenError
    where it has none."""

    def __init__(self, machine: Machine, set: Mapping[str, Setting] | None = None, socket: str | None = None) -> None:
        self.machine = machine
        self.socket = socket if socket is None else choose_socket(machine, socket)
        self._definitions = redefine_parameters(machine, set or {})
        place = network_place(machine)
        self._paths = _paths_of_socket(machine, place, self.socket)
        by_level = self._paths.by_level
        self._interconnect = all_paths(self._paths)[-1].network if by_level else interconnect_of(machine, place)
        self.topology: Topology = topology_in_numbers(machine, self._interconnect, self._definitions)

    @property
    def name(self) -> str:
        """The component that is the network."""
        return self._interconnect.component.name

    @cached_property
    def nodes(self) -> int:
        """Number of nodes of the machine; the topology may have places for more."""
        return int(self._values([self._interconnect.nodes])[0])

    @cached_property
    def parts(self) -> dict[str, float]:
        """`latency`, `hop_latency` and `gap` in seconds, `injection` and `link` in bytes a second."""
        names = ("latency", "hop_latency", "gap", "injection", "link")
        values = self._values([getattr(self._interconnect, name) for name in names])
        return {name: float(value) for name, value in zip(names, values, strict=True)}

    @property
    def bisection_bandwidth(self) -> float:
        """Bytes a second from one half to the other."""
        return float(self.topology.figures()["bisection"]) * self.parts["link"]

    def messages(self, sizes: Iterable[float] = SIZES) -> list[Message]:
        """Messages from one node to another that has nothing else to do: longer ones ask before, shorter are copied."""
        made, parts, net = self.topology.figures(), self.parts, self._interconnect
        byte = 1 / min(parts["injection"], parts["link"])
        limit, asking, copying = self._values([net.threshold or graph.ZERO, net.handshake, net.eager])
        hop, start = parts["hop_latency"], parts["latency"]
        near, far = (
            start + hop * float(made[name] + made["terminal_hops"]) for name in ("average_distance", "diameter")
        )
        sizes = tuple(sizes)
        if net.threshold is None:
            times = [size * byte for size in sizes]
        else:
            times = [size * byte + asking if size > limit else size * max(byte, copying) for size in sizes]
        return [Message(size, near + time, far + time) for size, time in zip(sizes, times, strict=True)]

    def collective(self, name: str, ranks: int, size: float) -> Collective:
        """A collective among so many ranks; sizes are those of docs/networks.md. Raises AspenError, as where several
        kinds of sockets leave open which links inside of a node join the ranks."""
        choose_socket(self.machine, self.socket)
        require_known(name, COLLECTIVES, "unknown-collective", f"unknown collective `{name}`")
        amount, count = graph.number(size), graph.number(ranks)
        requirement = flow.Requirement(
            "messages", amount, None, amount, direction=None, target=None, traits=(), span=None
        )
        place = self._interconnect.place
        offer = Offer(place.component.resources["messages"], place)
        network = self._interconnect.replace(topology=self.topology)
        exchange = exchange_of(flow.Trait(name), requirement, count, offer, self._paths, network)
        (time,) = self._values([exchange.time])
        known = exchange.fastest(self._value), exchange.lower_bound(self._value)
        return Collective(name, size, float(time), *known)

    def _value(self, expr: Expr) -> Any:
        return self._values([expr])[0]

    def _values(self, exprs: list[Expr]) -> list[Any]:
        with locate_failures(self.machine.origins):
            return evaluate_many(exprs, None, 0, self._definitions)


def network_place(machine: Machine) -> Place:
    """The component that is a machine's network: the outermost that says its topology, the first of several."""
    places = [place for place in machine.first_places() if "topology" in place.component.properties]
    if places:
        return min(places, key=lambda place: len(place.path))
    hint = "an interconnect is one that has a `property topology [torus]` and what goes with it"
    fail("no-network", f"machine `{machine.name}` declares no network topology", machine.root.name_span, hint=hint)


def _paths_of_socket(machine: Machine, network: Place, socket: str | None) -> Paths:
    """The paths between ranks on a kind of socket, on the only one if none is named; else the network alone."""
    if socket is None and len(machine.sockets) > 1:
        return Paths(machine)
    socket = socket or next(iter(machine.sockets), None)
    found = paths_of(machine, socket, place_ranks(machine, socket, MACHINES_OWN))
    return found if found.serves(network) else Paths(machine)


def has_network(machine: Machine) -> bool:
    return any("topology" in place.component.properties for place in machine.first_places())
