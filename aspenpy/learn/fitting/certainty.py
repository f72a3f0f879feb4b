"""Certainty: how well measurements determine the parameters of a fit, and which of them not at all.

The intervals are those of the model made straight at the solution: p +- t(m - n) sqrt(diag((J'J)^-1) S/(m - n)), with J
the slopes of the m errors by the n parameters, S the sum of the errors' squares, and t the quantile of Student's
distribution (Seber and Wild, "Nonlinear regression", 1989, section 5.1). Where J has not the full rank, directions of
its null space are those in which parameters move without effect.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
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


class Certainty(Record):
    """By the number of the parameter, why it has no interval, or its standard deviation with half of its interval;
    how many measurements there are beyond what determines the parameters; and of which not even the value together
    with those of others is known."""

    remarks: dict[int, str]
    spreads: dict[int, tuple[float, float]]
    freedom: int
    unknown: frozenset[int] = frozenset()

    @property
    def undetermined(self) -> dict[int, str]:
        """Remarks on parameters that neither the measurements nor an end of a range determine."""
        return {place: remark for place, remark in self.remarks.items() if remark.startswith("not determined")}


def judge_certainty(errors: Errors, values: Sequence[float], confidence: float) -> Certainty:
    """The certainty of a solution, from the slopes of the errors there. What is held at an end of its range, or whole,
    counts as given. What cannot be below 0, and has a standard error above its value, is not determined."""
    import numpy
    from scipy.special import stdtrit

    left = errors(values)
    remarks = {place: held for place, axis in enumerate(errors.axes) if (held := describe_held(axis, values[place]))}
    inner = [place for place in range(len(errors.axes)) if place not in remarks]
    slopes = numpy.array(errors.slopes(values))[:, inner]
    lengths = numpy.linalg.norm(slopes, axis=0)
    idle = [place for place, length in zip(inner, lengths, strict=True) if length < LEAST_SLOPE]
    remarks |= dict.fromkeys(idle, NO_EFFECT)
    moving = lengths >= LEAST_SLOPE
    inner = [place for place in inner if place not in remarks]
    if not inner:
        return Certainty(remarks, {}, len(left), frozenset(idle))
    lengths = lengths[moving]
    _, strengths, directions = numpy.linalg.svd(slopes[:, moving] / lengths, full_matrices=len(slopes) < sum(moving))
    strengths = numpy.concatenate([strengths, numpy.zeros(len(inner) - len(strengths))])
    weak = strengths <= WEAK * strengths[0]
    remarks |= find_partners(inner, errors.axes, directions[weak])
    freedom = len(left) - int((~weak).sum())
    determined = [number for number, place in enumerate(inner) if place not in remarks]
    if freedom < 1:
        return Certainty(
            remarks | {inner[number]: NOTHING_TO_SPARE for number in determined}, {}, freedom, frozenset(idle)
        )
    strong = directions[~weak] / strengths[~weak, None]
    variance = math.fsum(error * error for error in left) / freedom * (strong**2).sum(axis=0)
    deviations = numpy.sqrt(variance) / lengths
    quantile = float(stdtrit(freedom, (1 + confidence) / 2))  # of Student's distribution, around 0
    spreads = {inner[place]: (float(deviations[place]), float(quantile * deviations[place])) for place in determined}
    wide = {
        place: TOO_WIDE.format(f"{100 * confidence:g} %", half)
        for place, (_, half) in spreads.items()
        if not half <= errors.axes[place].high - errors.axes[place].low
    }
    vague = {
        place: UNCERTAIN.format(values[place], deviation)
        for place, (deviation, _) in spreads.items()
        if errors.axes[place].low >= 0 and deviation > values[place]
    }
    vague |= wide
    narrow = {place: spread for place, spread in spreads.items() if place not in vague}
    return Certainty(remarks | vague, narrow, freedom, frozenset((*idle, *vague)))


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
    for number, place in enumerate(inner):
        partners = [
            axes[other].name
            for direction in weak
            if abs(direction[number]) > PART
            for other, weight in zip(inner, direction, strict=True)
            if abs(weight) > PART and other != place
        ]
        if partners:
            remarks[place] = TOGETHER.format(", ".join(dict.fromkeys(partners)))
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
    """By the number of each parameter that the measurements cannot determine beside those before it, why. Raises
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
        idle -= {place for place in idle if numpy.linalg.norm(columns[:, place]) >= LEAST_SLOPE}
        refusals.append(find_dependent_columns(columns, errors))
    if not refusals:
        raise problem
    fewest = min(refusals, key=len)
    return {place: NO_EFFECT if place in idle else reason for place, reason in fewest.items()}


def find_dependent_columns(columns: Any, errors: Errors) -> dict[int, str]:
    """Remarks on parameters whose columns are zero or spanned by those of earlier parameters."""
    import numpy

    chosen: list[int] = []
    basis: list[Any] = []
    refused = {}
    for place in range(len(errors.axes)):
        length = numpy.linalg.norm(columns[:, place])
        if length < LEAST_SLOPE:
            refused[place] = NO_EFFECT
            continue
        column = columns[:, place] / length
        left = column
        for _ in range(2):  # again, for what rounding left
            left = left - sum(((left @ axis) * axis for axis in basis), numpy.zeros_like(column))
        if numpy.linalg.norm(left) > SPANNED:
            chosen.append(place)
            basis.append(left / numpy.linalg.norm(left))
        else:
            lengths = numpy.linalg.norm(columns[:, chosen], axis=0)
            parts = numpy.linalg.lstsq(columns[:, chosen] / lengths, column, rcond=None)[0]
            names = [errors.axes[other].name for other, part in zip(chosen, parts, strict=True) if abs(part) > PART]
            refused[place] = TOGETHER.format(", ".join(names))
    return refused
