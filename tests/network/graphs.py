"""Topologies as graphs: every router and every link of a small one, to count and to draw."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import combinations, product
from typing import Any

from aspenpy.cost.network.topology import NetworkError, Topology, describe_topology
from aspenpy.expr.graph import whole_number
from aspenpy.record import Record
from tests.network.finite_field import Field, field

MOST_ROUTERS = 100_000

Router = Any
Link = tuple[Router, Router, int]
"""Two routers and by how many links they are joined."""


class Wiring(Record):
    """The routers with the nodes on each, and the links."""

    routers: dict[Router, int]
    links: Iterator[Link]


def graph_of(topology: Topology) -> Any:
    """A networkx Graph of the routers: `nodes` on a router says how many nodes it has (itself in a direct network),
    `links` on an edge how many links it stands for, `between_groups` marks those of a dragonfly that do.

    Raises NetworkError where the topology has symbols in place of numbers, or more than `MOST_ROUTERS`.
    """
    import networkx

    count = whole_number(topology.routers)
    if count is None or count > MOST_ROUTERS:
        much = "symbols for parameters" if count is None else f"{count:,} routers, and {MOST_ROUTERS:,} can be drawn"
        raise NetworkError(f"{describe_topology(topology)} has {much}", topology.parameters[0][0])
    wiring = WIRING[topology.kind](**{name: _plain(value) for name, value in topology.parameters})
    found = networkx.Graph()
    for router, nodes in wiring.routers.items():
        found.add_node(router, nodes=nodes)
    for first, second, links in wiring.links:
        apart = topology.kind in GROUPED and first[0] != second[0]
        joined = found.get_edge_data(first, second, {"links": 0})["links"]
        found.add_edge(first, second, links=joined + links, between_groups=apart)
    return found


def _plain(value: Any) -> Any:
    """Numbers in place of expressions."""
    if isinstance(value, tuple):
        return tuple(_plain(element) for element in value)
    return getattr(value, "payload", value)


# -- direct networks -------------------------------------------------------------------------------


def _grid(dimensions: tuple[int, ...], nodes_per_router: int = 1, *, wrapped: bool) -> Wiring:
    def links() -> Iterator[Link]:
        for place in product(*map(range, dimensions)):
            for axis, size in enumerate(dimensions):
                following = place[axis] + 1
                if following < size or (wrapped and size > 2):
                    yield place, (*place[:axis], following % size, *place[axis + 1 :]), 1

    return Wiring(dict.fromkeys(product(*map(range, dimensions)), nodes_per_router), links())


def _hypercube(dimension: int) -> Wiring:
    nodes = range(2**dimension)
    flips = ((node, node | 1 << bit, 1) for node in nodes for bit in range(dimension) if not node >> bit & 1)
    return Wiring(dict.fromkeys(nodes, 1), flips)


def _fully_connected(nodes: int) -> Wiring:
    return Wiring(dict.fromkeys(range(nodes), 1), ((*pair, 1) for pair in combinations(range(nodes), 2)))


def _custom(edges: tuple[tuple[int, int], ...]) -> Wiring:
    nodes = range(max(map(max, edges)) + 1)
    return Wiring(dict.fromkeys(nodes, 1), ((first, second, 1) for first, second in edges))


# -- networks of routers ---------------------------------------------------------------------------


def _star(nodes: int) -> Wiring:
    return Wiring({0: nodes}, iter(()))


def _fat_tree(arity: int, levels: int, taper: int) -> Wiring:
    """A switch is (level, digits); one up the tree, the digit of that level takes any value."""
    places = list(product(range(arity), repeat=levels - 1))
    switches = {(level, place): 0 if level else int(taper * arity) for level in range(levels) for place in places}

    def links() -> Iterator[Link]:
        for level in range(levels - 1):
            for place in places:
                for digit in range(arity):
                    yield (level, place), (level + 1, (*place[:level], digit, *place[level + 1 :])), 1

    return Wiring(switches, links())


GROUPED = ("dragonfly", "aries")
"""Whose routers are (group, number in it)."""


def _dragonfly(nodes_per_router: int, routers: int, global_links: int, groups: int) -> Wiring:
    inside = [(*pair, 1) for pair in combinations(range(routers), 2)]
    return _groups(nodes_per_router, routers, global_links, groups, inside)


def _aries(
    nodes_per_router: int, rows: int, columns: int, global_links: int, groups: int, row_links: int, column_links: int
) -> Wiring:
    inside = []
    for first, second in combinations(range(rows * columns), 2):
        if first // columns == second // columns:
            inside.append((first, second, row_links))
        elif first % columns == second % columns:
            inside.append((first, second, column_links))
    return _groups(nodes_per_router, rows * columns, global_links, groups, inside)


def _groups(
    nodes_per_router: int, routers: int, global_links: int, groups: int, inside: list[tuple[int, int, int]]
) -> Wiring:
    """The ports of a group lead to the other groups in turn, router after router."""
    rounds = routers * global_links // (groups - 1)

    def links() -> Iterator[Link]:
        for group in range(groups):
            for first, second, count in inside:
                yield (group, first), (group, second), count
        for low, high in combinations(range(groups), 2):
            for turn in range(rounds):
                down, up = turn * (groups - 1) + high - 1, turn * (groups - 1) + low
                yield (low, down // global_links), (high, up // global_links), 1

    return Wiring(dict.fromkeys(product(range(groups), range(routers)), nodes_per_router), links())


def _slim_fly(order: int, nodes_per_router: int) -> Wiring:
    """Besta and Hoefler 2014, section II-B: routers (half, x, y), the generator sets X and X' of the powers of a
    primitive element, and y = m x + c across."""
    numbers = field(order)
    sets = _generators(numbers)

    def links() -> Iterator[Link]:
        for half, column in product(range(2), range(order)):
            for first, second in combinations(range(order), 2):
                if numbers.subtract(first, second) in sets[half]:
                    yield (half, column, first), (half, column, second), 1
        for x, m, c in product(range(order), repeat=3):
            yield (0, x, numbers.add(numbers.multiply(m, x), c)), (1, m, c), 1

    return Wiring(dict.fromkeys(product(range(2), range(order), range(order)), nodes_per_router), links())


def _generators(numbers: Field) -> tuple[set[int], set[int]]:
    """X and X', each closed under change of sign, by the exponents of a primitive element; its (q-1)th power is 1."""
    powers = numbers.primitive_powers()
    last, half = numbers.order - 1, (numbers.order + 1) // 2
    exponents: dict[int, tuple[Iterable[int], Iterable[int]]] = {
        0: (range(0, last, 2), range(1, last + 1, 2)),
        1: (range(0, last, 2), range(1, last, 2)),
        3: ((*range(0, half, 2), *range(half - 1, last, 2)), (*range(1, half, 2), *range(half, last + 1, 2))),
    }
    first, second = ({powers[exponent % last] for exponent in chosen} for chosen in exponents[numbers.order % 4])
    return first, second


WIRING: dict[str, Callable[..., Wiring]] = {
    "hypercube": _hypercube,
    "mesh": partial(_grid, wrapped=False),
    "torus": partial(_grid, wrapped=True),
    "fat_tree": _fat_tree,
    "dragonfly": _dragonfly,
    "aries": _aries,
    "slim_fly": _slim_fly,
    "fully_connected": _fully_connected,
    "star": _star,
    "custom": _custom,
}
