"""Formulas as a person writes them: the numbers of a product in one, equal terms of a sum added up."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import reduce

from aspenpy.expr import graph
from aspenpy.expr.arithmetic import add_exactly, decimal_digits, divide, multiply_exactly, raise_to_power
from aspenpy.expr.functions import FUNCTIONS
from aspenpy.expr.graph import LONGEST_CHAIN, Expr
from aspenpy.expr.traits import NONNEGATIVE
from aspenpy.record import Record

ROUNDED = frozenset({"floor", "ceil", "round", "mod"})
"""Functions whose argument stays as it was written: computed in floating point, another order may round otherwise."""

MOST_DIGITS = 6
"""Digits of a decimal that is written instead of a quotient however short that is."""


RULES = {"add": add_exactly, "mul": multiply_exactly, "div": divide, "power": raise_to_power}


class Product(Record):
    """An exact number with factors above and below the line; `numbers` are those that it was written in."""

    number: Fraction
    above: tuple[Expr, ...] = ()
    below: tuple[Expr, ...] = ()
    numbers: int = 0

    def times(self, other: Product) -> Product:
        number, numbers = self.number * other.number, self.numbers + other.numbers
        return Product(number, self.above + other.above, self.below + other.below, numbers)

    def over(self, other: Product) -> Product:
        """The quotient; a divisor that is zero, or a quotient itself, stays whole, since it may not be computable."""
        if other.number == 0 or other.below:
            return Product(self.number, self.above, (*self.below, other.as_expr()), self.numbers)
        numbers = self.numbers + other.numbers
        return Product(self.number / other.number, self.above, self.below + other.above, numbers)

    def as_expr(self) -> Expr:
        top, bottom = (self.number, 1) if not self.above or _is_short(self.number) else self.number.as_integer_ratio()
        product = graph.mul(graph.number(top), *self.above)
        divides = self.below or bottom != 1
        return graph.div(product, graph.mul(graph.number(bottom), *self.below)) if divides else product


def _is_short(number: Fraction) -> bool:
    """Whether it is a decimal that reads as well as the quotient."""
    parts = decimal_digits(number)
    digits = len(str(parts[0])) if parts else MOST_DIGITS + 1
    return parts is not None and (digits <= MOST_DIGITS or digits < len(f"{number}"))


def gather_numbers(expr: Expr) -> Expr:
    """The formula to be written, in exact arithmetic and without its checks: `4*n*20*20/8` becomes `200*n`,
    `2*(n*3) + n*3` becomes `9*n`."""
    (expr,) = compute_constants([expr])
    rounded = [arg for node in graph.topological_order(expr) if _is_rounded(node) for arg in node.args]
    kept = frozenset(graph.topological_order(*rounded)) if rounded else frozenset()
    products: dict[Expr, Product] = {}

    def gather(node: Expr, args: tuple[Expr, ...]) -> Expr | None:
        if node in kept or node.kind not in ("add", "mul", "div", "neg"):
            return None
        plain = graph.rebuild(node, args)
        parts = [products.get(arg) or _make_factor(arg) for arg in args]
        if node.kind == "add":
            return _gather_terms(args, products) or plain
        product = parts[0] if node.kind != "neg" else parts[0].times(Product(Fraction(-1)))
        for part in parts[1:]:
            product = product.over(part) if node.kind == "div" else product.times(part)
        result = product.as_expr() if product.numbers > 1 else plain
        if len(product.above) + len(product.below) <= LONGEST_CHAIN:
            products[result] = product
        return result

    return graph.rewrite([expr], gather)[0]


def _is_rounded(node: Expr) -> bool:
    return node.kind in ("compare", "index") or graph.is_call(node, ROUNDED)


def compute_constants(exprs: Sequence[Expr]) -> list[Expr]:
    """The formulas without checks, with a number in place of what depends on nothing, as its evaluation has it, and
    without a `max(x, 0)` of what is not negative."""
    return graph.rewrite(exprs, lambda node, args: args[0] if node.kind == "checked" else _compute_constant(node, args))


def _drop_zero(function: str, args: tuple[Expr, ...]) -> Expr | None:
    """A maximum without the zero that others are never below, a minimum that is zero; None for others."""
    others = [arg for arg in args if arg is not graph.ZERO]
    positive = [arg for arg in others if arg.traits & NONNEGATIVE]
    if function not in ("max", "min") or len(others) == len(args) or not positive:
        return None
    if function == "max":
        return graph.apply(function, *others) if len(others) > 1 else others[0]
    return graph.ZERO if len(positive) == len(others) else None


def _compute_constant(node: Expr, args: tuple[Expr, ...]) -> Expr | None:
    """The number that a node of numbers alone is worth; None for others."""
    rule = FUNCTIONS[node.payload].exact if node.kind == "apply" else RULES.get(node.kind)
    if rule is None or any(arg.kind != "number" for arg in args):
        return _drop_zero(node.payload, args) if node.kind == "apply" else None
    numbers = [arg.payload for arg in args]
    try:
        return graph.number(rule(*numbers) if node.kind == "apply" else reduce(rule, numbers))
    except (ArithmeticError, ValueError):
        return None


def _make_factor(expr: Expr) -> Product:
    return Product(Fraction(expr.payload), numbers=1) if graph.is_exact(expr) else Product(Fraction(1), (expr,))


def _gather_terms(terms: tuple[Expr, ...], products: dict[Expr, Product]) -> Expr | None:
    """The sum without sums inside it, equal terms added up; None where it has neither. Terms that cancel each other
    stay: they may have no value."""
    flat: list[Expr] = []
    for term in terms:
        nested = term.kind == "add" and len(flat) + len(term.args) <= LONGEST_CHAIN
        flat.extend(term.args if nested else (term,))
    alike: dict[tuple[tuple[Expr, ...], tuple[Expr, ...]], list[Product]] = {}
    for term in flat:
        product = products.get(term) or _make_factor(term)
        alike.setdefault((product.above, product.below), []).append(product)
    if len(alike) == len(flat) == len(terms):
        return None
    sums: list[Expr] = []
    for (above, below), group in alike.items():
        total = sum((product.number for product in group), Fraction(0))
        for product in [Product(total, above, below, numbers=1)] if total or not (above or below) else group:
            sums.append(product.as_expr())
            products[sums[-1]] = product
    return graph.add(*sums)
