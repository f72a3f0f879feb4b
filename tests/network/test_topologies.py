"""Closed forms against graphs, and against figures that others published."""

from fractions import Fraction
from typing import Any

import networkx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aspenpy.cost.network.grids import hypercube, mesh, ring, table_3_5_time, torus
from aspenpy.cost.network.low_diameter import prime_power
from aspenpy.cost.network.topologies import TOPOLOGIES, topology, with_values
from aspenpy.cost.network.topology import NetworkError, Topology
from aspenpy.expr import graph
from aspenpy.expr.evaluate import evaluate
from tests.network.counting import bisection, counted
from tests.network.finite_field import field
from tests.network.graphs import graph_of
from tests.thorough import examples

DIRECT = ("hypercube", "mesh", "torus", "fully_connected", "custom")


def dragonfly(p: int, a: int, h: int, groups: int | None = None) -> Topology:
    return topology("dragonfly", nodes_per_router=p, routers=a, global_links=h, groups=groups)


def aries(p: int, rows: int, columns: int, h: int, groups: int, *more: int) -> Topology:
    return TOPOLOGIES["aries"].make(p, rows, columns, h, groups, *more)


def fat_tree(arity: int, levels: int, taper: Any = 1) -> Topology:
    return topology("fat_tree", arity=arity, levels=levels, taper=taper)


NETWORKS = [
    *(hypercube(dimension) for dimension in (0, 1, 2, 5, 8)),
    *(mesh(sizes) for sizes in [(1,), (2,), (7,), (4, 1, 3), (5, 5), (2, 2, 2, 2), (8, 7, 6)]),
    *(torus(sizes) for sizes in [(1,), (2,), (3,), (6,), (4, 1, 3), (5, 2, 2), (4, 4, 4), (3, 5, 7), (12, 10)]),
    *(topology("fully_connected", nodes=nodes) for nodes in (1, 2, 9, 60)),
    *(topology("star", nodes=nodes) for nodes in (1, 2, 9)),
    *(fat_tree(*sizes) for sizes in [(2, 1), (3, 1), (2, 4), (4, 3), (3, 3), (4, 3, 2), (3, 3, Fraction(4, 3))]),
    *(dragonfly(*sizes) for sizes in [(1, 1, 2), (1, 2, 1), (2, 4, 2), (3, 6, 3), (2, 4, 2, 5), (2, 4, 2, 3)]),
    *(dragonfly(*sizes) for sizes in [(1, 5, 3, 11), (2, 3, 4, 5), (4, 8, 4)]),
    *(aries(*sizes) for sizes in [(2, 2, 3, 1, 7), (4, 2, 4, 1, 9, 1, 3), (1, 1, 4, 2, 9), (2, 6, 2, 2, 25, 2, 3)]),
    *(topology("slim_fly", order=order) for order in (3, 4, 5, 7, 8, 9, 11)),
    topology("slim_fly", order=5, nodes_per_router=1),
    topology("custom", edges=[(0, 1), (1, 2), (2, 3), (3, 0), (0, 2), (0, 1)]),
]


def identity(network: Topology) -> str:
    return f"{network.kind}-{network.parameters[0][1]}-{network.nodes}"


@pytest.mark.parametrize("network", NETWORKS, ids=identity)
def test_figures_are_those_counted_on_the_graph(network: Topology) -> None:
    figures = network.figures()
    del figures["bisection"]
    assert figures == counted(graph_of(network), direct=network.kind in DIRECT)


@given(st.lists(st.integers(1, 5), min_size=1, max_size=3))
@settings(max_examples=examples(20))
def test_grids_are_those_of_networkx(sizes: list[int]) -> None:
    for made, wrapped in ((mesh(sizes), False), (torus(sizes), True)):
        theirs = networkx.grid_graph(sizes, periodic=wrapped)
        theirs.remove_edges_from(list(networkx.selfloop_edges(theirs)))
        assert (made.figures()["nodes"], made.figures()["links"]) == (len(theirs), theirs.size())
        assert made.figures()["diameter"] == networkx.diameter(theirs)
        if len(theirs) > 1:
            assert float(made.figures()["average_distance"]) == pytest.approx(
                networkx.average_shortest_path_length(theirs), rel=1e-12
            )


SMALL = [
    *(hypercube(dimension) for dimension in (0, 1, 3)),
    *(mesh(sizes) for sizes in [(1,), (5,), (6,), (3, 3), (5, 2), (5, 3), (4, 3), (2, 2, 3)]),
    *(torus(sizes) for sizes in [(2,), (5,), (8,), (3, 3), (5, 3), (4, 3), (4, 2), (3, 2), (3, 2, 2), (7, 2)]),
    *(topology("fully_connected", nodes=nodes) for nodes in (1, 2, 7)),
    *(topology("star", nodes=nodes) for nodes in (1, 2, 7)),
    *(fat_tree(*sizes) for sizes in [(2, 2), (3, 2), (2, 3), (2, 2, 2), (2, 2, 2.5), (3, 2, Fraction(4, 3))]),
    dragonfly(1, 2, 1),
    dragonfly(1, 1, 4),
    dragonfly(1, 3, 2, 3),
    aries(1, 2, 2, 1, 3),
    topology("custom", edges=[(0, 1), (1, 2), (2, 3), (3, 4), (4, 0), (0, 2)]),
]  # fmt: skip


@pytest.mark.parametrize("network", SMALL, ids=identity)
def test_bisection_is_the_smallest_cut_of_all_halves(network: Topology) -> None:
    smallest = bisection(graph_of(network), direct=network.kind in DIRECT)
    claimed = network.figures()["bisection"]
    if network.bound("bisection") is None:
        assert claimed == smallest
    else:
        assert smallest <= claimed <= smallest + 2


def test_what_is_only_a_bound_is_named() -> None:
    assert {network.kind for network in NETWORKS if network.bound("bisection")} == {
        "torus", "dragonfly", "aries", "slim_fly"
    }  # fmt: skip
    assert [network.parameters[0][1] for network in NETWORKS if network.kind == "torus" and network.bounds] == [
        torus((5, 2, 2)).parameters[0][1]
    ]
    assert aries(4, 6, 16, 10, 30).bound("diameter") == "upper"
    assert aries(4, 6, 16, 1, 97).bound("diameter") is None


@pytest.mark.parametrize("order", [3, 4, 5, 7, 8, 9])
def test_columns_of_a_slim_fly_halve_it(order: int) -> None:
    """The cut that the bound stands for, made: as many columns of each half of the routers on either side."""
    network = graph_of(topology("slim_fly", order=order))
    side = {(0, x) for x in range((order + 1) // 2)} | {(1, m) for m in range(order // 2)}
    half = {router for router in network if router[:2] in side}
    assert 2 * len(half) == len(network)
    assert networkx.cut_size(network, half) == topology("slim_fly", order=order).figures()["bisection"]


def test_more_links_between_groups_than_one_are_a_bound() -> None:
    """Cray's groups, two links a pair: any one of them is a route, and some routes are shorter."""
    network = aries(1, 2, 3, 2, 7)
    here, there = counted(graph_of(network), direct=False), network.figures()
    assert here["average_distance"] < there["average_distance"]
    assert here["diameter"] <= there["diameter"] == 5
    assert here["links"] == there["links"]


# -- published figures -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sizes", "radix", "groups", "nodes"),
    [((2, 4, 2), 7, 9, 72), ((16, 32, 16), 63, 513, 262_656), ((13, 26, 13), 51, 339, 114_582),
     ((14, 28, 14), 55, 393, 154_056)],
)  # fmt: skip
def test_dragonflies_of_kim(sizes: tuple[int, int, int], radix: int, groups: int, nodes: int) -> None:
    """Figure 5 of Kim et al. (k = 7, N = 72), and N = ap(ah+1), k = p+a+h-1 of others."""
    figures = dragonfly(*sizes).figures()
    assert (figures["radix"], figures["nodes"], figures["diameter"]) == (radix, nodes, 3)
    assert figures["routers"] == groups * sizes[1]


def test_slim_fly_of_besta_and_hoefler() -> None:
    """q = 19: 722 routers of 29 links, 15 nodes each, 10,830 nodes; q = 5 is the graph of Hoffman and Singleton."""
    figures = topology("slim_fly", order=19).figures()
    assert (figures["routers"], figures["nodes"], figures["radix"]) == (722, 10_830, 29 + 15)
    moore = graph_of(topology("slim_fly", order=5))
    assert networkx.is_isomorphic(moore, networkx.hoffman_singleton_graph())


def test_grids_of_dally_and_towles() -> None:
    """Even k: a torus of n dimensions has nk/4 hops on average over all pairs, and 4N/k channels across."""
    figures = torus((8, 8, 8)).figures()
    assert figures["average_distance"] == Fraction(3 * 8, 4) * Fraction(512, 511)
    assert (figures["bisection"], figures["links"]) == (2 * 512 // 8, 3 * 512)


@pytest.mark.parametrize("processors", [1_000, 10_000, 100_000])
def test_table_3_5(processors: int) -> None:
    """T = M/(2 P^(2/3) B), M/(P^(2/3) B), M/((P/2) B) with M = 16 * 2^48 bytes and B = 4 GB/s."""
    volume, bandwidth = 16 * 2**48, 4 * 10**9
    times = {name: float(evaluate(table_3_5_time(name, volume, processors, bandwidth)))
             for name in ("torus", "mesh", "hypercube")}  # fmt: skip
    assert times["torus"] == pytest.approx(volume / (2 * processors ** (2 / 3) * bandwidth), rel=1e-12)
    assert times["mesh"] / times["torus"] == pytest.approx(2, rel=1e-15)
    assert times["torus"] / times["hypercube"] == pytest.approx(processors ** (1 / 3) / 4, rel=1e-12)
    assert times["hypercube"] * processors == pytest.approx(2 * volume / bandwidth, rel=1e-15)


def test_table_3_5_in_seconds() -> None:
    printed = {"torus": (5629.500, 1212.839, 261.298), "mesh": (11258.999, 2425.678, 522.596),
               "hypercube": (2251.800, 225.180, 22.518)}  # fmt: skip
    for name, column in printed.items():
        for processors, seconds in zip((1_000, 10_000, 100_000), column, strict=True):
            time = table_3_5_time(name, 2**52, processors, 4 * 10**9)
            assert float(evaluate(time)) == pytest.approx(seconds, abs=6e-4)


def test_table_3_5_is_the_bisection_of_the_cube() -> None:
    for make in (torus, mesh):
        time = table_3_5_time(make.__name__, 2**52, 1000, 4 * 10**9)
        assert 2**52 / make((10, 10, 10)).bisection_bandwidth(4 * 10**9) is time


# -- symbols ---------------------------------------------------------------------------------------


def symbolic(network: Topology) -> tuple[Topology, dict[graph.Expr, int]]:
    """The same with a symbol for every parameter, and what the symbols stand for."""
    values: dict[graph.Expr, int] = {}

    def named(name: str, value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(named(f"{name}{place}", element) for place, element in enumerate(value))
        found = graph.symbol(name)
        values[found] = value.payload
        return found

    return topology(network.kind, **{name: named(name, value) for name, value in network.parameters}), values


@pytest.mark.parametrize("network", [each for each in NETWORKS if each.kind != "custom"], ids=identity)
def test_symbols_give_what_numbers_do(network: Topology) -> None:
    general, values = symbolic(network)
    assert with_values(general, values) == network
    figures, expected = general.figures(values), network.figures()
    if network.kind in ("mesh", "torus"):
        assert general.bound("bisection") == "lower"
        assert figures.pop("bisection") <= expected["bisection"]
        del expected["bisection"]
    assert figures == expected


def test_the_bisection_of_symbols_is_exact_for_an_even_longest_dimension() -> None:
    for sizes in [(8, 7, 6), (2, 2), (4, 3), (1, 1), (6, 5, 2)]:
        for make in (mesh, torus):
            general, values = symbolic(make(sizes))
            assert general.figures(values)["bisection"] == make(sizes).figures()["bisection"]


def test_large_machines_cost_what_small_ones_do() -> None:
    """A million nodes and far more: numbers stay exact, and nothing is enumerated."""
    figures = torus((2**20, 2**20, 2**20)).figures()
    assert figures["nodes"] == 2**60
    assert figures["average_distance"] == 3 * Fraction(2**20, 4) * Fraction(2**60, 2**60 - 1)
    assert fat_tree(48, 4).figures()["nodes"] == 48**4
    assert dragonfly(16, 32, 16).figures()["nodes"] == 262_656


def test_latency_and_bandwidth() -> None:
    network = ring(8)
    assert evaluate(network.latency(Fraction(1, 10), 2)) == 2 + Fraction(16, 7) / 10
    assert evaluate(network.latency(Fraction(1, 10), 2, farthest=True)) == 2 + Fraction(4, 10)
    assert evaluate(topology("star", nodes=4).latency(1)) == 2
    assert evaluate(network.bisection_bandwidth(5)) == 10
    network = fat_tree(2, 3)
    assert evaluate((network.links + network.terminal_links) / network.nodes) == 3


# -- mistakes --------------------------------------------------------------------------------------

MISTAKES = [
    (lambda: torus((4, 0)), "dimensions", "the nodes along a dimension must be a whole number from 1 on, not 0"),
    (lambda: mesh((4, Fraction(5, 2))), "dimensions",
     "the nodes along a dimension must be a whole number from 1 on, not 2.5"),
    (lambda: torus(()), "dimensions", "a grid has from 1 to 32 dimensions, not 0"),
    (lambda: fat_tree(4, 3, Fraction(1, 2)), "taper", "a fat tree is tapered by 1 or more, not 0.5"),
    (lambda: fat_tree(4, 3, Fraction(4, 3)), "taper",
     "taper * arity, the nodes on a switch, must be a whole number from 1 on, not 16/3"),
    (lambda: fat_tree(1, 3), "arity", "the links up of a switch must be a whole number from 2 on, not 1"),
    (lambda: dragonfly(2, 4, 2, 10), "groups",
     "groups of 4 routers with 2 links each to other groups make 3 to 9 groups, not 10"),
    (lambda: dragonfly(2, 4, 2, 2), "groups",
     "groups of 4 routers with 2 links each to other groups make 3 to 9 groups, not 2"),
    (lambda: topology("slim_fly", order=6), "order", "the order of a slim fly is a prime power from 3 on, not 6"),
    (lambda: topology("tours", dimensions=(2,)), "topology", "unknown topology `tours`"),
    (lambda: topology("torus", dimension=3), "dimension", "a torus has no `dimension`"),
    (lambda: topology("dragonfly", routers=3), "nodes_per_router", "a dragonfly needs `nodes_per_router`"),
    (lambda: topology("custom", edges=[]), "edges", "a network of links needs one link at least"),
    (lambda: topology("custom", edges=[(0, 1), (1, 1)]), "edges", "a link joins two nodes, not 1 with itself"),
    (lambda: topology("custom", edges=[(0, 3), (1, 3)]), "edges", "node 2 has no link, and there is a node 3"),
    (lambda: topology("custom", edges=[(0, 1), (2, 3)]), "edges",
     "only 2 of the 4 nodes can be reached from node 0"),
    (lambda: topology("custom", edges=[(0, 5000)]), "edges",
     "a network given link by link has nodes 0 to 1023, and 5000 is beyond"),
    (lambda: graph_of(torus((1000, 1000))), "dimensions",
     "torus (dimensions 1000 x 1000) has 1,000,000 routers, and 100,000 can be drawn"),
]  # fmt: skip


@pytest.mark.parametrize(("mistake", "parameter", "message"), MISTAKES)
def test_mistakes_name_what_is_wrong(mistake: Any, parameter: str, message: str) -> None:
    with pytest.raises(NetworkError) as caught:
        mistake()
    assert (str(caught.value), caught.value.parameter) == (message, parameter)


def test_values_of_symbols_are_checked() -> None:
    n = graph.symbol("n")
    with pytest.raises(NetworkError, match="prime power from 3 on, not 6"):
        with_values(topology("slim_fly", order=n), {n: 6})


# -- what they are made with -----------------------------------------------------------------------


@pytest.mark.parametrize("order", [2, 3, 4, 5, 8, 9, 16, 25, 27])
def test_fields_are_fields(order: int) -> None:
    numbers = field(order)
    elements = range(order)
    for element in elements:
        assert {numbers.add(element, other) for other in elements} == set(elements)
        assert not element or {numbers.multiply(element, other) for other in elements} == set(elements)
        assert numbers.subtract(element, element) == 0
        assert numbers.multiply(element, 1) == element
    for a, b, c in [(1, 2 % order, order - 1), (order - 1, order - 1, order // 2)]:
        assert numbers.multiply(a, numbers.add(b, c)) == numbers.add(numbers.multiply(a, b), numbers.multiply(a, c))


def test_prime_powers() -> None:
    """The first of sequence A246655 of the OEIS."""
    assert [n for n in range(1, 33) if prime_power(n)] == [
        2, 3, 4, 5, 7, 8, 9, 11, 13, 16, 17, 19, 23, 25, 27, 29, 31, 32
    ]  # fmt: skip


def test_a_large_custom_network_is_bounded() -> None:
    """A torus link by link: the same figures, and a cut that is no smaller than the smallest."""
    network = graph_of(torus((6, 6)))
    edges = [(first[0] * 6 + first[1], second[0] * 6 + second[1]) for first, second in network.edges]
    figures, expected = topology("custom", edges=edges).figures(), torus((6, 6)).figures()
    assert expected.pop("bisection") <= figures.pop("bisection") <= 18
    assert figures == expected


def test_a_long_custom_path_is_cut_once() -> None:
    figures = topology("custom", edges=[(node, node + 1) for node in range(99)]).figures()
    assert figures == mesh((100,)).figures()
