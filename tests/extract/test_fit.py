"""Formulas fitted to counts of runs: their text against their values, coefficients against NumPy's least squares."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aspenpy.extract.fit import (
    FittedFormula,
    FitTerm,
    Quotient,
    Sizes,
    _solve_least_squares,
    fit_formula,
    fit_mean,
    fit_measured,
    format_number,
)
from aspenpy.extract.hole_values import list_total_terms

FACTORS = st.sampled_from([-7.0, -1.0, -0.25, 0.0, 0.5, 1.0, 2.0, 1234.0])
TERMS = st.builds(FitTerm, st.sampled_from(["m", "n"]), st.sampled_from([-2, -1, 0, 1, 2, 3]), st.booleans()).filter(
    lambda term: term.exponent != 0 or term.logarithmic
)
FITS = st.builds(
    lambda constant, parts: FittedFormula(constant, tuple(parts), 5, 0.0),
    FACTORS,
    st.lists(st.tuples(FACTORS, TERMS), max_size=2),
)
SIZES = st.fixed_dictionaries({"m": st.sampled_from([1, 2, 5, 64]), "n": st.sampled_from([1, 3, 8, 100])})


def read(text: str, sizes: Sizes) -> float:
    """What the text is worth, as Python reads it."""
    return float(eval(text.replace("^", "**"), {"log2": math.log2}, dict(sizes)))


@given(FITS, SIZES)
def test_the_text_of_a_formula_is_worth_its_value(fit: FittedFormula, sizes: Sizes) -> None:
    assert read(str(fit), sizes) == pytest.approx(fit.evaluate(sizes), rel=1e-12, abs=1e-12)
    assert all(name in str(fit) for name in fit.sizes())
    assert not any(name in str(fit) for name in {"m", "n"} - fit.sizes())


@given(FITS, FITS, SIZES)
def test_a_quotient_is_worth_its_parts(total: FittedFormula, entries: FittedFormula, sizes: Sizes) -> None:
    quotient = Quotient(total, entries, 0.1)
    below = entries.evaluate(sizes)
    assert quotient.evaluate(sizes) == (total.evaluate(sizes) / below if below else 0.0)
    if below:
        assert read(str(quotient), sizes) == pytest.approx(quotient.evaluate(sizes), rel=1e-9, abs=1e-9)
    assert quotient.sizes() == total.sizes() | entries.sizes()
    assert quotient.falls() == (total.falls() or entries.falls())
    assert quotient.runs == 5


@given(FITS)
def test_formulas_that_never_fall_stay_above_zero(fit: FittedFormula) -> None:
    """At sizes from 1 on. Where one factor alone is below zero, the formula falls at some size or might."""
    values = [fit.evaluate({"m": m, "n": n}) for m in (1, 2, 9, 1e6) for n in (1, 2, 9, 1e6)]
    if not fit.falls() and fit.constant >= 0:
        assert min(values) >= 0
    if not fit.grows() and fit.sizes():
        assert max(values) <= 1
    if not fit.sizes():
        assert not fit.falls()


@pytest.mark.parametrize(
    ("constant", "factor", "exponent", "falls", "grows"),
    [
        (0.0, 1.0, 1, False, True),
        (0.0, -1.0, 1, True, False),
        (-1.0, 2.0, 1, True, True),
        (-1.0, 2.0, -1, True, False),  # 1 at most, at size 1
        (0.0, 1.0, -1, False, False),
        (0.0, 1.5, -1, False, True),
        (0.5, 0.5, -1, False, False),
        (0.5, 0.75, -1, False, True),
        (2.0, -1.0, -1, True, True),
        (2.0, 0.0, 1, False, False),  # the same at all sizes
    ],
)
def test_where_formulas_fall_and_grow(constant: float, factor: float, exponent: int, falls: bool, grows: bool) -> None:
    fit = FittedFormula(constant, ((factor, FitTerm("n", exponent)),), 3, 0.0)
    assert (fit.falls(), fit.grows()) == (falls, grows)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (3.0, "3"),
        (-4.0, "-4"),
        (3 + 0.9e-9, "3"),
        (3 + 3.1e-9, "3"),  # 3e-9 is the least that counts beside 3; four digits are "3" again
        (0.5 + 1e-3, "0.501"),
        (1 - 2e-9, "1"),
        (1e-10, "0"),
        (2e-9, "2e-09"),
        (123456.0, "123456"),
        (123456.7, "1.235e+05"),
        (1e15, "1000000000000000"),
    ],
)
def test_numbers_have_four_digits_or_are_whole(value: float, text: str) -> None:
    assert format_number(value) == text


POINTS = st.lists(
    st.tuples(
        st.fixed_dictionaries({"n": st.integers(1, 300), "m": st.integers(1, 300)}),
        st.floats(100, 300),
    ),
    min_size=4,
    max_size=8,
    unique_by=(lambda point: point[0]["n"], lambda point: point[0]["m"]),
)


@given(POINTS, st.booleans())
def test_coefficients_are_those_of_least_squares(points: list[tuple[Sizes, float]], with_constant: bool) -> None:
    """Of relative errors: each row is divided by its value. Sums of squares are compared, since badly conditioned
    systems have many solutions that are as good; both have four digits."""
    terms = (FitTerm("n", 1), FitTerm("m", 1, True))
    rows = numpy.array(
        [[sizes["n"], sizes["m"] * math.log2(sizes["m"])] + [1.0] * with_constant for sizes, _ in points]
    )
    values = numpy.array([value for _, value in points])
    exact = numpy.linalg.lstsq(rows / values[:, None], numpy.ones(len(points)), rcond=None)[0]
    best = numpy.array([float(f"{number:.4g}") for number in exact])
    found = _solve_least_squares(points, (terms, with_constant))
    errors = [found.evaluate(sizes) / value - 1 for sizes, value in points]
    least = sum((rows @ best / values - 1) ** 2)
    assert sum(error * error for error in errors) <= least * 1.01 + 1e-5 * len(points)
    assert found.error == pytest.approx(max(map(abs, errors)))
    assert found.runs == len(points)


def test_a_size_that_all_runs_share_has_no_part() -> None:
    points = [({"n": n, "m": 7}, 3.0 * n) for n in (2, 4, 8, 16)]
    assert str(fit_formula(points, [FitTerm("m", 1), FitTerm("n", 1)])) == "3*n"


@pytest.mark.parametrize(
    ("runs", "text"),
    [(1, "14"), (2, "7*n"), (3, "7*n")],  # of one run nothing is known but its count
)
def test_few_runs_have_short_formulas(runs: int, text: str) -> None:
    points = [({"n": n}, 7.0 * n) for n in (2, 6, 10)[:runs]]
    assert str(fit_formula(points, [FitTerm("n", 1), FitTerm("n", 2)])) == text


def test_a_mean_of_two_totals_is_their_quotient() -> None:
    """n^2 passes over 3n + 40 entries: the mean is no short formula, both totals are. With two runs, a mean is all."""
    runs = [({"n": n}, float(n * n), 3.0 * n + 40) for n in (1, 4, 10, 40, 90, 200)]
    terms = [FitTerm("n", 1), FitTerm("n", 2)]
    found = fit_mean(runs, [FitTerm("n", 1)], terms)
    assert str(found) == "(n^2)/(3*n + 40)"
    assert found.error == pytest.approx(0.0, abs=1e-9)
    assert isinstance(fit_mean(runs[:2], [FitTerm("n", 1)], terms), FittedFormula)
    plain = fit_mean([({"n": n}, 5.0 * n * n, 10.0 * n) for n in (1, 4, 10, 40)], [FitTerm("n", 1)], terms)
    assert str(plain) == "0.5*n"


@pytest.mark.parametrize("error", [0.004, 0.02])
def test_near_the_best_the_shorter_formula_is_taken(error: float) -> None:
    """A law with relative errors of alternating sign: below half of a per cent it is not made longer."""
    points = [({"n": n}, 6.0 * n * (1 + error * (-1) ** place)) for place, n in enumerate((2, 4, 8, 16, 32, 64, 128))]
    found = fit_formula(points, [FitTerm("n", 1), FitTerm("n", 2), FitTerm("n", 1, True)])
    assert found.sizes() == {"n"}
    assert [term for _, term in found.parts] == [FitTerm("n", 1)]
    assert found.constant == 0


@pytest.mark.parametrize(
    "counted",
    [
        {1000: 0.0, 30_000: 0.14, 1_000_000: 0.3, 4_000_000: 0.28},  # shares that jump: none where all is in a cache
        {1000: 4000.0, 30_000: 7000.0, 1_000_000: 2e6, 4_000_000: 9e6},  # bytes, which no power follows
    ],
)
def test_values_that_follow_no_formula_are_those_that_were_counted(counted: dict[int, float]) -> None:
    """At the sizes of the runs; halfway by logarithms the mean of both, of the values' logarithms where none is 0."""
    fit = fit_measured([({"n": size}, value) for size, value in counted.items()])
    text = str(fit).replace("min(1, ", "(")
    for size, value in counted.items():
        sizes = {"n": size}
        assert read_lines(text, sizes) == pytest.approx(fit.evaluate(sizes), rel=1e-9, abs=1e-12)
        assert fit.evaluate(sizes) == pytest.approx(value, rel=0.01, abs=1e-4)
    (low, first), (high, second) = list(counted.items())[1:3]
    middle = math.sqrt(first * second) if counted[1000] else (first + second) / 2
    assert fit.evaluate({"n": math.sqrt(low * high)}) == pytest.approx(middle, rel=0.01)
    assert fit.error < 0.01
    assert fit.multiply(2).evaluate({"n": 2e5}) == pytest.approx(2 * fit.evaluate({"n": 2e5}), rel=1e-3)
    assert fit.sizes() == {"n"}


def read_lines(text: str, sizes: Sizes) -> float:
    return float(eval(text.replace("^", "**"), {"log2": math.log2, "min": min, "max": max}, dict(sizes)))


@pytest.mark.parametrize(
    ("law", "sizes"),
    [
        (lambda n: 50 * n**0.6, (100, 200, 300, 400, 600, 800)),
        (lambda n: n**0.5 * math.log2(n), (1250, 2500, 5000, 10000)),
        (lambda n: 7 * n ** (2 / 3), (1250, 2500, 5000, 10000)),
    ],
)
def test_formulas_of_what_grows_do_not_fall_ahead(law: Callable[[float], float], sizes: tuple[int, ...]) -> None:
    """Whole powers and logarithms alone bend back at larger sizes, where laws between them go on."""
    found = fit_formula([({"n": n}, law(n)) for n in sizes], list_total_terms({"n": 0}))
    ahead = 16 * sizes[-1]
    assert law(sizes[-1]) < found.evaluate({"n": ahead}) < 3 * law(ahead)
    assert found.error < 0.1
