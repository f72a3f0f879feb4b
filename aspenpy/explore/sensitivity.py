"""Sensitivity: how much a metric moves when one parameter moves, or two: at a point and over their ranges."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy

from aspenpy.diagnostics import fail
from aspenpy.explore.points import Floats, Formulas
from aspenpy.explore.space import Space
from aspenpy.explore.variable import Variable, declared
from aspenpy.expr import graph
from aspenpy.expr.derivative import derivative
from aspenpy.expr.evaluate import EvaluationError
from aspenpy.expr.graph import Expr
from aspenpy.metrics import metric
from aspenpy.prediction import Prediction
from aspenpy.record import Record

STEPS = 101
"""Values of a range at which an elasticity is looked at."""

GRID = 33
"""Values of each parameter of a pair that are tried."""

NOTHING = 1e-12
"""An elasticity below this is what rounding leaves of slopes that cancel."""

# -- elasticities ----------------------------------------------------------------------------------


class Elasticity(Record):
    """d log(metric) / d log(parameter), by which power of the parameter the metric goes.

    `here` is its value where the prediction is, `formula` the same as an expression. Over the parameter's range, all
    else as it is, `least` and `most` are its extremes at equal ratios of the parameter, `mean` the mean of its
    magnitude there; None where no range is known. A slope does not see steps, such as those of `ceil`: `overall` does,
    log(metric) from one end of the range to the other over log(parameter). `undefined` is the part of the range (0 to
    1) where the metric has no value, which all these leave out.
    """

    parameter: str
    here: float
    least: float | None
    most: float | None
    mean: float | None
    overall: float | None
    undefined: float
    formula: Expr

    @property
    def rank(self) -> float:
        """What they are ordered by: what it is over the range, or else here."""
        return abs(self.here) if self.mean is None else max(self.mean, abs(self.overall or 0.0))


def elasticities(
    prediction: Prediction, variables: Sequence[Variable] | None = None, *, metric_name: str = "runtime"
) -> tuple[Elasticity, ...]:
    """Of the given variables over their ranges, the largest first; of none given, of every parameter whose value is
    written as a number. Raises AspenError where there is no derivative."""
    if variables is None:
        names = _plain(prediction, metric_name)
        found = [_elasticity(prediction, name, declared(name, prediction), metric_name) for name in names]
    else:
        for item in variables:
            if item.labels and item.kind == "choice":
                hint = "its effect is found by the other methods: normalised, sobol, morris"
                fail("no-elasticity", f"`{item.name}` is a choice, and a choice has no elasticity", hint=hint)
        found = [_elasticity(prediction, item.name, item, metric_name) for item in variables]
    return tuple(sorted(found, key=lambda item: -item.rank))


def _plain(prediction: Prediction, metric_name: str) -> list[str]:
    """The parameters that the metric depends on whose value is a number other than 0 and no member of an enum."""
    scope = prediction.scope
    used = scope.used([metric(metric_name).expr(prediction)])
    names = {symbol: scope.display_name(symbol) for symbol in used if scope.definitions[symbol].kind == "number"}
    items = {name: declared(name, prediction) for name in names.values() if "." not in name}
    chosen = [name for name, item in items.items() if item is None or item.kind != "choice"]
    worth = scope.values([scope.symbol(name) for name in chosen], prediction.seed)
    return [name for name, value in zip(chosen, worth, strict=True) if value != 0]


def _elasticity(prediction: Prediction, name: str, item: Variable | None, metric_name: str) -> Elasticity:
    symbol = prediction.scope.symbol(name)
    formula = prediction.scope.formulas([metric(metric_name).expr(prediction)], [name])[0]
    try:
        slope = derivative(formula, symbol)
    except ValueError as error:
        fail("no-derivative", f"the {metric_name} has no derivative by `{name}`: {error}")
    ratio = graph.div(graph.mul(symbol, slope), formula)
    base = float(prediction.scope.values([symbol], prediction.seed)[0])
    here = float(_still(_values(prediction, ratio, symbol, numpy.array([base]), missing=False))[0])
    if item is None:
        return Elasticity(name, here, None, None, None, None, 0.0, ratio)
    low, high = item.low, item.high
    places = numpy.geomspace(low, high, STEPS) if low > 0 else numpy.linspace(low, high, STEPS)
    places = numpy.clip(places, low, high)[places != 0]
    over = _still(_values(prediction, ratio, symbol, places, missing=True))
    known = over[~numpy.isnan(over)]
    if not len(known):
        return Elasticity(name, here, None, None, None, None, 1.0, ratio)
    mean = float(abs(known).mean())
    overall = _overall(places, _values(prediction, formula, symbol, places, missing=True))
    left_out = 1 - len(known) / len(over)
    return Elasticity(name, here, float(known.min()), float(known.max()), mean, overall, left_out, ratio)


def _overall(places: Floats, values: Floats) -> float | None:
    """Between the first and the last place with a value that has a logarithm."""
    usable = numpy.flatnonzero((places > 0) & (values > 0))
    if len(usable) < 2:
        return None
    first, last = usable[0], usable[-1]
    return float(numpy.log(values[last] / values[first]) / numpy.log(places[last] / places[first]))


def _still(values: Floats) -> Floats:
    return numpy.where(abs(values) < NOTHING, 0.0, values)


def _values(prediction: Prediction, expr: Expr, symbol: Expr, places: Floats, *, missing: bool) -> Floats:
    try:
        found: Floats = Formulas([expr], [symbol], prediction.seed)(places[:, None], missing=missing)[0]
        return found
    except EvaluationError as error:
        raise prediction.scope.located(error) from None


# -- normalised sensitivity ------------------------------------------------------------------------


class Effect(Record):
    """How far a metric moves while some parameters, one or two, go through their ranges and all else stays.

    `least` and `most` are the metric's extremes; `sensitivity` is their distance in parts of the metric where nothing
    is varied; `normalised` is that in parts of the largest there is (0 to 1); `per_change`, of one parameter that is a
    number, is the sensitivity over the width of its range in parts of its value. `beyond`, of a pair, is what it does
    more than the stronger of the two alone.
    """

    parameters: tuple[str, ...]
    least: float
    most: float
    sensitivity: float
    normalised: float
    per_change: float | None
    beyond: float | None


class Effects(Record):
    """The metric where nothing is varied, and the effects, the largest first."""

    metric: str
    base: float
    singles: tuple[Effect, ...]
    pairs: tuple[Effect, ...]


def effects(space: Space, *, metric_name: str = "runtime", pairs: bool = True) -> Effects:
    """The normalised sensitivity of Umar's dissertation (2018), section 4.4.2: every parameter from the least to the
    greatest value of its range, alone and in pairs. It says in words only what is normalised; here "variations in the
    output parameter corresponding to a change in input parameter" are taken in parts of the output where nothing is
    varied, and put in parts of the largest one.
    """
    values = space.evaluator([metric(metric_name).expr])
    base = float(values(space.base[None, :])[0, 0])
    if base == 0:
        fail("no-base", f"the {metric_name} is 0 where nothing is varied, so nothing can be told in parts of it")
    singles, found = list(range(len(space.variables))), {}
    for chosen in [*((place,) for place in singles), *(combinations(singles, 2) if pairs else ())]:
        over = values(_box(space, chosen))[0]
        found[chosen] = float(over.min()), float(over.max())
    return _ranked(space, metric_name, base, found)


def _box(space: Space, chosen: tuple[int, ...]) -> Floats:
    """Points in which the chosen variables take all combinations of the values of their grids."""
    grids = numpy.meshgrid(*(space.variables[place].grid(STEPS if len(chosen) == 1 else GRID) for place in chosen))
    points = numpy.tile(space.base, (grids[0].size, 1))
    for place, grid in zip(chosen, grids, strict=True):
        points[:, place] = grid.ravel()
    return points


def _ranked(space: Space, name: str, base: float, found: dict[tuple[int, ...], tuple[float, float]]) -> Effects:
    spread = {chosen: (most - least) / abs(base) for chosen, (least, most) in found.items()}
    largest = max(spread.values())
    all_effects = []
    for chosen, (least, most) in found.items():
        alone = max(spread[place,] for place in chosen)
        all_effects.append(
            Effect(
                tuple(space.variables[place].name for place in chosen),
                least,
                most,
                spread[chosen],
                spread[chosen] / largest if largest else 0.0,
                _per_change(space.variables[chosen[0]], spread[chosen]) if len(chosen) == 1 else None,
                spread[chosen] - alone if len(chosen) == 2 else None,
            )
        )
    ordered = sorted(all_effects, key=lambda effect: -effect.sensitivity)
    return Effects(
        name,
        base,
        tuple(effect for effect in ordered if len(effect.parameters) == 1),
        tuple(effect for effect in ordered if len(effect.parameters) == 2),
    )


def _per_change(item: Variable, spread: float) -> float | None:
    if item.kind == "choice" or item.base == 0:
        return None
    return spread * abs(item.base) / (item.high - item.low)
