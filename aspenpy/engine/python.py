"""Programs compiled to straight-line Python, for one prediction at many values of its parameters.

The source is made from operations, with names of our own; no user's text gets into it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from aspenpy.engine.operation import Op, array_operands, lies_within
from aspenpy.engine.program import Program
from aspenpy.engine.writer import ARITHMETIC, ATOM, PRODUCT, SUM, ExpressionWriter
from aspenpy.expr import graph
from aspenpy.expr.arithmetic import LARGEST_EXACT_POWER, DomainError, float_numeral, interpolate, to_float
from aspenpy.expr.evaluate import EvaluationError, Value, evaluate, evaluate_many, to_exact_value
from aspenpy.expr.failures import LAWS
from aspenpy.expr.functions import FUNCTIONS, special_functions
from aspenpy.expr.node import Expr

SET_APART = frozenset({"sum", "draw"})
"""Kinds of nodes that `evaluate` computes, and whose values the function is given."""


def compile_python(exprs: Sequence[Expr], free: Sequence[Expr], seed: int = 0) -> Callable[..., tuple[float, ...]]:
    """A function of the free symbols' values, in their order: floats, or tuples for arrays.

    Computes in floating point, and both branches of a condition where they share something. If it raises anything, or
    gives nan or infinity, the exact rules decide: see `PreparedExpressions`.
    """
    apart = _nodes_set_apart(exprs)
    given = {node: graph.symbol(f"apart {number}") for number, node in enumerate(apart)}
    plain = graph.rewrite(exprs, lambda node, args: given.get(node)) if given else exprs
    program = Program(plain, [*free, *given.values()], seed, short_loops=True)
    names = [*(f"a{number}" for number in range(len(free))), *(f"x{number}" for number in range(len(apart)))]
    tables = {arg for op in program.ops for arg in array_operands(op)}
    numbers = [names[number] for index, number in program.given.items() if index not in tables and number < len(free)]
    parameters = ", ".join(names[: len(free)])
    lines = [f"def program({parameters}):", *(f" {name} = float({name})" for name in numbers)]
    lines += [f" {name} = of_{name}({parameters})" for name in names[len(free) :]]
    writer = PythonWriter(program, program.straight, {index: names[number] for index, number in program.given.items()})
    lines += writer.block(program.straight)
    results = "".join(f"float({writer.text(root)})," for root in program.roots)
    scope = SCOPE | {f"of_x{number}": _compile_set_apart(node, free, seed) for number, node in enumerate(apart)}
    exec("\n".join([*lines, f" return ({results})"]), scope)
    compiled: Callable[..., tuple[float, ...]] = scope["program"]
    return compiled


class PreparedExpressions:
    """Expressions ready to be evaluated at many values of their free symbols, some 100 ns a node.

    `prepared(*values)` gives floats in the order of the expressions, or raises `EvaluationError`.
    """

    def __init__(self, exprs: Sequence[Expr], free: Sequence[Expr], seed: int = 0) -> None:
        self.exprs, self.free, self.seed = tuple(exprs), tuple(free), seed
        self._program = compile_python(exprs, free, seed)

    def __call__(self, *values: Value) -> tuple[float, ...]:
        try:
            results = self._program(*values)
        except Exception:  # whatever it was, the exact rules fail as well, or have a value
            return self._evaluate_exactly(*values)
        total = sum(results)
        finite = total - total == 0.0
        return results if finite else self._evaluate_exactly(*values)

    def __reduce__(self) -> tuple[Any, ...]:
        return PreparedExpressions, (self.exprs, self.free, self.seed)

    def _evaluate_exactly(self, *values: Value) -> tuple[float, ...]:
        results = []
        bindings = dict(zip(self.free, values, strict=True))
        for expr, value in zip(self.exprs, evaluate_many(self.exprs, bindings, self.seed), strict=True):
            try:
                results.append(to_float(value))
            except DomainError as error:
                raise EvaluationError(expr, str(error)) from None
        return tuple(results)


def _nodes_set_apart(exprs: Sequence[Expr]) -> list[Expr]:
    """The outermost nodes of these kinds."""
    seen = set(exprs)
    waiting = list(seen)
    while waiting:
        node = waiting.pop()
        for arg in () if node.kind in SET_APART else node.args:
            if arg not in seen:
                seen.add(arg)
                waiting.append(arg)
    return sorted([node for node in seen if node.kind in SET_APART], key=lambda node: node.serial)


def _compile_set_apart(node: Expr, free: Sequence[Expr], seed: int) -> Callable[..., Value]:
    """A function of the free symbols. A node that depends on none of them is computed at most once."""
    if graph.free_symbols(node).isdisjoint(free):
        known: list[Value] = []

        def constant(*values: Value) -> Value:
            if not known:
                known.append(to_float(evaluate(node, {}, seed)))
            return known[0]

        return constant
    return lambda *values: to_float(evaluate(node, dict(zip(free, values, strict=True)), seed))


# -- source ----------------------------------------------------------------------------------------


def _take_element(array: Any, *positions: float) -> Any:
    for position in positions:
        index = int(position)
        if index < 0:
            raise IndexError
        array = array[index]
    return array


def _interpolate(values: Any, sizes: Any, x: float) -> Any:
    return interpolate(to_exact_value(values), to_exact_value(sizes), x)


def _take_root(base: float, degree: int) -> float:
    """The root of a number; that of a whole power is whole, as in `raised`."""
    root = math.pow(base, 1 / degree)
    near = round(root)
    return near if base < LARGEST_EXACT_POWER and near**degree == base else root


def _raise_undefined() -> float:
    raise DomainError("the exact rules say why")


SCOPE: dict[str, Any] = {
    **{name: getattr(math, name) for name in ("ceil", "floor", "log", "log2", "log10", "exp", "sqrt")},
    **{name: FUNCTIONS[name].exact for name in special_functions()},
    "power": math.pow,
    "root": _take_root,
    "index": _take_element,
    "lookup": _interpolate,
    "refused": _raise_undefined,
}
"""Functions that the source calls, in addition to Python's `abs`, `float` and `round`."""

FORMS: dict[str, tuple[str, int]] = {
    **ARITHMETIC,
    "div": ("{0} / {1}", PRODUCT),
    "mod": ("{0} % {1}", PRODUCT),
    "max": ("({1} if {1} > {0} else {0})", ATOM),
    "min": ("({1} if {1} < {0} else {0})", ATOM),
    "root": ("root({0}, {payload})", ATOM),
    "compare": ("({0} {payload} {1})", ATOM),
    "and": ("({0} and {1})", ATOM),
    "or": ("({0} or {1})", ATOM),
    "if": ("({1} if {0} else {2})", ATOM),
    "array": ("({joined},)", ATOM),
    "failed": ("refused()", ATOM),
}
"""Templates; other operations are calls of the function with their name."""


class PythonWriter(ExpressionWriter):
    """Assignments and expressions in Python."""

    def written_operands(self, op: Op) -> Sequence[int]:
        if op.kind in ("max", "min"):
            return op.args * 2
        if op.kind == "checked":
            return (op.args[0], *op.args[1:] * len(LAWS[op.payload].tests))
        return super().written_operands(op)

    def statements(self, index: int, op: Op) -> list[str]:
        if index not in self.named:
            return []
        text = self.text(index)
        self.names[index] = f"v{index}"
        return [f" v{index} = {text}"]

    def expression(self, index: int, op: Op) -> tuple[str, int]:
        if op.kind == "checked":
            return self._write_checked(op)
        template, binding = FORMS.get(op.kind) or (op.kind + "({joined})", ATOM)
        texts = self.operands(op, binding)
        return template.format(*texts, joined=", ".join(texts), payload=op.payload), binding

    def _write_checked(self, op: Op) -> tuple[str, int]:
        value, subject = op.args
        if lies_within(op.payload, self.program.intervals[subject]):
            return f"({self.text(value)})", ATOM
        tests = " and ".join(f"{self.text(subject, SUM)} {sign} {bound!r}" for sign, bound in LAWS[op.payload].tests)
        return f"({self.text(value)} if {tests} else refused())", ATOM

    def numeral(self, value: Any) -> tuple[str, int]:
        if isinstance(value, float):
            return float_numeral(value), SUM if value < 0 else ATOM
        return repr(value), ATOM
