"""Program: expressions as a straight line of operations on float64, which every back end runs.

Sums and products are taken apart into operations of two operands, from left to right as they were written, so that each
is computed only over the dimensions it depends on. Nothing is reassociated. Subexpressions without inputs are folded by
the exact rules.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from aspenpy.engine.operation import UNBOUNDED, Interval, Op, SumLoop, find_intervals
from aspenpy.expr import graph
from aspenpy.expr.arithmetic import LARGEST_DEGREE, to_float
from aspenpy.expr.definitions import write_definitions
from aspenpy.expr.evaluate import EvaluationError, evaluate, evaluate_many
from aspenpy.expr.failures import CONSTRAINT, DIVISION, DOMAIN, OVERFLOW, UNDEFINED
from aspenpy.expr.graph import Expr

# -- rewriting: short loops unrolled, fractions as quotients of whole numbers ----------------------


STEPS = frozenset({"floor", "ceil", "round", "mod", "gcd", "grid", "sets_touched", "share_kept"})
"""Functions that jump at whole numbers, or take only whole numbers."""

MOST_UNROLLED = 8192  # limit of the nodes in the terms of one unrolled loop
DEEPEST = 4  # depth of nested loops that are unrolled


def unroll_loops(roots: Sequence[Expr]) -> list[Expr]:
    """The expressions with short loops written as sums of terms in the order of the passes. Parts that do not depend on
    the pass are then computed once, and the code is vectorised over points."""
    exprs = list(roots)
    for _ in range(DEEPEST):
        before = exprs
        exprs = _unroll_once(exprs)
        if exprs == before:
            break
    return exprs


def _unroll_once(roots: Sequence[Expr]) -> list[Expr]:
    def written(node: Expr, args: tuple[Expr, ...]) -> Expr | None:
        if node.kind != "sum":
            return None
        made = graph.rebuild(node, args) if args != node.args else node
        terms = _unrolled_terms(made) if made.kind == "sum" else None
        return made if terms is None else graph.add(*terms)

    return graph.rewrite(roots, written)


def _unrolled_terms(total: Expr) -> list[Expr] | None:
    """The terms of a short loop, one a pass; None for a long loop and for a variable number of passes."""
    counter, count, body = total.args
    if count.kind != "number":
        return None
    passes = max(0, math.ceil(count.payload))
    if passes * len(graph.topological_order(body, since=counter.serial)) > MOST_UNROLLED:
        return None
    return [graph.substitute([body], {counter: graph.number(number)})[0] for number in range(passes)]


def keep_steps_exact(roots: Sequence[Expr]) -> list[Expr]:
    """The expressions with `x*0.1` written as `x*1/10`, wherever a step depends on it.

    A fraction such as 1/10 is no float: rounded, it takes 0.1*30 over the step of a `ceil`. Its numerator and
    denominator are floats, and a quotient that is a whole number is rounded to it.
    """
    order = graph.topological_order(*roots)
    near = set[Expr]()
    for node in reversed(order):
        if node in near or node.kind == "compare" or graph.is_call(node, STEPS):
            near.update(node.args)
        elif node.kind in ("index", "sum"):
            near.update(node.args[1:2] if node.kind == "sum" else node.args[1:])

    def written(node: Expr, args: tuple[Expr, ...]) -> Expr | None:
        return _use_whole_constants(node.kind, args) if node in near and node.kind in ("mul", "div") else None

    return graph.rewrite(roots, written)


def _use_whole_constants(kind: str, args: tuple[Expr, ...]) -> Expr:
    if kind == "div":
        top, bottom = args
        if _is_fraction(bottom):
            numerator, denominator = bottom.payload.as_integer_ratio()
            return graph.div(graph.mul(top, denominator), numerator)
        return graph.div(top, bottom)
    if not any(map(_is_fraction, args)):
        return graph.mul(*args)
    product, below = args[0], 1
    if _is_fraction(product):
        product, below = graph.number(product.payload.numerator), product.payload.denominator
    for factor in args[1:]:
        if _is_fraction(factor):
            product = graph.div(graph.mul(product, factor.payload.numerator), factor.payload.denominator)
        else:
            product = graph.mul(product, factor)
    return graph.div(product, below)


def _is_fraction(node: Expr) -> bool:
    """Whether the node is a fraction that is no float, with numerator and denominator that are."""
    value = node.payload
    return (
        node.kind == "number"
        and type(value) is Fraction
        and value.denominator & (value.denominator - 1) != 0
        and max(abs(value.numerator), value.denominator) < 2**53
    )


WHOLE_POWERS = frozenset({2, 3, 4})  # exponents that are written as products


class Program:
    """Operations in order of computation, for some results as functions of some inputs. Short loops are unrolled unless
    `short_loops`. `box` gives the interval that each input is expected in: compiled code relies on it and is not used
    outside of it.

    `straight` are the operations outside of all loops. Kinds, with their args and payload:

        constant ()              float, bool, or a nested tuple of floats
        failed   ()              the code of a reason
        input    ()              place among the inputs
        counter  ()              -
        add, sub, mul, div, power, mod, compare, and, or    (a, b); operator of a comparison
        neg, square, sqrt, log, log2, log10, exp, floor, ceil, round, abs    (x,)
        max, min (a, b)          -
        root     (x,)            degree, from 3 on
        the special functions    arguments
        if       (condition, then, otherwise)
        checked  (value, subject)                    name of the law
        array    elements        -
        index    (array, position, ...)
        lookup   (values, sizes, x)
        sum      (count, outside...)                 Loop
        stream   parts           -
        draw     (stream, argument...)               distribution
    """

    def __init__(
        self,
        roots: Sequence[Expr],
        inputs: Sequence[Expr],
        seed: int = 0,
        *,
        box: Sequence[Interval] | None = None,
        short_loops: bool = False,
    ) -> None:
        self.inputs = tuple(inputs)
        self.seed = seed
        self.ops: list[Op] = []
        self._known: dict[Op, int] = {}
        self._place: dict[Expr, int] = {}
        written = write_definitions(roots)
        exprs = keep_steps_exact(written if short_loops else unroll_loops(written))
        order = graph.topological_order(*exprs)
        self._masks = _input_masks(order, self.inputs)
        self._fold_constants(exprs, order)
        for node in order:
            if self._masks[node]:
                self._place[node] = self._lower_node(node)
        self.roots = tuple(self._place[expr] for expr in exprs)
        self.straight = self.needed_operations(self.roots)
        self.given = {index: self.ops[index].payload for index in self.straight if self.ops[index].kind == "input"}
        """Number of the input at a place."""
        self.intervals = find_intervals(self.ops, box or [UNBOUNDED] * len(self.inputs))

    def needed_operations(self, roots: Sequence[int], given: Sequence[int] = ()) -> tuple[int, ...]:
        """The operations that some results need, in order, with loops as one operation each; those in `given` need no
        operands."""
        known = frozenset(given)
        seen, waiting = set(roots), list(roots)
        while waiting:
            index = waiting.pop()
            for arg in () if index in known else self.ops[index].args:
                if arg not in seen:
                    seen.add(arg)
                    waiting.append(arg)
        return tuple(sorted(seen))

    # -- from the graph --------------------------------------------------------------------------

    def emit_operation(self, kind: str, *args: int, payload: Any = None, mask: int = 0) -> int:
        """The place of an operation; equal operations share one."""
        for arg in args:
            mask |= self.ops[arg].mask
        op = Op(kind, args, payload, mask)
        key = op._replace(payload=(type(payload), repr(payload)))
        if kind == "counter" or key not in self._known:
            self._known[key] = len(self.ops)
            self.ops.append(op)
        return self._known[key]

    def emit_constant(self, value: Any) -> int:
        return self.emit_operation("constant", payload=value)

    def _fold_constants(self, roots: Sequence[Expr], order: Sequence[Expr]) -> None:
        """Emits the nodes without inputs that others use, as floats rounded from the exact value, or as failures."""
        used = {arg for node in order if self._masks[node] for arg in node.args}
        constants = [node for node in order if not self._masks[node] and (node in used or node in roots)]
        try:
            values = evaluate_many(constants, None, self.seed)
        except EvaluationError:
            values = [_evaluate_constant(node, self.seed) for node in constants]
        for node, value in zip(constants, values, strict=True):
            try:
                folded = value if isinstance(value, EvaluationError) else _round_to_float(value, node)
            except EvaluationError as error:
                folded = error
            failed = isinstance(folded, EvaluationError)
            self._place[node] = (
                self.emit_operation("failed", payload=failure_reason(folded.node))
                if failed
                else self.emit_constant(folded)
            )

    def _lower_node(self, node: Expr) -> int:
        if node in self.inputs:
            return self.emit_operation("input", payload=self.inputs.index(node), mask=self._masks[node])
        if graph.is_counter(node):
            return self.emit_operation("counter", mask=self._masks[node])
        if node.kind == "sum":
            return self._lower_sum(node)
        return LOWERED[node.kind](self, node, [self._place[arg] for arg in node.args])

    def _lower_sum(self, node: Expr) -> int:
        counter, count, body = (self._place[arg] for arg in node.args)
        own = self.ops[counter].mask
        inside, outside, waiting = set[int](), set[int](), [body]
        while waiting:
            index = waiting.pop()
            if not self.ops[index].mask & own:
                outside.add(index)
            elif index not in inside:
                inside.add(index)
                waiting += self.ops[index].args
        loop = SumLoop(counter, body, tuple(sorted(inside - {counter})))
        self.ops.append(Op("sum", (count, *sorted(outside)), loop, self._masks[node]))
        return len(self.ops) - 1


def _input_masks(order: Sequence[Expr], inputs: Sequence[Expr]) -> dict[Expr, int]:
    """The inputs and enclosing loop counters that each node depends on, one bit each."""
    masks: dict[Expr, int] = {}
    counters = 0
    for node in order:
        mask = 0
        for arg in node.args:
            mask |= masks[arg]
        if node in inputs:
            mask = 1 << inputs.index(node)
        elif graph.is_counter(node):
            mask = 1 << (len(inputs) + counters)
            counters += 1
        elif node.kind == "sum":
            mask &= ~masks[node.args[0]]
        masks[node] = mask
    return masks


def _evaluate_constant(node: Expr, seed: int) -> Any:
    try:
        return evaluate(node, None, seed)
    except EvaluationError as error:
        return error


def _round_to_float(value: Any, node: Expr) -> Any:
    if isinstance(value, tuple):
        return tuple(_round_to_float(element, node) for element in value)
    if isinstance(value, bool) or node.kind == "stream":
        return value
    try:
        return to_float(value)
    except ArithmeticError as error:
        raise EvaluationError(node, str(error)) from None


_FAILING = {
    "div": DIVISION,
    "checked": CONSTRAINT,
    "failure": UNDEFINED,
    "symbol": UNDEFINED,
    "index": DOMAIN,
    "draw": DOMAIN,
    "sum": DOMAIN,
}


def failure_reason(node: Expr) -> int:
    """The reason why a node of the graph has no value, by its kind."""
    if node.kind == "apply":
        return DIVISION if node.payload == "mod" else OVERFLOW if node.payload == "exp" else DOMAIN
    return _FAILING.get(node.kind, OVERFLOW)


# -- rules -----------------------------------------------------------------------------------------

Lowering = Callable[[Program, Expr, list[int]], int]


def _lower_add(program: Program, node: Expr, args: list[int]) -> int:
    total = args[0]
    for term, arg in zip(node.args[1:], args[1:], strict=True):
        if term.kind == "neg" and term.args[0] in program._place:
            total = program.emit_operation("sub", total, program._place[term.args[0]])
        else:
            total = program.emit_operation("add", total, arg)
    return total


def _lower_mul(program: Program, node: Expr, args: list[int]) -> int:
    product = args[0]
    for arg in args[1:]:
        product = program.emit_operation("mul", product, arg)
    return product


def _lower_power(program: Program, node: Expr, args: list[int]) -> int:
    """Products for small whole exponents, exact roots for fractions: 64^(1/3) is 4, which `pow` falls short of."""
    base, exponent = args
    known = node.args[1].payload if node.args[1].kind == "number" else None
    if isinstance(known, float) or known is None:
        return program.emit_operation("power", base, exponent)
    top, bottom = Fraction(known).as_integer_ratio()
    if bottom > LARGEST_DEGREE or (bottom == 1 and abs(top) != 1 and abs(top) not in WHOLE_POWERS):
        return program.emit_operation("power", base, exponent)
    root = base if bottom == 1 else _lower_root(program, base, bottom)
    powered = _lower_whole_power(program, root, abs(top))
    return powered if top > 0 else program.emit_operation("div", program.emit_constant(1.0), powered)


def _lower_root(program: Program, base: int, degree: int) -> int:
    return program.emit_operation("sqrt", base) if degree == 2 else program.emit_operation("root", base, payload=degree)


def _lower_whole_power(program: Program, base: int, exponent: int) -> int:
    if exponent == 1:
        return base
    if exponent not in WHOLE_POWERS:
        return program.emit_operation("power", base, program.emit_constant(float(exponent)))
    square = program.emit_operation("square", base)
    if exponent == 2:
        return square
    return program.emit_operation("mul", square, base) if exponent == 3 else program.emit_operation("square", square)


def _lower_call(program: Program, node: Expr, args: list[int]) -> int:
    """Operands of max and min that depend on the fewest inputs are compared first."""
    if node.payload in ("max", "min"):
        first, *rest = sorted(args, key=lambda arg: program.ops[arg].mask.bit_count())
        for arg in rest:
            first = program.emit_operation(node.payload, first, arg)
        return first
    return program.emit_operation(node.payload, *args)


def _lower_failure(program: Program, node: Expr, args: list[int]) -> int:
    return program.emit_operation("failed", payload=UNDEFINED)


def _emit_same_kind(program: Program, node: Expr, args: list[int]) -> int:
    return program.emit_operation(node.kind, *args, payload=node.payload)


LOWERED: dict[str, Lowering] = {
    "add": _lower_add,
    "mul": _lower_mul,
    "neg": _emit_same_kind,
    "div": _emit_same_kind,
    "power": _lower_power,
    "apply": _lower_call,
    "array": _emit_same_kind,
    "index": _emit_same_kind,
    "compare": _emit_same_kind,
    "junction": lambda program, node, args: program.emit_operation(node.payload, *args),
    "if_else": lambda program, node, args: program.emit_operation("if", *args),
    "checked": _emit_same_kind,
    "draw": _emit_same_kind,
    "stream": _emit_same_kind,
    "failure": _lower_failure,
}
