"""The operations of a program on NumPy arrays of any shapes that broadcast.

A rule takes the back end, the operation and the operands. It reports points without value to the back end (`refuse`);
the back end itself detects overflows and divisions by zero.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, Protocol

import numpy

from aspenpy.engine.operation import CONSTRAINT, DOMAIN, Op
from aspenpy.engine.program import BY_NUMPY
from aspenpy.expr import draws
from aspenpy.expr.functions import FUNCTIONS
from aspenpy.expr.graph import COMPARISONS
from aspenpy.expr.laws import LAWS


class Evaluation(Protocol):
    """The back end that runs the operations."""

    seed: int

    def refuse(self, where: Any, reason: int) -> None:
        """Records that there is no value where the condition holds."""
        ...


Rule = Callable[..., Any]


def _checked(run: Evaluation, op: Op, value: Any, subject: Any) -> Any:
    run.refuse(numpy.logical_not(LAWS[op.payload].holds(subject)), CONSTRAINT)
    return value


def _root(run: Evaluation, op: Op, x: Any) -> Any:
    """Negative numbers have no root, like no other fractional power. Roots of whole powers are exact, which not every
    library guarantees."""
    run.refuse(x < 0, DOMAIN)
    root = numpy.cbrt(x) if op.payload == 3 else numpy.power(numpy.maximum(x, 0.0), 1 / op.payload)
    near = numpy.rint(root)
    return numpy.where(numpy.power(near, op.payload) == x, near, root)


def _index(run: Evaluation, op: Op, array: Any, *positions: Any) -> Any:
    """The element, outermost position first; positions are truncated to whole numbers."""
    position, *rest = positions
    place = numpy.trunc(position)
    if not isinstance(array, tuple):
        run.refuse(True, DOMAIN)
        return numpy.nan
    run.refuse((place < 0) | (place >= len(array)), DOMAIN)
    if not rest and all(isinstance(element, float) for element in array):
        inside = numpy.clip(numpy.nan_to_num(place), 0, len(array) - 1)
        return numpy.array(array)[inside.astype(numpy.intp)] if array else numpy.nan
    value: Any = numpy.nan
    for number, element in enumerate(array):
        here = place == number
        if rest:
            element = _index(_Where(run, here), op, element, *rest)
        elif isinstance(element, tuple):
            run.refuse(here, DOMAIN)
            element = numpy.nan
        value = numpy.where(here, element, value)
    return value


class _Where:
    """A back end restricted to the points where a condition holds."""

    def __init__(self, run: Evaluation, here: Any) -> None:
        self.run, self.here, self.seed = run, here, run.seed

    def refuse(self, where: Any, reason: int) -> None:
        self.run.refuse(where & self.here, reason)


def _lookup(run: Evaluation, op: Op, values: Any, sizes: Any, x: Any) -> Any:
    """The line through the points; computed segment by segment, since the points may vary."""
    if not (_is_array(values) and _is_array(sizes) and len(values) == len(sizes)):
        run.refuse(True, DOMAIN)
        return numpy.nan
    for lower, upper in pairwise(sizes):
        run.refuse(numpy.logical_not(lower < upper), DOMAIN)
    value = values[0]
    for left in range(len(sizes) - 1):
        run_, rise = sizes[left + 1] - sizes[left], values[left + 1] - values[left]
        line = values[left] + rise * (x - sizes[left]) / run_
        value = line if left == 0 else numpy.where(x >= sizes[left], line, value)
    return value


def _is_array(value: Any) -> bool:
    return isinstance(value, tuple) and len(value) > 0 and not any(isinstance(element, tuple) for element in value)


def _stream(run: Evaluation, op: Op, *parts: Any) -> Any:
    return draws.hash_stream([_stream_part_of(run, part) for part in parts])


def _stream_part_of(run: Evaluation, part: Any) -> Any:
    """A number as part of a stream: an int, or an array of uint64."""
    if isinstance(part, int):
        return part & draws.MASK
    if isinstance(part, numpy.ndarray | numpy.generic) and part.dtype == numpy.uint64:
        return part
    numbers, usable = draws.array_part(numpy, part)
    run.refuse(numpy.logical_not(usable), DOMAIN)
    return numbers


def _draw(run: Evaluation, op: Op, stream: Any, *arguments: Any) -> Any:
    return _DISTRIBUTIONS[op.payload](run, draws.random_bits(run.seed, stream), *arguments)


def _uniform(run: Evaluation, random_bits: Any, low: Any, high: Any) -> Any:
    run.refuse(low > high, DOMAIN)
    return low + (high - low) * draws.unit_interval(random_bits)


def _normal(run: Evaluation, random_bits: Any, mean: Any, deviation: Any) -> Any:
    run.refuse(deviation < 0, DOMAIN)
    with numpy.errstate(all="ignore"):  # of three approximations those that are not taken may do as they like
        quantiles = draws.normal_quantiles(numpy, numpy.asarray(draws.open_unit_interval(random_bits)))
    return mean + deviation * quantiles


def _cdf(run: Evaluation, random_bits: Any, cumulative: Any) -> Any:
    steps = cumulative if _is_array(cumulative) else (numpy.nan,)
    run.refuse(numpy.logical_not(abs(steps[-1] - 1.0) <= draws.ENDS_AT_ONE), DOMAIN)
    for lower, upper in zip((0.0, *steps), steps, strict=False):
        run.refuse(lower > upper, DOMAIN)
    drawn = draws.unit_interval(random_bits)
    fallen = sum(numpy.where(step <= drawn, 1.0, 0.0) for step in steps)
    return numpy.minimum(fallen, len(steps) - 1.0)


_DISTRIBUTIONS: dict[str, Rule] = {"uniform": _uniform, "normal": _normal, "cdf": _cdf}


def _if(run: Evaluation, op: Op, condition: Any, then: Any, otherwise: Any) -> Any:
    """One of two values; of two arrays, element by element."""
    if not isinstance(then, tuple) and not isinstance(otherwise, tuple):
        return numpy.where(condition, then, otherwise)
    if not isinstance(then, tuple) or not isinstance(otherwise, tuple) or len(then) != len(otherwise):
        run.refuse(True, DOMAIN)
        return numpy.nan
    return tuple(_if(run, op, condition, *pair) for pair in zip(then, otherwise, strict=True))


def _plain_rule(function: Callable[..., Any]) -> Rule:
    return lambda run, op, *operands: function(*operands)


def _table_rule(name: str) -> Rule:
    rule = FUNCTIONS[name].numpy
    assert rule is not None, name
    return lambda run, op, *operands: rule(numpy, *operands)


def _guarded_table_rule(name: str) -> Rule:
    """A function whose NumPy rule marks missing values as NaN; floating-point errors inside of it are ignored."""
    rule = _table_rule(name)

    def applied(run: Evaluation, op: Op, *operands: Any) -> Any:
        with numpy.errstate(all="ignore"):
            value = rule(run, op, *operands)
        run.refuse(numpy.isnan(value), DOMAIN)
        return value

    return applied


RULES: dict[str, Rule] = {
    "add": _plain_rule(numpy.add),
    "sub": _plain_rule(numpy.subtract),
    "mul": _plain_rule(numpy.multiply),
    "div": _plain_rule(numpy.true_divide),
    "neg": _plain_rule(numpy.negative),
    "square": _plain_rule(numpy.square),
    "root": _root,
    "power": _plain_rule(numpy.power),
    "and": _plain_rule(numpy.logical_and),
    "or": _plain_rule(numpy.logical_or),
    "compare": lambda run, op, left, right: COMPARISONS[op.payload](left, right),
    "if": _if,
    "array": lambda run, op, *elements: elements,
    "index": _index,
    "lookup": _lookup,
    "checked": _checked,
    "stream": _stream,
    "draw": _draw,
    **{name: _guarded_table_rule(name) for name in BY_NUMPY},
    **{
        name: _table_rule(name)
        for name in ("log", "log2", "log10", "exp", "sqrt", "floor", "ceil", "round", "abs", "mod", "max", "min")
    },
}
"""All kinds except those that the back end handles itself: constants, inputs, counters, sums, failures."""
