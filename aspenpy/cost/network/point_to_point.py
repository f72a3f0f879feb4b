"""Time of one message from one rank to another, by three models of a network.

Times in seconds, sizes in bytes, as expressions: every quantity may be a number or a symbol.
"""

from __future__ import annotations

from heapq import heappop, heappush

from aspenpy.cost.network.topology import NetworkError, Size
from aspenpy.expr import graph
from aspenpy.expr.arithmetic import Number
from aspenpy.expr.graph import Expr
from aspenpy.record import Record


class Hockney(Record):
    """A start-up time and a bandwidth (Hockney, "The communication challenge for MPP", Parallel Computing 20, 1994).

    `latency` is in seconds, `bandwidth` in bytes a second.
    """

    latency: Size
    bandwidth: Size

    def time(self, size: Size) -> Expr:
        """alpha + m / B."""
        return graph.add(self.latency, graph.div(size, self.bandwidth))


class LogP(Record):
    """Short messages between processors (Culler et al., "LogP: towards a realistic model of parallel computation",
    PPoPP 1993): the `latency` L of the network, the `overhead` o of a processor that sends or receives, the `gap` g
    between two messages of one processor; all in the same unit of time."""

    latency: Size
    overhead: Size
    gap: Size

    @property
    def step(self) -> Expr:
        """Seconds from one message of a processor to its next: a gap, or the overhead where that is longer."""
        return graph.apply("max", self.gap, self.overhead)

    def time(self, messages: Size = 1) -> Expr:
        """o + L + o for one message, a step more for each that follows on its heels."""
        one = graph.add(self.overhead, self.latency, self.overhead)
        return one + graph.sub(messages, 1) * self.step


class LogGP(Record):
    """Long messages too (Alexandrov et al., "LogGP: incorporating long messages into the LogP model", SPAA 1995):
    `byte_gap` G is the time for each byte of a long message, the inverse of its bandwidth."""

    latency: Size
    overhead: Size
    gap: Size
    byte_gap: Size

    def time(self, size: Size) -> Expr:
        """o + (k-1) G + L + o for k bytes."""
        return graph.add(self.overhead, graph.sub(size, 1) * self.byte_gap, self.latency, self.overhead)


class Arrival(Record):
    """When a processor has a broadcast's message, and who sent it: None at the root."""

    time: Number
    sender: int | None


def optimal_broadcast(latency: Number, overhead: Number, gap: Number, processors: int) -> list[Arrival]:
    """The fastest broadcast of one short message under LogP: everyone who has it sends it on at once, a gap after
    another, to whoever is earliest served by that (Karp et al., "Optimal broadcast and summation in the LogP model",
    SPAA 1993). By processor, in the order of arrival; the root is processor 0."""
    if processors < 1:
        raise NetworkError(f"a broadcast has 1 processor or more, not {processors}", "processors")
    arrivals = [Arrival(0, None)]
    step = max(gap, overhead)
    flight = latency + 2 * overhead
    sends: list[tuple[Number, int]] = [(0, 0)]
    while len(arrivals) < processors:
        start, sender = heappop(sends)
        arrivals.append(Arrival(start + flight, sender))
        heappush(sends, (start + step, sender))
        heappush(sends, (start + flight, len(arrivals) - 1))
    return arrivals
