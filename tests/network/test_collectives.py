"""Every algorithm run on a simulated machine: the data have to arrive, in the time and the bytes of the formulas."""

from fractions import Fraction
from itertools import product
from math import lcm
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aspenpy.cost.network.collectives import ALGORITHMS, COLLECTIVES, Cost, cost, halo
from aspenpy.cost.network.schemes import best_algorithm, best_time, ranges_of_sizes
from aspenpy.cost.network.topology import NetworkError
from aspenpy.expr import graph
from aspenpy.expr.evaluate import evaluate, evaluate_many
from tests.network.programs import PROGRAMS, halo_exchange
from tests.network.simulator import Outcome, simulate
from tests.thorough import examples

ALPHA, BETA, GAMMA = Fraction(7), Fraction(3, 5), Fraction(2, 11)
RANKS = range(1, 18)


def core(ranks: int) -> int:
    return 1 << (ranks.bit_length() - 1)


ONE_PORT = [pair for pair, algorithm in ALGORITHMS.items() if not algorithm.all_pairs]
"""Those whose ranks send one message at a time; the others are in test_meshes.py."""


def inputs(collective: str, ranks: int, length: int = 0, block: int = 3) -> tuple[list[Any], list[Any], int]:
    """What each rank begins with, what it has to end with, and the size of the formulas. Elements tell where they
    come from, and sums of them too: those of rank r are multiples of 1000^r."""
    length = length or 2 * lcm(ranks, core(ranks))
    vectors = [[1000**rank * (place + 1) for place in range(length)] for rank in range(ranks)]
    total = [sum(column) for column in zip(*vectors, strict=True)]
    part = length // ranks
    blocks = [[[1000 * rank + other] * block for other in range(ranks)] for rank in range(ranks)]
    everyone = frozenset(range(ranks))
    return {
        "broadcast": (vectors, [vectors[0]] * ranks, length),
        "reduce": (vectors, [total] + [None] * (ranks - 1), length),
        "allreduce": (vectors, [total] * ranks, length),
        "allgather": (vectors, [[element for vector in vectors for element in vector]] * ranks, length),
        "reduce_scatter": (vectors, [total[rank * part : (rank + 1) * part] for rank in range(ranks)], length),
        "alltoall": (blocks, [[row[rank] for row in blocks] for rank in range(ranks)], block),
        "barrier": ([frozenset({rank}) for rank in range(ranks)], [everyone] * ranks, 0),
    }[collective]


def agrees(found: Cost, outcome: Outcome) -> None:
    time, *counts = evaluate_many(
        [found.time(ALPHA, BETA, GAMMA), found.messages, found.traffic, found.most_messages, found.most_traffic]
    )
    assert (time, *counts) == outcome[1:]


@pytest.mark.parametrize(("collective", "name"), ONE_PORT)
def test_algorithms_deliver_what_the_formulas_say(collective: str, name: str) -> None:
    for ranks in RANKS:
        if ALGORITHMS[collective, name].power_of_two and ranks != core(ranks):
            with pytest.raises(NetworkError, match=f"{name} of {collective} is for a power of two of ranks"):
                cost(collective, name, ranks)
            continue
        begin, end, size = inputs(collective, ranks)
        program = PROGRAMS[collective, name]
        beta = 0 if collective == "barrier" else BETA
        outcome = simulate(lambda rank, count: program(rank, count, begin[rank]), ranks, ALPHA, beta, GAMMA)  # noqa: B023
        assert outcome.results == end, (name, ranks)
        if collective == "barrier":
            outcome = outcome._replace(traffic=0, most_traffic=0)
        agrees(cost(collective, name, ranks, size), outcome)


def test_all_programs_and_algorithms_are_the_same() -> None:
    assert set(PROGRAMS) == set(ONE_PORT)


@pytest.mark.parametrize(
    ("name", "rounds", "volume"),
    [("recursive_doubling", 20, 20), ("ring", 2 * (2**20 - 1), 2 * Fraction(2**20 - 1, 2**20)),
     ("rabenseifner", 40, 2 * Fraction(2**20 - 1, 2**20))],
)  # fmt: skip
def test_a_million_ranks(name: str, rounds: int, volume: Fraction) -> None:
    """TRG section 4.5, in formulas whose P is a symbol."""
    p, m = graph.symbol("P"), graph.symbol("m")
    found = cost("allreduce", name, p, m)
    assert evaluate_many([found.rounds, found.volume], {p: 2**20, m: 1}) == [rounds, volume]


@pytest.mark.parametrize(("collective", "name"), ALGORITHMS)
def test_symbols_give_what_numbers_do(collective: str, name: str) -> None:
    p, m = graph.symbol("P"), graph.symbol("m")
    general = cost(collective, name, p, m).time(ALPHA, BETA, GAMMA)
    for ranks in (1, 2, 8, 1024) if ALGORITHMS[collective, name].power_of_two else (1, 2, 7, 8, 1000):
        assert evaluate(general, {p: ranks, m: 12}) == evaluate(
            cost(collective, name, ranks, 12).time(ALPHA, BETA, GAMMA)
        )


# -- lower bounds that no algorithm beats: CHPG, table 2 -------------------------------------------


@pytest.mark.parametrize(("collective", "name"), [pair for pair in ONE_PORT if pair[0] not in ("alltoall", "barrier")])
def test_no_algorithm_beats_the_lower_bounds(collective: str, name: str) -> None:
    pieces = {"allreduce": 2, "allgather": None}
    for ranks in (2, 4, 8, 16, 5, 12):
        if ALGORITHMS[collective, name].power_of_two and ranks != core(ranks):
            continue
        found = cost(collective, name, ranks, ranks)
        rounds, volume = evaluate_many([found.rounds, found.volume])
        assert rounds >= (ranks - 1).bit_length()
        least = pieces.get(collective, 1)
        assert volume >= ((ranks - 1) * ranks if least is None else least * (ranks - 1))


# -- choosing --------------------------------------------------------------------------------------

TIMES = st.fractions(min_value=Fraction(1, 100), max_value=100, max_denominator=100)


@given(st.sampled_from(COLLECTIVES), st.integers(1, 40), TIMES, TIMES, TIMES, st.integers(0, 5000))
@settings(max_examples=examples(60))
def test_the_best_is_the_fastest_of_all(
    collective: str, ranks: int, alpha: Fraction, beta: Fraction, gamma: Fraction, size: int
) -> None:
    times = {
        name: evaluate(cost(collective, name, ranks, size).time(alpha, beta, gamma))
        for (of, name), algorithm in ALGORITHMS.items()
        if of == collective and not algorithm.all_pairs and not (algorithm.power_of_two and ranks != core(ranks))
    }
    fastest = min(times.values())
    p = graph.symbol("P")
    assert evaluate(best_time(collective, p, size, alpha, beta, gamma), {p: ranks}) == fastest
    assert times[best_algorithm(collective, ranks, size, alpha, beta, gamma)] == fastest


def test_where_the_best_changes() -> None:
    """Allreduce of 8 ranks: doubling takes 3 alpha + 3 m beta, Rabenseifner's 6 alpha + 7/4 m beta: they meet at
    m = 12/5 alpha/beta. The ring has as many bytes and more rounds."""
    found = ranges_of_sizes("allreduce", 8, 10, 1)
    assert [(each.algorithm, each.start) for each in found] == [("recursive_doubling", 0), ("rabenseifner", 24)]
    assert [best_algorithm("allreduce", 8, size, 10, 1) for size in (0, 23, 24)] == [
        "recursive_doubling", "recursive_doubling", "rabenseifner"
    ]  # fmt: skip


def test_where_seven_ranks_change() -> None:
    """Doubling takes 40 + 4m, Rabenseifner's 60 + 7m/2, the ring 120 + 12m/7: it overtakes doubling at m = 35, where
    Rabenseifner's has not yet."""
    found = ranges_of_sizes("allreduce", 7, 10, 1)
    assert [(each.algorithm, each.start) for each in found] == [("recursive_doubling", 0), ("ring", 35)]


# -- halo ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("periodic", [True, False])
@pytest.mark.parametrize("grid", [(1,), (2,), (5,), (2, 3), (4, 1), (3, 4, 2), (2, 2, 2), (1, 1, 3)], ids=str)
def test_halo_exchange(grid: tuple[int, ...], periodic: bool) -> None:
    faces = (5, 3, 2)[: len(grid)]
    place = dict(enumerate(product(*map(range, grid))))
    outcome = simulate(halo_exchange(place, grid, faces, periodic), len(place), ALPHA, BETA)
    agrees(halo(grid, faces, periodic=periodic), outcome)
    for rank, came in enumerate(outcome.results):
        for (axis, step), face in came.items():
            source = list(place[rank])
            source[axis] -= step
            inside = 0 <= source[axis] < grid[axis]
            source[axis] %= grid[axis]
            assert (face is None) == (not periodic and not inside)
            assert face is None or tuple(source) == place[face[0]]


@pytest.mark.parametrize("grid", [(1,), (2,), (3,), (2, 1), (2, 2), (3, 2), (1, 2, 4)], ids=str)
def test_open_ends_have_fewer_neighbours(grid: tuple[int, ...]) -> None:
    """Faces of 5, 3 and 2 elements; the busiest rank sends one to each neighbour that is there."""
    places = [*product(*map(range, grid))]
    beside = {
        place: [axis for axis, at in enumerate(place) for step in (-1, 1) if 0 <= at + step < grid[axis]]
        for place in places
    }
    busiest = max(beside.values(), key=len)
    found = halo(grid, (5, 3, 2)[: len(grid)], periodic=False)
    bytes_sent = [sum((5, 3, 2)[axis] for axis in axes) for axes in beside.values()]
    assert evaluate(found.time(ALPHA, BETA)) == len(busiest) * ALPHA + max(bytes_sent) * BETA
    assert evaluate(found.messages) == sum(map(len, beside.values()))
    assert evaluate(found.traffic) == sum(bytes_sent)


def test_halo_through_all_ports() -> None:
    found = halo((4, 4, 1), (100, 200, 400), all_ports=True)
    assert evaluate(found.time(10, 2)) == 10 + 2 * 200
    assert evaluate(found.messages) == 4 * 16


# -- mistakes --------------------------------------------------------------------------------------

MISTAKES = [
    (lambda: cost("alreduce", "ring", 8), "collective", "unknown collective `alreduce`",
     "did you mean `allreduce` or `reduce`?"),
    (lambda: cost("allreduce", "rings", 8), "algorithm", "unknown algorithm `rings` of allreduce",
     "did you mean `ring`?"),
    (lambda: cost("allgather", "recursive_doubling", 6), "ranks",
     "recursive_doubling of allgather is for a power of two of ranks, not 6", "there are also ring, bruck, all_pairs"),
    (lambda: cost("barrier", "flat", 0), "ranks", "the number of ranks must be a whole number from 1 on, not 0", None),
    (lambda: halo((2, 2), (1,)), "grid",
     "a halo is exchanged in 1 to 3 dimensions, with a face for each, not in 2 with 1", None),
]  # fmt: skip


@pytest.mark.parametrize(("mistake", "parameter", "message", "hint"), MISTAKES)
def test_mistakes(mistake: Any, parameter: str, message: str, hint: str | None) -> None:
    with pytest.raises(NetworkError) as caught:
        mistake()
    error = caught.value
    assert (error.parameter, error.message, error.hint) == (parameter, message, hint)
