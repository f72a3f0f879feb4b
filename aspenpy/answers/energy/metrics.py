"""Metrics: energy, and its products with time, as expressions, for whoever sweeps, derives or compiles them.

Each is a function from a Prediction to an expression in the symbols of its models: `energy` in joules, `power` in watts
on average, `edp` in joule seconds and `ed2p` in joule seconds squared (Gonzalez and Horowitz, 1996).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from aspenpy.answers.energy.options import LITERAL, EnergyOptions
from aspenpy.answers.energy.totals import EnergyTotals
from aspenpy.cost.cost import CostTree
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr

if TYPE_CHECKING:
    from aspenpy.answers.prediction import Prediction


def energy(prediction: Prediction, options: EnergyOptions = LITERAL) -> Expr:
    """Joules of the run."""
    return energy_of(prediction.tree, options)


def power(prediction: Prediction, options: EnergyOptions = LITERAL) -> Expr:
    """Watts, on average over the run."""
    return power_of(prediction.tree, options)


def edp(prediction: Prediction, options: EnergyOptions = LITERAL) -> Expr:
    """Energy times runtime."""
    return edp_of(prediction.tree, options)


def ed2p(prediction: Prediction, options: EnergyOptions = LITERAL) -> Expr:
    """Energy times the square of the runtime."""
    return ed2p_of(prediction.tree, options)


# -- of a cost tree --------------------------------------------------------------------------------


def energy_of(tree: CostTree, options: EnergyOptions = LITERAL) -> Expr:
    return EnergyTotals(tree, options).energy


def power_of(tree: CostTree, options: EnergyOptions = LITERAL) -> Expr:
    return graph.div(energy_of(tree, options), tree.runtime)


def edp_of(tree: CostTree, options: EnergyOptions = LITERAL) -> Expr:
    return graph.mul(energy_of(tree, options), tree.runtime)


def ed2p_of(tree: CostTree, options: EnergyOptions = LITERAL) -> Expr:
    return graph.mul(energy_of(tree, options), graph.power(tree.runtime, 2))


METRICS: dict[str, Callable[[CostTree, EnergyOptions], Expr]] = {
    "energy": energy_of,
    "power": power_of,
    "edp": edp_of,
    "ed2p": ed2p_of,
}
"""What `--metric` may ask for, in the dissertation's own form."""
