"""Collectives in the order of ranks: one algorithm among all of them, as an MPI library runs it that knows no nodes.

Ranks are placed in blocks, c of them in a container of a level. An algorithm in rounds goes over distances 1, 2, 4, ...
between ranks. Exchanges of pairs at distance 2^k stay inside a container where 2^(k+1) divides c, so that 36 ranks of a
node have two rounds inside it, and 32 five. Shifts by 2^k leave a container in every round. In a round that crosses to
another container, min(2^k, c) ranks of each do so at the same time and share its port: a message waits for their gaps,
and a byte has their share. Rounds are synchronous: one takes as long as the farthest message in it.
"""

from __future__ import annotations

from collections.abc import Callable

from aspenpy.cost.network.collectives import Cost, count_rounds, count_set_bits, fold_extra_ranks, whole_steps
from aspenpy.cost.network.levels import Among, ways_of_collective
from aspenpy.cost.network.mpi_choices import WHOLE, AlgorithmRow, algorithm_rows
from aspenpy.cost.network.schemes import PathLevel, Phase, Scheme, Values
from aspenpy.cost.network.topology import floor
from aspenpy.cost.prices import first_largest
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.record import Record

MOST_DISTANCES = 24
"""Rounds of pairs that may stay inside a container: of 2^24 ranks, more than any node has."""


class TimedPhase(Phase):
    """A phase whose `seconds` are known."""

    seconds: Expr = graph.ZERO

    @property
    def time(self) -> Expr:
        return self.seconds

    def fastest(self, values: Values) -> str | None:
        return self.algorithm if values(self.seconds) > 0 else None


class Rounds(Record):
    """`count` rounds at distances 1, 2, 4, ..., the first with `size` bytes, each next one with `growth` times as many
    (1, 2, or 0 for a half). Of `pairs`, or shifts of all; in a `tree` one rank of a container sends. With 2 `bits` the
    distances are 1, 4, 16, .... `combined` bytes are added for each that arrives."""

    count: Expr
    size: Expr
    growth: int = 1
    pairs: bool = True
    tree: bool = False
    combined: int = 0
    bits: int = 1

    def volume(self, first: Expr, end: Expr) -> Expr:
        """Bytes that a rank sends in the rounds from `first` on, below `end`."""
        if self.growth == 1:
            return (end - first) * self.size
        if self.growth == 2:
            return (2**end - 2**first) * self.size
        return (2 ** (1 - first) - 2 ** (1 - end)) * self.size

    def shared(self, first: Expr, end: Expr, ranks: Expr) -> tuple[Expr, Expr]:
        """Ranks of a container with `ranks` ranks that cross its border, and the bytes that they send, both summed over
        the rounds."""
        # A shift by 2^k up to their number is one of 2^k ranks; how many pairs cross depends on the container.
        below = whole_steps(ranks) if self.pairs else whole_steps(ranks) + 1
        full = graph.apply("min", graph.apply("max", below, first), end)
        crossing = 2**full - 2**first + (end - full) * ranks
        if self.growth == 1:
            return crossing, crossing * self.size
        if self.growth == 2:
            return crossing, ((4**full - 4**first) / 3 + ranks * (2**end - 2**full)) * self.size
        return crossing, (full - first + ranks * (2 ** (1 - full) - 2 ** (1 - end))) * self.size

    def seconds(self, level: PathLevel, below: Expr, first: Expr, end: Expr, outside: Expr | None = None) -> Expr:
        """Seconds of these rounds on a level whose ends have `below` ranks. `outside` ranks lie outside of an end: no
        more of them can be sent to at once."""
        volume = self.volume(first, end)
        alone = level.one.time(_sent(end - first, volume, self.combined * volume))
        if self.tree or (below is graph.ONE and level.all.container is None):
            return alone
        others = graph.apply("max", below - 1, 1)
        crossing, bytes_crossing = self.shared(first, end, below if outside is None else _least(below, outside))
        gap, share = ((total - one) / others for total, one in _seconds_of_links(level))
        time = alone + gap * (crossing - (end - first)) + share * (bytes_crossing - volume)
        if level.all.container is None:
            return time
        outside = graph.apply("min", graph.apply("max", count_rounds(level.all.container.inside * below), first), end)
        return time + self.volume(outside, end) * level.all.delay_outside


def _sent(rounds: Expr, volume: Expr, combined: Expr = graph.ZERO) -> Cost:
    none = graph.ZERO
    return Cost(rounds, volume, combined, none, none, none, none)


def _least(below: Expr, outside: Expr) -> Expr:
    return graph.apply("max", graph.apply("min", below, outside), 1)


def _seconds_of_links(level: PathLevel) -> tuple[tuple[Expr, Expr], tuple[Expr, Expr]]:
    """(seconds per message, seconds per byte), of all ranks together and of one."""
    return (level.all.alpha, level.one.alpha), (level.all.beta, level.one.beta)


def _rounds_inside(ranks: Expr) -> Expr:
    """Number of the distances 1, 2, 4, ... that have pairs that never leave a container of `ranks` ranks: the power of
    two in `ranks`."""
    known = graph.whole_number(ranks)
    if known is not None and known > 0:
        return graph.number((known & -known).bit_length() - 1)
    k = graph.counter("k")
    divides = graph.compare("==", graph.apply("mod", ranks, 2 ** (k + 1)), 0)
    return graph.summation(k, MOST_DISTANCES, graph.if_else(divides, 1, 0))


class RanksInOrder(Record):
    """The ranks of a collective in their order, and the levels that they are on."""

    among: Among
    collective: str
    algorithm: str

    @property
    def count(self) -> Expr:
        return self.among.count

    @property
    def size(self) -> Expr:
        return self.among.size

    def below(self, height: int) -> Expr:
        return self.among.levels[height - 1].ranks if height else graph.ONE

    def phase(self, height: int, seconds: Expr) -> Phase:
        """Seconds on a level, where more than one of its ends take part."""
        level = self.among.levels[height]
        several = graph.if_else(graph.compare(">", level.ends, 1), seconds, 0)
        return TimedPhase(
            level.path, height, self.collective, level.ends, level.fewest, self.size, self.size, level.one,
            self.algorithm, seconds=several,
        )  # fmt: skip

    def over(self, rounds: Rounds) -> list[Phase]:
        """The phases of the rounds: those of pairs by level, shifts on the outermost level that is in use."""
        if not rounds.pairs:
            return self.outermost(
                lambda level, below: rounds.seconds(level, below, graph.ZERO, rounds.count, self.count - below)
            )
        phases, first = [], graph.ZERO
        for height, level in enumerate(self.among.levels):
            inside = graph.apply("min", floor(_rounds_inside(level.ranks) / rounds.bits), rounds.count)
            end = rounds.count if height == self.among.top else graph.apply("max", first, inside)
            phases.append(self.phase(height, rounds.seconds(level, self.below(height), first, end)))
            first = end
        return phases

    def outermost(self, seconds: Callable[[PathLevel, Expr], Expr]) -> list[Phase]:
        """Seconds on the outermost of the levels that join more than one end."""
        phases = []
        alone = graph.TRUE
        for height in reversed(self.among.outwards):
            level = self.among.levels[height]
            time = graph.if_else(alone, seconds(level, self.below(height)), 0)
            phases.append(self.phase(height, time))
            alone = graph.junction("and", alone, graph.compare("<=", level.ends, 1))
        return phases

    def through_all(self, sent: Cost) -> list[Phase]:
        """Rounds in which each rank sends to the next one, so that every path is in use: as long as the slowest."""
        used = [graph.compare(">", level.ends, 1) for level in self.among.levels]
        times = [
            graph.if_else(several, level.one.time(sent), 0)
            for several, level in zip(used, self.among.levels, strict=True)
        ]
        return [
            self.phase(height, graph.if_else(slowest, time, 0))
            for height, (time, slowest) in enumerate(zip(times, first_largest(times), strict=True))
        ]

    def all_at_once(self, of_a_rank: Expr, *, root: bool = False, combined: int = 0) -> list[Phase]:
        """Messages of a rank to each other one, or of the `root` alone, all posted at once: each a gap after the last
        (LogGP). `combined` bytes are added for each that arrives."""
        n = self.count - 1

        def seconds(level: PathLevel, below: Expr) -> Expr:
            others = graph.apply("max", below - 1, 1)
            (all_alpha, alpha), (all_beta, _) = _seconds_of_links(level)
            gap = (all_alpha - alpha) / others
            if root:
                return level.one.time(_sent(graph.ONE, n * of_a_rank, combined * n * of_a_rank)) + gap * (n - 1)
            return alpha + gap * (n * below - 1) + all_beta * n * of_a_rank

        return self.outermost(seconds)

    def fold(self, result: Expr, combined: int = 0) -> list[Phase]:
        """Ranks beyond a power of two give what they have to their neighbours, which combine it with their own, and get
        `result` bytes back."""
        extra = fold_extra_ranks(self.count)
        given = self.over(Rounds(extra, self.size, tree=True, combined=combined))
        return [*given, *self.over(Rounds(extra, result, tree=True))]


# -- the algorithms --------------------------------------------------------------------------------


def _halving(r: RanksInOrder, combined: int = 0) -> Rounds:
    return Rounds(whole_steps(r.count), r.size / 2, 0, combined=combined)


def _tree(r: RanksInOrder, combined: int = 0) -> Rounds:
    return Rounds(count_rounds(r.count), r.size, tree=True, combined=combined)


def _knomial(r: RanksInOrder) -> list[Phase]:
    """A tree in which each rank that has it sends it to three others in a round, in the one of the farthest to those
    that there are: of 8 ranks, 0 sends to 4, and then both to the three behind them."""
    full = graph.apply("max", graph.apply("ceil", count_rounds(r.count) / 2) - 1, 0)
    farthest = _sent(graph.ONE, (graph.apply("ceil", r.count / 4**full) - 1) * r.size)
    return [
        *r.outermost(lambda level, below: level.one.time(farthest)),
        *r.over(Rounds(full, 3 * r.size, tree=True, bits=2)),
    ]


def _binary(r: RanksInOrder, combined: int = 0) -> list[Phase]:
    """Rank i sends to 2i + 1 and 2i + 2, so that all rounds but the first ones cross."""
    return r.over(Rounds(whole_steps(r.count), 2 * r.size, pairs=False, combined=combined))


def _scatter_allgather(r: RanksInOrder) -> list[Phase]:
    scatter = Rounds(count_rounds(r.count), r.size / r.count, 2, tree=True)
    return [*r.over(scatter), *_ring(r, r.size / r.count)]


def _ring(r: RanksInOrder, piece: Expr, times: int = 1, combined: int = 0) -> list[Phase]:
    """Phases of a ring: each rank sends to the next one, P - 1 times."""
    n = times * (r.count - 1)
    sent = _sent(n, n * piece, combined * n / times * piece)
    return r.through_all(sent)


def _neighbours(r: RanksInOrder) -> list[Phase]:
    """Half as many rounds as a ring, each with two contributions (Chen and Yuan, IPDPS 2005)."""
    return r.through_all(_sent(r.count / 2, (r.count - 1) * r.size))


def _doubling_allgather(r: RanksInOrder) -> list[Phase]:
    """Recursive doubling where the ranks are a power of two, else Bruck's algorithm."""
    power = graph.compare("==", fold_extra_ranks(r.count), 0)
    pairs = r.over(Rounds(whole_steps(r.count), r.size, 2))
    return [_only(power, phase) for phase in pairs] + [_only(power, phase, unless=True) for phase in _bruck(r)]


def _only(condition: Expr, phase: Phase, *, unless: bool = False) -> Phase:
    assert isinstance(phase, TimedPhase)
    then, otherwise = (0, phase.seconds) if unless else (phase.seconds, 0)
    return phase.replace(seconds=graph.if_else(condition, then, otherwise))


def _bruck(r: RanksInOrder) -> list[Phase]:
    rounds = count_rounds(r.count)
    whole = graph.apply("max", 2**rounds - 1, 1)
    return r.over(Rounds(rounds, (r.count - 1) * r.size / whole, 2, pairs=False))


def _bruck_alltoall(r: RanksInOrder) -> list[Phase]:
    rounds = count_rounds(r.count)
    each = count_set_bits(r.count) * r.size / graph.apply("max", rounds, 1)
    return r.over(Rounds(rounds, each, pairs=False))


def _pairwise(r: RanksInOrder, piece: Expr, combined: int = 0) -> list[Phase]:
    """Pairwise exchange: in round i each rank sends to the rank i further; nearly all leave their containers at the
    same time."""
    n = r.count - 1
    sent = _sent(n, n * piece, combined * n * piece)

    def seconds(level: PathLevel, below: Expr) -> Expr:
        if level.all.container is None:
            return level.all.time(sent)
        far = graph.apply("max", 0, r.count - 2 * level.all.container.inside * below + 1)
        return level.all.time(sent) + far * piece * level.all.delay_outside

    return r.outermost(seconds)


def _halving_reduce_scatter(r: RanksInOrder) -> list[Phase]:
    """Recursive halving: the largest part first, to the farthest partner."""
    steps = whole_steps(r.count)
    return [*r.fold(r.size / r.count, combined=1), *r.over(Rounds(steps, r.size / 2**steps, 2, combined=1))]


Way = Callable[[RanksInOrder], list[Phase]]

BY_RANK: dict[tuple[str, str], Way] = {
    ("allreduce", "recursive_doubling"): lambda r: [
        *r.fold(r.size, combined=1), *r.over(Rounds(whole_steps(r.count), r.size, combined=1)),
    ],
    ("allreduce", "rabenseifner"): lambda r: [
        *r.fold(r.size, combined=1), *r.over(_halving(r, combined=1)), *r.over(_halving(r)),
    ],
    ("allreduce", "ring"): lambda r: _ring(r, r.size / r.count, 2, combined=1),
    ("allreduce", "reduce_broadcast"): lambda r: [*r.over(_tree(r, combined=1)), *_knomial(r)],
    ("broadcast", "flat"): lambda r: r.all_at_once(r.size, root=True),
    ("broadcast", "binomial"): lambda r: r.over(_tree(r)),
    ("broadcast", "knomial"): _knomial,
    ("broadcast", "binary"): _binary,
    ("broadcast", "scatter_allgather"): _scatter_allgather,
    ("reduce", "flat"): lambda r: r.all_at_once(r.size, root=True, combined=1),
    ("reduce", "binomial"): lambda r: r.over(_tree(r, combined=1)),
    ("reduce", "binary"): lambda r: _binary(r, combined=1),
    ("allgather", "recursive_doubling"): _doubling_allgather,
    ("allgather", "bruck"): _bruck,
    ("allgather", "ring"): lambda r: _ring(r, r.size),
    ("allgather", "neighbour"): _neighbours,
    ("alltoall", "bruck"): _bruck_alltoall,
    ("alltoall", "linear"): lambda r: r.all_at_once(r.size),
    ("alltoall", "pairwise"): lambda r: _pairwise(r, r.size),
    ("reduce_scatter", "recursive_halving"): _halving_reduce_scatter,
    ("reduce_scatter", "pairwise"): lambda r: _pairwise(r, r.size / r.count, combined=1),
    ("barrier", "recursive_doubling"): lambda r: [
        *r.fold(r.size), *r.over(Rounds(whole_steps(r.count), r.size)),
    ],
    ("barrier", "dissemination"): lambda r: r.over(Rounds(count_rounds(r.count), r.size, pairs=False)),
    ("barrier", "binomial"): lambda r: [*r.over(_tree(r)), *r.over(_tree(r))],
    ("barrier", "flat"): lambda r: r.all_at_once(r.size, root=True) * 2,
}  # fmt: skip


def scheme_by_rank(collective: str, algorithm: str, among: Among) -> Scheme:
    """One algorithm among all ranks in their order, or by the leaders of containers."""
    if algorithm == "leader":
        ways = ways_of_collective(collective, among)
        return next((way for way in ways if way.name == algorithm), ways[0])
    return Scheme("by rank", tuple(BY_RANK[collective, algorithm](RanksInOrder(among, collective, algorithm))))


class LibraryChoice(Scheme):
    """The way that an MPI library takes: of `choices`, by their conditions, the first that holds."""

    choices: tuple[tuple[Expr, Scheme], ...] = ()

    @property
    def time(self) -> Expr:
        time = self.choices[-1][1].time
        for condition, way in reversed(self.choices[:-1]):
            time = graph.if_else(condition, way.time, time)
        return time

    @property
    def by_path(self) -> dict[str, Expr]:
        found = dict(self.choices[-1][1].by_path)
        for condition, way in reversed(self.choices[:-1]):
            names = dict.fromkeys((*found, *way.by_path))
            found = {
                name: graph.if_else(condition, way.by_path.get(name, graph.ZERO), found.get(name, graph.ZERO))
                for name in names
            }
        return found

    def describe(self, values: Values) -> str:
        chosen = next(way for condition, way in self.choices if values(graph.if_else(condition, 1, 0)))
        return f"{chosen.describe(values)}, as {self.name} chooses"


def library_choice(library: str, collective: str, among: Among) -> Scheme:
    """The algorithm that a library chooses by the number of ranks and bytes."""
    rows = algorithm_rows(library, collective)
    size = among.size * among.count if (library, collective) in WHOLE and collective == "allgather" else among.size
    ways = {name: scheme_by_rank(collective, name, among) for name in dict.fromkeys(row.algorithm for row in rows)}
    choices = [(_holds(row, among.count, size, rows), ways[row.algorithm]) for row in reversed(rows)]
    possible = [each for each in choices if each[0] is not graph.FALSE]
    first = next((index for index, each in enumerate(possible) if each[0] is graph.TRUE), len(possible) - 1)
    possible = [*possible[:first], (graph.TRUE, possible[first][1])]
    if len(possible) == 1:
        return possible[0][1].replace(chosen=f"as {library} chooses")
    return LibraryChoice(library, (), choices=tuple(possible))


def _holds(row: AlgorithmRow, ranks: Expr, size: Expr, rows: tuple[AlgorithmRow, ...]) -> Expr:
    """That the ranks are of this row's line, and the bytes at least its own: rows are asked from the last one on."""
    enough = graph.compare(">=", size, row.size)
    first = row.ranks == min(each.ranks for each in rows)
    return enough if first else graph.junction("and", graph.compare(">=", ranks, row.ranks), enough)
