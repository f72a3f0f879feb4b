"""Metrics: energy, and its products with time, as expressions, for whoever sweeps, derives or compiles them.

Each is a function from a cost tree to an expression in the symbols of its models: `energy` in joules, `power` in watts
on average, `edp` in joule seconds and `ed2p` in joule seconds squared (Gonzalez and Horowitz, 1996).
"""

from __future__ import annotations

from collections.abc import Callable

from aspenpy.answers.energy.options import LITERAL, EnergyOptions
from aspenpy.answers.energy.totals import EnergyTotals
from aspenpy.cost.cost import CostTree
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr


def energy(tree: CostTree, options: EnergyOptions = LITERAL) -> Expr:
    """Joules of the run."""
    return EnergyTotals(tree, options).energy


def power(tree: CostTree, options: EnergyOptions = LITERAL) -> Expr:
    """Watts, on average over the run."""
    return graph.div(energy(tree, options), tree.runtime)


def edp(tree: CostTree, options: EnergyOptions = LITERAL) -> Expr:
    """Energy times runtime."""
    return graph.mul(energy(tree, options), tree.runtime)


def ed2p(tree: CostTree, options: EnergyOptions = LITERAL) -> Expr:
    """Energy times the square of the runtime."""
    return graph.mul(energy(tree, options), graph.power(tree.runtime, 2))


METRICS: dict[str, Callable[[CostTree, EnergyOptions], Expr]] = {
    "energy": energy,
    "power": power,
    "edp": edp,
    "ed2p": ed2p,
}
"""What `--metric` may ask for, in the dissertation's own form."""
