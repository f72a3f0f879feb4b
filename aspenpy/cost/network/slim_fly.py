"""Slim fly: routers as in the graphs of McKay, Miller and Siran, close to the most that two hops can reach."""

from __future__ import annotations

from math import isqrt

from aspenpy.cost.network.topology import NetworkError, Size, Topology, average, floor, on_routers, whole
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr

LARGEST_ORDER = 1_000_000_000_000
"""Its factors are found by trying all up to its root; larger numbers count as no prime powers."""


def slim_fly(order: Size, nodes_per_router: Size | None = None) -> Topology:
    """2q^2 routers of (3q-d)/2 links to others, q = 4w + d a prime power and d one of -1, 0, 1; on each router so many
    nodes, or half as many as it has links, rounded up (Besta and Hoefler, "Slim Fly", SC 2014, section II-B).

    Two routers are one hop apart or two. The columns of each half of the routers are joined by q links a pair, so
    that dividing the columns of both evenly cuts q * ceil(q^2/2) of them: a bound, as nobody has a closed form.
    """
    q = whole(order, "order", "the order of a slim fly", least=3)
    known = graph.whole_number(q)
    if known is not None and (prime_power(known) is None or known % 4 == 2):
        raise NetworkError(f"the order of a slim fly is a prime power from 3 on, not {known}", "order", _near(known))
    ports = (3 * q - _remainder(q)) / 2
    p = graph.apply("ceil", ports / 2)
    if nodes_per_router is not None:
        p = whole(nodes_per_router, "nodes_per_router", "the nodes on a router")
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
        average_distance=average(p**2 * routers * distances, nodes),
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
