"""Study: what is to be swept, before anything is computed: cases, a grid of points, metrics as formulas."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from hashlib import sha256
from itertools import product
from math import prod
from typing import Any

import numpy

from aspenpy.application.model import Application
from aspenpy.application.ranges import range_warning, ranged
from aspenpy.diagnostics import AspenError, Diagnostic, fail
from aspenpy.engine.arrays import Floats
from aspenpy.expr import graph
from aspenpy.expr.evaluate import EvaluationError
from aspenpy.expr.graph import Expr
from aspenpy.machine.model import Machine
from aspenpy.mapping.mapper import map_application
from aspenpy.metrics import metric
from aspenpy.prediction import Prediction
from aspenpy.record import Record
from aspenpy.scope import DEFAULT_SEED, Setting
from aspenpy.units import unit_of_parameter

AXIS = "axis"
"""Owner of the symbols that stand for the values of axes."""


class Case(Record):
    """One of the combinations of what is no number."""

    application: Application
    machine: Machine
    socket: str | None
    kernel: str

    def label(self, category: str) -> str:
        """What this case is in the terms of an axis."""
        names = {"app": self.application.name, "machine": self.machine.name, "kernel": self.kernel}
        return names[category] if category in names else str(self.socket)


class Dimension(Record):
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
    """Points are numbered case by case; within a case by the dimensions, the last of which is the fastest."""

    def __init__(
        self,
        cases: Sequence[Case],
        categories: Sequence[Categories],
        dimensions: Sequence[Dimension],
        *,
        metrics: Sequence[str] = ("runtime",),
        set: Mapping[str, Setting] | None = None,
        seed: int = DEFAULT_SEED,
        overlap: bool = False,
    ) -> None:
        self.cases, self.categories, self.dimensions = tuple(cases), tuple(categories), tuple(dimensions)
        self.metrics = {name: metric(name) for name in metrics}
        self.set, self.seed, self.overlap = dict(set or {}), seed, overlap
        self.columns = {
            name: (place, values)
            for place, dimension in enumerate(self.dimensions)
            for name, values in dimension.columns.items()
        }
        self.inputs = tuple(graph.symbol(name, AXIS) for name in self.columns)
        for name, (_, values) in self.columns.items():
            if not numpy.isfinite(values.sum()) and not numpy.isfinite(values).all():
                fail("bad-value", f"`{name}` cannot be nan or infinite: the values of an axis are finite numbers")

    @cached_property
    def units(self) -> dict[str, str]:
        """The base units of the metrics, empty for plain numbers, and of the axes that have one."""
        first = self.cases[0]
        axes = {name: unit_of_parameter(name, first.application, first.machine) for name in self.columns}
        known = {name: unit for name, unit in axes.items() if unit}
        return known | {name: metric.unit for name, metric in self.metrics.items()}

    @property
    def directions(self) -> tuple[Categories | Dimension, ...]:
        """Of the results."""
        return (*self.categories, *self.dimensions)

    @property
    def grid(self) -> tuple[int, ...]:
        """Sizes of the dimensions of one case."""
        return tuple(dimension.size for dimension in self.dimensions)

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the results: categories, then dimensions."""
        return (*(category.size for category in self.categories), *self.grid)

    @property
    def points_of_case(self) -> int:
        return prod(self.grid)

    @property
    def points(self) -> int:
        return len(self.cases) * self.points_of_case

    # -- formulas --------------------------------------------------------------------------------

    @cached_property
    def predictions(self) -> tuple[Prediction, ...]:
        """Of each case, the axes as symbols that nobody defines."""
        axes = dict(zip(self.columns, self.inputs, strict=True))
        return tuple(self._prediction(case, {**self.set, **axes}) for case in self.cases)

    def _prediction(self, case: Case, settings: Mapping[str, Setting]) -> Prediction:
        tree = map_application(
            case.application, case.machine, socket=case.socket, kernel=case.kernel, overlap=self.overlap
        )
        return Prediction(tree, settings, self.seed)

    @cached_property
    def formulas(self) -> tuple[tuple[Expr, ...], ...]:
        """Of each case the metrics in the symbols of the axes."""
        return tuple(self._formulas(prediction) for prediction in self.predictions)

    def _formulas(self, prediction: Prediction) -> tuple[Expr, ...]:
        exprs = [metric.expr(prediction) for metric in self.metrics.values()]
        found = prediction.scope.formulas(exprs)
        for formula in found:
            for symbol in sorted(graph.free_symbols(formula), key=lambda symbol: symbol.serial):
                if symbol not in self.inputs:
                    raise prediction.scope.located(EvaluationError(symbol, f"no value for `{symbol.payload[0]}`"))
        return tuple(found)

    # -- points ----------------------------------------------------------------------------------

    def point(self, number: int) -> dict[str, Any]:
        """What the axes are at a point: labels and values by name."""
        case, place = divmod(number, self.points_of_case)
        found: dict[str, Any] = {item.name: self.cases[case].label(item.name) for item in self.categories}
        for dimension, index in zip(self.dimensions, numpy.unravel_index(place, self.grid or (1,)), strict=False):
            found |= {name: _plain(values[index]) for name, values in dimension.columns.items()}
        return found

    def failure(self, number: int) -> AspenError | None:
        """What the exact rules say of a point; None if it has a value for them."""
        case = self.cases[number // self.points_of_case]
        values = {name: value for name, value in self.point(number).items() if name in self.columns}
        try:
            prediction = self._prediction(case, {**self.set, **values})
            found = prediction.scope.values([metric.expr(prediction) for metric in self.metrics.values()], self.seed)
            [float(value) for value in found]
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
            texts = [*(model.to_aspen() for model in _models(case.application)), case.machine.to_aspen()]
            for text in (*texts, str(case.socket), case.kernel):
                digest.update(text.encode() + b"\0")
        digest.update(repr((sorted((name, str(value)) for name, value in self.set.items()), self.seed)).encode())
        digest.update(repr((list(self.metrics), self.overlap)).encode())
        return digest.hexdigest()

    @cached_property
    def axes_hash(self) -> str:
        """SHA-256 of the names and values of all axes."""
        digest = sha256(repr([(item.name, item.labels) for item in self.categories]).encode())
        for name, (place, values) in self.columns.items():
            digest.update(repr((name, place, len(values))).encode())
            digest.update(numpy.ascontiguousarray(values).data)
        return digest.hexdigest()

    @cached_property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Warnings: those of the models, axes beyond declared ranges, axes that change nothing."""
        found: list[Diagnostic] = []
        for prediction in self.predictions:
            found += prediction.tree.warnings
            found += self._outside_ranges(prediction)
        used = frozenset[Expr]().union(*(graph.free_symbols(formula) for case in self.formulas for formula in case))
        for name, symbol in zip(self.columns, self.inputs, strict=True):
            if symbol not in used:
                message = f"nothing that is asked for depends on `{name}`"
                found.append(Diagnostic("no-effect", message, severity="warning"))
        return tuple(dict.fromkeys(found))

    def _outside_ranges(self, prediction: Prediction) -> list[Diagnostic]:
        found = []
        parameters = [*prediction.application.parameters.values(), *prediction.machine.parameters]
        for parameter, (_, low, high) in ranged(parameters):
            for name, (_, values) in self.columns.items():
                if prediction.scope.symbol(name) is not parameter.symbol:
                    continue
                try:
                    ends = prediction.scope.values([low, high], self.seed)
                except AspenError:
                    continue  # the ends of its range depend on an axis
                for value in (values.min(), values.max()):
                    found.append(range_warning(parameter, _plain(value), *ends))
        return [warning for warning in found if warning is not None]


def _plain(value: Any) -> int | float:
    """Python's own number; whole ones as int, for the exact rules."""
    number = float(value)
    return int(number) if number.is_integer() and abs(number) < 2**53 else number


def _models(application: Application) -> list[Application]:
    return [application, *(found for model in application.models() for found in _models(model))]


def combinations(
    applications: Sequence[Application],
    machines: Sequence[Machine],
    sockets: Sequence[str | None],
    kernels: Sequence[str],
) -> list[Case]:
    """All cases, in the order of `CATEGORIES`."""
    return [Case(*choice) for choice in product(applications, machines, sockets, kernels)]
