"""The interval of each operation of a program, from the intervals of its inputs.

Rounding is monotonic, so that ends computed in float64 bound the program's own float64 values. Operations that may
fail, overflow or have any value are ANYWHERE.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from aspenpy.engine.operation import Op
from aspenpy.expr.functions import FUNCTIONS
from aspenpy.expr.laws import LAWS

Interval = tuple[float, float]

ANYWHERE: Interval = (-math.inf, math.inf)

LARGEST = 1e300  # larger values are taken to overflow; the margin covers libraries that round differently


def find_intervals(ops: Sequence[Op], box: Sequence[Interval]) -> list[Interval]:
    """One interval for each operation; an operation with a finite interval certainly has a value."""
    results: list[Interval] = []
    for op in ops:
        results.append(_interval(op, [results[arg] for arg in op.args], box))
    return results


def is_certain(interval: Interval) -> bool:
    return interval[0] >= -LARGEST and interval[1] <= LARGEST


def is_obeyed(law: str, interval: Interval) -> bool:
    """Whether all values of an interval obey a law."""
    return is_certain(interval) and all(bool(LAWS[law].holds(end)) for end in interval)


def _interval(op: Op, parts: list[Interval], box: Sequence[Interval]) -> Interval:
    if op.kind == "input":
        place: int = op.payload
        return box[place]
    if op.kind == "constant" and isinstance(op.payload, float):
        return op.payload, op.payload
    if op.kind == "checked":
        return parts[0] if is_obeyed(op.payload, parts[1]) else ANYWHERE
    rule: Callable[..., Interval] | None = _RULES.get(op.kind)
    if rule is None and op.kind in FUNCTIONS:
        rule = FUNCTIONS[op.kind].interval
    if rule is None or not all(map(is_certain, parts)):
        return ANYWHERE
    try:
        low, high = rule(*parts)
    except (ArithmeticError, ValueError):
        return ANYWHERE
    return (low, high) if is_certain((low, high)) else ANYWHERE


def _corners(rule: Callable[[float, float], float]) -> Callable[[Interval, Interval], Interval]:
    """The interval rule of a function that is monotonic in each operand."""

    def ends(a: Interval, b: Interval) -> Interval:
        values = [rule(x, y) for x in a for y in b]
        return min(values), max(values)

    return ends


def _quotient(a: Interval, b: Interval) -> Interval:
    if b[0] <= 0.0 <= b[1]:
        return ANYWHERE
    return _corners(lambda x, y: x / y)(a, b)


def _square(a: Interval) -> Interval:
    ends = a[0] * a[0], a[1] * a[1]
    return (0.0 if a[0] <= 0.0 <= a[1] else min(ends)), max(ends)


def _power(base: Interval, exponent: Interval) -> Interval:
    """For positive bases."""
    return _corners(math.pow)(base, exponent) if base[0] > 0.0 else ANYWHERE


def _root(a: Interval) -> Interval:
    """For any degree."""
    return (0.0, max(1.0, a[1])) if a[0] >= 0.0 else ANYWHERE


_RULES: dict[str, Callable[..., Interval]] = {
    "add": lambda a, b: (a[0] + b[0], a[1] + b[1]),
    "sub": lambda a, b: (a[0] - b[1], a[1] - b[0]),
    "mul": _corners(lambda x, y: x * y),
    "div": _quotient,
    "neg": lambda a: (-a[1], -a[0]),
    "square": _square,
    "root": _root,
    "power": _power,
    "compare": lambda a, b: (0.0, 1.0),
    "and": lambda a, b: (0.0, 1.0),
    "or": lambda a, b: (0.0, 1.0),
    "if": lambda condition, a, b: (min(a[0], b[0]), max(a[1], b[1])),
}
"""Rules of functions are in the table of functions. Loops are ANYWHERE."""
