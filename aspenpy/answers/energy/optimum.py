"""Optimum: the value of a parameter, such as a clock, at which an energy or one of its products with time is least.

The slope is derived, and every place where it is zero or leaps over zero is found (`analysis.inverse` proves it); the
least is at one of those or at an end. Between two of those places the energy only rises or only falls, so the least
whole number is beside one of them. A formula of many terms, or with loops that are added pass by pass, would take
minutes to prove: it is evaluated on a grid, and around the least of that by golden sections.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise

from aspenpy.answers.energy.options import DEFAULT, EnergyOptions
from aspenpy.answers.energy.totals import METRICS, energy_metric
from aspenpy.answers.inverse import RootSearch
from aspenpy.answers.prediction import Prediction
from aspenpy.expr import graph
from aspenpy.expr.derivative import differentiate
from aspenpy.expr.evaluate import evaluate
from aspenpy.expr.graph import Expr
from aspenpy.expr.intervals import Real
from aspenpy.language.diagnostics import fail
from aspenpy.record import Record

MOST_PROVED = 100
"""Nodes of a formula whose turns are all proved to be found."""

GRID = 64
"""Pieces of the interval of a larger one."""

LEVELS = 16
"""Pieces of it that are looked at for a level part."""

GOLDEN = (math.sqrt(5) - 1) / 2
SECTIONS = 30
"""Golden sections: they narrow two pieces of the grid to a millionth of one."""


class MetricOptimum(Record):
    """The least of a metric in an interval: its place, its value, and the values at the ends; `proved` says whether all
    places where it turns were looked at."""

    parameter: str
    at: float
    value: float
    low: float
    value_low: float
    high: float
    value_high: float
    proved: bool = True
    metric: str = "energy"


def optimum(
    prediction: Prediction,
    parameter: str,
    low: Real,
    high: Real,
    *,
    metric: str = "energy",
    options: EnergyOptions = DEFAULT,
    whole: bool | None = None,
) -> MetricOptimum:
    """The least of a metric of `METRICS` over a parameter of either model: over the whole numbers if `whole`, which is
    what a parameter has that counts something. Raises AspenError where nothing depends on the parameter, or where it
    cannot be proved that all places are found."""
    whole = prediction.scope.is_count(parameter) if whole is None else whole
    if whole:
        low, high = math.ceil(low), math.floor(high)
    if low >= high:
        fail("empty-range", f"`{parameter}` has no values from {float(low):.6g} to {float(high):.6g}")
    if metric not in METRICS:
        fail("unknown-metric", f"`{metric}` cannot be minimised", hint=f"it is one of {', '.join(METRICS)}")
    expr = energy_metric(prediction.tree, metric, options)
    formula = prediction.scope.formulas([expr], [parameter])[0]
    symbol = prediction.scope.symbol(parameter)
    if symbol not in graph.free_symbols(formula):
        fail("no-effect", f"the {metric} does not depend on `{parameter}`")

    def at(expr: Expr, x: Real) -> Real:
        with prediction.scope.locate_failures():
            value: Real = evaluate(expr, {symbol: x}, prediction.seed)
        return value

    open_loops = any(symbol in graph.free_symbols(loop) for loop in graph.nodes_of_kind("sum", formula))
    proved = not open_loops and sum(1 for _ in graph.topological_order(formula)) <= MOST_PROVED
    proved = proved and not _is_level(lambda x: float(at(formula, x)), low, high)
    turns = (
        _find_turning_points(formula, symbol, low, high, at)
        if proved
        else _search_least(lambda x: float(at(formula, x)), low, high)
    )
    if whole:
        turns = [min(max(beside(turn), low), high) for turn in turns for beside in (math.floor, math.ceil)]
    values = {place: float(at(formula, place)) for place in [low, *turns, high]}
    best = min(values, key=values.__getitem__)
    return MetricOptimum(
        parameter,
        float(best),
        values[best],
        low=float(low),
        value_low=values[low],
        high=float(high),
        value_high=values[high],
        proved=proved,
        metric=metric,
    )


def _is_level(value: Callable[[float], float], low: Real, high: Real) -> bool:
    """Whether the formula is level over a part of the interval, as energy is while a cap holds: its slope is then zero
    at more places than can be listed."""
    places = [float(low) + (float(high) - float(low)) * step / LEVELS for step in range(LEVELS + 1)]
    values = [value(place) for place in places]
    return any(math.isclose(left, right, rel_tol=1e-12) for left, right in pairwise(values))


def _search_least(value: Callable[[float], float], low: Real, high: Real) -> list[Real]:
    """The least place of a grid, and of the two pieces beside it."""
    step = (float(high) - float(low)) / GRID
    grid = [float(low) + step * index for index in range(GRID + 1)]
    best = min(grid, key=value)
    left, right = max(float(low), best - step), min(float(high), best + step)
    for _ in range(SECTIONS):
        inner, outer = right - GOLDEN * (right - left), left + GOLDEN * (right - left)
        if value(inner) <= value(outer):
            right = outer
        else:
            left = inner
    return [best, (left + right) / 2]


def _find_turning_points(
    formula: Expr, symbol: Expr, low: Real, high: Real, at: Callable[[Expr, Real], Real]
) -> list[Real]:
    """Places where the slope is zero, or has different signs on the two sides."""
    slope = differentiate(formula, symbol)
    roots = RootSearch(slope, symbol, lambda x: at(slope, x), target=0, whole=False).run(low, high)
    solutions = [end for solution in roots.solutions for end in (solution.low, solution.high)]
    return solutions + [end for leap in roots.leaps for end in (leap.before, leap.behind)]
