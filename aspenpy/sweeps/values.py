"""Values: the numbers of an axis as a column, in their order or scattered over its range."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy

from aspenpy.engine.arrays import Floats
from aspenpy.expr.draws import generator_seed
from aspenpy.language.axis import Axis, Extent, read_number_or_expression
from aspenpy.language.diagnostics import fail, require_known
from aspenpy.language.source import Span
from aspenpy.record import Record

POINTS = 100  # of a range that does not say how many
MOST_VALUES = 10**8  # of one axis: 800 megabytes
Worth = Callable[[Span], float]  # the value of an expression in the language, as a user wrote it
Declared = Callable[[str], tuple[float, float] | None]  # the range that the model gives a parameter


def length(axis: Axis) -> int:
    """How many values it has, at most."""
    return len(axis.items) or axis.count or POINTS


def values(axis: Axis, worth: Worth, declared: Declared) -> Floats:
    """The values of a numeric axis, float64; raises AspenError."""
    if axis.items:
        return numpy.array([read_number_or_expression(item, worth) for item in axis.items])
    low, high, spacing = _ends(axis, worth, declared)
    if low > high:
        message = f"the range of `{axis.name}` is empty: {low:.6g} is above {high:.6g}"
        hint = f"the lower end comes first: {axis.name}={high:.6g}..{low:.6g}"
        fail("empty-range", message, axis.span, hint=hint)
    if spacing != "lin" and low <= 0:
        steps = "equal ratios" if spacing == "log" else "powers of two"
        message = f"`{axis.name}` cannot go from {low:.6g} in {steps}"
        fail("bad-range", message, axis.span, hint="begin above 0, or say :lin")
    if length(axis) > MOST_VALUES:
        fail("too-long", f"`{axis.name}` has {length(axis):,} values, and an axis at most {MOST_VALUES:,}", axis.span)
    column: Floats = _space_values(low, high, spacing, length(axis))
    if axis.whole:
        column = numpy.unique(numpy.clip(numpy.rint(column), numpy.ceil(low), numpy.floor(high)))
    if not len(column) or (axis.whole and numpy.ceil(low) > numpy.floor(high)):
        what = "whole numbers" if axis.whole else "powers of two"
        fail("empty-range", f"there are no {what} from {low:.6g} to {high:.6g} for `{axis.name}`", axis.span)
    return column


def _space_values(low: float, high: float, spacing: str, count: int) -> Any:
    """Both ends are hit exactly."""
    if spacing == "pow2":
        first, last = int(numpy.ceil(numpy.log2(low))), int(numpy.floor(numpy.log2(high)))
        return 2.0 ** numpy.arange(first, last + 1)
    with numpy.errstate(all="ignore"):  # ends too far apart give values that `Study` refuses
        return numpy.linspace(low, high, count) if spacing == "lin" else numpy.geomspace(low, high, count)


def _ends(axis: Axis, worth: Worth, declared: Declared) -> tuple[float, float, str]:
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
    return low, high, axis.spacing or ("log" if axis.log(low, high) else "lin")


# -- scattered over the range, instead of a grid ---------------------------------------------------

METHODS = ("uniform", "latin", "sobol")
"""Independent draws; a Latin hypercube (McKay et al. 1979); Sobol's sequence (1967), scrambled after Owen (1995)."""


class Spread(Record):
    """What an axis is sampled from: the numbers from `low` to `high`, evenly (`lin`), in equal ratios (`log`) or as
    powers of two (`pow2`), `whole` ones or all; or one of some `choices`."""

    low: float = 0.0
    high: float = 0.0
    spacing: str = "lin"
    whole: bool = False
    choices: tuple[float, ...] = ()

    def at(self, places: Floats) -> Any:
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


def sample_columns(spans: Mapping[str, Spread], count: int, method: str, seed: int) -> dict[str, Floats]:
    """A column of `count` values for each axis; the same for the same seed. Raises AspenError."""
    message = f"there is no sampling method `{method}`"
    require_known(method, METHODS, "unknown-method", message, listed="the methods are")
    if count < 1:
        fail("bad-sample", f"a sample has at least 1 point, not {count}")
    places = _places(count, len(spans), method, numpy.random.default_rng(generator_seed(seed)))
    return {name: span.at(column) for (name, span), column in zip(spans.items(), places.T, strict=True)}


def _places(count: int, axes: int, method: str, generator: numpy.random.Generator) -> Floats:
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
