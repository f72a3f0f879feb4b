"""How far a regression is off on codes that it has not seen, for intervals that hold of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from aspenpy.studies.empirical.columns import groups
from aspenpy.studies.empirical.sheet import Sheet
from aspenpy.studies.learnt.bases import members

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Search = Callable[[Sequence[int]], Sequence[int]]
"""The columns that a search chooses when it sees these rows only."""


class HeldOut(NamedTuple):
    """Errors of rows that were held out: their variance, its degrees of freedom, and how many rows of a code count as
    one, since what a code adds of its own is in all of them (the design effect)."""

    variance: float
    freedom: float
    design_effect: float


def codes_of(sheet: Sheet) -> list[list[int]]:
    """The rows of each code."""
    return list(members(groups(sheet, ("application", "region"))).values())


def folds_of(sheet: Sheet) -> list[list[int]]:
    """The rows of each code, where there are three at least; else ten parts of the rows, drawn at random."""
    import numpy as np

    codes = codes_of(sheet)
    if len(codes) > 2:
        return codes
    order = np.random.default_rng(0).permutation(len(sheet.rows))
    return [order[place::10].tolist() for place in range(min(10, len(order)))]


def held_out_errors(
    matrix: NDArray[np.float64],
    target: NDArray[np.float64],
    folds: Sequence[Sequence[int]],
    search: Search,
    codes: Sequence[Sequence[int]],
) -> HeldOut | None:
    """Of rows that were left out of both the search and the regression, a fold after the other, over the square root of
    1 + d x (X'X)^-1 x', where d is the design effect. None where the others are too few to teach a regression."""
    import numpy as np

    errors, leverage = np.zeros(len(target)), np.zeros(len(target))
    for fold in map(list, folds):
        left_out = {*fold}
        rest = [place for place in range(len(target)) if place not in left_out]
        chosen = list(search(rest))
        if len(rest) < len(chosen) + 2:
            return None
        design = np.column_stack([np.ones(len(target)), matrix[:, chosen]])
        design = design / np.abs(design).max(axis=0)
        seen, asked = design[rest], design[fold]
        coefficients = np.linalg.lstsq(seen, target[rest], rcond=None)[0]
        leverage[fold] = np.einsum("ij,jk,ik->i", asked, np.linalg.pinv(seen.T @ seen), asked)
        errors[fold] = target[fold] - asked @ coefficients
    taught = coefficients_of_codes(matrix[:, list(search(range(len(target))))], codes)
    effect = spread_of(errors / np.sqrt(1 + leverage), codes, taught).design_effect
    return spread_of(errors / np.sqrt(1 + effect * leverage), codes, taught)


def coefficients_of_codes(matrix: NDArray[np.float64], codes: Sequence[Sequence[int]]) -> float:
    """How many coefficients of a regression, its intercept among them, are determined by differences between codes: the
    trace of (X'X)^-1 M'M, where M has in each row the mean of the row's code."""
    import numpy as np

    design = np.column_stack([np.ones(len(matrix)), matrix])
    design = design / np.abs(design).max(axis=0)
    means = np.empty_like(design)
    for code in map(list, codes):
        means[code] = design[code].mean(axis=0)
    return float(np.trace(np.linalg.pinv(design.T @ design) @ (means.T @ means)))


def spread_of(errors: NDArray[np.float64], codes: Sequence[Sequence[int]], taught: float) -> HeldOut:
    """The variance of a row of another code: that between the means of codes and that within (analysis of variance, one
    way, about zero; degrees of freedom by Satterthwaite, 1946; design effect by Kish, 1965). `taught` is how many
    coefficients the codes have determined, up to half of their degrees; one more degree is taken off, since few codes
    are off by unlike amounts and Satterthwaite's formula is then too hopeful."""
    import numpy as np

    rows, count = len(errors), len(codes)
    pooled = HeldOut(float(errors @ errors) / rows, float(rows - 1), 1.0)
    if count == rows:
        return pooled
    sizes = np.array([len(code) for code in codes])
    means = np.array([errors[list(code)].mean() for code in codes])
    within = float(errors @ errors - sizes @ means**2) / (rows - count)
    between = float(sizes @ means**2) / count
    if between <= within:
        return pooled
    size = rows / count
    parts = between / size, within * (1 - 1 / size)
    variance = sum(parts)
    freedom = variance**2 / (parts[0] ** 2 / max((count - 1) / 2, count - 1 - taught) + parts[1] ** 2 / (rows - count))
    return HeldOut(variance, freedom, between / variance)
