"""Instances: those of a block on a machine, over what of it each is spread, and how many share a component.

Amounts are those of one instance. A rank that occupies u cores shares its work out in w = ceil(`width`) equal parts
(`execute [ranks] of [width]`): they take ceil(w/u) turns, so that w/ceil(w/u) cores are at work on average, its spread.
Instances of blocks that are no ranks are as in Aspen: ceil(P/Q) of P take turns on each of Q components.

Reading and writing go to servers that all ranks of a machine share:

    machine cluster {
      node [100] cluster_node
      file_system [16] scratch        // one component for each server
    }

    file_system scratch {
      property client_bandwidth [12.5 GB/s]   // what one node sends or takes at most
      resource write(volume) [latency + volume/bandwidth]
    }

Instances of a block write a file each, and are dealt out evenly over the servers, as Lustre does with files of one
stripe: of P instances, Q servers have ceil(P/Q) each, one after the other. Whatever ranks occupy, a server does not
belong to a node. All that is written on one node goes through its port: the block takes no less than the volume of the
fullest node over the `client_bandwidth`.
"""

from __future__ import annotations

from aspenpy.cost.ranks import RankPlacement
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.models.application.flow import Schedule
from aspenpy.models.machine.model import Place
from aspenpy.record import Record


class PartSizes(Record):
    """Parts of a rank's work that are not equal, such as the rows of a triangle: the `size` of a part is a function of
    its number, the `counter` from 0 on. Sums of sizes are exact. The largest block of a thread is taken from those that
    are the largest where sizes rise, fall or are convex, and the middle one."""

    counter: Expr
    size: Expr

    def sum_to(self, end: Expr) -> Expr:
        """The size of all parts before the one with number `end`."""
        return graph.summation(self.counter, end, self.size)

    def largest(self, parts: Expr) -> Expr:
        """The size of the first part or the last, whichever is larger."""
        ends = [graph.ZERO, graph.apply("max", 0, graph.sub(parts, 1))]
        return graph.apply("max", *(graph.substitute([self.size], {self.counter: end})[0] for end in ends))

    def largest_chunk(self, parts: Expr, threads: Expr, low: Expr, high: Expr) -> Expr:
        """The largest of the blocks of the threads from `low` up to `high`. Each has `each` parts, the first `more` of
        them one more, as OpenMP's static schedule has it."""
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
    """The instances of a block on a machine, `count` of them: ranks if they have a `placement`.

    A rank has `cores`, of which it keeps `spread` busy, and `parts` of work, of unequal `sizes` or of one; `placed` is
    the number of ranks, a failure where the machine has too few places. `threads` of the busiest core work together;
    several kinds of cores share parts by a `schedule`. Instances without a placement use a `share_of_machine`.
    """

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
    are_ranks: bool = False

    @property
    def together(self) -> Expr:
        """Cores that all instances keep busy, at most all cores of the machine."""
        return graph.mul(self.count, self.spread)

    def share(self, amount: Expr) -> Expr:
        """The part of an instance's amount that one of its busy cores does."""
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
        """The work of the busiest of the threads from `low` up to `high`, in the same units, where all `threads` have
        blocks of as many parts."""
        if self.sizes is not None:
            return self.sizes.largest_chunk(self.parts, threads, low, high)
        return graph.apply("max", 0, graph.apply("ceil", graph.div(graph.sub(self.parts, low), threads)))

    def instances_at(self, place: Place) -> Expr:
        """Instances that share the fullest component of a place."""
        if self.placement is None:
            return graph.apply("ceil", graph.div(self.count, self.available(place)))
        if is_file_system(place):
            return graph.apply("ceil", graph.div(self.ranks, place.count))
        of_one = self.placement.places_of_rank(place)
        return graph.if_else(
            graph.compare(">=", of_one, 1), self._any_instance, self.placement.fullest(place, self.ranks)
        )

    def busy_at(self, place: Place) -> Expr:
        """The cores at work that share the fullest component of a place, or take turns on it."""
        if self.placement is None or is_file_system(place):
            return self.instances_at(place)
        of_one = self.placement.places_of_rank(place)
        part = self._any_instance
        if of_one is not self.cores:  # of which no more than all are busy
            evenly = graph.div(self.spread, of_one)
            if self.placement.threads == "close":
                evenly = graph.apply("min", self.spread, graph.div(self.cores, of_one))
            part = graph.mul(part, graph.apply("max", 1, evenly))
        several = graph.mul(self.placement.fullest(place, self.ranks), self.spread)
        return graph.if_else(graph.compare(">=", of_one, 1), part, several)

    def mean_turns(self, core: Place | None, resident: Expr | None = None) -> Expr:
        """Mean number of instances that a core runs one after another, 1 for ranks, which have cores of their own. With
        `resident` instances on a core at once, that many take turns side by side."""
        if core is None or self.are_ranks or self.placement is not None or self.count is graph.ONE:
            return graph.ONE
        at_once = self.available(core) if resident is None else graph.mul(self.available(core), resident)
        return graph.apply("max", 1, graph.div(self.count, at_once))

    def parts_at(self, place: Place) -> Expr:
        """The components of a place, such as private caches, among which a rank's busy cores divide its work."""
        if self.placement is None or self.spread is graph.ONE or is_file_system(place):
            return graph.ONE
        of_one = self.placement.places_of_rank(place)
        if graph.compare("<=", of_one, 1) is graph.TRUE:
            return graph.ONE
        busy = self.spread
        if self.placement.threads == "close":
            busy = graph.apply("ceil", graph.div(busy * of_one, self.cores))
        return graph.apply("max", 1, graph.apply("min", busy, of_one))

    def count_used(self, place: Place) -> Expr:
        """Number of a place's components that have any work, one at least."""
        if self.placement is None or is_file_system(place):
            return graph.apply("min", graph.apply("max", self.count, 1), self.available(place))
        return graph.apply("min", graph.apply("max", self.placement.components_used(place, self.ranks), 1), place.count)

    def on_a_node(self, nodes: Expr) -> Expr:
        """Instances on the fullest of `nodes` nodes."""
        if self.placement is None:
            return graph.apply("ceil", graph.div(self.count, graph.mul(nodes, self.share_of_machine)))
        return self.placement.on_a_node(self.ranks)

    def part_on(self, place: Place) -> Expr:
        """The part on the fullest component of a place, of an amount that is spread evenly over all ranks."""
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
        """Number of ranks, of which the last may have less to do."""
        return graph.apply("ceil", self.placed or self.count)

    @property
    def _any_instance(self) -> Expr:
        """1, and 0 where there are no instances."""
        return graph.apply("min", 1, self.ranks)


ONE_INSTANCE = Instances(graph.ONE)

FILE_SYSTEM = "file_system"
"""The type of components that keep files."""

FILE_RESOURCES = ("read", "write")
"""What a file system is asked for."""

CLIENT = "client_bandwidth"
"""The property of a file system: bytes a second that a node sends or takes at most."""


def is_file_system(place: Place) -> bool:
    return place.component.type == FILE_SYSTEM


def through_a_node(place: Place, amount: Expr, instances: Expr) -> Expr | None:
    """Seconds in which the `instances` on a node send or take the amount (bytes) of each, to or from the file system;
    None where that does not say how fast a node is."""
    bandwidth = place.component.value(CLIENT)
    return None if bandwidth is None else graph.div(graph.mul(instances, amount), bandwidth)
