"""Functions that others define: they are written so before a derivative is taken, and before a program is made."""

from __future__ import annotations

from collections.abc import Sequence

from aspenpy.expr import graph
from aspenpy.expr.functions import FUNCTIONS
from aspenpy.expr.node import Expr

DEFINED = {name: row.definition for name, row in FUNCTIONS.items() if row.definition is not None}


def write_definitions(exprs: Sequence[Expr], symbol: Expr | None = None) -> list[Expr]:
    """The expressions with every function that has a `definition` in its table written so: everywhere, or in what
    depends on a symbol."""
    nodes = graph.topological_order(*exprs) if symbol is None else graph.dependents(*exprs, on=[symbol])
    defined = {node for node in nodes if node.kind == "apply" and node.payload in DEFINED}
    if not defined:
        return list(exprs)

    def written(node: Expr, args: tuple[Expr, ...]) -> Expr | None:
        return DEFINED[node.payload](graph, *args) if node in defined else None

    return graph.rewrite(exprs, written, since=min(node.serial for node in defined))
