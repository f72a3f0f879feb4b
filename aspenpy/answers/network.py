"""Network: how a machine's nodes are joined, in numbers: figures of the topology, times of messages and collectives."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any, Unpack

from aspenpy.allowance import one_allowance
from aspenpy.answers.case import PlacementKeywords, change_placement
from aspenpy.answers.peaks import redefine_parameters
from aspenpy.answers.run_placement import RunPlacement, count_placed
from aspenpy.answers.scope import Setting
from aspenpy.cost.interconnect import interconnect_of, topology_in_numbers
from aspenpy.cost.messages import exchange_of
from aspenpy.cost.network.collectives import COLLECTIVES
from aspenpy.cost.network.topology import Topology
from aspenpy.cost.path_levels import Path, network_of_run
from aspenpy.cost.paths import Paths, paths_of
from aspenpy.cost.placement_options import MACHINES_OWN, PlacementOptions
from aspenpy.cost.prices import Offer
from aspenpy.cost.rank_units import domain_parameter
from aspenpy.cost.ranks import fail_unbound, place_ranks
from aspenpy.cost.target import choose_socket
from aspenpy.cost.value_mistakes import BoundMistake, describe_bound_mistake, locate_failures
from aspenpy.expr import graph
from aspenpy.expr.evaluate import evaluate_many
from aspenpy.expr.graph import Expr
from aspenpy.language.diagnostics import AspenError, fail, require_known
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
    """One collective of `size` bytes: seconds, the algorithm that is the fastest, and why that is a lower bound."""

    name: str
    size: float
    time: float
    algorithm: str | None
    lower_bound: str | None


@one_allowance
def network(
    machine: Machine,
    set: Mapping[str, Setting] | None = None,
    socket: str | None = None,
    **places: Unpack[PlacementKeywords],
) -> Network:
    """The network of a machine, `set` changing parameters of it.

    `machine` is the machine; `set` gives its parameters other values; `socket` is the kind of socket on which ranks of
    collectives are, where the machine has several. Ranks run where the machine says, unless `places` say else, as
    those of a `Case` do: `network(machine, ranks_per_node=4)`.

    :returns: topology, latencies in seconds, bandwidths in B/s, and times of collectives
    :raises AspenError: where the machine has no network, and for a parameter that it does not have
    """
    return Network(machine, set, socket, change_placement(MACHINES_OWN, places))


class Network(Result):
    """The network of a machine, `set` changing parameters of it; ranks are on a kind of `socket`, as a `placement`
    says. Raises AspenError where it has none."""

    def __init__(
        self,
        machine: Machine,
        set: Mapping[str, Setting] | None = None,
        socket: str | None = None,
        placement: PlacementOptions = MACHINES_OWN,
    ) -> None:
        self.machine = machine
        asked = socket is not None or placement != MACHINES_OWN
        self.socket = choose_socket(machine, socket) if asked else None
        settings = dict(set or {})
        if placement.domains is not None:
            settings[domain_parameter(machine, self.socket)] = placement.domains
        self._definitions = redefine_parameters(machine, settings)
        self._place = network_place(machine)
        self._paths = _paths_of_socket(machine, self._place, self.socket, placement)
        stated = interconnect_of(machine, self._place)
        self.topology: Topology = topology_in_numbers(machine, stated, self._definitions)
        self._interconnect = stated.replace(topology=self.topology)

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
        """Bisection bandwidth: bytes per second between the two halves of the network."""
        return float(self.topology.figures()["bisection"]) * self.parts["link"]

    def placement(self, ranks: int) -> RunPlacement | None:
        """The placement of `ranks` ranks; None where nobody says what each occupies. Raises AspenError for more ranks
        than places."""
        placed, count = self._paths.ranks, graph.number(ranks)
        if placed is None:
            return None
        self._values([placed.require_places(count, count, self.machine, span=None)])
        return count_placed(placed, count, [*self.machine.first_places(self._paths.socket)], self._values)

    def messages(self, sizes: Iterable[float] = SIZES, ranks: int | None = None) -> list[Message]:
        """Messages between two otherwise idle nodes of the machine, or of the part that holds `ranks` ranks."""
        placed, sizes = self._paths.ranks, tuple(sizes)
        count = graph.ONE if ranks is None and placed is not None and placed.asked_nodes is not None else ranks
        part = network_of_run(self._interconnect, placed, None if count is None else graph.to_expr(count))
        path = Path(part, next(iter(self.machine.first_places())), part.nodes, inner=False)
        made = part.topology
        times = [
            self._values([path.message(graph.number(size), distance) for size in sizes])
            for distance in (made.average_distance, made.diameter)
        ]
        return [Message(size, float(near), float(far)) for size, near, far in zip(sizes, *times, strict=True)]

    def collective(self, name: str, ranks: int, size: float) -> Collective:
        """A collective among `ranks` ranks; sizes are those of docs/networks.md. Raises AspenError, as where several
        kinds of sockets leave open which links inside of a node join the ranks."""
        choose_socket(self.machine, self.socket)  # for its error alone
        require_known(name, COLLECTIVES, "unknown-collective", f"unknown collective `{name}`")
        amount, count = graph.number(size), graph.number(ranks)
        requirement = flow.Requirement(
            "messages", amount, None, amount, direction=None, target=None, traits=(), span=None
        )
        offer = Offer(self._place.component.resources["messages"], self._place)
        exchange = exchange_of(flow.Trait(name), requirement, count, offer, self._paths, self._interconnect)
        (time,) = self._values([exchange.time])
        known = exchange.fastest(self._value), exchange.lower_bound(self._value)
        return Collective(name, size, float(time), *known)

    def _value(self, expr: Expr) -> Any:
        return self._values([expr])[0]

    def _values(self, exprs: list[Expr]) -> list[Any]:
        try:
            with locate_failures(self.machine.origins):
                return evaluate_many(exprs, None, 0, self._definitions)
        except AspenError as error:
            if not isinstance(mistake := error.diagnostics[0], BoundMistake):
                raise
            raise AspenError(describe_bound_mistake(mistake, self._definitions, {}, seed=0)) from None


def network_place(machine: Machine) -> Place:
    """The component that is a machine's network: the outermost that says its topology, the first of several."""
    places = [place for place in machine.first_places() if "topology" in place.component.properties]
    if places:
        return min(places, key=lambda place: len(place.path))
    hint = "an interconnect is one that has a `property topology [torus]` and what goes with it"
    fail("no-network", f"machine `{machine.name}` declares no network topology", machine.root.name_span, hint=hint)


def _paths_of_socket(machine: Machine, network: Place, socket: str | None, placement: PlacementOptions) -> Paths:
    """The paths between ranks on a kind of socket, on the only one if none is named; else the network alone."""
    if socket is None and len(machine.sockets) > 1:
        return Paths(machine)
    socket = socket or next(iter(machine.sockets), None)
    ranks = place_ranks(machine, socket, placement)
    if ranks is None and placement.nodes is not None:
        fail_unbound(machine)
    paths = paths_of(machine, socket, ranks)
    return paths if paths.end_in(network) else Paths(machine)


def has_network(machine: Machine) -> bool:
    return any("topology" in place.component.properties for place in machine.first_places())
