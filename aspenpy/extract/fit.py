"""Fit: a measured quantity as a short formula in the sizes of the runs.

The exponents are those that the loops around it allow, whole ones and logarithms; only the coefficients are fitted, by
least squares of relative errors. Of the formulas the simplest is taken whose error on runs left out is near the best
(leave-one-out; Stone, J. Royal Statistical Society B 36, 1974).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from statistics import fmean

from aspenpy.record import Record

NEAR = 1.5
"""How many times the best error a simpler formula may have."""

EXACT = 0.005
"""Relative error below which a formula is not made longer."""

FEW_DIGITS = 4

Sizes = Mapping[str, float]


class Term(Record):
    """A power of a size, or its logarithm to base 2 (exponent None)."""

    size: str
    exponent: int | None

    def evaluate(self, sizes: Sizes) -> float:
        value = sizes[self.size]
        return math.log2(max(value, 1)) if self.exponent is None else float(value) ** self.exponent

    def __str__(self) -> str:
        if self.exponent is None:
            return f"log2({self.size})"
        return self.size if self.exponent == 1 else f"{self.size}^{self.exponent}"


class Fit(Record):
    """`constant + factor * term`, how many runs it was fitted to, and its largest relative error on them."""

    constant: float
    factor: float
    term: Term | None
    runs: int
    error: float

    def __str__(self) -> str:
        if self.term is None or not self.factor:
            return format_number(self.constant)
        size = abs(self.factor)
        if self.term.exponent is not None and self.term.exponent < 0:
            scaled = f"{format_number(size)}/{Term(self.term.size, -self.term.exponent)}"
        else:
            scaled = str(self.term) if format_number(size) == "1" else f"{format_number(size)}*{self.term}"
        if not self.constant:
            return scaled if self.factor > 0 else f"-{scaled}"
        if self.factor < 0:
            return f"{format_number(self.constant)} - {scaled}"
        return f"{scaled} {'+' if self.constant > 0 else '-'} {format_number(abs(self.constant))}"

    def evaluate(self, sizes: Sizes) -> float:
        return self.constant + (self.factor * self.term.evaluate(sizes) if self.term is not None else 0.0)


def format_number(value: float) -> str:
    """A number of few digits; whole ones in full."""
    near = round(value)
    return str(near) if abs(value - near) <= 1e-9 * max(1, abs(value)) else f"{value:.{FEW_DIGITS}g}"


def fit_formula(points: Sequence[tuple[Sizes, float]], terms: Sequence[Term]) -> Fit:
    """The formula for a quantity at some sizes; `terms` are tried in their order, after a constant."""
    forms: list[tuple[Term | None, bool]] = [(None, True)]
    varied = {term.size for term in terms if len({sizes[term.size] for sizes, _ in points}) > 1}
    for term in terms:
        if term.size in varied:
            forms += [(term, False), (term, True)]
    usable = [form for form in forms if len(points) >= _count_unknowns(form)]
    errors = [_cross_validation_error(points, form) for form in usable]
    best = min(errors)
    allowed = max(EXACT, NEAR * best)
    chosen = next(form for form, error in zip(usable, errors, strict=True) if error <= allowed)
    return _solve_least_squares(points, chosen)


def _count_unknowns(form: tuple[Term | None, bool]) -> int:
    return (form[0] is not None) + form[1]


def _cross_validation_error(points: Sequence[tuple[Sizes, float]], form: tuple[Term | None, bool]) -> float:
    """The mean relative error at each point of the formula fitted to all others."""
    if len(points) <= _count_unknowns(form):
        return 0.0 if len(points) == 1 else math.inf
    errors = []
    for place, (sizes, value) in enumerate(points):
        others = [*points[:place], *points[place + 1 :]]
        errors.append(_relative_error(_solve_least_squares(others, form).evaluate(sizes), value))
    return fmean(errors)


def _solve_least_squares(points: Sequence[tuple[Sizes, float]], form: tuple[Term | None, bool]) -> Fit:
    """Least squares of relative errors, by the normal equations of at most two unknowns."""
    term, with_constant = form
    basis: list[Callable[[Sizes], float]] = [] if term is None else [term.evaluate]
    basis += [lambda sizes: 1.0] if with_constant else []
    rows = []
    for sizes, value in points:
        weight = 1 / max(abs(value), 1e-12) if value else 1.0
        rows.append(([function(sizes) * weight for function in basis], value * weight))
    squares = [[sum(row[i] * row[j] for row, _ in rows) for j in range(len(basis))] for i in range(len(basis))]
    sides = [sum(row[i] * value for row, value in rows) for i in range(len(basis))]
    if len(basis) == 1:
        solution = [sides[0] / squares[0][0] if squares[0][0] else 0.0]
    else:
        (a, b), (_, d) = squares
        determinant = a * d - b * b
        if abs(determinant) <= 1e-12 * a * d:
            solution = [0.0, sides[1] / d]
        else:
            solution = [(d * sides[0] - b * sides[1]) / determinant, (a * sides[1] - b * sides[0]) / determinant]
    factor = solution[0] if term is not None else 0.0
    constant = solution[-1] if with_constant else 0.0
    found = Fit(_round_digits(constant), _round_digits(factor), term, len(points), 0.0)
    return found.replace(error=max(_relative_error(found.evaluate(sizes), value) for sizes, value in points))


def _round_digits(value: float) -> float:
    """The number as it is written."""
    return float(format_number(value))


def _relative_error(found: float, value: float) -> float:
    return abs(found - value) / max(abs(value), 1e-12) if value else abs(found)
