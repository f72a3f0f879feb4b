"""Assumptions: what a linear regression takes for granted, tested on its residuals.

Those of Umar (2018), section 3.4.1, step 3.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from aspenpy.learn.estimators.acee import Acee
from aspenpy.learn.measurements.sheet import Sheet
from aspenpy.record import Record

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LEVEL = 0.05
"""An assumption does not hold where the p of its test is lower."""

HIGHEST_INFLATION = 10.0
"""A counter with a larger VIF follows from the others."""

PRECISION = 0.05
"""Half the confidence interval of a mean, relative to the mean, for which the sample size is computed."""


class Assumption(Record):
    """What is assumed, how it is tested, the statistic, its p if it has one, whether it holds, and what that says."""

    name: str
    test: str
    statistic: float
    p: float | None
    holds: bool
    meaning: str
    device: str = ""


def check_assumptions(model: Acee, sheet: Sheet) -> tuple[Assumption, ...]:
    """Assumptions of each device's regression, checked on the rows of a sheet."""
    found = []
    for device, held, design, left in model.regression_residuals(sheet):
        of_device = check_residuals(design, left, model.scale)
        if len(held["predictors"]) > 1:
            of_device += check_collinearity(held, design)
        of_device.append(check_sample_size(left, design @ held["coefficients"]))
        found += [item.replace(device=device) for item in of_device]
    return tuple(found)


GROWING = {
    "amount": "errors grow with some counter: --option scale=rate",
    "rate": "errors grow with some counter: intervals are too narrow where it is large",
}
"""Meaning of errors of unequal variance, by the scale of the model."""


def check_residuals(design: NDArray[np.float64], left: NDArray[np.float64], scale: str) -> list[Assumption]:
    import numpy as np
    from scipy.stats import jarque_bera
    from statsmodels.stats.diagnostic import het_breuschpagan
    from statsmodels.stats.stattools import durbin_watson

    found = []
    design = design / np.abs(design).max(axis=0)  # of counters of 1e15 beside a constant of 1, rank is lost
    fitted = design @ np.linalg.lstsq(design, left, rcond=None)[0]
    if design.shape[1] > 1 and len(left) > design.shape[1] + 3:
        p = linearity_p(design, left - fitted)
        text = "residuals do not bend with the counters" if p >= LEVEL else "residuals bend: squares or products matter"
        found.append(Assumption("linearity", "squares of the counters (F)", p, p, p >= LEVEL, text))
        statistic, p = map(float, het_breuschpagan(left, design)[:2])
        text = "errors are alike everywhere" if p >= LEVEL else GROWING[scale]
        found.append(Assumption("homoscedasticity", "Breusch-Pagan", statistic, p, p >= LEVEL, text))
    statistic, p = map(float, jarque_bera(left))
    text = "intervals are as wide as they say" if p >= LEVEL else "intervals are only approximate"
    found.append(Assumption("normality", "Jarque-Bera", statistic, p, p >= LEVEL, text))
    ratio = float(durbin_watson(left))
    text = "rows are independent" if 1.5 <= ratio <= 2.5 else "neighbouring rows have errors alike: p are too small"
    found.append(Assumption("no autocorrelation", "Durbin-Watson", ratio, None, 1.5 <= ratio <= 2.5, text))
    return found


def linearity_p(design: NDArray[np.float64], left: NDArray[np.float64]) -> float:
    """The p of an F test that adds the squares of the counters to the regression; columns are scaled."""
    import numpy as np
    from scipy.stats import f as fisher

    wider = np.column_stack([design, design[:, 1:] ** 2])
    rest = left - wider @ np.linalg.lstsq(wider, left, rcond=None)[0]
    more = design.shape[1] - 1
    freedom = len(left) - wider.shape[1]
    if freedom < 1 or not rest.any():
        return 1.0
    ratio = max(float(left @ left - rest @ rest), 0.0) / more / (float(rest @ rest) / freedom)
    return float(fisher.sf(ratio, more, freedom))


def check_collinearity(held: Mapping[str, Any], design: NDArray[np.float64]) -> list[Assumption]:
    """Collinearity by the largest variance inflation and by the largest correlation of two counters."""
    import numpy as np

    names, inflation = held["predictors"], held["vif"]
    worst = max(range(len(names)), key=lambda place: inflation[place])
    holds = inflation[worst] <= HIGHEST_INFLATION
    text = f"of `{names[worst]}`"
    correlations = np.abs(np.corrcoef(design[:, 1:], rowvar=False))
    np.fill_diagonal(correlations, 0)
    one, other = np.unravel_index(int(correlations.argmax()), correlations.shape)
    largest = float(correlations[one, other])
    both = f"of `{names[one]}` and `{names[other]}`"
    return [
        Assumption("no collinearity", "largest VIF", inflation[worst], None, holds, text),
        Assumption("no collinearity", "largest correlation", largest, None, largest < 0.95, both),
    ]


def check_sample_size(left: NDArray[np.float64], measured: NDArray[np.float64]) -> Assumption:
    """Number of rows needed to know the mean residual to 5 % of the mean measurement, by Student's t."""
    from scipy.stats import t

    rows = len(left)
    spread = float(left.std(ddof=1)) if rows > 1 else math.inf
    scale = float(measured.mean()) if spread else 1.0
    half = float(t.ppf(0.975, max(rows - 1, 1))) * spread
    wanted = math.ceil((half / (PRECISION * scale)) ** 2) if math.isfinite(half) else rows + 1
    text = f"{rows} rows, {max(wanted, 2)} are needed for ±5 % at 95 %"
    return Assumption("sample size", "confidence interval", float(rows), None, rows >= max(wanted, 2), text)
