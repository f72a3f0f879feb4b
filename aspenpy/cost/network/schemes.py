"""Times of messages on a path, and ways to do a collective level by level: phases, each by one algorithm or the
fastest, and the choice among ways and among algorithms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from aspenpy.cost.network.collectives import Algorithm, Cost, algorithms, candidate_algorithms, check_ranks, cost
from aspenpy.cost.network.topology import Size
from aspenpy.cost.prices import first_largest
from aspenpy.expr import graph
from aspenpy.expr.arithmetic import Number, normalise_number
from aspenpy.expr.evaluate import evaluate
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
        """Seconds per byte sent in equal parts to `partners` partners at the same time. Rings are laid so that each
        link is in as many of them (NVIDIA, NCCL: channels; for any number of ends there are such rings, by a zigzag
        that is turned: Walecki, in Alspach, "The wonderful Walecki construction", Bulletin of the ICA 52, 2008)."""
        return graph.apply("max", self.link / graph.apply("min", partners, self.links), self.port)


class Container(Record):
    """Ends in a row that share links to all others, and the seconds of a byte that each of them sends out."""

    inside: Expr
    seconds: Expr


class LinkTimes(Record):
    """Times of messages on a path, of ranks that send at the same time: `alpha` seconds each, `beta` a byte and `gamma`
    a byte combined. Those of more than `threshold` bytes wait for a `handshake` (seconds) before they start; shorter
    ones are copied on the way, which takes `eager` seconds a byte where that is longer than sending them. On a `mesh`,
    what goes to several partners goes over several links. A switch that reduces and copies by itself takes `switch`
    seconds a byte; with `pipelined`, collectives are in pieces on this path and those around it at once. What leaves a
    `container` shares its links."""

    alpha: Expr
    beta: Expr
    gamma: Expr = graph.ZERO
    threshold: Expr | None = None
    handshake: Expr = graph.ZERO
    mesh: Mesh | None = None
    switch: Expr | None = None
    pipelined: bool = False
    eager: Expr = graph.ZERO
    container: Container | None = None

    @property
    def all_pairs(self) -> bool:
        return self.mesh is not None and self.mesh.all_pairs

    def no_faster_than(self, seconds: Expr) -> LinkTimes:
        """Times of the same messages where a byte takes at least `seconds`."""
        return self if seconds is graph.ZERO else self.replace(beta=graph.apply("max", self.beta, seconds))

    def by_algorithm(self, algorithm: Algorithm, ranks: Expr, size: Expr) -> Expr:
        """Seconds of an algorithm among `ranks` ends in their order."""
        time, shared = self.time(algorithm.cost(ranks, size)), self.container
        if shared is None or algorithm.far is None:
            return time
        return time + algorithm.far(ranks, size, shared.inside) * self.delay_outside

    @property
    def delay_outside(self) -> Expr:
        """Seconds by which a byte takes longer where all ends of a container send out of it."""
        return graph.ZERO if self.container is None else graph.apply("max", 0, self.container.seconds - self.beta)

    def time(self, sent: Cost) -> Expr:
        """Seconds of what an algorithm sends; its messages are taken for equally long to decide on the handshake."""
        beta = self.beta if self.mesh is None or sent.partners is graph.ONE else self.mesh.beta(sent.partners)
        time = sent.time(self.alpha, beta, self.gamma)
        if self.threshold is None:
            return time
        long = graph.compare(">", sent.volume, sent.rounds * self.threshold)
        copied = graph.ZERO
        if self.eager is not graph.ZERO:
            copied = sent.volume * graph.apply("max", 0, self.eager - beta)
        return time + graph.if_else(long, sent.rounds * self.handshake, copied)

    def message(self, size: Expr) -> Expr:
        """Seconds of one message."""
        one, none = graph.ONE, graph.ZERO
        return self.time(
            Cost(one, size, combined=none, messages=one, traffic=size, most_messages=one, most_traffic=size)
        )


class SizeRange(Record):
    """The algorithm that is the fastest from `start` bytes on, until the next range starts."""

    algorithm: str
    start: Number


def best_time(collective: str, ranks: Size, size: Size, alpha: Size, beta: Size, gamma: Size = 0) -> Expr:
    """Seconds by the algorithm that is the fastest for this number of ranks and this size."""
    candidates = candidate_algorithms(collective)
    return fastest_time(candidates, ranks, size, lambda each, p, m: each.cost(p, m).time(alpha, beta, gamma))


def fastest_time(
    candidates: list[Algorithm], ranks: Size, size: Size, seconds: Callable[[Algorithm, Expr, Expr], Expr]
) -> Expr:
    """Seconds of the fastest of some algorithms of a collective, by a function that prices one."""
    p = check_ranks(ranks)
    fastest: Expr | None = None
    for algorithm in sorted(candidates, key=lambda each: each.power_of_two):
        time = seconds(algorithm, p, graph.to_expr(size))
        together = time if fastest is None else graph.apply("min", fastest, time)
        fastest = together if fastest is None else graph.if_else(algorithm.applies(p), together, fastest)
    assert fastest is not None, "every collective has an algorithm for any number of ranks"
    return fastest


def best_algorithm(collective: str, ranks: int, size: Number, alpha: Number, beta: Number, gamma: Number = 0) -> str:
    """The name of the fastest algorithm; of equally fast ones the first of the table."""
    return [
        fastest.algorithm for fastest in ranges_of_sizes(collective, ranks, alpha, beta, gamma) if fastest.start <= size
    ][-1]


def ranges_of_sizes(collective: str, ranks: int, alpha: Number, beta: Number, gamma: Number = 0) -> list[SizeRange]:
    """The fastest algorithms by the size of the message, from 0 bytes on.

    The time of each is a straight line over the size, so that they are the lower envelope of lines: from where one is
    the lowest, the next is the one that crosses it first. Exact for exact times.
    """
    p = check_ranks(ranks)
    possible = [algorithm for algorithm in candidate_algorithms(collective) if algorithm.applies(p) is not graph.FALSE]
    lines = {algorithm.name: _line(algorithm, ranks, alpha, beta, gamma) for algorithm in possible}
    name = min(lines, key=lines.__getitem__)
    envelope = [SizeRange(name, 0)]
    while crossings := {
        other: (start - lines[name][0]) / (lines[name][1] - slope)
        for other, (start, slope) in lines.items()
        if slope < lines[name][1]
    }:
        name = min(crossings, key=lambda other: (crossings[other], lines[other][1]))
        envelope.append(SizeRange(name, normalise_number(crossings[name])))
    return envelope


def _line(algorithm: Algorithm, ranks: int, alpha: Number, beta: Number, gamma: Number) -> tuple[Fraction, Fraction]:
    """Seconds of an algorithm for no byte, and for each further byte."""
    times = [
        algorithm.cost(graph.number(ranks), graph.number(size)).time(Fraction(alpha), Fraction(beta), Fraction(gamma))
        for size in (0, 1)
    ]
    nothing, one = (Fraction(evaluate(time)) for time in times)
    return nothing, one - nothing


Values = Callable[[Expr], Any]


class PathLevel(Record):
    """A path that joins `ends` of the fullest container, in which there are `ranks`, and `fewest` ends of the one that
    has the `least` ranks. `one` is what messages take where one rank of each end sends, `all` where every rank does."""

    path: str
    ends: Expr
    fewest: Expr
    ranks: Expr
    least: Expr
    one: LinkTimes
    all: LinkTimes

    @property
    def without_pieces(self) -> PathLevel:
        """The path as MPI has it: pieces and what the switches of a node reduce are NCCL's and RCCL's."""
        if not self.all.pipelined:
            return self
        one, every = (link.replace(pipelined=False, switch=None) for link in (self.one, self.all))
        return self.replace(one=one, all=every)

    @property
    def without_protocols(self) -> PathLevel:
        """The network as NCCL and RCCL have it: no copies and no handshakes of MPI, and rings and trees, of which one
        end of a container sends out of it."""
        one, every = (link.replace(threshold=None, container=None) for link in (self.one, self.all))
        return self.replace(one=one, all=every)


class Phase(Record):
    """A collective of `size` among `ranks` ends of each container on the path of level `height`, and of size `rest`
    where there are `fewest`; by one algorithm, or the fastest, `doubling` being one of them or not. It
    `goes_both_ways` where the phase that is its reverse runs at the same time."""

    path: str
    height: int
    collective: str
    ranks: Expr
    fewest: Expr
    size: Expr
    rest: Expr
    link: LinkTimes
    algorithm: str | None = None
    doubling: bool = True
    goes_both_ways: bool = False

    @property
    def time(self) -> Expr:
        """Seconds until the last container is done; some algorithms take longer among fewer ranks."""
        sizes = dict.fromkeys(((self.ranks, self.size), (self.fewest, self.rest)))
        return _extreme("max", [self._among(ranks, size) for ranks, size in sizes])

    @property
    def waits(self) -> list[tuple[str, Expr]]:
        """The paths that are waited for, with the seconds."""
        return [(self.path, self.time)]

    def _among(self, ranks: Expr, size: Expr) -> Expr:
        if self.algorithm is None:
            time = fastest_time(self._choice, ranks, size, self.link.by_algorithm)
            in_switch = self._in_switch(ranks, size)
            return time if in_switch is None else graph.apply("min", time, in_switch)
        cost(self.collective, self.algorithm, ranks, size)  # refuses a name that there is not
        return self.link.by_algorithm(self._choice[0], ranks, size)

    def _in_switch(self, ranks: Expr, size: Expr) -> Expr | None:
        """Seconds where a switch reduces and copies: each end sends its vector once and gets the result once (Graham et
        al., "Scalable Hierarchical Aggregation Protocol", COMHPC 2016; Klenk et al., ISCA 2020). A reduce-scatter sends
        whole vectors one way, an allgather the other; each way waits for all ends, and then for the data."""
        rounds = {"allreduce": 4, "reduce_scatter": 2, "allgather": 2}.get(self.collective)
        if self.link.switch is None or rounds is None:
            return None
        vector = ranks * size if self.collective == "allgather" else size
        if self.goes_both_ways:
            vector = vector / 2
        time = rounds * self.link.alpha + vector * self.link.switch
        return graph.if_else(graph.compare(">", ranks, 1), time, 0)

    @property
    def _choice(self) -> list[Algorithm]:
        if self.algorithm is not None:
            return [each for each in algorithms(self.collective) if each.name == self.algorithm]
        candidates = candidate_algorithms(self.collective, all_pairs=self.link.all_pairs)
        return [each for each in candidates if self.doubling or each.name != "recursive_doubling"]

    def fastest(self, values: Values) -> str | None:
        """The name of the fastest algorithm among the most ends, by the values of expressions; None for one end."""
        if values(self.ranks) <= 1:
            return None
        times = {
            each.name: values(self.link.by_algorithm(each, self.ranks, self.size))
            for each in self._choice
            if values(graph.if_else(each.applies(self.ranks), 1, 0))
        }
        in_switch = self._in_switch(self.ranks, self.size) if self.algorithm is None else None
        if in_switch is not None:
            times["switch"] = values(in_switch)
        return min(times, key=times.__getitem__)


class Round(Phase):
    """An algorithm among all ranks that uses all paths in every round, such as a ring: each end sends one message over
    each path, and the round takes as long as the slowest of them."""

    levels: tuple[PathLevel, ...] = ()

    def _among(self, ranks: Expr, size: Expr) -> Expr:
        return _extreme("max", self._by_level(ranks, size))

    def _by_level(self, ranks: Expr, size: Expr) -> list[Expr]:
        assert self.algorithm is not None
        sent = cost(self.collective, self.algorithm, ranks, size)
        used = ((graph.compare(">", each.ends, 1), each.one.time(sent)) for each in self.levels)
        return [graph.if_else(several, time, 0) for several, time in used]

    @property
    def waits(self) -> list[tuple[str, Expr]]:
        """The slowest path, the innermost of equals."""
        times = self._by_level(self.ranks, self.size)
        return [
            (level.path, graph.if_else(slowest, time, 0))
            for level, time, slowest in zip(self.levels, times, first_largest(times), strict=True)
        ]

    def fastest(self, values: Values) -> str | None:
        return self.algorithm


class Scheme(Record):
    """A way to do a collective: its phases, one after the other. It `applies` under a condition on the ranks; `chosen`
    says by which library."""

    name: str
    phases: tuple[Phase, ...]
    applies: Expr = graph.TRUE
    chosen: str = ""

    @property
    def time(self) -> Expr:
        return graph.add(*(phase.time for phase in self.phases))

    @property
    def by_path(self) -> dict[str, Expr]:
        """Seconds of the phases on each path."""
        times: dict[str, Expr] = {}
        for path, seconds in (item for phase in self.phases for item in phase.waits):
            times[path] = graph.add(times.get(path, graph.ZERO), seconds)
        return times

    def describe(self, values: Values) -> str:
        """`split: pairwise in nvlink4, recursive doubling across slingshot_11, ring in nvlink4`."""
        named = [(phase, name) for phase in self.phases if (name := phase.fastest(values)) is not None]
        heights = {phase.height for phase, _ in named}
        words = [
            f"{name.replace('_', ' ')} {'across' if len(heights) > 1 and phase.height == max(heights) else 'in'} "
            f"{phase.path}"
            for phase, name in named
        ]
        text = f"{self.name}: {', '.join(words)}" if len(words) > 1 else "".join(words) or self.name
        return f"{text}, {self.chosen}" if self.chosen else text


class Pipeline(Scheme):
    """Phases whose data are cut into pieces, which are on all paths at once: NCCL's channels; Cho et al., BlueConnect,
    MLSys 2019. Where L are the seconds of the rounds of all paths, and M those of the bytes on the path that has most
    to do, k pieces take L/d + M/k for each of k + d steps, and the best number of them

        L + M + 2 sqrt(L M)

    (Sanders, Speck and Traeff, "Two-tree algorithms for full bandwidth broadcast, reduction and scan", Parallel
    Computing 35(12), 2009, section 2). Inside a single node devices store into each other's memory and fill nothing,
    nor does what each rank sends `directly` to others: L + M."""

    directly: bool = False

    @property
    def time(self) -> Expr:
        return graph.add(*self.by_path.values())

    @property
    def by_path(self) -> dict[str, Expr]:
        """The rounds of each path; of the slowest its bytes, and the filling of the pipeline."""
        heights = sorted({phase.height for phase in self.phases})
        paths = {phase.height: phase.path for phase in self.phases}
        whole = [self._seconds(height) for height in heights]
        # A phase takes rounds + bytes/bandwidth: twice the bytes take longer by the second term alone.
        moving = [self._seconds(height, 2) - time for height, time in zip(heights, whole, strict=True)]
        # Between the two a handshake may come in, longer than all of the waiting.
        rounds = [graph.apply("max", 0, time - moved) for time, moved in zip(whole, moving, strict=True)]
        most = _extreme("max", moving)
        filling = graph.ZERO if self.directly else 2 * graph.apply("sqrt", graph.add(*rounds) * most)
        ends = next(phase.ranks for phase in self.phases if phase.height == heights[-1])
        filling = graph.if_else(graph.compare(">", ends, 1), filling, 0)
        return {
            paths[height]: graph.add(waited, graph.if_else(slowest, most + filling, 0))
            for height, waited, slowest in zip(heights, rounds, first_largest(moving), strict=True)
        }

    def _seconds(self, height: int, times: int = 1) -> Expr:
        """Seconds of the phases on the path of a level, with `times` as many bytes."""
        phases = [phase for phase in self.phases if phase.height == height]
        return graph.add(*(each.replace(size=times * each.size, rest=times * each.rest).time for each in phases))


def fastest_scheme(ways: Sequence[Scheme]) -> Expr:
    """Seconds by the fastest of the schemes that there are."""
    always = [each for each in ways if each.applies is graph.TRUE]
    others = [each for each in ways if each.applies is not graph.TRUE]
    assert always, "every collective has a scheme for any number of ranks"
    time = _extreme("min", [each.time for each in always])
    if not others:
        return time
    return graph.if_else(others[0].applies, _extreme("min", [time, *(each.time for each in others)]), time)


def time_by_path(ways: Sequence[Scheme]) -> dict[str, Expr]:
    """Seconds that the phases of the fastest scheme spend on each path."""
    best, found = ways[0].time, ways[0].by_path
    for way in ways[1:]:
        faster = graph.junction("and", way.applies, graph.compare("<", way.time, best))
        best = graph.if_else(faster, way.time, best)
        names = dict.fromkeys((*found, *way.by_path))
        found = {
            name: graph.if_else(faster, way.by_path.get(name, graph.ZERO), found.get(name, graph.ZERO))
            for name in names
        }
    return found


def _extreme(which: str, times: Sequence[Expr]) -> Expr:
    """The `max` or `min` of times, of which there is at least one."""
    return graph.apply(which, *times) if len(times) > 1 else times[0]


def best_scheme(ways: Sequence[Scheme], values: Values) -> Scheme:
    """The fastest scheme by the values of expressions; of equally fast ones the first."""
    possible = [each for each in ways if values(graph.if_else(each.applies, 1, 0))]
    return min(possible, key=lambda each: values(each.time))
