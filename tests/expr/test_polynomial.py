"""Polynomials against SymPy, which multiplies out by itself."""

from fractions import Fraction

import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from aspenpy.expr import graph
from aspenpy.expr.graph import symbol
from aspenpy.expr.polynomial import (
    Monomial,
    Term,
    add_polynomials,
    as_term,
    atom_polynomial,
    combine_parts,
    constant_polynomial,
    multiply_polynomials,
)
from aspenpy.expr.regime import simplify_around

x, y, z = symbol("x"), symbol("y"), symbol("z")
SYMPY = {x: sympy.Symbol("x"), y: sympy.Symbol("y"), z: sympy.Symbol("z")}

numbers = st.fractions(-9, 9, max_denominator=6)
recipes = st.recursive(
    st.sampled_from([x, y, z]) | numbers,
    lambda inner: (
        st.tuples(st.sampled_from(["add", "mul"]), st.lists(inner, min_size=1, max_size=3))
        | st.tuples(st.just("neg"), st.tuples(inner))
    ),
    max_leaves=9,
)


def both(recipe):
    """The polynomial, and SymPy's expression."""
    if isinstance(recipe, tuple):
        kind, parts = recipe
        ours, theirs = zip(*map(both, parts), strict=True)
        rule = {"add": sympy.Add, "mul": sympy.Mul, "neg": lambda value: -value}[kind]
        return combine_parts(kind, ours, 10_000), rule(*theirs)
    if isinstance(recipe, Fraction):
        return constant_polynomial(recipe), sympy.Rational(recipe.numerator, recipe.denominator)
    return atom_polynomial(recipe), SYMPY[recipe]


def in_sympy(polynomial):
    """Each term by itself: whether terms were gathered is the question."""
    terms = []
    for monomial, coefficient in polynomial.terms.items():
        factor = sympy.Rational(coefficient.numerator, coefficient.denominator)
        terms.append(sympy.Mul(factor, *(SYMPY[base] ** exponent for base, exponent in monomial)))
    return terms


@settings(max_examples=60)
@given(recipes)
def test_terms_are_those_that_sympy_expands_to(recipe):
    ours, theirs = both(recipe)
    expanded = sympy.expand(theirs)
    assert sorted(map(str, in_sympy(ours))) == sorted(map(str, sympy.Add.make_args(expanded) if expanded else ()))


@settings(max_examples=40)
@given(recipes, st.sampled_from([x, y]), numbers.filter(bool))
def test_a_quotient_by_one_term(recipe, base, factor):
    ours, theirs = both(recipe)
    divisor = multiply_polynomials([constant_polynomial(factor), atom_polynomial(base)], 10)
    expected = theirs / (sympy.Rational(factor.numerator, factor.denominator) * SYMPY[base])
    assert sympy.expand(sum(in_sympy(ours.over(divisor))) - expected) == 0


def test_no_quotient_by_several_terms_or_by_nothing():
    several = add_polynomials([atom_polynomial(x), constant_polynomial(1)])
    assert atom_polynomial(y).over(several) is None
    assert atom_polynomial(y).over(constant_polynomial(0)) is None


def test_a_product_of_too_many_terms_is_none():
    line = add_polynomials([atom_polynomial(x), atom_polynomial(y), constant_polynomial(1)])
    assert len(multiply_polynomials([line, line], 9)) == 6
    assert multiply_polynomials([line, line], 8) is None


def test_a_term_gathers_equal_factors():
    assert as_term(6 * x * y / (4 * y * y)) == Term(Fraction(3, 2), Monomial([(x, 1), (y, -1)]))
    assert str(as_term(6 * x * y / (4 * y * y)).expression()) == "3*x/(2*y)"
    assert as_term(-(x + 1) * (x + 1)) == Term(Fraction(-1), Monomial([(x + 1, 2)]))


@pytest.mark.parametrize("times", [3, 8])
def test_a_regime_keeps_a_product_that_would_be_too_long(times):
    """(x + y + z + 1)^3 has 20 terms, and ^8 has 165, each of the products before it fewer than 500: 4 * 120 = 480."""
    line = x + y + z + 1
    text = str(simplify_around(graph.power(line, times), {x: 2, y: 3, z: 5}))
    assert text.count(" + ") + 1 == {3: 20, 8: 165}[times]
    longer = graph.power(line, 8) * line * x
    assert "(" in str(simplify_around(longer, {x: 2, y: 3, z: 5}))
