"""Topologies by name: what each is made from, and those that take a few lines, fat trees and networks of one hop."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Literal

from aspenpy.cost.network import custom, grids, low_diameter
from aspenpy.cost.network import part as parts
from aspenpy.cost.network import shift as shifts
from aspenpy.cost.network.topology import (
    NetworkError,
    Size,
    Topology,
    average_over_pairs,
    floor,
    is_odd,
    on_routers,
    whole_size,
)
from aspenpy.expr import graph
from aspenpy.expr.arithmetic import Number
from aspenpy.expr.graph import Expr, number, substitute
from aspenpy.language.diagnostics import suggest_nearest
from aspenpy.record import Record


def fully_connected(nodes: Size) -> Topology:
    """Every node linked with every other."""
    n = whole_size(nodes, "nodes", "the number of nodes")
    return Topology(
        kind="fully_connected",
        parameters=(("nodes", n),),
        nodes=n,
        routers=n,
        links=n * (n - 1) / 2,
        radix=n - 1,
        diameter=graph.apply("min", n - 1, 1),
        average_distance=average_over_pairs(n * (n - 1), n),
        bisection=floor(n**2 / 4),
    )


def star(nodes: Size) -> Topology:
    """Every node on one switch. Distances count the links between switches, and so are 0."""
    n = whole_size(nodes, "nodes", "the number of nodes")
    return Topology(
        kind="star",
        parameters=(("nodes", n),),
        nodes=n,
        routers=graph.ONE,
        links=graph.ZERO,
        **on_routers(n),
        radix=n,
        diameter=graph.ZERO,
        average_distance=graph.ZERO,
        bisection=floor(n / 2),
    )


def fat_tree(arity: Size, levels: Size, taper: Size = 1) -> Topology:
    """A k-ary n-tree: n levels of k^(n-1) switches, k links up and k down each (Petrini and Vanneschi, "k-ary n-trees",
    IPPS 1997). `taper` is how many nodes a switch of the lowest level has for each link up, so that taper * k^n nodes
    share what k^n would have each for itself.

    Nodes whose lowest common ancestor is on level l are 2(l-1) hops apart, and there are taper (k-1) k^(l-1) of them
    for every node. The upper levels are rearrangeable without blocking, so only the links up from the lowest
    switches of one half are cut; the switch in the middle of an odd number is cut off from half of its nodes.
    """
    k = whole_size(arity, "arity", "the links up of a switch", least=2)
    n = whole_size(levels, "levels", "the levels of a fat tree")
    t = graph.to_expr(taper)
    down = whole_size(t * k, "taper", "taper * arity, the nodes on a switch,")
    if t.kind == "number" and t.payload < 1:
        raise NetworkError(f"a fat tree is tapered by 1 or more, not {t}", "taper")
    switches, leaves = k**n, k ** (n - 1)
    nodes = down * leaves
    hops = 2 * ((n - 1) * switches - (switches - k) / (k - 1))  # the sum of 2(l-1) (k-1) k^(l-1) for l = 1 to n
    return Topology(
        kind="fat_tree",
        parameters=(("arity", k), ("levels", n), ("taper", t)),
        nodes=nodes,
        routers=n * leaves,
        links=(n - 1) * switches,
        **on_routers(nodes),
        radix=graph.if_else(graph.compare("==", n, 1), down, down + k),
        diameter=2 * (n - 1),
        average_distance=average_over_pairs(nodes * t * hops, nodes),
        bisection=k * floor(leaves / 2) + is_odd(leaves) * floor(down / 2),
    )


class Family(Record):
    """Topologies of one name. `make` takes the `parameters`, and those `optional` ones that are given; `source` is the
    publication of the laws. `part` is the law of a part of it (None: it has the distances of the whole), `shift` that
    of the ranks that are a number of ranks further; `cuts` are the groups between which links are few, beside halves.
    Where `ports_multiply_links` there are as many networks side by side as a node has ports. In one that is `direct`
    every place is a node; in others places may stay free."""

    make: Callable[..., Topology]
    parameters: tuple[str, ...]
    optional: tuple[str, ...]
    source: str
    part: parts.Law | None
    shift: shifts.Law
    cuts: Literal["groups", "leaves", "planes"] | None
    ports_multiply_links: bool
    direct: bool

    @property
    def is_grid(self) -> bool:
        return "dimensions" in self.parameters

    @property
    def has_nodes_of_machine(self) -> bool:
        """Whether it has as many nodes as the machine, unless it says otherwise."""
        return self.parameters == ("nodes",)


TOPOLOGIES: dict[str, Family] = {
    "hypercube": Family(
        grids.hypercube, ("dimension",), (), "Dally and Towles 2004",
        part=parts.subcube, shift=shifts.on_hypercube, cuts=None, ports_multiply_links=False, direct=True),
    "mesh": Family(
        grids.mesh, ("dimensions",), ("nodes_per_router",), "Dally and Towles 2004; Efe and Feng 2007",
        part=parts.cuboid, shift=shifts.on_grid, cuts="planes", ports_multiply_links=False, direct=True),
    "torus": Family(
        grids.torus, ("dimensions",), ("nodes_per_router",), "Dally and Towles 2004; Aroca and Fernandez Anta 2014",
        part=parts.cuboid, shift=shifts.on_grid, cuts="planes", ports_multiply_links=False, direct=True),
    "fat_tree": Family(
        fat_tree, ("arity", "levels"), ("taper",), "Petrini and Vanneschi 1997",
        part=parts.subtree, shift=shifts.on_fat_tree, cuts="leaves", ports_multiply_links=True, direct=False),
    "dragonfly": Family(
        low_diameter.dragonfly, ("nodes_per_router", "routers", "global_links"), ("groups",), "Kim et al. 2008",
        part=parts.groups, shift=shifts.in_containers, cuts="groups", ports_multiply_links=False, direct=False),
    "aries": Family(
        low_diameter.aries, ("nodes_per_router", "rows", "columns", "global_links", "groups"),
        ("row_links", "column_links"), "Faanes et al. 2012",
        part=parts.groups, shift=shifts.in_containers, cuts="groups", ports_multiply_links=False, direct=False),
    "slim_fly": Family(
        low_diameter.slim_fly, ("order",), ("nodes_per_router",), "Besta and Hoefler 2014",
        part=parts.containers, shift=shifts.in_containers, cuts=None, ports_multiply_links=False, direct=False),
    "fully_connected": Family(
        fully_connected, ("nodes",), (), "counted",
        part=None, shift=shifts.anywhere, cuts=None, ports_multiply_links=True, direct=False),
    "star": Family(
        star, ("nodes",), (), "counted",
        part=None, shift=shifts.anywhere, cuts=None, ports_multiply_links=True, direct=False),
    "custom": Family(
        custom.custom, ("edges",), (), "counted",
        part=None, shift=shifts.anywhere, cuts=None, ports_multiply_links=False, direct=True),
}  # fmt: skip


@lru_cache(maxsize=64)
def part_of(network: Topology, used: Expr, nodes: Expr) -> Topology:
    """The network of a run on `used` of a machine's `nodes`, by the law of its family."""
    law = TOPOLOGIES[network.kind].part
    return network if law is None else parts.restrict(network, law, used, nodes)


def mean_distance(network: Topology, shift: Size, ranks_per_node: Size = 1) -> Expr:
    """The average hops between the nodes of a rank and of the one `shift` ranks further, by the law of its family."""
    return TOPOLOGIES[network.kind].shift(network, graph.to_expr(shift), graph.to_expr(ranks_per_node))


def topology(kind: str, **parameters: Any) -> Topology:
    """The topology of that name. Raises NetworkError for a name or a parameter that there is not, a parameter that is
    missing, and values that make no network."""
    if kind not in TOPOLOGIES:
        hint = suggest_nearest(kind, TOPOLOGIES) or f"there are {', '.join(TOPOLOGIES)}"
        raise NetworkError(f"unknown topology `{kind}`", "topology", hint)
    family = TOPOLOGIES[kind]
    declared = (*family.parameters, *family.optional)
    for name in parameters:
        if name not in declared:
            hint = suggest_nearest(name, declared) or f"it has {', '.join(declared)}"
            raise NetworkError(f"a {kind} has no `{name}`", name, hint)
    for name in family.parameters:
        if name not in parameters:
            raise NetworkError(f"a {kind} needs `{name}`", name, f"it is made from {', '.join(family.parameters)}")
    return family.make(**parameters)


def with_values(network: Topology, values: Mapping[Expr, Number]) -> Topology:
    """The same topology with numbers in place of symbols, checked as if it had been made from them."""
    bindings = {symbol: number(value) for symbol, value in values.items()}

    def bound(value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(bound(element) for element in value)
        return substitute([value], bindings)[0] if isinstance(value, Expr) else value

    return topology(network.kind, **{name: bound(value) for name, value in network.parameters})
