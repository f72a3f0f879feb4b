"""SymPy's view of an expression: exact both ways, and built without simplification where that would take long."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import sympy
from sympy.core.facts import InconsistentAssumptions
from sympy.printing.str import StrPrinter

from aspenpy.expr import graph
from aspenpy.expr.evaluate import EvaluationError, evaluate
from aspenpy.expr.functions import FUNCTIONS, make_piecewise
from aspenpy.expr.node import Expr, topological_order
from aspenpy.expr.printer import display_names

MOST_EVALUATED = 200
"""Nodes up to which SymPy may sort and collect sums, products and powers; larger ones stay as they are written."""

_COMPARISONS: dict[str, Any] = {
    "==": sympy.Eq,
    "!=": sympy.Ne,
    "<": sympy.Lt,
    ">": sympy.Gt,
    "<=": sympy.Le,
    ">=": sympy.Ge,
}
FUNCTIONS_WITHOUT_SYMPY = frozenset(name for name, row in FUNCTIONS.items() if row.sympy is None and not row.random)

_KEPT: dict[str, Any] = {
    name: sympy.Function(name)
    for name in ("element", "lookup", "uniform", "normal", "cdf", "stream", *FUNCTIONS_WITHOUT_SYMPY)
}
"""Kinds that SymPy does not have, as undefined functions."""


class NotInSympy(ValueError):
    """Part of the expression cannot be converted to SymPy, or from it."""


# -- to SymPy --------------------------------------------------------------------------------------


def to_sympy(expr: Expr, names: Mapping[Expr, str] | None = None) -> Any:
    """The expression with plain `sympy.Symbol`s, with their display names unless `names` has others.

    `max`, `min`, `ceil`, `floor`, conditions and sums stay as they are. Checked values lose their check.
    """
    symbols = display_names(expr) | dict(names or {})
    order = topological_order(expr)
    evaluated = len(order) <= MOST_EVALUATED and not any(node.payload in ("max", "min") for node in order)
    known: dict[Expr, Any] = {}
    for node in order:
        if node.kind == "symbol":
            known[node] = sympy.Symbol(symbols[node])
        else:
            known[node] = _convert_node(node, [known[arg] for arg in node.args], evaluated)
    return known[expr]


def _convert_node(node: Expr, args: list[Any], evaluated: bool) -> Any:
    """A node as SymPy has it. SymPy may contradict itself over the signs and kinds of its own factors, such as under a
    root, depending on its cache; then it is told to simplify nothing."""
    try:
        return TO_SYMPY[node.kind](node, args, evaluated)
    except InconsistentAssumptions:
        with sympy.evaluate(False):
            return TO_SYMPY[node.kind](node, args, False)


def _convert_number(node: Expr, args: list[Any], evaluated: bool) -> Any:
    value = node.payload
    if type(value) is int:
        return sympy.Integer(value)
    return sympy.Rational(value.numerator, value.denominator) if type(value) is Fraction else sympy.Float(value)


def _convert_quotient(node: Expr, args: list[Any], evaluated: bool) -> Any:
    top, bottom = args
    evaluated = evaluated and bottom != 0
    inverse = sympy.Pow(bottom, -1, evaluate=evaluated)
    return sympy.Mul(top, inverse, evaluate=evaluated)


def _convert_power(node: Expr, args: list[Any], evaluated: bool) -> Any:
    """Powers of constants stay unevaluated: 9^9^9 must not be computed, nor 0^-1 become an infinity."""
    return sympy.Pow(*args, evaluate=evaluated and not args[0].is_number)


def _convert_call(node: Expr, args: list[Any], evaluated: bool) -> Any:
    if node.payload == "lookup" and not all(isinstance(points, sympy.Tuple) for points in args[:2]):
        return _KEPT["lookup"](*args)
    rule = FUNCTIONS[node.payload].sympy
    return _KEPT[node.payload](*args) if rule is None else rule(sympy, *args)


def _convert_sum(node: Expr, args: list[Any], evaluated: bool) -> Any:
    counter, count, body = args
    # A limit that is a number must be one: SymPy's evalf passes over an end given as an unevaluated ceiling(5/2) - 1.
    passes = _value_without_symbols(node.args[1]) if count.is_number else None
    whole = count if graph.is_integer(node.args[1]) else sympy.ceiling(count, evaluate=False)
    last = sympy.Add(whole, -1, evaluate=evaluated) if passes is None else sympy.Integer(math.ceil(passes) - 1)
    return sympy.Sum(body, (counter, 0, last))


def _value_without_symbols(expr: Expr) -> Any:
    """The value of an expression without symbols; None where it has none."""
    try:
        return evaluate(expr)
    except EvaluationError:
        return None


UNDEFINED = sympy.Symbol("undefined")
"""Stands for a missing value: a symbol, since `sympy.nan` would absorb the conditions around it."""


def _refuse_failure(node: Expr, args: list[Any], evaluated: bool) -> Any:
    return UNDEFINED


TO_SYMPY: dict[str, Callable[[Expr, list[Any], bool], Any]] = {
    "number": _convert_number,
    "boolean": lambda node, args, evaluated: sympy.true if node.payload else sympy.false,
    "array": lambda node, args, evaluated: sympy.Tuple(*args),
    "add": lambda node, args, evaluated: sympy.Add(*args, evaluate=evaluated),
    "mul": lambda node, args, evaluated: sympy.Mul(*args, evaluate=evaluated),
    "neg": lambda node, args, evaluated: sympy.Mul(-1, *args, evaluate=evaluated),
    "div": _convert_quotient,
    "power": _convert_power,
    "apply": _convert_call,
    "index": lambda node, args, evaluated: _KEPT["element"](*args),
    "compare": lambda node, args, evaluated: _COMPARISONS[node.payload](*args, evaluate=False),
    "junction": lambda node, args, evaluated: (sympy.And if node.payload == "and" else sympy.Or)(*args, evaluate=False),
    "if_else": lambda node, args, evaluated: make_piecewise(sympy, (args[1], args[0]), (args[2], sympy.true)),
    "sum": _convert_sum,
    "checked": lambda node, args, evaluated: args[0],
    "draw": lambda node, args, evaluated: _KEPT[node.payload](*args),
    "stream": lambda node, args, evaluated: _KEPT["stream"](*args),
    "failure": _refuse_failure,
}


class _Printer(StrPrinter):  # type: ignore[misc]  # SymPy has no types
    """SymPy's printer with a cache, so that a repeated part is written once."""

    def __init__(self) -> None:
        super().__init__()
        self._written: dict[tuple[type, Any], str] = {}

    def _print(self, expr: Any, **settings: Any) -> str:
        if not isinstance(expr, sympy.Basic) or settings:
            return str(super()._print(expr, **settings))
        key = type(expr), expr
        if key not in self._written:
            self._written[key] = str(super()._print(expr))
        return self._written[key]


def sympy_text(expr: Expr) -> str:
    """The expression as SymPy writes it."""
    return str(_Printer().doprint(to_sympy(expr)))


# -- from SymPy ------------------------------------------------------------------------------------


def from_sympy(sympy_expr: Any, symbols: Mapping[str, Expr]) -> Expr:
    """The expression of the graph, its symbols looked up by name; raises `NotInSympy` for parts that the graph does not
    have."""
    known: dict[Any, Expr] = {}
    counters: dict[Any, Expr] = {}
    waiting = [sympy.sympify(sympy_expr)]
    while waiting:
        item = waiting[-1]
        if item in known:
            waiting.pop()
            continue
        if isinstance(item, sympy.Sum):
            for counter, _, _ in _sum_limits(item):
                if counter not in counters:
                    counters[counter] = graph.counter(str(counter))
        parts = [part for part in _parts_to_convert(item) if part not in known]
        if parts:
            waiting += parts
            continue
        waiting.pop()
        known[item] = _convert_item(item, known, symbols, counters)
    return known[sympy.sympify(sympy_expr)]


def _parts_to_convert(item: Any) -> list[Any]:
    """The parts to convert before the item: arguments, the contents of a Sum or Piecewise, a condition without its
    `not`."""
    if isinstance(item, sympy.Sum):
        return [item.function, *[part for limits in _sum_limits(item) for part in limits]]
    if isinstance(item, sympy.Piecewise):
        return [part for branch in item.args for part in branch.args]
    if isinstance(item, sympy.ITE | sympy.Not):
        return [item.to_nnf()]
    return [] if item.is_Atom else list(item.args)


def _sum_limits(item: Any) -> list[tuple[Any, Any, Any]]:
    """(counter, first, last) for each counter, innermost first."""
    return [tuple(limits) for limits in item.limits]


def _convert_item(item: Any, known: dict[Any, Expr], symbols: Mapping[str, Expr], counters: dict[Any, Expr]) -> Expr:
    if item.is_Symbol:
        if item in counters:
            return counters[item]
        if item == UNDEFINED and item.name not in symbols:
            return graph.failure("no value")
        if item.name not in symbols:
            raise NotInSympy(f"`{item.name}` is not among the symbols of the expression")
        return symbols[item.name]
    for kind, rule in _FROM_SYMPY:
        if isinstance(item, kind):
            return rule(item, known)
    name = getattr(getattr(item, "func", None), "__name__", type(item).__name__)
    if name in _KEPT:
        return _convert_undefined_call(name, [known[arg] for arg in item.args])
    raise NotInSympy(f"the expression graph has no {name}")


def _convert_undefined_call(name: str, args: list[Expr]) -> Expr:
    if name == "element":
        return graph.index(*args)
    if name == "stream":
        return graph.stream(*args)
    if name == "lookup" or name in FUNCTIONS_WITHOUT_SYMPY:
        return graph.apply(name, *args)
    return graph.draw(name, args[1:], args[0])


def _convert_mul(item: Any, known: dict[Any, Expr]) -> Expr:
    """Factors with a negative power make up the denominator."""
    top: list[Expr] = []
    bottom: list[Expr] = []
    for factor in item.args:
        if factor.is_Pow and factor.exp.is_Number and factor.exp.is_negative:
            bottom.append(_raise_converted(known[factor.base], known[factor.exp].payload * -1))
        else:
            top.append(known[factor])
    return graph.div(graph.mul(*top), graph.mul(*bottom))


def _convert_pow(item: Any, known: dict[Any, Expr]) -> Expr:
    exponent = known[item.exp]
    if exponent.kind == "number" and exponent.payload < 0:
        return graph.div(1, _raise_converted(known[item.base], -exponent.payload))
    return _raise_converted(known[item.base], exponent)


def _raise_converted(base: Expr, exponent: Any) -> Expr:
    exponent = graph.to_expr(exponent)
    if exponent.kind == "number" and exponent.payload == Fraction(1, 2):
        return graph.apply("sqrt", base)
    return graph.power(base, exponent)


def _convert_piecewise(item: Any, known: dict[Any, Expr]) -> Expr:
    branches = [(known[value], known[condition]) for value, condition in item.args]
    chosen: Expr = graph.failure("no condition of the Piecewise holds")
    for value, condition in reversed(branches):
        chosen = graph.if_else(condition, value, chosen)
    return chosen


def _convert_sympy_sum(item: Any, known: dict[Any, Expr]) -> Expr:
    """A sum that does not start at 0 gets a shifted counter."""
    total = known[item.function]
    for limits in _sum_limits(item):
        counter, first, last = (known[part] for part in limits)
        (body,) = graph.substitute([total], {} if first is graph.ZERO else {counter: counter + first})
        total = graph.summation(counter, graph.add(graph.sub(last, first), 1), body)
    return total


def _make_join_rule(op: str) -> Callable[[Any, dict[Any, Expr]], Expr]:
    def rule(item: Any, known: dict[Any, Expr]) -> Expr:
        first, *rest = (known[arg] for arg in item.args)
        for condition in rest:
            first = graph.junction(op, first, condition)
        return first

    return rule


def _make_compare_rule(op: str) -> Callable[[Any, dict[Any, Expr]], Expr]:
    return lambda item, known: graph.compare(op, *[known[arg] for arg in item.args])


def _make_call_rule(function: str) -> Callable[[Any, dict[Any, Expr]], Expr]:
    return lambda item, known: graph.apply(function, *[known[arg] for arg in item.args])


_FROM_SYMPY: list[tuple[Any, Callable[[Any, dict[Any, Expr]], Expr]]] = [
    (sympy.Integer, lambda item, known: graph.number(int(item))),
    (sympy.Rational, lambda item, known: graph.number(Fraction(int(item.p), int(item.q)))),
    (sympy.Float, lambda item, known: graph.number(float(item))),
    (sympy.NumberSymbol, lambda item, known: graph.number(float(item))),
    (sympy.Add, lambda item, known: graph.add(*[known[arg] for arg in item.args])),
    (sympy.Mul, _convert_mul),
    (sympy.exp, _make_call_rule("exp")),
    (sympy.Pow, _convert_pow),
    (sympy.log, _make_call_rule("log")),
    (sympy.Max, _make_call_rule("max")),
    (sympy.Min, _make_call_rule("min")),
    (sympy.ceiling, _make_call_rule("ceil")),
    (sympy.floor, _make_call_rule("floor")),
    (sympy.Abs, _make_call_rule("abs")),
    (sympy.Mod, _make_call_rule("mod")),
    (sympy.Piecewise, _convert_piecewise),
    (sympy.Sum, _convert_sympy_sum),
    (sympy.And, _make_join_rule("and")),
    (sympy.Or, _make_join_rule("or")),
    ((sympy.ITE, sympy.Not), lambda item, known: known[item.to_nnf()]),
    *[(kind, _make_compare_rule(op)) for op, kind in _COMPARISONS.items()],
    (type(sympy.true), lambda item, known: graph.TRUE),
    (type(sympy.false), lambda item, known: graph.FALSE),
    (sympy.Tuple, lambda item, known: graph.array([known[arg] for arg in item.args])),
]


def simplify_with_sympy(expr: Expr, names: Mapping[Expr, str] | None = None) -> Expr:
    """The expression as SymPy simplifies it; slow for large ones, so only on request.

    The inside of a sum without closed form is left alone: SymPy 1.14 loses `Sum(Piecewise(...))` on the way.
    """
    shown = display_names(expr) | dict(names or {})
    view = to_sympy(expr, names)
    opaque = {total: sympy.Dummy(f"sum{index}") for index, total in enumerate(_outermost_sums(view))}
    simplified = sympy.simplify(view.xreplace(opaque)).xreplace({dummy: total for total, dummy in opaque.items()})
    return from_sympy(simplified, {name: symbol for symbol, name in shown.items()})


def _outermost_sums(view: Any) -> list[Any]:
    """The outermost sums of a SymPy expression, in a fixed order."""
    walk = sympy.preorder_traversal(view)
    sums: dict[Any, None] = {}
    for part in walk:
        if isinstance(part, sympy.Sum):
            sums[part] = None
            walk.skip()
    return list(sums)
