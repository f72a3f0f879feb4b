"""Programs run with NumPy, fast, and again with error handling where something failed.

The processor's flags tell whether anything in a block of points divided by zero, overflowed or had no value, wherever
in the expression and whether or not it showed in the result. A block without that is done; one with it is computed once
more, with a reason for each place of each operation. The work of loops without a closed form is a formula of what their
trips depend on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy
from numpy.typing import NDArray

from aspenpy.allowance import INTERPRETED, allowance
from aspenpy.engine.operation import Op, SumLoop
from aspenpy.engine.program import Program
from aspenpy.expr import graph
from aspenpy.expr.array_rules import RULES, ConstantArray
from aspenpy.expr.failures import DIVISION, DOMAIN, FINE, OVERFLOW, count_pass_operations, spend
from aspenpy.expr.graph import Expr, nodes_of_kind
from aspenpy.expr.node import dependents

Floats = NDArray[numpy.float64]
Reasons = NDArray[numpy.uint8]

MOST_PASSES = 10**7
"""Limit of the passes of a loop without closed form at one point; a point that needs more has no value."""

OF_A_PASS = 3
"""Operations of a pass beside those of its body: which points take part, their sums, and the choice between them."""

CAREFUL = 3
"""Times as long that an operation takes with a reason for each point as without, measured on loops of a few points."""


class Doubt(Exception):
    """An operation may have failed at some point of the block."""


class ComputedArrays:
    """Values of some operations, and the reasons where there are none; None for no reasons."""

    def __init__(self, values: dict[int, Any], reasons: dict[int, Any] | None = None) -> None:
        self.values = values
        self.reasons = reasons or {}


class EvaluationOrder:
    """Operations in the order in which they run; `spent` has the values that are no longer needed after each
    operation."""

    def __init__(self, program: Program, indices: Sequence[int], kept: Sequence[int]) -> None:
        self.places = tuple(indices)
        self.steps = tuple((index, program.ops[index]) for index in indices)
        last: dict[int, int] = {}
        for index, op in self.steps:
            last.update(dict.fromkeys(op.args, index))
        inside = set(self.places) - set(kept)
        self.spent: dict[int, list[int]] = {}
        for arg, index in last.items():
            if arg in inside:
                self.spent.setdefault(index, []).append(arg)


def refuse_before_adding(program: Program, op: Op, values: dict[int, Any], operations: float) -> None:
    """Refuses a loop at once where its passes spend more than is left. `operations`: those of one step of a pass."""
    ahead = operations * _count_steps(program, op, values, {})
    if ahead > allowance().left:
        spend(ahead)


def _count_steps(program: Program, op: Op, values: dict[int, Any], counted: dict[Op, float]) -> float:
    """Steps of all passes of a loop, and of the loops in it that go as often in each pass; `counted`: loops so far."""
    if op not in counted:
        loop: SumLoop = op.payload
        sums = (inner for index in loop.inside if (inner := program.ops[index]).kind == "sum")
        even = (inner for inner in sums if inner.args[0] in values and inner.args[0] not in loop.inside)
        passes = numpy.ceil(values[op.args[0]])
        most = float(numpy.max(passes, where=passes <= MOST_PASSES, initial=0.0))
        inside = sum(_count_steps(program, inner, values, counted) for inner in even)
        counted[op] = most * (len(loop.inside) + OF_A_PASS + inside)
    return counted[op]


def _constant_operand(constant: Any) -> Any:
    return ConstantArray(constant) if isinstance(constant, tuple) else constant


class Fast:
    """Runs operations; raises `Doubt` where one may have failed."""

    def __init__(self, program: Program) -> None:
        self.program, self.seed = program, program.seed

    def compute(self, order: EvaluationOrder, known: ComputedArrays) -> None:
        if not order.steps:
            return
        try:
            with numpy.errstate(divide="raise", over="raise", invalid="raise", under="ignore"):
                self._compute_steps(order, known.values)
        except FloatingPointError as error:
            raise Doubt from error

    def refuse(self, where: Any, reason: int) -> None:
        if numpy.any(where):
            raise Doubt

    def _compute_steps(self, order: EvaluationOrder, values: dict[int, Any]) -> None:
        spent = order.spent
        for index, op in order.steps:
            rule = RULES.get(op.kind)
            if rule is not None:
                values[index] = rule(self, op.payload, *[values[arg] for arg in op.args])
            elif op.kind == "sum":
                values[index] = self._sum_loop(op, values)
            elif op.kind == "constant":
                values[index] = _constant_operand(op.payload)
            else:
                raise Doubt
            if index in spent:
                for arg in spent[index]:
                    del values[arg]

    def _sum_loop(self, op: Op, values: dict[int, Any]) -> Any:
        loop: SumLoop = op.payload
        passes = numpy.ceil(values[op.args[0]])
        self.refuse(passes > MOST_PASSES, DOMAIN)
        order = EvaluationOrder(self.program, loop.inside, [loop.body])
        operations = (len(order.steps) + OF_A_PASS) * (2 * INTERPRETED + numpy.size(passes))
        refuse_before_adding(self.program, op, values, 2 * INTERPRETED)
        total: Any = 0.0
        for number in range(int(numpy.max(passes))):
            spend(operations)
            values[loop.counter] = float(number)
            self._compute_steps(order, values)
            total = numpy.where(number < passes, total + values[loop.body], total)
        return total + 0.0 * passes


class Careful:
    """Runs operations with a reason for each point at which one has no value."""

    def __init__(self, program: Program) -> None:
        self.program, self.seed = program, program.seed
        self._refused: Any = None

    def compute(self, order: EvaluationOrder, known: ComputedArrays) -> None:
        """Computes the operations; a value with a reason is undefined."""
        with numpy.errstate(all="ignore"):
            self._compute_steps(order, known)

    def refuse(self, where: Any, reason: int) -> None:
        self._refused = merge_reasons(self._refused, numpy.where(where, reason, FINE))

    def _compute_steps(self, order: EvaluationOrder, known: ComputedArrays) -> None:
        for index, op in order.steps:
            value, reason = self._compute_with_reason(op, known)
            known.values[index] = value
            known.reasons.pop(index, None)
            if reason is not None and numpy.any(reason):
                known.reasons[index] = reason
            for arg in order.spent.get(index, ()):
                known.values.pop(arg, None)
                known.reasons.pop(arg, None)

    def _compute_with_reason(self, op: Op, known: ComputedArrays) -> tuple[Any, Any]:
        if op.kind == "constant":
            return _constant_operand(op.payload), None
        if op.kind == "failed":
            return numpy.nan, op.payload
        if op.kind == "sum":
            return self._sum_loop(op, known)
        operands = [known.values[arg] for arg in op.args]
        reason = _reason_of_operands(op, operands, [known.reasons.get(arg) for arg in op.args])
        self._refused = None
        value = RULES[op.kind](self, op.payload, *operands)
        reason = merge_reasons(reason, self._refused)
        return value, _add_new_reasons(op, operands, value, reason)

    def _sum_loop(self, op: Op, known: ComputedArrays) -> tuple[Any, Any]:
        loop: SumLoop = op.payload
        reason = known.reasons.get(op.args[0])
        passes = numpy.ceil(known.values[op.args[0]])
        reason = merge_reasons(reason, numpy.where(passes > MOST_PASSES, DOMAIN, FINE))
        passes = numpy.where(reason == FINE, passes, 0.0)
        order = EvaluationOrder(self.program, loop.inside, [loop.body])
        operations = CAREFUL * (len(order.steps) + OF_A_PASS) * (2 * INTERPRETED + numpy.size(passes))
        refuse_before_adding(self.program, op, known.values, CAREFUL * 2 * INTERPRETED)
        total: Any = 0.0 * passes
        for number in range(int(numpy.max(passes))):
            spend(operations)
            known.values[loop.counter] = float(number)
            self._compute_steps(order, known)
            active = number < passes
            total = numpy.where(active, total + known.values[loop.body], total)
            failed = known.reasons.get(loop.body)
            new = None if failed is None else numpy.where(active, failed, FINE)
            reason = _add_new_reasons(op, [], total, merge_reasons(reason, new))
        return total, reason


def merge_reasons(first: Any, second: Any) -> Any:
    """The first reason where there is one, else the second."""
    if first is None or second is None:
        return second if first is None else first
    return numpy.where(first != FINE, first, second)


def _reason_of_operands(op: Op, operands: list[Any], reasons: list[Any]) -> Any:
    """The reason why a needed operand has no value. Needed are one branch of a condition, and the second part of `and`
    and `or` where the first does not decide."""
    if all(reason is None for reason in reasons):
        return None
    if op.kind == "if":
        then, otherwise = (FINE if reason is None else reason for reason in reasons[1:])
        return merge_reasons(reasons[0], numpy.where(operands[0], then, otherwise))
    if op.kind in ("and", "or"):
        second = FINE if reasons[1] is None else reasons[1]
        decided = operands[0] if op.kind == "or" else numpy.logical_not(operands[0])
        return merge_reasons(reasons[0], numpy.where(decided, FINE, second))
    first = None
    for reason in reasons:
        first = merge_reasons(first, reason)
    return first


_NEVER_NEW = frozenset({"neg", "max", "min", "abs", "floor", "ceil", "round", "compare", "and", "or", "if", "array"})
"""Kinds whose value is finite where their operands are."""


def _add_new_reasons(op: Op, operands: list[Any], value: Any, reason: Any) -> Any:
    """The reasons so far, and new ones where a value is not finite."""
    if op.kind in _NEVER_NEW or isinstance(value, tuple) or getattr(value, "dtype", None) == numpy.uint64:
        return reason
    failed = ~numpy.isfinite(value)
    if not numpy.any(failed):
        return reason
    return merge_reasons(reason, numpy.where(failed, _blame_operation(op, operands), FINE))


def _blame_operation(op: Op, operands: list[Any]) -> Any:
    """The reason why an operation on finite numbers has no finite result."""
    if op.kind in ("div", "mod"):
        return numpy.where(operands[1] == 0, DIVISION, OVERFLOW)
    if op.kind == "power":
        base, exponent = operands
        otherwise = numpy.where((base < 0) & (exponent != numpy.floor(exponent)), DOMAIN, OVERFLOW)
        return numpy.where((base == 0) & (exponent < 0), DIVISION, otherwise)
    return DOMAIN if op.kind in ("log", "log2", "log10", "sqrt", "lookup", "draw") else OVERFLOW


def loop_operations(exprs: Sequence[Expr]) -> Expr:
    """Operations of the passes of all sums in some expressions, each sum once, when they are computed at one point. A
    sum of too many passes has no value there and none of them is made."""
    sums = nodes_of_kind("sum", *exprs)
    inside = {node: {*dependents(node.args[2], on=[node.args[0]])} for node in sums}
    spent: dict[Expr, Expr] = {}
    for node in sums:  # those inside of others come first
        counter, count, _ = node.args
        within = [other for other in sums if other in inside[node]]
        direct = [other for other in within if not any(other in inside[around] for around in within)]
        body = inside[node].difference(*(inside[other] for other in within))
        each = graph.add(count_pass_operations(body), *(spent[other] for other in direct))
        passes = graph.if_else(graph.compare("<=", count, MOST_PASSES), count, graph.ZERO)
        spent[node] = graph.summation(counter, passes, each)
    outermost = [node for node in sums if not any(node in inside[around] for around in sums)]
    return graph.add(graph.ZERO, *(spent[node] for node in outermost))
