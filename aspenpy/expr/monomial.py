"""Monomial: an expression as a number times powers of what is neither a product nor a quotient."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from aspenpy.expr import graph
from aspenpy.expr.graph import Expr


class Monomial(NamedTuple):
    """`coefficient` times each base to its exponent; exponents are not 0."""

    coefficient: Fraction
    powers: tuple[tuple[Expr, int], ...]

    def over(self, other: Monomial) -> Monomial:
        """The quotient; `other` is not 0."""
        exponents = dict(self.powers)
        for base, exponent in other.powers:
            exponents[base] = exponents.get(base, 0) - exponent
        return Monomial(self.coefficient / other.coefficient, _gathered(exponents))


def monomial(expr: Expr, *, all_positive: bool = False) -> Monomial:
    """An expression with equal factors gathered. What is divided by is taken not to be 0, and where the bases are
    `all_positive`, an `abs` says nothing."""
    coefficient, exponents = Fraction(1), dict[Expr, int]()
    waiting = [(expr, 1)]
    while waiting:
        factor, sign = waiting.pop()
        if factor.kind == "mul":
            waiting += [(part, sign) for part in reversed(factor.args)]
        elif factor.kind == "div":
            waiting += [(factor.args[1], -sign), (factor.args[0], sign)]
        elif factor.kind == "neg":
            coefficient *= (-1) ** (sign % 2)
            waiting.append((factor.args[0], sign))
        elif factor.kind == "apply" and factor.payload == "abs" and all_positive:
            waiting.append((factor.args[0], sign))
        elif factor.kind == "power" and _small(factor.args[1]):
            waiting.append((factor.args[0], sign * int(factor.args[1].payload)))
        elif factor.kind == "number" and type(factor.payload) is not float and (factor.payload or sign > 0):
            coefficient *= Fraction(factor.payload) ** sign
        else:
            exponents[factor] = exponents.get(factor, 0) + sign
    return Monomial(coefficient, _gathered(exponents))


def _small(exponent: Expr) -> bool:
    return exponent.kind == "number" and type(exponent.payload) is int and 0 < abs(exponent.payload) <= 16


def _gathered(exponents: dict[Expr, int]) -> tuple[tuple[Expr, int], ...]:
    return tuple(sorted(((base, power) for base, power in exponents.items() if power), key=lambda pair: pair[0].serial))


def certainly_at_most(first: Expr, second: Expr) -> bool:
    """Whether the first is no larger for all bases of at least 1: the second is a multiple of it."""
    return _at_least_one(*(monomial(expr, all_positive=True) for expr in (second, first)))


def certainly_shorter(first: Expr, second: Expr) -> bool:
    """Whether the second is a multiple of the first, and another one, for bases of at least 1."""
    over, under = (monomial(expr, all_positive=True) for expr in (second, first))
    return over != under and _at_least_one(over, under)


def _at_least_one(over: Monomial, under: Monomial) -> bool:
    if not under.coefficient or not over.coefficient:
        return not under.coefficient
    ratio = over.over(under)
    return abs(ratio.coefficient) >= 1 and all(exponent > 0 for _, exponent in ratio.powers)


def as_expression(found: Monomial) -> Expr:
    """Factors, over those with a negative exponent."""
    over = [graph.power(base, exponent) for base, exponent in found.powers if exponent > 0]
    under = [graph.power(base, -exponent) for base, exponent in found.powers if exponent < 0]
    above = graph.mul(graph.number(found.coefficient.numerator), *over)
    return graph.div(above, graph.mul(graph.number(found.coefficient.denominator), *under))
