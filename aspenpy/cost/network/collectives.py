"""Collectives: what each algorithm sends, in rounds, for any number of ranks; and the halo exchange of a grid.

Conventions: `P` ranks, at most one message sent and one received by a rank at a time. The size `m` is in bytes and is

* the whole vector for broadcast, reduce, allreduce and reduce_scatter,
* what each rank contributes for allgather,
* what each rank has for each other one for alltoall.

A round is a message on the critical path, which costs alpha seconds, beta for each byte, and gamma for each byte that
is combined with another. A power of two below P folds the ranks beyond it onto others: e is 1 where P is no such power.
Where each rank has a link to each other one, rings and exchanges of all with all use all P-1 of them at the same time.

Sources: Thakur, Rabenseifner and Gropp, "Optimization of collective communication operations in MPICH", IJHPCA 19(1),
2005 (TRG); Chan, Heimlich, Purkayastha and van de Geijn, "Collective communication: theory, practice, and experience",
CCPE 19(13), 2007 (CHPG); Bruck et al., "Efficient algorithms for all-to-all communications", IEEE TPDS 8(11), 1997.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from aspenpy.cost.network.topology import NetworkError, Size, floor
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.language.diagnostics import suggest_nearest
from aspenpy.record import Record


class Cost(Record):
    """On the critical path: `rounds` messages, `volume` bytes sent and `combined` bytes of results computed. Over all
    ranks: `messages` and `traffic` in bytes. `most_messages` and `most_traffic` are what the busiest rank sends. To
    `partners` other ranks a rank can send equal parts of the volume at the same time, where it has a link to each."""

    rounds: Expr
    volume: Expr
    combined: Expr
    messages: Expr
    traffic: Expr
    most_messages: Expr
    most_traffic: Expr
    partners: Expr = graph.ONE

    def time(self, alpha: Size, beta: Size, gamma: Size = 0) -> Expr:
        """Seconds, with alpha a message, beta a byte sent (the inverse of the bandwidth) and gamma a byte combined."""
        sent = self.rounds * alpha + self.volume * beta
        return sent if graph.to_expr(gamma) is graph.ZERO else sent + self.combined * gamma


class Algorithm(Record):
    """`cost` takes P and m. Some algorithms are for powers of two only; those of `all_pairs` at once are chosen only
    where a path is said to have them. `far`, of P, m and c, are the bytes that each rank sends in rounds in which all c
    of a container send out of it at the same time; none where few of them do."""

    collective: str
    name: str
    cost: Callable[[Expr, Expr], Cost]
    source: str
    power_of_two: bool = False
    all_pairs: bool = False
    far: Callable[[Expr, Expr, Expr], Expr] | None = None

    def applies(self, ranks: Size) -> Expr:
        """The condition under which there is such an algorithm."""
        p = graph.to_expr(ranks)
        return graph.compare("==", below_power(p), p) if self.power_of_two else graph.TRUE


# -- powers of two ---------------------------------------------------------------------------------


def count_rounds(ranks: Expr) -> Expr:
    """ceil(log2 P): the rounds in which a message can reach everyone if those who have it double."""
    known = graph.whole_number(ranks)
    if known is not None and known > 0:
        return graph.number((known - 1).bit_length())
    return graph.apply("ceil", graph.apply("log2", ranks))


def whole_steps(ranks: Expr) -> Expr:
    """floor(log2 P)."""
    known = graph.whole_number(ranks)
    if known is not None and known > 0:
        return graph.number(known.bit_length() - 1)
    return floor(graph.apply("log2", ranks))


def below_power(ranks: Expr) -> Expr:
    """The largest power of two that is not above P."""
    return 2 ** whole_steps(ranks)


def fold_extra_ranks(ranks: Expr) -> Expr:
    """e, which is 1 where P is no power of two and 0 where it is one."""
    return count_rounds(ranks) - whole_steps(ranks)


# -- out of a container ----------------------------------------------------------------------------
#
# Ranks are in containers of c in their order. Rounds at distances of 2^k from c on leave them, with all of their ranks;
# where c is no power of two some pairs leave earlier, which is not counted.


def _far_doubling(p: Expr, m: Expr, c: Expr) -> Expr:
    return m * graph.apply("max", 0, whole_steps(p) - count_rounds(c))


def _far_halving(p: Expr, m: Expr, c: Expr) -> Expr:
    """A half at distance 1, a quarter at distance 2, and back."""
    return 2 * m * graph.apply("max", 0, 1 / 2 ** count_rounds(c) - 1 / below_power(p))


def _far_gathering(p: Expr, m: Expr, c: Expr) -> Expr:
    """One contribution at distance 1, two at distance 2, ..., and what is left at the farthest."""
    return m * graph.apply("max", 0, p - 2 ** count_rounds(c))


def _far_scattering(p: Expr, m: Expr, c: Expr) -> Expr:
    """A half at the farthest distance, a quarter at half of it, ..."""
    return m * graph.apply("max", 0, 1 - 2 ** count_rounds(c) / p)


def _far_shifts(p: Expr, m: Expr, c: Expr) -> Expr:
    """Shifts by c to P - c leave with all ranks."""
    return m / p * graph.apply("max", 0, p - 2 * c + 1)


# -- one to all, all to one ------------------------------------------------------------------------


def _flat_broadcast(p: Expr, m: Expr) -> Cost:
    """The root sends to each."""
    n = p - 1
    return Cost(n, n * m, graph.ZERO, n, n * m, n, n * m)


def _binomial_broadcast(p: Expr, m: Expr) -> Cost:
    """Everyone who has it sends it on, in each round."""
    s = count_rounds(p)
    return Cost(s, s * m, graph.ZERO, p - 1, (p - 1) * m, s, s * m)


def _scatter_allgather(p: Expr, m: Expr) -> Cost:
    """P pieces are scattered down a binomial tree and go once round a ring (van de Geijn). The piece for rank k comes
    down over as many ranks as k has bits."""
    s, n = count_rounds(p), p - 1
    piece = m / p
    return Cost(
        s + n, 2 * n * piece, graph.ZERO,
        n + p * n, (count_set_bits(p) + p * n) * piece, s + n, 2 * n * piece,
    )  # fmt: skip


def count_set_bits(p: Expr) -> Expr:
    """The bits that are set in 0, 1, ..., P-1 together: bit 2^j in the upper half of every 2^(j+1) numbers."""
    j = graph.counter("j")
    bit = 2**j
    rest = graph.apply("mod", p, 2 * bit)
    return graph.summation(j, count_rounds(p), (p - rest) / 2 + graph.apply("max", rest - bit, 0))


def _flat_reduce(p: Expr, m: Expr) -> Cost:
    n = p - 1
    return Cost(n, n * m, n * m, n, n * m, graph.apply("min", n, 1), graph.apply("min", n, 1) * m)


def _binomial_reduce(p: Expr, m: Expr) -> Cost:
    s, one = count_rounds(p), graph.apply("min", p - 1, 1)
    return Cost(s, s * m, s * m, p - 1, (p - 1) * m, one, one * m)


def _binomial_gather(p: Expr, m: Expr) -> Cost:
    """Up a binomial tree, or a scatter down it: m bytes from or to each rank, of which 2^j in round j. A rank sends the
    pieces of the largest subtree below it; Chan et al. 2007, section 4."""
    s, n, one = count_rounds(p), p - 1, graph.apply("min", p - 1, 1)
    half = graph.apply("max", below_power(p) / 2, p - below_power(p))
    return Cost(s, n * m, graph.ZERO, n, count_set_bits(p) * m, one, one * half * m)


# -- all to all ranks the same ---------------------------------------------------------------------


def _reduce_broadcast(p: Expr, m: Expr) -> Cost:
    """Down one binomial tree and up another."""
    s = count_rounds(p)
    return Cost(2 * s, 2 * s * m, s * m, 2 * (p - 1), 2 * (p - 1) * m, s, s * m)


def _recursive_doubling(p: Expr, m: Expr) -> Cost:
    """Pairs at distances 1, 2, 4, ... exchange all they have; those beyond the power of two give before and get
    after. TRG section 4.5."""
    s, e, q = whole_steps(p), fold_extra_ranks(p), below_power(p)
    messages = q * s + 2 * (p - q)
    rounds, most = s + 2 * e, s + e
    return Cost(rounds, rounds * m, (s + e) * m, messages, messages * m, most, most * m)


def _ring_allreduce(p: Expr, m: Expr) -> Cost:
    """P pieces go twice round a ring: combined, then finished (Patarasuk and Yuan, JPDC 69(2), 2009)."""
    n = p - 1
    piece = m / p
    return Cost(2 * n, 2 * n * piece, n * piece, 2 * n * p, 2 * n * m, 2 * n, 2 * n * piece, _others(p))


def _all_pairs_allreduce(p: Expr, m: Expr) -> Cost:
    """Every rank sends each other one its piece, combines the pieces that arrive, and sends the result back to all: two
    rounds, in which it has a message to each (RCCL, all-pairs algorithms of MSCCL)."""
    n, some = p - 1, graph.apply("min", p - 1, 1)
    piece = m / p
    return Cost(2 * some, 2 * n * piece, n * piece, 2 * n * p, 2 * n * m, 2 * n, 2 * n * piece, _others(p))


def _others(p: Expr) -> Expr:
    """The other ranks, one at least."""
    return graph.apply("max", p - 1, 1)


def _rabenseifner(p: Expr, m: Expr) -> Cost:
    """Reduce-scatter by halving, allgather by doubling; ranks beyond the power of two give before and get after.
    TRG section 4.5."""
    s, e, q = whole_steps(p), fold_extra_ranks(p), below_power(p)
    pieces = (q - 1) * m / q
    return Cost(
        2 * s + 2 * e, 2 * pieces + 2 * e * m, pieces + e * m,
        2 * q * s + 2 * (p - q), 2 * q * pieces + 2 * (p - q) * m, 2 * s + e, 2 * pieces + e * m,
    )  # fmt: skip


def _ring_allgather(p: Expr, m: Expr) -> Cost:
    """Every contribution goes once round a ring, TRG section 4.1; and pairwise alltoall, where in round i each rank
    sends what it has for the rank i further, section 4.3."""
    n = p - 1
    return Cost(n, n * m, graph.ZERO, n * p, n * p * m, n, n * m, _others(p))


def _all_pairs(p: Expr, m: Expr) -> Cost:
    """An allgather or an alltoall in one round, in which each rank has a message to each other one."""
    n = p - 1
    return Cost(graph.apply("min", n, 1), n * m, graph.ZERO, n * p, n * p * m, n, n * m, _others(p))


def _doubling_allgather(p: Expr, m: Expr) -> Cost:
    """Rounds of 1, 2, 4, ... contributions, each the number there are still missing at most: recursive doubling for
    powers of two, Bruck's algorithm for all. TRG section 4.1."""
    s, n = count_rounds(p), p - 1
    return Cost(s, n * m, graph.ZERO, s * p, n * p * m, s, n * m)


# -- all to all ranks something else ---------------------------------------------------------------


def _pairwise_reduce_scatter(p: Expr, m: Expr) -> Cost:
    """Pairwise exchange: in round i each rank sends its piece for the rank i further. TRG section 4.4."""
    n = p - 1
    piece = m / p
    return Cost(n, n * piece, n * piece, n * p, n * m, n, n * piece, _others(p))


def _all_pairs_reduce_scatter(p: Expr, m: Expr) -> Cost:
    """A reduce-scatter in one round, each rank sending to all others at once."""
    n = p - 1
    piece = m / p
    return Cost(graph.apply("min", n, 1), n * piece, n * piece, n * p, n * m, n, n * piece, _others(p))


def _halving_reduce_scatter(p: Expr, m: Expr) -> Cost:
    """Pairs at distances P/2, P/4, ..., 1 exchange the halves they will not keep. TRG section 4.4."""
    s, pieces = count_rounds(p), (p - 1) * m / p
    return Cost(s, pieces, pieces, s * p, p * pieces, s, pieces)


def _bruck_alltoall(p: Expr, m: Expr) -> Cost:
    """Data for the rank k further travel the bits of k, one a round. TRG section 4.3."""
    s = count_rounds(p)
    bits = count_set_bits(p) * m
    return Cost(s, bits, graph.ZERO, s * p, p * bits, s, bits)


# -- barriers --------------------------------------------------------------------------------------


def _empty(rounds: Expr, messages: Expr, most: Expr) -> Cost:
    return Cost(rounds, graph.ZERO, graph.ZERO, messages, graph.ZERO, most, graph.ZERO)


def _dissemination(p: Expr, m: Expr) -> Cost:
    """Dissemination barrier: in round j each rank tells the rank 2^j further (Hensgen, Finkel and Manber, IJPP 17(1),
    1988)."""
    return _empty(count_rounds(p), count_rounds(p) * p, count_rounds(p))


def _tree_barrier(p: Expr, m: Expr) -> Cost:
    """Gathered up a binomial tree, released down it."""
    return _empty(2 * count_rounds(p), 2 * (p - 1), count_rounds(p))


def _flat_barrier(p: Expr, m: Expr) -> Cost:
    """Everyone tells the root, which tells everyone."""
    return _empty(2 * (p - 1), 2 * (p - 1), p - 1)


def _doubling_barrier(p: Expr, m: Expr) -> Cost:
    s, e, q = whole_steps(p), fold_extra_ranks(p), below_power(p)
    return _empty(s + 2 * e, q * s + 2 * (p - q), s + e)


ALGORITHMS: dict[tuple[str, str], Algorithm] = {
    (algorithm.collective, algorithm.name): algorithm
    for algorithm in (
        Algorithm("broadcast", "flat", _flat_broadcast, "CHPG 4"),
        Algorithm("broadcast", "binomial", _binomial_broadcast, "TRG 4.2"),
        Algorithm("broadcast", "scatter_allgather", _scatter_allgather, "TRG 4.2"),
        Algorithm("reduce", "flat", _flat_reduce, "CHPG 4"),
        Algorithm("reduce", "binomial", _binomial_reduce, "TRG 4.5"),
        Algorithm("allreduce", "reduce_broadcast", _reduce_broadcast, "CHPG 6"),
        Algorithm("allreduce", "recursive_doubling", _recursive_doubling, "TRG 4.5", far=_far_doubling),
        Algorithm("allreduce", "ring", _ring_allreduce, "Patarasuk and Yuan 2009"),
        Algorithm("allreduce", "rabenseifner", _rabenseifner, "TRG 4.5", far=_far_halving),
        Algorithm("allreduce", "all_pairs", _all_pairs_allreduce, "RCCL", all_pairs=True),
        Algorithm("allgather", "ring", _ring_allgather, "TRG 4.1"),
        Algorithm(
            "allgather", "recursive_doubling", _doubling_allgather, "TRG 4.1", power_of_two=True, far=_far_gathering
        ),
        Algorithm("allgather", "bruck", _doubling_allgather, "TRG 4.1", far=_far_gathering),
        Algorithm("allgather", "all_pairs", _all_pairs, "RCCL", all_pairs=True),
        Algorithm("reduce_scatter", "pairwise", _pairwise_reduce_scatter, "TRG 4.4", far=_far_shifts),
        Algorithm(
            "reduce_scatter",
            "recursive_halving",
            _halving_reduce_scatter,
            "TRG 4.4",
            power_of_two=True,
            far=_far_scattering,
        ),
        Algorithm("reduce_scatter", "all_pairs", _all_pairs_reduce_scatter, "RCCL", all_pairs=True),
        Algorithm("alltoall", "pairwise", _ring_allgather, "TRG 4.3"),
        Algorithm("alltoall", "bruck", _bruck_alltoall, "Bruck et al. 1997"),
        Algorithm("alltoall", "all_pairs", _all_pairs, "RCCL", all_pairs=True),
        Algorithm("barrier", "dissemination", _dissemination, "Hensgen et al. 1988"),
        Algorithm("barrier", "recursive_doubling", _doubling_barrier, "TRG 4.5"),
        Algorithm("barrier", "binomial", _tree_barrier, "CHPG 4"),
        Algorithm("barrier", "flat", _flat_barrier, "CHPG 4"),
    )
}
"""By collective and name; of two that are equally fast the first is the best."""

COLLECTIVES = tuple(dict.fromkeys(collective for collective, _ in ALGORITHMS))

PARTS = {name: Algorithm(name, "binomial", _binomial_gather, "CHPG 4") for name in ("gather", "scatter")}
"""What collectives by levels consist of besides; m is what a rank has, or gets."""


def algorithms(collective: str) -> list[Algorithm]:
    """Algorithms of one collective. Raises NetworkError for an unknown name."""
    if collective in PARTS:
        return [PARTS[collective]]
    if collective not in COLLECTIVES:
        hint = suggest_nearest(collective, COLLECTIVES) or f"there are {', '.join(COLLECTIVES)}"
        raise NetworkError(f"unknown collective `{collective}`", "collective", hint)
    return [algorithm for algorithm in ALGORITHMS.values() if algorithm.collective == collective]


def candidate_algorithms(collective: str, *, all_pairs: bool = False) -> list[Algorithm]:
    """Algorithms of which the fastest is taken, on a path that has all pairs at once or none."""
    return [algorithm for algorithm in algorithms(collective) if all_pairs or not algorithm.all_pairs]


def cost(collective: str, algorithm: str, ranks: Size, size: Size = 0) -> Cost:
    """The cost of an algorithm among `ranks` ranks. Raises NetworkError for an unknown name, for fewer than one rank,
    and where an algorithm for powers of two meets another known number of ranks."""
    known = {each.name: each for each in algorithms(collective)}
    if algorithm not in known:
        hint = suggest_nearest(algorithm, known) or f"there are {', '.join(known)}"
        raise NetworkError(f"unknown algorithm `{algorithm}` of {collective}", "algorithm", hint)
    p = check_ranks(ranks)
    if known[algorithm].applies(p) is graph.FALSE:
        message = f"{algorithm} of {collective} is for a power of two of ranks, not {p}"
        raise NetworkError(message, "ranks", f"there are also {', '.join(name for name in known if name != algorithm)}")
    return known[algorithm].cost(p, graph.to_expr(size))


def check_ranks(ranks: Size) -> Expr:
    p = graph.to_expr(ranks)
    if p.kind == "number" and (graph.whole_number(p) is None or p.payload < 1):
        raise NetworkError(f"the number of ranks must be a whole number from 1 on, not {p}", "ranks")
    return p


MOST_DIMENSIONS = 3


def halo(grid: Sequence[Size], faces: Sequence[Size], *, periodic: bool = True, all_ports: bool = False) -> Cost:
    """The exchange in a grid of ranks of 1 to 3 dimensions, `faces` being the bytes of one face across each.

    One dimension after the other. Periodic, all ranks shift one way and then the other: two rounds where there is more
    than one rank. Where the grid is not periodic the outermost ranks have no neighbour beyond, and pairs of neighbours
    exchange: two ranks are done in one round. With `all_ports` every rank sends all its faces at once, as on a torus of
    its own links: one round of the largest. Raises NetworkError for other dimensions.
    """
    if not 1 <= len(grid) <= MOST_DIMENSIONS or len(faces) != len(grid):
        message = f"a halo is exchanged in 1 to {MOST_DIMENSIONS} dimensions, with a face for each"
        raise NetworkError(f"{message}, not in {len(grid)} with {len(faces)}", "grid")
    sizes = [check_ranks(size) for size in grid]
    divided = [graph.apply("min", size - 1, 1) for size in sizes]
    volumes = [split * face for split, face in zip(divided, faces, strict=True)]
    ranks = graph.mul(*sizes)
    senders = [ranks if periodic else ranks / size * (size - 1) for size in sizes]
    most = [
        2 * split if periodic else graph.apply("min", size - 1, 2) for size, split in zip(sizes, divided, strict=True)
    ]
    return Cost(
        rounds=_largest(divided) if all_ports else graph.add(*most),
        volume=_largest(volumes) if all_ports else graph.add(*map(graph.mul, most, faces)),
        combined=graph.ZERO,
        messages=2 * graph.add(*map(graph.mul, senders, divided)),
        traffic=2 * graph.add(*map(graph.mul, senders, volumes)),
        most_messages=graph.add(*most),
        most_traffic=graph.add(*map(graph.mul, most, faces)),
    )


def _largest(values: Sequence[Expr]) -> Expr:
    return graph.apply("max", *values) if len(values) > 1 else values[0]
