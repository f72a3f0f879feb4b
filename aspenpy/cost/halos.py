"""Halos: what each rank of a grid sends its neighbours, over the network or over the paths between ranks.

`as halo(d)`, or `as halo(x, y, z)` for a grid of so many ranks that is not as long in each dimension: each rank sends
its volume to the neighbours on both sides along every dimension, one dimension after the other, or with "all_ports" all
at once; with "open" the grid has ends. The sides are equal, or as `faces(a, b, c)` beside it has them in proportion;
`models.application.cut_halos` writes out those of a cube that is cut by its ranks.
"""

from __future__ import annotations

from aspenpy.cost.network.collectives import MOST_DIMENSIONS, Cost, halo
from aspenpy.cost.network.reordered import brick_of
from aspenpy.cost.network.schemes import LinkTimes
from aspenpy.cost.network.shift import ranks_crossing, ranks_leaving
from aspenpy.cost.network_ranks import Ranks
from aspenpy.cost.path_levels import Path, all_paths, ranks_within
from aspenpy.cost.paths import Paths
from aspenpy.cost.prices import first_largest
from aspenpy.cost.trait_names import ALL_PORTS, FACES, OPEN
from aspenpy.cost.value_mistakes import ValueMistake
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.expr.printer import to_text
from aspenpy.language.diagnostics import fail, suggest_nearest
from aspenpy.models.application import flow
from aspenpy.record import Record

SLACK = graph.number(1e-9)
"""The part by which rounding may make a number of ranks another one."""


class RankGrid(Record):
    """The ranks along each dimension and the bytes of a face across it; `stated` where the lengths are written."""

    lengths: tuple[Expr, ...]
    faces: tuple[Expr, ...]
    stated: bool
    periodic: bool
    all_ports: bool

    def exchange_cost(self, length: Expr, face: Expr) -> Cost:
        """Bytes that a rank sends along a dimension, one message after the other."""
        return halo([length], [face], periodic=self.periodic, all_ports=self.all_ports)


def grid_of(trait: flow.Trait, requirement: flow.Requirement, ranks: Expr) -> RankGrid:
    """The grid that a halo's trait says, with `faces` beside it. A number of dimensions alone makes the most even grid.
    Raises AspenError where that makes no halo."""
    words = [argument for argument in trait.arguments if isinstance(argument, str)]
    for word in words:
        if word not in (ALL_PORTS, OPEN):
            known = [ALL_PORTS, OPEN]
            fail("bad-exchange", f"unknown word `{word}` of a halo", trait.span, hint=suggest_nearest(word, known))
    lengths = _lengths(trait, ranks)
    stated = len(numbers_of(trait)) > 1
    return RankGrid(lengths, _faces(requirement, len(lengths)), stated, OPEN not in words, ALL_PORTS in words)


def numbers_of(trait: flow.Trait) -> list[Expr]:
    """The arguments of a trait that are numbers, not words."""
    return [argument for argument in trait.arguments if isinstance(argument, Expr)]


def _lengths(trait: flow.Trait, ranks: Expr) -> tuple[Expr, ...]:
    """The number of ranks along each dimension of the grid."""
    numbers = numbers_of(trait)
    dimensions = graph.whole_number(numbers[0]) if len(numbers) == 1 else len(numbers)
    if dimensions is None or not 1 <= dimensions <= MOST_DIMENSIONS:
        message = f"a halo is exchanged in 1 to {MOST_DIMENSIONS} dimensions"
        hint = "write their number, `as halo(3)`, or the ranks along each, `as halo(x, y, z)`"
        fail("bad-exchange", message, trait.span, hint=hint)
    if len(numbers) > 1:
        return tuple(numbers)
    return tuple(graph.apply("grid", ranks, dimensions, axis) for axis in range(dimensions))


def _faces(requirement: flow.Requirement, dimensions: int) -> tuple[Expr, ...]:
    """The bytes of a face across each dimension: two of each make the volume."""
    stated = next((trait for trait in requirement.traits if trait.name == FACES), None)
    if stated is None:
        return (requirement.amount / (2 * dimensions),) * dimensions
    parts = numbers_of(stated)
    if len(parts) != dimensions or len(parts) != len(stated.arguments):
        message = f"a halo in {dimensions} dimensions has {dimensions} faces, not {len(stated.arguments)}"
        fail("bad-exchange", message, stated.span, hint="write the bytes of a face across each, `faces(a, b, c)`")
    whole = 2 * graph.add(*parts)
    none = graph.compare("==", whole, 0)
    return tuple(graph.if_else(none, 0, requirement.amount * part / whole) for part in parts)


class RankPathUse(Record):
    """A path between ranks in an exchange: 1 where any message takes it, and the seconds that are due to it."""

    name: str
    taken: Expr
    seconds: Expr


def halo_time(grid: RankGrid, among: Ranks, paths: Paths, trait: flow.Trait) -> tuple[Expr, tuple[RankPathUse, ...]]:
    """Seconds of a halo exchange, and the paths that it uses inside of nodes and between them. In each direction the
    ranks wait for the slower path. A grid that the model states must have as many ranks as the block."""
    times, sides, together, stride = [], [], [], graph.ONE
    brick = brick_of(grid.lengths, grid.faces, among.per_node) if among.is_reordered else None
    for axis in reversed(range(len(grid.lengths))):
        # the last coordinate is the fastest, as in `network.placement`
        length, face = grid.lengths[axis], grid.faces[axis]
        hops, apart = among.neighbours(stride, length, len(grid.lengths))
        step, ring, crossing = stride, length, among.crossing(stride, length, in_turn=not grid.all_ports)
        if brick is not None:
            crossing = graph.if_else(brick.found, 0, crossing)
            own = among.neighbours_of_bricks(brick, grid.lengths, axis)
            hops, apart = (graph.if_else(brick.found, *pair) for pair in zip(own, (hops, apart), strict=True))
            step = graph.if_else(brick.found, graph.mul(*brick.sides[axis + 1 :]), stride)
            ring = graph.if_else(brick.found, brick.sides[axis], length)
        if paths.by_level:
            neighbours = Neighbours(
                paths, among, step, ring, hops, apart=apart, in_bricks=graph.FALSE if brick is None else brick.found
            )
            sides.append(neighbours.sides(grid.exchange_cost(length, face), face, crossing))
        else:
            sent = grid.exchange_cost(length, face)
            times.append(among.link(hops, apart).no_faster_than(crossing).time(sent))
            together.append(crossing * sent.most_traffic)
        stride = stride * length
    if sides:
        rounds = [_simultaneous_seconds(sides)] if grid.all_ports else [[each.time for each in row] for row in sides]
        times = [_longest(each) for each in rounds]
    time = graph.apply("max", *times, graph.add(*together)) if grid.all_ports else graph.add(*times)
    if grid.stated:
        time = _of_all_ranks(time, graph.mul(*grid.lengths), among, trait)
    return time, _uses(sides, rounds) if sides else ()


def _uses(sides: list[list[Side]], rounds: list[list[Expr]]) -> tuple[RankPathUse, ...]:
    """The paths, by the seconds that each of them takes in each round."""
    waited = [
        [graph.if_else(slowest, time, 0) for slowest, time in zip(first_largest(each), each, strict=True)]
        for each in rounds
    ]
    return tuple(
        RankPathUse(column[0].name, _longest([each.taken for each in column]), graph.add(*seconds))
        for column, seconds in zip(zip(*sides, strict=True), zip(*waited, strict=True), strict=True)
    )


def _longest(times: list[Expr]) -> Expr:
    return graph.apply("max", *times) if len(times) > 1 else times[0]


def _simultaneous_seconds(sides: list[list[Side]]) -> list[Expr]:
    """Seconds of each path in which all ranks send all of their faces: those of an end share its ports, where each has
    at least what the busiest rank sends."""
    times = []
    for column in zip(*sides, strict=True):
        net, used = column[0].path.network, [each.taken for each in column]
        latency = _longest([each.taken * each.link.alpha for each in column])
        shared = graph.add(*(each.taken * each.bytes_of_a_port for each in column))
        busiest = graph.add(*(each.taken * each.bytes_of_a_rank for each in column))
        rates = [graph.apply("max", shared, busiest) / net.injection]
        rates += [each.taken * each.face / net.link for each in column]
        rates.append(graph.add(*(each.taken * each.crossing * each.sent.most_traffic for each in column)))
        if net.total is not None:
            rates.append(graph.add(*(each.taken * each.bytes_in_all for each in column)) / net.total)
        time = latency + _longest(rates)
        if net.threshold is not None:
            long = graph.compare(">", _longest([each.taken * each.face for each in column]), net.threshold)
            eager = time if net.eager is graph.ZERO else latency + _longest([*rates, busiest * net.eager])
            time = graph.if_else(long, time + net.handshake, eager)
        times.append(graph.if_else(graph.compare(">", _longest(used), 0), time, 0))
    return times


def _of_all_ranks(time: Expr, ranks: Expr, among: Ranks, trait: flow.Trait) -> Expr:
    """The time, if the grid is one of the ranks of the block; it may be off by rounding."""
    message = "the product of a halo's grid must be the number of ranks of its block"
    hint = f"the block runs in so many ranks: {to_text(among.count)}"
    mistake = ValueMistake(
        code="wrong-grid", message=message, subject=ranks, beside=among.count, span=trait.span, hint=hint
    )
    apart = graph.apply("abs", ranks - among.count)
    return graph.if_else(graph.compare("<=", apart, among.count * SLACK), time, graph.failure(mistake))


class Side(Record):
    """Messages over one path along a dimension: `load` of the ranks of an end, its `members`, and `senders` of a
    container each send a face one way at the same time; `sent` is all that a rank sends along it, of which each byte
    takes `crossing` seconds through links between switches that it shares."""

    path: Path
    members: Expr
    load: Expr
    senders: Expr
    hops: Expr | None
    sent: Cost
    face: Expr
    crossing: Expr = graph.ZERO

    @property
    def name(self) -> str:
        return self.path.network.component.name

    @property
    def taken(self) -> Expr:
        """1 where any message goes there, else 0."""
        some = graph.junction("and", graph.compare(">", self.sent.most_messages, 0), graph.compare(">", self.load, 0))
        return graph.if_else(some, 1, 0)

    @property
    def link(self) -> LinkTimes:
        return self.path.link(self.senders, self.load, self.hops).no_faster_than(self.crossing)

    @property
    def time(self) -> Expr:
        """Seconds of one message after the other."""
        return graph.if_else(graph.compare(">", self.load, 0), self.link.time(self.sent), 0)

    @property
    def bytes_of_a_port(self) -> Expr:
        """Bytes through a port, both ways, on average over the ports of an end."""
        return self.load * self.path.ends / self.path.network.ports * self.sent.most_traffic

    @property
    def bytes_of_a_rank(self) -> Expr:
        """Bytes of a rank: both ways where all members send, one way of those at the edge where only they do."""
        everyone = graph.compare(">=", self.load, self.members)
        return graph.if_else(everyone, self.sent.most_traffic, graph.apply("min", self.face, self.sent.most_traffic))

    @property
    def bytes_in_all(self) -> Expr:
        return self.senders * self.sent.most_traffic


class Neighbours(Record):
    """The neighbours along one dimension by the paths that lead there, for ranks `stride` apart in rings of `length`,
    those of the brick of a node where they are `in_bricks`; `hops` and `apart` are the averages over all ranks on the
    network."""

    paths: Paths
    among: Ranks
    stride: Expr
    length: Expr
    hops: Expr
    apart: Expr
    in_bricks: Expr

    def sides(self, sent: Cost, face: Expr, crossing: Expr) -> list[Side]:
        """Senders and bytes of each path: all send at once, those inside a node and those to others."""
        sides, below = [], graph.ONE
        stride, inner = self._in_a_node()
        count = self.among.count
        paths = all_paths(self.paths, count)
        for index, path in enumerate(paths):
            full = ranks_within(self.paths, path, count)
            if not path.inner:
                load = self._off_node(below)
            elif index == len(paths) - 1:
                load = ranks_leaving(below, stride, self.length, count)
            else:
                load = ranks_crossing(below, full, stride, self.length, count)
            load = graph.if_else(inner, load, 0) if path.inner else load
            members = below if path.inner else self.among.per_node
            senders = graph.apply("min", load * graph.apply("ceil", full / members), full)
            shared = graph.ZERO if path.inner else crossing
            sides.append(Side(path, members, load, senders, self._hops(path), sent=sent, face=face, crossing=shared))
            below = full
        return sides

    def _off_node(self, below: Expr) -> Expr:
        """The ranks of a node that send over the network: those that leave the containers of the level below, which
        are the node or as many as it has of them."""
        members, order = self.among.per_node, self.among.order
        average = self.apart * members
        if order not in ("block", "cyclic"):
            return average
        several = graph.apply("ceil", members / below)
        load = several * ranks_leaving(below, self.stride, self.length, self.among.count)
        if order == "cyclic":  # the last plane of a node may have fewer ranks, of which as many leave it
            size = self.among.dealt
            planes = graph.apply("min", members, self.apart * size * graph.apply("ceil", members / size))
            load = graph.if_else(graph.compare(">=", size, members), load, planes)
        return graph.if_else(self.in_bricks, average, load)

    def _hops(self, path: Path) -> Expr | None:
        """Links on the way to a neighbour on another node; of a path inside a node those of an average pair."""
        if path.inner:
            return None
        return graph.if_else(graph.compare(">", self.apart, 0), self.hops / self.apart, 0)

    def _in_a_node(self) -> tuple[Expr, Expr]:
        """The stride as it is inside a node, and whether any neighbour is there."""
        if self.among.order == "block":
            return self.stride, graph.TRUE
        near = graph.compare("<", self.apart, 1)
        if self.among.order == "cyclic":
            # of planes as far apart as there are nodes each has the next ones of a node
            planes = graph.apply("max", 1, self.stride / self.among.nodes_in_use)
            dealt = graph.if_else(graph.compare("<", self.stride, self.among.dealt), self.stride, planes)
            return graph.if_else(self.in_bricks, self.stride, dealt), near
        return self.stride, near
