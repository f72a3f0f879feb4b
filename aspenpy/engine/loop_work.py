"""The work of loops without a closed form, as a formula of what their trips depend on."""

from __future__ import annotations

from collections.abc import Sequence

from aspenpy.engine.arrays import MOST_PASSES
from aspenpy.expr import graph
from aspenpy.expr.failures import count_pass_operations
from aspenpy.expr.graph import Expr, nodes_of_kind
from aspenpy.expr.node import dependents


def loop_operations(exprs: Sequence[Expr]) -> Expr:
    """Operations of the passes of all sums in some expressions, each sum once, when they are computed at one point. A
    sum of too many passes has no value there and none of them is made."""
    sums = nodes_of_kind("sum", *exprs)
    inside = {node: {*dependents(node.args[2], on=[node.args[0]])} for node in sums}
    spent: dict[Expr, Expr] = {}
    for node in sums:  # those inside of others come first
        counter, count, _ = node.args
        within = [other for other in sums if other in inside[node]]
        direct = [other for other in within if not any(other in inside[around] for around in within)]
        body = inside[node].difference(*(inside[other] for other in within))
        each = graph.add(count_pass_operations(body), *(spent[other] for other in direct))
        passes = graph.if_else(graph.compare("<=", count, MOST_PASSES), count, graph.ZERO)
        spent[node] = graph.summation(counter, passes, each)
    outermost = [node for node in sums if not any(node in inside[around] for around in sums)]
    return graph.add(graph.ZERO, *(spent[node] for node in outermost))
