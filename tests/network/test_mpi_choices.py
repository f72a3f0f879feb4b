"""Collectives as MPI libraries choose them: each algorithm played rank by rank, and the rows of the tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from itertools import pairwise
from math import ceil, log2

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

import aspenpy
from aspenpy.cost.network.by_rank import BY_RANK, _rounds_inside, library_choice, scheme_by_rank
from aspenpy.cost.network.levels import Among
from aspenpy.cost.network.mpi_choices import LIBRARIES, algorithm_rows
from aspenpy.cost.network.schemes import LinkTimes, PathLevel
from aspenpy.expr import graph
from aspenpy.expr.evaluate import evaluate
from tests.tiny import application

ALPHA, BETA, GAMMA, GAP = {"in": 2.0, "out": 50.0}, {"in": 0.25, "out": 1.0}, 0.125, 0.5
"""Seconds a message and a byte inside a node and between nodes, a byte combined, and between messages of a port."""

Message = tuple[int, int, float]
"""From a rank to a rank, so many bytes."""


def levels(ranks: int, per_node: int) -> Among:
    """Nodes that are filled one after the other, each with one port; inside, every rank has its own."""
    nodes, inside = ceil(ranks / per_node), min(ranks, per_node)

    def link(kind: str, senders: int) -> LinkTimes:
        share = senders if kind == "out" else 1
        alpha = ALPHA[kind] + (share - 1) * GAP
        return LinkTimes(graph.number(alpha), graph.number(BETA[kind] * share), graph.number(GAMMA))

    def level(path: str, ends: int, ranks_of: int, senders: int) -> PathLevel:
        kind = "in" if path == "node" else "out"
        counts = [graph.number(value) for value in (ends, ends, ranks_of, ranks_of)]
        return PathLevel(path, *counts, link(kind, 1), link(kind, senders))

    inner, outer = level("node", inside, inside, inside), level("network", nodes, ranks, inside)
    return Among((inner, outer), graph.number(ranks), graph.number(SIZE))


SIZE = 96.0


def play(ranks: int, per_node: int, rounds: Iterable[list[Message]], combined: bool = False) -> float:
    """Rounds one after the other: each takes as long as the node that has most to send waits for its port."""
    time = 0.0
    for messages in rounds:
        sent: Counter[int] = Counter()
        bytes_out: Counter[int] = Counter()
        slowest, largest = 0.0, 0.0
        for source, target, size in messages:
            if source == target:
                continue
            largest = max(largest, size)
            if source // per_node == target // per_node:
                slowest = max(slowest, ALPHA["in"] + size * BETA["in"])
            else:
                sent[source // per_node] += 1
                bytes_out[source // per_node] += size
        for node, count in sent.items():
            slowest = max(slowest, ALPHA["out"] + (count - 1) * GAP + bytes_out[node] * BETA["out"])
        time += slowest + (GAMMA * largest if combined and messages else 0)
    return time


def pairs(ranks: int, distance: int, size: float) -> list[Message]:
    return [(rank, rank ^ distance, size) for rank in range(ranks)]


def shifts(ranks: int, distance: int, size: float) -> list[Message]:
    return [(rank, (rank + distance) % ranks, size) for rank in range(ranks)]


def steps(ranks: int) -> range:
    return range(ceil(log2(ranks)))


PLAYED: dict[tuple[str, str], Callable[[int, int], float]] = {
    ("allreduce", "recursive_doubling"): lambda p, c: play(p, c, (pairs(p, 2**k, SIZE) for k in steps(p)), True),
    ("allreduce", "rabenseifner"): lambda p, c: (
        play(p, c, (pairs(p, 2**k, SIZE / 2 ** (k + 1)) for k in steps(p)), True)
        + play(p, c, (pairs(p, 2**k, SIZE / 2 ** (k + 1)) for k in steps(p)))
    ),
    ("allgather", "recursive_doubling"): lambda p, c: play(p, c, (pairs(p, 2**k, SIZE * 2**k) for k in steps(p))),
    ("barrier", "dissemination"): lambda p, c: play(p, c, (shifts(p, 2**k, SIZE) for k in steps(p))),
    ("allgather", "bruck"): lambda p, c: play(p, c, (shifts(p, 2**k, SIZE * 2**k) for k in steps(p))),
    ("allgather", "ring"): lambda p, c: play(p, c, (shifts(p, 1, SIZE) for _ in range(p - 1))),
    ("reduce_scatter", "recursive_halving"): lambda p, c: play(
        p, c, (pairs(p, 2**k, SIZE * 2**k / p) for k in steps(p)), True
    ),
    ("broadcast", "binomial"): lambda p, c: play(
        p, c, ([(rank, rank + 2**k, SIZE) for rank in range(0, p, 2 ** (k + 1))] for k in steps(p))
    ),
}  # fmt: skip


@pytest.mark.parametrize(("collective", "algorithm"), PLAYED)
@pytest.mark.parametrize(("ranks", "per_node"), [(64, 8), (64, 64), (128, 4), (16, 1), (32, 16), (2, 1)])
def test_powers_of_two_are_exact(collective: str, algorithm: str, ranks: int, per_node: int) -> None:
    time = evaluate(scheme_by_rank(collective, algorithm, levels(ranks, per_node)).time)
    assert time == pytest.approx(PLAYED[collective, algorithm](ranks, per_node))


A, B, C = ALPHA["out"], BETA["out"] * SIZE, GAMMA * SIZE
"""Of a message between nodes; of its bytes; of combining them."""

BY_HAND: dict[tuple[str, str], Callable[[int, int], float]] = {
    # of p ranks, 2^k, each on a node of its own: Thakur, Rabenseifner and Gropp, IJHPCA 2005, section 4
    ("allreduce", "recursive_doubling"): lambda p, k: k * (A + B + C),
    ("allreduce", "rabenseifner"): lambda p, k: 2 * k * A + (p - 1) / p * (2 * B + C),
    ("allreduce", "ring"): lambda p, k: 2 * (p - 1) * A + (p - 1) / p * (2 * B + C),
    ("broadcast", "flat"): lambda p, k: A + (p - 1) * B,  # one after the other, without waiting
    ("broadcast", "binomial"): lambda p, k: k * (A + B),
    ("broadcast", "binary"): lambda p, k: k * (A + 2 * B),  # to two children each
    ("broadcast", "scatter_allgather"): lambda p, k: (k + p - 1) * A + 2 * (p - 1) / p * B,
    ("reduce", "flat"): lambda p, k: A + (p - 1) * (B + C),  # the root adds each that arrives
    ("reduce", "binomial"): lambda p, k: k * (A + B + C),
    ("reduce", "binary"): lambda p, k: k * (A + 2 * B + 2 * C),
    ("allgather", "recursive_doubling"): lambda p, k: k * A + (p - 1) * B,
    ("allgather", "bruck"): lambda p, k: k * A + (p - 1) * B,
    ("allgather", "ring"): lambda p, k: (p - 1) * (A + B),
    ("allgather", "neighbour"): lambda p, k: p / 2 * A + (p - 1) * B,
    ("alltoall", "bruck"): lambda p, k: k * (A + p / 2 * B),
    ("alltoall", "linear"): lambda p, k: A + (p - 1) * B,
    ("alltoall", "pairwise"): lambda p, k: (p - 1) * (A + B),
    ("reduce_scatter", "recursive_halving"): lambda p, k: k * A + (p - 1) / p * (B + C),
    ("reduce_scatter", "pairwise"): lambda p, k: (p - 1) * A + (p - 1) / p * (B + C),
    ("barrier", "recursive_doubling"): lambda p, k: k * (A + B),  # as if each had bytes to send
    ("barrier", "dissemination"): lambda p, k: k * (A + B),
    ("barrier", "binomial"): lambda p, k: 2 * k * (A + B),
    ("barrier", "flat"): lambda p, k: 2 * (A + (p - 1) * B),
}


@pytest.mark.parametrize(("collective", "algorithm"), BY_HAND)
@pytest.mark.parametrize("power", [1, 2, 3, 6, 10])
def test_ranks_on_nodes_of_their_own(collective: str, algorithm: str, power: int) -> None:
    time = evaluate(scheme_by_rank(collective, algorithm, levels(2**power, 1)).time)
    assert time == pytest.approx(BY_HAND[collective, algorithm](2**power, power))


def below(ranks: int) -> int:
    """The largest power of two that is not above the ranks."""
    return 2 ** int(log2(ranks))


BEYOND_A_POWER: dict[tuple[str, str], Callable[[int], float]] = {
    # one rank of each pair gives all it has and gets the result: the same paper, sections 4.4 and 4.5
    ("allreduce", "recursive_doubling"): lambda p: (int(log2(p)) + 1) * (A + B + C) + A + B,
    ("allreduce", "rabenseifner"): lambda p: (
        2 * int(log2(p)) * A + (1 - 1 / below(p)) * (2 * B + C) + (A + B + C) + (A + B)
    ),
    ("reduce_scatter", "recursive_halving"): lambda p: (
        int(log2(p)) * A + (1 - 1 / below(p)) * (B + C) + (A + B + C) + (A + B / p)
    ),
    ("barrier", "recursive_doubling"): lambda p: (int(log2(p)) + 2) * (A + B),
}  # fmt: skip


@pytest.mark.parametrize(("collective", "algorithm"), BEYOND_A_POWER)
@pytest.mark.parametrize("ranks", [3, 5, 6, 7, 48, 1000])
def test_ranks_beyond_a_power_of_two(collective: str, algorithm: str, ranks: int) -> None:
    time = evaluate(scheme_by_rank(collective, algorithm, levels(ranks, 1)).time)
    assert time == pytest.approx(BEYOND_A_POWER[collective, algorithm](ranks))


@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 5, 8, 12, 13, 16, 17, 20, 64, 65, 300])
def test_a_tree_of_four_sends_to_the_ranks_that_there_are(ranks: int) -> None:
    """Played: in each round those that have it send it to the one, two and three distances further that exist."""
    distance, have, expected = 4 ** ceil(log2(ranks) / 2), {0}, 0.0
    while distance > 1:
        distance //= 4
        sent = [[rank + k * distance for k in (1, 2, 3) if rank + k * distance < ranks] for rank in sorted(have)]
        expected += A + max(map(len, sent)) * B if any(sent) else 0.0
        have |= {rank for targets in sent for rank in targets}
    assert have == {*range(ranks)}
    assert evaluate(scheme_by_rank("broadcast", "knomial", levels(ranks, 1)).time) == pytest.approx(expected)


@given(power=st.integers(5, 10), per_node=st.integers(3, 50))
def test_nodes_of_any_size_are_near_what_is_played(power: int, per_node: int) -> None:
    """Where the ranks of a node are no power of two, it depends on the node how many cross: 2^k to twice that."""
    assume(2**power >= 4 * per_node)
    ranks = 2**power
    for name in (("allreduce", "recursive_doubling"), ("allreduce", "rabenseifner")):
        played = PLAYED[name](ranks, per_node)
        told = evaluate(scheme_by_rank(*name, levels(ranks, per_node)).time)
        assert 0.75 * played <= told <= 1.4 * played


@given(ranks=st.integers(2, 300), per_node=st.integers(1, 40))
@example(41, 40)  # one rank is alone on its node, and takes one message at a time
@example(17, 10)
def test_shifts_among_any_number_of_ranks(ranks: int, per_node: int) -> None:
    """Not faster than what is played; slower, since the last shift may be one back rather than forth."""
    played = PLAYED["barrier", "dissemination"](ranks, per_node)
    told = evaluate(scheme_by_rank("barrier", "dissemination", levels(ranks, per_node)).time)
    assert 0.999 * played <= told <= 1.5 * played


@pytest.mark.parametrize("library", LIBRARIES)
def test_every_collective_has_its_rows(library: str) -> None:
    for collective in LIBRARIES[library]:
        rows = algorithm_rows(library, collective)
        assert rows[0][:2] == (1, 0)
        for row, after in pairwise(rows):
            assert (row.ranks, row.size) < (after.ranks, after.size)
            assert after.size == 0 or row.ranks == after.ranks
        for row in rows:
            assert row.algorithm == "leader" or (collective, row.algorithm) in BY_RANK


@given(st.sampled_from(sorted(LIBRARIES)), st.integers(2, 5000), st.integers(0, 2**22), st.data())
def test_the_last_row_that_holds_is_taken(library: str, ranks: int, size: int, data: st.DataObject) -> None:
    """A second reading of the tables: the line of the most ranks, in it the row of the most bytes."""
    collective = data.draw(st.sampled_from(sorted(set(LIBRARIES[library]) - {"allgather"})))
    rows = algorithm_rows(library, collective)
    line = max(row.ranks for row in rows if row.ranks <= ranks)
    row = max((row for row in rows if row.ranks == line and row.size <= size), key=lambda row: row.size)
    among = levels(ranks, 16).replace(size=graph.number(size))
    expected = scheme_by_rank(collective, row.algorithm, among)
    symbolic = among.replace(size=graph.symbol("m"))
    named = library_choice(library, collective, symbolic)

    def value(expr: graph.Expr) -> float:
        return float(evaluate(expr, {graph.symbol("m"): size}))

    assert value(named.time) == pytest.approx(value(expected.time))
    by_path = {path: value(seconds) for path, seconds in named.by_path.items()}
    assert {path: seconds for path, seconds in by_path.items() if seconds} == pytest.approx(
        {path: value(seconds) for path, seconds in expected.by_path.items() if value(seconds)}
    )
    assert named.describe(value) == f"{expected.describe(value)}, as {library} chooses"


MACHINE = """
include parts/sockets/intel_xeon_gold_6148.aspen
include parts/interconnects/sockets_upi_10400.aspen
machine cluster { node [32] box  interconnect [32] fabric }
node box { socket [2] intel_xeon_gold_6148  interconnect sockets_upi_10400 }
interconnect fabric {
  property topology [star]
  property latency [17.2 us]
  property bandwidth [10.8 GB/s]
  property message_rate [3e6]
  MPI
  resource messages(volume) [latency + volume/bandwidth]
}
"""


def predict(body: str, mpi: str = "") -> aspenpy.Prediction:
    machine = aspenpy.parse(MACHINE.replace("MPI", mpi))
    return aspenpy.predict(application(body), machine, ranks_per_node=36)  # type: ignore[arg-type]


OPEN_MPI = "property mpi [open_mpi]"


def test_a_binomial_reduction_and_a_tree_of_four() -> None:
    """1,152 ranks, 36 a node: 11 rounds of which two stay inside (36 = 4 x 9), and 6 of which one does."""
    inside, across = 0.26e-6, 17.2e-6
    run = predict("execute [1152] { messages [8] as allreduce }", OPEN_MPI).runtime
    assert run == pytest.approx(9 * across + 5 * across + 3 * inside, rel=0.01)


def test_the_fastest_says_that_it_is_a_bound() -> None:
    body = "execute [1152] { messages [8] as allreduce }"
    (found,) = [each for each in predict(body).diagnostics if each.code == "lower-bound"]
    assert "a lower bound" in found.message
    assert not [each for each in predict(body, OPEN_MPI).diagnostics if each.code == "lower-bound"]
    named = 'execute [1152] { messages [8] as allreduce("ring") }'
    assert not [each for each in predict(named).diagnostics if each.code == "lower-bound"]


def test_an_unknown_library_is_refused_where_it_stands() -> None:
    with pytest.raises(aspenpy.AspenError, match="unknown mpi `openmpi`") as caught:
        assert predict("execute [64] { messages [8] as allreduce }", "property mpi [openmpi]").runtime
    assert "open_mpi" in (caught.value.diagnostics[0].hint or "")


@pytest.mark.parametrize("size", [1, 2, 3, 4, 6, 8, 12, 56, 63, 64, 96, 128])
def test_distances_whose_pairs_stay_inside(size: int) -> None:
    """Ranks talk to those whose numbers differ in one bit: as long as none of the pairs leaves its node, all of them
    counted; a number of ranks that is known later is the same."""
    expected = 0
    while all(rank // size == (rank ^ 1 << expected) // size for rank in range(8 * size)):
        expected += 1
    later = graph.symbol("later")
    assert evaluate(_rounds_inside(later), {later: size}) == expected
    assert evaluate(_rounds_inside(graph.number(size))) == expected
