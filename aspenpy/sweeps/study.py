"""Study: what is to be swept, before anything is computed: cases, a grid of points, metrics as formulas."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache
from hashlib import sha256
from math import isfinite, prod
from typing import Any

import numpy

from aspenpy.answers.case import Case
from aspenpy.answers.counted_elsewhere import CODE
from aspenpy.answers.metrics import find_metric
from aspenpy.answers.prediction import Prediction
from aspenpy.cost.placement_options import MACHINES_OWN
from aspenpy.engine.arrays import Floats
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.language.diagnostics import AspenError, Diagnostic, fail, warning
from aspenpy.models.model import parameters_with_range, range_warning
from aspenpy.models.units import unit_of_parameter
from aspenpy.record import Record
from aspenpy.sweeps.points import python_number, warn_of_cap

MOST_LOOKED_AT = 33  # points of a case at which its power cap is looked at

AXIS = "axis"  # owner of the symbols that stand for the values of axes


def case_label(case: Case, category: str) -> str:
    """The name of a case along an axis: its application, machine, socket or kernel."""
    names = {"app": case.application.name, "machine": case.required_machine.name}
    return names[category] if category in names else str(getattr(case, category))


class GridDimension(Record):
    """A direction of the grid, with the values that one or several parameters take along it."""

    name: str
    columns: Mapping[str, Floats]

    @property
    def size(self) -> int:
        return len(next(iter(self.columns.values())))


class Categories(Record):
    """A direction of the grid along something that is no number."""

    name: str
    labels: tuple[str, ...]

    @property
    def size(self) -> int:
        return len(self.labels)


class Study:
    """Points are numbered case by case; within a case by the dimensions, the last of which is the fastest. In all cases
    the same is set."""

    def __init__(
        self,
        cases: Sequence[Case],
        categories: Sequence[Categories],
        dimensions: Sequence[GridDimension],
        *,
        metrics: Sequence[str] = ("runtime",),
    ) -> None:
        self.cases, self.categories, self.dimensions = tuple(cases), tuple(categories), tuple(dimensions)
        self.metrics = {name: find_metric(name) for name in metrics}
        first = self.cases[0]
        self.set, self.seed, self.overlap = first.set, first.seed, first.overlap
        self.columns = {
            name: (index, values)
            for index, dimension in enumerate(self.dimensions)
            for name, values in dimension.columns.items()
        }
        self.ends = {name: _ends(name, values) for name, (_, values) in self.columns.items()}
        self.inputs = tuple(
            graph.symbol(name, graph.FROM_ZERO if low >= 0 else AXIS) for name, (low, _) in self.ends.items()
        )

    @cached_property
    def units(self) -> dict[str, str]:
        """The base units of the metrics, empty for plain numbers, and of the axes that have one."""
        first = self.cases[0]
        axes = {name: unit_of_parameter(name, first.application, first.required_machine) for name in self.columns}
        known = {name: unit for name, unit in axes.items() if unit}
        return known | {name: metric.unit for name, metric in self.metrics.items()}

    @property
    def directions(self) -> tuple[Categories | GridDimension, ...]:
        """The directions of the results: categories, then dimensions."""
        return (*self.categories, *self.dimensions)

    @property
    def grid(self) -> tuple[int, ...]:
        """Sizes of the dimensions of one case."""
        return tuple(dimension.size for dimension in self.dimensions)

    @property
    def shape(self) -> tuple[int, ...]:
        """Sizes of the directions of the results."""
        return (*(category.size for category in self.categories), *self.grid)

    @property
    def points_of_case(self) -> int:
        return prod(self.grid)

    @property
    def points(self) -> int:
        return len(self.cases) * self.points_of_case

    @property
    def result_bytes(self) -> int:
        """A float64 a metric and a byte for the reason, at each point, and a float64 for each value of an axis."""
        axes = sum(dimension.size * len(dimension.columns) for dimension in self.dimensions)
        return 8 * axes + self.points * (8 * len(self.metrics) + 1)

    # -- formulas --------------------------------------------------------------------------------

    @cached_property
    def _lowered_cases(self) -> tuple[tuple[Prediction, tuple[Expr, ...]], ...]:
        axes = dict(zip(self.columns, self.inputs, strict=True))
        return tuple(_lower_metrics(case.with_set(axes), tuple(self.metrics), self.inputs) for case in self.cases)

    @property
    def predictions(self) -> tuple[Prediction, ...]:
        """A prediction per case, with the axes as undefined symbols."""
        return tuple(prediction for prediction, _ in self._lowered_cases)

    @property
    def formulas(self) -> tuple[tuple[Expr, ...], ...]:
        """The metrics of each case as formulas in the symbols of the axes."""
        return tuple(formulas for _, formulas in self._lowered_cases)

    # -- points ----------------------------------------------------------------------------------

    def point(self, number: int) -> dict[str, Any]:
        """Labels and values of the axes at a point, by name."""
        case, place = divmod(number, self.points_of_case)
        axes: dict[str, Any] = {item.name: case_label(self.cases[case], item.name) for item in self.categories}
        for dimension, index in zip(self.dimensions, numpy.unravel_index(place, self.grid or (1,)), strict=False):
            axes |= {name: python_number(values[index]) for name, values in dimension.columns.items()}
        return axes

    def prediction_at(self, number: int) -> Prediction:
        """The prediction of a point, in exact arithmetic."""
        case = self.cases[number // self.points_of_case]
        values = {name: value for name, value in self.point(number).items() if name in self.columns}
        return Prediction(case.with_set(values))

    def failure(self, number: int) -> AspenError | None:
        """The error that exact arithmetic raises at a point; None where it has a value."""
        try:
            prediction = self.prediction_at(number)
            exact = prediction.scope.values([metric.expr(prediction) for metric in self.metrics.values()], self.seed)
            [float(value) for value in exact]
        except AspenError as error:
            return error
        except OverflowError:
            return AspenError(Diagnostic("overflow", "the value is too large for a floating-point number"))
        return None

    # -- what is said about it -------------------------------------------------------------------

    @cached_property
    def model_hash(self) -> str:
        """SHA-256 of the models' texts, imported ones included, with all that was set."""
        digest = sha256()
        for case in self.cases:
            texts = [*(model.to_aspen() for model in case.application.all_models()), case.required_machine.to_aspen()]
            ranks = [repr(case.placement)] if case.placement != MACHINES_OWN else []
            for text in (*texts, str(case.socket), case.kernel, *ranks):
                digest.update(text.encode() + b"\0")
        digest.update(repr((sorted((name, str(value)) for name, value in self.set.items()), self.seed)).encode())
        digest.update(repr((list(self.metrics), self.overlap)).encode())
        return digest.hexdigest()

    @cached_property
    def axes_hash(self) -> str:
        """SHA-256 of the names and values of all axes."""
        digest = sha256(repr([(item.name, item.labels) for item in self.categories]).encode())
        for name, (index, values) in self.columns.items():
            digest.update(repr((name, index, len(values))).encode())
            digest.update(numpy.ascontiguousarray(values).data)
        return digest.hexdigest()

    @cached_property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Warnings: those of the models, axes beyond declared ranges, axes that change nothing."""
        warnings: list[Diagnostic] = []
        for prediction in self.predictions:
            warnings += prediction.tree.warnings
            warnings += self._find_waste(prediction)
            warnings += self._cap_warnings(prediction)
            warnings += self._warn_outside_ranges(prediction)
        used = frozenset[Expr]().union(*(graph.free_symbols(formula) for case in self.formulas for formula in case))
        for name, symbol in zip(self.columns, self.inputs, strict=True):
            if symbol not in used:
                message = f"nothing that is asked for depends on `{name}`"
                warnings.append(warning("no-effect", message))
        return tuple(dict.fromkeys(warnings))

    def _find_waste(self, prediction: Prediction) -> list[Diagnostic]:
        """Warnings of values that hold at both ends of all axes together, and of counts that do not follow one end."""
        first, last = (
            Prediction(prediction.case.with_set({name: python_number(ends[side]) for name, ends in self.ends.items()}))
            for side in (0, 1)
        )
        codes = {item.code for item in last.warnings_of_values}
        stale = [item for end in (last, first) for item in end.warnings_of_values if item.code == CODE][:1]
        return stale + [item for item in first.warnings_of_values if item.code in codes - {CODE}]

    def _cap_warnings(self, prediction: Prediction) -> list[Diagnostic]:
        """A warning where a power cap makes the run longer than its runtime at some of the points, of which some
        are looked at, both ends among them."""
        if "runtime" not in self.metrics or prediction.stated_cap is None:
            return []
        looked_at = sorted({round(index) for index in numpy.linspace(0, self.points_of_case - 1, MOST_LOOKED_AT)})
        points = [self.point(index) for index in looked_at]
        rows = [[float(point[name]) for name in self.columns] for point in points]
        labels = [", ".join(f"{name} = {point[name]:.6g}" for name in self.columns) for point in points]
        return warn_of_cap(prediction, self.inputs, rows, labels)

    def _warn_outside_ranges(self, prediction: Prediction) -> list[Diagnostic]:
        warnings = []
        parameters = [*prediction.application.parameters.values(), *prediction.machine.parameters]
        for parameter, (_, low, high) in parameters_with_range(parameters):
            for name, values in self.ends.items():
                if prediction.scope.symbol(name) is not parameter.symbol:
                    continue
                try:
                    ends = prediction.scope.values([low, high], self.seed)
                except AspenError:
                    continue  # the ends of its range depend on an axis
                for value in values:
                    warnings.append(range_warning(parameter, python_number(value), *ends))
        return [item for item in warnings if item is not None]


def _ends(name: str, values: Floats) -> tuple[float, float]:
    """The least and the greatest value of an axis; raises AspenError where one is not finite."""
    ends = float(values.min()), float(values.max())
    if not all(map(isfinite, ends)):  # of values with a nan both are nan
        fail("bad-value", f"`{name}` cannot be nan or infinite: the values of an axis are finite numbers")
    return ends


@lru_cache(maxsize=32)
def _lower_metrics(
    case: Case, metrics: tuple[str, ...], inputs: tuple[Expr, ...]
) -> tuple[Prediction, tuple[Expr, ...]]:
    """The prediction of a case and its metrics, as formulas in the symbols of the axes. The formulas of the last cases
    are kept: another sweep over the same axes need not make them again."""
    prediction = Prediction(case)
    formulas = prediction.scope.formulas([find_metric(name).expr(prediction) for name in metrics])
    prediction.scope.require_known(formulas, inputs)
    return prediction, tuple(formulas)
