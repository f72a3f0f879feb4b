"""Search: the point of a box at which the squares of some errors add up to least.

Errors that are linear in the parameters have one valley, whose bottom one step of bounded linear least squares finds.
Others are followed down from several starts (trust region reflective: Branch, Coleman and Li, SIAM J. Sci. Comput.
21(1), 1999, as scipy.optimize.least_squares has it), and the best is brought to the bottom by the same step, repeated
(Gauss and Newton). Whole numbers are all tried where there are few, else found by branch and bound (Land and Doig,
Econometrica 28(3), 1960).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import product
from typing import Any

from aspenpy.language.diagnostics import AspenError, fail
from aspenpy.learn.fitting.responses import Errors
from aspenpy.record import Record

STARTS = 24
"""Number of candidate starts: the model's own values and points spread over the ranges."""

RUNS = 4
"""Number of best candidates from which a search descends."""

MOST_STEPS = 50
"""Most Gauss-Newton steps; about five suffice where it converges."""

MOST_HALVINGS = 10
"""Most halvings of a step that does not lower the cost."""

MOST_TRIED = 256
"""Most combinations of whole numbers that are all tried."""

MOST_BRANCHES = 1000
"""Most boxes of branch and bound."""

LEAST_SLOPE = 1e-100
"""Smallest norm of the errors' slopes by a parameter; below it the parameter has no effect."""

Box = tuple[tuple[float, float], ...]
"""Lower and upper bound of each parameter; equal bounds fix it."""


class LeastSquaresSolution(Record):
    """Values, and half the sum of the squares of the errors there."""

    values: tuple[float, ...]
    cost: float


def find_best_fit(errors: Errors) -> LeastSquaresSolution:
    """The values that fit best. Raises AspenError where the model has no value anywhere."""
    try:
        import scipy.optimize  # noqa: F401  (asked for here, so that it is missed once and early)
    except ImportError:
        fail("no-scipy", "a fit needs SciPy", hint="pip install 'aspenpy[fit]'")
    whole = [index for index, axis in enumerate(errors.axes) if axis.whole]
    box = tuple((axis.low, axis.high) for axis in errors.axes)
    if not whole:
        return minimise_in_box(errors, box, RUNS)
    combinations = math.prod(int(box[index][1] - box[index][0]) + 1 for index in whole)
    return (
        try_all_combinations(errors, box, whole) if combinations <= MOST_TRIED else branch_and_bound(errors, box, whole)
    )


# -- whole numbers ---------------------------------------------------------------------------------


def try_all_combinations(errors: Errors, box: Box, whole: Sequence[int]) -> LeastSquaresSolution:
    """Tries all combinations of whole numbers, with the other parameters fitted for each; returns the best."""
    ranges = [range(int(box[index][0]), int(box[index][1]) + 1) for index in whole]

    def fit_others(combination: Sequence[int]) -> LeastSquaresSolution:
        held = dict(zip(whole, combination, strict=True))
        return minimise_in_box(
            errors, tuple((held[i], held[i]) if i in held else ends for i, ends in enumerate(box)), 1
        )

    return keep_best(fit_others, product(*ranges))


def keep_best(solve: Callable[[Any], LeastSquaresSolution], tries: Iterable[Any]) -> LeastSquaresSolution:
    """Best solution of several attempts, without those at which the model has no value. Raises the last error where all
    attempts fail."""
    solutions: list[LeastSquaresSolution] = []
    for attempt in tries:
        try:
            solutions.append(solve(attempt))
        except AspenError as error:
            problem = error
    if not solutions:
        raise problem
    return min(solutions, key=lambda solution: solution.cost)


def branch_and_bound(errors: Errors, box: Box, whole: Sequence[int]) -> LeastSquaresSolution:
    """Best whole numbers by branch and bound, depth first. Prunes boxes whose real optimum is no better than the best
    whole point found; cuts others at a fractional value and takes the nearer half first."""
    best: LeastSquaresSolution | None = None
    waiting = [box]
    for _ in range(MOST_BRANCHES):
        if not waiting:
            break
        inner = waiting.pop()
        solution = minimise_in_box(errors, inner, RUNS if inner == box else 2)
        if best is not None and solution.cost >= best.cost:
            continue
        cut = max(whole, key=lambda index: abs(solution.values[index] - round(solution.values[index])))
        value = solution.values[cut]
        if value == round(value):
            best = solution
            continue
        low, high = inner[cut]
        halves = [(low, float(math.floor(value))), (float(math.ceil(value)), high)]
        if value - math.floor(value) < 0.5:
            halves.reverse()
        waiting += [(*inner[:cut], half, *inner[cut + 1 :]) for half in halves]
    if best is None:
        fail("no-whole-number", f"no whole numbers were found that fit, in {MOST_BRANCHES} attempts")
    return best


# -- real numbers ----------------------------------------------------------------------------------


def minimise_in_box(errors: Errors, box: Box, runs: int) -> LeastSquaresSolution:
    """Best point of a box, with all parameters real."""
    own = clamp_start(errors, box)
    if all(low == high for low, high in box):
        return LeastSquaresSolution(own, half_squared_errors(errors, own))
    if errors.linear:
        return refine(errors, box, own)
    return keep_best(lambda start: refine(errors, box, descend(errors, box, start)), choose_starts(errors, box, runs))


def clamp_start(errors: Errors, box: Box) -> tuple[float, ...]:
    """The model's own values, clamped to the box."""
    return tuple(min(max(axis.start, low), high) for axis, (low, high) in zip(errors.axes, box, strict=True))


def half_squared_errors(errors: Errors, values: Sequence[float]) -> float:
    return math.fsum(error * error for error in errors(values)) / 2


def descend(errors: Errors, box: Box, start: Sequence[float]) -> tuple[float, ...]:
    """Descends from a start by a trust region; parameters move in places from 0 to 1 of their ranges."""
    import numpy
    from scipy.optimize import least_squares

    free = [index for index, (low, high) in enumerate(box) if low < high]
    axes = [errors.axes[index].replace(low=box[index][0], high=box[index][1]) for index in free]
    count = len(errors(start))

    def values_at(places: Any) -> list[float]:
        numbers = list(start)
        for index, axis, where in zip(free, axes, places, strict=True):
            numbers[index] = axis.value(float(where))
        return numbers

    def errors_or_infinity(places: Any) -> Any:
        try:
            return numpy.array(errors(values_at(places)))
        except AspenError:  # the trust region shrinks until the model has a value again
            return numpy.full(count, numpy.inf)

    def jacobian(places: Any) -> Any:
        here = values_at(places)
        paces = [axis.slope(here[index]) for index, axis in zip(free, axes, strict=True)]
        return numpy.array(errors.slopes(here))[:, free] * numpy.array(paces)

    first = [min(max(axis.place(start[index]), 1e-3), 1 - 1e-3) for index, axis in zip(free, axes, strict=True)]
    errors(values_at(first))
    with numpy.errstate(all="ignore"):
        path = least_squares(
            errors_or_infinity, first, jac=jacobian, bounds=(0.0, 1.0), x_scale="jac", xtol=1e-12, ftol=1e-12
        )
    return tuple(values_at(path.x))


def refine(errors: Errors, box: Box, values: Sequence[float]) -> LeastSquaresSolution:
    """Refines a solution by Gauss-Newton steps in the box until none lowers the cost."""
    best = LeastSquaresSolution(tuple(values), half_squared_errors(errors, values))
    for _ in range(MOST_STEPS):
        better = gauss_newton_step(errors, box, best)
        if better is None:
            break
        best = better
    return best


def gauss_newton_step(errors: Errors, box: Box, best: LeastSquaresSolution) -> LeastSquaresSolution | None:
    """Solution after one Gauss-Newton step, halved until it lowers the cost; None if it does not."""
    import numpy
    from scipy.optimize import lsq_linear

    free = [index for index, (low, high) in enumerate(box) if low < high]
    here = numpy.array(best.values)[free]
    low, high = (numpy.array([box[index][side] for index in free]) for side in (0, 1))
    slopes = numpy.array(errors.slopes(best.values))[:, free]
    if not numpy.isfinite(slopes).all():
        return None
    scale = numpy.linalg.norm(slopes, axis=0)
    scale[scale < LEAST_SLOPE] = 1.0
    bounds = (low - here) * scale, (high - here) * scale
    least = lsq_linear(slopes / scale, -numpy.array(errors(best.values)), bounds, method="bvls", tol=1e-15)
    step = least.x / scale
    step = numpy.where(least.active_mask < 0, low - here, numpy.where(least.active_mask > 0, high - here, step))
    for _ in range(MOST_HALVINGS):
        moved = numpy.clip(here + step, low, high)
        values = list(best.values)
        for index, value in zip(free, moved, strict=True):
            values[index] = float(value)
        try:
            cost = half_squared_errors(errors, values)
        except AspenError:  # too far: the model has no value there
            cost = math.inf
        if cost < best.cost:
            return LeastSquaresSolution(tuple(values), cost)
        step = step / 2
    return None


# -- starts ----------------------------------------------------------------------------------------


def choose_starts(errors: Errors, box: Box, runs: int) -> list[tuple[float, ...]]:
    """Starts of a search: the model's own values, then the best of the points of a Halton sequence."""
    own = clamp_start(errors, box)
    axes = [axis.replace(low=low, high=high) for axis, (low, high) in zip(errors.axes, box, strict=True)]
    costs: list[tuple[float, tuple[float, ...]]] = []
    for places in halton_points(len(axes), STARTS - 1) if runs > 1 else ():
        point = tuple(axis.value(place) for axis, place in zip(axes, places, strict=True))
        try:
            costs.append((half_squared_errors(errors, point), point))
        except AspenError:
            continue  # the model has no value there: no place to start from
    costs.sort(key=lambda entry: entry[0])
    return [own, *(point for _, point in costs[: runs - 1])]


def halton_points(axes: int, count: int) -> list[list[float]]:
    """Points of a Halton sequence in the unit cube, without its first point, a corner."""
    from scipy.stats import qmc

    places: list[list[float]] = qmc.Halton(axes, scramble=False).fast_forward(1).random(count).tolist()
    return places
