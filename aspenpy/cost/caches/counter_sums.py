"""Sums over the counter of a loop whose bounds depend on the counters around it: in closed form, or by bands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import comb

from aspenpy.cost.caches.domain import Bounds
from aspenpy.expr import graph
from aspenpy.expr.expansion import gather_terms, multiply_out, write_form
from aspenpy.expr.graph import Expr
from aspenpy.expr.polynomial import Exact, Monomial, Polynomial, add_polynomials, constant_polynomial
from aspenpy.expr.series import bernoulli_number

BANDS = 16
"""Parts of a loop's passes of which each counts as its middle, where no closed form of a sum is known."""


def sum_over_counter(body: Expr, counter: Expr, bounds: Bounds) -> Expr:
    """The sum of a body over all values of a counter: in closed form where the body is a polynomial of the counter and
    the bounds are, else by bands."""
    form = multiply_out(body)
    atoms = {base for monomial in form.terms for base, _ in monomial}
    plain = all(base is counter or counter not in graph.free_symbols(base) for base in atoms)
    if not plain or any(power < 0 for monomial in form.terms for base, power in monomial if base is counter):
        return sum_in_bands(body, counter, bounds)
    last, before = multiply_out(bounds.high), multiply_out(gather_terms(bounds.low - 1))
    parts = []
    for monomial, factor in form.terms.items():
        power = dict(monomial).get(counter, 0)
        rest = Monomial(pair for pair in monomial if pair[0] is not counter)
        ends = add_polynomials([_power_sum(power, last), -_power_sum(power, before)])
        parts.append(ends.times(Polynomial({rest: factor})))
    return write_form(add_polynomials(parts))


def _power_sum(power: int, last: Exact) -> Exact:
    """0^k + 1^k + ... + last^k by Faulhaber's formula, for k = 0 one more than that."""
    if power == 0:
        return add_polynomials([last, constant_polynomial(1)])
    numbers = [Fraction(1, 2) if j == 1 else bernoulli_number(j) for j in range(power + 1)]
    terms = [Fraction(comb(power + 1, j), power + 1) * number for j, number in enumerate(numbers)]
    result: Exact = Polynomial({})
    for factor in [*terms, Fraction(0)]:
        result = add_polynomials([result.times(last), constant_polynomial(factor)])
    return result


def sum_in_bands(body: Expr, counter: Expr, bounds: Bounds) -> Expr:
    """The sum of a body over all values of a counter, its passes divided into bands."""
    return bounds.trips * graph.add(*at_middles([body], counter, bounds, BANDS)[0]) / BANDS


def at_middles(bodies: Sequence[Expr], counter: Expr, bounds: Bounds, bands: int) -> list[list[Expr]]:
    """The bodies at the middles of equal parts of a counter's values."""
    middle, trips = (bounds.low + bounds.high) / 2, bounds.trips
    values = list[list[Expr]]()
    for band in range(bands):
        place: Mapping[Expr, Expr] = {counter: gather_terms(middle + trips * Fraction(2 * band + 1 - bands, 2 * bands))}
        values.append(graph.substitute(bodies, place))
    return [list(column) for column in zip(*values, strict=True)]
