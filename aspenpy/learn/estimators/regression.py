"""Regression on counters: the stepwise search for those to keep, and errors on codes that it has not seen."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from aspenpy.learn.measurements.columns import row_keys, rows_by_key
from aspenpy.learn.measurements.sheet import MeasurementSheet

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


ENTERS, LEAVES = 0.05, 0.10
"""Levels of p at which a counter enters and leaves."""


class SelectionStep(NamedTuple):
    """A counter that entered or left, and the value that decided: its p, or the AIC or BIC of the model."""

    entered: bool
    place: int
    criterion: float


class Moments:
    """Sums of squares and products about the mean: all that the search needs of the data."""

    def __init__(self, matrix: NDArray[np.float64], target: NDArray[np.float64]) -> None:
        self.rows = len(target)
        centred = matrix - matrix.mean(axis=0)
        self.scales = centred.std(axis=0)
        centred = centred / self.scales
        left = target - target.mean()
        self.products, self.cross, self.total = centred.T @ centred, centred.T @ left, float(left @ left)

    def residual_squares(self, indices: Sequence[int]) -> float:
        """The residual sum of squares with some counters and an intercept."""
        import numpy as np

        if not indices:
            return self.total
        chosen = list(indices)
        solution = np.linalg.lstsq(self.products[np.ix_(chosen, chosen)], self.cross[chosen], rcond=1e-12)[0]
        return max(self.total - float(self.cross[chosen] @ solution), 1e-14 * self.total)

    def squares_removed(self, indices: Sequence[int], others: Sequence[int]) -> NDArray[np.float64]:
        """Reduction of the residual sum of squares by each of the other counters; 0 for a collinear one."""
        import numpy as np

        chosen, asked = list(indices), list(others)
        covariance, variance = self.cross[asked], np.diag(self.products)[asked].copy()
        if chosen:
            across = self.products[np.ix_(chosen, asked)]
            solved = np.linalg.lstsq(self.products[np.ix_(chosen, chosen)], across, rcond=1e-12)[0]
            covariance = covariance - solved.T @ self.cross[chosen]
            variance = variance - (across * solved).sum(axis=0)
        free = variance > 1e-9 * self.rows
        return np.where(free, covariance**2 / np.where(free, variance, 1), 0.0)


def select_stepwise(moments: Moments, direction: str, criterion: str) -> tuple[list[int], list[SelectionStep]]:
    """Columns of the counters that a stepwise selection keeps, and its steps. The direction `forward` adds counters to
    none, `backward` drops them from all, `both` adds and drops; the criterion is `p`, `aic` or `bic`."""
    count = len(moments.cross)
    chosen = list(range(count)) if direction == "backward" else []
    steps: list[SelectionStep] = []
    seen: set[frozenset[int]] = set()
    while frozenset(chosen) not in seen:
        seen.add(frozenset(chosen))
        entered = None if direction == "backward" else find_entering_counter(moments, chosen, criterion)
        if entered is not None:
            chosen.append(entered.place)
            steps.append(entered)
        leaving = None if direction == "forward" else find_leaving_counter(moments, chosen, criterion)
        if leaving is not None:
            chosen.remove(leaving.place)
            steps.append(leaving)
        if entered is None and leaving is None:
            break
    return sorted(chosen), steps


def find_entering_counter(moments: Moments, chosen: Sequence[int], criterion: str) -> SelectionStep | None:
    """The counter that lowers the criterion most, as a step of the selection; None where none does."""
    others = [index for index in range(len(moments.cross)) if index not in chosen]
    if not others or moments.rows <= len(chosen) + 2:
        return None
    gains = moments.squares_removed(chosen, others)
    best = int(gains.argmax())
    if gains[best] <= 0:
        return None
    before = moments.residual_squares(chosen)
    after = max(before - float(gains[best]), 1e-14 * moments.total)
    value = information_criterion(moments, after, before, len(chosen) + 1, criterion)
    limit = ENTERS if criterion == "p" else information_criterion(moments, before, before, len(chosen), criterion)
    return SelectionStep(True, others[best], value) if value < limit - 1e-12 * abs(limit) else None


def find_leaving_counter(moments: Moments, chosen: Sequence[int], criterion: str) -> SelectionStep | None:
    """The counter whose removal costs least, if the criterion lets it go."""
    if not chosen:
        return None
    costs = {index: moments.residual_squares([other for other in chosen if other != index]) for index in chosen}
    worst = min(costs, key=lambda index: costs[index])
    here = moments.residual_squares(chosen)
    if criterion == "p":
        value = information_criterion(moments, here, costs[worst], len(chosen), "p")
        return SelectionStep(False, worst, value) if value > LEAVES else None
    value = information_criterion(moments, costs[worst], here, len(chosen) - 1, criterion)
    limit = information_criterion(moments, here, here, len(chosen), criterion)
    return SelectionStep(False, worst, value) if value < limit - 1e-12 * abs(limit) else None


def information_criterion(moments: Moments, left: float, without: float, counters: int, criterion: str) -> float:
    """AIC or BIC of a model with `counters` counters and an intercept that leaves the sum of squares `left`; or the p
    of its last counter, `without` which that sum was larger."""
    from scipy.special import fdtrc

    rows = moments.rows
    if criterion == "p":
        freedom = rows - counters - 1
        return float(fdtrc(1, freedom, max(without - left, 0.0) * freedom / left))
    penalty = 2.0 if criterion == "aic" else math.log(rows)
    return rows * math.log(left / rows) + penalty * (counters + 1)


def select_by_cross_validation(
    matrix: NDArray[np.float64], target: NDArray[np.float64], folds: Sequence[Sequence[int]]
) -> tuple[list[int], list[SelectionStep]]:
    """The counters that, entering one after the other, lessen the relative error of rows that are left out, a fold
    after the other, as long as it lessens by a hundredth. Steps hold the root of its mean square."""
    import numpy as np

    scales = np.abs(matrix).max(axis=0)
    design = np.column_stack([np.ones(len(target)), matrix / scales])
    relative = design / target[:, None]
    parts = [np.array(fold) for fold in folds]
    products = np.array([design[part].T @ design[part] for part in parts])
    cross = np.array([design[part].T @ target[part] for part in parts])
    squares = np.array([relative[part].T @ relative[part] for part in parts])
    sums = np.array([relative[part].sum(axis=0) for part in parts])
    rest, rest_cross = products.sum(axis=0) - products, cross.sum(axis=0) - cross

    def error(indices: Sequence[int]) -> float:
        """The squared error of 1 - x b/y, with b learnt from the other folds: n - 2 b sum(x/y) + b (x/y)'(x/y) b."""
        chosen = [0, *(index + 1 for index in indices)]
        system = rest[:, chosen][:, :, chosen] + 1e-12 * np.eye(len(chosen))
        solutions = np.linalg.solve(system, rest_cross[:, chosen][:, :, None])[:, :, 0]
        quadratic = np.einsum("gi,gij,gj->", solutions, squares[:, chosen][:, :, chosen], solutions)
        total = len(target) - 2 * float((solutions * sums[:, chosen]).sum()) + float(quadratic)
        return float(np.sqrt(max(total, 0.0) / len(target)))

    chosen: list[int] = []
    steps: list[SelectionStep] = []
    best = error([])
    while len(chosen) < matrix.shape[1]:
        others = [index for index in range(matrix.shape[1]) if index not in chosen]
        errors = [error([*chosen, index]) for index in others]
        least = min(errors)
        if not least < 0.99 * best:
            break
        best = least
        chosen.append(others[errors.index(least)])
        steps.append(SelectionStep(True, chosen[-1], best))
    return sorted(chosen), steps


def variance_inflation(matrix: NDArray[np.float64]) -> list[float]:
    """VIF of each column: the diagonal of the inverse correlation matrix."""
    import numpy as np

    if matrix.shape[1] < 2:
        return [1.0] * matrix.shape[1]
    return [float(value) for value in np.diag(np.linalg.pinv(np.corrcoef(matrix, rowvar=False)))]


# -- codes that were not seen ----------------------------------------------------------------------


Search = Callable[[Sequence[int]], Sequence[int]]
"""Takes row numbers; returns the columns that a search on these rows chooses."""


class UnseenSpread(NamedTuple):
    """Errors of rows that were held out: their variance, its degrees of freedom, and how many rows of a code count as
    one, since what a code adds of its own is in all of them (the design effect)."""

    variance: float
    freedom: float
    design_effect: float


def rows_by_code(sheet: MeasurementSheet) -> list[list[int]]:
    """Row numbers of each code."""
    return list(rows_by_key(row_keys(sheet, ("application", "region"))).values())


def draw_folds(sheet: MeasurementSheet) -> list[list[int]]:
    """Row numbers of each code where there are at least three codes; otherwise ten random parts of the rows."""
    import numpy as np

    codes = rows_by_code(sheet)
    if len(codes) > 2:
        return codes
    order = np.random.default_rng(0).permutation(len(sheet.rows))
    return [order[index::10].tolist() for index in range(min(10, len(order)))]


def estimate_unseen_spread(
    matrix: NDArray[np.float64],
    target: NDArray[np.float64],
    folds: Sequence[Sequence[int]],
    search: Search,
    codes: Sequence[Sequence[int]],
) -> UnseenSpread | None:
    """Spread of the errors of rows left out of both search and regression, one fold at a time, divided by the square
    root of 1 + d x (X'X)^-1 x' (d: design effect). None where the remaining rows are too few for a regression."""
    import numpy as np

    errors, leverage = np.zeros(len(target)), np.zeros(len(target))
    for fold in map(list, folds):
        left_out = {*fold}
        rest = [index for index in range(len(target)) if index not in left_out]
        chosen = list(search(rest))
        if len(rest) < len(chosen) + 2:
            return None
        design = np.column_stack([np.ones(len(target)), matrix[:, chosen]])
        design = design / np.abs(design).max(axis=0)
        seen, asked = design[rest], design[fold]
        coefficients = np.linalg.lstsq(seen, target[rest], rcond=None)[0]
        leverage[fold] = np.einsum("ij,jk,ik->i", asked, np.linalg.pinv(seen.T @ seen), asked)
        errors[fold] = target[fold] - asked @ coefficients
    taught = count_between_code_coefficients(matrix[:, list(search(range(len(target))))], codes)
    effect = analyse_variance(errors / np.sqrt(1 + leverage), codes, taught).design_effect
    return analyse_variance(errors / np.sqrt(1 + effect * leverage), codes, taught)


def count_between_code_coefficients(matrix: NDArray[np.float64], codes: Sequence[Sequence[int]]) -> float:
    """Number of coefficients of a regression, its intercept among them, that differences between codes determine: the
    trace of (X'X)^-1 M'M, where M has in each row the mean of the row's code."""
    import numpy as np

    design = np.column_stack([np.ones(len(matrix)), matrix])
    design = design / np.abs(design).max(axis=0)
    means = np.empty_like(design)
    for code in map(list, codes):
        means[code] = design[code].mean(axis=0)
    return float(np.trace(np.linalg.pinv(design.T @ design) @ (means.T @ means)))


def analyse_variance(errors: NDArray[np.float64], codes: Sequence[Sequence[int]], taught: float) -> UnseenSpread:
    """The variance of a row of another code: that between the means of codes and that within (analysis of variance, one
    way, about zero; degrees of freedom by Satterthwaite, 1946; design effect by Kish, 1965). `taught` is how many
    coefficients the codes have determined, up to half of their degrees; one more degree is taken off, since few codes
    are off by unlike amounts and Satterthwaite's formula is then too hopeful."""
    import numpy as np

    rows, count = len(errors), len(codes)
    pooled = UnseenSpread(float(errors @ errors) / rows, float(rows - 1), 1.0)
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
    return UnseenSpread(variance, freedom, between / variance)
