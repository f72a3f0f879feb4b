"""Difference: how far apart two expressions are while a symbol moves in an interval.

Bounds of two expressions by themselves say little about their difference where both move together: of two machines
with equal memories, n/4 - n/4 would lie anywhere. So both are brought into one form first, sums of products with exact
coefficients in which equal terms cancel. What is no sum or product (`ceil(n/4)`, `log(n)`) counts as a variable, its
range known; a `max` or `if` is replaced by the branch that is certain to be taken in the interval. Sums of a few
terms are written out beforehand (`written_out`), so that each term takes its own branch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import reduce

from aspenpy.answers.bounds import ANYWHERE, Range, Real, bounds, ranges
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr

Product = tuple[tuple[Expr, Fraction], ...]
"""Variables with their exponents, in the order of the variables' serials; none is 0."""

Polynomial = dict[Product, Fraction]
"""Coefficients; none is 0."""

MOST_TERMS = 64
"""A longer sum is not multiplied out: it counts as a variable."""

HIGHEST_POWER = 12

MOST_PASSES = 32
"""A sum of more terms is not written out, nor are sums that have more than `MOST_WRITTEN` in all."""

MOST_WRITTEN = 256

Known = dict[Expr, Range]


def difference(first: Expr, second: Expr, symbol: Expr, low: Real, high: Real) -> Range:
    """The range of `first - second` over the interval, without a direction; (0, 0) where they are equal all over it."""
    box = {symbol: (low, high)}
    pair = graph.array([first, second])
    known = ranges(pair, box, symbol)
    forms = _forms(pair, known)
    apart = _sum([forms[first], _scaled(Fraction(-1), forms[second])])
    if not apart:
        return Range(0, 0)
    return bounds(_expression(apart), box, symbol)._replace(direction=None)


def written_out(expr: Expr) -> Expr:
    """The expression with its sums of a few terms, a fixed number of them, as additions."""
    written: dict[Expr, Expr] = {}
    left = MOST_WRITTEN
    for node in graph.topological(expr):
        if node.kind != "sum" or node.args[1].kind != "number":
            continue
        counter, count, body = node.args
        passes = count.payload
        if passes != int(passes) or not 0 <= passes <= min(MOST_PASSES, left):
            continue
        left -= int(passes)
        inner = graph.substitute([body], written)[0]
        terms = [graph.substitute([inner], {counter: graph.number(number)})[0] for number in range(int(passes))]
        written[node] = graph.add(*terms)
    return graph.substitute([expr], written)[0]


def _expression(polynomial: Polynomial) -> Expr:
    """Common variables in front: of a sum without mixed signs the bounds are then exact."""
    shared = reduce(_common, (dict(product) for product in polynomial))
    rest = {_divided(product, shared): coefficient for product, coefficient in polynomial.items()}
    inner = graph.add(*(graph.mul(graph.number(weight), *_powers(product)) for product, weight in rest.items()))
    return graph.mul(inner, *_powers(tuple(shared.items())))


def _common(first: dict[Expr, Fraction], second: dict[Expr, Fraction]) -> dict[Expr, Fraction]:
    return {variable: min(exponent, second[variable]) for variable, exponent in first.items() if variable in second}


def _divided(product: Product, divisor: dict[Expr, Fraction]) -> Product:
    left = ((variable, exponent - divisor.get(variable, 0)) for variable, exponent in product)
    return tuple((variable, exponent) for variable, exponent in left if exponent)


def _powers(product: Product) -> list[Expr]:
    return [graph.power(variable, graph.number(exponent)) for variable, exponent in product]


# -- forms -----------------------------------------------------------------------------------------


def _forms(root: Expr, known: Known) -> dict[Expr, Polynomial]:
    """The form of each node that stands for a number."""

    def form(node: Expr, forms: Mapping[Expr, Polynomial]) -> Polynomial:
        if known[node].single:
            return _constant(known[node].low)
        rule = _RULES.get(node.kind)
        found = rule(node, forms, known) if rule is not None else None
        return found if found is not None and len(found) <= MOST_TERMS else _variable(node)

    return graph.folded(form, root)


def _constant(value: Real) -> Polynomial:
    return {(): Fraction(value)} if value else {}


def _variable(node: Expr) -> Polynomial:
    return {((node, Fraction(1)),): Fraction(1)}


def _sum(parts: list[Polynomial]) -> Polynomial:
    total: Polynomial = {}
    for part in parts:
        for product, coefficient in part.items():
            total[product] = total.get(product, Fraction(0)) + coefficient
    return {product: coefficient for product, coefficient in total.items() if coefficient}


def _scaled(factor: Fraction, part: Polynomial) -> Polynomial:
    return {product: factor * coefficient for product, coefficient in part.items()}


def _multiplied(first: Polynomial, second: Polynomial) -> Polynomial | None:
    if len(first) * len(second) > MOST_TERMS:
        return None
    return _sum([{_joined(a, b): x * y} for a, x in first.items() for b, y in second.items()])


def _joined(first: Product, second: Product) -> Product:
    exponents = dict(first)
    for variable, exponent in second:
        exponents[variable] = exponents.get(variable, Fraction(0)) + exponent
    ordered = sorted(exponents.items(), key=lambda factor: factor[0].serial)
    return tuple((variable, exponent) for variable, exponent in ordered if exponent)


def _mul(node: Expr, forms: Mapping[Expr, Polynomial], known: Known) -> Polynomial | None:
    product: Polynomial | None = forms[node.args[0]]
    for arg in node.args[1:]:
        product = None if product is None else _multiplied(product, forms[arg])
    return product


def _div(node: Expr, forms: Mapping[Expr, Polynomial], known: Known) -> Polynomial | None:
    """By a single product that stays on one side of 0."""
    top, bottom = node.args
    if len(forms[bottom]) != 1 or known[bottom].low <= 0 <= known[bottom].high:
        return None
    ((product, coefficient),) = forms[bottom].items()
    inverse = tuple((variable, -exponent) for variable, exponent in product)
    return _multiplied(forms[top], {inverse: 1 / coefficient})


def _power(node: Expr, forms: Mapping[Expr, Polynomial], known: Known) -> Polynomial | None:
    base, exponent = node.args
    if not known[exponent].single or known[exponent].low != int(known[exponent].low):
        return None
    times = int(known[exponent].low)
    if not 0 < times <= HIGHEST_POWER:
        return None
    result: Polynomial | None = forms[base]
    for _ in range(times - 1):
        result = None if result is None else _multiplied(result, forms[base])
    return result


def _apply(node: Expr, forms: Mapping[Expr, Polynomial], known: Known) -> Polynomial | None:
    """The argument of `max` or `min` that is certain to be chosen."""
    if node.payload not in ("max", "min"):
        return None
    sign = 1 if node.payload == "max" else -1
    for arg in node.args:
        if all(_exceeds(arg, other, sign, forms, known) for other in node.args if other is not arg):
            return forms[arg]
    return None


def _exceeds(arg: Expr, other: Expr, sign: int, forms: Mapping[Expr, Polynomial], known: Known) -> bool:
    """Whether `sign * arg` is nowhere below `sign * other`: by their ranges, or because no term of the difference can
    be negative."""
    upper, lower = (arg, other) if sign > 0 else (other, arg)
    if known[upper].low >= known[lower].high:
        return True
    apart = _sum([forms[upper], _scaled(Fraction(-1), forms[lower])])
    return all(
        coefficient > 0 and all(known.get(variable, ANYWHERE).low >= 0 for variable, _ in product)
        for product, coefficient in apart.items()
    )


def _if_else(node: Expr, forms: Mapping[Expr, Polynomial], known: Known) -> Polynomial | None:
    condition, then, otherwise = node.args
    if not known[condition].single:
        return None
    return forms[then if known[condition].low else otherwise]


_RULES: dict[str, Callable[[Expr, Mapping[Expr, Polynomial], Known], Polynomial | None]] = {
    "add": lambda node, forms, known: _sum([forms[arg] for arg in node.args]),
    "neg": lambda node, forms, known: _scaled(Fraction(-1), forms[node.args[0]]),
    "mul": _mul,
    "div": _div,
    "power": _power,
    "apply": _apply,
    "if_else": _if_else,
    "checked": lambda node, forms, known: forms[node.args[0]],
}
