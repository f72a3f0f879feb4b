"""Responses: what models answer for each measurement, as a function of the parameters that are fitted, with slopes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

from aspenpy.answers.case import Case
from aspenpy.answers.counting import Counts
from aspenpy.answers.prediction import Prediction
from aspenpy.answers.scope import Scope, Value
from aspenpy.engine.python import PreparedExpressions
from aspenpy.expr import graph
from aspenpy.expr.arithmetic import format_number
from aspenpy.expr.derivative import differentiate
from aspenpy.expr.evaluate import EvaluationError, evaluate_many
from aspenpy.expr.graph import Expr
from aspenpy.language.axis import Extent, is_wide
from aspenpy.language.diagnostics import AspenError, Diagnostic, fail
from aspenpy.learn.fitting.measurements import METRIC_DIMENSIONS, Measurement
from aspenpy.learn.measurements.sheet import count_noun
from aspenpy.models.application.model import Application
from aspenpy.models.application.total import Exclusive
from aspenpy.models.machine.model import Machine
from aspenpy.models.model import Parameter
from aspenpy.sweeps.points import replace_staircases


class FitAxis(Extent):
    """A parameter with its range; `start` is the model's own value, or the nearest in the range. With `whole`, it
    takes whole values only, and the ends of its range are whole."""

    name: str
    start: float
    whole: bool = False

    def value(self, place: float) -> float:
        """Value at a place from 0 to 1, clamped to the range."""
        return float(min(max(super().value(place), self.low), self.high)) if self.log else float(super().value(place))

    def place(self, value: float) -> float:
        """Place of a value from 0 to 1; on a logarithmic scale values below the range count as its lower end."""
        return super().place(max(value, self.low) if self.log else value)

    def slope(self, value: float) -> float:
        """Derivative of the value by its place."""
        return value * math.log(self.high / self.low) if self.log else self.high - self.low


def find_moving_parameter(parameter: Parameter, scope: Scope, given: Sequence[str]) -> str | None:
    """First of the parameters `given` on which the ends of the range depend; None if there is none."""
    used = scope.used_parameters([end for end in (parameter.low, parameter.high) if end is not None])
    return next((name.removeprefix("app:") for name in given if scope.symbol(name) in used), None)


def make_axis(parameter: Parameter, scope: Scope, given: Sequence[str], whole: bool = False) -> FitAxis:
    """The axis of a parameter whose range, if it depends on other parameters, depends on none of `given`. Raises
    AspenError."""
    assert parameter.low is not None, parameter.name
    assert parameter.high is not None, parameter.name
    span = parameter.node.name_span
    other = find_moving_parameter(parameter, scope, given)
    if other is not None:
        message = f"the range of `{parameter.name}` moves with `{other}`, which is fitted or measured"
        fail("moving-range", message, span, hint="give it a range of numbers")
    start, low, high = scope.values([parameter.symbol, parameter.low, parameter.high])
    if isinstance(start, tuple):
        fail("not-a-number", f"`{parameter.name}` is an array, and a number is fitted", span)
    if not low < high:
        fail(
            "empty-range",
            f"the range of `{parameter.name}` is empty: {format_number(low)} .. {format_number(high)}",
            span,
        )
    if whole:
        low, high = math.ceil(low), math.floor(high)
        if low > high:
            fail("empty-range", f"there is no whole number in the range of `{parameter.name}`", span)
    low, high = float(low), float(high)
    return FitAxis(
        low, high, is_wide(low, high), name=parameter.name, start=min(max(float(start), low), high), whole=whole
    )


# Hoisting: what an expression computes from fixed symbols alone, taken out of it, to be computed once.


NUMERIC = frozenset({"add", "mul", "neg", "div", "power", "apply", "index", "if_else", "sum", "checked", "draw"})
"""Kinds that are numbers and take work; an `index` of a row of a table is an array, and stays where an array is."""

OPAQUE = frozenset({"sum", "draw", "array", "stream", "index"})
"""Kinds that are moved as a whole or not at all."""

OWNER = "hoisted"


class Hoisted(NamedTuple):
    """An expression with `symbols` in the place of `parts`."""

    expr: Expr
    symbols: tuple[Expr, ...]
    parts: tuple[Expr, ...]


def hoist_constants(expr: Expr, moving: Iterable[Expr]) -> Hoisted:
    """The expression with a symbol in the place of each largest part that depends neither on the moving symbols nor on
    the counter of a sum around it."""
    wanted = frozenset(moving)

    def is_fixed(node: Expr) -> bool:
        free = graph.free_symbols(node)
        return free.isdisjoint(wanted) and not any(graph.is_counter(symbol) for symbol in free)

    opened = [node for node in graph.topological_order(expr) if node.kind not in OPAQUE and not is_fixed(node)]
    used = [arg for node in opened for arg in node.args] + [expr]
    parts = dict.fromkeys(arg for arg in used if arg.kind in NUMERIC and is_fixed(arg))
    symbols = {part: graph.symbol(f"part{number}", OWNER) for number, part in enumerate(parts)}
    result = graph.rewrite([expr], lambda node, args: node if node.kind in OPAQUE else symbols.get(node))[0]
    return Hoisted(result, tuple(symbols.values()), tuple(symbols))


STEP = 1e-6
"""Relative step of a slope by differences, whose error is about the square of the step."""

LARGEST_ERROR = 1e150
"""Largest relative error whose square is still a floating-point number."""


class Responses:
    """The formulas of all that was measured, one for each metric and place."""

    def __init__(self, case: Case, measurements: Sequence[Measurement]) -> None:
        self.case, self.application = case, case.application
        self.measurements = tuple(measurements)
        self.inputs = list(dict.fromkeys(name for item in measurements for name, _ in item.settings))
        self.machines = list(dict.fromkeys(item.machine for item in measurements if item.machine is not None))
        self.parameters = {**case.application.parameters, **collect_machine_parameters(self.machines, case.application)}
        self.formulas: dict[tuple[Any, ...], tuple[Scope, Expr]] = {}
        for item in measurements:
            if formula_key(item) not in self.formulas:
                try:
                    self.formulas[formula_key(item)] = self._build_formula(item)
                except AspenError as error:
                    raise AspenError(
                        *(
                            diagnostic.with_circumstance(f"for {describe_place(item)}")
                            for diagnostic in error.diagnostics
                        )
                    ) from None

    def _build_formula(self, item: Measurement) -> tuple[Scope, Expr]:
        """Scope and formula of a measured metric."""
        case = self.case.changed(machine=item.machine, socket=item.socket)
        if item.metric in METRIC_DIMENSIONS:
            prediction = Prediction(case)
            if item.kernel is not None:
                totals = {**prediction.tree.kernel_totals, **prediction.tree.totals}
                return prediction.scope, totals[Exclusive(item.kernel)]
            return prediction.scope, prediction.metric(item.metric)
        counts = Counts(case)
        return counts.scope, counts.expression(item.metric)

    @property
    def scopes(self) -> list[Scope]:
        return [scope for scope, _ in self.formulas.values()]

    def find_scope(self, name: str) -> Scope:
        """A scope in which a parameter is defined; a machine's parameters are in its own scopes only."""
        symbol = self.parameters[name].symbol
        return next((scope for scope in self.scopes if symbol in scope.definitions), self.scopes[0])

    def qualify_name(self, name: str) -> str:
        """The name of a parameter as a scope takes it where both models have one of that name."""
        return f"app:{name}" if f"machine:{name}" in self.parameters else name

    def is_dependent_on(self, name: str) -> bool:
        """Whether anything that was measured depends on a parameter."""
        symbol = self.parameters[name].symbol
        return any(symbol in scope.used_parameters([expr]) for scope, expr in self.formulas.values())

    def find_conflicting_machines(self, name: str) -> list[Machine]:
        """The machines that declare a parameter, if they give it different values or ranges."""
        symbol = self.parameters[name].symbol
        declared = [
            (machine, item.node) for machine in self.machines for item in machine.parameters if item.symbol is symbol
        ]
        return [machine for machine, _ in declared] if any(node != declared[0][1] for _, node in declared) else []

    def errors(self, axes: Sequence[FitAxis]) -> Errors:
        """The relative errors as a function of the values on some axes."""
        names = {self.qualify_name(axis.name): self.parameters[axis.name].symbol for axis in axes}
        curves = {key: Curve(*formula, names, self.inputs, self.case.seed) for key, formula in self.formulas.items()}
        return Errors(axes, [(curves[formula_key(item)], item) for item in self.measurements])


def collect_machine_parameters(machines: Sequence[Machine], application: Application) -> dict[str, Parameter]:
    """Parameters of the machines under the names by which users set them; the first where names repeat."""
    parameters: dict[str, Parameter] = {}
    for machine in machines:
        for item in machine.parameters:
            name = f"machine:{item.name}" if item.name in application.parameters else item.name
            parameters.setdefault(name, item.replace(name=name))
    return parameters


def formula_key(item: Measurement) -> tuple[Any, ...]:
    """Key of a measurement's formula: metric, kernel, machine, socket."""
    return item.metric, item.kernel, id(item.machine), item.socket


def describe_place(item: Measurement) -> str:
    """The place of a measurement in its file, in words."""
    if item.kernel is not None:
        return f"the time of kernel `{item.kernel}` in the profile"
    return f"the measurement at {item.span}" if item.span is not None else f"row {item.row} of the measurements"


class Curve:
    """One formula, compiled: its value and its slopes by the fitted parameters.

    What a row fixes is computed once for it (`constants`); where some of that has no value, as in a branch that is not
    taken, the whole formula is evaluated each time.
    """

    def __init__(self, scope: Scope, expr: Expr, names: Mapping[str, Expr], inputs: Sequence[str], seed: int) -> None:
        self.scope, self.seed = scope, seed
        fitted = list(names.values())
        self.inputs = [scope.symbol(name) for name in inputs]
        self.symbols = [*fitted, *self.inputs]
        here = [name for name, symbol in names.items() if symbol in scope.definitions]
        self.formula = scope.formulas([expr], [*here, *inputs])[0]
        self.hoisted = hoist_constants(self.formula, fitted)
        ramp = replace_steps(self.hoisted.expr, fitted)
        self.has_steps = ramp is not self.hoisted.expr
        slopes = [try_derivative(drop_checks(ramp), symbol) for symbol in fitted]
        self.linear = not self.has_steps and all(
            slope is not None and graph.free_symbols(slope).isdisjoint(fitted) for slope in slopes
        )
        free = [*self.symbols, *self.hoisted.symbols]
        self.value = PreparedExpressions([self.hoisted.expr], free, seed)
        self.slopes = [None if slope is None else PreparedExpressions([slope], free, seed) for slope in slopes]

    @cached_property
    def full_formula(self) -> PreparedExpressions:
        """The whole formula, compiled without hoisted constants."""
        return PreparedExpressions([self.formula], self.symbols, self.seed)

    def constants(self, inputs: Sequence[Value]) -> list[Any] | None:
        """The inputs of a row and what they fix; None where some of it has no value."""
        try:
            bindings = dict(zip(self.inputs, inputs, strict=True))
            parts = evaluate_many(self.hoisted.parts, bindings, self.seed)
            return [*inputs, *(float(part) if isinstance(part, Fraction) else part for part in parts)]
        except (EvaluationError, OverflowError):
            return None


def drop_checks(expr: Expr) -> Expr:
    """The expression without the laws that its parts must obey: they change no value, and so no slope."""
    return graph.rewrite([expr], lambda node, args: args[0] if node.kind == "checked" else None)[0]


def try_derivative(expr: Expr, symbol: Expr) -> Expr | None:
    """Derivative of an expression; None where there is none in closed form."""
    try:
        return differentiate(expr, symbol)
    except ValueError:
        return None


def replace_steps(expr: Expr, symbols: Iterable[Expr]) -> Expr:
    """The expression with the ramp for each `ceil`, `floor` and `round` that depends on the symbols: a search that
    looks at slopes would find such a parameter to do nothing."""
    wanted = set(symbols)
    return replace_staircases([expr], lambda node: not graph.free_symbols(node).isdisjoint(wanted))[0]


class Row(NamedTuple):
    """A measurement with its curve, the values of the parameters that it gives, and what these fix."""

    curve: Curve
    measurement: Measurement
    inputs: list[Value]
    constants: list[Any] | None


class Errors:
    """Relative errors, (predicted - measured)/measured, and their slopes. `watch`, if set, is called after each
    evaluation with the root mean square of the errors."""

    def __init__(self, axes: Sequence[FitAxis], rows: Sequence[tuple[Curve, Measurement]]) -> None:
        self.axes = tuple(axes)
        inputs = [[value for _, value in item.settings] for _, item in rows]
        self.rows = [Row(*row, given, row[0].constants(given)) for row, given in zip(rows, inputs, strict=True)]
        self.watch: Callable[[float], None] | None = None

    @property
    def linear(self) -> bool:
        """Whether all errors are linear in all parameters, so that the sum of their squares has one valley."""
        return all(row.curve.linear and row.constants is not None for row in self.rows)

    @property
    def has_steps(self) -> bool:
        """Whether some error jumps at a `ceil`, `floor` or `round` of a parameter."""
        return any(row.curve.has_steps for row in self.rows)

    def __call__(self, values: Sequence[float]) -> list[float]:
        """The errors in the order of the measurements. Raises AspenError where a model has no value."""
        errors = [self._relative_error(row, values) for row in self.rows]
        if self.watch is not None:
            self.watch(root_mean_square(errors))
        return errors

    def _relative_error(self, row: Row, values: Sequence[float]) -> float:
        item = row.measurement
        error = (self._predict(row, values) - item.value) / item.value
        if not abs(error) <= LARGEST_ERROR:
            message = f"the model is more than {LARGEST_ERROR:g} times what was measured"
            diagnostic = Diagnostic("too-large", message, item.span, hint="give what is fitted a narrower range")
            raise AspenError(diagnostic.with_circumstance(self._describe(values, item)))
        return error

    def _predict(self, row: Row, values: Sequence[float]) -> float:
        curve = row.curve
        try:
            if row.constants is not None:
                return float(curve.value(*values, *row.constants)[0])
        except EvaluationError:
            pass  # told by the formula as it was written
        with curve.scope.locate_failures(self._describe(values, row.measurement)):
            return float(curve.full_formula(*values, *row.inputs)[0])

    def _describe(self, values: Sequence[float], item: Measurement) -> str:
        tried = ", ".join(f"{axis.name} = {float(value):.6g}" for axis, value in zip(self.axes, values, strict=True))
        return f"with {tried}, for {describe_place(item)}"

    def slopes(self, values: Sequence[float]) -> list[list[float]]:
        """The slopes of each error by each parameter: those of the formula where it has some and they are finite, else
        by differences. Raises AspenError where a model has no value."""
        return [[self._compute_slope(row, values, index) for index in range(len(self.axes))] for row in self.rows]

    def _compute_slope(self, row: Row, values: Sequence[float], index: int) -> float:
        prepared = row.curve.slopes[index]
        if prepared is not None and row.constants is not None:
            try:
                slope = float(prepared(*values, *row.constants)[0]) / row.measurement.value
                if abs(slope) <= LARGEST_ERROR:
                    return slope
            except EvaluationError:
                pass  # such as the slope of a root at 0: what a small step changes is still to be seen
        axis, value = self.axes[index], values[index]
        step = STEP * min(axis.high - axis.low, abs(value) or axis.high - axis.low)
        ahead, behind = min(value + step, axis.high), max(value - step, axis.low)
        above, below = (
            self._relative_error(row, [*values[:index], moved, *values[index + 1 :]]) for moved in (ahead, behind)
        )
        return float((above - below) / (ahead - behind))


def root_mean_square(errors: Sequence[float]) -> float:
    """Root of the mean square of the errors."""
    return math.sqrt(math.fsum(error * error for error in errors) / len(errors))


def require_enough_measurements(errors: Errors, possible: Sequence[str] = ()) -> None:
    """Refuses fewer measurements than parameters. `possible` are those that they could determine."""
    if len(errors.rows) < len(errors.axes):
        names = ", ".join(axis.name for axis in errors.axes)
        measured, fitted = count_noun(len(errors.rows), "measurement"), count_noun(len(errors.axes), "parameter")
        message = f"{measured} cannot determine {fitted} ({names})"
        hint = f"--vary {','.join(possible)}" if possible else "--vary chooses fewer parameters"
        fail("too-few-measurements", message, errors.rows[-1].measurement.span, hint=hint)
