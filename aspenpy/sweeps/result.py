"""Result: metrics over the named dimensions of a sweep, and a summary of them in a few numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

import numpy
from numpy.typing import NDArray

from aspenpy.engine.arrays import Floats, Reasons
from aspenpy.expr.failures import REASONS
from aspenpy.language.diagnostics import require_known
from aspenpy.record import Record
from aspenpy.sweeps.run import STRETCH
from aspenpy.sweeps.study import Study
from aspenpy.sweeps.work import Stretch
from aspenpy.tables.result import Result
from aspenpy.version import VERSION


class NamedArray(Record):
    """Values over named dimensions, in a unit."""

    name: str
    dims: tuple[str, ...]
    values: NDArray[Any]
    unit: str

    @property
    def shape(self) -> tuple[int, ...]:
        return self.values.shape

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return numpy.array(self.values, dtype=dtype, copy=True if copy is None else copy)


class Extreme(Record):
    """The least or the largest value of a metric, and the number of the first point that has it."""

    value: float
    point: int


class Missing(Record):
    """Points without a value for the same reason: how many, and the first of them with what a prediction there says."""

    reason: str
    message: str
    points: int
    first_at: Mapping[str, Any]


class SweepSummary(Result):
    """Counts and extremes of a sweep, taken up stretch by stretch, in any order."""

    def __init__(self, study: Study) -> None:
        self.study = study
        self.points = 0
        self.bad: dict[int, int] = {}
        self.first_bad: dict[int, int] = {}
        self.least: dict[str, Extreme] = {}
        self.largest: dict[str, Extreme] = {}
        self._values: dict[str, Floats] = {}

    def add(self, stretch: Stretch) -> None:
        """Takes a stretch of points into the counts, the extremes, and the reasons of points without values."""
        self.points += stretch.values.shape[1]
        if stretch.reasons is not None:
            for reason, count in enumerate(numpy.bincount(stretch.reasons, minlength=1).tolist()):
                if reason and count:
                    first = stretch.start + int(numpy.flatnonzero(stretch.reasons == reason)[0])
                    self.bad[reason] = self.bad.get(reason, 0) + count
                    self.first_bad[reason] = min(first, self.first_bad.get(reason, first))
        for name, values in zip(self.study.metrics, stretch.values, strict=True):
            if stretch.reasons is None:
                low, high = int(values.argmin()), int(values.argmax())
            elif numpy.isnan(values).all():
                continue
            else:
                low, high = int(numpy.nanargmin(values)), int(numpy.nanargmax(values))
            _keep(self.least, name, Extreme(float(values[low]), stretch.start + low), sign=1)
            _keep(self.largest, name, Extreme(float(values[high]), stretch.start + high), sign=-1)

    def keep(self, name: str, values: Floats) -> None:
        """Keeps all values of a metric, from which its median is computed."""
        self._values[name] = values

    def median(self, name: str) -> float | None:
        """Median of a metric whose values are kept; None for others."""
        return float(numpy.nanmedian(self._values[name])) if name in self._values and name in self.least else None

    @property
    def has_values(self) -> bool:
        """Whether any point has a value."""
        return sum(self.bad.values()) < self.points

    @cached_property
    def missing(self) -> tuple[Missing, ...]:
        """The points without a value, by reason."""
        missing_points = []
        for reason, first in sorted(self.first_bad.items()):
            failure = self.study.failure(first)
            message = REASONS[reason] if failure is None else failure.diagnostics[0].message
            missing_points.append(Missing(REASONS[reason], message, self.bad[reason], self.study.point(first)))
        return tuple(missing_points)


def _keep(extremes: dict[str, Extreme], name: str, new: Extreme, sign: int) -> None:
    old = extremes.get(name)
    if old is None or (sign * new.value, new.point) < (sign * old.value, old.point):
        extremes[name] = new


class SweepResult(Result, Mapping[str, NamedArray]):
    """Metrics by name, each over the dimensions of the sweep; `coords` has the values along them.

    Where a point has no value, the metrics are NaN and `reason` tells why, by a code of `reasons.REASONS`. `values` and
    `reasons` are the arrays that the stretches are put into, in memory if none are given.
    """

    def __init__(self, study: Study, values: Floats | None = None, reasons: Reasons | None = None) -> None:
        values = numpy.empty((len(study.metrics), study.points)) if values is None else values
        reasons = numpy.zeros(study.points, dtype=numpy.uint8) if reasons is None else reasons
        self.dims = {item.name: item.size for item in study.directions}
        names = tuple(self.dims)
        self._metrics = {
            name: NamedArray(name, names, row.reshape(study.shape), metric.unit)
            for (name, metric), row in zip(study.metrics.items(), values, strict=True)
        }
        self.reason = NamedArray("reason", names, reasons.reshape(study.shape), unit="")
        self.coords = axis_coordinates(study)
        self.attrs = attributes_of_study(study)
        self.study = study
        self.all_values, self._reasons = values, reasons

    def add(self, stretch: Stretch) -> None:
        """Takes up a stretch, whose values may already be in their place."""
        here = slice(stretch.start, stretch.start + stretch.values.shape[1])
        if stretch.values.base is not self.all_values:
            self.all_values[:, here] = stretch.values
        if stretch.reasons is not None:
            self._reasons[here] = stretch.reasons

    @cached_property
    def summary(self) -> SweepSummary:
        """Counts and extremes, taken up in parts that need little memory."""
        taken = SweepSummary(self.study)
        for start in range(0, self.study.points, STRETCH):
            here = slice(start, start + STRETCH)
            reasons = self._reasons[here]
            taken.add(Stretch(start, self.all_values[:, here], reasons if reasons.any() else None))
        for name, row in zip(self.study.metrics, self.all_values, strict=True):
            taken.keep(name, row)
        return taken

    @property
    def has_values(self) -> bool:
        """Whether any point has a value."""
        return self.summary.has_values

    def __getitem__(self, name: str) -> NamedArray:
        require_known(name, self._metrics, "unknown-metric", f"the sweep has no metric `{name}`")
        return self._metrics[name]

    def __contains__(self, name: object) -> bool:
        return name in self._metrics

    def __iter__(self) -> Iterator[str]:
        return iter(self._metrics)

    def __len__(self) -> int:
        return len(self._metrics)

    def __repr__(self) -> str:
        sizes = ", ".join(f"{name}: {size}" for name, size in self.dims.items())
        return f"<SweepResult of {', '.join(self)} over ({sizes})>"

    def to_xarray(self) -> Any:
        """An `xarray.Dataset`: a variable a metric with its unit, the axes and the reasons as coordinates."""
        import xarray

        names, units = tuple(self.dims), self.study.units
        codes = " ".join(f"{code}={words.replace(' ', '_')}" for code, words in REASONS.items())
        coords: dict[str, Any] = {
            name: (*along, {"units": units[name]}) if units.get(name) else along for name, along in self.coords.items()
        }
        coords["reason"] = (names, self.reason.values, {"codes": codes})
        metrics = {name: (names, variable.values, {"units": variable.unit}) for name, variable in self.items()}
        return xarray.Dataset(metrics, coords, dict(self.attrs))


def axis_coordinates(study: Study) -> dict[str, tuple[str, NDArray[Any]]]:
    """The dimension of each parameter and category, and its values along it."""
    labels = {item.name: (item.name, numpy.array(item.labels)) for item in study.categories}
    return labels | {
        name: (dimension.name, values) for dimension in study.dimensions for name, values in dimension.columns.items()
    }


def attributes_of_study(study: Study) -> dict[str, str]:
    """Names of the models, settings and hashes of what was swept."""
    names = [(case.application.name, case.required_machine.name, case.kernel) for case in study.cases]
    listed = (", ".join(dict.fromkeys(column)) for column in zip(*names, strict=True))
    asked = study.cases[0].placement
    ranks = [f"{name}={value}" for name in asked._fields if (value := getattr(asked, name)) is not None]
    return {
        **dict(zip(("application", "machine", "kernel"), listed, strict=True)),
        "set": ", ".join(f"{name}={value}" for name, value in study.set.items()),
        **({"ranks": ", ".join(ranks)} if ranks else {}),
        "model_hash": study.model_hash,
        "aspenpy_version": VERSION,
    }
