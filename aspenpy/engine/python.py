"""Expressions compiled to straight-line Python, for one prediction at many values of its parameters.

The program is made from graph nodes with names of our own; no user's text gets into it.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from aspenpy.engine.schedule import temporaries
from aspenpy.expr.arithmetic import LARGEST_DEGREE, LARGEST_EXACT_POWER, DomainError, to_float
from aspenpy.expr.evaluate import EvaluationError, Value, accepted, evaluate, evaluate_many
from aspenpy.expr.functions import interpolated
from aspenpy.expr.graph import free_symbols
from aspenpy.expr.laws import LAWS
from aspenpy.expr.node import Expr
from aspenpy.expr.numerals import float_numeral
from aspenpy.expr.printer import ATOM, JUNCTION, POWER, PRODUCT, Dialect, Pieces, called, written

_SET_APART = frozenset({"sum", "draw"})
"""Kinds that are evaluated by `evaluate`, and whose value the program asks for."""


class NotCompiled(ValueError):
    """The expressions need what the program does not have: a symbol that is not free, a number beyond floats."""


def compile_python(exprs: Sequence[Expr], free: Sequence[Expr], seed: int = 0) -> Callable[..., tuple[float, ...]]:
    """A function of the free symbols' values, in their order: floats, or tuples for arrays.

    Computes in floating point, and both branches of a condition. Where it raises, whatever it raises, or gives nan or
    infinity, the exact rules decide: see `Prepared`. Raises `NotCompiled`.
    """
    order, apart = _needed(exprs)
    names = {symbol: f"a{position}" for position, symbol in enumerate(free)}
    scope = dict(_SCOPE)
    arrays = {arg for node in order if node.kind in ("index", "apply") for arg in _array_arguments(node)}
    lines = [f"def program({', '.join(names.values())}):"]
    lines += [f" {name} = float({name})" for symbol, name in names.items() if symbol not in arrays] or [" pass"]
    arguments = ", ".join(names.values())
    for number, node in enumerate(apart):
        scope[f"s{number}"] = _apart(node, free, seed)
        lines.append(f" x{number} = s{number}({arguments})")
        names[node] = f"x{number}"
    named = temporaries(order, exprs)
    try:
        for number, node in enumerate([node for node in order if node in named and node not in names]):
            lines.append(f" v{number} = {''.join(written(node, PYTHON, names))}")
            names[node] = f"v{number}"
        results = "".join(f"float({''.join(written(expr, PYTHON, names))})," for expr in exprs)
    except (KeyError, OverflowError) as error:
        raise NotCompiled(str(error)) from None
    exec("\n".join([*lines, f" return ({results})"]), scope)
    program: Callable[..., tuple[float, ...]] = scope["program"]
    return program


class Prepared:
    """Expressions ready to be evaluated at many values of their free symbols, some 100 ns a node.

    `prepared(*values)` gives floats in the order of the expressions, or raises `EvaluationError`.
    """

    def __init__(self, exprs: Sequence[Expr], free: Sequence[Expr], seed: int = 0) -> None:
        self.exprs, self.free, self.seed = tuple(exprs), tuple(free), seed
        try:
            self._program: Callable[..., tuple[float, ...]] = compile_python(exprs, free, seed)
        except NotCompiled:
            self._program = self._exactly

    def __call__(self, *values: Value) -> tuple[float, ...]:
        try:
            results = self._program(*values)
        except Exception:  # whatever it was, the exact rules find it again, or know better
            return self._exactly(*values)
        total = sum(results)
        finite = total - total == 0.0
        return results if finite else self._exactly(*values)

    def __reduce__(self) -> tuple[Any, ...]:
        return Prepared, (self.exprs, self.free, self.seed)

    def _exactly(self, *values: Value) -> tuple[float, ...]:
        results = []
        bindings = dict(zip(self.free, values, strict=True))
        for expr, value in zip(self.exprs, evaluate_many(self.exprs, bindings, self.seed), strict=True):
            try:
                results.append(to_float(value))
            except DomainError as error:
                raise EvaluationError(expr, str(error)) from None
        return tuple(results)


def _needed(exprs: Sequence[Expr]) -> tuple[list[Expr], list[Expr]]:
    """The nodes of the program in order, and those that are set apart from it."""
    seen = set(exprs)
    waiting = list(seen)
    while waiting:
        node = waiting.pop()
        for arg in () if node.kind in _SET_APART else node.args:
            if arg not in seen:
                seen.add(arg)
                waiting.append(arg)
    order = sorted(seen, key=lambda node: node.serial)
    apart = [node for node in order if node.kind in _SET_APART]
    return [node for node in order if node.kind not in _SET_APART], apart


def _apart(node: Expr, free: Sequence[Expr], seed: int) -> Callable[..., Value]:
    """A function of the free symbols; one that depends on none of them is computed at most once."""
    if free_symbols(node).isdisjoint(free):
        known: list[Value] = []

        def constant(*values: Value) -> Value:
            if not known:
                known.append(to_float(evaluate(node, {}, seed)))
            return known[0]

        return constant
    return lambda *values: to_float(evaluate(node, dict(zip(free, values, strict=True)), seed))


def _array_arguments(node: Expr) -> tuple[Expr, ...]:
    if node.kind == "index":
        return node.args[:1]
    return node.args[:2] if node.payload == "lookup" else ()


# -- the dialect -----------------------------------------------------------------------------------


def _enforce(law: str) -> Callable[[float, float], float]:
    rule = LAWS[law]
    least = rule.low if rule.from_zero else None

    def enforced(value: float, subject: float) -> float:
        if not (rule.holds(subject) if least is None else subject >= least):
            raise DomainError(rule.broken(subject))
        return value

    return enforced


def _element(array: Any, *positions: float) -> Any:
    for position in positions:
        place = int(position)
        if place < 0:
            raise IndexError
        array = array[place]
    return array


def _lookup(values: Any, sizes: Any, x: float) -> Any:
    return interpolated(accepted(values), accepted(sizes), x)


def _root(base: float, power: int, degree: int) -> float:
    """As `raised`: the root of a whole power is whole."""
    near = round(math.pow(base, 1 / degree))
    whole = base < LARGEST_EXACT_POWER and near**degree == base
    return math.pow(near, power) if whole else math.pow(base, power / degree)


def _failed() -> float:
    raise DomainError("undefined")


_SCOPE: dict[str, Any] = {
    "ceil": math.ceil,
    "floor": math.floor,
    "mod": operator.mod,
    "log": math.log,
    "log2": math.log2,
    "log10": math.log10,
    "exp": math.exp,
    "sqrt": math.sqrt,
    "power": math.pow,
    "root": _root,
    "element": _element,
    "lookup": _lookup,
    "failed": _failed,
    **{f"law_{law}": _enforce(law) for law in LAWS},
}


def _array(node: Expr, dialect: Dialect) -> tuple[int, Pieces]:
    return ATOM, ["(", *called("{joined}", node.args), ",)"]


def _if_else(node: Expr, dialect: Dialect) -> tuple[int, Pieces]:
    condition, then, otherwise = node.args
    return ATOM, ["(", (then, JUNCTION), " if ", (condition, JUNCTION), " else ", (otherwise, JUNCTION), ")"]


def _power(node: Expr, dialect: Dialect) -> tuple[int, Pieces]:
    """A fraction as exponent is kept as it is: roots of whole powers are whole."""
    exponent = node.args[1].payload
    if type(exponent) is not Fraction or exponent.denominator > LARGEST_DEGREE:
        return ATOM, called("power({joined})", node.args)
    return ATOM, ["root(", (node.args[0], JUNCTION), f", {exponent.numerator}, {exponent.denominator})"]


PYTHON = Dialect(
    "python",
    numeral=lambda value: (float_numeral(value), ATOM),
    symbol=lambda name: name,
    product=" * ",
    template=lambda function: function.name + "({joined})",
    constants=("False", "True"),
    rules={
        "div": lambda node, dialect: (PRODUCT, [(node.args[0], PRODUCT), " / ", (node.args[1], POWER)]),
        "power": _power,
        "index": lambda node, dialect: (ATOM, called("element({joined})", node.args)),
        "checked": lambda node, dialect: (ATOM, called(f"law_{node.payload}({{joined}})", node.args)),
        "failure": lambda node, dialect: (ATOM, ["failed()"]),
        "array": _array,
        "if_else": _if_else,
    },
)
