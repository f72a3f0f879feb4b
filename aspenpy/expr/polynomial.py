"""Polynomial: a sum of terms, each a coefficient times a monomial.

A `Monomial` is a product of powers of atoms: symbols, and whatever else is neither a sum nor a product. A sum over a
counter has monomials of its own (see `series`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Generic, Protocol, Self, TypeVar

from aspenpy.expr import graph
from aspenpy.expr.node import Expr
from aspenpy.record import Record


class Multiplied(Protocol):
    """Operations that a polynomial needs of its monomials; equal ones have equal hashes."""

    def times(self, other: Self) -> Self: ...

    def over(self, other: Self) -> Self: ...


M = TypeVar("M", bound=Multiplied)
C = TypeVar("C", Fraction, Expr)


class Polynomial(Generic[M, C]):
    """`terms` are the coefficients by monomial, in the order in which they came; none is the number 0."""

    __slots__ = ("terms",)

    def __init__(self, terms: Mapping[M, C]) -> None:
        self.terms: dict[M, C] = {monomial: factor for monomial, factor in terms.items() if bool(factor)}

    def __len__(self) -> int:
        return len(self.terms)

    def __neg__(self) -> Polynomial[M, C]:
        return Polynomial({monomial: -coefficient for monomial, coefficient in self.terms.items()})

    def times(self, other: Polynomial[M, C]) -> Polynomial[M, C]:
        return _gather_terms(
            (left.times(right), a * b) for left, a in self.terms.items() for right, b in other.terms.items()
        )

    def over(self, other: Polynomial[M, C]) -> Polynomial[M, C] | None:
        """The quotient by a single term; None for a longer divisor, and for 0."""
        if len(other) != 1:
            return None
        ((divisor, under),) = other.terms.items()
        return Polynomial({monomial.over(divisor): above / under for monomial, above in self.terms.items()})


def _gather_terms(terms: Iterable[tuple[M, C]]) -> Polynomial[M, C]:
    total: dict[M, C] = {}
    for monomial, coefficient in terms:
        total[monomial] = total[monomial] + coefficient if monomial in total else coefficient
    return Polynomial(total)


def add_polynomials(parts: Iterable[Polynomial[M, C]]) -> Polynomial[M, C]:
    return _gather_terms(term for part in parts for term in part.terms.items())


def multiply_polynomials(factors: Sequence[Polynomial[M, C]], most: int) -> Polynomial[M, C] | None:
    """One or more factors multiplied; None where that takes more than `most` products of terms at once."""
    result = factors[0]
    for factor in factors[1:]:
        if len(result) * len(factor) > most:
            return None
        result = result.times(factor)
    return result


def combine_parts(kind: str, parts: Sequence[Polynomial[M, C]], most: int) -> Polynomial[M, C] | None:
    """A node of one of the kinds of `ARITHMETIC` as a polynomial, from its arguments; `most` limits products."""
    if kind == "add":
        return add_polynomials(parts)
    if kind == "neg":
        return -parts[0]
    return multiply_polynomials(parts, most) if kind == "mul" else parts[0].over(parts[1])


ARITHMETIC = frozenset({"add", "neg", "mul", "div"})


class Monomial(tuple[tuple[Expr, int], ...]):
    """Atoms with their exponents, none of which is 0, in the order of the atoms' serials."""

    __slots__ = ()

    @classmethod
    def of(cls, exponents: Mapping[Expr, int]) -> Monomial:
        return cls(sorted([power for power in exponents.items() if power[1]], key=lambda power: power[0].serial))

    def times(self, other: Monomial, sign: int = 1) -> Monomial:
        exponents = dict(self)
        for atom, exponent in other:
            exponents[atom] = exponents.get(atom, 0) + sign * exponent
        return Monomial.of(exponents)

    def over(self, other: Monomial) -> Monomial:
        return self.times(other, -1)


Exact = Polynomial[Monomial, Fraction]


def constant_polynomial(value: int | Fraction | float) -> Exact:
    """A float counts as the fraction that it is."""
    return Polynomial({Monomial(): Fraction(value)})


def atom_polynomial(node: Expr) -> Exact:
    return Polynomial({Monomial([(node, 1)]): Fraction(1)})


# -- single terms ----------------------------------------------------------------------------------


class Term(Record):
    coefficient: Fraction
    powers: Monomial

    def expression(self) -> Expr:
        """The term as a product of its factors, divided by those with a negative exponent."""
        over = [graph.power(base, exponent) for base, exponent in self.powers if exponent > 0]
        under = [graph.power(base, -exponent) for base, exponent in self.powers if exponent < 0]
        above = graph.mul(graph.number(self.coefficient.numerator), *over)
        return graph.div(above, graph.mul(graph.number(self.coefficient.denominator), *under))


@lru_cache(maxsize=4096)  # each nest of loops is looked at beside all others, at each level
def as_term(expr: Expr, *, all_positive: bool = False) -> Term:
    """An expression with equal factors gathered; sums are atoms. Divisors are taken not to be 0, and where all atoms
    are positive, `abs` is left out."""
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
        elif all_positive and graph.is_call(factor, ("abs",)):
            waiting.append((factor.args[0], sign))
        elif factor.kind == "power" and abs(times := graph.whole_number(factor.args[1]) or 0) in range(1, 17):
            waiting.append((factor.args[0], sign * times))
        elif graph.is_exact(factor) and (factor.payload or sign > 0):
            coefficient *= Fraction(factor.payload) ** sign
        else:
            exponents[factor] = exponents.get(factor, 0) + sign
    return Term(coefficient, Monomial.of(exponents))


def is_certainly_at_most(first: Expr, second: Expr) -> bool:
    """Whether the first is no larger for all atoms of at least 1: the second is a multiple of it."""
    under, over = (as_term(expr, all_positive=True) for expr in (first, second))
    if not under.coefficient or not over.coefficient:
        return not under.coefficient
    multiple = all(exponent > 0 for _, exponent in over.powers.over(under.powers))
    return multiple and abs(over.coefficient) >= abs(under.coefficient)


@lru_cache(maxsize=16384)
def is_certainly_shorter(first: Expr, second: Expr) -> bool:
    """`is_certainly_at_most`, for two that are not the same."""
    return as_term(first, all_positive=True) != as_term(second, all_positive=True) and is_certainly_at_most(
        first, second
    )
