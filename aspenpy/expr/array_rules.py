"""The operations of sweeps and of long loops on NumPy arrays of any shapes that broadcast.

A rule takes the runner, the payload of the operation and the operands. It reports points without value to the runner
(`refuse`); the runner itself detects overflows and divisions by zero. An array of the language is a tuple of its
elements, which may differ from point to point, or a `ConstantArray`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from itertools import pairwise
from typing import Any, Protocol

import numpy
from numpy.typing import NDArray

from aspenpy.expr import draws
from aspenpy.expr.failures import CONSTRAINT, DOMAIN, LAWS
from aspenpy.expr.functions import ELEMENTARY, FUNCTIONS, special_functions
from aspenpy.expr.graph import COMPARISONS

LONG_TABLE = 8
"""Elements of a constant table from which on its segments are searched for instead of computed one by one."""


class ConstantArray(tuple[Any, ...]):
    """An array or table of floats that is the same at all points."""

    @cached_property
    def rows(self) -> NDArray[numpy.float64]:
        """The table as a NumPy array; a single NaN where the rows have different lengths."""
        try:
            return numpy.array(self, dtype=numpy.float64)
        except ValueError:
            return numpy.array(numpy.nan)


class Runner(Protocol):
    """Runs operations: a sweep, or a loop with a lane for each pass."""

    seed: int

    def refuse(self, where: Any, reason: int) -> None:
        """Records that there is no value where the condition holds."""
        ...


Rule = Callable[..., Any]


def _check_law(run: Runner, payload: Any, value: Any, subject: Any) -> Any:
    run.refuse(numpy.logical_not(LAWS[payload].is_obeyed_by(subject)), CONSTRAINT)
    return value


def _compute_root(run: Runner, payload: Any, x: Any) -> Any:
    """Negative numbers have no root, like no other fractional power. Roots of whole powers are exact, which not every
    library guarantees."""
    run.refuse(x < 0, DOMAIN)
    root = numpy.cbrt(x) if payload == 3 else numpy.power(numpy.maximum(x, 0.0), 1 / payload)
    near = numpy.rint(root)
    return numpy.where(numpy.power(near, payload) == x, near, root)


def _take_element(run: Runner, payload: Any, array: Any, *positions: Any) -> Any:
    """The element, outermost position first; positions are truncated to whole numbers."""
    if not isinstance(array, tuple) or not array:
        run.refuse(True, DOMAIN)
        return numpy.nan
    if isinstance(array, ConstantArray) and array.rows.ndim == len(positions) and array.rows.size:
        lengths = array.rows.shape
        pairs = zip(positions, lengths, strict=True)
        return array.rows[tuple([_locate_element(run, position, length) for position, length in pairs])]
    index = _locate_element(run, positions[0], len(array))
    value: Any = numpy.nan
    for number, element in enumerate(array):
        here = index == number
        if len(positions) > 1:
            element = _take_element(_Where(run, here), payload, element, *positions[1:])
        elif isinstance(element, tuple):
            run.refuse(here, DOMAIN)
            element = numpy.nan
        value = numpy.where(here, element, value)
    return value


def _locate_element(run: Runner, position: Any, length: int) -> Any:
    """The place of an element as a whole number; one outside of the array is refused."""
    index = numpy.trunc(position)
    run.refuse(numpy.logical_not((index >= 0) & (index < length)), DOMAIN)
    return numpy.clip(numpy.nan_to_num(index), 0, length - 1).astype(numpy.intp)


class _Where:
    """A runner restricted to the points where a condition holds."""

    def __init__(self, run: Runner, here: Any) -> None:
        self.run, self.here, self.seed = run, here, run.seed

    def refuse(self, where: Any, reason: int) -> None:
        self.run.refuse(where & self.here, reason)


def _interpolate(run: Runner, payload: Any, values: Any, sizes: Any, x: Any) -> Any:
    """The line through the points; in short tables, and where the points vary, computed segment by segment."""
    if not (_is_array(values) and _is_array(sizes) and len(values) == len(sizes)):
        run.refuse(True, DOMAIN)
        return numpy.nan
    run.refuse(_find_unordered(numpy.less, sizes), DOMAIN)
    if len(sizes) > LONG_TABLE and isinstance(values, ConstantArray) and isinstance(sizes, ConstantArray):
        rule = FUNCTIONS["lookup"].numpy
        assert rule is not None
        return rule(numpy, values.rows, sizes.rows, x)
    value = values[0]
    for left in range(len(sizes) - 1):
        width, rise = sizes[left + 1] - sizes[left], values[left + 1] - values[left]
        line = values[left] + rise * (x - sizes[left]) / width
        value = line if left == 0 else numpy.where(x >= sizes[left], line, value)
    return value


def _is_array(value: Any) -> bool:
    return isinstance(value, tuple) and len(value) > 0 and not any(isinstance(element, tuple) for element in value)


def _find_unordered(precedes: Any, values: tuple[Any, ...]) -> Any:
    """Mask of the elements that do not precede the next one."""
    if isinstance(values, ConstantArray):
        return not precedes(values.rows[:-1], values.rows[1:]).all()
    unordered: Any = False
    for lower, upper in pairwise(values):
        unordered = unordered | numpy.logical_not(precedes(lower, upper))
    return unordered


def _hash_stream(run: Runner, payload: Any, *parts: Any) -> Any:
    return draws.hash_stream([_stream_part_of(run, part) for part in parts])


def _stream_part_of(run: Runner, part: Any) -> Any:
    """A number as part of a stream: an int, or an array of uint64."""
    if isinstance(part, int):
        return part & draws.MASK
    if isinstance(part, numpy.ndarray | numpy.generic) and part.dtype == numpy.uint64:
        return part
    numbers, usable = draws.encode_array_part(numpy, part)
    run.refuse(numpy.logical_not(usable), DOMAIN)
    return numbers


def _draw_numbers(run: Runner, payload: Any, stream: Any, *arguments: Any) -> Any:
    return _DISTRIBUTIONS[payload](run, draws.random_bits(run.seed, stream), *arguments)


def _draw_uniform(run: Runner, random_bits: Any, low: Any, high: Any) -> Any:
    run.refuse(low > high, DOMAIN)
    return low + (high - low) * draws.unit_interval(random_bits)


def _draw_normal(run: Runner, random_bits: Any, mean: Any, deviation: Any) -> Any:
    run.refuse(deviation < 0, DOMAIN)
    with numpy.errstate(all="ignore"):  # of three approximations those that are not taken may do as they like
        quantiles = draws.normal_quantiles(numpy, numpy.asarray(draws.open_unit_interval(random_bits)))
    return mean + deviation * quantiles


def _draw_step(run: Runner, random_bits: Any, cumulative: Any) -> Any:
    steps = cumulative if _is_array(cumulative) else ConstantArray((numpy.nan,))
    run.refuse(numpy.logical_not(abs(steps[-1] - 1.0) <= draws.ENDS_AT_ONE), DOMAIN)
    run.refuse(numpy.logical_not(numpy.asarray(steps[0]) >= 0.0), DOMAIN)
    run.refuse(_find_unordered(numpy.less_equal, steps), DOMAIN)
    drawn = draws.unit_interval(random_bits)
    if isinstance(steps, ConstantArray):
        passed: Any = numpy.searchsorted(steps.rows, drawn, side="right")
    else:
        passed = sum(numpy.where(step <= drawn, 1.0, 0.0) for step in steps)
    return numpy.minimum(passed, len(steps) - 1.0)


_DISTRIBUTIONS: dict[str, Rule] = {"uniform": _draw_uniform, "normal": _draw_normal, "cdf": _draw_step}


def _select_value(run: Runner, payload: Any, condition: Any, then: Any, otherwise: Any) -> Any:
    """One of two values; of two arrays, element by element."""
    if not isinstance(then, tuple) and not isinstance(otherwise, tuple):
        return numpy.where(condition, then, otherwise)
    if not isinstance(then, tuple) or not isinstance(otherwise, tuple) or len(then) != len(otherwise):
        run.refuse(True, DOMAIN)
        return numpy.nan
    return tuple(_select_value(run, payload, condition, *pair) for pair in zip(then, otherwise, strict=True))


def _plain_rule(function: Callable[..., Any]) -> Rule:
    return lambda run, payload, *operands: function(*operands)


def _table_rule(name: str) -> Rule:
    rule = FUNCTIONS[name].numpy
    assert rule is not None, name
    return lambda run, payload, *operands: rule(numpy, *operands)


def _guarded_table_rule(name: str) -> Rule:
    """A function whose NumPy rule marks missing values as NaN; floating-point errors inside of it are ignored."""
    rule = _table_rule(name)

    def apply_guarded(run: Runner, payload: Any, *operands: Any) -> Any:
        with numpy.errstate(all="ignore"):
            value = rule(run, payload, *operands)
        run.refuse(numpy.isnan(value), DOMAIN)
        return value

    return apply_guarded


RULES: dict[str, Rule] = {
    "add": _plain_rule(numpy.add),
    "sub": _plain_rule(numpy.subtract),
    "mul": _plain_rule(numpy.multiply),
    "div": _plain_rule(numpy.true_divide),
    "neg": _plain_rule(numpy.negative),
    "square": _plain_rule(numpy.square),
    "root": _compute_root,
    "power": _plain_rule(numpy.power),
    "and": _plain_rule(numpy.logical_and),
    "or": _plain_rule(numpy.logical_or),
    "compare": lambda run, payload, left, right: COMPARISONS[payload](left, right),
    "if": _select_value,
    "array": lambda run, payload, *elements: elements,
    "index": _take_element,
    "lookup": _interpolate,
    "checked": _check_law,
    "stream": _hash_stream,
    "draw": _draw_numbers,
    **{name: _guarded_table_rule(name) for name in special_functions()},
    **{name: _table_rule(name) for name in ELEMENTARY - {"lookup", "pow"}},
}
"""All kinds except those that the runner handles itself: constants, inputs, counters, sums, failures."""
