"""Validation: a model trained on some rows and asked for others."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from aspenpy.language.diagnostics import Diagnostic, drop_repeats, fail, suggest_instead
from aspenpy.learn.estimators.model import LearntModel
from aspenpy.learn.measurements.columns import KNOWN
from aspenpy.learn.measurements.conditions import select_rows
from aspenpy.learn.measurements.sheet import Sheet, count_noun
from aspenpy.record import Record
from aspenpy.tables.result import Result

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
        """Relative to what was measured."""
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
    model: LearntModel, sheet: Sheet, split: Split = EVERYTHING, confidence: float = 0.95, watch: Watch | None = None
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
        summarise_rows(unseen),
        groups,
        (*seen, *unseen),
        given,
        confidence,
        tuple(drop_repeats(diagnostics)),
    )


def rows_learnt_from(model: LearntModel, sheet: Sheet, split: Split) -> list[int]:
    """Line numbers in the file of the rows that `validate` trains a model on."""
    whole = model.select_rows(model.drop_unmeasured(sheet))
    return [next(iter(whole.rows[place].values())).row for place in split_rows(whole, split)[0]]


def summarise_rows(rows: Sequence[Predicted]) -> ErrorSummary | None:
    known = [row for row in rows if row.is_measured]
    return summarise_errors([row.measured for row in known], [row.predicted for row in known])


def predict_and_compare(model: LearntModel, sheet: Sheet, split: Split, confidence: float = 0.95) -> PredictionErrors:
    """Compares a trained model with the measurements in the rows of `split.test`, or in all rows."""
    places = list(range(len(sheet.rows))) if split.test is None else select_rows(sheet, split.test, "--test")
    if not places:
        fail("no-rows", f"no row is one to test with: `{split.test}` holds nowhere", sheet.span)
    rows, given = predict_rows(model, sheet, places, confidence, trained=False)
    found = drop_repeats([*model.notes, *model.warn_outside_training(sheet.rows_at(places))])
    return PredictionErrors(model, split, None, summarise_rows(rows), (), tuple(rows), given, confidence, tuple(found))


def predict_rows(
    model: LearntModel, sheet: Sheet, places: Sequence[int], confidence: float, *, trained: bool
) -> tuple[list[Predicted], int]:
    """Predictions of the rows at some places, and the number of these rows that are given, not predicted."""
    given = {*model.given_rows(sheet)}
    asked = sorted({*places} | given)
    part = sheet.rows_at(asked)
    values, measured = model.predict(part), model.known_target(part)
    ends = model.interval(part, confidence)
    labels = label_columns(sheet)
    wanted, rows = {*places} - given, []
    for number, place in enumerate(asked):
        if place in wanted:
            row = sheet.rows[place]
            interval = None if ends is None else (float(ends[0][number]), float(ends[1][number]))
            line = next(iter(row.values())).row
            said = tuple((name, row[name].value) for name in labels)
            pair = float(measured[number]), float(values[number])
            rows.append(Predicted(line, said, *pair, interval, trained))
    return rows, len({*places} & given)


def label_columns(sheet: Sheet) -> list[str]:
    """Names of the columns that identify a run: code, device, threads, clocks."""
    how = ("threads", "core_frequency", "memory_frequency")
    return [name for name in KNOWN if name in sheet.names and (KNOWN[name].text or name in how)]


def split_rows(sheet: Sheet, split: Split) -> tuple[list[int], list[int]]:
    everything = list(range(len(sheet.rows)))
    test = [] if split.test is None else select_rows(sheet, split.test, "--test")
    tested = {*test}
    train = [place for place in everything if place not in tested]
    if split.train is not None:
        train = select_rows(sheet, split.train, "--train")
        if both := tested.intersection(train):
            hint = "what is predicted must not be learnt from: make the conditions exclude each other"
            fail("not-held-out", f"--train and --test share {count_noun(len(both), 'row')}", hint=hint)
        if split.test is None and split.leave_out is None:
            learnt = {*train}
            test = [place for place in everything if place not in learnt]
    for name, condition, found in (("train", split.train, train), ("test", split.test, test)):
        if not found and (condition is not None or name == "train"):
            fail("no-rows", f"no row is one to {name} with: `{condition}` holds nowhere", sheet.span)
    return train, test


def leave_out_groups(
    model: LearntModel, sheet: Sheet, places: Sequence[int], column: str, watch: Watch | None
) -> tuple[tuple[tuple[str, ErrorSummary], ...], list[Predicted]]:
    """For each value of a column, predictions of its rows by a model that learnt from the others."""
    try:
        name = sheet.heading(column).name
    except KeyError:
        hint = suggest_instead(column, sheet.names, "columns")
        fail("unknown-column", f"--leave-out: there is no column `{column}`", sheet.span, hint=hint)
    members: dict[str, list[int]] = {}
    for place in places:
        members.setdefault(str(sheet.rows[place][name].value), []).append(place)
    if len(members) < 2:
        fail("nothing-left", f"--leave-out: all rows have the same `{column}`, so nothing is left to learn from")
    groups: list[tuple[str, ErrorSummary]] = []
    rows: list[Predicted] = []
    for value, group in members.items():
        if watch is not None:
            watch(f"leaving out {column} {value}: {len(groups)} of {len(members)} done")
        held_out = {*group}
        learner = type(model)(**model.get_params())
        learner.learn_rows(sheet.rows_at(place for place in places if place not in held_out))
        found, _ = predict_rows(learner, sheet, group, 0.95, trained=False)
        rows += found
        if (errors := summarise_rows(found)) is not None:
            groups.append((value, errors))
    return tuple(groups), rows
