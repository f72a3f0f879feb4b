"""Networks given link by link, whose figures are counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import combinations

from aspenpy.cost.network.topology import NetworkError, Size, Topology, whole_size
from aspenpy.expr import graph

MOST_NODES = 1024
"""Of which counting the distances of all pairs and halving the worst of them takes two seconds."""

MOST_HALVED = 16
"""Up to so many nodes every division into halves is tried; beyond it one that is hard to improve is the bound."""

HALVING_SEED = 1


def custom(edges: Iterable[tuple[Size, Size]]) -> Topology:
    """Nodes 0, 1, 2, ... and links between them; a pair that is given twice is joined by two links.

    Raises NetworkError where a number between the nodes has no link, a node is linked with itself, not all nodes reach
    each other, or there are more than `MOST_NODES`.
    """
    pairs = [(_node(first), _node(second)) for first, second in edges]
    _require_valid_links(pairs)
    count = max(map(max, pairs)) + 1
    reached = _nodes_by_distance(pairs, count)
    ports = Counter(node for pair in pairs for node in pair)
    total = sum(distance * nodes for distance, nodes in enumerate(reached))
    return Topology(
        kind="custom",
        parameters=(("edges", tuple(pairs)),),
        nodes=graph.number(count),
        routers=graph.number(count),
        links=graph.number(len(pairs)),
        radix=graph.number(max(ports.values())),
        diameter=graph.number(len(reached) - 1),
        average_distance=graph.number(total) / (count * (count - 1)),
        bisection=graph.number(_smallest_cut(pairs, count) if count <= MOST_HALVED else _good_cut(pairs, count)),
        bounds=() if count <= MOST_HALVED else (("bisection", "upper"),),
    )


def _node(value: Size) -> int:
    number = whole_size(value, "edges", "the number of a node", least=0)
    if number.kind != "number":
        raise NetworkError(f"the nodes of a link are numbers, not `{number}`", "edges")
    return int(number.payload)


def _require_valid_links(pairs: Sequence[tuple[int, int]]) -> None:
    if not pairs:
        raise NetworkError("a network of links needs one link at least", "edges")
    numbers = {node for pair in pairs for node in pair}
    highest = max(numbers)
    if highest >= MOST_NODES:
        message = f"a network given link by link has nodes 0 to {MOST_NODES - 1}, and {highest} is beyond"
        raise NetworkError(message, "edges", "the other topologies have any number of nodes")
    for first, second in pairs:
        if first == second:
            raise NetworkError(f"a link joins two nodes, not {first} with itself", "edges")
    missing = next((node for node in range(highest) if node not in numbers), None)
    if missing is not None:
        message = f"node {missing} has no link, and there is a node {highest}"
        raise NetworkError(message, "edges", "nodes are numbered from 0 on, none left out")


def _nodes_by_distance(pairs: Sequence[tuple[int, int]], count: int) -> list[int]:
    """Numbers of ordered pairs of nodes that are 0, 1, 2, ... hops apart. All nodes search at once: what each has
    reached is a number with a bit for each node."""
    within = [1 << node for node in range(count)]
    distinct = {(min(pair), max(pair)) for pair in pairs}
    reached = [count]
    while sum(reached) < count * count:
        wider = list(within)
        for first, second in distinct:
            wider[first] |= within[second]
            wider[second] |= within[first]
        fresh = sum(nodes.bit_count() for nodes in wider) - sum(reached)
        if not fresh:
            message = f"only {within[0].bit_count()} of the {count} nodes can be reached from node 0"
            raise NetworkError(message, "edges", "every node has to reach every other")
        reached.append(fresh)
        within = wider
    return reached


def _smallest_cut(pairs: Sequence[tuple[int, int]], count: int) -> int:
    """The smallest cut over all halves that have node 0 on the larger side, or on one of two equal ones."""
    others = range(1 if count % 2 == 0 else 0, count)
    return min(_cut(pairs, set(half)) for half in combinations(others, count // 2))


def _cut(pairs: Sequence[tuple[int, int]], half: set[int]) -> int:
    return sum((first in half) != (second in half) for first, second in pairs)


def _good_cut(pairs: Sequence[tuple[int, int]], count: int) -> int:
    """The cut that Kernighan and Lin's exchanges end with, from the half that is nearer to a node that is far out."""
    import networkx
    from networkx.algorithms.community import kernighan_lin_bisection

    def outwards(start: int) -> list[int]:
        """All nodes, the nearest first."""
        return [start, *(node for _, node in networkx.bfs_edges(joined, start))]

    joined = networkx.Graph()
    for first, second in pairs:
        more = joined.get_edge_data(first, second, {"weight": 0})["weight"] + 1
        joined.add_edge(first, second, weight=more)
    *_, outermost = outwards(0)
    by_distance = outwards(outermost)
    halves = set(by_distance[: count // 2]), set(by_distance[count // 2 :])
    half, _ = kernighan_lin_bisection(joined, halves, weight="weight", seed=HALVING_SEED)
    return _cut(pairs, half)
