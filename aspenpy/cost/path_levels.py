"""Path levels: what a message takes on each of the paths between ranks, and how many of them share it."""

from __future__ import annotations

from aspenpy.cost.interconnect import Interconnect, interconnect_of
from aspenpy.cost.network.cuts import container_of
from aspenpy.cost.network.schemes import Container, LinkTimes, Mesh, PathLevel
from aspenpy.cost.network.topologies import part_of
from aspenpy.cost.paths import Paths
from aspenpy.cost.ranks import RankPlacement
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.models.machine.model import Place
from aspenpy.record import Record

CORE = "core"
"""The type of what a rank occupies that reduces by loads and stores."""

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
        """The link of messages that `senders` ranks of a container, `of_an_end` of them on one end, send at the same
        time. Messages of a port leave it one at a time, a gap apart (LogP), and share its injection bandwidth. On a
        mesh, each of the `ends` in use has a link to each other one."""
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
        shared = None if self.inner or ends is None else self._container(of_an_end)
        return LinkTimes(
            alpha, beta, net.combining, net.threshold, net.handshake, mesh, switch, net.pipelined, net.eager
        ).replace(container=shared)

    def _container(self, of_an_end: Expr) -> Container | None:
        """The nodes that share links to others, while `of_an_end` ranks of each node send out."""
        cut = container_of(self.network.topology, self.network.ports / self.network.nodes)
        if cut is None or self.network.placement != "block":
            return None
        return Container(cut.inside, of_an_end * cut.inside / (cut.links * self.network.link))

    def message(self, size: Expr, hops: Expr, senders: Expr = graph.ONE) -> Expr:
        """Seconds of a message over `hops` hops while only `senders` ranks of its end send."""
        return self.link(senders, senders, hops + self.network.topology.terminal_hops).message(size)


def require_bound_ranks(paths: Paths) -> RankPlacement:
    """The components that ranks occupy, which have to be known."""
    assert paths.ranks is not None
    return paths.ranks


def all_paths(paths: Paths, ranks: Expr | None = None) -> list[Path]:
    """The paths, innermost first; of the network only the part that `ranks` ranks have. Raises AspenError where what a
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
    """The part of a network with the nodes of `ranks` ranks; all of it where no placement is known."""
    if placement is None or ranks is None:
        return network
    used = placement.run_nodes(ranks)
    part = part_of(network.topology, used, network.nodes)
    if part is network.topology or network.total is None:
        return network.replace(topology=part)
    share = graph.apply("min", 1, used / network.nodes)
    return network.replace(topology=part, total=network.total * share)


def ranks_within(paths: Paths, path: Path, ranks: Expr) -> Expr:
    """Number of the `ranks` ranks in the fullest container of a path."""
    return require_bound_ranks(paths).fullest(path.container, ranks) if path.inner else ranks


class RankGroup(Record):
    """Ranks that exchange data, each `stride` further than the last, while `sending` ranks send in all."""

    ranks: Expr
    sending: Expr
    stride: Expr = graph.ONE

    def within(self, paths: Paths, path: Path) -> Expr:
        """Number of the group's ranks in the fullest container of a path."""
        if self.stride is graph.ONE:
            return ranks_within(paths, path, self.ranks)
        return graph.apply("ceil", ranks_within(paths, path, self.ranks * self.stride) / self.stride)


def levels_between(
    ranks: Expr, paths: Paths, sending: Expr | None = None, stride: Expr = graph.ONE
) -> tuple[PathLevel, ...]:
    """The levels of the paths among `ranks` ranks, each `stride` further than the last, while `sending` ranks send in
    all."""
    levels, group = [], RankGroup(ranks, sending or ranks, stride)
    below, inside = graph.ONE, require_bound_ranks(paths).unit
    for path in all_paths(paths, group.sending):
        level = _make_level(paths, path, group, below, inside)
        levels.append(level)
        below, inside = level.ranks, path.container
    return _reducing_on_cores(levels) if require_bound_ranks(paths).unit.component.type == CORE else tuple(levels)


def _reducing_on_cores(levels: list[PathLevel]) -> tuple[PathLevel, ...]:
    """Fills in rates of reductions that no path states: a rank on a core adds what arrives to its own as fast as it
    copies through the memory of its socket, the innermost path: both move every byte in and out of memory once, and
    read it once more."""
    innermost = levels[0]

    def reducing(link: LinkTimes, copying: LinkTimes) -> LinkTimes:
        return link.replace(gamma=copying.beta) if link.gamma is graph.ZERO else link

    return tuple(
        level.replace(one=reducing(level.one, innermost.one), all=reducing(level.all, innermost.all))
        for level in levels
    )


def _make_level(paths: Paths, path: Path, group: RankGroup, below: Expr, inside: Place) -> PathLevel:
    """The level of a path for a group of ranks, above containers `inside`, the fullest of which has `below` of them.
    Where they are apart, the ranks between them are of other groups, which send at the same time."""
    placement, ranks, sending = require_bound_ranks(paths), group.ranks, group.sending
    full, senders = group.within(paths, path), ranks_within(paths, path, sending)
    if placement.is_compact:
        least = ranks - full * (graph.apply("ceil", ranks / full) - 1)
        ends, fewest = (graph.apply("ceil", count / below) for count in (full, least))
    else:
        containers = placement.components_used(path.container, ranks) if path.inner else graph.ONE
        least = graph.apply("max", 1, graph.apply("floor", ranks / graph.apply("max", 1, containers)))
        capacity = graph.div(inside.count, path.container.count)
        ends, fewest = (graph.apply("min", count, capacity) for count in (full, least))
    neighbours = group.stride is graph.ONE
    of_an_end = below if neighbours or inside is placement.unit else placement.fullest(inside, sending)
    every = of_an_end if path.inner else placement.on_a_node(sending)
    leaders = graph.ONE if path.inner and neighbours else graph.apply("ceil", every / below)
    return PathLevel(
        path=path.network.component.name,
        ends=ends,
        fewest=fewest,
        ranks=full,
        least=least,
        one=path.link(graph.apply("ceil", senders / below), leaders, ends=ends),
        all=path.link(senders, every, ends=ends),
    )
