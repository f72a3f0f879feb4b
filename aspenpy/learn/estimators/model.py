"""LearntModel: what every model that learns from measurements offers, in the contract of scikit-learn's estimators."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

from aspenpy.language.diagnostics import Diagnostic, fail, suggest_instead, warning
from aspenpy.language.dimensions import format_quantity, unit_symbol
from aspenpy.learn.measurements.columns import (
    KNOWN,
    is_blank,
    is_numeric,
    read_numbers,
    recognise_columns,
    require_columns,
)
from aspenpy.learn.measurements.read import read_measurements
from aspenpy.learn.measurements.sheet import Cell, Data, Heading, MeasurementSheet, count_noun
from aspenpy.record import Record
from aspenpy.tables.result import Result
from aspenpy.tables.table import Table

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray


class Training(Record):
    """The training data of a model: rows, a hash of their contents, and the range of each column that it uses."""

    rows: int
    data_hash: str
    ranges: tuple[tuple[str, float, float], ...]


class Constant(NamedTuple):
    """A learnt number: names such as code and term, its value in base units, and its meaning."""

    names: tuple[str, ...]
    value: float
    about: str


class LearntModel(Result):
    """Options are given to the initialiser and kept under their names; `fit(X, y)` learns and returns the model,
    `predict(X)` gives an array in base units, one value per row of X; `get_params` and `set_params` are scikit-learn's.

    X is whatever measurements are in: a path, rows, a DataFrame, a Sheet. The target is a column of X, or y.
    """

    kind: ClassVar[str] = ""
    about: ClassVar[str] = ""
    target: ClassVar[str] = "runtime"
    needs: ClassVar[tuple[str, ...]] = ()
    defaults: ClassVar[Mapping[str, Any]] = {}
    choices: ClassVar[Mapping[str, tuple[str, ...]]] = {}

    training: Training | None
    state: dict[str, Any]
    notes: tuple[Diagnostic, ...]
    watch: Callable[[int, int], None] | None = None

    def __init__(self, **options: Any) -> None:
        self.training, self.state, self.notes = None, {}, ()
        self.set_params(**{**self.defaults, **options})

    # -- scikit-learn's contract -----------------------------------------------------------------

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.defaults}

    def set_params(self, **options: Any) -> Self:
        for name, value in options.items():
            if name not in self.defaults:
                hint = suggest_instead(name, self.defaults, "options")
                fail("unknown-option", f"`{self.kind}` has no option `{name}`", hint=hint)
            allowed = self.choices.get(name)
            if allowed is not None and value not in allowed:
                hint = f"it is one of {', '.join(allowed)}"
                fail("unknown-option", f"`{name}` cannot be `{value}`", hint=hint)
            setattr(self, name, value)
        return self

    def fit(self, X: Data, y: ArrayLike | None = None) -> Self:
        """Learns from rows. Raises AspenError where they cannot teach the model anything."""
        sheet = self.sheet(X) if y is None else set_column(self.sheet(X), self.target, y)
        require_columns(sheet, (self.target, *self.needs), f"`{self.kind}`")
        self.notes = ()
        return self.learn_rows(self.select_rows(self.drop_unmeasured(sheet)))

    def learn_rows(self, sheet: MeasurementSheet) -> Self:
        """Trains on all rows of a sheet and returns the model."""
        require_columns(sheet, (self.target, *self.needs), f"`{self.kind}`")
        if not sheet.rows:
            fail("no-measurements", "there are no rows to learn from", sheet.span)
        self.state = self.learn(sheet)
        ranges = []
        for name in self.columns_used(sheet):
            if name in sheet.names and is_numeric(sheet, name):
                numbers = read_numbers(sheet, name)
                ranges.append((name, float(numbers.min()), float(numbers.max())))
        self.training = Training(len(sheet.rows), data_hash(sheet), tuple(ranges))
        return self

    def predict(self, X: Data) -> NDArray[np.float64]:
        """The target in base units, row by row."""
        self.require_fitted()
        sheet = self.sheet(X)
        require_columns(sheet, self.needs, f"`{self.kind}`")
        return self.values(sheet)

    def score(self, X: Data, y: ArrayLike | None = None) -> float:
        """The share of the variance that is predicted (R²)."""
        import numpy as np

        sheet = self.sheet(X)
        actual = self.measured_target(sheet) if y is None else np.asarray(y, float)
        left = actual - self.predict(sheet)
        return float(1 - (left @ left) / np.square(actual - actual.mean()).sum())

    def __sklearn_is_fitted__(self) -> bool:
        return self.training is not None

    # -- what a model states ---------------------------------------------------------------------

    def state_shape(self) -> Any:
        """The shape (`language.schema`) of what `learn` gives under the options of this model."""
        raise NotImplementedError

    def state_problem(self) -> str | None:
        """Why parts of a state, each of its shape, cannot belong together; None where they do."""
        return None

    def select_rows(self, sheet: MeasurementSheet) -> MeasurementSheet:
        """Rows of a sheet that the model learns from or predicts."""
        return sheet

    def learn(self, sheet: MeasurementSheet) -> dict[str, Any]:
        """The learnt state, in types of JSON."""
        raise NotImplementedError

    def values(self, sheet: MeasurementSheet) -> NDArray[np.float64]:
        """Predictions of the target, one for each row."""
        raise NotImplementedError

    def measured_target(self, sheet: MeasurementSheet) -> NDArray[np.float64]:
        """Measured values of the target; raises AspenError where one is missing."""
        return read_numbers(sheet, self.target)

    def known_target(self, sheet: MeasurementSheet) -> NDArray[np.float64]:
        """Measured values of the target, nan where there is none."""
        import numpy as np

        there = self.target in sheet.names
        return read_numbers(sheet, self.target, blank=True) if there else np.full(len(sheet.rows), np.nan)

    def base_rows(self, sheet: MeasurementSheet) -> Sequence[int]:
        """Row numbers of measured runs that predictions of other rows start from; these are not predicted."""
        runs = self._find_base_runs(sheet)
        return () if runs is None else sorted({int(index) for index in runs})

    def _find_base_runs(self, sheet: MeasurementSheet) -> NDArray[np.int64] | None:
        """Row number of the run that each row's prediction starts from; None for models without such runs."""
        return None

    def columns_used(self, sheet: MeasurementSheet) -> Iterable[str]:
        """Names of the columns that a prediction depends on."""
        return self.needs

    def interval(
        self, sheet: MeasurementSheet, confidence: float
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
        """Lower and upper ends of the prediction intervals; None for models without."""
        return None

    def findings(self) -> tuple[Table, ...]:
        """Tables of what was learnt."""
        return ()

    def constants(self) -> tuple[Constant, ...]:
        """Learnt numbers that can be parameters of an Aspen model; none for trees."""
        return ()

    # -- common ----------------------------------------------------------------------------------

    def sheet(self, data: Data, columns: Mapping[str, str] | None = None) -> MeasurementSheet:
        """The sheet of measurements, known columns under their standard names."""
        return recognise_columns(read_measurements(data, columns))

    def drop_unmeasured(self, sheet: MeasurementSheet) -> MeasurementSheet:
        """The rows in which the target was measured; a warning names the others."""
        require_columns(sheet, [self.target], f"`{self.kind}`")
        blank = [row[self.target] for row in sheet.rows if is_blank(row[self.target])]
        if not blank:
            return sheet
        self.notes += (warn_rows_left_out(self.target, blank),)
        return sheet.rows_at(index for index, row in enumerate(sheet.rows) if not is_blank(row[self.target]))

    def require_fitted(self) -> Training:
        if self.training is None:
            fail("not-fitted", f"this `{self.kind}` model has not learnt anything yet", hint="call `fit` first")
        return self.training

    def warn_outside_training(self, sheet: MeasurementSheet) -> tuple[Diagnostic, ...]:
        """Warnings of columns whose values lie outside the training range."""
        warnings = []
        for name, low, high in self.require_fitted().ranges:
            if name not in sheet.names or not is_numeric(sheet, name):
                continue
            numbers = read_numbers(sheet, name)
            beyond = (numbers < low * (1 - 1e-6)) | (numbers > high * (1 + 1e-6))
            if beyond.any():
                unit = unit_symbol(KNOWN[name].dimension) if name in KNOWN else ""
                ends = f"{format_quantity(low, unit)} .. {format_quantity(high, unit)}"
                worst = numbers[beyond][0]
                message = f"`{name}` is outside the training range {ends} in {int(beyond.sum())} of {len(numbers)} rows"
                warnings.append(
                    warning("outside-training", message, hint=f"such as {format_quantity(float(worst), unit)}")
                )
        return tuple(warnings)


def warn_rows_left_out(name: str, cells: Sequence[Cell]) -> Diagnostic:
    """The warning that names the rows in which a column is blank."""
    lines = ", ".join(str(cell.row) for cell in cells[:10]) + (", ..." if len(cells) > 10 else "")
    message = f"{count_noun(len(cells), 'row')} without a measured {name} left out: {lines}"
    return warning("no-target", message, cells[0].span)


def data_hash(sheet: MeasurementSheet) -> str:
    """SHA-256 of a sheet's headings and cells."""
    digest = hashlib.sha256("\x1f".join(f"{item.name} [{item.unit}]" for item in sheet.headings).encode())
    for row in sheet.rows:
        digest.update(("\x1e" + "\x1f".join(str(row[name].value) for name in sheet.names)).encode())
    return digest.hexdigest()


def set_column(sheet: MeasurementSheet, name: str, values: ArrayLike) -> MeasurementSheet:
    """The sheet with a column of values in base units, which replaces one of that name."""
    import numpy as np

    given = np.asarray(values, float)
    if given.shape != (len(sheet.rows),):
        fail("wrong-length", f"y has the shape {given.shape}, for {len(sheet.rows)} rows")
    others = tuple(heading for heading in sheet.headings if heading.name != name)
    rows = tuple(
        row | {name: Cell(float(value), number)}
        for number, (row, value) in enumerate(zip(sheet.rows, given, strict=True), 1)
    )
    return sheet._replace(headings=(*others, Heading(name, None)), rows=rows)
