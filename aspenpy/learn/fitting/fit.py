"""Fit: the values of parameters with which a model comes closest to measurements.

Least squares of relative errors, (predicted - measured)/measured, so that a run of microseconds counts as much as one
of hours; bounded by the ranges that the model declares.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NoReturn, Unpack

from aspenpy.allowance import one_allowance
from aspenpy.answers.case import Case, CaseOptions, split_options
from aspenpy.answers.prediction import predict
from aspenpy.cost.mapper import warnings_of
from aspenpy.expr import graph
from aspenpy.language.diagnostics import Diagnostic, drop_repeats, fail, suggest_nearest
from aspenpy.language.files import Reader
from aspenpy.language.source import Source
from aspenpy.learn.fitting.certainty import Certainty, find_undetermined, judge_certainty
from aspenpy.learn.fitting.measurements import RUNTIME, Measurement, read_measurements
from aspenpy.learn.fitting.responses import (
    Errors,
    FitAxis,
    Responses,
    find_moving_parameter,
    make_axis,
    require_enough_measurements,
    root_mean_square,
)
from aspenpy.learn.fitting.rewriting import rewrite_application, rewrite_machine
from aspenpy.learn.fitting.search import find_best_fit
from aspenpy.learn.measured_kernels import match_profile
from aspenpy.learn.measurements.columns import recognise_columns
from aspenpy.learn.measurements.read import read_measurements as read_tool_file
from aspenpy.learn.measurements.read import recognise_format
from aspenpy.learn.measurements.sheet import Data, MeasurementSheet, make_sheet
from aspenpy.models.application.model import Application
from aspenpy.models.library import load_machine
from aspenpy.models.machine.model import Machine
from aspenpy.models.model import parameters_with_range, range_warning
from aspenpy.record import NamedTuple, Record
from aspenpy.tables.result import Result

MOST_DIGITS = 9
"""Significant digits of a fitted value, at most: the search ends where steps are smaller."""


class FittedParameter(Record):
    """A parameter: where the model had it (or the nearest end of its range), what fits best, its range, and the
    interval it is in with the confidence of the fit. `remark` says why there is no interval; where it is not
    `determined`, not even together with others, its value is only the one at which the search stopped."""

    name: str
    before: float
    value: float
    low: float
    high: float
    deviation: float | None
    interval: tuple[float, float] | None
    remark: str | None
    determined: bool = True

    @property
    def certain_value(self) -> int | float:
        """The value to a hundredth of its standard deviation, and to the step at which the search ends: nine digits at
        most. Further digits differ from processor to processor."""
        if self.value.is_integer():
            return int(self.value)
        digits = MOST_DIGITS
        if self.deviation:
            down_to_deviation = math.floor(math.log10(abs(self.value))) - math.floor(math.log10(self.deviation)) + 1
            digits = down_to_deviation + 2  # a hundredth of it
        rounded = float(f"{self.value:.{min(max(digits, 1), MOST_DIGITS)}g}")
        return min(max(rounded, self.low), self.high)


class Refusal(Record):
    """A parameter that was left at the model's value, and why the measurements cannot determine it."""

    name: str
    value: float
    reason: str


class Residual(Record):
    """A measurement, what the fitted model gives for it, and the relative error, (predicted - measured)/measured."""

    measurement: Measurement
    predicted: float
    error: float


class Fit(Record, Result):
    """Fitted values of parameters, and how close the model comes with them.

    `rms`: root mean square of the relative errors; `rms_before`: that of the model as it was. `degrees_of_freedom`:
    measurements less those that determine the parameters. `has_steps`: whether the model jumps (at a `ceil`) as a
    fitted parameter moves; the intervals are then those of the ramp below the steps."""

    application: Application
    kernel: str
    parameters: tuple[FittedParameter, ...]
    refused: tuple[Refusal, ...]
    residuals: tuple[Residual, ...]
    rms: float
    rms_before: float
    degrees_of_freedom: int
    confidence: float
    has_steps: bool
    diagnostics: tuple[Diagnostic, ...]

    @property
    def values(self) -> dict[str, int | float]:
        """The fitted values by name, as `predict` takes them in `set`; without those that are not determined."""
        determined = (item for item in self.parameters if item.determined)
        return {item.name: int(item.value) if item.value.is_integer() else item.value for item in determined}

    @property
    def mean_error(self) -> float:
        """The mean of the relative errors' sizes."""
        return math.fsum(abs(item.error) for item in self.residuals) / len(self.residuals)

    @property
    def worst(self) -> Residual:
        """The measurement with the largest relative error."""
        return max(self.residuals, key=lambda item: abs(item.error))

    def to_aspen(self, path: str | Path | None = None, *, data: str = "", allow_outside: bool = False) -> str:
        """The text of the model with the fitted values, to their certain digits; all else stays as it was written, but
        for comments that say where such a value came from: they say that it was fitted, and to which `data`.

        The model is the machine's where all measurements are of one machine and all fitted parameters are its own, else
        the application's. `path`: where the text will lie, if not where the model does, so that imports still lead to
        their files. Raises AspenError where a value is in another file of the application."""
        values = {item.name: item.certain_value for item in self.parameters if item.determined}
        if not values:
            fail("nothing-to-fit", "the measurements determine no parameter, so that there is nothing to write")
        origin = f"fitted to {data or 'measurements'}"
        machines = list(dict.fromkeys(item.measurement.machine for item in self.residuals))
        if len(machines) == 1 and machines[0] is not None and values.keys().isdisjoint(self.application.parameters):
            theirs = {name.removeprefix("machine:"): value for name, value in values.items()}
            where = f"{machines[0].name}.aspen" if path is None else str(path)
            return rewrite_machine(machines[0], theirs, where, origin=origin, allow_outside=allow_outside)
        return rewrite_application(self.application, values, path, origin=origin, allow_outside=allow_outside)


class FitOptions(CaseOptions, total=False):
    """Options of `fit`."""

    vary: Sequence[str]
    integer: Sequence[str]
    columns: Mapping[str, str] | None
    metric: str | None
    confidence: float
    allow_outside: bool
    regions: Mapping[str, str] | None
    watch: Callable[[float], None] | None


class FitRequest(Record):
    """Options of `fit` that are not those of a case."""

    vary: Sequence[str] = ()
    integer: Sequence[str] = ()
    columns: Mapping[str, str] | None = None
    metric: str | None = None
    confidence: float = 0.95
    allow_outside: bool = False
    regions: Mapping[str, str] | None = None
    watch: Callable[[float], None] | None = None


@one_allowance
def fit(app: Application | Case, data: Data, machine: Machine | None = None, **options: Unpack[FitOptions]) -> Fit:
    """Fits parameters of the application and of machines to measurements (see `docs/commands.md` for the columns).

    `data` are the measurements: a file, a data frame, rows, or columns by name. The parameters are those in `vary`; if
    left out, those of the application that have a range, were neither set nor measured at given values, and that the
    measurements can determine together; those of the machines if the application has none. The others are in
    `refused`. Those in `integer` take whole values only. `machine` and `socket` hold where no column says where a row
    was measured. `columns` renames columns of a file and leaves out all others. `metric` is the one
    that is fitted, such as `power`; else the runtime and amounts are. `confidence` is that of intervals, 0.95 if
    nothing is said. `watch` is called with the root mean square of the relative errors each time they have been
    computed. With `regions`, and where a file is a profiler's, the data are a profile of a run of the case: the seconds
    of kernels' own blocks, in regions of their names or of those in `regions` (`{}` where all names agree). The other
    options are those of `Case`.

    :returns: the fitted values, their confidence intervals, and the relative errors before and after
    :raises AspenError: where no column holds a measurement, and where no parameter can be fitted to what was measured
    """
    case, own = split_options(app, machine, options)
    request = FitRequest(**own)
    vary, integer, confidence = request.vary, request.integer, request.confidence
    if not 0 < confidence < 1:
        fail("bad-confidence", f"a confidence lies between 0 and 1, not at {confidence:g}", hint="0.95 is usual")

    def load(name: str) -> Machine:
        return load_machine(name, allow_outside=request.allow_outside)

    notes: tuple[Diagnostic, ...] = ()
    sheet, is_profile = read_sheet(data, request) if request.regions is None else (data, True)
    if is_profile:
        measured, notes = read_profile(sheet, case, request.regions or {})
    else:
        measured = read_measurements(make_sheet(sheet), case, load, request.metric)
    responses = Responses(case, measured)
    names = choose_parameters(responses, vary)
    refused = [] if vary else refuse_unnamed(responses, names)
    names = [name for name in names if name not in {item.name for item in refused}]
    if not names:
        fail_undetermined(refused)
    _require_fitted(integer, names, refused)
    axes = [make_parameter_axis(responses, name, names, name in integer) for name in names]
    if vary:
        require_enough_measurements(responses.errors(axes))
        return make_fit(responses, solve_axes(responses, axes, request), request, notes=notes)
    axes, undetermined = split_determined(responses, axes)
    refused += undetermined
    # Of parameters that move together each is undetermined until one is left out. The last goes first: the order is
    # that of the model, and those that were declared first are the ones a reader looks for.
    while (solution := solve_axes(responses, axes, request)).certainty.undetermined:
        last = max(solution.certainty.undetermined)
        refused.append(refuse_axis(axes[last], solution.certainty.undetermined[last]))
        axes = [axis for axis in axes if axis is not axes[last]]
        if not axes:
            fail_undetermined(refused)
    _require_fitted(integer, [axis.name for axis in axes], refused)
    return make_fit(responses, solution, request, refused, notes=notes)


# -- what is fitted --------------------------------------------------------------------------------


def choose_parameters(responses: Responses, vary: Sequence[str]) -> list[str]:
    application = responses.application
    if vary:
        return list(dict.fromkeys(check_name(name, responses) for name in vary))
    taken = {*responses.inputs, *responses.case.set}
    names = [
        parameter.name
        for parameter, _ in parameters_with_range(responses.parameters.values())
        if taken.isdisjoint((parameter.name, parameter.name.removeprefix("machine:")))
        and responses.is_dependent_on(parameter.name)
        and not responses.find_conflicting_machines(parameter.name)
    ]
    if not names:
        message = f"application `{application.name}` has no parameter to fit"
        hint = "it needs a range (`param a = 1 in 0 .. 10`), no column of its own, and an effect on what was measured"
        fail("nothing-to-fit", message, application.node.name_span, hint=hint)
    return [name for name in names if name in application.parameters] or names


def make_parameter_axis(responses: Responses, name: str, names: Sequence[str], whole: bool) -> FitAxis:
    scope = responses.find_scope(name)
    declared = responses.parameters
    here = [responses.qualify_name(other) for other in names if declared[other].symbol in scope.definitions]
    is_count = scope.is_count(responses.qualify_name(name))
    return make_axis(declared[name], scope, [*here, *responses.inputs], whole or is_count)


def refuse_unnamed(responses: Responses, names: Sequence[str]) -> list[Refusal]:
    """Parameters that nobody named and that are not fitted: numbers of a machine's parts, of instances and of ranks,
    which are known, and those whose range moves with another one, or with what was measured."""
    components = [component for machine in responses.machines for component in machine.components.values()]
    parts = [part for component in components for part in component.parts]
    quantities = {symbol for part in parts for symbol in graph.free_symbols(part.quantity)}
    refused = []
    for name in names:
        parameter, scope = responses.parameters[name], responses.find_scope(name)
        others = [responses.qualify_name(other) for other in names if other != name]
        other = find_moving_parameter(parameter, scope, [*others, *responses.inputs])
        reason = f"a number of parts of the machine: --vary {name}" if parameter.symbol in quantities else None
        if reason is None and scope.is_count(responses.qualify_name(name)):
            reason = f"a number of instances or ranks: --vary {name}"
        reason = reason if other is None else f"its range moves with `{other}`"
        if reason is not None:
            worth = scope.values([parameter.symbol], responses.case.seed)[0]
            refused.append(Refusal(name, float(worth), reason))
    return refused


def split_determined(responses: Responses, axes: list[FitAxis]) -> tuple[list[FitAxis], list[Refusal]]:
    """Axes that the measurements determine together, and refusals of the others."""
    errors = responses.errors(axes)
    reasons = find_undetermined(errors)
    determined = [axis for number, axis in enumerate(axes) if number not in reasons]
    refused = [refuse_axis(axes[number], reason) for number, reason in reasons.items()]
    if not determined:
        fail_undetermined(refused)
    require_enough_measurements(errors, [axis.name for axis in determined])
    return determined, refused


def refuse_axis(axis: FitAxis, reason: str) -> Refusal:
    return Refusal(axis.name, axis.start, reason)


def fail_undetermined(refused: Sequence[Refusal]) -> NoReturn:
    reasons = "; ".join(f"`{item.name}`: {item.reason}" for item in refused)
    hint = "--vary fits what it names, such as a bandwidth of the machine: `aspenpy show MACHINE` lists its parameters"
    fail("nothing-to-fit", f"the measurements determine no parameter: {reasons}", hint=hint)


def _require_fitted(integer: Sequence[str], names: Sequence[str], refused: Sequence[Refusal]) -> None:
    for name in integer:
        if name not in names:
            why = next((item.reason for item in refused if item.name == name), None)
            hint = why or suggest_nearest(name, names) or "fitted are " + ", ".join(names)
            fail("not-fitted", f"`{name}:whole`: `{name}` is not one of the fitted parameters", hint=hint)


def read_sheet(data: Data, request: FitRequest) -> tuple[MeasurementSheet, bool]:
    """The measurements, and whether they are a profile: the file of a profiler has times of kernels. Raises
    AspenError."""
    if isinstance(data, str | Path):
        data = Reader().read(data)
    tool = recognise_format(data.text) if isinstance(data, Source) else None
    if tool is None:
        return make_sheet(data, request.columns), False
    sheet = read_tool_file(data)
    if "region" not in recognise_columns(sheet).names:
        hint = "`aspenpy measure --read FILE --format csv` writes a table, whose columns `fit --column` names"
        fail(
            "no-table", f"a file of {tool.name} is fitted as a table, with columns of the parameters' names", hint=hint
        )
    if request.metric or request.columns:
        fail("no-columns", f"a file of {tool.name} has times of kernels, neither columns nor other metrics")
    return sheet, True


def read_profile(
    data: Data, case: Case, regions: Mapping[str, str]
) -> tuple[tuple[Measurement, ...], tuple[Diagnostic, ...]]:
    """The times of the kernels in a profile, each with those of all its regions, and what is to be said of the profile.
    Raises AspenError."""
    prediction = predict(case)
    known = [use.name for use in prediction.kernels if use.exclusive > 0]
    matched = match_profile(data, known, regions)
    times: dict[str, float] = {}
    for region in matched.regions:
        if kernel := matched.kernels.get(region.name):
            times[kernel] = times.get(kernel, 0.0) + (region.time or 0.0)
    measured = (
        Measurement(
            metric=RUNTIME,
            value=time,
            settings=(),
            machine=prediction.machine,
            socket=case.socket,
            row=row,
            span=None,
            kernel=kernel,
        )
        for row, (kernel, time) in enumerate(times.items(), 1)
    )
    return tuple(measured), matched.diagnostics


class FitSolution(NamedTuple):
    """The values at which the errors' squares add up to least, and how well they are determined."""

    errors: Errors
    values: Sequence[float]
    certainty: Certainty


def solve_axes(responses: Responses, axes: Sequence[FitAxis], request: FitRequest) -> FitSolution:
    """Searches the best values on the axes, all at once."""
    errors = responses.errors(axes)
    errors.watch = request.watch
    values = find_best_fit(errors).values
    return FitSolution(errors, values, judge_certainty(errors, values, request.confidence))


def check_name(given: str, responses: Responses) -> str:
    """Name of a parameter to fit as `responses` has it. Raises AspenError where it cannot be fitted."""
    declared, name = responses.parameters, given.removeprefix("app:")
    if given in declared and f"machine:{given}" in declared:
        hint = f"write `app:{given}` or `machine:{given}`"
        fail("ambiguous-parameter", f"both models have a parameter `{given}`", hint=hint)
    if name not in declared:
        ranges = ", ".join(parameter.name for parameter, _ in parameters_with_range(declared.values()))
        hint = suggest_nearest(name, declared) or f"with a range are {ranges}"
        fail("unknown-parameter", f"unknown parameter `{name}`", hint=hint)
    machines = responses.find_conflicting_machines(name)
    if machines:
        named = " and ".join(f"`{machine.name}`" for machine in machines)
        hint = "fit the measurements of each machine apart"
        fail("ambiguous-parameter", f"machines {named} give `{name}` different values or ranges", hint=hint)
    span = declared[name].node.name_span
    if declared[name].low is None:
        hint = f"write `param {name} = ... in low .. high`"
        fail("no-range", f"`{name}` has no range to look for its value in", span, hint=hint)
    if name in responses.inputs or name in responses.case.set:
        fail("not-free", f"`{name}` is given, by the measurements or by a setting, and cannot be fitted", span)
    if not responses.is_dependent_on(name):
        fail("no-influence", f"nothing that was measured depends on `{name}`", span)
    return name


# -- what was found --------------------------------------------------------------------------------


def make_fit(
    responses: Responses,
    solution: FitSolution,
    request: FitRequest,
    refused: Sequence[Refusal] = (),
    *,
    notes: Sequence[Diagnostic],
) -> Fit:
    """The fit of a solution: its parameters with their intervals, and the error of each measurement."""
    errors, values, certainty = solution
    left = errors(values)
    residuals = tuple(
        Residual(item, item.value * (1 + error), error)
        for item, error in zip(responses.measurements, left, strict=True)
    )
    return Fit(
        application=responses.application,
        kernel=responses.case.kernel,
        parameters=tuple(
            make_fitted_parameter(certainty, number, axis, float(value))
            for number, (axis, value) in enumerate(zip(errors.axes, values, strict=True))
        ),
        refused=tuple(refused),
        residuals=residuals,
        rms=root_mean_square(left),
        rms_before=root_mean_square(errors([axis.start for axis in errors.axes])),
        degrees_of_freedom=certainty.degrees_of_freedom,
        confidence=request.confidence,
        has_steps=errors.has_steps,
        diagnostics=(*collect_warnings(responses), *notes),
    )


def make_fitted_parameter(certainty: Certainty, number: int, axis: FitAxis, value: float) -> FittedParameter:
    """The parameter of the axis with this number, with its interval or why it has none."""
    spread = certainty.spreads.get(number)
    return FittedParameter(
        name=axis.name,
        before=axis.start,
        value=value,
        low=axis.low,
        high=axis.high,
        deviation=None if spread is None else spread.deviation,
        interval=None if spread is None else (value - spread.half_width, value + spread.half_width),
        remark=certainty.find_remark(number),
        determined=number not in certainty.arbitrary,
    )


def collect_warnings(responses: Responses) -> tuple[Diagnostic, ...]:
    """Warnings of the models and of parameters measured outside their ranges, each once."""
    warnings = list(responses.application.warnings)
    for machine in dict.fromkeys(item.machine for item in responses.measurements):
        warnings += warnings_of(responses.application, machine, kernel=responses.case.kernel)
    scope = responses.scopes[0]
    for parameter, (_, low, high) in parameters_with_range(responses.application.parameters.values()):
        values = [value for item in responses.measurements for name, value in item.settings if name == parameter.name]
        used = {*scope.used_parameters([low, high])}
        if values and not any(scope.symbol(name) in used for name in responses.inputs):
            ends = scope.values([low, high], responses.case.seed)
            outside = [warning for value in values if (warning := range_warning(parameter, value, *ends))]
            warnings += outside[:1]
    return tuple(drop_repeats(warnings))
