"""ErrorSummary: how far predictions are from measurements."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aspenpy.record import Record

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class ErrorSummary(Record):
    """Of |measured - predicted|/measured in percent, as Li and others (2017, section 3.3) have it: the number of
    predictions, mean, median, standard deviation, and the largest."""

    n: int
    mean_error_percent: float
    median_error_percent: float
    std_error_percent: float
    max_error_percent: float

    def to_json(self) -> dict[str, int | float]:
        return {field: getattr(self, field) for field in self._fields}


def error_summary(measured: ArrayLike, predicted: ArrayLike) -> ErrorSummary | None:
    """None where nothing was predicted."""
    import numpy as np

    actual, guess = np.asarray(measured, float), np.asarray(predicted, float)
    if not actual.size:
        return None
    errors = 100 * np.abs(actual - guess) / np.abs(actual)
    return ErrorSummary(
        len(errors), float(errors.mean()), float(np.median(errors)), float(errors.std()), float(errors.max())
    )
