"""Validation: what a model predicts, beside the runs of the program that it is a model of."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from statistics import median
from typing import Any, Unpack

from aspenpy.allowance import one_allowance
from aspenpy.answers.case import Case, CaseOptions, case_of
from aspenpy.answers.evaluation import KernelUse
from aspenpy.answers.expected_error import UNKNOWN_SHARE, ExpectedError, expected_error
from aspenpy.answers.footprint import Footprint
from aspenpy.answers.peaks import value_of
from aspenpy.answers.prediction import Prediction, predict
from aspenpy.cost.memory import PAGE
from aspenpy.language.axis import Axis, parse_axis
from aspenpy.language.diagnostics import Diagnostic, drop_repeats, fail, suggest_instead, warning
from aspenpy.language.source import Source, Span
from aspenpy.learn.measurements.measure import Measured, StoppingRule, measure
from aspenpy.models.application.model import Application
from aspenpy.models.machine.model import Machine
from aspenpy.record import Record
from aspenpy.sweeps.grid import make_study
from aspenpy.tables.result import Result

NEAR_FACTOR = 1.4
"""A prediction is near where it is within this factor of the measured time, either way: a choice, no law."""

MOST_POINTS = 1000

WALL, PROCESSOR = "runtime [s]", "cpu_time [s]"
"""The clocks of a run: time that passed, and time on processors, of all threads together, in which waiting for a
processor that others use is left out."""

_PLACEHOLDER = re.compile(r"\{(\w+)\}")

Watch = Callable[[int, int, str], None]
"""Called with the number of finished points, the number of all, and the command that runs."""


class Overhead(Record):
    """Seconds of a program beside its kernels, by the machine's `process_start_latency` and `page_fault_latency`: its
    start, and the first touch of each page of its data (s). Nothing where the machine does not say."""

    start: float
    pages: float

    @property
    def total(self) -> float:
        return self.start + self.pages


class ValidationPoint(Record):
    """A point: the values of the axes, what was run there, and the prediction (s) by kernel. `clock` names the column
    of the runs that counts."""

    clock: str
    values: Mapping[str, float]
    run: Measured
    kernels_time: float
    overhead: Overhead
    kernels: tuple[KernelUse, ...]
    bound_by: str | None
    expected: ExpectedError

    @property
    def predicted(self) -> float:
        return self.kernels_time + self.overhead.total

    @property
    def least(self) -> float:
        """Shortest run (s): other load on the machine only lengthens runs."""
        return min(run.values[self.clock] for run in self.run.runs)

    @property
    def ratio(self) -> float:
        """Predicted over measured."""
        return self.predicted / self.least

    @property
    def factor(self) -> float:
        """Larger of predicted over measured and measured over predicted."""
        return max(self.ratio, 1 / self.ratio)


class Validation(Record, Result):
    """The points of a validation, in their order, and the case that was predicted at each. A point fails whose
    prediction is off by more than a part of `limit`, either way."""

    case: Case
    command: str
    points: tuple[ValidationPoint, ...]
    diagnostics: tuple[Diagnostic, ...] = ()
    limit: float | None = None

    @property
    def failed(self) -> tuple[ValidationPoint, ...]:
        """Points beyond the limit."""
        return () if self.limit is None else tuple(it for it in self.points if it.factor - 1 > self.limit)

    @property
    def median_error(self) -> float:
        """Median of the points' factors minus 1."""
        return median(point.factor for point in self.points) - 1

    @property
    def near(self) -> int:
        """Points within a factor of `NEAR_FACTOR`."""
        return sum(point.factor <= NEAR_FACTOR for point in self.points)


class CommandTemplate:
    """A command with placeholders `{name}` of axes. No shell reads it: its words are those of `shlex`."""

    def __init__(self, text: str, axes: Sequence[str]) -> None:
        self.text = text
        source = Source(text, "<--run>")
        for match in _PLACEHOLDER.finditer(text):
            if match[1] not in axes:
                message = f"`{match[0]}` stands for no axis of --over"
                fail(
                    "unknown-placeholder",
                    message,
                    Span(source, *match.span()),
                    hint=suggest_instead(match[1], axes, "axes"),
                )
        whole = Span(source, 0, len(text))
        used = set(_PLACEHOLDER.findall(text))
        for name in axes:
            if name not in used:
                message = f"the command is the same at all values of `{name}`"
                fail("unused-axis", message, whole, hint=f"write {{{name}}} where its value goes")
        try:
            self.words = shlex.split(text)
        except ValueError as error:
            fail("bad-command", f"cannot split the command into words: {str(error).lower()}", whole)
        if not self.words:
            fail("bad-command", "the command is empty", whole, hint='such as --run "./a.out {n}"')

    def words_at(self, values: Mapping[str, float]) -> list[str]:
        return [_PLACEHOLDER.sub(lambda match: format_value(values[match[1]]), word) for word in self.words]


def format_value(value: float) -> str:
    return str(int(value)) if float(value).is_integer() else repr(float(value))


@one_allowance
def validate(
    app: Application | Case,
    machine: Machine | None = None,
    *,
    run: str,
    over: Mapping[str, Any],
    target: StoppingRule | None = None,
    processor_time: bool = False,
    **options: Unpack[CaseOptions],
) -> Validation:
    """Runs a compiled program at the sizes of `over` and compares its times with what is predicted of its model on the
    machine that it runs on.

    In the command `run`, `{name}` is where the value of an axis goes; no shell reads it. An axis is a text such as
    `"100..2000:log:5"` or values. `target` says how often each point is run, `processor_time` compares the time on
    processors instead of that which passes. The other options are those of `Case`.

    :returns: a `Validation`: at each point the predicted and the measured seconds, by kernel, and their ratio.
    :raises AspenError: where the model has no prediction at a point, or the command ends with an error.
    """
    axes = {name: parse_axis(f"{name}={axis_text(values)}") for name, values in over.items()}
    return run_and_compare(
        case_of(app, machine, options), run, axes, target, clock=PROCESSOR if processor_time else WALL
    )


def axis_text(values: Any) -> str:
    return values if isinstance(values, str) else ",".join(map(str, values))


def run_and_compare(
    case: Case,
    command: str,
    over: Mapping[str, Axis],
    target: StoppingRule | None = None,
    watch: Watch = lambda done, points, text: None,
    clock: str = WALL,
) -> Validation:
    """Predicts the case and runs the command at each point of the axes, or once where there are none. Values are whole
    numbers unless an axis is `:real`.
    Raises AspenError where the command cannot be run, ends with an error, or has a placeholder that is no axis."""
    line = CommandTemplate(command, list(over))
    axes = {name: axis if axis.whole is not None else axis.replace(whole=True) for name, axis in over.items()}
    values: list[Mapping[str, float]] = [{}]
    if axes:
        study = make_study(case, axes)
        if study.points > MOST_POINTS:
            hint = f"{MOST_POINTS} at most: fewer values an axis"
            fail("too-many-points", f"{study.points} points are to be run", hint=hint)
        values = [study.point(number) for number in range(study.points)]
    predictions = [predict(case.with_set(value)) for value in values]
    points = []
    for number, (value, prediction) in enumerate(zip(values, predictions, strict=True)):
        words = line.words_at(value)
        watch(number, len(values), " ".join(words))
        points.append(make_point(value, prediction, measure(words, target or StoppingRule()), clock))
        if not points[-1].predicted:
            message = f"{prediction.where} takes no time, so that there is nothing to compare with what was measured"
            where = ", ".join(f"{name} = {number:g}" for name, number in value.items())
            fail("no-time", message, prediction.tree.entry.name_span, hint=f"at {where}" if where else None)
    warnings = [item for prediction in predictions for item in prediction.diagnostics]
    warnings += [warn_doubtful(point.expected) for point in points if point.expected.is_doubtful]
    return Validation(case, command, tuple(points), tuple(drop_repeats(warnings)))


def warn_doubtful(expected: ExpectedError) -> Diagnostic:
    """Says what bounds a prediction that may be far off, and how far."""
    shares = {**expected.classes, **expected.unknown}
    named = " and ".join(f"{name} ({share:.0%} of it)" for name, share in shares.items() if share >= UNKNOWN_SHARE)
    if expected.low is None or expected.high is None:
        return warning("uncertain", f"nobody has compared such predictions with runs: bound by {named}")
    message = f"such predictions are up to {max(expected.high, 1 / expected.low):.1f} times off: bound by {named}"
    hint = "nine of ten lie within; the order of data and branches decides, which a probe cannot know"
    return warning("uncertain", message, hint=hint)


def make_point(values: Mapping[str, float], prediction: Prediction, run: Measured, clock: str) -> ValidationPoint:
    bottleneck = prediction.bottleneck
    bound = None
    if bottleneck is not None:
        component = prediction.component_of(bottleneck.resource)
        bound = f"{bottleneck.resource} on {component.rpartition('/')[2]}" if component else bottleneck.resource
    return ValidationPoint(
        clock,
        values,
        run,
        kernels_time=float(prediction.runtime),
        overhead=process_overhead(prediction),
        kernels=tuple(prediction.kernels),
        bound_by=bound,
        expected=expected_error(prediction),
    )


def process_overhead(prediction: Prediction) -> Overhead:
    """Overhead of a process that runs the predicted case once."""
    places = [*prediction.machine.first_places(prediction.socket)]

    def stated_value(kind: str, name: str) -> float:
        components = (place.component for place in places if place.component.type == kind)
        stated = next((value for part in components if (value := part.value(name)) is not None), None)
        return 0.0 if stated is None else float(value_of(stated, prediction.machine.definitions))

    page = stated_value("core", "page") or float(PAGE.payload)
    touched = float(Footprint(prediction.case).total)
    return Overhead(
        stated_value("socket", "process_start_latency"), touched / page * stated_value("memory", "page_fault_latency")
    )
