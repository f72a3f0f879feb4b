"""Fat trees: the capacity above any switch is that of the links below it, or that divided by the taper."""

from __future__ import annotations

from aspenpy.cost.network.topology import NetworkError, Size, Topology, average, floor, is_odd, on_routers, whole
from aspenpy.expr import graph


def fat_tree(arity: Size, levels: Size, taper: Size = 1) -> Topology:
    """A k-ary n-tree: n levels of k^(n-1) switches, k links up and k down each (Petrini and Vanneschi, "k-ary n-trees",
    IPPS 1997). `taper` is how many nodes a switch of the lowest level has for each link up, so that taper * k^n nodes
    share what k^n would have each for itself.

    Nodes whose lowest common ancestor is on level l are 2(l-1) hops apart, and there are taper (k-1) k^(l-1) of them
    for every node. The upper levels are rearrangeable without blocking, so only the links up from the lowest
    switches of one half are cut; the switch in the middle of an odd number is cut off from half of its nodes.
    """
    k = whole(arity, "arity", "the links up of a switch", least=2)
    n = whole(levels, "levels", "the levels of a fat tree")
    t = graph.to_expr(taper)
    down = whole(t * k, "taper", "taper * arity, the nodes on a switch,")
    if t.kind == "number" and t.payload < 1:
        raise NetworkError(f"a fat tree is tapered by 1 or more, not {t}", "taper")
    switches, leaves = k**n, k ** (n - 1)
    nodes = down * leaves
    hops = 2 * ((n - 1) * switches - (switches - k) / (k - 1))
    return Topology(
        kind="fat_tree",
        parameters=(("arity", k), ("levels", n), ("taper", t)),
        nodes=nodes,
        routers=n * leaves,
        links=(n - 1) * switches,
        **on_routers(nodes),
        radix=graph.if_else(graph.compare("==", n, 1), down, down + k),
        diameter=2 * (n - 1),
        average_distance=average(nodes * t * hops, nodes),
        bisection=k * floor(leaves / 2) + is_odd(leaves) * floor(down / 2),
    )
