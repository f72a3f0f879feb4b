"""Sampling: points scattered over the ranges of some axes, instead of a grid."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy

from aspenpy.engine.arrays import Floats
from aspenpy.expr.draws import for_generators
from aspenpy.language.axis import Extent
from aspenpy.language.diagnostics import fail, nearest
from aspenpy.record import Record

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


def sampled(spans: Mapping[str, Spread], count: int, method: str, seed: int) -> dict[str, Floats]:
    """A column of `count` values for each axis; the same for the same seed. Raises AspenError."""
    if method not in METHODS:
        hint = nearest(method, METHODS) or "the methods are " + ", ".join(METHODS)
        fail("unknown-method", f"there is no sampling method `{method}`", hint=hint)
    if count < 1:
        fail("bad-sample", f"a sample has at least 1 point, not {count}")
    places = _places(count, len(spans), method, numpy.random.default_rng(for_generators(seed)))
    return {name: span.at(column) for (name, span), column in zip(spans.items(), places.T, strict=True)}


def _places(count: int, axes: int, method: str, generator: numpy.random.Generator) -> Floats:
    """Points of the unit cube."""
    if method == "uniform":
        return generator.random((count, axes))
    try:
        from scipy.stats import qmc
    except ImportError:
        message = f"the method `{method}` needs SciPy: pip install 'aspenpy[sample]'"
        fail("missing-scipy", message, hint="--method uniform needs nothing")
    sampler = {"sobol": qmc.Sobol, "latin": qmc.LatinHypercube}[method](axes, rng=generator)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a count that is no power of two is the user's to choose
        places: Floats = sampler.random(count)
    return places
