"""Proposal: which of several parameters measurements can determine together.

At points spread over the ranges the slopes of the errors (the Jacobian) are taken, one column a parameter. A column of
zeros belongs to a parameter that nothing measured depends on; one that the columns before it span adds nothing to the
rank, and its parameter cannot be told from theirs.
"""

from __future__ import annotations

from typing import Any

from aspenpy.language.diagnostics import AspenError
from aspenpy.studies.empirical.certainty import NO_EFFECT, PART, TOGETHER
from aspenpy.studies.empirical.responses import Errors
from aspenpy.studies.empirical.search import LEAST_SLOPE, starts

SPANNED = 1e-6
"""A column is spanned by others if it is this close to what they span, relative to its length."""

POINTS = 4
"""The model's own values and others: a `max` may hide a parameter at one of them."""


def determined(errors: Errors) -> dict[int, str]:
    """By the number of each parameter that the measurements cannot determine beside those before it, why. Raises
    AspenError where the model has no value anywhere."""
    import numpy

    refusals: list[dict[int, str]] = []
    idle = set(range(len(errors.axes)))
    for point in starts(errors, tuple((axis.low, axis.high) for axis in errors.axes), POINTS):
        try:
            slopes = numpy.array(errors.slopes(point))
        except AspenError as error:
            problem = error
            continue
        columns = slopes * [axis.pace(value) for axis, value in zip(errors.axes, point, strict=True)]
        idle -= {place for place in idle if numpy.linalg.norm(columns[:, place]) >= LEAST_SLOPE}
        refusals.append(_refused(columns, errors))
    if not refusals:
        raise problem
    fewest = min(refusals, key=len)
    return {place: NO_EFFECT if place in idle else reason for place, reason in fewest.items()}


def _refused(columns: Any, errors: Errors) -> dict[int, str]:
    """The parameters whose columns are zero or spanned by those of the ones chosen before."""
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
