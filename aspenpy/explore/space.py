"""Space: quantities of predictions over variables, machines and sockets among them, at many points at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import TypeVar

import numpy

from aspenpy.allowance import allowance, part_of_allowance
from aspenpy.answers.case import Case
from aspenpy.answers.prediction import Prediction
from aspenpy.engine.arrays import Floats
from aspenpy.explore.variable import CASES, Variable, case_variable, read_variable
from aspenpy.expr import graph
from aspenpy.expr.evaluate import EvaluationError
from aspenpy.expr.failures import TooMuchWork
from aspenpy.expr.graph import Expr
from aspenpy.language.axis import Axis, parse_axis
from aspenpy.language.diagnostics import AspenError, fail
from aspenpy.language.dimensions import unit_symbol as symbol_of
from aspenpy.models.library import load_machine
from aspenpy.models.machine.model import Machine
from aspenpy.record import Record
from aspenpy.sweeps.declarations import parameter_dimension
from aspenpy.sweeps.points import Formulas
from aspenpy.sweeps.run import STRETCH
from aspenpy.sweeps.work import Worker, WorkerTask

BY_EXACT_RULES = 4096
"""Combinations up to which points are computed by the exact rules; more as a sweep: a layout of `transformer_training`
takes 300 us by the former, a few by the latter, where rounding has to be settled or a value does not exist."""

SURE = 0.7  # of what a study may take by its first points, from which the others differ
POINTS_TRIED = 256  # at once, to find one without a value
Quantity = Callable[[Prediction], Expr]  # of a prediction, in the symbols of its models


Size = TypeVar("Size")
Evaluator = Callable[[Floats], Floats]  # of points, a row each; a row of values for each quantity


def most_affordable(
    sizes: Sequence[Size], evaluate: Evaluator, points_of: Callable[[Size], Floats], share: float = 1.0
) -> Size:
    """The largest of some sizes of a study, the largest first, for whose points a share of the operations that the
    command has left will do: the points of the last, the smallest, tell what one takes."""
    points, given = points_of(sizes[-1]), allowance()
    with part_of_allowance() as tried:
        evaluate(points)
    if tried.exceeded:
        return sizes[-1]
    most = SURE * share * len(points) * given.left / tried.spent if tried.spent else numpy.inf
    return next((size for size in sizes if len(points_of(size)) <= most), sizes[-1])


def fewer_note(taken: str, usual: int) -> str:
    """The sentence of a study that takes less than it usually does."""
    return f"{taken}, {usual:,} where the work of one command allows it: vary fewer parameters, --vary NAME,..."


class Skipped(Record):
    """Points that were left out because they have no value: `count` of `total`, and why the first has none."""

    count: int
    total: int
    reason: str


class Space:
    """Variables, and a prediction for each combination of those that are no parameters (`cases`, the last of them the
    fastest). A point is a row of values, one a variable; of machines and sockets the place among the choices."""

    def __init__(self, variables: Sequence[Variable], cases: Sequence[Prediction]) -> None:
        self.variables, self.cases = tuple(variables), tuple(cases)
        if not self.variables:
            fail("nothing-varies", "no parameter to vary", hint="name parameters, such as --vary n=1..100")
        names = [item.name for item in variables]
        for name in names:
            if names.count(name) > 1:
                fail("bad-variable", f"`{name}` is varied twice")

    @property
    def parameters(self) -> list[Variable]:
        return [item for item in self.variables if not self._is_case(item)]

    @property
    def base(self) -> Floats:
        """The point where nothing is varied."""
        return numpy.array([item.base for item in self.variables])

    def case(self, point: Floats) -> Prediction:
        """The prediction that a point belongs to."""
        return self.cases[int(self._numbers(point[None, :])[0])]

    def formulas(self, prediction: Prediction, quantities: Sequence[Quantity]) -> tuple[list[Expr], list[Expr]]:
        """Quantities of a case in the symbols of the parameters, and those symbols. A parameter that only another
        case has changes nothing here."""
        names = [item.name for item in self.parameters]
        known = [name for name in names if _has_name(prediction, name)]
        exprs = prediction.scope.formulas([quantity(prediction) for quantity in quantities], known)
        here = {name: prediction.scope.symbol(name) for name in known}
        prediction.scope.require_known(exprs, {*here.values()})
        return exprs, [here[name] if name in here else graph.symbol(name, "elsewhere") for name in names]

    def evaluator(self, quantities: Sequence[Quantity], *, missing: bool = False) -> Evaluator:
        """A function of points (a row each) that gives a row for each quantity. Raises AspenError where there is no
        value, or with `missing` has nan there."""
        compiled = []
        for prediction in self.cases:
            exprs, symbols = self.formulas(prediction, quantities)
            compiled.append((prediction, Formulas(exprs, symbols, prediction.seed)))
        places = [index for index, item in enumerate(self.variables) if not self._is_case(item)]

        def values(points: Floats) -> Floats:
            numbers = self._numbers(points)
            found = numpy.empty((len(quantities), len(points)))
            for number, (prediction, formulas) in enumerate(compiled):
                rows = numpy.flatnonzero(numbers == number) if len(compiled) > 1 else slice(None)
                with prediction.scope.locate_failures():
                    try:
                        found[:, rows] = formulas(points[rows][:, places], missing=missing)
                    except TooMuchWork:  # none of the points is to blame
                        raise
                    except EvaluationError:
                        row, error = _first_failing(formulas, points[rows][:, places])
                        named = zip(self.parameters, row, strict=True)
                        where = ", ".join(f"{item.name} = {item.in_words(value)}" for item, value in named)
                        with prediction.scope.locate_failures(f"at {where}" if where else ""):
                            raise error from None
            return found

        return values

    def at_all_combinations(self, quantities: Sequence[Quantity], points: Floats) -> Floats:
        """A row for each quantity at `points`, which are all combinations of values, the last variable the fastest;
        nan where there is no value."""
        if len(points) <= BY_EXACT_RULES:
            return self.evaluator(quantities, missing=True)(points)
        sizes = [len(item.values) for item in self.variables]
        columns = tuple(enumerate(item.values for item in self.parameters))
        numbers = [size for item, size in zip(self.variables, sizes, strict=True) if self._is_case(item)]
        found = numpy.empty((len(quantities), *sizes))
        for number, prediction in enumerate(self.cases):
            choices = iter(numpy.unravel_index(number, numbers or [1]))
            place = tuple(next(choices) if self._is_case(item) else slice(None) for item in self.variables)
            of_case = found[:, *place]
            exprs, symbols = self.formulas(prediction, quantities)
            about = (tuple(exprs),), tuple(symbols), columns, of_case.shape[1:], prediction.seed, "numpy"
            worker = Worker(WorkerTask(*about, STRETCH, allowance().left))
            values = numpy.empty((len(quantities), of_case[0].size))
            with prediction.scope.locate_failures():
                worker.fill(values)
            of_case[...] = values.reshape(of_case.shape)
        return found.reshape(len(quantities), -1)

    def note_skipped(self, quantity: Quantity, points: Floats, values: Floats) -> Skipped | None:
        """A note on the points whose value is nan; None where there are none."""
        missing = numpy.flatnonzero(numpy.isnan(values))
        if not len(missing):
            return None
        try:
            self.evaluator([quantity])(points[missing[:1]])
        except AspenError as error:
            return Skipped(len(missing), len(values), _describe_error(error))
        raise AssertionError("a point without a value has one")

    def values_at(self, point: Floats) -> dict[str, float | str]:
        """A point by name; choices that have labels by those."""
        return {item.name: item.label_value(value) for item, value in zip(self.variables, point, strict=True)}

    def unit(self, item: Variable) -> str:
        """Unit of a variable; empty for a plain number, a machine or a socket."""
        knowing = [] if self._is_case(item) else [case for case in self.cases if _has_name(case, item.name)]
        dimension = parameter_dimension(item.name, knowing[0]) if knowing else None
        return "" if dimension is None else symbol_of(dimension)

    def _is_case(self, item: Variable) -> bool:
        return item.case

    def _numbers(self, points: Floats) -> Floats:
        numbers = numpy.zeros(len(points))
        for index, item in enumerate(self.variables):
            if self._is_case(item):
                numbers = numbers * len(item.choices) + points[:, index]
        return numbers


def _describe_error(error: AspenError) -> str:
    """An error in one line, the point first."""
    first = error.diagnostics[0]
    return ": ".join([*first.parents, first.message])


def _first_failing(formulas: Formulas, points: Floats) -> tuple[Floats, EvaluationError]:
    """The first of points, one of which has no value, and why it has none."""
    for start in range(0, len(points), POINTS_TRIED):
        some = points[start : start + POINTS_TRIED]
        try:
            formulas(some)
        except EvaluationError:
            for row in some:
                try:
                    formulas(row[None, :])
                except EvaluationError as error:
                    return row, error
    raise AssertionError("none of the points fails by itself")


def _has_name(prediction: Prediction, name: str) -> bool:
    try:
        prediction.scope.symbol(name)
    except AspenError as error:
        if error.diagnostics[0].code == "ambiguous-parameter":
            raise
        return False
    return True


Varied = str | Variable | Sequence[str | Variable]  # what varies: one text or variable, or several


def make_space(case: Case, vary: Varied, load: Callable[[str], Machine] = load_machine) -> Space:
    """The space of what a user lets vary: texts such as `n=1..100` (see `variable`), or variables.

    The case's machine and socket hold unless they are varied; `load` gives a machine its name stands for.
    """
    varied = [vary] if isinstance(vary, str | Variable) else vary
    asked = [parse_axis(item, "<--vary>") if isinstance(item, str) else item for item in varied]
    for item in asked:
        if item.name in case.set:
            fail("bad-variable", f"`{item.name}` is set to a value and varied", hint="leave one of the two")
    listed = {item.name: case_variable(item) for item in asked if isinstance(item, Axis) and item.name in CASES}
    cases = {name: item.labels for name, item in listed.items()}
    choices = product(*(list(map(load, labels)) if name == "machine" else labels for name, labels in cases.items()))
    predictions = [Prediction(case.changed(**dict(zip(cases, choice, strict=True)))) for choice in choices]
    variables = [
        item if isinstance(item, Variable) else listed.get(item.name) or _read_parameter(item, predictions)
        for item in asked
    ]
    return Space(variables, predictions)


def _read_parameter(axis: Axis, predictions: Sequence[Prediction]) -> Variable:
    """Read by the first case that has it."""
    knowing = [item for item in predictions if _has_name(item, axis.name)]
    return read_variable(axis, (knowing or list(predictions))[0])
