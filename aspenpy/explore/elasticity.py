"""Elasticity: by which power of a parameter a metric goes, over an interval that somebody could go through."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import NamedTuple, cast

import numpy

from aspenpy.answers.inverse import may_leap
from aspenpy.answers.metrics import find_metric
from aspenpy.answers.prediction import Prediction
from aspenpy.engine.arrays import Floats
from aspenpy.explore.space import most_affordable
from aspenpy.explore.variable import Variable, variable_from_range
from aspenpy.expr.derivative import differentiate
from aspenpy.expr.graph import Expr
from aspenpy.language.diagnostics import AspenError, fail
from aspenpy.language.dimensions import format_quantity, unit_symbol
from aspenpy.record import Record
from aspenpy.sweeps.declarations import is_countable, parameter_dimension
from aspenpy.sweeps.points import Formulas
from aspenpy.tables.result import Result

STEPS = 101  # values of a range at which an elasticity is looked at
COARSER = 1, 2, 4, 8, 16, 32  # each, every second of them and so on, as far as the operations of a command allow
FACTOR = 2.0  # the interval of a secant: the parameter is doubled, or halved where it cannot be doubled
_Rule = Callable[[Floats, Floats], Floats]  # from places of a parameter, and the metric there, to elasticities
NOTHING = 1e-12  # an elasticity below this is what rounding leaves of slopes that cancel


class Elasticity(Record):
    """d log(metric) / d log(parameter), by which power of the parameter the metric goes.

    `here` is its value where the prediction is: of a smooth formula the derivative; where the formula has steps, or no
    derivative that has a value, `why` says so and it is the secant log(metric) over log(parameter) from `start` to
    `end`. It is None where the metric has no value or no logarithm. `formula` is the derivative as an expression, None
    of a secant. Over the parameter's range, all else as it is, `least` and `most` are the extremes at equal ratios of
    the parameter (of a secant: over doublings), `mean` the mean of its magnitude there; None where no range is known.
    `overall` is log(metric) from one end of the range to the other over log(parameter). `undefined` is the part of the
    values of the range (0 to 1) at which the metric has none, which all these leave out; `reason` is why.
    """

    parameter: str
    unit: str
    here: float | None
    start: float | None = None
    end: float | None = None
    why: str | None = None
    least: float | None = None
    most: float | None = None
    mean: float | None = None
    overall: float | None = None
    undefined: float = 0.0
    reason: str | None = None
    formula: Expr | None = None

    @property
    def rank(self) -> float:
        """The size by which parameters are ranked: the elasticity at the point, or else over the range."""
        return abs(self.here) if self.here is not None else max(self.mean or 0.0, abs(self.overall or 0.0))


class Elasticities(tuple[Elasticity, ...], Result):
    """The elasticities of a `metric`, the largest first; `subject` says of what: `runtime of comd on haswell`."""

    metric = "runtime"
    subject = ""

    @classmethod
    def of(cls, items: Iterable[Elasticity], metric: str, subject: str) -> Elasticities:
        made = cls(items)
        made.metric, made.subject = metric, subject
        return made


def elasticities(
    prediction: Prediction,
    variables: Sequence[Variable] | None = None,
    *,
    metric_name: str = "runtime",
    point: bool = False,
) -> Elasticities:
    """The elasticities by the given variables over their ranges, the largest first; where none is given, by every
    parameter whose value is written as a number. With `point` derivatives, steps or not; raises AspenError where there
    is none."""
    if variables is None:
        items = {name: variable_from_range(name, prediction) for name in _plain_parameters(prediction, metric_name)}
    else:
        items = {item.name: item for item in variables}
        for item in variables:
            if item.labels and item.kind == "choice":
                hint = "its effect is found by the other methods: normalised, sobol, morris"
                fail("no-elasticity", f"`{item.name}` is a choice, and a choice has no elasticity", hint=hint)
    unsorted = [
        _Asked(prediction, name, None if item is None else item.sampled, metric_name, 1 / left).estimate(point)
        for (name, item), left in zip(items.items(), range(len(items), 0, -1), strict=True)
    ]
    subject = f"{metric_name} of {prediction.application.name} on {prediction.machine.name}"
    return Elasticities.of(sorted(unsorted, key=lambda item: -item.rank), metric_name, subject)


def _plain_parameters(prediction: Prediction, metric_name: str) -> list[str]:
    """The parameters that the metric depends on whose value is a number other than 0 and no member of an enum."""
    scope = prediction.scope
    used = scope.used_parameters([find_metric(metric_name).expr(prediction)])
    names = {symbol: scope.display_name(symbol) for symbol in used if scope.definitions[symbol].kind == "number"}
    items = {name: variable_from_range(name, prediction) for name in names.values() if "." not in name}
    chosen = [name for name, item in items.items() if item is None or item.kind != "choice"]
    worth = scope.values([scope.symbol(name) for name in chosen], prediction.seed)
    return [name for name, value in zip(chosen, worth, strict=True) if value != 0]


class _Over(NamedTuple):
    """Elasticities over a range."""

    least: float | None = None
    most: float | None = None
    mean: float | None = None
    overall: float | None = None
    undefined: float = 0.0
    reason: str | None = None


class _Asked:
    """The elasticity of a metric by one parameter, over its range by a `share` of the operations that are left."""

    def __init__(
        self, prediction: Prediction, name: str, item: Variable | None, metric_name: str, share: float
    ) -> None:
        self.prediction, self.name, self.item, self.metric = prediction, name, item, metric_name
        self.share = share
        self.computed: dict[Expr, dict[float, float]] = {}
        self.symbol = prediction.scope.symbol(name)
        self.formula = prediction.scope.formulas([find_metric(metric_name).expr(prediction)], [name])[0]
        self.base = float(prediction.scope.values([self.symbol], prediction.seed)[0])
        self.whole = is_countable(name, prediction) if item is None else item.kind == "whole"

        dimension = parameter_dimension(name, prediction)
        self.unit = "" if dimension is None else unit_symbol(dimension)

    def estimate(self, point: bool) -> Elasticity:
        if point:
            return self._slope(self._ratio())
        if may_leap(self.formula, self.symbol):
            return self._secant("steps")
        try:
            return self._slope(self._ratio())
        except AspenError as error:
            return self._secant(f"no derivative: {error.diagnostics[0].message}")

    def _ratio(self) -> Expr:
        try:
            slope = differentiate(self.formula, self.symbol)
        except ValueError as error:
            hint = "the method `elasticity` takes differences instead"
            fail("no-derivative", f"the {self.metric} has no derivative by `{self.name}`: {error}", hint=hint)
        return self.symbol * slope / self.formula

    # -- derivatives -----------------------------------------------------------------------------

    def _slope(self, ratio: Expr) -> Elasticity:
        try:
            here = float(_zeros_like(self._values(ratio, numpy.array([self.base])))[0])
        except AspenError as error:
            message = f"the derivative of the {self.metric} by `{self.name}` has no value at {self.name} = "
            message += f"{self._format_value(self.base)}: {error.diagnostics[0].message}"
            fail("no-derivative", message, hint="the method `elasticity` takes differences instead")
        over = self._effects_over_range(lambda places, values: _zeros_like(self._values_once(ratio, places)))
        return Elasticity(self.name, self.unit, here, **over._asdict(), formula=ratio)

    # -- secants ---------------------------------------------------------------------------------

    def _secant(self, why: str) -> Elasticity:
        here, start, end = None, None, None
        failed: list[float] = []
        intervals = self._intervals()
        over = self._effects_over_range(_secants_of_doublings, [place for interval in intervals for place in interval])
        for start, end in intervals:
            places = numpy.array([start, end])
            values = self._values_once(self.formula, places)
            here = _secant_between(start, end, values[0], values[1])
            failed += places[numpy.isnan(values)].tolist()
            if here is not None:
                break
        if here is None and failed and over.reason is None:
            over = over._replace(undefined=len(failed) / (2 * len(intervals)), reason=self._reason(failed[0]))
        return Elasticity(self.name, self.unit, here, start=start, end=end, why=why, **over._asdict())

    def _intervals(self) -> list[tuple[float, float]]:
        """Intervals for a secant: from the value here to its double, or to its half; the wider first, within the
        range."""
        low, high = (-numpy.inf, numpy.inf) if self.item is None else (self.item.low, self.item.high)
        ends = [self.base * FACTOR, self.base / FACTOR]
        ends = [float(min(max(numpy.trunc(end) if self.whole else end, low), high)) for end in ends]
        usable = [end for end in ends if end * self.base > 0 and end != self.base]
        widest = sorted(usable, key=lambda end: -abs(numpy.log(end / self.base)))
        return [(min(self.base, end), max(self.base, end)) for end in widest]

    # -- over the range --------------------------------------------------------------------------

    def _effects_over_range(self, elasticity: _Rule, others: Sequence[float] = ()) -> _Over:
        """Effects over the range; the values at some other places are computed along with the first."""
        if self.item is None:
            return _Over()
        places = everywhere = self._places(self.item)

        def values_at_first(places: Floats) -> Floats:
            return elasticity(places, self._values_once(self.formula, numpy.array([*places, *others]))[: len(places)])

        try:
            step = most_affordable(COARSER, values_at_first, partial(_keep_ends, everywhere), self.share)
            places = _keep_ends(everywhere, step)
            values = self._values_once(self.formula, places)
            over = elasticity(places, values)
        except AspenError as error:  # more work than is done for a range
            return _Over(undefined=1.0, reason=f"{self.name} over its range: {error.diagnostics[0].message}")
        missing = numpy.isnan(values)
        undefined = float(missing.mean())
        reason = self._reason(float(places[missing][0])) if missing.any() else None
        if step > 1 and reason is None:
            reason = f"{self.name} over its range at more than {len(places)} values: the work of one command ends there"
        known = over[~numpy.isnan(over)]
        overall = _overall_secant(places, values)
        if not len(known):
            return _Over(overall=overall, undefined=undefined, reason=reason)
        return _Over(float(known.min()), float(known.max()), float(abs(known).mean()), overall, undefined, reason)

    def _places(self, item: Variable) -> Floats:
        """Equal ratios from one end to the other; of whole numbers also what doubling and halving the value here comes
        to, so that what divides it divides some of them."""
        low, high = item.low, item.high
        if self.whole and high - low < STEPS:
            places = numpy.arange(low, high + 1)
        else:
            places = numpy.geomspace(low, high, STEPS) if low > 0 else numpy.linspace(low, high, STEPS)
        if self.whole:
            doubled = self.base * FACTOR ** numpy.arange(-60.0, 61.0)
            inside = doubled[(doubled >= low) & (doubled <= high) & (numpy.rint(doubled) == doubled)]
            places = numpy.unique(numpy.concatenate([numpy.rint(places), inside]))
        return cast(Floats, numpy.clip(places, low, high)[places != 0])

    def _reason(self, place: float) -> str:
        """Why the metric has no value, in the words of a prediction with the parameter set there."""
        value = int(place) if place.is_integer() else place
        try:
            there = Prediction(self.prediction.case.with_set({self.name: value}))
            there.scope.values([find_metric(self.metric).expr(there)], there.seed)
            self._values(self.formula, numpy.array([place]))
        except AspenError as error:
            return f"at {self.name} = {self._format_value(place)}: {error.diagnostics[0].message}"
        raise AssertionError("a place without a value has one")

    def _format_value(self, value: float) -> str:
        return format_quantity(value, self.unit, 4)

    def _values_once(self, expr: Expr, places: Floats) -> Floats:
        """Values at some places, each computed once; nan where there is none."""
        known = self.computed.setdefault(expr, {})
        new = numpy.unique([place for place in places.tolist() if place not in known])
        if len(new):
            known |= dict(zip(new.tolist(), self._values(expr, new, missing=True).tolist(), strict=True))
        return numpy.array([known[place] for place in places.tolist()])

    def _values(self, expr: Expr, places: Floats, *, missing: bool = False) -> Floats:
        with self.prediction.scope.locate_failures():
            formulas = Formulas([expr], [self.symbol], self.prediction.seed)
            numbers: Floats = formulas(places[:, None], missing=missing)[0]
            return numbers


def _keep_ends(places: Floats, step: int) -> Floats:
    """Every so many of some places, the first and the last among them."""
    return numpy.unique(numpy.append(places[::step], places[-1:]))


def _secant_between(start: float, end: float, first: float, last: float) -> float | None:
    """The secant between two places; None where the metric has no value there, or changes its sign."""
    if not (numpy.isfinite(first) and numpy.isfinite(last)) or first * last <= 0:
        return 0.0 if first == last == 0 else None
    return float(_zeros_like(numpy.array(numpy.log(last / first) / numpy.log(end / start))))


def _secants_of_doublings(places: Floats, values: Floats) -> Floats:
    """The secants from each place to the first that is twice as far, or to the last if none is."""
    usable = (places > 0) & ~numpy.isnan(values)
    places, values = places[usable], values[usable]
    slopes = []
    for start in range(len(places) - 1):
        end = int(numpy.searchsorted(places, places[start] * FACTOR * (1 - NOTHING)))
        if end == len(places) and start > 0:
            break
        end = min(end, len(places) - 1)
        slope = _secant_between(places[start], places[end], values[start], values[end])
        slopes.append(numpy.nan if slope is None else slope)
    return numpy.array(slopes)


def _overall_secant(places: Floats, values: Floats) -> float | None:
    """Slope of the secant between the first and the last place with a value that has a logarithm."""
    usable = numpy.flatnonzero((places > 0) & (values > 0))
    if len(usable) < 2:
        return None
    first, last = usable[0], usable[-1]
    return float(numpy.log(values[last] / values[first]) / numpy.log(places[last] / places[first]))


def _zeros_like(values: Floats) -> Floats:
    return numpy.where(abs(values) < NOTHING, 0.0, values)
