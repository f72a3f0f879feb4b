"""Paths on which each end has a link to each other one: played through, and against what was measured."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import permutations
from math import lcm

import pytest

from aspenpy.cost.network.collectives import ALGORITHMS, cost
from aspenpy.cost.network.levels import Among, ways_of_collective
from aspenpy.cost.network.schemes import LinkTimes, Mesh, fastest_scheme
from aspenpy.expr import graph
from aspenpy.expr.evaluate import evaluate
from tests.network.levelled import Member, Path, run
from tests.network.meshes import ON_A_MESH, rings
from tests.network.test_collectives import inputs
from tests.network.test_levels import ACROSS, PLAYED, Nodes
from tests.network.test_library_paths import seconds

LINKS = Path(Fraction(2), Fraction(1, 3), Fraction(1, 5), mesh=True)
"""No port limits them; with one of 1/7 it does so from four ranks on."""


def link(path: Path, ranks: int, *, all_pairs: bool = False) -> LinkTimes:
    alpha, beta, gamma, port = map(graph.number, (path.alpha, max(path.beta, path.port), path.gamma, path.port))
    mesh = Mesh(graph.number(max(ranks - 1, 1)), graph.number(path.beta), port, all_pairs)
    return LinkTimes(alpha, beta, gamma, mesh=mesh)


@pytest.mark.parametrize("ranks", range(2, 18))
def test_rings_take_all_links_alike(ranks: int) -> None:
    """Each way of each link is in two of them, and each of them goes through all ranks."""
    found = rings(ranks)
    steps = Counter(pair for ring in found for pair in zip(ring, [*ring[1:], ring[0]], strict=True))
    assert all(sorted(ring) == list(range(ranks)) for ring in found)
    assert steps == dict.fromkeys(permutations(range(ranks), 2), 2)


@pytest.mark.parametrize("port", [Fraction(0), Fraction(1, 7)], ids=["links", "ports"])
@pytest.mark.parametrize(("collective", "name"), ON_A_MESH)
def test_all_links_at_the_same_time(collective: str, name: str, port: Fraction) -> None:
    path = LINKS._replace(port=port)
    for ranks in (2, 3, 4, 5, 8) if port else (*range(1, 9), 12, 17):
        others = max(ranks - 1, 1)
        begin, end, amount = inputs(collective, ranks, 2 * ranks * others, others)
        program = ON_A_MESH[collective, name]
        group = [Member(0, rank) for rank in range(ranks)]
        (results,), time = run([group], [lambda rank: program(rank, ranks, begin[rank])], path, path)  # noqa: B023
        assert results == end, ranks
        sent = cost(collective, name, ranks, amount)
        assert evaluate(link(path, ranks).time(sent)) == time, ranks


class MeshedNodes(Nodes):
    """Nodes whose ranks have a link to each other one there."""

    def __init__(self, ranks: int, per_node: int) -> None:
        super().__init__(ranks, per_node, LINKS._replace(port=Fraction(1, 7)), ACROSS)
        self.length *= lcm(*(2 * many * max(many - 1, 1) for many in self.sizes))

    def levels(self):  # type: ignore[no-untyped-def]
        inside, across = super().levels()
        path = self.inside
        return inside.replace(one=link(path, self.each), all=link(path, self.each)), across


@pytest.mark.parametrize("scheme", ["flat", "split"])
@pytest.mark.parametrize(("ranks", "per_node"), [(3, 4), (4, 4), (8, 4), (7, 3), (6, 2)])
def test_meshes_in_nodes(scheme: str, ranks: int, per_node: int) -> None:
    on = MeshedNodes(ranks, per_node)
    assert PLAYED["allreduce", scheme](on)
    assert evaluate(on.schemes("allreduce", on.length)[scheme].time) == on.time


def test_all_pairs_are_taken_where_a_path_has_them() -> None:
    """Of eight ranks with links of 50 GB/s and rounds of 10 us: two rounds instead of fourteen."""
    path = Path(Fraction(1, 10**5), Fraction(1, 50 * 10**9), mesh=True)
    times = {}
    for all_pairs in (False, True):
        on = Nodes(8, 8, path)
        one = link(path, 8, all_pairs=all_pairs)
        levels = on.levels()
        among = Among((levels[0].replace(one=one, all=one),), graph.number(8), graph.number(10**9))
        times[all_pairs] = float(evaluate(fastest_scheme(ways_of_collective("allreduce", among))))
    moved = 2 * 10**9 / 8 / 50e9  # an eighth over each link, twice
    assert times == {False: pytest.approx(14e-5 + moved), True: pytest.approx(2e-5 + moved)}
    assert not any(each.all_pairs for (_, name), each in ALGORITHMS.items() if name != "all_pairs")


# -- measured --------------------------------------------------------------------------------------

A100_PAIRS = {26: 532.3, 27: 961.7, 28: 1883.7, 29: 3659.0, 30: 7219.2, 32: 27944.0}
"""Microseconds of 2^n bytes over four A100 with four links of NVLink 3 a pair, NCCL: PrincetonUniversity/LLMCompass,
ae/figure5/h/test_allreduce.py. What twelve links attain is measured on another machine, with NVSwitch."""


@pytest.mark.parametrize("exponent", A100_PAIRS)
def test_four_boards_without_a_switch(exponent: int) -> None:
    found = seconds(f"[{2**exponent}] as allreduce", 4, "perlmutter_gpu", socket="nvidia_a100_40gb")
    assert A100_PAIRS[exponent] / (found * 1e6) == pytest.approx(1, rel=0.3)


@pytest.mark.parametrize(("size", "bus"), [(2**23, 161.14), (2**32, 312.912)])
def test_eight_boards_of_infinity_fabric(size: int, bus: float) -> None:
    """GB/s of RCCL over eight MI300X: crickett-hpe/hpc-ai-envs pull request 30; stas00/ml-engineering, network."""
    found = seconds(f"[{size}] as allreduce", 8, "mi300x", set={"mi300x_boards": 8})
    assert 2 * 7 / 8 * size / found / 1e9 == pytest.approx(bus, rel=0.3)


def test_two_of_eight_boards() -> None:
    """47.671 GB/s, the one link between them: stas00/ml-engineering, network."""
    found = seconds(f"[{2**32}] as allreduce", 2, "mi300x", set={"mi300x_boards": 8})
    assert 2**32 / found / 1e9 == pytest.approx(47.671, rel=0.05)
