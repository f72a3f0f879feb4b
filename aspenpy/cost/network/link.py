"""Links: what the messages of an algorithm take on a path, and how they use the links of a full mesh."""

from __future__ import annotations

from aspenpy.cost.network.collectives import Cost
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.record import Record


class Mesh(Record):
    """Links from each end to each other one, `links` of those in use: seconds a byte over one `link`, and over the
    `port` that they have together. With `all_pairs` ranks have algorithms in which they send to all others at once."""

    links: Expr
    link: Expr
    port: Expr
    all_pairs: bool = False

    def beta(self, partners: Expr) -> Expr:
        """Seconds a byte of what is sent in equal parts to so many at the same time. Rings are laid so that each link
        is in as many of them (NVIDIA, NCCL: channels; for any number of ends there are such rings, by a zigzag that is
        turned: Walecki, in Alspach, "The wonderful Walecki construction", Bulletin of the ICA 52, 2008)."""
        return graph.apply("max", self.link / graph.apply("min", partners, self.links), self.port)


class Link(Record):
    """What messages take on a path, of ranks that send at the same time: `alpha` seconds each, `beta` a byte and
    `gamma` a byte combined. Those of more than `threshold` bytes wait for a `handshake` (seconds) before they start. On
    a `mesh`, what goes to several partners goes over several links."""

    alpha: Expr
    beta: Expr
    gamma: Expr = graph.ZERO
    threshold: Expr | None = None
    handshake: Expr = graph.ZERO
    mesh: Mesh | None = None

    @property
    def all_pairs(self) -> bool:
        return self.mesh is not None and self.mesh.all_pairs

    def time(self, sent: Cost) -> Expr:
        """Seconds of what an algorithm sends; its messages are taken for equally long to decide on the handshake."""
        beta = self.beta if self.mesh is None or sent.partners is graph.ONE else self.mesh.beta(sent.partners)
        time = sent.time(self.alpha, beta, self.gamma)
        if self.threshold is None:
            return time
        long = graph.compare(">", sent.volume, sent.rounds * self.threshold)
        return time + graph.if_else(long, sent.rounds * self.handshake, 0)

    def message(self, size: Expr) -> Expr:
        """Seconds of one message."""
        none = graph.ZERO
        return self.time(Cost(graph.ONE, size, none, graph.ONE, size, graph.ONE, size))
