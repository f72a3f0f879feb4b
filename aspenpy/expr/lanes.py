"""Loops with many passes, run as NumPy arrays with a lane for each pass.

A lane is doubtful if an operation failed in it (its value is then nan, which no rule below removes), or if rounding may
have moved a value across a step of `ceil`, `floor`, `round` or a comparison. Passes of doubtful lanes are computed
again by the exact rules, so that errors read as in a short loop. Operations follow the rules of sweeps
(`array_rules`); what is here is when to trust them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from functools import partial, reduce
from typing import Any, Protocol

import numpy
from numpy.typing import NDArray

from aspenpy.allowance import INTERPRETED, Allowance
from aspenpy.expr import graph
from aspenpy.expr.accuracy import (
    DOUBTFUL_DISTANCE,
    EXACT,
    LARGEST_DIVIDEND,
    LARGEST_IN_LOG,
    ROUGH,
    WHOLE,
    are_powers_of_two,
    convert_with_grade,
    grade_of,
    holds_whole,
    is_near_step,
    raise_by_squaring,
)
from aspenpy.expr.arithmetic import DomainError, add_exactly, format_number
from aspenpy.expr.array_rules import RULES, ConstantArray
from aspenpy.expr.failures import (
    UNDEFINED,
    EvaluationError,
    TooMuchWork,
    count_chunks,
    count_pass_operations,
    spend_operations,
)
from aspenpy.expr.node import Expr, operation_of
from aspenpy.expr.traits import INTEGER

Array = NDArray[Any]

LANES_AT_ONCE = 1 << 16  # passes computed together: a few megabytes of arrays for a body of some dozen nodes

VALUES_AT_ONCE = 1 << 22  # where the body has hundreds of nodes: 32 MiB

FEWEST_AT_ONCE = 1 << 10
"""Passes of an inner loop that are computed together however large its body is."""

MOST_REDONE = 500_000
"""Limit of the operations in passes that are computed again exactly, plus five a pass: two seconds of work, even with
fractions of hundreds of digits."""

MOST_SETTLED = 1 << 12
"""Limit of the values of one step or comparison that are computed exactly; of more, the passes stay in doubt."""

MOST_HELD = 1 << 25  # limit of the values held at once by nested loops: 256 MiB


class EvaluationState(Protocol):
    """The exact evaluation that needs a sum: values outside of the loop, and the exact rules for single passes."""

    known: dict[Expr, Any]
    begun: set[Expr]
    seed: int
    allowance: Allowance

    def compute(self, roots: Sequence[Expr]) -> list[Any]: ...

    def nodes_in_body(self, total: Expr) -> list[Expr]: ...

    def evaluate_pass(self, total: Expr, number: int) -> Any: ...


def sum_over_passes(run: EvaluationState, total: Expr, passes: int) -> Any:
    """The sum of `total`'s body over its passes; int where the body is known to be whole and float64 holds it."""
    whole = bool(total.args[2].traits & INTEGER)
    sums: list[float] = []
    again: Any = 0
    redone = 0
    with numpy.errstate(all="ignore"):
        for start in range(0, passes, LANES_AT_ONCE):
            numbers = numpy.arange(start, min(start + LANES_AT_ONCE, passes), dtype=numpy.float64)
            lanes = Lanes(run, [total], numbers, parent=None, parent_lane=None)
            values, doubts = lanes.sum_and_doubts(total)
            sums.append(float(numpy.sum(values, where=~doubts)))
            doubtful = numpy.flatnonzero(doubts).tolist()
            redone += len(doubtful)
            if redone * (len(lanes.inside) + 5) > MOST_REDONE:
                run.evaluate_pass(total, start + doubtful[0])  # where none has a value, the first says why
                raise DomainError(
                    f"more than {format_number(redone)} passes have to be computed exactly, one by one, "
                    "which takes too long"
                )
            spend_operations(run.allowance, INTERPRETED * len(doubtful) * (len(lanes.inside) + 5))
            for number in doubtful:
                again = add_exactly(again, run.evaluate_pass(total, start + number))
    result = math.fsum(sums)
    return add_exactly(int(result) if whole and abs(result) < 2**53 else result, again)


Exactly = Callable[[Expr, dict[Expr, Any]], float]
"""An expression by the exact rules, with values of its symbols; nan where it has none."""


class Lanes:
    """The bodies of sums over one counter for many passes at once; within another sum, `parent` is that sum's and
    `parent_lane` the lane of each pass in it."""

    _refused: Any = None

    def __init__(
        self,
        run: EvaluationState,
        totals: Sequence[Expr],
        numbers: Array,
        parent: Lanes | None,
        parent_lane: Array | None,
    ) -> None:
        self.run, self.parent, self.parent_lane = run, parent, parent_lane
        self.inside = {node for total in totals for node in run.nodes_in_body(total)}
        self.size = len(numbers)
        self.held: int = (parent.held if parent else 0) + self.size * sum(len(node.args) for node in self.inside)
        if parent and self.held > MOST_HELD:
            raise DomainError("loops within loops have too many passes to add one by one, and no closed form")
        self.counter = counter = totals[0].args[0]
        self.known: dict[Expr, Any] = {counter: numbers}
        self.grade: dict[Expr, int] = {counter: WHOLE}
        self.doubts: Array = numpy.zeros(self.size, dtype=bool)
        self.sums = Sums()

    def sum_and_doubts(self, total: Expr) -> tuple[Array, Array]:
        """The values of one of the bodies, and which of them are in doubt."""
        body = total.args[2]
        self.compute([body])
        try:
            computed = numpy.asarray(self.known[body], dtype=numpy.float64)
        except OverflowError:  # the same large number for all passes, which is added up exactly
            computed = numpy.asarray(numpy.nan)
        values = numpy.broadcast_to(computed, (self.size,))
        return values, self.doubts | numpy.isnan(values)

    @property
    def exactly(self) -> Exactly | None:
        """The exact rules for a value, which the outermost lanes may have."""
        return self.parent.exactly if self.parent else None

    def compute(self, roots: list[Expr]) -> None:
        """Computes the roots, with both branches of every condition."""
        seen = {root for root in roots if root not in self.known}
        waiting = list(seen)
        while waiting:
            node = waiting.pop()
            if node not in self.inside:
                continue
            for arg in node.args[1:2] if node.kind == "sum" else node.args:
                if arg not in self.known and arg not in seen:
                    seen.add(arg)
                    waiting.append(arg)
        self.sums.announce_sums(node for node in seen if node.kind == "sum" and node in self.inside)
        for node in sorted(seen, key=lambda node: node.serial):
            self._compute(node)

    def _compute(self, node: Expr) -> None:
        if node not in self.inside:
            self.known[node], self.grade[node] = self._value_from_outside(node)
            return
        before = self.doubts
        value = self._sum_inner_loop(node) if node.kind == "sum" else self._apply_rule(node)
        if isinstance(value, numpy.ndarray) and value.dtype == numpy.float64:
            failed = ~numpy.isfinite(value)
            if failed.any():
                value = numpy.where(failed, numpy.nan, value)
        self.known[node] = value
        self.grade.setdefault(node, self._grade_value(node, value))
        if self.parent and self.exactly and self.doubts is not before and node.kind in ("apply", "compare"):
            self._settle_step(node, before, self.exactly)

    def _apply_rule(self, node: Expr) -> Any:
        """The value by the rule of the operation, nan where there is none; lanes in which rounding may decide are in
        doubt afterwards."""
        name = operation_of(node)
        operands = [self.known[arg] for arg in node.args]
        if name not in TAKE_ARRAYS and any(isinstance(operand, tuple) for operand in operands):
            return numpy.full(self.size, numpy.nan)
        self._refused = None
        if name in DOUBTS:
            operands = DOUBTS[name](self, node, operands)
        rule = partial(RULES[name], self, node.payload)
        if node.kind in ("add", "mul"):
            return reduce(rule, operands)
        value = PRECISE[name](self, node, operands) if name in PRECISE else rule(*operands)
        return value if self._refused is None else self._blank_refused(value, self._refused)

    def _blank_refused(self, value: Any, refused: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(self._blank_refused(element, refused) for element in value)
        if getattr(value, "dtype", None) != numpy.uint64:
            return numpy.where(refused, numpy.nan, value) if numpy.any(refused) else value
        self.mark_doubtful(refused)  # the bits of a stream have no nan
        return value

    @property
    def seed(self) -> int:
        return self.run.seed

    def refuse(self, where: Any, reason: int) -> None:
        """Takes the value of the present operation away where the condition holds; the exact rules say why."""
        self._refused = where if self._refused is None else self._refused | where

    def _sum_inner_loop(self, node: Expr) -> Any:
        """A loop within the loop."""
        counts = numpy.broadcast_to(self.known[node.args[1]], (self.size,))
        if self.grade[node.args[1]] == ROUGH:
            self.mark_doubtful(is_near_step(counts))
        totals, doubtful = self.sums.inner_sum(self, node)
        self.mark_doubtful(doubtful > 0)
        self.grade[node] = WHOLE if node.args[2].traits & INTEGER else ROUGH
        return numpy.where(numpy.isnan(counts), numpy.nan, totals)

    def _settle_step(self, node: Expr, before: Array, exactly: Exactly) -> None:
        """Rounding that may have moved a value across a step is settled at the step: a whole sum in exact arithmetic
        takes a thousand times as long. Where an operand has no value, rounding decides nothing."""
        without = numpy.zeros(self.size, dtype=bool)
        for arg in node.args:
            without |= numpy.isnan(self.known[arg])
        before = before | (self.doubts & without)
        lanes = numpy.flatnonzero(self.doubts & ~before)
        symbols = sorted(graph.free_symbols(node), key=lambda symbol: symbol.serial)
        columns = [column for symbol in symbols if (column := self.column_of(symbol, lanes)) is not None]
        if not len(lanes) or not symbols or len(columns) < len(symbols):
            return
        each, inverse = numpy.unique(numpy.column_stack(columns), axis=0, return_inverse=True)
        if len(each) > MOST_SETTLED:
            return
        values = numpy.array([exactly(node, dict(zip(symbols, row, strict=True))) for row in each])
        settled = numpy.array(numpy.broadcast_to(self.known[node], (self.size,)))
        if settled.dtype == bool and numpy.isnan(values).any():
            settled = settled.astype(numpy.float64)  # a condition without a value is nan
        settled[lanes] = values[inverse.ravel()]
        self.known[node], self.doubts = settled, before

    def column_of(self, symbol: Expr, lanes: Array) -> Array | None:
        """The values of a symbol in some lanes; None where it is no counter and no column."""
        if symbol is self.counter:
            return numpy.asarray(self.known[symbol])[lanes]
        if self.parent is None or self.parent_lane is None:
            return None
        return self.parent.column_of(symbol, self.parent_lane[lanes])

    def _grade_value(self, node: Expr, value: Any) -> int:
        """Sums, products, remainders and powers of whole numbers are whole while float64 holds them; what is divided by
        a power of 2 stays as close as it is. A quotient of whole numbers that is whole in float64 is so exactly: a rest
        of 1 moves it by 1/divisor, which is more than its rounding, quotient/2^53, while the dividend is below 2^53."""
        grades = [self.grade[arg] for arg in node.args if arg in self.grade]
        closed = node.kind in ("add", "mul", "power") or node.payload == "mod"
        closed |= node.kind == "div" and not numpy.any(abs(self.known[node.args[0]]) > LARGEST_DIVIDEND)
        whole = closed and min(grades, default=ROUGH) == WHOLE and holds_whole(value)
        if node.kind == "div" and grades[1] == WHOLE and are_powers_of_two(self.known[node.args[1]]):
            return min(EXACT, grades[0])
        return WHOLE if whole else grade_of(node, grades)

    def _value_from_outside(self, node: Expr) -> tuple[Any, int]:
        """A value that is the same in all lanes, or the parent's value for each."""
        if self.parent is not None and self.parent_lane is not None:
            self.parent.compute([node])
            return _take_lanes(self.parent.known[node], self.parent_lane), self.parent.grade[node]
        begun = set(self.run.begun)
        try:
            (value,) = self.run.compute([node])
        except TooMuchWork:
            raise
        except EvaluationError:  # it fails again, and is reported, if an exact pass needs it
            self.run.begun = begun
            return numpy.nan, WHOLE  # a lane that takes it is in doubt for that, and the others do not
        return (value, WHOLE) if node.kind == "stream" else convert_with_grade(value)

    def mark_doubtful(self, where: Any) -> None:
        self.doubts = self.doubts | where


def _take_lanes(value: Any, lanes: Array) -> Any:
    """The value in some lanes; what is alike in all lanes stays as it is."""
    if isinstance(value, tuple) and not isinstance(value, ConstantArray):
        return tuple(_take_lanes(element, lanes) for element in value)
    return value[lanes] if isinstance(value, numpy.ndarray) and value.ndim == 1 else value


# -- operations whose outcome rounding may change --------------------------------------------------


TAKE_ARRAYS = frozenset({"array", "index", "lookup", "draw", "if"})
"""Operations whose rules look at arrays; others compute with numbers alone."""


def _doubt_power(lanes: Lanes, node: Expr, operands: list[Any]) -> list[Any]:
    """nan^0 is 1 to NumPy."""
    lanes.mark_doubtful(numpy.isnan(operands[0]) | numpy.isnan(operands[1]))
    return operands


def _doubt_step(lanes: Lanes, node: Expr, operands: list[Any]) -> list[Any]:
    if lanes.grade[node.args[0]] == ROUGH and not _is_log_of_whole(lanes, node.args[0]):
        lanes.mark_doubtful(is_near_step(2 * operands[0] if node.payload == "round" else operands[0]))
    return operands


def _is_log_of_whole(lanes: Lanes, node: Expr) -> bool:
    """Whether it is log2 of whole numbers: exact of powers of two, and of others so far from a step that rounding does
    not reach it."""
    if node.payload != "log2" or lanes.grade.get(node.args[0]) != WHOLE:
        return False
    return not numpy.any(abs(lanes.known[node.args[0]]) > LARGEST_IN_LOG)


def _doubt_remainder(lanes: Lanes, node: Expr, operands: list[Any]) -> list[Any]:
    if min(lanes.grade[arg] for arg in node.args) < EXACT:
        lanes.mark_doubtful(is_near_step(operands[0] / operands[1]))
    return operands


def _doubt_positions(lanes: Lanes, node: Expr, operands: list[Any]) -> list[Any]:
    for arg, position in zip(node.args[1:], operands[1:], strict=True):
        if lanes.grade[arg] == ROUGH:
            lanes.mark_doubtful(is_near_step(position))
    return operands


def _doubt_comparison(lanes: Lanes, node: Expr, operands: list[Any]) -> list[Any]:
    left, right = operands
    lanes.mark_doubtful(numpy.isnan(left) | numpy.isnan(right))
    if min(lanes.grade[arg] for arg in node.args) < EXACT:
        lanes.mark_doubtful(abs(left - right) <= DOUBTFUL_DISTANCE * numpy.maximum(abs(left), abs(right)))
    return operands


def _know_conditions(lanes: Lanes, node: Expr, operands: list[Any]) -> list[Any]:
    """The operands with the conditions among them known: one from outside the loop that has no value makes every lane
    doubtful. An array of floats is nan in the lanes in which it has none."""
    conditions = operands[:1] if node.kind == "if_else" else operands
    for index, condition in enumerate(conditions):
        if isinstance(condition, float):
            lanes.mark_doubtful(True)
            operands[index] = False
        elif numpy.any(missing := numpy.isnan(condition)):
            lanes.refuse(missing, UNDEFINED)
    return operands


DOUBTS: dict[str, Callable[[Lanes, Expr, list[Any]], list[Any]]] = {
    "power": _doubt_power,
    **dict.fromkeys(("floor", "ceil", "round"), _doubt_step),
    "mod": _doubt_remainder,
    "index": _doubt_positions,
    "compare": _doubt_comparison,
    **dict.fromkeys(("and", "or", "if"), _know_conditions),
}
"""What rounding may decide, looked at before the operation, which takes the operands that are returned."""


def _raise_in_lanes(lanes: Lanes, node: Expr, operands: list[Any]) -> Any:
    whole = min(lanes.grade[arg] for arg in node.args) == WHOLE and numpy.all(operands[1] >= 0)
    return raise_by_squaring(*operands) if whole else numpy.power(*operands)


def _take_binary_logarithm(lanes: Lanes, node: Expr, operands: list[Any]) -> Any:
    logarithm = numpy.log2(operands[0])
    if lanes.grade[node.args[0]] != WHOLE:
        return logarithm
    mantissa, exponent = numpy.frexp(operands[0])
    return numpy.where(mantissa == 0.5, exponent - 1.0, logarithm)


PRECISE: dict[str, Callable[[Lanes, Expr, list[Any]], Any]] = {"power": _raise_in_lanes, "log2": _take_binary_logarithm}
"""Operations that are exact on whole numbers here, which libraries do not guarantee."""


# -- sums within sums ------------------------------------------------------------------------------


class Sums:
    """Inner sums: those that go over the same counter equally often share what their bodies have in common, so that one
    that is needed is computed with those that will be."""

    def __init__(self) -> None:
        self.expected: dict[tuple[Expr, Expr], dict[Expr, None]] = {}
        self.done: dict[Expr, tuple[Array, Array]] = {}

    def announce_sums(self, nodes: Iterable[Expr]) -> None:
        for node in nodes:
            self.expected.setdefault((node.args[0], node.args[1]), {})[node] = None

    def inner_sum(self, lanes: Lanes, node: Expr) -> tuple[Array, Array]:
        """The sum in each lane, without the passes in doubt, and how many these are."""
        if node not in self.done:
            alike = self.expected.get((node.args[0], node.args[1]), {})
            together = list(dict.fromkeys((node, *alike)))
            alike.clear()  # another one that a body needs is computed by itself
            self.done |= _add_passes(lanes, together)
        return self.done.pop(node)


def _add_passes(lanes: Lanes, nodes: Sequence[Expr]) -> dict[Expr, tuple[Array, Array]]:
    """Sums over one counter: the passes of all lanes in sequence, as many at a time as memory is allowed for."""
    counts = numpy.ceil(numpy.broadcast_to(lanes.known[nodes[0].args[1]], (lanes.size,)))
    passes = numpy.where(numpy.isnan(counts), 0, numpy.maximum(counts, 0))
    body = {node for total in nodes for node in lanes.run.nodes_in_body(total)}
    operations = count_pass_operations(body, inner=True)
    beyond = passes * operations > lanes.run.allowance.operations  # which no lane can have: its value is nan
    passes = numpy.where(beyond, 0, passes)
    ends = numpy.cumsum(passes.astype(numpy.int64))
    starts = ends - passes.astype(numpy.int64)
    room = (MOST_HELD - lanes.held) // max(1, sum(len(node.args) for node in body))
    at_once = max(FEWEST_AT_ONCE, min(LANES_AT_ONCE, VALUES_AT_ONCE // max(1, len(body)), room))
    spend_operations(
        lanes.run.allowance, float(ends[-1]) * operations + count_chunks(len(body), int(ends[-1]), at_once)
    )
    sums = {node: (numpy.where(beyond, numpy.nan, 0.0), numpy.zeros(lanes.size)) for node in nodes}
    for begin in range(0, int(ends[-1]), at_once):
        flat = numpy.arange(begin, min(begin + at_once, int(ends[-1])))
        lane = numpy.searchsorted(ends, flat, side="right")
        inner = Lanes(lanes.run, nodes, (flat - starts[lane]).astype(numpy.float64), lanes, lane)
        for node, (totals, doubtful) in sums.items():
            values, doubts = inner.sum_and_doubts(node)
            totals += numpy.bincount(lane, weights=numpy.where(doubts, 0.0, values), minlength=lanes.size)
            doubtful += numpy.bincount(lane, weights=doubts, minlength=lanes.size)
    return sums
