"""Ranks: where those of a run live on a machine.

Where ranks run counts where a model speaks of them: in blocks that say how far each rank can share its work out,
`execute [ranks] of [width]`, in what ranks send each other, and in all blocks with as many instances as those.

A machine or a user says what a rank occupies (`cost/rank_units.py`) and how ranks are dealt out
(`cost/placement_options.py`). Counts follow in closed form, whatever the number of ranks: nodes, the sockets of a node
and the NUMA domains of a socket are filled one after the other, or ranks are dealt out to them evenly.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from aspenpy.cost.kinds_of_cores import all_cores, working_kinds
from aspenpy.cost.placement_options import (
    COMPACT,
    MACHINES_OWN,
    Distribution,
    PlacementOptions,
    Rule,
    Threads,
    add_stated_distribution,
    distribution_of,
    require_count,
    require_schedule,
    require_threads,
)
from aspenpy.cost.rank_units import (
    count_host_cores,
    describe_component,
    find_bound_places,
    find_hardware_threads,
    is_on_device,
    suggest_more_places,
)
from aspenpy.cost.value_mistakes import BoundMistake, require_whole
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.language.diagnostics import fail
from aspenpy.language.source import Span
from aspenpy.models.machine.model import Machine, Place
from aspenpy.record import Record

Group = tuple[Expr, Expr]
"""A number of containers, such as nodes, and the ranks on each of them."""


class RankPlacement(Record):
    """The placement of a run's ranks. Each is bound to a `unit`, of which it occupies `units`, or which `sharers` ranks
    share. `capacity` is how many ranks a `node` takes, `of_socket` how many a `socket` takes where that is said;
    `per_node` and `per_socket` are the option or property that says it. `nodes` are those of the machine, `asked_nodes`
    those of the run where a user says so. Ranks that go to several `kinds` of cores fill them in this order; the unit
    then counts them all. A rank with cores of its own runs `threads_of_core` hardware threads on each.
    `hardware_threads` are those that a core has, where several are to work; `host_cores` those of the host that a rank
    on a device has, where a user says so."""

    unit: Place
    nodes: Expr
    capacity: Expr
    distribution: Distribution = COMPACT
    node: Place | None = None
    socket: Place | None = None
    units: int = 1
    sharers: int = 1
    of_socket: Expr | None = None
    asked_nodes: Expr | None = None
    threads: Threads = "spread"
    per_node: str = ""
    per_socket: str = ""
    kinds: tuple[Place, ...] = ()
    threads_of_core: int = 1
    hardware_threads: Expr | None = None
    host_cores: int | None = None

    @property
    def places(self) -> Expr:
        """The ranks that the machine takes, or the nodes of the run."""
        if self.is_full and self.asked_nodes is None:
            return _scale(self.unit.count, self.sharers, self.units)
        return graph.mul(self.capacity, self.asked_nodes or self.nodes)

    @property
    def is_full(self) -> bool:
        """Whether a node takes as many ranks as its hardware has places for."""
        return self.capacity is _scale(ratio_of_counts(self.unit.count, self.nodes), self.sharers, self.units)

    @property
    def is_compact(self) -> bool:
        """Whether ranks fill one component before they use the next."""
        return self.distribution.replace(reorder=False) == COMPACT

    @property
    def is_dense(self) -> bool:
        """Whether ranks fill all that they are in, one component after the other."""
        return self.is_full and self.is_compact

    def places_of_rank(self, place: Place) -> Expr:
        """Number of a component's instances that each rank has; less than 1 where ranks share it."""
        return self.of_rank(self._count(place))

    def of_rank(self, count: Expr) -> Expr:
        """The share of each rank in `count` components of the machine."""
        return _scale(ratio_of_counts(count, self.unit.count), self.units, self.sharers)

    def ranks_per_component(self, place: Place) -> Expr:
        """The ranks that one component of a place takes; less than 1 where a rank has several. Ranks of several cores
        do not straddle sockets, but NUMA domains."""
        if self.node is not None and place.path == self.node.path:
            return self.capacity
        if self.of_socket is not None and self.socket is not None and place.path == self.socket.path:
            return self.of_socket
        places = _scale(ratio_of_counts(self.unit.count, self._count(place)), self.sharers, self.units)
        inside = self.socket is not None and _is_in(place, self.socket) and place.path != self.socket.path
        return places if inside else _whole_ranks(places, self.units)

    def hardware_places(self, containers: Expr) -> Expr:
        """The number of ranks for which one of `containers` containers has hardware, such as cores."""
        return _whole_ranks(_scale(ratio_of_counts(self.unit.count, containers), self.sharers, self.units), self.units)

    def run_nodes(self, ranks: Expr) -> Expr:
        """The number of nodes that a run of `ranks` ranks gets, idle nodes included."""
        if self.asked_nodes is not None:
            return self.asked_nodes
        if self.distribution.nodes == "scatter" and not self.per_node:
            return self.nodes  # ranks spread over all there is, unless somebody says how many a node gets
        return graph.apply("max", 1, graph.apply("ceil", graph.div(ranks, self.capacity)))

    def nodes_used(self, ranks: Expr) -> Expr:
        """The number of nodes with at least one rank."""
        if self.distribution.nodes == "compact":
            return graph.apply("ceil", graph.div(ranks, self.capacity))
        return graph.apply("min", ranks, self.run_nodes(ranks))

    def on_a_node(self, ranks: Expr) -> Expr:
        """The ranks on the fullest of the nodes."""
        if self.distribution.nodes == "compact":
            return graph.apply("min", ranks, self.capacity)
        return self._node_groups(ranks)[0][1]

    def fullest(self, place: Place, ranks: Expr) -> Expr:
        """The ranks on the fullest component of a place that takes several."""
        if self.node is not None and not _is_in(place, self.node):
            if self.distribution.nodes == "compact":
                return graph.apply("min", ranks, self.ranks_per_component(place))
            of_a_node = graph.div(
                self.on_a_node(ranks), ratio_of_counts(place.count, self.nodes)
            )  # ports, such as one for each
            return graph.apply("min", ranks, graph.apply("ceil", of_a_node))
        near = most = ranks
        if self.node is not None and not self.is_dense:
            near = most = self.on_a_node(ranks)
        for container, rule in self._chain(place):
            if rule == "cyclic":
                most = near = graph.apply("ceil", graph.div(most, self._number(container)))
            else:
                most = graph.apply("min", near, self.ranks_per_component(container))
                if self.of_socket is not None or self.units > 1:  # else what is inside takes no more, and clips it too
                    near = most
        return most

    def components_used(self, place: Place, ranks: Expr) -> Expr:
        """Number of a place's components that have any rank."""
        if self.node is not None and not _is_in(place, self.node) and not self.is_dense:
            return graph.mul(self.nodes_used(ranks), ratio_of_counts(place.count, self.nodes))
        if self.is_dense:
            return graph.apply("ceil", graph.div(ranks, self.ranks_per_component(place)))
        if self.node is not None and place.path == self.node.path:
            return self.nodes_used(ranks)
        chain = self._chain(place)
        groups = self._node_groups(ranks) if self.node is not None else [(graph.ONE, ranks)]
        used = graph.add(*(graph.mul(count, self._used_by(on_one, chain)) for count, on_one in groups))
        if self.units == 1 or self.socket is None:
            return used
        # A rank over several sockets leaves none of its components to others: their number follows from the ranks' own.
        of_rank = self.places_of_rank(place)
        wide = graph.add(
            *(graph.mul(count, graph.apply("ceil", graph.mul(on_one, of_rank))) for count, on_one in groups)
        )
        return graph.if_else(graph.compare(">", self.places_of_rank(self.socket), 1), wide, used)

    def _count(self, place: Place) -> Expr:
        """Number of components at a place. Where ranks go to several kinds of cores, all of these and their caches
        count: components as many as the first kind of cores, unless it is the only one in its socket."""
        if not self.kinds:
            return place.count
        first = self.kinds[0]
        own = self.socket is None or first.count is not self.socket.count
        is_private = place.component.type == "cache" and own and place.count is first.count
        return self.unit.count if is_private or place.path == first.path else place.count

    def require_places(self, value: Expr, ranks: Expr, machine: Machine, span: Span | None) -> Expr:
        """The value where the machine has places for `ranks` ranks; otherwise a failure at the `span`."""
        each, more = f"each occupies {describe_component(self.unit, self.units)}", suggest_more_places(self.unit)
        if not self.is_full:
            each, more = f"`{self.per_node}` sets the number on a node", "put more on a node with `--ranks-per-node`"
            if self.host_cores is not None:
                more = "give each fewer cores of the host with `--cores-per-rank`"
        if self.of_socket is not None:
            each, more = f"`{self.per_socket}` sets the number on a socket", "put more on a socket"
        if self.asked_nodes is not None:
            each, more = "`--nodes` sets the number of nodes", "take more nodes with `--nodes`"
        mistake = BoundMistake(
            code="too-many-ranks",
            message=f"more ranks than `{machine.name}` has places for: {each}",
            span=span,
            hint=more,
            value=ranks,
            bound=self.places,
            numbers=f"{{}} ranks, and `{machine.name}` has places for {{}}: {each}",
        )
        placed = graph.if_else(graph.compare("<=", ranks, self.places), value, graph.failure(mistake))
        return placed if self.hardware_threads is None else self._on_threads(placed, self.hardware_threads)

    def _on_threads(self, value: Expr, stated: Expr) -> Expr:
        """The value where cores have as many hardware threads as are to work."""
        core = self.unit.component
        asked = graph.number(self.threads_of_core if self.threads_of_core > 1 else self.sharers)
        mistake = BoundMistake(
            code="no-hardware-threads",
            message="more threads on a core than it has",
            span=core.name_span,
            hint="ask for fewer with `--threads-per-core`",
            value=asked,
            bound=stated,
            numbers="{} threads on a core, and it has {}",
        )
        return graph.if_else(graph.compare("<=", asked, stated), value, graph.failure(mistake))

    def _chain(self, place: Place) -> list[tuple[Place, Rule]]:
        """The places on the way from a node to a place in it, and how ranks are dealt out there."""
        if self.socket is None or not _is_in(place, self.socket):
            return [(place, self.distribution.sockets)]
        if place.path == self.socket.path:
            return [(self.socket, self.distribution.sockets)]
        return [(self.socket, self.distribution.sockets), (place, self.distribution.domains)]

    def _number(self, container: Place) -> Expr:
        """Number of components of a link of the chain in each one of the link before."""
        around = self.nodes
        if self.socket is not None and _is_in(container, self.socket) and container.path != self.socket.path:
            around = self.socket.count
        return ratio_of_counts(self._count(container), around)

    def _node_groups(self, ranks: Expr) -> list[Group]:
        """Numbers of nodes, and of the ranks on each of them; the first has most."""
        if self.distribution.nodes == "compact":
            return _fill(ranks, self.capacity)
        return _deal_evenly(ranks, self.run_nodes(ranks))

    def _used_by(self, ranks: Expr, chain: Sequence[tuple[Place, Rule]]) -> Expr:
        """Components at the end of a chain that `ranks` ranks of the component before it use."""
        (container, rule), *inner = chain
        takes, number = self.ranks_per_component(container), self._number(container)
        if not inner:
            alone = graph.apply("min", takes, 1) if rule == "cyclic" else takes
            return graph.apply("min", graph.apply("ceil", graph.div(ranks, alone)), number)
        groups = _fill(ranks, takes) if rule == "block" else _deal_evenly(ranks, number)
        return graph.add(*(graph.mul(count, self._used_by(on_one, inner)) for count, on_one in groups))


def _fill(ranks: Expr, takes: Expr) -> list[Group]:
    """Containers that are filled one after the other: those that are full, and one with the rest."""
    full = graph.apply("floor", graph.div(ranks, takes))
    return [(full, takes), (graph.ONE, graph.sub(ranks, graph.mul(full, takes)))]


def _deal_evenly(ranks: Expr, number: Expr) -> list[Group]:
    """Containers to which ranks are dealt out one by one: those with one more than the others, and the others."""
    each = graph.apply("floor", graph.div(ranks, number))
    more = graph.sub(ranks, graph.mul(each, number))
    return [(more, graph.apply("ceil", graph.div(ranks, number))), (graph.sub(number, more), each)]


def ratio_of_counts(count: Expr, other: Expr) -> Expr:
    """The quotient of how often two components are there: products of quantities, of which both have those of what both
    are part of."""
    above, below = ([*each.args] if each.kind == "mul" else [each] for each in (count, other))
    for factor in [*below]:
        if factor in above:
            above.remove(factor)
            below.remove(factor)
    return graph.div(graph.mul(*above), graph.mul(*below))


def _scale(count: Expr, times: int, parts: int) -> Expr:
    if times == parts:
        return count
    return graph.div(graph.mul(count, times), parts)


def _whole_ranks(places: Expr, units: int) -> Expr:
    """Whole ranks, of `units` units each, on `places` places; less than 1 where a rank needs more than there are."""
    if units == 1:
        return places
    return graph.if_else(graph.compare(">=", places, 1), graph.apply("floor", places), places)


def _is_in(place: Place, container: Place) -> bool:
    """Whether a place is a container or in it."""
    return place.path[: len(container.path)] == container.path


def place_ranks(machine: Machine, socket: str | None, options: PlacementOptions) -> RankPlacement | None:
    """The placement of ranks on a machine, as it states or as a user asks; None where nobody says what a rank occupies.
    Raises AspenError for options that contradict each other or the machine."""
    places = list(machine.first_places(socket))
    of_host = require_count(options.cores_per_rank, "cores_per_rank") if is_on_device(places, options) else None
    options = options if of_host is None else options.replace(cores_per_rank=None)
    bound = find_bound_places(machine, places, options, working_kinds(places, require_schedule(options)))
    if not bound:
        if options.replace(nodes=None, domains=None, schedule=None) != MACHINES_OWN:
            fail_unbound(machine)
        return None
    options = add_stated_distribution(options, places)
    unit = all_cores(bound[0], bound[1:])
    node = next((place for place in places if place.component.type == "node"), None)
    units, sharers, threads_of_core = _count_shares(unit, options)
    empty = RankPlacement(
        unit=unit,
        nodes=graph.ONE if node is None else node.count,
        capacity=graph.ONE,
        distribution=distribution_of(options),
        node=node,
        socket=next((place for place in places if place.component.type == "socket"), None),
        units=units,
        sharers=sharers,
        threads=require_threads(options),
        kinds=tuple(bound) if bound[1:] else (),
        threads_of_core=threads_of_core,
        hardware_threads=_hardware_threads(bound, places, options),
    )
    placed = _limit_capacity(_limit_socket(empty, machine, options), options)
    return _limit_nodes(placed if of_host is None else _limit_by_host(placed, machine, of_host), machine, options)


def fail_unbound(machine: Machine) -> NoReturn:
    """Raises AspenError since nobody says what a rank occupies."""
    message = f"machine `{machine.name}` does not say what a rank occupies"
    hint = "say it with --bind, or with `property rank` on a component"
    fail("unbound-ranks", message, machine.root.name_span, hint=hint)


def _count_shares(unit: Place, options: PlacementOptions) -> tuple[int, int, int]:
    """Numbers of units that each rank occupies, of ranks that share one, and of a rank's threads on each of its
    cores."""
    units = require_count(options.cores_per_rank, "cores_per_rank") or 1
    sharers = require_count(options.ranks_per_device, "ranks_per_device") or 1
    threads = require_count(options.threads_per_core, "threads_per_core") or 1
    on_socket = require_count(options.ranks_per_socket, "ranks_per_socket")
    if on_socket and unit.component.type == "socket":
        sharers = on_socket
    if unit.component.type == "core" and units == 1:
        return units, threads, 1
    return units, sharers, threads


def _hardware_threads(bound: Sequence[Place], places: Sequence[Place], options: PlacementOptions) -> Expr | None:
    """Hardware threads that a core has; None where one is to work on each."""
    if (options.threads_per_core or 1) == 1:
        return None
    is_core = bound[0].component.type == "core"
    return find_hardware_threads(bound if is_core else [place for place in places if place.component.type == "core"])


def _limit_socket(placement: RankPlacement, machine: Machine, options: PlacementOptions) -> RankPlacement:
    """The placement with as many ranks on a socket as a user or the machine asks for."""
    asked, by = _asked_ranks(options.ranks_per_socket, "ranks_per_socket", placement.socket)
    if asked is None:
        return placement
    if placement.socket is None:
        fail("no-socket", f"machine `{machine.name}` has no socket that takes ranks", machine.root.name_span)
    capacity = placement.hardware_places(placement.socket.count)
    placement = placement.replace(per_socket=by)
    return placement.replace(of_socket=_at_most(asked, capacity, placement, by, "a socket"))


def _asked_ranks(option: int | None, name: str, place: Place | None) -> tuple[Expr | None, str]:
    """The ranks that one component is to take, and what says so: an option, or else a property of the component."""
    asked = require_count(option, name)
    if asked is not None:
        return graph.number(asked), f"--{name.replace('_', '-')}"
    stated = None if place is None else place.component.value(name)
    if place is None or stated is None:
        return None, ""
    is_whole = require_whole(stated, place.component.properties[name].span, "ranks are whole")
    return graph.mul(stated, is_whole), f"property {name}"


def _limit_capacity(placement: RankPlacement, options: PlacementOptions) -> RankPlacement:
    """The placement with as many ranks on a node as it has places for, or as a user or the machine asks for: those of
    its sockets, which ranks of several cores do not straddle where one fits."""
    capacity = placement.hardware_places(placement.nodes)
    socket = placement.socket
    if socket is not None:
        sockets, whole = ratio_of_counts(socket.count, placement.nodes), placement.hardware_places(socket.count)
        if placement.of_socket is not None:
            capacity = graph.mul(placement.of_socket, sockets)
        elif placement.units > 1:
            capacity = graph.if_else(graph.compare(">=", whole, 1), graph.mul(whole, sockets), capacity)
    asked, by = _asked_ranks(options.ranks_per_node, "ranks_per_node", placement.node)
    if asked is not None:
        capacity = _at_most(asked, capacity, placement, by, "a node")
    return placement.replace(capacity=capacity, per_node=by)


def _limit_by_host(placement: RankPlacement, machine: Machine, each: int) -> RankPlacement:
    """The placement with no more ranks on a node than there are host cores for, `each` cores per rank; refused where
    more are asked for."""
    cores = ratio_of_counts(count_host_cores(machine), placement.nodes)
    capacity, by = placement.capacity, placement.per_node
    if not by:
        takes = graph.apply("max", 1, graph.apply("floor", graph.div(cores, each)))
        capacity, by = graph.apply("min", capacity, takes), "--cores-per-rank"
    mistake = BoundMistake(
        code="too-many-ranks",
        message="more cores for the ranks of a node than its hosts have",
        span=machine.root.name_span,
        hint="give each fewer with `--cores-per-rank`, or have fewer with `--ranks-per-node`",
        value=graph.mul(capacity, each),
        bound=cores,
        numbers="{} cores for the ranks of a node, and its hosts have {}",
    )
    enough = graph.compare("<=", mistake.value, cores)
    capacity = graph.if_else(enough, capacity, graph.failure(mistake))
    return placement.replace(capacity=capacity, per_node=by, host_cores=each)


def _limit_nodes(placement: RankPlacement, machine: Machine, options: PlacementOptions) -> RankPlacement:
    """The placement on as many nodes as a user asks for."""
    asked = require_count(options.nodes, "nodes")
    if asked is None:
        return placement
    return placement.replace(asked_nodes=_at_most_nodes(graph.number(asked), placement.nodes, machine))


def share_of_machine(machine: Machine, socket: str | None, options: PlacementOptions, *, one: bool) -> Expr:
    """The part of a machine over which instances are spread that are no ranks: all of it, unless a user says how many
    nodes, or `one` is asked for: one node, or one device of it."""
    places = list(machine.first_places(socket))
    node = next((place for place in places if place.component.type == "node"), None)
    asked = require_count(options.nodes, "nodes")
    if asked is not None:
        nodes = graph.ONE if node is None else node.count
        return graph.div(_at_most_nodes(graph.number(asked), nodes, machine), nodes)
    device = next((each for each in places if each.component.value("launch_latency") is not None), None)
    unit = device or node
    return graph.div(1, unit.count) if one and unit is not None else graph.ONE


def _at_most(asked: Expr, capacity: Expr, placement: RankPlacement, by: str, where: str) -> Expr:
    """Ranks on a node or a socket, refused beyond its capacity."""
    unit = placement.unit
    each, more = f"each occupies {describe_component(unit, placement.units)}", suggest_more_places(unit)
    if placement.of_socket is not None:
        each, more = f"`{placement.per_socket}` sets the number on a socket", "put more on a socket"
    mistake = BoundMistake(
        code="too-many-ranks",
        message=f"more ranks on {where} than there are places: {each}",
        span=unit.component.name_span,
        hint=f"ask for fewer with `{by}`, or {more}",
        value=asked,
        bound=capacity,
        numbers=f"{{}} ranks on {where}, and it has places for {{}}: {each}",
    )
    return graph.if_else(graph.compare("<=", asked, capacity), asked, graph.failure(mistake))


def _at_most_nodes(asked: Expr, nodes: Expr, machine: Machine) -> Expr:
    """Nodes of a run, refused where the machine has fewer."""
    mistake = BoundMistake(
        code="too-many-nodes",
        message=f"more nodes than `{machine.name}` has",
        span=machine.root.name_span,
        hint="ask for fewer with `--nodes`",
        value=asked,
        bound=nodes,
        numbers=f"{{}} nodes, and `{machine.name}` has {{}}",
    )
    return graph.if_else(graph.compare("<=", asked, nodes), asked, graph.failure(mistake))
