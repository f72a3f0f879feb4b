"""Ranks: where they live on a machine, and over what of it the work of each is spread.

A machine says what a rank occupies by the flag `rank` on a component:

    core zen4_core { property rank ... }        // an MPI rank for each core
    socket nvidia_h100 { property rank ... }    // one for each device

It counts where a model speaks of ranks: in blocks that say how far each rank can share its work out, `execute [ranks]
of [width]`, in what ranks send each other, and in all blocks with as many instances as those. Amounts are those of one
rank. A rank that occupies u cores shares its work out in w = ceil(`width`) equal parts: they take ceil(w/u) turns, so
that w/ceil(w/u) cores are at work on average, its spread. Instances of other blocks are as in Aspen: ceil(P/Q) of P
take turns on each of Q components.

Users place ranks as Slurm, `mpirun` and OpenMP say it (`PlacementOptions`). Counts follow in closed form from the
number R of ranks and c, those that a node takes (Slurm's srun manual, --distribution):

    compact   fills a node with c ranks before the next: ceil(R/c) nodes
    block     N nodes, asked for or ceil(R/c): R mod N of them have ceil(R/N) ranks, the others floor(R/N); consecutive
              ranks share a node
    cyclic    the same counts, ranks dealt out one by one
    plane=s   the same counts, s consecutive ranks dealt out at a time
    scatter   block over all nodes that there are, unless a user says how many ranks each takes

and in the same way for the sockets of a node and the NUMA domains of a socket, which are filled (`block`) or dealt out
evenly (`cyclic`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

from aspenpy.cost.file_systems import is_file_system
from aspenpy.cost.kinds_of_cores import RANK, SCHEDULES, all_cores, working_kinds
from aspenpy.cost.value_mistakes import BoundMistake
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.language.diagnostics import Related, fail, suggest_nearest
from aspenpy.language.source import Span
from aspenpy.models.application.flow import Schedule
from aspenpy.models.machine.model import Machine, Place
from aspenpy.record import Record

NodeRule = Literal["compact", "scatter", "block", "cyclic", "plane"]
NODE_RULES: tuple[NodeRule, ...] = get_args(NodeRule)

Rule = Literal["block", "cyclic"]
RULES: tuple[Rule, ...] = get_args(Rule)

Threads = Literal["close", "spread"]
THREADS: tuple[Threads, ...] = get_args(Threads)

NUMA, DEVICE = "numa", "device"
"""What a rank may be bound to beside the types of components: a NUMA domain, which is what has a memory of its own in a
socket, and a device, which is a socket."""


class PlacementOptions(Record):
    """What a user asks of where ranks run, against the machine's own word.

    `bind` is what each occupies: a type of component, the name of one, `numa` or `device`. `nodes` is how many nodes
    the run has; `ranks_per_node`, `ranks_per_socket` and `ranks_per_device` how many ranks each takes, and
    `cores_per_rank` how many cores each has. `distribution` says how they are dealt out, `threads` how those of a rank
    go to its NUMA domains: `close` fills one before the next. `domains` is into how many
    of them each socket is divided (sub-NUMA clustering, NPS). `threads_per_core` is how many hardware threads of each
    core work, and `schedule` how the parts of a rank's work go to its cores: `static` or `dynamic`.
    """

    bind: str | None = None
    nodes: int | None = None
    ranks_per_node: int | None = None
    ranks_per_socket: int | None = None
    ranks_per_device: int | None = None
    cores_per_rank: int | None = None
    distribution: str | None = None
    threads: str | None = None
    domains: int | None = None
    threads_per_core: int | None = None
    schedule: str | None = None


MACHINES_OWN = PlacementOptions()


class Distribution(Record):
    """How ranks are dealt out: over nodes, over the sockets of a node, over the domains of a socket; `size` is that of
    a plane."""

    nodes: NodeRule = "compact"
    sockets: Rule = "block"
    domains: Rule = "block"
    size: int = 1

    def __str__(self) -> str:
        first = f"plane={self.size}" if self.nodes == "plane" else self.nodes
        usual = "block" if self.nodes == "compact" else "cyclic"
        if self.sockets == self.domains:
            return first if self.sockets == usual else f"{first}:{self.sockets}"
        return f"{first}:{self.sockets}:{self.domains}"


COMPACT = Distribution()


class RankPlacement(Record):
    """Where the ranks of a run are. Each is bound to a `unit`, of which it occupies `units`, or which `sharers` ranks
    share. `capacity` is how many ranks a `node` takes, `of_socket` how many a `socket` takes where a user says so;
    `nodes` are those of the machine, `asked_nodes` those of the run where a user says so; `per_node` is whether a user
    says how many ranks a node takes. Ranks that go to several `kinds` of cores fill them in this order; the unit then
    counts them all. A rank with cores of its own runs `threads_of_core` hardware threads on each. `hardware_threads`
    are those that a core has, where several are to work."""

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
    per_node: bool = False
    kinds: tuple[Place, ...] = ()
    threads_of_core: int = 1
    hardware_threads: Expr | None = None

    @property
    def places(self) -> Expr:
        """The ranks that the machine takes, or the nodes of the run."""
        if self.is_full and self.asked_nodes is None:
            return _scale(self.unit.count, self.sharers, self.units)
        return graph.mul(self.capacity, self.asked_nodes or self.nodes)

    @property
    def is_full(self) -> bool:
        """Whether a node takes as many ranks as its hardware has places for."""
        return self.capacity is _scale(ratio(self.unit.count, self.nodes), self.sharers, self.units)

    @property
    def is_compact(self) -> bool:
        """Whether ranks fill one component after the other."""
        return self.distribution == COMPACT

    @property
    def is_dense(self) -> bool:
        """Whether ranks fill all that they are in, one component after the other."""
        return self.is_full and self.is_compact

    def places_of_rank(self, place: Place) -> Expr:
        """How many of a component each rank has; less than 1 where ranks share it."""
        return self.of_rank(self._count(place))

    def of_rank(self, count: Expr) -> Expr:
        """What each rank has of so many components of the machine."""
        return _scale(ratio(count, self.unit.count), self.units, self.sharers)

    def takes(self, place: Place) -> Expr:
        """The ranks that one component of a place takes; less than 1 where a rank has several. Ranks of several cores
        do not straddle sockets, but NUMA domains."""
        if self.node is not None and place.path == self.node.path:
            return self.capacity
        if self.of_socket is not None and self.socket is not None and place.path == self.socket.path:
            return self.of_socket
        places = _scale(ratio(self.unit.count, self._count(place)), self.sharers, self.units)
        inside = self.socket is not None and _is_in(place, self.socket) and place.path != self.socket.path
        return places if inside else _whole(places, self.units)

    def run_nodes(self, ranks: Expr) -> Expr:
        """The nodes of the run, with a rank or without."""
        if self.asked_nodes is not None:
            return self.asked_nodes
        if self.distribution.nodes == "scatter" and not self.per_node:
            return self.nodes
        return graph.apply("max", 1, graph.apply("ceil", graph.div(ranks, self.capacity)))

    def nodes_used(self, ranks: Expr) -> Expr:
        """The nodes that have any rank."""
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
                return graph.apply("min", ranks, self.takes(place))
            of_a_node = graph.div(self.on_a_node(ranks), ratio(place.count, self.nodes))  # ports, such as one for each
            return graph.apply("min", ranks, graph.apply("ceil", of_a_node))
        near = most = ranks
        if self.node is not None and not self.is_dense:
            near = most = self.on_a_node(ranks)
        for container, rule in self._chain(place):
            if rule == "cyclic":
                most = near = graph.apply("ceil", graph.div(most, self._number(container)))
            else:
                most = graph.apply("min", near, self.takes(container))
                if self.of_socket is not None or self.units > 1:  # else what is inside takes no more, and clips it too
                    near = most
        return most

    def used(self, place: Place, ranks: Expr) -> Expr:
        """How many of the components of a place have any rank."""
        if self.node is not None and not _is_in(place, self.node) and not self.is_dense:
            return graph.mul(self.nodes_used(ranks), ratio(place.count, self.nodes))
        if self.is_dense:
            return graph.apply("ceil", graph.div(ranks, self.takes(place)))
        if self.node is not None and place.path == self.node.path:
            return self.nodes_used(ranks)
        chain = self._chain(place)
        groups = self._node_groups(ranks) if self.node is not None else [(graph.ONE, ranks)]
        used = graph.add(*(graph.mul(count, self._used_by(on_one, chain)) for count, on_one in groups))
        if self.units == 1 or self.socket is None:
            return used
        of_rank = self.places_of_rank(place)
        wide = graph.add(
            *(graph.mul(count, graph.apply("ceil", graph.mul(on_one, of_rank))) for count, on_one in groups)
        )
        return graph.if_else(graph.compare(">", self.places_of_rank(self.socket), 1), wide, used)

    def _count(self, place: Place) -> Expr:
        """How many there are of a place; where ranks go to several kinds of cores, all of these and their caches: those
        of which there are as many as of the first kind, unless it is the only one in its socket."""
        if not self.kinds:
            return place.count
        first = self.kinds[0]
        own = self.socket is None or first.count is not self.socket.count
        is_private = place.component.type == "cache" and own and place.count is first.count
        return self.unit.count if is_private or place.path == first.path else place.count

    def placed(self, value: Expr, ranks: Expr, machine: Machine, span: Span | None) -> Expr:
        """The value where the machine has places for so many ranks; a failure at the `span` where not."""
        each, more = f"each occupies {describe_component(self.unit)}", _more_places(self.unit)
        if not self.is_full:
            each, more = "`--ranks-per-node` sets the number on a node", "put more on a node with `--ranks-per-node`"
        if self.of_socket is not None:
            each, more = "`--ranks-per-socket` sets the number on a socket", "put more on a socket"
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
        """What is on the way from a node to a place in it, and how ranks are dealt out there."""
        if self.socket is None or not _is_in(place, self.socket):
            return [(place, self.distribution.sockets)]
        if place.path == self.socket.path:
            return [(self.socket, self.distribution.sockets)]
        return [(self.socket, self.distribution.sockets), (place, self.distribution.domains)]

    def _number(self, container: Place) -> Expr:
        """How many of a link of the chain are in the one before it."""
        around = self.nodes
        if self.socket is not None and _is_in(container, self.socket) and container.path != self.socket.path:
            around = self.socket.count
        return ratio(self._count(container), around)

    def _node_groups(self, ranks: Expr) -> list[tuple[Expr, Expr]]:
        """Numbers of nodes, and of the ranks on each of them; the first has most."""
        if self.distribution.nodes == "compact":
            full = graph.apply("floor", graph.div(ranks, self.capacity))
            return [(full, self.capacity), (graph.ONE, graph.sub(ranks, graph.mul(full, self.capacity)))]
        nodes = self.run_nodes(ranks)
        each = graph.apply("floor", graph.div(ranks, nodes))
        more = graph.sub(ranks, graph.mul(each, nodes))
        return [(more, graph.apply("ceil", graph.div(ranks, nodes))), (graph.sub(nodes, more), each)]

    def _used_by(self, ranks: Expr, chain: Sequence[tuple[Place, Rule]]) -> Expr:
        """Components at the end of a chain that so many ranks of what is before it use."""
        (container, rule), *inner = chain
        takes, number = self.takes(container), self._number(container)
        if not inner:
            alone = graph.apply("min", takes, 1) if rule == "cyclic" else takes
            return graph.apply("min", graph.apply("ceil", graph.div(ranks, alone)), number)
        if rule == "block":
            full = graph.apply("floor", graph.div(ranks, takes))
            groups = [(full, takes), (graph.ONE, graph.sub(ranks, graph.mul(full, takes)))]
        else:
            turns = graph.apply("floor", graph.div(ranks, number))
            more = graph.sub(ranks, graph.mul(turns, number))
            groups = [(more, graph.add(turns, 1)), (graph.sub(number, more), turns)]
        return graph.add(*(graph.mul(count, self._used_by(on_one, inner)) for count, on_one in groups))


class PartSizes(Record):
    """Sizes of the parts of a rank's work, of its counter 0, 1, ...: rows of a triangle. Sums of them are exact; of the
    blocks of threads those are compared that are the largest where sizes rise, fall or are convex, and the middle
    one."""

    counter: Expr
    size: Expr

    def sum_to(self, end: Expr) -> Expr:
        """All parts before the one of that number."""
        return graph.summation(self.counter, end, self.size)

    def largest(self, parts: Expr) -> Expr:
        """The first part or the last."""
        ends = [graph.ZERO, graph.apply("max", 0, graph.sub(parts, 1))]
        return graph.apply("max", *(graph.substitute([self.size], {self.counter: end})[0] for end in ends))

    def largest_chunk(self, parts: Expr, threads: Expr, low: Expr, high: Expr) -> Expr:
        """The largest of the blocks of the threads from `low` up to `high`."""
        each = graph.apply("floor", graph.div(parts, threads))
        more = graph.sub(parts, graph.mul(each, threads))
        last = graph.sub(high, 1)
        middle = graph.apply("floor", graph.div(graph.add(low, last), 2))
        candidates = [low, last, middle, graph.sub(more, 1), more]
        found = []
        for candidate in candidates:
            thread = graph.apply("max", low, graph.apply("min", last, candidate))
            start = graph.add(graph.mul(thread, each), graph.apply("min", thread, more))
            end = graph.add(start, each, graph.if_else(graph.compare("<", thread, more), 1, 0))
            found.append(graph.sub(self.sum_to(end), self.sum_to(start)))
        return graph.apply("max", *found)


class Instances(Record):
    """The instances of a block on a machine: `count` of them, of which each keeps `spread` cores busy where it is a
    rank with a `placement`, of `cores`, in so many `parts`; `placed` is their count, refused where the machine has no
    places for so many. Parts of unequal `sizes` are functions of a counter. Those that are no ranks are spread over a
    `share_of_machine`. `threads` of the busiest core work together; several kinds of cores share parts by a
    `schedule`."""

    count: Expr
    spread: Expr = graph.ONE
    placement: RankPlacement | None = None
    cores: Expr = graph.ONE
    placed: Expr | None = None
    parts: Expr = graph.ONE
    share_of_machine: Expr = graph.ONE
    threads: Expr = graph.ONE
    sizes: PartSizes | None = None
    schedule: Schedule = "dynamic"

    @property
    def together(self) -> Expr:
        """Cores that they keep busy, if there are so many."""
        return graph.mul(self.count, self.spread)

    def share(self, amount: Expr) -> Expr:
        """What one core that an instance keeps busy does of its amount."""
        return amount if self.spread is graph.ONE else graph.div(amount, self.spread)

    @property
    def total(self) -> Expr:
        """All parts of an instance, in units of an equal part or of what sizes are in."""
        return self.parts if self.sizes is None else self.sizes.sum_to(self.parts)

    @property
    def largest(self) -> Expr:
        """The largest part, in the same units."""
        return graph.ONE if self.sizes is None else self.sizes.largest(self.parts)

    def largest_chunk(self, threads: Expr, low: Expr, high: Expr) -> Expr:
        """What the busiest of the threads from `low` up to `high` has to do, in the same units, where all `threads`
        have blocks of as many parts."""
        if self.sizes is not None:
            return self.sizes.largest_chunk(self.parts, threads, low, high)
        return graph.apply("max", 0, graph.apply("ceil", graph.div(graph.sub(self.parts, low), threads)))

    def instances_at(self, place: Place) -> Expr:
        """Those that share the fullest component of a place."""
        if self.placement is None:
            return graph.apply("ceil", graph.div(self.count, self.available(place)))
        if is_file_system(place):
            return graph.apply("ceil", graph.div(self.ranks, place.count))
        of_one = self.placement.places_of_rank(place)
        return graph.if_else(graph.compare(">=", of_one, 1), self._any, self.placement.fullest(place, self.ranks))

    def busy_at(self, place: Place) -> Expr:
        """The cores at work that share the fullest component of a place, or take turns on it."""
        if self.placement is None or is_file_system(place):
            return self.instances_at(place)
        of_one = self.placement.places_of_rank(place)
        part = self._any
        if of_one is not self.cores:  # of which no more than all are busy
            evenly = graph.div(self.spread, of_one)
            if self.placement.threads == "close":
                evenly = graph.apply("min", self.spread, graph.div(self.cores, of_one))
            part = graph.mul(part, graph.apply("max", 1, evenly))
        several = graph.mul(self.placement.fullest(place, self.ranks), self.spread)
        return graph.if_else(graph.compare(">=", of_one, 1), part, several)

    def count_used(self, place: Place) -> Expr:
        """How many of the components of a place have any work, one at least."""
        if self.placement is None or is_file_system(place):
            return graph.apply("min", graph.apply("max", self.count, 1), self.available(place))
        return graph.apply("min", graph.apply("max", self.placement.used(place, self.ranks), 1), place.count)

    def on_a_node(self, nodes: Expr) -> Expr:
        """Those on the fullest of so many nodes."""
        if self.placement is None:
            return graph.apply("ceil", graph.div(self.count, graph.mul(nodes, self.share_of_machine)))
        return self.placement.on_a_node(self.ranks)

    def part_on(self, place: Place) -> Expr:
        """Of what all ranks have alike, the part that is on the fullest component of a place."""
        if self.placement is None:
            return graph.div(1, self.available(place))
        of_one = graph.div(self.instances_at(place), graph.apply("max", 1, self.placement.places_of_rank(place)))
        return graph.div(of_one, self.ranks)

    def available(self, place: Place) -> Expr:
        """The components of a place in the part of the machine that the run has; of what nodes share, one at least."""
        if self.share_of_machine is graph.ONE or is_file_system(place):
            return place.count
        return graph.apply("max", 1, graph.mul(place.count, self.share_of_machine))

    @property
    def ranks(self) -> Expr:
        """Those of which the last may have less to do."""
        return graph.apply("ceil", self.placed or self.count)

    @property
    def _any(self) -> Expr:
        """1, and 0 where there are no instances."""
        return graph.apply("min", 1, self.ranks)


def ratio(count: Expr, other: Expr) -> Expr:
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


def _whole(places: Expr, units: int) -> Expr:
    """The ranks of several units each that so many places take; less than 1 where a rank needs more than there are."""
    if units == 1:
        return places
    return graph.if_else(graph.compare(">=", places, 1), graph.apply("floor", places), places)


def _is_in(place: Place, container: Place) -> bool:
    """Whether a place is a container or in it."""
    return place.path[: len(container.path)] == container.path


def describe_component(unit: Place) -> str:
    """`a core, `zen4``."""
    kind = "NUMA domain" if unit.component.type == "memory" else unit.component.type
    return f"a {kind}, `{unit.component.name}`"


def _more_places(unit: Place) -> str:
    """How more ranks find a place."""
    if unit.component.type == "core":
        return f"take a machine with more of `{unit.component.name}`"
    parts = (part for parent in unit.parents[-1:] for part in parent.parts)
    counts = [part.quantity for part in parts if part.component == unit.component.name]
    if unit.component.type == "socket" and counts and counts[0].kind == "symbol":
        return f"have more of them: `--set {counts[0].payload[0]}=...`"
    return "let each occupy less, `--bind core`"


ONE_INSTANCE = Instances(graph.ONE)


def place_ranks(machine: Machine, socket: str | None, options: PlacementOptions) -> RankPlacement | None:
    """Where ranks run on a machine, by its own word or as a user asks; None where nobody says what a rank occupies.
    Raises AspenError for options that contradict each other or the machine."""
    places = list(machine.first_places(socket))
    bound = _units(machine, places, options, working_kinds(places, require_schedule(options)))
    if not bound:
        if options.replace(nodes=None, domains=None, schedule=None) != MACHINES_OWN:
            message = f"machine `{machine.name}` does not say what a rank occupies"
            hint = "say it with --bind, or with `property rank` on a component"
            fail("unbound-ranks", message, machine.root.name_span, hint=hint)
        return None
    unit, *kinds = bound
    distribution = distribution_of(options)
    node = next((place for place in places if place.component.type == "node"), None)
    around = next((place for place in places if place.component.type == "socket"), None)
    nodes = graph.ONE if node is None else node.count
    units = _require_count(options.cores_per_rank, "cores_per_rank") or 1
    sharers = _require_count(options.ranks_per_device, "ranks_per_device") or 1
    threads_of_core = _require_count(options.threads_per_core, "threads_per_core") or 1
    hardware_threads = None
    if threads_of_core > 1:
        own = bound if unit.component.type == "core" else [place for place in places if place.component.type == "core"]
        hardware_threads = _stated_threads(own)
    if unit.component.type == "core" and units == 1:
        sharers, threads_of_core = threads_of_core, 1
    if kinds:
        kinds = [unit, *kinds]
        unit = all_cores(unit, kinds[1:])
    on_socket = _require_count(options.ranks_per_socket, "ranks_per_socket")
    if on_socket and unit.component.type == "socket":
        sharers = on_socket
    of_socket, sockets = None, graph.ONE
    if on_socket is not None and around is None:
        fail("no-socket", f"machine `{machine.name}` has no socket that takes ranks", machine.root.name_span)
    if around is not None:
        sockets = ratio(around.count, nodes)
        whole = _whole(_scale(ratio(unit.count, around.count), sharers, units), units)
        if on_socket is not None:
            of_socket = _at_most(graph.number(on_socket), whole, unit, "ranks_per_socket", "a socket")
    hardware = _scale(ratio(unit.count, nodes), sharers, units)
    capacity = _whole(hardware, units)
    if around is not None and units > 1:
        capacity = graph.if_else(graph.compare(">=", whole, 1), graph.mul(whole, sockets), capacity)
    if of_socket is not None:
        capacity = graph.mul(of_socket, sockets)
    on_node = _require_count(options.ranks_per_node, "ranks_per_node")
    if on_node is not None:
        capacity = _at_most(graph.number(on_node), capacity, unit, "ranks_per_node", "a node")
    asked = _require_count(options.nodes, "nodes")
    asked_nodes = None
    if asked is not None:
        asked_nodes = _at_most_nodes(graph.number(asked), nodes, machine)
    threads: Threads = "close" if _require_word(options.threads, THREADS, "threads") == "close" else "spread"
    return RankPlacement(
        unit,
        nodes,
        capacity,
        distribution,
        node,
        around,
        units,
        sharers,
        of_socket,
        asked_nodes,
        threads,
        on_node is not None,
        tuple(kinds),
        threads_of_core,
        hardware_threads,
    )


def require_schedule(options: PlacementOptions) -> Schedule | None:
    """The schedule that a user asks for. Raises AspenError for an unknown one."""
    word = _require_word(options.schedule, SCHEDULES, "schedule", "schedule")
    return None if word is None else "static" if word == "static" else "dynamic"


def _stated_threads(cores: Sequence[Place]) -> Expr:
    """The hardware threads that each of these kinds of cores has. Raises AspenError where one does not state them."""
    for core in cores:
        for name in ("threads", "smt_gain"):
            if core.component.value(name) is None:
                what = "hardware threads" if name == "threads" else "what its threads attain together"
                hint = "write `property threads [2]` and `property smt_gain [1.25]`: all together, in units of one"
                message = f"core `{core.component.name}` does not state {what}"
                fail("no-hardware-threads", message, core.component.name_span, hint=hint)
    stated = [core.component.value("threads") or graph.ONE for core in cores]
    return stated[0] if len(stated) == 1 else graph.apply("min", *stated)


def domain_parameter(machine: Machine, socket: str | None) -> str:
    """The parameter of a machine that says into how many NUMA domains a socket is divided: the number of its memories.
    Raises AspenError where there is none."""
    for place in machine.first_places(socket):
        if place.component.type == "memory" and "socket" in _types(place):
            around = place.parents[-1]
            count = next(part.quantity for part in around.parts if part.component == place.component.name)
            if count.kind == "symbol" and count.payload[0] in machine.declared:
                return str(count.payload[0])
    message = f"machine `{machine.name}` does not say into how many NUMA domains its sockets can be divided"
    hint = "write `memory [domains] m` in the socket, with a parameter, and divide the bandwidth of one by it"
    fail("no-domains", message, machine.root.name_span, hint=hint)


def share_of_machine(machine: Machine, socket: str | None, options: PlacementOptions, *, one: bool) -> Expr:
    """The part of a machine over which instances are spread that are no ranks: all of it, unless a user says how many
    nodes, or `one` is asked for: one node, or one device of it."""
    places = list(machine.first_places(socket))
    node = next((place for place in places if place.component.type == "node"), None)
    asked = _require_count(options.nodes, "nodes")
    if asked is not None:
        nodes = graph.ONE if node is None else node.count
        return graph.div(_at_most_nodes(graph.number(asked), nodes, machine), nodes)
    device = next((each for each in places if each.component.value("launch_latency") is not None), None)
    unit = device or node
    return graph.div(1, unit.count) if one and unit is not None else graph.ONE


def distribution_of(options: PlacementOptions) -> Distribution:
    """How ranks are dealt out: `compact` unless a user says else, `block` where a user states the nodes."""
    text = options.distribution
    if text is None:
        return COMPACT if options.nodes is None else Distribution("block", "cyclic", "cyclic")
    first, *inner = text.split(":")
    word, _, size = first.partition("=")
    if word not in NODE_RULES or len(inner) > 2 or (size and word != "plane"):
        hint = suggest_nearest(word, NODE_RULES) or "there are compact, scatter, block, cyclic and plane=SIZE"
        fail("unknown-distribution", f"unknown distribution of ranks `{text}`", hint=hint)
    if word == "plane" and not (size.isdecimal() and 0 < int(size) <= MOST_IN_A_PLANE):
        message = f"a plane is so many ranks, not `{size}`"
        fail("unknown-distribution", message, hint="`plane=4` deals out four neighbours at a time")
    usual = "block" if word == "compact" else "cyclic"
    rules = [_require_word(rule, RULES, "distribution") for rule in inner]
    sockets = rules[0] if rules else usual
    domains = rules[1] if rules[1:] else sockets
    return Distribution(word, sockets, domains, int(size or 1))  # type: ignore[arg-type]  # checked above


MOST_IN_A_PLANE = 10**9


def _require_word(word: str | None, words: Sequence[str], option: str, code: str = "distribution") -> str | None:
    if word is not None and word not in words:
        hint = suggest_nearest(word, words) or f"there are {', '.join(words)}"
        fail(f"unknown-{code}", f"unknown `{option}` of ranks: `{word}`", hint=hint)
    return word


def _units(
    machine: Machine, places: Sequence[Place], options: PlacementOptions, others: Sequence[Place]
) -> list[Place]:
    """What a rank occupies: what is asked for, a core where so many of them are, else what the machine flags; several
    kinds of cores where `others` work beside the first. Empty where nobody says it."""
    bind = options.bind
    if options.cores_per_rank is not None:
        if bind not in (None, "core") or options.ranks_per_device is not None:
            other = "`--ranks-per-device`" if bind in (None, "core") else f"`--bind {bind}`"
            message = f"`--cores-per-rank` says that each rank has cores of its own, {other} something else"
            fail("contradicting-placement", message, hint="leave one of them out")
        bind = "core"
    elif options.ranks_per_device is not None:
        if bind not in (None, DEVICE, "socket"):
            message = f"`--ranks-per-device` shares devices, but `--bind {bind}` gives each rank one to itself"
            fail("contradicting-placement", message, hint="leave one of them out")
        bind = DEVICE
    if bind is None:
        return _find_flagged_places(places, others)
    if bind == NUMA:
        domains = [place for place in places if place.component.type == "memory" and "socket" in _types(place)]
        return [domains[0] if domains else _component("socket", machine, places)]
    found = _component("socket" if bind == DEVICE else bind, machine, places)
    return [found, *others] if bind == "core" else [found]


def _types(place: Place) -> list[str]:
    return [parent.type for parent in place.parents]


def _find_flagged_places(places: Sequence[Place], others: Sequence[Place]) -> list[Place]:
    """What the machine flags: one component, or several kinds of cores. A `rank` with a value, such as a memory's, is
    a property like any other."""
    flags = [(place, place.component.properties.get(RANK)) for place in places]
    stated = [(place, flag) for place, flag in flags if flag is not None and flag.value is None]
    helpers = {place.path for place in others}
    for place, flag in stated:
        if place.path not in helpers and not _has_cores(place, places):
            kind, name = place.component.type, place.component.name
            message = f"a rank cannot occupy {kind} `{name}`: there is no core in it"
            fail("no-core-for-rank", message, flag.span, hint="`property rank` stands on a core, or on what has cores")
    if len(stated) > 1 and not all(place.path in helpers for place, _ in stated[1:]):
        (outer, first), (inner, second) = stated[:2]
        both = f"{describe_component(outer)}, and {describe_component(inner)}"
        message = f"two components say that a rank occupies them: {both}"
        related = (Related(first.span, "the other is said here"),) if first.span is not None else ()
        fail("two-ranks", message, second.span, hint="leave `property rank` on one of them", related=related)
    return [place for place, _ in stated]


def _has_cores(place: Place, places: Sequence[Place]) -> bool:
    """Whether what computes is in it, or is it."""
    core = next((item for item in places if item.component.type == "core"), None)
    return core is None or core.path[: len(place.path)] == place.path


def _component(asked: str, machine: Machine, places: Sequence[Place]) -> Place:
    """The first component of a type or name."""
    for place in places:
        if asked in (place.component.type, place.component.name) and _has_cores(place, places):
            return place
    inhabited = [place.component for place in places if _has_cores(place, places)]
    types = dict.fromkeys(component.type for component in inhabited)
    names = [*types, *(component.name for component in inhabited)]
    hint = suggest_nearest(asked, names) or f"there are {', '.join(types)}"
    message = f"machine `{machine.name}` has no `{asked}` with cores for a rank to occupy"
    fail("no-such-component", message, machine.root.name_span, hint=hint)


def _require_count(value: object, option: str) -> int | None:
    """A number that a user asks for, a whole one from 1 on."""
    if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 1):
        fail("bad-ranks", f"`{option}` is a whole number from 1 on, not {value!r}")
    return value


def _at_most(asked: Expr, capacity: Expr, unit: Place, option: str, where: str) -> Expr:
    """Ranks on a node or a socket, refused where it has no place for so many."""
    each, spelled = f"each occupies {describe_component(unit)}", option.replace("_", "-")
    mistake = BoundMistake(
        code="too-many-ranks",
        message=f"more ranks on {where} than there are places: {each}",
        span=unit.component.name_span,
        hint=f"ask for fewer with `--{spelled}`, or {_more_places(unit)}",
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
