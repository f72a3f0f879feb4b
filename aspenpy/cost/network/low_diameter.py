"""Networks of low diameter, dragonflies and slim flies.

A dragonfly has groups of routers, every pair of which is joined by links of its own. Distances are those of minimal
routes, which take at most one link between groups (Kim, Dally, Scott and Abts, "Technology-driven, highly-scalable
dragonfly topology", ISCA 2008, section 4.1). The routers of a slim fly are joined as in the graphs of McKay, Miller and
Siran, close to the most that two hops can reach.
"""

from __future__ import annotations

from math import isqrt

from aspenpy.cost.network.topology import (
    Bound,
    NetworkError,
    Size,
    Topology,
    average_over_pairs,
    floor,
    is_odd,
    known_sizes,
    on_routers,
    whole_size,
)
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.record import Record


class RouterGroup(Record):
    """The routers of one group: their links, the ports that those take of a router, the farthest two, and the sum of
    the distances from one to all."""

    routers: Expr
    links: Expr
    ports: Expr
    diameter: Expr
    distances: Expr


def dragonfly(nodes_per_router: Size, routers: Size, global_links: Size, groups: Size | None = None) -> Topology:
    """The canonical dragonfly of p nodes a router, a fully connected routers a group and h links from each router to
    other groups: a*h + 1 groups, or `groups` of them, which share all links evenly and leave what remains unused.

    Two groups with m links meet in a pairs of routers: m of them at one hop, the 2(a-1)m - m(m-1) others that one of
    the links ends at at two, and the rest at three. Raises NetworkError for fewer than h + 1 groups, in which a
    router would have two links to one group.
    """
    p, a, h, g = _sizes(nodes_per_router, routers, global_links, groups)
    m = floor(a * h / (g - 1))
    far = graph.if_else(graph.compare("<", m, a), 3, graph.apply("min", a, 2))
    between = 3 * a**2 - 2 * a * m + m**2 - m
    parameters = (("nodes_per_router", p), ("routers", a), ("global_links", h), ("groups", g))
    return _join_groups("dragonfly", parameters, (far, between), bounds=(("bisection", "upper"),))


def aries(
    nodes_per_router: Size,
    rows: Size,
    columns: Size,
    global_links: Size,
    groups: Size,
    row_links: Size = 1,
    column_links: Size = 1,
) -> Topology:
    """A dragonfly as Cray's XC has it: the routers of a group stand in a grid, and each is linked with all others of
    its row (`row_links` times) and of its column (`column_links` times). Cray's groups have 6 rows of 16 routers,
    4 nodes a router, 1 link in a row and 3 in a column (Faanes et al., "Cray Cascade", SC 2012).

    With one link between two groups the distances are exact. With more they are those of a route over any one of the
    links, which the shortest is no longer than.
    """
    r, c = whole_size(rows, "rows", "the rows of a group"), whole_size(columns, "columns", "the columns of a group")
    p, a, h, g = _sizes(nodes_per_router, r * c, global_links, groups)
    in_row = whole_size(row_links, "row_links", "the links between two routers of a row")
    in_column = whole_size(column_links, "column_links", "the links between two routers of a column")
    one_link = graph.compare("==", floor(a * h / (g - 1)), 1) is graph.TRUE
    bounded = ("bisection",) if one_link else ("bisection", "diameter", "average_distance")
    parameters = (
        ("nodes_per_router", p), ("rows", r), ("columns", c), ("global_links", h), ("groups", g),
        ("row_links", in_row), ("column_links", in_column),
    )  # fmt: skip
    group = _group(dict(parameters))
    across = 1 + 2 * group.diameter, a**2 + 2 * a * group.distances
    return _join_groups("aries", parameters, across, bounds=tuple((name, "upper") for name in bounded))


def _group(sizes: dict[str, Expr]) -> RouterGroup:
    """One group of a dragonfly, or of one whose groups are grids."""
    if "routers" in sizes:
        a = sizes["routers"]
        return RouterGroup(a, a * (a - 1) / 2, a - 1, graph.apply("min", a - 1, 1), a - 1)
    r, c = sizes["rows"], sizes["columns"]
    a = r * c
    ports = (c - 1) * sizes["row_links"] + (r - 1) * sizes["column_links"]
    farthest = graph.apply("min", r - 1, 1) + graph.apply("min", c - 1, 1)
    return RouterGroup(a, a * ports / 2, ports, farthest, (r - 1) + (c - 1) + 2 * (r - 1) * (c - 1))


def _sizes(nodes_per_router: Size, routers: Size, global_links: Size, groups: Size | None) -> tuple[Expr, ...]:
    """The sizes of a dragonfly: p nodes on a router, a routers in a group, h global links of a router, g groups."""
    p = whole_size(nodes_per_router, "nodes_per_router", "the nodes on a router")
    a = whole_size(routers, "routers", "the routers of a group")
    h = whole_size(global_links, "global_links", "the links of a router to other groups")
    g = a * h + 1 if groups is None else whole_size(groups, "groups", "the number of groups", least=2)
    known = known_sizes((a, h, g))
    if known is not None and not known[1] < known[2] <= known[0] * known[1] + 1:
        message = f"groups of {a} routers with {h} links each to other groups make {h + 1} to {a * h + 1} groups"
        raise NetworkError(f"{message}, not {g}", "groups")
    return p, a, h, g


def _join_groups(
    kind: str,
    parameters: tuple[tuple[str, Expr], ...],
    across: tuple[Expr, Expr],
    bounds: tuple[tuple[str, Bound], ...],
) -> Topology:
    """Groups that are all joined with each other; `across` are the longest distance between routers of two groups, and
    the sum of the distances from all of one to all of the other."""
    sizes = dict(parameters)
    group = _group(sizes)
    p, h, g = sizes["nodes_per_router"], sizes["global_links"], sizes["groups"]
    nodes = p * group.routers * g
    joining = floor(group.routers * h / (g - 1))
    far, between = across
    return Topology(
        kind=kind,
        parameters=parameters,
        nodes=nodes,
        routers=group.routers * g,
        links=g * group.links + g * (g - 1) / 2 * joining,
        **on_routers(nodes),
        radix=p + group.ports + h,
        diameter=graph.apply("max", far, group.diameter),
        average_distance=average_over_pairs(
            p**2 * (g * group.routers * group.distances + g * (g - 1) * between), nodes
        ),
        bisection=graph.apply("min", _cut(group.routers, group.links, joining, g, p), floor(nodes / 2)),
        bounds=bounds,
        nested=(
            (p, graph.ZERO),
            (p * group.routers, group.distances / graph.apply("max", group.routers - 1, 1)),
            (nodes, between / group.routers**2),
        ),
    )


def links_between_groups(whole: Topology) -> tuple[Expr, Expr]:
    """The links that join two groups, and the nodes of a group."""
    sizes = dict(whole.parameters)
    routers = _group(sizes).routers
    return floor(routers * sizes["global_links"] / (sizes["groups"] - 1)), sizes["nodes_per_router"] * routers


def links_of_router(whole: Topology) -> Expr:
    """The links of a router to others of its group and, at most, to other groups."""
    sizes = dict(whole.parameters)
    return graph.add(_group(sizes).ports, sizes["global_links"])


def bisection_of_nodes(whole: Topology, nodes: Expr, ports: Size = 1) -> Expr:
    """An upper bound of the links between two halves of `nodes` nodes, which fill one group before the next; each node
    has `ports` ports."""
    sizes = dict(whole.parameters)
    group, p = _group(sizes), sizes["nodes_per_router"]
    joining, size = links_between_groups(whole)
    groups = graph.apply("ceil", nodes / size)
    routers = graph.apply("min", group.routers, graph.apply("ceil", nodes / p))
    links = _links_among(sizes, routers)
    return graph.apply("min", _cut(routers, links, joining, groups, p), floor(nodes / 2) * ports)


def _links_among(sizes: dict[str, Expr], routers: Expr) -> Expr:
    """The links of the first routers of a group with each other; in a grid they fill one row after the other."""
    if "routers" in sizes:
        return routers * (routers - 1) / 2
    columns = sizes["columns"]
    rows = floor(routers / columns)
    rest = routers - rows * columns
    along = rows * columns * (columns - 1) / 2 + rest * (rest - 1) / 2
    across = rest * rows * (rows + 1) / 2 + (columns - rest) * rows * (rows - 1) / 2
    return along * sizes["row_links"] + across * sizes["column_links"]


def _cut(routers: Expr, links: Expr, joining: Expr, groups: Expr, nodes_per_router: Expr) -> Expr:
    """Links cut between two halves of the groups, of a single group among its `routers`, each with `links`. The middle
    one of an odd number is halved itself: of its links to other groups no more than half are cut one way or the other
    round, of its own no more than in an average halving, and a router in the middle is cut off from half of its
    nodes."""
    pairs = graph.apply("max", routers * (routers - 1) / 2, 1)
    middle = floor(links * floor(routers**2 / 4) / pairs) + is_odd(routers) * floor(nodes_per_router / 2)
    return joining * floor(groups**2 / 4) + is_odd(groups) * middle


LARGEST_ORDER = 1_000_000_000_000
"""Its factors are found by trying all up to its root; larger numbers count as no prime powers."""


def slim_fly(order: Size, nodes_per_router: Size | None = None) -> Topology:
    """2q^2 routers of (3q-d)/2 links to others, q = 4w + d a prime power and d one of -1, 0, 1; `nodes_per_router`
    nodes on each router, else half as many as it has links, rounded up (Besta and Hoefler, "Slim Fly", SC 2014, section
    II-B).

    Two routers are one hop apart or two. The columns of each half of the routers are joined by q links a pair, so
    that dividing the columns of both evenly cuts q * ceil(q^2/2) of them: a bound, as nobody has a closed form.
    """
    q = whole_size(order, "order", "the order of a slim fly", least=3)
    known = graph.whole_number(q)
    if known is not None and (prime_power(known) is None or known % 4 == 2):
        raise NetworkError(f"the order of a slim fly is a prime power from 3 on, not {known}", "order", _near(known))
    ports = (3 * q - _remainder(q)) / 2
    p = graph.apply("ceil", ports / 2)
    if nodes_per_router is not None:
        p = whole_size(nodes_per_router, "nodes_per_router", "the nodes on a router")
    routers = 2 * q**2
    nodes = p * routers
    distances = ports + 2 * (routers - 1 - ports)
    nested = (p, graph.ZERO), (nodes, distances / (routers - 1))
    return Topology(
        kind="slim_fly",
        parameters=(("order", q), ("nodes_per_router", p)),
        nodes=nodes,
        routers=routers,
        links=routers * ports / 2,
        **on_routers(nodes),
        radix=ports + p,
        diameter=graph.number(2),
        average_distance=average_over_pairs(p**2 * routers * distances, nodes),
        bisection=graph.apply("min", q * graph.apply("ceil", q**2 / 2), floor(nodes / 2)),
        bounds=(("bisection", "upper"),),
        nested=nested,
    )


def _remainder(q: Expr) -> Expr:
    """d of q = 4w + d."""
    rest = graph.apply("mod", q, 4)
    return graph.if_else(graph.compare("==", rest, 3), -1, rest)


def _near(order: int) -> str:
    below = next((n for n in range(order - 1, 2, -1) if prime_power(n)), None)
    above = next(n for n in range(max(order, 2) + 1, 2 * order + 4) if prime_power(n))
    return f"{above} is one" if below is None else f"{below} and {above} are such powers"


def prime_power(number: int) -> tuple[int, int] | None:
    """(p, n) where the number is p^n, p prime and n at least 1."""
    if not 2 <= number <= LARGEST_ORDER:
        return None
    prime = next((factor for factor in range(2, isqrt(number) + 1) if number % factor == 0), number)
    exponent = 0
    while number % prime == 0:
        number //= prime
        exponent += 1
    return (prime, exponent) if number == 1 else None
