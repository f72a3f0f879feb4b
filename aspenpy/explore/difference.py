"""Difference: how far apart two expressions are while a symbol moves in an interval.

Bounds of two expressions by themselves say little about their difference where both move together: of two machines
with equal memories, n/4 - n/4 would lie anywhere. So both are brought into one form first, sums of products with exact
coefficients in which equal terms cancel. What is no sum or product (`ceil(n/4)`, `log(n)`) counts as a variable, its
range known; a `max` or `if` is replaced by the branch that is certain to be taken in the interval. Sums of a few
terms are written out beforehand (`write_out_sums`), so that each term takes its own branch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce

from aspenpy.expr import graph
from aspenpy.expr.bounds import bounds, ranges
from aspenpy.expr.graph import Expr
from aspenpy.expr.intervals import ANYWHERE, Range, Real
from aspenpy.expr.polynomial import Exact, Monomial, atom, combine, constant, product, total

MOST_TERMS = 64  # a longer sum is not multiplied out: it counts as a variable

HIGHEST_POWER = 12

MOST_PASSES = 32  # a sum of more terms is not written out, nor are sums that have more than `MOST_WRITTEN` in all

MOST_WRITTEN = 256

Known = dict[Expr, Range]


def difference(first: Expr, second: Expr, symbol: Expr, low: Real, high: Real) -> Range:
    """The range of `first - second` over the interval, without a direction; (0, 0) where they are equal all over it."""
    box = {symbol: (low, high)}
    pair = graph.array([first, second])
    known = ranges(pair, box, symbol)
    forms = _forms(pair, known)
    apart = total([forms[first], -forms[second]])
    return bounds(_expression(apart), box, symbol)._replace(direction=None) if apart else Range(0, 0)


def write_out_sums(expr: Expr) -> Expr:
    """The expression with its sums of a few terms, a fixed number of them, as additions."""
    written: dict[Expr, Expr] = {}
    left = MOST_WRITTEN
    for node in graph.topological_order(expr):
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


def _expression(polynomial: Exact) -> Expr:
    """Common factors in front: of a sum without mixed signs the bounds are then exact."""
    shared = reduce(_common, polynomial.terms)
    rest = [graph.mul(graph.number(weight), *_powers(term.over(shared))) for term, weight in polynomial.terms.items()]
    return graph.mul(graph.add(*rest), *_powers(shared))


def _common(first: Monomial, second: Monomial) -> Monomial:
    other = dict(second)
    return Monomial.of({atom: min(exponent, other[atom]) for atom, exponent in first if atom in other})


def _powers(monomial: Monomial) -> list[Expr]:
    return [graph.power(atom, exponent) for atom, exponent in monomial]


# -- forms -----------------------------------------------------------------------------------------


def _forms(root: Expr, known: Known) -> dict[Expr, Exact]:
    """The form of each node that stands for a number."""

    def form(node: Expr, forms: Mapping[Expr, Exact]) -> Exact:
        if known[node].single:
            return constant(known[node].low)
        rule = _RULES.get(node.kind)
        polynomial = rule(node, forms, known) if rule is not None else None
        return polynomial if polynomial is not None and len(polynomial) <= MOST_TERMS else atom(node)

    return graph.fold(form, root)


def _arithmetic(node: Expr, forms: Mapping[Expr, Exact], known: Known) -> Exact | None:
    return combine(node.kind, [forms[arg] for arg in node.args], MOST_TERMS)


def _div(node: Expr, forms: Mapping[Expr, Exact], known: Known) -> Exact | None:
    """By what stays on one side of 0."""
    bottom = known[node.args[1]]
    return None if bottom.low <= 0 <= bottom.high else _arithmetic(node, forms, known)


def _power(node: Expr, forms: Mapping[Expr, Exact], known: Known) -> Exact | None:
    base, exponent = node.args
    if not known[exponent].single or known[exponent].low != int(known[exponent].low):
        return None
    times = int(known[exponent].low)
    return product([forms[base]] * times, MOST_TERMS) if 0 < times <= HIGHEST_POWER else None


def _apply(node: Expr, forms: Mapping[Expr, Exact], known: Known) -> Exact | None:
    """The argument of `max` or `min` that is certain to be chosen."""
    if node.payload not in ("max", "min"):
        return None
    sign = 1 if node.payload == "max" else -1
    for arg in node.args:
        if all(_exceeds(arg, other, sign, forms, known) for other in node.args if other is not arg):
            return forms[arg]
    return None


def _exceeds(arg: Expr, other: Expr, sign: int, forms: Mapping[Expr, Exact], known: Known) -> bool:
    """Whether `sign * arg` is nowhere below `sign * other`: by their ranges, or because no term of the difference can
    be negative."""
    upper, lower = (arg, other) if sign > 0 else (other, arg)
    if known[upper].low >= known[lower].high:
        return True
    return all(
        coefficient > 0 and all(known.get(atom, ANYWHERE).low >= 0 for atom, _ in monomial)
        for monomial, coefficient in total([forms[upper], -forms[lower]]).terms.items()
    )


def _if_else(node: Expr, forms: Mapping[Expr, Exact], known: Known) -> Exact | None:
    condition, then, otherwise = node.args
    if not known[condition].single:
        return None
    return forms[then if known[condition].low else otherwise]


_RULES: dict[str, Callable[[Expr, Mapping[Expr, Exact], Known], Exact | None]] = {
    **dict.fromkeys(("add", "neg", "mul"), _arithmetic),
    "div": _div,
    "power": _power,
    "apply": _apply,
    "if_else": _if_else,
    "checked": lambda node, forms, known: forms[node.args[0]],
}
