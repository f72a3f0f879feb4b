"""Grid: from the axes that were asked for to a study with values along each, in their order or scattered."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product
from math import prod
from typing import Any

import numpy

from aspenpy.allowance import MEMORY
from aspenpy.answers.case import Case, ResolvedCase
from aspenpy.answers.prediction import Prediction
from aspenpy.answers.scope import Setting
from aspenpy.engine.arrays import Floats
from aspenpy.expr.draws import generator_seed
from aspenpy.language.axis import CATEGORIES, Axis, Extent, read_number_or_expression
from aspenpy.language.diagnostics import AspenError, fail, require_known
from aspenpy.language.dimensions import format_quantity
from aspenpy.language.source import Span
from aspenpy.models.library import load_application, load_machine
from aspenpy.models.model import range_of_symbol
from aspenpy.record import Record
from aspenpy.sweeps.declarations import is_countable
from aspenpy.sweeps.study import Categories, GridDimension, Study

POINTS = 100  # of a range that does not say how many
MOST_VALUES = 10**8  # of one axis: 800 megabytes
Worth = Callable[[Span], float]  # the value of an expression in the language, as a user wrote it
Declared = Callable[[str], tuple[float, float] | None]  # the range that the model gives a parameter


def count_values(axis: Axis) -> int:
    """Number of values of an axis, at most."""
    return len(axis.items) or axis.count or POINTS


def axis_values(axis: Axis, worth: Worth, declared: Declared) -> Floats:
    """The values of a numeric axis, float64; raises AspenError."""
    if axis.items:
        return numpy.array([read_number_or_expression(item, worth) for item in axis.items])
    low, high, spacing = _ends_of_axis(axis, worth, declared)
    if low > high:
        message = f"the range of `{axis.name}` is empty: {low:.6g} is above {high:.6g}"
        hint = f"the lower end comes first: {axis.name}={high:.6g}..{low:.6g}"
        fail("empty-range", message, axis.span, hint=hint)
    if spacing != "lin" and low <= 0:
        steps = "equal ratios" if spacing == "log" else "powers of two"
        message = f"`{axis.name}` cannot go from {low:.6g} in {steps}"
        fail("bad-range", message, axis.span, hint="begin above 0, or say :lin")
    if count_values(axis) > MOST_VALUES:
        fail(
            "too-long",
            f"`{axis.name}` has {count_values(axis):,} values, and an axis at most {MOST_VALUES:,}",
            axis.span,
        )
    column: Floats = _space_values(low, high, spacing, count_values(axis))
    if axis.whole:
        column = numpy.unique(numpy.clip(numpy.rint(column), numpy.ceil(low), numpy.floor(high)))
    if not len(column) or (axis.whole and numpy.ceil(low) > numpy.floor(high)):
        what = "whole numbers" if axis.whole else "powers of two"
        fail("empty-range", f"there are no {what} from {low:.6g} to {high:.6g} for `{axis.name}`", axis.span)
    return column


def _space_values(low: float, high: float, spacing: str, count: int) -> Any:
    """Values in equal steps or equal ratios, both ends exactly; or all powers of two between the ends."""
    if spacing == "pow2":
        first, last = int(numpy.ceil(numpy.log2(low))), int(numpy.floor(numpy.log2(high)))
        return 2.0 ** numpy.arange(first, last + 1)
    with numpy.errstate(all="ignore"):  # ends too far apart give values that `Study` refuses
        return numpy.linspace(low, high, count) if spacing == "lin" else numpy.geomspace(low, high, count)


def _ends_of_axis(axis: Axis, worth: Worth, declared: Declared) -> tuple[float, float, str]:
    if axis.low is not None and axis.high is not None:
        return (
            read_number_or_expression(axis.low, worth),
            read_number_or_expression(axis.high, worth),
            axis.spacing or "lin",
        )
    ends = declared(axis.name)
    if ends is None:
        hint = f"say one: {axis.name}=LOW..HIGH, or a list: {axis.name}=1,2,4"
        fail("no-range", f"`{axis.name}` declares no range to go over", axis.span, hint=hint)
    low, high = ends
    return low, high, axis.spacing or ("log" if axis.is_logarithmic(low, high) else "lin")


# -- scattered over the range, instead of a grid ---------------------------------------------------

METHODS = ("uniform", "latin", "sobol")
"""Independent draws; a Latin hypercube (McKay et al. 1979); Sobol's sequence (1967), scrambled after Owen (1995)."""


class AxisSpread(Record):
    """The numbers that an axis is sampled from: those from `low` to `high`, evenly (`lin`), in equal ratios (`log`) or
    as powers of two (`pow2`), `whole` ones or all; or one of some `choices`."""

    low: float = 0.0
    high: float = 0.0
    spacing: str = "lin"
    whole: bool = False
    choices: tuple[float, ...] = ()

    def values_at(self, places: Floats) -> Any:
        """The values at places from 0 up to, not including, 1."""
        if self.choices:
            return numpy.array(self.choices)[numpy.floor(places * len(self.choices)).astype(numpy.intp)]
        if self.spacing == "pow2":
            first, last = numpy.ceil(numpy.log2(self.low)), numpy.floor(numpy.log2(self.high))
            return numpy.exp2(first + numpy.floor(places * (last - first + 1)))
        log = self.spacing == "log"
        if not self.whole:
            return Extent(self.low, self.high, log).value(places)
        behind = numpy.floor(self.high) + 1  # each whole number stands for what lies between it and the next
        return numpy.floor(Extent(numpy.ceil(self.low), behind, log).value(places))


def sample_columns(spans: Mapping[str, AxisSpread], count: int, method: str, seed: int) -> dict[str, Floats]:
    """A column of `count` values for each axis; the same for the same seed. Raises AspenError."""
    message = f"there is no sampling method `{method}`"
    require_known(method, METHODS, "unknown-method", message, listed="the methods are")
    if count < 1:
        fail("bad-sample", f"a sample has at least 1 point, not {count}")
    places = _points_of_cube(count, len(spans), method, numpy.random.default_rng(generator_seed(seed)))
    return {name: span.values_at(column) for (name, span), column in zip(spans.items(), places.T, strict=True)}


def _points_of_cube(count: int, axes: int, method: str, generator: numpy.random.Generator) -> Floats:
    """Points of the unit cube."""
    if method == "uniform":
        return generator.random((count, axes))
    try:
        from scipy.stats import qmc
    except ImportError:
        message = f"the method `{method}` needs SciPy: pip install 'aspenpy[sample]'"
        fail("missing-scipy", message, hint="--sampling uniform needs nothing")
    sampler = {"sobol": qmc.Sobol, "latin": qmc.LatinHypercube}[method](axes, rng=generator)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a count that is no power of two is the user's to choose
        places: Floats = sampler.random(count)
    return places


MOST_UNASKED = 10**10  # points beyond which a sweep is probably a mistake
LEAST_LONG = 1 << 20  # bytes of axes that any sweep may have: the program itself takes forty times as much
WHILE_MADE = 2  # times the memory of an axis that it takes until it is made
POINTS_A_SECOND = 10**8  # what a computer of today manages, for a warning
Over = Mapping[str, Axis | Iterable[Any]]  # axes by name, as they were written or as values


class Layout(Record):
    """The layout of points on the axes: all with all, those of a group of `zip` side by side, or `samples` of them
    scattered by a `method`; `yes` allows any number of them. Axes and results take at most `memory` bytes."""

    zip: Sequence[Sequence[str]] = ()
    samples: int | None = None
    method: str = "sobol"
    yes: bool = False
    memory: int = MEMORY


LAYOUT = Layout()


def make_study(
    case: Case,
    over: Over,
    layout: Layout = LAYOUT,
    *,
    metrics: Sequence[str] = ("runtime",),
    allow_outside: bool = False,
) -> Study:
    """The study of a case over some axes. Raises AspenError."""
    if not metrics:
        fail("no-metric", "a sweep computes something", hint="name it: runtime, energy, or a resource")
    _refuse_set(over, case.set)
    chosen = {name: _list_items(name, axis) for name, axis in over.items() if name in CATEGORIES}
    axes = {
        name: axis if isinstance(axis, Axis) else _numbers_as_column(name, axis)
        for name, axis in over.items()
        if name not in CATEGORIES
    }

    choices = {
        name: [_load_model(name, item, allow_outside) for item in chosen.get(name, [getattr(case, field)])]
        for name, field in FIELDS.items()
    }
    cases = [case.changed(**dict(zip(FIELDS.values(), choice, strict=True))) for choice in product(*choices.values())]
    _refuse_giant(axes, len(cases), layout)
    probe = _Probe(cases[0])
    dimensions = _make_grid(axes, layout, probe) if layout.samples is None else [_sample_axes(axes, layout, probe)]
    categories = [Categories(name, _distinct_labels(name, choices[name])) for name in CATEGORIES if name in chosen]
    return Study(cases, categories, dimensions, metrics=metrics)


FIELDS = dict(zip(CATEGORIES, ("application", "machine", "socket", "kernel"), strict=True))  # of a case


def _load_model(category: str, item: Any, allow_outside: bool) -> Any:
    """The model that a text stands for; sockets and kernels are texts."""
    if category == "app" and isinstance(item, str):
        return load_application(item, allow_outside=allow_outside)
    return load_machine(item, allow_outside=allow_outside) if category == "machine" and isinstance(item, str) else item


def _refuse_set(names: Iterable[str], settings: Mapping[str, Setting]) -> None:
    if not names:
        fail("no-axis", "a sweep goes over something", hint="name it: n=1k..1M:log:200")
    for name in names:
        if name in settings:
            fail("axis-set", f"`{name}` is set to a value and swept over", hint="leave one of the two")


def _list_items(name: str, axis: Axis | Iterable[Any]) -> list[Any]:
    choices = [item.text() for item in axis.items] if isinstance(axis, Axis) else list(axis)
    if not choices:
        fail("bad-axis", f"`{name}` has no values", hint=f"name them: {name}=A,B")
    return choices


def _distinct_labels(name: str, choices: list[Any]) -> tuple[str, ...]:
    labels = [getattr(choice, "name", str(choice)) for choice in choices]
    for label in labels:
        if labels.count(label) > 1:
            fail("category-twice", f"`{label}` is twice among the values of `{name}`")
    return tuple(labels)


def _numbers_as_column(name: str, items: Iterable[Any]) -> Floats:
    """Values that were given, as a column."""
    try:
        column = numpy.asarray(items if hasattr(items, "__len__") else list(items), dtype=numpy.float64)
    except (TypeError, ValueError):
        fail("bad-value", f"the values of `{name}` are not all numbers")
    if column.ndim != 1 or not column.size:
        fail("bad-value", f"the values of `{name}` are not a list of numbers", hint="one dimension, not empty")
    return column


def _refuse_giant(axes: Mapping[str, Axis | Floats], cases: int, layout: Layout) -> None:
    """Refuses more points or values than a user can have meant, before they are made."""
    lengths = {name: count_values(axis) if isinstance(axis, Axis) else len(axis) for name, axis in axes.items()}
    _refuse_long([lengths[name] for name, axis in axes.items() if isinstance(axis, Axis)], layout)
    for name in (name for group in layout.zip for name in group[1:]):
        lengths.pop(name, None)
    samples = layout.samples
    if samples is not None and samples > MOST_VALUES:
        fail("too-long", f"a sample has at most {MOST_VALUES:,} points, not {samples:,}")
    points = cases * prod(lengths.values() if samples is None else [samples])
    if points > MOST_UNASKED and not layout.yes:
        hours = points / POINTS_A_SECOND / 3600
        long = f"{hours / 24:,.0f} days" if hours >= 48 else f"{hours:,.1f} hours"
        message = (
            f"that is {points:,} points: {format_quantity(8 * points, 'B')} of results, and some {long} of computing"
        )
        fail("too-many-points", message, hint="--yes (in Python, yes=True) if that is what you want")


def _refuse_long(lengths: Sequence[int], layout: Layout) -> None:
    """Refuses axes whose values alone take more memory than there may be: they are made as a whole."""
    count = sum(lengths) if layout.samples is None else len(lengths) * layout.samples
    needed = WHILE_MADE * 8 * count
    if needed > max(layout.memory, LEAST_LONG):
        sizes = (
            f"{format_quantity(needed, 'B')} while they are made, and {format_quantity(layout.memory, 'B')} may be used"
        )
        hint = f"--memory-limit {-(-needed // 10**6)}MB (in Python, memory=...), or fewer points"
        fail("too-large", f"the {count:,} values of the axes alone take {sizes}", hint=hint)


def _sample_axes(axes: Mapping[str, Axis | Floats], layout: Layout, probe: _Probe) -> GridDimension:
    if layout.zip or not axes:
        fail("bad-sample", "a sample is taken of the ranges of some axes, and they are not paired")
    spans = {name: _span_of_axis(axis, probe) for name, axis in axes.items()}
    return GridDimension("sample", sample_columns(spans, layout.samples or 0, layout.method, probe.case.seed))


def _make_grid(axes: Mapping[str, Axis | Floats], layout: Layout, probe: _Probe) -> list[GridDimension]:
    """The dimensions of the grid: one per axis, and one for the axes of each group together."""
    columns = {name: _column_of_values(name, axis, probe) for name, axis in axes.items()}
    group_of: dict[str, Sequence[str]] = {}
    for group in layout.zip:
        for name in group:
            if name not in columns:
                fail("unknown-axis", f"`{name}` is paired with others, and is not a numeric axis of the sweep")
            if name in group_of:
                fail("unknown-axis", f"`{name}` is paired twice")
            group_of[name] = group
            if len(columns[name]) != len(columns[group[0]]):
                message = f"`{group[0]}` has {len(columns[group[0]])} values and `{name}` {len(columns[name])}"
                fail("uneven-axes", message, hint="axes that go side by side have the same number of values")
    groups = dict.fromkeys(tuple(group_of.get(name, (name,))) for name in columns)
    return [GridDimension("-".join(group), {name: columns[name] for name in group}) for group in groups]


def _column_of_values(name: str, axis: Axis | Floats, probe: _Probe) -> Floats:
    """The values of an axis; those of something that is counted are whole ones, unless a range says `:real`."""
    scope = ResolvedCase(probe.case).scope
    if isinstance(axis, Axis):
        column = axis_values(axis, probe.reader(name), probe.declared)
        if axis.is_real:
            return column
        if axis.whole is None and not axis.items and (scope.is_count(name) or probe.fits_whole(axis, column)):
            column = axis_values(axis.replace(whole=True), probe.reader(name), probe.declared)
    else:
        column = axis
    for part in numpy.array_split(column, 1 + len(column) // IN_CACHE):
        fractions = part[numpy.floor(part) != part]  # an eighth of the time of a remainder
        for value in fractions[numpy.isfinite(fractions)][:1]:
            scope.refuse_fraction(scope.symbol(name), name, float(value))
    return column


IN_CACHE = 32_768
"""Values that a cache holds beside what is made of them."""


# -- values in the language ------------------------------------------------------------------------


class _Probe:
    """Values of a user's expressions, and of declared ranges, in the first case."""

    def __init__(self, case: Case) -> None:
        self.case = case

    def reader(self, name: str) -> Any:
        """The values of expressions that stand for `name`."""

        def read(span: Span) -> float:
            scope = Prediction(self.case.with_set({name: span.text()})).scope
            return _to_float(scope.values([scope.symbol(name)])[0], name)

        return read

    def declared(self, name: str) -> tuple[float, float] | None:
        """The range that the model gives a parameter."""
        prediction = Prediction(self.case)
        parameters = (*prediction.application.parameters.values(), *prediction.machine.parameters)
        ends = range_of_symbol(prediction.scope.symbol(name), parameters)
        if ends is None:
            return None
        low, high = prediction.scope.values(ends)
        return _to_float(low, name), _to_float(high, name)

    def takes_whole_numbers(self, name: str, low: float, high: float) -> bool:
        """Whether a parameter takes whole numbers: it has one, and so are both ends of its range."""
        try:
            return is_countable(name, Prediction(self.case)) and low.is_integer() and high.is_integer()
        except AspenError:
            return False  # it has no value of its own, and may be anything

    def fits_whole(self, axis: Axis, column: Floats) -> bool:
        """Whether whole numbers may stand for the values of a range, as where it is sampled: for as many as were asked
        for only if they stay different."""
        if axis.count is not None and (len(column) < 2 or column[1] - column[0] < 1):  # the smallest gap is the first
            return False
        return self.takes_whole_numbers(axis.name, float(column[0]), float(column[-1]))


def _to_float(value: Any, name: str) -> float:
    try:
        return float(value)
    except (TypeError, OverflowError):
        fail("bad-value", f"a value of `{name}` is not a number in the range of double precision")


def _span_of_axis(axis: Axis | Floats, probe: _Probe) -> AxisSpread:
    """The range or the choices that an axis is sampled from."""
    if not isinstance(axis, Axis):
        return AxisSpread(choices=tuple(axis.tolist()))
    if axis.count is not None:
        message = f"`{axis.name}` is sampled, and its range says how many points"
        fail("bad-axis", message, axis.span, hint="leave the number out")
    if axis.items:
        read = probe.reader(axis.name)
        return AxisSpread(choices=tuple(read_number_or_expression(item, read) for item in axis.items))
    ends = axis_values(axis.replace(count=2), probe.reader(axis.name), probe.declared)
    low, high = float(ends[0]), float(ends[-1])
    spacing = axis.spacing or ("log" if axis.declared and axis.is_logarithmic(low, high) else "lin")
    whole = probe.takes_whole_numbers(axis.name, low, high) if axis.whole is None else axis.whole
    return AxisSpread(low, high, spacing, whole)
