"""Sensitivity: which parameters a metric depends on and how strongly, by one of several methods; normalised effects."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Literal, Unpack

import numpy

from aspenpy.allowance import one_allowance
from aspenpy.answers.case import Case, CaseOptions, case_of
from aspenpy.answers.metrics import find_metric
from aspenpy.answers.prediction import Prediction, predict
from aspenpy.engine.arrays import Floats
from aspenpy.explore.elasticity import Elasticities, elasticities
from aspenpy.explore.space import Quantity, Skipped, Space, Varied, fewer_note, make_space, most_affordable
from aspenpy.explore.variable import Variable, declared_variables
from aspenpy.explore.variance import Morris, Sobol, morris, sobol
from aspenpy.language.diagnostics import fail, require_known
from aspenpy.models.application.model import Application
from aspenpy.models.machine.model import Machine
from aspenpy.record import Record
from aspenpy.tables.result import Result

STEPS = 101  # values of a range that are tried
GRID = 33  # values of each parameter of a pair that are tried
FINENESS = ((STEPS, GRID), (51, 17), (25, 9), (13, 5))
"""Both, the most first, as far as the operations of a command allow: about every second value of those before."""


class Effect(Record):
    """The effect of one or two parameters on a metric: its change while they go through their ranges and all else
    stays.

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


class Effects(Record, Result):
    """The metric where nothing is varied, the effects, the largest first, and the points that were left out;
    `subject` says of what: `runtime of comd on haswell`."""

    metric: str
    base: float
    singles: tuple[Effect, ...]
    pairs: tuple[Effect, ...]
    skipped: Skipped | None = None
    subject: str = ""
    note: str = ""


class Box(Record):
    """Some variables through all combinations of the values of their grids, all others as they are: the points, a row
    each, and a row of values for each quantity, nan where it has none."""

    chosen: tuple[int, ...]
    points: Floats
    values: Floats


def boxes(
    space: Space, evaluate: Callable[[Floats], Floats], *, pairs: bool = True, steps: int = STEPS, grid: int = GRID
) -> list[Box]:
    """Effects of every variable alone, at no more than `steps` values, and of every pair, at `grid` values of each, by
    a function of points (see `Space.evaluator`) that is asked once."""
    chosen, points = _points_of_boxes(space, pairs, steps, grid)
    values = evaluate(numpy.concatenate(points))
    ends = numpy.cumsum([len(some) for some in points])[:-1]
    return [Box(*each) for each in zip(chosen, points, numpy.split(values, ends, axis=1), strict=True)]


def _points_of_boxes(space: Space, pairs: bool, steps: int, grid: int) -> tuple[list[tuple[int, ...]], list[Floats]]:
    """The variables of each box, and its points."""
    singles = range(len(space.variables))
    chosen = [*((place,) for place in singles), *(combinations(singles, 2) if pairs else ())]
    return chosen, [_points_of_box(space, one, steps if len(one) == 1 else grid) for one in chosen]


def effects(space: Space, *, metric_name: str = "runtime", pairs: bool = True) -> Effects:
    """The normalised sensitivity of Umar's dissertation (2018), section 4.4.2: every parameter from the least to the
    greatest value of its range, alone and in pairs. It says in words only what is normalised; here "variations in the
    output parameter corresponding to a change in input parameter" are taken in parts of the output where nothing is
    varied, and put in parts of the largest one.
    """
    quantity = find_metric(metric_name).expr
    base = float(space.evaluator([quantity])(space.base[None, :])[0, 0])
    evaluate = space.evaluator([quantity], missing=True)
    finest = most_affordable(
        FINENESS, evaluate, lambda size: numpy.concatenate(_points_of_boxes(space, pairs, *size)[1])
    )
    steps, grid = finest
    tried = boxes(space, evaluate, pairs=pairs, steps=steps, grid=grid)
    found = effects_in(space, quantity, metric_name, base, [(box, 0) for box in tried])
    return found if grid == GRID else found.replace(note=fewer_note(f"{grid} values of each of two parameters", GRID))


def effects_in(
    space: Space, quantity: Quantity, metric_name: str, base: float, tried: Sequence[tuple[Box, int]]
) -> Effects:
    """Effects on a quantity that is `base` where nothing varies; its values are the row of that number in each box."""
    if base == 0:
        fail("no-base", f"the {metric_name} is 0 at the base point, so effects cannot be given relative to it")
    extremes = {}
    for box, row in tried:
        known = box.values[row][~numpy.isnan(box.values[row])]
        extremes[box.chosen] = (float(known.min()), float(known.max())) if len(known) else (base, base)
    points = numpy.concatenate([box.points for box, _ in tried])
    over = numpy.concatenate([box.values[row] for box, row in tried])
    ranked, skipped = _rank_effects(space, base, extremes), space.note_skipped(quantity, points, over)
    one, two = (tuple(effect for effect in ranked if len(effect.parameters) == count) for count in (1, 2))
    return Effects(metric_name, base, one, two, skipped)


def _points_of_box(space: Space, chosen: tuple[int, ...], values: int) -> Floats:
    """Points in which the chosen variables take all combinations of at most `values` values each."""
    grids = numpy.meshgrid(*(space.variables[place].grid(values) for place in chosen))
    points = numpy.tile(space.base, (grids[0].size, 1))
    for place, grid in zip(chosen, grids, strict=True):
        points[:, place] = grid.ravel()
    return points


def _rank_effects(space: Space, base: float, extremes: dict[tuple[int, ...], tuple[float, float]]) -> list[Effect]:
    """The largest first."""
    spread = {chosen: (most - least) / abs(base) for chosen, (least, most) in extremes.items()}
    largest = max(spread.values())
    ranked = []
    for chosen, ends in extremes.items():
        names, here = tuple(space.variables[place].name for place in chosen), spread[chosen]
        per_change = _per_change(space.variables[chosen[0]], here) if len(chosen) == 1 else None
        beyond = here - max(spread[place,] for place in chosen) if len(chosen) == 2 else None
        normalised = here / largest if largest else 0.0
        ranked.append(
            Effect(names, *ends, sensitivity=here, normalised=normalised, per_change=per_change, beyond=beyond)
        )
    return sorted(ranked, key=lambda effect: -effect.sensitivity)


def _per_change(item: Variable, spread: float) -> float | None:
    if item.kind == "choice" or item.base == 0:
        return None
    return spread * abs(item.base) / (item.high - item.low)


Method = Literal["elasticity", "derivative", "normalised", "sobol", "morris"]

Found = Elasticities | Effects | Sobol | Morris


@one_allowance
def sensitivity(
    app: Application | Case,
    machine: Machine | None = None,
    *,
    metric: str = "runtime",
    method: Method = "elasticity",
    vary: Varied | Space | None = None,
    samples: int | None = None,
    pairs: bool = False,
    **options: Unpack[CaseOptions],
) -> Found:
    """Rank parameters by their effect on a metric.

    `method` is `elasticity` (with `derivative`: at the point), `normalised` effects, `sobol` indices or the screening
    of `morris`; `samples` are those of the last two, and `pairs` adds second-order indices to `sobol`.

    `vary` names what varies, in texts such as `"n=1..100"`, `"n=1,2,4"`, `"n"` (its declared range) or
    `"machine=haswell,simple"`; by default all parameters that declare a range or an enum and that the metric depends
    on. The options are those of `Case`.

    :returns: a row for each parameter: elasticities without unit, effects in the unit of the metric, shares of the
        variance from 0 to 1
    :raises AspenError: for a metric or a parameter that is unknown, and for ranges without a value
    """
    case = case_of(app, machine, options)
    methods = _methods_by_name(metric, samples, pairs, case.seed)
    require_known(method, methods, "unknown-method", f"there is no method `{method}`", listed="the methods are")
    prediction = predict(case)
    if vary is None and method in ("elasticity", "derivative"):
        return elasticities(prediction, metric_name=metric, point=method == "derivative")
    if vary is None:
        space = _declared_space(prediction, metric)
    else:
        space = vary if isinstance(vary, Space) else make_space(case, vary)
    found = methods[method](Space([item.sampled for item in space.variables], space.cases))
    subject = f"{metric} of {prediction.application.name} on {prediction.machine.name}"
    return found if isinstance(found, Elasticities) else found.replace(subject=subject)


def _methods_by_name(metric: str, samples: int | None, pairs: bool, seed: int) -> dict[str, Callable[[Space], Found]]:
    """Rankings of the variables of a space, as functions by the name of the method."""
    return {
        "elasticity": lambda space: elasticities(space.cases[0], space.variables, metric_name=metric),
        "derivative": lambda space: elasticities(space.cases[0], space.variables, metric_name=metric, point=True),
        "normalised": lambda space: effects(space, metric_name=metric),
        "sobol": lambda space: sobol(space, metric_name=metric, samples=samples, pairs=pairs, seed=seed),
        "morris": lambda space: morris(
            space, metric_name=metric, samples=100 if samples is None else samples, seed=seed
        ),
    }


def _declared_space(prediction: Prediction, metric: str) -> Space:
    """All parameters with a declared range or enum that a metric depends on. Raises AspenError where there is none."""
    variables = declared_variables(prediction, [find_metric(metric).expr(prediction)])
    if not variables:
        hint = "name what varies, such as --vary n=1..100"
        fail("nothing-varies", f"the {metric} depends on no parameter that declares a range", hint=hint)
    return Space(variables, [prediction])
