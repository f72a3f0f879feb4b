"""Ranks on one network, by averages over all pairs of them: what messages take where no path inside a node is known."""

from __future__ import annotations

from collections.abc import Sequence

from aspenpy.cost.interconnect import Interconnect
from aspenpy.cost.network.cuts import container_of
from aspenpy.cost.network.grids import shared_by_shift
from aspenpy.cost.network.reordered import Brick, leaving_brick
from aspenpy.cost.network.schemes import Container, LinkTimes
from aspenpy.cost.network.shift import leaving_dealt, off_node, ranks_leaving
from aspenpy.cost.network.topologies import TOPOLOGIES, mean_distance
from aspenpy.cost.ranks import RankPlacement
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.record import Record


class Ranks(Record):
    """`count` ranks on a network: on its nodes as they are placed, else as many per node as the network states, else
    dealt out evenly."""

    network: Interconnect
    count: Expr
    placement: RankPlacement | None = None

    @property
    def per_node(self) -> Expr:
        if self.placement is not None:
            return self.placement.on_a_node(self.count)
        asked = self.network.ranks_per_node
        even = graph.apply("ceil", self.count / self.network.nodes)
        return even if asked is None else graph.apply("min", asked, self.count)

    @property
    def per_port(self) -> Expr:
        """Ranks that share a port."""
        return graph.apply("ceil", self.per_node * self.network.nodes / self.network.ports)

    @property
    def order(self) -> str:
        """The order in which ranks are placed: `cyclic` if their placement or the network says so."""
        dealt = self.placement is not None and self.placement.distribution.nodes in ("cyclic", "plane")
        return "cyclic" if dealt else self.network.placement

    @property
    def dealt(self) -> Expr:
        """Ranks next to each other that a node gets at a time where they are dealt out."""
        size = 1 if self.placement is None else self.placement.distribution.size
        return graph.ONE if size == 1 else graph.apply("min", size, self.per_node)

    @property
    def apart(self) -> Expr:
        """The part of all pairs of ranks that are on two nodes."""
        others = graph.apply("max", self.count - 1, 1)
        return graph.apply("max", 0, 1 - (self.per_node - 1) / others)

    @property
    def hops(self) -> Expr:
        """Links between the nodes of two ranks, the average of all pairs."""
        return self.apart * (self.network.topology.average_distance + self.network.topology.terminal_hops)

    def alpha(self, hops: Expr, apart: Expr) -> Expr:
        """Seconds of one message of no bytes in a round in which every rank sends one. Those of a port leave it one
        after the other, a gap apart (LogP)."""
        waiting = graph.apply("max", self.per_port * apart - 1, 0) * self.network.gap
        return self.network.latency + hops * self.network.hop_latency + waiting

    def beta(self, apart: Expr) -> Expr:
        """Seconds of each byte more: the ranks of a port share what it injects, no link takes more than its bandwidth,
        and all together no more than the network does in all."""
        sharing = graph.apply("max", self.per_port * apart, 1)
        shared = self.network.sharing_of_links(graph.apply("ceil", self.count / self.per_node))
        rates = [sharing / self.network.injection, shared / self.network.link]
        if self.network.total is not None:
            rates.append(self.count / self.network.total)
        return graph.apply("max", *rates)

    def link(self, hops: Expr, apart: Expr) -> LinkTimes:
        """The link of messages over `hops` hops, of which the share `apart` goes to another node."""
        net = self.network
        beta = self.beta(apart)
        return LinkTimes(self.alpha(hops, apart), beta, net.combining, net.threshold, net.handshake, eager=net.eager)

    def crossing(self, stride: Expr, length: Expr, *, in_turn: bool) -> Expr:
        """Seconds of each byte that ranks in their order send to those `stride` further in rings of `length`, through
        the uplinks of a leaf switch, or the links of a group to all others, which those whose neighbour is outside
        share; `in_turn` with the other dimensions, also along the links of a grid, where whole nodes shift."""
        if TOPOLOGIES[self.network.topology.kind].is_grid and in_turn and self.order == "block":
            return self._along_grid(stride, length)
        shared = self.container
        if shared is None:
            return graph.ZERO
        part = ranks_leaving(shared.inside, stride, length, self.count) / shared.inside
        return graph.if_else(graph.compare("<", shared.inside, self.count), part * shared.seconds, 0)

    def _along_grid(self, stride: Expr, length: Expr) -> Expr:
        made = self.network.topology
        of_router = self.per_node * dict(made.parameters).get("nodes_per_router", graph.ONE)
        whole = graph.compare("==", graph.apply("mod", stride, of_router), 0)
        several = shared_by_shift(made, stride / of_router, length) * of_router / self.network.link
        return graph.if_else(graph.junction("and", whole, graph.compare(">", length, 1)), several, 0)

    @property
    def container(self) -> Container | None:
        """The ranks in their order that share links to all others."""
        net = self.network
        cut = container_of(net.topology, net.ports / net.nodes)
        if cut is None or self.order != "block":
            return None
        inside = self.per_node * cut.inside
        return Container(inside, inside / (cut.links * net.link))

    @property
    def is_reordered(self) -> bool:
        """Whether the ranks of a node are to be a brick of each grid."""
        return self.placement is not None and self.placement.distribution.reorder

    @property
    def nodes_in_use(self) -> Expr:
        return graph.apply("ceil", self.count / self.per_node)

    def neighbours_of_bricks(self, brick: Brick, lengths: Sequence[Expr], axis: int) -> tuple[Expr, Expr]:
        """Neighbours as `neighbours` counts them, where each node has a brick, and nodes are numbered in the grid of
        the bricks."""
        made = self.network.topology
        stride = graph.mul(
            *(length / side for length, side in list(zip(lengths, brick.sides, strict=True))[axis + 1 :])
        )
        apart = leaving_brick(lengths[axis], brick.sides[axis], graph.ONE)
        return apart * (mean_distance(made, stride) + made.terminal_hops), apart

    def neighbours(self, stride: Expr, length: Expr, dimensions: int) -> tuple[Expr, Expr]:
        """Hops to the neighbour in the grid of ranks, `stride` ranks further in a ring of `length`, and how often it is
        on another node."""
        made, per_node = self.network.topology, self.per_node
        used = self.nodes_in_use
        if self.order == "random":
            return self.hops, self.apart
        if self.order == "aligned":  # a node has a cube of the grid, the next cube is on the next node
            apart = graph.if_else(
                graph.compare("==", used, 1), 0, 1 / graph.power(per_node, graph.number(1) / graph.number(dimensions))
            )
            return apart * (graph.apply("min", made.diameter, 1) + made.terminal_hops), apart
        # of `cyclic` the nodes are filled in turn: on them, ranks next to each other are on nodes next to each other
        filled = per_node if self.order == "block" else self.dealt
        apart = off_node(stride, filled, used)
        if self.order == "cyclic":
            apart = leaving_dealt(stride, length, filled, used)
        return mean_distance(made, stride, filled) + apart * made.terminal_hops, apart
