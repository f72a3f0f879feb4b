"""Paths between ranks: inside a socket, between the sockets or devices of a node, between nodes.

A path is a component of type `interconnect` that offers `messages`. It joins what stands in the component that it is a
part of: in a socket the ranks there, in a node its sockets, where these have a path of their own, or else its ranks, in
the machine the nodes. `property joins [NAME]` leaves it to the ranks on one kind of socket. A message takes the path of
the smallest component that both ends are in; the outermost path is the one that serves `messages`.

Paths inside a node count where it is known which ranks are there: where a rank is bound to what it occupies
(`cost.ranks`). Such a path has as many ports as its quantity says; where it stands once, one for each end.
"""

from __future__ import annotations

from aspenpy.cost.interconnect import Interconnect, interconnect_of
from aspenpy.cost.network.part import part_of
from aspenpy.cost.network.schemes import LinkTimes, Mesh, PathLevel
from aspenpy.cost.ranks import RankPlacement
from aspenpy.cost.value_mistakes import BoundMistake
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.language.diagnostics import fail, suggest_nearest
from aspenpy.language.source import Span
from aspenpy.models.machine.model import Machine, Place, word_of_property
from aspenpy.record import Record

INTERCONNECT, MESSAGES = "interconnect", "messages"
"""The type of a path, and the resource that it offers."""

CORE = "core"
"""The type of what a rank occupies that reduces by loads and stores."""

MESSAGE = "message"
"""What a message without an exchange is called."""


class Paths(Record):
    """The paths between the ranks on a machine, innermost first, each with what it stands in; `ranks` is where they
    live, if anybody says what each occupies."""

    machine: Machine
    socket: str | None = None
    ranks: RankPlacement | None = None
    places: tuple[tuple[Place, Place], ...] = ()

    @property
    def by_level(self) -> bool:
        """Whether it is known which messages stay inside a node, and what they take there."""
        return self.ranks is not None and any(len(place.path) > 2 for place, _ in self.places)

    def serves(self, place: Place) -> bool:
        """Whether messages that a component serves go by level."""
        return self.by_level and self.places[-1][0].path == place.path

    def require_path(self, value: Expr, ranks: Expr, span: Span | None) -> Expr:
        """The value where some path joins all of the ranks, and there are places for so many; told at the `span` where
        not."""
        assert self.ranks is not None
        outermost = self.places[-1][1] if self.places else None
        if outermost is not None and outermost.parents:
            within = self.ranks.fullest(outermost, ranks)
            mistake = BoundMistake(
                code="no-path",
                message=f"no interconnect of machine `{self.machine.name}` joins so many ranks",
                span=span,
                hint=f"one in `{self.machine.root.name}` joins its nodes",
                value=ranks,
                bound=within,
                numbers=f"no interconnect of machine `{self.machine.name}` joins {{}} ranks, but {{}} of them",
            )
            value = graph.if_else(graph.compare("<=", ranks, within), value, graph.failure(mistake))
        return self.ranks.require_places(value, ranks, self.machine, span)


def paths_of(machine: Machine, socket: str | None, ranks: RankPlacement | None) -> Paths:
    """The paths on the way from the machine to what a rank occupies, or to the socket."""
    places = list(machine.first_places(socket))
    by_path = {place.path: place for place in places}
    found: dict[tuple[str, ...], Place] = {}
    for place in places:
        path = place.component.type == INTERCONNECT and MESSAGES in place.component.resources
        if path and _joins(machine, place, socket, ranks):
            found.setdefault(place.path[:-1], place)
    if ranks is not None:
        unit = ranks.unit.path
        found = {path: place for path, place in found.items() if len(path) < len(unit) and unit[: len(path)] == path}
    inwards = sorted(found, key=len, reverse=True)
    return Paths(machine, socket, ranks, tuple((found[path], by_path[path]) for path in inwards))


def _joins(machine: Machine, place: Place, socket: str | None, ranks: RankPlacement | None) -> bool:
    """Whether an interconnect joins the ranks on a socket, by its property `joins`; it joins all without one."""
    component = place.component
    named = word_of_property(component, "joins")
    if named is None:
        return True
    if named not in machine.components:
        span = component.properties["joins"].span
        message = f"{component.type} `{component.name}` joins `{named}`, and machine `{machine.name}` has none"
        fail("no-such-component", message, span, hint=suggest_nearest(named, machine.components))
    return named == socket or (ranks is not None and named in ranks.unit.path)


MESH = "fully_connected"
"""The topology in which each end has a link to each other one."""


class Path(Record):
    """A path and what it stands in, the `container`, which has `ends`: those of an `inner` path are what it joins,
    those of the machine's the nodes."""

    network: Interconnect
    container: Place
    ends: Expr
    inner: bool

    def link(self, senders: Expr, of_an_end: Expr, hops: Expr | None = None, ends: Expr | None = None) -> LinkTimes:
        """The link of messages of so many ranks of a container, and so many of an end, that send at the same time:
        those of a port leave it one after the other, a gap apart (LogP), and share what it injects. Of so many `ends`
        in use, each has a link to each other one on a mesh."""
        net = self.network
        sharing = graph.apply("ceil", of_an_end * self.ends / net.ports)
        per_port = graph.apply("max", graph.apply("min", sharing, senders), 1)
        if hops is None:
            hops = net.topology.average_distance + net.topology.terminal_hops
        alpha = net.latency + hops * net.hop_latency + (per_port - 1) * net.gap
        load, on_a_link = per_port, net.sharing_of_links(senders)
        if net.rails is not graph.ONE:
            # each rank's bytes go over several ports, those of its share of them at most
            load = graph.apply("max", of_an_end * self.ends / net.ports, 1 / net.rails)
            on_a_link = on_a_link / net.rails
        rates = [load / net.injection, on_a_link / net.link]
        if net.total is not None:
            rates.append(senders / net.total)
        beta = graph.apply("max", *rates)
        mesh = None
        if ends is not None and net.topology.kind == MESH:
            links = graph.apply("max", ends - 1, 1)
            port = graph.apply("max", rates[0], *rates[2:]) if rates[2:] else rates[0]
            mesh = Mesh(links, per_port / net.link, port, net.all_pairs)
        switch = None if net.switch is None else per_port * net.switch
        return LinkTimes(
            alpha, beta, net.combining, net.threshold, net.handshake, mesh, switch, net.pipelined, net.eager
        )


def require_bound_ranks(paths: Paths) -> RankPlacement:
    """The components that ranks occupy, which have to be known."""
    assert paths.ranks is not None
    return paths.ranks


def all_paths(paths: Paths, ranks: Expr | None = None) -> list[Path]:
    """The paths, innermost first; of the network the part that so many ranks have. Raises AspenError where what a
    component says makes none."""
    found: list[Path] = []
    inside = require_bound_ranks(paths).unit
    for place, container in paths.places:
        if container.parents:
            ends = graph.div(inside.count, container.count)
            quantity = graph.div(place.count, container.count)
            ports = graph.if_else(graph.compare("==", quantity, 1), ends, quantity)
            network = interconnect_of(paths.machine, place, paths.socket, ports)
            found.append(Path(network, container, ends, inner=True))
        else:
            network = network_of_run(interconnect_of(paths.machine, place), paths.ranks, ranks)
            found.append(Path(network, container, network.nodes, inner=False))
        inside = container
    return found


def network_of_run(network: Interconnect, placement: RankPlacement | None, ranks: Expr | None) -> Interconnect:
    """The part of a network on whose nodes so many ranks are; all of it where no placement is known."""
    if placement is None or ranks is None:
        return network
    used = placement.run_nodes(ranks)
    part = part_of(network.topology, used, network.nodes)
    if part is network.topology or network.total is None:
        return network.replace(topology=part)
    share = graph.apply("min", 1, used / network.nodes)
    return network.replace(topology=part, total=network.total * share)


def ranks_within(paths: Paths, path: Path, ranks: Expr) -> Expr:
    """The ranks, among so many, in the fullest container of a path."""
    return require_bound_ranks(paths).fullest(path.container, ranks) if path.inner else ranks


def levels_between(ranks: Expr, paths: Paths, sending: Expr | None = None) -> tuple[PathLevel, ...]:
    """The levels of the paths among so many ranks that are next to each other, while so many send in all."""
    levels = []
    below, inside = graph.ONE, require_bound_ranks(paths).unit
    for path in all_paths(paths, sending or ranks):
        level = _make_level(paths, path, (ranks, sending or ranks), below, inside)
        levels.append(level)
        below, inside = level.ranks, path.container
    return _reducing_on_cores(levels) if require_bound_ranks(paths).unit.component.type == CORE else tuple(levels)


def _reducing_on_cores(levels: list[PathLevel]) -> tuple[PathLevel, ...]:
    """Where no path states it, a rank on a core adds what arrives to its own as fast as it copies through the memory of
    its socket, the innermost path: both move every byte in and out of memory once, and read it once more."""
    innermost = levels[0]

    def reducing(link: LinkTimes, copying: LinkTimes) -> LinkTimes:
        return link.replace(gamma=copying.beta) if link.gamma is graph.ZERO else link

    return tuple(
        level.replace(one=reducing(level.one, innermost.one), all=reducing(level.all, innermost.all))
        for level in levels
    )


def _make_level(paths: Paths, path: Path, counts: tuple[Expr, Expr], below: Expr, inside: Place) -> PathLevel:
    """For so many ranks, and so many that send, on a path above containers `inside`, the fullest of which has `below`
    ranks."""
    placement, (ranks, sending) = require_bound_ranks(paths), counts
    full, senders = (ranks_within(paths, path, count) for count in counts)
    if placement.is_compact:
        least = ranks - full * (graph.apply("ceil", ranks / full) - 1)
        ends, fewest = (graph.apply("ceil", count / below) for count in (full, least))
    else:
        containers = placement.used(path.container, ranks) if path.inner else graph.ONE
        least = graph.apply("max", 1, graph.apply("floor", ranks / graph.apply("max", 1, containers)))
        capacity = graph.div(inside.count, path.container.count)
        ends, fewest = (graph.apply("min", count, capacity) for count in (full, least))
    every = below if path.inner else placement.on_a_node(sending)
    leaders = graph.ONE if path.inner else graph.apply("ceil", every / below)
    return PathLevel(
        path=path.network.component.name,
        ends=ends,
        fewest=fewest,
        ranks=full,
        least=least,
        one=path.link(graph.apply("ceil", senders / below), leaders, ends=ends),
        all=path.link(senders, every, ends=ends),
    )
