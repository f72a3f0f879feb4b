"""Conversion: what a machine loses on the way to its components.

A component may declare `property efficiency [0.94]`: of each joule that comes in, so much comes out, and the rest is
drawn on top of what the component and all in it draw. Supplies inside of others multiply.
"""

from __future__ import annotations

from collections.abc import Mapping

from aspenpy.answers.energy.term import Key, Term
from aspenpy.cost.cost import CostTree
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr

PROPERTY = "efficiency"


def losses(tree: CostTree, terms: Mapping[Key, Term]) -> dict[Key, dict[Key, Expr]]:
    """For each component that converts, the joules that are lost there for each joule of a term."""
    efficiency = _efficiencies(tree)
    found: dict[Key, dict[Key, Expr]] = {}
    for key, term in terms.items():
        drawn = graph.ONE
        for name in reversed(term.path):
            if name in efficiency:
                fed = graph.div(drawn, efficiency[name])
                found.setdefault(Key("conversion", name), {})[key] = graph.sub(fed, drawn)
                drawn = fed
    return found


def _efficiencies(tree: CostTree) -> dict[str, Expr]:
    found = {}
    for name, component in tree.machine.components.items():
        declared = component.properties.get(PROPERTY)
        if declared is not None and declared.value is not None:
            found[name] = graph.checked("efficiency", declared.symbol)
            if declared.span is not None:
                tree.origins[found[name]] = declared.span
    return found
