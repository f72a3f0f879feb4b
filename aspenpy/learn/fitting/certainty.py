"""Certainty: how well measurements determine the parameters of a fit, and which of them not at all.

The intervals are those of the model made straight at the solution: p +- t(m - n) sqrt(diag((J'J)^-1) S/(m - n)), with J
the slopes of the m errors by the n parameters, S the sum of the errors' squares, and t the quantile of Student's
distribution (Seber and Wild, "Nonlinear regression", 1989, section 5.1). Where J has not the full rank, directions of
its null space are those in which parameters move without effect.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from aspenpy.language.diagnostics import AspenError
from aspenpy.learn.fitting.responses import Errors, FitAxis
from aspenpy.learn.fitting.search import LEAST_SLOPE, choose_starts
from aspenpy.record import Record

WEAK = 1e-7
"""A direction in which the errors change so little, relative to the strongest one, is not determined. Columns of J are
first brought to the length 1."""

NEAR_END = 1e-9
"""Distance to an end of the range, relative to the range, at which the end holds the value."""

PART = 1e-3
"""Smallest component of an undetermined direction (a vector of length 1) that counts."""

WHOLE = "a whole number, taken as given"
HELD = "at the {} end of its range, taken as given"
NO_EFFECT = "not determined: nothing that was measured changes with it"
TOGETHER = "not determined: moves together with {} without effect"
TOO_WIDE = "not determined: its {} interval, ±{:.3g}, is wider than its range"
UNCERTAIN = "not determined: {:.4g} with a standard error of {:.3g}"
NOTHING_TO_SPARE = "no measurement to spare for an interval"


class Spread(Record):
    """Standard deviation of a fitted value, and half the width of its confidence interval."""

    deviation: float
    half_width: float


class Certainty(Record):
    """The certainty of a solution; parameters are numbered as in the errors' axes.

    `spreads` has the parameters with an interval, `given` why others were taken at their value, and `undetermined` why
    neither the measurements nor an end of a range determine the rest. Those in `arbitrary` are undetermined even
    together with others: their values are where the search stopped. `degrees_of_freedom`: measurements less the
    directions in which they determine the parameters."""

    spreads: dict[int, Spread]
    given: dict[int, str]
    undetermined: dict[int, str]
    arbitrary: frozenset[int]
    degrees_of_freedom: int

    def find_remark(self, number: int) -> str | None:
        """Why a parameter has no interval; None where it has one."""
        return self.undetermined.get(number) or self.given.get(number)


def judge_certainty(errors: Errors, values: Sequence[float], confidence: float) -> Certainty:
    """The certainty of a solution, from the slopes of the errors there. What is held at an end of its range, or whole,
    counts as given. What cannot be below 0, and has a standard error above its value, is not determined."""
    import numpy

    given = {number: held for number, axis in enumerate(errors.axes) if (held := describe_held(axis, values[number]))}
    inner = [number for number in range(len(errors.axes)) if number not in given]
    slopes = numpy.array(errors.slopes(values))[:, inner]
    lengths = numpy.linalg.norm(slopes, axis=0)
    moving = lengths >= LEAST_SLOPE
    undetermined = {number: NO_EFFECT for number, moves in zip(inner, moving, strict=True) if not moves}
    arbitrary = frozenset(undetermined)
    inner = [number for number in inner if number not in undetermined]
    left = errors(values)
    if not inner:
        return Certainty({}, given, undetermined, arbitrary, len(left))
    lengths = lengths[moving]
    _, strengths, directions = numpy.linalg.svd(slopes[:, moving] / lengths, full_matrices=len(slopes) < sum(moving))
    strengths = numpy.concatenate([strengths, numpy.zeros(len(inner) - len(strengths))])
    weak = strengths <= WEAK * strengths[0]
    undetermined |= find_partners(inner, errors.axes, directions[weak])
    degrees_of_freedom = len(left) - int((~weak).sum())
    determined = [column for column, number in enumerate(inner) if number not in undetermined]
    if degrees_of_freedom < 1:
        given |= {inner[column]: NOTHING_TO_SPARE for column in determined}
        return Certainty({}, given, undetermined, arbitrary, degrees_of_freedom)
    strong = directions[~weak] / strengths[~weak, None]
    variance = math.fsum(error * error for error in left) / degrees_of_freedom * (strong**2).sum(axis=0)
    deviations = numpy.sqrt(variance) / lengths
    quantile = student_quantile(degrees_of_freedom, confidence)
    spreads = {
        inner[column]: Spread(float(deviations[column]), float(quantile * deviations[column])) for column in determined
    }
    vague = find_vague(spreads, errors.axes, values, confidence)
    narrow = {number: spread for number, spread in spreads.items() if number not in vague}
    return Certainty(narrow, given, undetermined | vague, arbitrary | vague.keys(), degrees_of_freedom)


def student_quantile(degrees_of_freedom: int, confidence: float) -> float:
    """The quantile of Student's distribution between whose negative and itself a share `confidence` lies."""
    from scipy.special import stdtrit

    return float(stdtrit(degrees_of_freedom, (1 + confidence) / 2))


def find_vague(
    spreads: Mapping[int, Spread], axes: Sequence[FitAxis], values: Sequence[float], confidence: float
) -> dict[int, str]:
    """Parameters whose interval is wider than their range, or that cannot be negative and may be 0 by their error."""
    vague = {}
    for number, spread in spreads.items():
        axis = axes[number]
        if not spread.half_width <= axis.high - axis.low:
            vague[number] = TOO_WIDE.format(f"{100 * confidence:g} %", spread.half_width)
        elif axis.low >= 0 and spread.deviation > values[number]:
            vague[number] = UNCERTAIN.format(values[number], spread.deviation)
    return vague


def describe_held(axis: FitAxis, value: float) -> str | None:
    if axis.whole:
        return WHOLE
    near = NEAR_END * (axis.high - axis.low)
    if value - axis.low <= near:
        return HELD.format("lower")
    return HELD.format("upper") if axis.high - value <= near else None


def find_partners(inner: Sequence[int], axes: Sequence[FitAxis], weak: Any) -> dict[int, str]:
    """Remarks on parameters that can move together without changing any error."""
    remarks = {}
    for column, number in enumerate(inner):
        partners = [
            axes[other].name
            for direction in weak
            if abs(direction[column]) > PART
            for other, weight in zip(inner, direction, strict=True)
            if abs(weight) > PART and other != number
        ]
        if partners:
            remarks[number] = TOGETHER.format(", ".join(dict.fromkeys(partners)))
    return remarks


# Proposal: which of several parameters measurements can determine together. At points spread over the ranges the
# slopes of the errors (the Jacobian) are taken, one column a parameter. A column of zeros belongs to a parameter
# that nothing measured depends on; one that the columns before it span adds nothing to the rank, and its parameter
# cannot be told from theirs.


SPANNED = 1e-6
"""Relative distance to the span of other columns below which a column depends on them."""

POINTS = 4
"""Number of points at which slopes are taken, the model's own values first: a `max` may hide a parameter at one."""


def find_undetermined(errors: Errors) -> dict[int, str]:
    """Reasons why measurements cannot determine parameters beside those before them, by their numbers. Raises
    AspenError where the model has no value anywhere."""
    import numpy

    refusals: list[dict[int, str]] = []
    idle = set(range(len(errors.axes)))
    for point in choose_starts(errors, tuple((axis.low, axis.high) for axis in errors.axes), POINTS):
        try:
            slopes = numpy.array(errors.slopes(point))
        except AspenError as error:
            problem = error
            continue
        columns = slopes * [axis.slope(value) for axis, value in zip(errors.axes, point, strict=True)]
        idle -= {number for number in idle if numpy.linalg.norm(columns[:, number]) >= LEAST_SLOPE}
        refusals.append(find_dependent_columns(columns, errors))
    if not refusals:
        raise problem
    fewest = min(refusals, key=len)
    return {number: NO_EFFECT if number in idle else reason for number, reason in fewest.items()}


def find_dependent_columns(columns: Any, errors: Errors) -> dict[int, str]:
    """Remarks on parameters whose columns are zero or spanned by those of earlier parameters."""
    import numpy

    chosen: list[int] = []
    basis: list[Any] = []
    refused = {}
    for number in range(len(errors.axes)):
        length = numpy.linalg.norm(columns[:, number])
        if length < LEAST_SLOPE:
            refused[number] = NO_EFFECT
            continue
        column = columns[:, number] / length
        left = column
        for _ in range(
            2
        ):  # Gram and Schmidt; a second pass removes what rounding left (Kahan's "twice is enough": Parlett, 1980)
            left = left - sum(((left @ axis) * axis for axis in basis), numpy.zeros_like(column))
        if numpy.linalg.norm(left) > SPANNED:
            chosen.append(number)
            basis.append(left / numpy.linalg.norm(left))
        else:
            lengths = numpy.linalg.norm(columns[:, chosen], axis=0)
            parts = numpy.linalg.lstsq(columns[:, chosen] / lengths, column, rcond=None)[0]
            names = [errors.axes[other].name for other, part in zip(chosen, parts, strict=True) if abs(part) > PART]
            refused[number] = TOGETHER.format(", ".join(names))
    return refused
