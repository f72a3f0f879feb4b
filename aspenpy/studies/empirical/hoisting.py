"""Hoisting: what an expression computes from fixed symbols alone, taken out of it, to be computed once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from aspenpy.expr import graph
from aspenpy.expr.graph import Expr

NUMERIC = frozenset({"add", "mul", "neg", "div", "power", "apply", "index", "if_else", "sum", "checked", "draw"})
"""Kinds that are numbers and take work; an `index` of a row of a table is an array, and stays where an array is."""

OPAQUE = frozenset({"sum", "draw", "array", "stream", "index"})
"""Kinds that are moved as a whole or not at all."""

OWNER = "hoisted"


class Hoisted(NamedTuple):
    """An expression with `symbols` in the place of `parts`."""

    expr: Expr
    symbols: tuple[Expr, ...]
    parts: tuple[Expr, ...]


def hoisted(expr: Expr, moving: Iterable[Expr]) -> Hoisted:
    """The expression with a symbol in the place of each largest part that depends neither on the moving symbols nor on
    the counter of a sum around it."""
    wanted = frozenset(moving)

    def is_fixed(node: Expr) -> bool:
        free = graph.free_symbols(node)
        return free.isdisjoint(wanted) and not any(graph.is_counter(symbol) for symbol in free)

    opened = [node for node in graph.topological(expr) if node.kind not in OPAQUE and not is_fixed(node)]
    used = [arg for node in opened for arg in node.args] + [expr]
    parts = dict.fromkeys(arg for arg in used if arg.kind in NUMERIC and is_fixed(arg))
    symbols = {part: graph.symbol(f"part{number}", OWNER) for number, part in enumerate(parts)}
    result = graph.rewritten([expr], lambda node, args: node if node.kind in OPAQUE else symbols.get(node))[0]
    return Hoisted(result, tuple(symbols.values()), tuple(symbols))
