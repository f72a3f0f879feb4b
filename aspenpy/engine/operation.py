"""Operation: a step of a program (see `Program` for the kinds), and the interval that its value lies in."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from aspenpy.expr.arithmetic import DomainError
from aspenpy.expr.failures import LAWS
from aspenpy.expr.functions import FUNCTIONS
from aspenpy.expr.intervals import ANYWHERE, FLAT, OPERATORS, DirectedInterval
from aspenpy.record import NamedTuple


class Op(NamedTuple):
    """One operation. `args` are positions of earlier ones; `mask` has a bit for each input that it depends on,
    and for each counter of a loop around it."""

    kind: str
    args: tuple[int, ...] = ()
    payload: Any = None
    mask: int = 0


class SumLoop(NamedTuple):
    """The payload of a `sum`, whose args are the count and the operations outside of the loop that the body uses."""

    counter: int
    body: int
    inside: tuple[int, ...]


_ARRAYS = {"index": 1, "lookup": 2}


def array_operands(op: Op) -> tuple[int, ...]:
    """The operands that must be arrays."""
    return op.args[: _ARRAYS.get(op.kind, 0)]


# -- intervals -------------------------------------------------------------------------------------


Interval = tuple[float, float]

UNBOUNDED: Interval = (-math.inf, math.inf)

LARGEST = 1e300  # larger values are taken to overflow; the margin covers libraries that round differently


def find_intervals(ops: Sequence[Op], box: Sequence[Interval]) -> list[Interval]:
    """One interval for each operation, from the intervals of the inputs; an operation with a finite interval certainly
    has a value. Operations that may fail, overflow or have any value, and loops, are unbounded."""
    ranges: list[DirectedInterval] = []
    for op in ops:
        ranges.append(_bound_operation(op, [ranges[arg] for arg in op.args], box))
    return [(float(interval.low), float(interval.high)) for interval in ranges]


def is_certain(interval: Interval) -> bool:
    return interval[0] >= -LARGEST and interval[1] <= LARGEST


def lies_within(law: str, interval: Interval) -> bool:
    """Whether all values of an interval obey a law."""
    return is_certain(interval) and all(bool(LAWS[law].is_obeyed_by(end)) for end in interval)


def _bound_operation(op: Op, parts: list[DirectedInterval], box: Sequence[Interval]) -> DirectedInterval:
    if op.kind == "input":
        return DirectedInterval(*box[op.payload])
    if op.kind == "constant" and isinstance(op.payload, float):
        return DirectedInterval(op.payload, op.payload, FLAT)
    if op.kind == "checked":
        return parts[0] if lies_within(op.payload, (float(parts[1].low), float(parts[1].high))) else ANYWHERE
    function = FUNCTIONS.get(op.kind)
    law = function.interval if function else OPERATORS.get(op.payload if op.kind == "compare" else op.kind)
    if law is None or not all(part.low >= -LARGEST and part.high <= LARGEST for part in parts):
        return ANYWHERE
    try:
        bounds = law(*parts)
    except (ArithmeticError, ValueError, DomainError):
        return ANYWHERE
    return bounds if bounds.low >= -LARGEST and bounds.high <= LARGEST else ANYWHERE
