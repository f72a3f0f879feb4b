"""Which nodes of a graph get a name of their own when it is written as a program."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from aspenpy.expr.node import Expr

LEAVES = frozenset({"number", "boolean", "symbol", "failure"})

DEEPEST = 20
"""Levels of an expression written into another; compilers and parsers have limits of their own."""


def temporaries(order: Sequence[Expr], roots: Iterable[Expr], always: frozenset[str] = frozenset()) -> set[Expr]:
    """What is used more than once, nested too deep, or of a kind in `always`; `order` is topological."""
    uses = Counter(roots)
    for node in order:
        uses.update(node.args)
    named: set[Expr] = set()
    depth: dict[Expr, int] = {}
    for node in order:
        if node.kind in LEAVES:
            continue
        depth[node] = 1 + max([depth.get(arg, 0) for arg in node.args], default=0)
        if uses[node] > 1 or depth[node] > DEEPEST or node.kind in always:
            named.add(node)
            depth[node] = 0
    return named
