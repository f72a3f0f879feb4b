"""Validation: a model trained on some rows and asked for others, and what its regression takes for granted.

The assumptions, tested on the residuals, are those of Umar (2018), section 3.4.1, step 3.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from aspenpy.language.diagnostics import Diagnostic, drop_repeats, fail, suggest_instead
from aspenpy.learn.estimators.acee import Acee
from aspenpy.learn.estimators.model import LearntModel
from aspenpy.learn.measurements.columns import KNOWN
from aspenpy.learn.measurements.conditions import select_rows
from aspenpy.learn.measurements.sheet import MeasurementSheet, count_noun
from aspenpy.record import Record
from aspenpy.tables.result import Result

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray


class ErrorSummary(Record):
    """The errors |measured - predicted|/measured in percent, as Li and others (2017, section 3.3) have it: the number
    of predictions, mean, median, standard deviation, and the largest."""

    n: int
    mean_error_percent: float
    median_error_percent: float
    std_error_percent: float
    max_error_percent: float

    def to_json(self) -> dict[str, int | float]:
        return {field: getattr(self, field) for field in self._fields}


def summarise_errors(measured: ArrayLike, predicted: ArrayLike) -> ErrorSummary | None:
    """Summary of relative errors; None without predictions."""
    import numpy as np

    actual, guess = np.asarray(measured, float), np.asarray(predicted, float)
    if not actual.size:
        return None
    errors = 100 * np.abs(actual - guess) / np.abs(actual)
    return ErrorSummary(
        len(errors), float(errors.mean()), float(np.median(errors)), float(errors.std()), float(errors.max())
    )


class Split(Record):
    """Which rows a model learns from and which it is asked for: conditions on columns, or a column each of whose values
    is left out in turn. Without a condition it learns from all, or from those that are not asked for."""

    train: str | None = None
    test: str | None = None
    leave_out: str | None = None


class Predicted(Record):
    """A row: its line in the file, what says what ran (column and value), measured and predicted target in base units
    (nan where it was not measured), the ends of its interval if the model has one, and whether the model had learnt
    from it."""

    row: int
    labels: tuple[tuple[str, Any], ...]
    measured: float
    predicted: float
    interval: tuple[float, float] | None
    trained: bool

    @property
    def is_measured(self) -> bool:
        return not math.isnan(self.measured)

    @property
    def error(self) -> float:
        """The error, relative to the measured value."""
        return self.predicted / self.measured - 1


class PredictionErrors(Record, Result):
    """A model that learnt from the rows to train with, its predictions, and how far off they are: `train` of the rows
    it learnt from, `test` of those that it had not seen, each group of `left_out` by a model that learnt from the
    others. `given` counts rows that predictions start from, which are therefore not among those tested."""

    model: LearntModel
    split: Split
    train: ErrorSummary | None
    test: ErrorSummary | None
    groups: tuple[tuple[str, ErrorSummary], ...]
    rows: tuple[Predicted, ...]
    given: int
    confidence: float
    diagnostics: tuple[Diagnostic, ...]


Watch = Callable[[str], None]
EVERYTHING = Split()


def validate(
    model: LearntModel,
    sheet: MeasurementSheet,
    split: Split = EVERYTHING,
    confidence: float = 0.95,
    watch: Watch | None = None,
) -> PredictionErrors:
    """Trains the model and asks it. Raises AspenError where rows to train with would be tested, or there are none."""
    model.notes = ()
    sheet = model.select_rows(model.drop_unmeasured(sheet))
    train, test = split_rows(sheet, split)
    if split.leave_out is not None:
        groups, held_out = leave_out_groups(model, sheet, train, split.leave_out, watch)
    else:
        groups, held_out = (), []
    model.learn_rows(sheet.rows_at(train))
    seen, given = predict_rows(model, sheet, train, confidence, trained=True)
    unseen: list[Predicted] = []
    if test:
        unseen, given = predict_rows(model, sheet, test, confidence, trained=False)
    unseen += held_out
    diagnostics = [*model.notes, *(model.warn_outside_training(sheet.rows_at(test)) if test else ())]
    return PredictionErrors(
        model,
        split,
        summarise_rows(seen),
        test=summarise_rows(unseen),
        groups=groups,
        rows=(*seen, *unseen),
        given=given,
        confidence=confidence,
        diagnostics=tuple(drop_repeats(diagnostics)),
    )


def rows_learnt_from(model: LearntModel, sheet: MeasurementSheet, split: Split) -> list[int]:
    """Line numbers in the file of the rows that `validate` trains a model on."""
    whole = model.select_rows(model.drop_unmeasured(sheet))
    return [next(iter(whole.rows[index].values())).row for index in split_rows(whole, split)[0]]


def summarise_rows(rows: Sequence[Predicted]) -> ErrorSummary | None:
    measured = [row for row in rows if row.is_measured]
    return summarise_errors([row.measured for row in measured], [row.predicted for row in measured])


def predict_and_compare(
    model: LearntModel, sheet: MeasurementSheet, split: Split, confidence: float = 0.95
) -> PredictionErrors:
    """Compares a trained model with the measurements in the rows of `split.test`, or in all rows."""
    indices = list(range(len(sheet.rows))) if split.test is None else select_rows(sheet, split.test, "--test")
    if not indices:
        fail("no-rows", f"no row is one to test with: `{split.test}` holds nowhere", sheet.span)
    rows, given = predict_rows(model, sheet, indices, confidence, trained=False)
    diagnostics = drop_repeats([*model.notes, *model.warn_outside_training(sheet.rows_at(indices))])
    return PredictionErrors(
        model,
        split,
        None,
        summarise_rows(rows),
        groups=(),
        rows=tuple(rows),
        given=given,
        confidence=confidence,
        diagnostics=tuple(diagnostics),
    )


def predict_rows(
    model: LearntModel, sheet: MeasurementSheet, indices: Sequence[int], confidence: float, *, trained: bool
) -> tuple[list[Predicted], int]:
    """Predictions of the rows at some places, and the number of these rows that are given, not predicted."""
    given = {*model.base_rows(sheet)}
    asked = sorted({*indices} | given)
    part = sheet.rows_at(asked)
    values, measured = model.predict(part), model.known_target(part)
    ends = model.interval(part, confidence)
    labels = label_columns(sheet)
    wanted, rows = {*indices} - given, []
    for number, index in enumerate(asked):
        if index in wanted:
            row = sheet.rows[index]
            interval = None if ends is None else (float(ends[0][number]), float(ends[1][number]))
            line = next(iter(row.values())).row
            said = tuple((name, row[name].value) for name in labels)
            pair = float(measured[number]), float(values[number])
            rows.append(Predicted(line, said, *pair, interval, trained))
    return rows, len({*indices} & given)


def label_columns(sheet: MeasurementSheet) -> list[str]:
    """Names of the columns that identify a run: code, device, threads, clocks."""
    how = ("threads", "core_frequency", "memory_frequency")
    return [name for name in KNOWN if name in sheet.names and (KNOWN[name].text or name in how)]


def split_rows(sheet: MeasurementSheet, split: Split) -> tuple[list[int], list[int]]:
    """Numbers of the rows to learn from and to test with. Raises AspenError where they overlap or one is empty."""
    everything = list(range(len(sheet.rows)))
    test = [] if split.test is None else select_rows(sheet, split.test, "--test")
    tested = {*test}
    train = [index for index in everything if index not in tested]
    if split.train is not None:
        train = select_rows(sheet, split.train, "--train")
        if both := tested.intersection(train):
            hint = "what is predicted must not be learnt from: make the conditions exclude each other"
            fail("not-held-out", f"--train and --test share {count_noun(len(both), 'row')}", hint=hint)
        if split.test is None and split.leave_out is None:
            learnt = {*train}
            test = [index for index in everything if index not in learnt]
    for name, condition, rows in (("train", split.train, train), ("test", split.test, test)):
        if not rows and (condition is not None or name == "train"):
            fail("no-rows", f"no row is one to {name} with: `{condition}` holds nowhere", sheet.span)
    return train, test


def leave_out_groups(
    model: LearntModel, sheet: MeasurementSheet, indices: Sequence[int], column: str, watch: Watch | None
) -> tuple[tuple[tuple[str, ErrorSummary], ...], list[Predicted]]:
    """Predictions for each value of a column by a model that learnt from the rows with other values."""
    try:
        name = sheet.heading(column).name
    except KeyError:
        hint = suggest_instead(column, sheet.names, "columns")
        fail("unknown-column", f"--leave-out: there is no column `{column}`", sheet.span, hint=hint)
    members: dict[str, list[int]] = {}
    for index in indices:
        members.setdefault(str(sheet.rows[index][name].value), []).append(index)
    if len(members) < 2:
        fail("nothing-left", f"--leave-out: all rows have the same `{column}`, so nothing is left to learn from")
    groups: list[tuple[str, ErrorSummary]] = []
    rows: list[Predicted] = []
    for value, group in members.items():
        if watch is not None:
            watch(f"leaving out {column} {value}: {len(groups)} of {len(members)} done")
        held_out = {*group}
        learner = type(model)(**model.get_params())
        learner.learn_rows(sheet.rows_at(index for index in indices if index not in held_out))
        predicted, _ = predict_rows(learner, sheet, group, confidence=0.95, trained=False)
        rows += predicted
        if (errors := summarise_rows(predicted)) is not None:
            groups.append((value, errors))
    return tuple(groups), rows


LEVEL = 0.05
"""An assumption does not hold where the p of its test is lower."""

UNCORRELATED = (1.5, 2.5)
"""Durbin-Watson statistics at which neighbouring rows count as independent: 2 is no correlation, 0 and 4 are full."""

HIGHEST_INFLATION = 10.0
"""A counter with a larger VIF follows from the others."""

PRECISION = 0.05
"""Half the confidence interval of a mean, relative to the mean, for which the sample size is computed."""


class Assumption(Record):
    """An assumption, how it is tested, the statistic, its p if it has one, whether it holds, and what that says."""

    name: str
    test: str
    statistic: float
    p: float | None
    holds: bool
    meaning: str
    device: str = ""


def check_assumptions(model: Acee, sheet: MeasurementSheet) -> tuple[Assumption, ...]:
    """Assumptions of each device's regression, checked on the rows of a sheet."""
    checks = []
    for device, held, design, left in model.regression_residuals(sheet):
        of_device = check_residuals(design, left, model.scale)
        if len(held["predictors"]) > 1:
            of_device += check_collinearity(held, design)
        of_device.append(check_sample_size(left, design @ held["coefficients"]))
        checks += [item.replace(device=device) for item in of_device]
    return tuple(checks)


GROWING = {
    "amount": "errors grow with some counter: --option scale=rate",
    "rate": "errors grow with some counter: intervals are too narrow where it is large",
}
"""Meaning of errors of unequal variance, by the scale of the model."""


def check_residuals(design: NDArray[np.float64], left: NDArray[np.float64], scale: str) -> list[Assumption]:
    """Tests of what least squares assume: linearity, equal variance, normal and independent errors."""
    import numpy as np
    from scipy.stats import jarque_bera
    from statsmodels.stats.diagnostic import het_breuschpagan
    from statsmodels.stats.stattools import durbin_watson

    checks = []
    design = design / np.abs(design).max(axis=0)  # of counters of 1e15 beside a constant of 1, rank is lost
    fitted = design @ np.linalg.lstsq(design, left, rcond=None)[0]
    if design.shape[1] > 1 and len(left) > design.shape[1] + 3:
        p = linearity_p(design, left - fitted)
        text = "residuals do not bend with the counters" if p >= LEVEL else "residuals bend: squares or products matter"
        checks.append(Assumption("linearity", "squares of the counters (F)", p, p=p, holds=p >= LEVEL, meaning=text))
        statistic, p = map(float, het_breuschpagan(left, design)[:2])
        text = "errors are alike everywhere" if p >= LEVEL else GROWING[scale]
        checks.append(Assumption("homoscedasticity", "Breusch-Pagan", statistic, p=p, holds=p >= LEVEL, meaning=text))
    statistic, p = map(float, jarque_bera(left))
    text = "intervals are as wide as they say" if p >= LEVEL else "intervals are only approximate"
    checks.append(Assumption("normality", "Jarque-Bera", statistic, p=p, holds=p >= LEVEL, meaning=text))
    ratio = float(durbin_watson(left))
    alone = UNCORRELATED[0] <= ratio <= UNCORRELATED[1]
    text = "rows are independent" if alone else "neighbouring rows have errors alike: p are too small"
    return [*checks, Assumption("no autocorrelation", "Durbin-Watson", ratio, p=None, holds=alone, meaning=text)]


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
    """Checks collinearity by the largest variance inflation factor and by the largest correlation of two counters."""
    import numpy as np

    names, inflation = held["predictors"], held["vif"]
    worst = max(range(len(names)), key=lambda index: inflation[index])
    holds = inflation[worst] <= HIGHEST_INFLATION
    text = f"of `{names[worst]}`"
    correlations = np.abs(np.corrcoef(design[:, 1:], rowvar=False))
    np.fill_diagonal(correlations, 0)
    one, other = np.unravel_index(int(correlations.argmax()), correlations.shape)
    largest = float(correlations[one, other])
    both = f"of `{names[one]}` and `{names[other]}`"
    return [
        Assumption("no collinearity", "largest VIF", inflation[worst], p=None, holds=holds, meaning=text),
        Assumption("no collinearity", "largest correlation", largest, p=None, holds=largest < 0.95, meaning=both),
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
    return Assumption(
        "sample size", "confidence interval", float(rows), p=None, holds=rows >= max(wanted, 2), meaning=text
    )
