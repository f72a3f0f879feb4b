"""Fit: a measured quantity as a short formula in the sizes of the runs.

The exponents are those that the loops around it allow, whole ones and logarithms; only the coefficients are fitted, by
least squares of relative errors. Of the formulas the simplest is taken whose error on runs left out is near the best
(leave-one-out; Stone, J. Royal Statistical Society B 36, 1974).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from statistics import fmean

from aspenpy.record import NamedTuple, Record

SIMPLER_ERROR_FACTOR = 1.5
"""How many times the best error a simpler formula may have: a choice for short formulas, no law."""

EXACT = 0.005
"""Relative error below which a formula is not made longer."""

AHEAD = 16
"""How many times the largest sizes of the runs a formula of what is counted may not fall below 0, or again."""

FEW_POINTS = 4
"""Runs up to which a formula of three unknowns has to be as good as exact."""

FEW_DIGITS = 4

POOR_MEAN = 0.02
"""Relative error of a mean's formula from which on the quotient of two totals is tried."""

POWERS = ((1, False), (2, False), (3, False), (-1, False), (0, True))
"""Powers of sizes that a measured quantity may have, with a logarithm or without."""

POOR = 0.1
"""Relative error of a formula from which on it is warned of, or not taken."""

LEAST_PART = 5
"""How many times smaller than the last run's the sizes of others may be where smaller ones do not fit."""

FEWEST = 3
"""Runs from which on totals have formulas of their own."""

Sizes = Mapping[str, float]


class FitTerm(Record):
    """A power of a size, times its logarithm to base 2 where it is `logarithmic`, and times a power of another size."""

    size: str
    exponent: Fraction | int
    logarithmic: bool = False
    times: FitTerm | None = None

    def evaluate(self, sizes: Sizes) -> float:
        value = float(sizes[self.size])
        power = float(value**self.exponent) * (math.log2(max(value, 1)) if self.logarithmic else 1)
        return power if self.times is None else power * self.times.evaluate(sizes)

    def sizes(self) -> set[str]:
        return {self.size} | (set() if self.times is None else self.times.sizes())

    def scale(self, factor: float) -> str:
        """The text of its product with a positive number."""
        number = format_number(factor)
        raised = Fraction(self.exponent if self.exponent > 0 else -self.exponent)
        written = str(raised) if raised.denominator == 1 else f"({raised})"
        power = self.size if raised == 1 else f"{self.size}^{written}"
        above = ([power] if self.exponent > 0 else []) + ([f"log2({self.size})"] if self.logarithmic else [])
        above += [self.times.scale(1)] if self.times is not None else []
        text = "*".join([*([] if number == "1" and above else [number]), *above])
        return f"{text}/{power}" if self.exponent < 0 else text


class FittedFormula(Record):
    """A constant and factors of terms, how many runs they were fitted to, and the largest relative error on them."""

    constant: float
    parts: tuple[tuple[float, FitTerm], ...]
    runs: int
    error: float

    def __str__(self) -> str:
        signed = [(factor > 0, term.scale(abs(factor))) for factor, term in self.parts if factor]
        if self.constant or not signed:
            signed.append((self.constant >= 0, format_number(abs(self.constant))))
        signed.sort(key=lambda part: not part[0])
        text = "".join(f" {'+' if positive else '-'} {part}" for positive, part in signed)
        return text[3:] if signed[0][0] else f"-{text[3:]}"

    def evaluate(self, sizes: Sizes) -> float:
        return self.constant + sum(factor * term.evaluate(sizes) for factor, term in self.parts)

    @property
    def is_whole(self) -> bool:
        """Whether the formula is a whole number at all whole sizes."""
        whole_parts = all(
            float(factor).is_integer() and term.exponent > 0 and term.exponent % 1 == 0 and not term.logarithmic
            for factor, term in self.parts
        )
        return float(self.constant).is_integer() and whole_parts

    def sizes(self) -> set[str]:
        return set().union(*(term.sizes() for factor, term in self.parts if factor))

    def multiply(self, factor: float) -> FittedFormula:
        """The formula times a number."""
        parts = tuple((_round_digits(each * factor), term) for each, term in self.parts)
        return self.replace(constant=_round_digits(self.constant * factor), parts=parts)

    def falls(self) -> bool:
        """Whether the formula may be below 0 at some sizes."""
        return any(factor < 0 for factor, _ in self.parts) or (self.constant < 0 and bool(self.sizes()))

    def grows(self) -> bool:
        """Whether the formula may be above 1 at some sizes from 1 on, though it is not in the runs."""
        most = self.constant + sum(max(0.0, factor) for factor, term in self.parts if term.exponent < 0)
        climbs = any(factor > 0 and term.exponent >= 0 for factor, term in self.parts)
        return climbs or (most > 1 and bool(self.sizes()))


class Quotient(Record):
    """A mean as the quotient of two totals, each of which has a shorter formula."""

    total: FittedFormula
    entries: FittedFormula
    error: float
    is_whole = False

    @property
    def runs(self) -> int:
        return self.total.runs

    def __str__(self) -> str:
        return f"({self.total})/({self.entries})"

    def evaluate(self, sizes: Sizes) -> float:
        entries = self.entries.evaluate(sizes)
        return self.total.evaluate(sizes) / entries if entries else 0.0

    def sizes(self) -> set[str]:
        return self.total.sizes() | self.entries.sizes()

    def multiply(self, factor: float) -> Quotient:
        """The quotient times a number."""
        return self.replace(total=self.total.multiply(factor))

    def falls(self) -> bool:
        return self.total.falls() or self.entries.falls()

    def grows(self) -> bool:
        return True


class LinePart(NamedTuple):
    """A straight line over the logarithm of a size: where it begins, its slope, and the sizes between which it goes."""

    begin: float
    slope: float
    least: float
    most: float


class BrokenLine(Record):
    """Straight lines between the values at some sizes, over logarithms: of the values too where all are above 0, and on
    beyond the ends then. `error` is that of the digits that are written."""

    size: str
    points: tuple[tuple[float, float], ...]
    error: float = 0.0
    is_whole = False

    @property
    def runs(self) -> int:
        return len(self.points)

    @property
    def _is_power(self) -> bool:
        return all(value > 0 for _, value in self.points)

    def _list_parts(self) -> Iterator[LinePart]:
        """The lines in order: powers go on beyond the ends."""
        for place, ((low, first), (high, second)) in enumerate(itertools.pairwise(self.points)):
            rise = math.log2(second / first) if self._is_power else second - first
            least = 0.0 if self._is_power and place == 0 else low
            most = math.inf if self._is_power and place == len(self.points) - 2 else high
            yield LinePart(low, _round_digits(rise / math.log2(high / low)), least, most)

    def __str__(self) -> str:
        start = self.points[0][1]
        text = format_number(start) if start else ""
        for low, slope, least, most in self._list_parts():
            size = f"min({self.size}, {format_number(most)})" if most < math.inf else self.size
            size = f"max({size}, {format_number(least)})" if least else size
            ratio = f"{size}/{format_number(low)}"
            if slope:
                sign = "-" if slope < 0 else "+"
                line = f" {sign} {format_number(abs(slope))}*log2({ratio})"
                text += f"*({ratio})^({format_number(slope)})" if self._is_power else line
        return text.removeprefix(" + ")

    def evaluate(self, sizes: Sizes) -> float:
        value, size = self.points[0][1], float(sizes[self.size])
        for low, slope, least, most in self._list_parts():
            at = max(min(size, most), least)
            value = value * (at / low) ** slope if self._is_power else value + slope * math.log2(at / low)
        return value

    def sizes(self) -> set[str]:
        return {self.size} if any(part.slope for part in self._list_parts()) else set()

    def multiply(self, factor: float) -> BrokenLine:
        """The lines times a number."""
        return self.replace(points=tuple((size, _round_digits(value * factor)) for size, value in self.points))

    def falls(self) -> bool:
        return not self._is_power

    def grows(self) -> bool:
        return self._is_power or any(value > 1 for _, value in self.points)


Formula = FittedFormula | Quotient | BrokenLine


def format_number(value: float) -> str:
    """A number of few digits; whole ones in full."""
    near = round(value)
    return str(near) if abs(value - near) <= 1e-9 * max(1, abs(value)) else f"{value:.{FEW_DIGITS}g}"


Form = tuple[tuple[FitTerm, ...], bool]
"""The terms of a formula, and whether it has a constant."""


def fit_formula(points: Sequence[tuple[Sizes, float]], terms: Sequence[FitTerm]) -> FittedFormula:
    """The formula for a quantity at some sizes; `terms` are tried in their order, after a constant, one by one and then
    two by two."""
    varied = {name for term in terms for name in term.sizes() if len({sizes[name] for sizes, _ in points}) > 1}
    usable = [term for term in terms if term.sizes() <= varied]
    chosen: list[tuple[FitTerm, ...]] = [(term,) for term in usable]
    chosen += itertools.combinations([term for term in usable if term.exponent % 1 == 0], 2)
    forms: list[Form] = [((), True), *((part, constant) for part in chosen for constant in (False, True))]
    forms = [form for form in forms if len(form[0]) + form[1] <= max(1, len(points) - 1) or len(form[0]) < 2]
    forms = [form for form in forms if len(form[0]) + form[1] <= len(points)]
    errors = [_cross_validation_error(points, form) for form in forms]
    if len(points) <= FEW_POINTS:  # three unknowns bend through four points whatever these are, and leave them behind
        bent = (
            len(terms) + constant > 2 and error > EXACT for (terms, constant), error in zip(forms, errors, strict=True)
        )
        errors = [math.inf if is_bent else error for is_bent, error in zip(bent, errors, strict=True)]
    errors = [
        math.inf if error < math.inf and form[0] and _turns(points, form) else error
        for form, error in zip(forms, errors, strict=True)
    ]
    allowed = max(EXACT, SIMPLER_ERROR_FACTOR * min(errors))
    tried = list(zip(forms, errors, strict=True))
    short = next(form for form, error in tried if error <= allowed)
    if len(short[0]) < 2:
        return _solve_least_squares(points, short)
    alike = [(error, place) for place, (form, error) in enumerate(tried) if len(form[0]) == 2 and form[1] == short[1]]
    return _solve_least_squares(points, forms[min(alike)[1]])


def fit_mean(
    points: Sequence[tuple[Sizes, float, float]], terms: Sequence[FitTerm], of_totals: Sequence[FitTerm]
) -> Formula:
    """The formula for the mean number of passes per entry; where it fits the runs better, the quotient of formulas for
    the totals of passes and entries, in the terms `of_totals`."""
    mean = fit_formula([(sizes, passes / entries) for sizes, passes, entries in points], terms)
    if mean.error <= POOR_MEAN or len(points) < FEWEST:
        return mean
    total = fit_formula([(sizes, passes) for sizes, passes, _ in points], of_totals)
    entered = fit_formula([(sizes, entries) for sizes, _, entries in points], of_totals)
    found = Quotient(total, entered, 0.0)
    error = max(_relative_error(found.evaluate(sizes), passes / entries) for sizes, passes, entries in points)
    return found.replace(error=error) if error < mean.error else mean


Point = tuple[Sizes, float, float]
"""Sizes of a run, and a total and the number of entries whose quotient was counted in it."""


def fit_through_last(points: Sequence[Point], fit: Callable[[Sequence[Point]], Formula]) -> Formula:
    """The formula that `fit` finds for the runs, multiplied so that it has the value of the last one there. Where it is
    off by more than `POOR` in another run, the smallest sizes are left out; where it still is, it is that value alone,
    counted in one run."""
    sizes, total, entries = points[-1]
    value = total / entries
    for factor in (math.inf, LEAST_PART) if len(points) > 2 else ():
        kept = [point for point in points if all(sizes[name] < factor * point[0][name] for name in sizes)]
        found = fit(kept) if len(kept) > 2 else None
        there = 0.0 if found is None else found.evaluate(sizes)
        if found is None or (there == 0) != (value == 0):
            continue
        found = found.multiply(value / there) if there else found
        error = max(_relative_error(found.evaluate(point[0]), point[1] / point[2]) for point in kept)
        if error <= POOR:
            return found.replace(error=error)
    return FittedFormula(_round_digits(value), (), 1, error=0.0)


def join_terms(terms: Sequence[FitTerm]) -> list[FitTerm]:
    """Products of rising powers of two sizes."""
    rising = [term for term in terms if term.exponent > 0 and not term.logarithmic]
    return [a.replace(times=b) for a, b in itertools.product(rising, rising) if a.size < b.size]


def fit_measured(points: Sequence[tuple[Sizes, float]], through_last: bool = False) -> Formula:
    """The formula for a measured quantity that grows or falls with sizes, or tends to a constant."""
    terms = [FitTerm(size, *power) for power in POWERS for size in points[0][0]]
    if through_last:
        counted = [(sizes, value, 1.0) for sizes, value in points]
        return fit_through_last(counted, lambda kept: fit_formula([(sizes, value) for sizes, value, _ in kept], terms))
    found = fit_formula(points, terms)
    return found if found.error <= POOR else join_values(points) or found


def join_values(points: Sequence[tuple[Sizes, float]]) -> BrokenLine | None:
    """Lines between the values where one size alone varies, each time by another number; None elsewhere. Where data
    lie, and what a processor learns of branches, bends at the capacities of caches and of predictors, as no power does.
    """
    varied = [name for name in points[0][0] if len({sizes[name] for sizes, _ in points}) > 1]
    if len(varied) != 1 or len({sizes[varied[0]] for sizes, _ in points}) < len(points):
        return None
    values = sorted((float(sizes[varied[0]]), value) for sizes, value in points)
    if values[0][0] < 1 or min(value for _, value in values) < 0 or not any(value for _, value in values):
        return None
    line = BrokenLine(varied[0], tuple((size, _round_digits(value)) for size, value in values))
    return line.replace(error=max(_relative_error(line.evaluate(sizes), value) for sizes, value in points if value))


def _cross_validation_error(points: Sequence[tuple[Sizes, float]], form: Form) -> float:
    """The mean relative error at each point of the formula fitted to all others."""
    if len(points) <= len(form[0]) + form[1]:
        return 0.0 if len(points) == 1 else math.inf
    errors = []
    for place, (sizes, value) in enumerate(points):
        others = [*points[:place], *points[place + 1 :]]
        errors.append(_relative_error(_solve_least_squares(others, form).evaluate(sizes), value))
    return fmean(errors)


def _turns(points: Sequence[tuple[Sizes, float]], form: Form) -> bool:
    """Whether a formula of what was never below 0 is so at larger sizes, or falls there though it grew in the runs."""
    fitted = _solve_least_squares(points, form)
    if min(value for _, value in points) < 0 or not any(factor < 0 for factor, _ in fitted.parts):
        return False
    largest = {name: max(float(sizes[name]) for sizes, _ in points) for name in points[0][0]}
    last = fitted.evaluate(largest)
    least = last if last >= max(value for _, value in points) * (1 - POOR) else 0.0
    ahead = [{**largest, name: AHEAD * size} for name, size in largest.items()]
    return any(fitted.evaluate(sizes) < least for sizes in (*ahead, {name: AHEAD * largest[name] for name in largest}))


def _solve_least_squares(points: Sequence[tuple[Sizes, float]], form: Form) -> FittedFormula:
    """Least squares of relative errors, by the normal equations; what others already say has no part."""
    terms, with_constant = form
    rows = []
    for sizes, value in points:
        weight = 1 / max(abs(value), 1e-12) if value else 1.0
        basis = [*(term.evaluate(sizes) for term in terms), *([1.0] if with_constant else [])]
        rows.append(([number * weight for number in basis], value * weight))
    solution = _solve_normal_equations(rows, len(terms) + with_constant)
    constant = _round_digits(solution[-1]) if with_constant else 0.0
    fitted = FittedFormula(
        constant, tuple(zip(map(_round_digits, solution), terms, strict=False)), len(points), error=0.0
    )
    return fitted.replace(error=max(_relative_error(fitted.evaluate(sizes), value) for sizes, value in points))


def _solve_normal_equations(rows: Sequence[tuple[list[float], float]], count: int) -> list[float]:
    """Elimination from the last unknown to the first; one that depends on those behind it is 0."""
    system = [
        [*(sum(row[i] * row[j] for row, _ in rows) for j in range(count)), sum(row[i] * side for row, side in rows)]
        for i in range(count)
    ]
    scale = [system[i][i] for i in range(count)]
    for pivot in reversed(range(count)):
        if system[pivot][pivot] <= 1e-12 * scale[pivot]:
            continue
        for other in range(count):
            if other != pivot:
                factor = system[other][pivot] / system[pivot][pivot]
                system[other] = [a - factor * b for a, b in zip(system[other], system[pivot], strict=True)]
    return [
        system[i][-1] / system[i][i] if scale[i] and abs(system[i][i]) > 1e-12 * scale[i] else 0.0 for i in range(count)
    ]


def _round_digits(value: float) -> float:
    """The number as it is written."""
    return float(format_number(value))


def _relative_error(predicted: float, value: float) -> float:
    return abs(predicted - value) / max(abs(value), 1e-12) if value else abs(predicted)
