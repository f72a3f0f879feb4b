"""The table of functions: each row's columns say the same thing."""

import math
from fractions import Fraction

import numpy
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from aspenpy import AspenError, parse, predict
from aspenpy.expr import arithmetic, graph
from aspenpy.expr.arithmetic import DomainError
from aspenpy.expr.functions import FUNCTIONS
from tests.tiny import machine

SECONDS = machine()
COMPUTED = [row for row in FUNCTIONS.values() if not row.random]
OF_CACHES = {
    "lru_hits",
    "random_misses",
    "sets_touched",
    "share_kept",
    "share_still_held",
    "lines_with_room",
}  # tests/caches has theirs
NUMBERS = [row for row in COMPUTED if row.name not in {"lookup", "gcd", "grid", *OF_CACHES}]

OTHERWISE = {
    "round": round,
    "abs": abs,
    "pow": pow,
    "mod": lambda a, b: a - b * math.floor(a / b),
    "max": max,
    "min": min,
}
"""What Python calls otherwise than by a name of `math`."""
INDEPENDENT = {row.name: OTHERWISE.get(row.name) or getattr(math, row.name) for row in NUMBERS}
OPERANDS = [0.5, 1.0, 2.5, 3.5, 4.0, 7.25]
SIGNED = [-3.5, -2.5, -1.0, *OPERANDS]


def operands(row):
    """Arguments for which Python has a value."""
    return [args for args in any_operands(row) if has_value(row, args)]


def any_operands(row):
    if row.least == 1:
        return [(x,) for x in (0.0, *SIGNED)]
    firsts = OPERANDS if row.name == "pow" else SIGNED
    return [(x, y) for x in firsts for y in SIGNED]


def has_value(row, args):
    try:
        INDEPENDENT[row.name](*args)
    except ValueError:
        return False
    return True


def in_sympy(row, args):
    """The symbolic form, with values put in."""
    names = sympy.symbols(f"x:{len(args)}")
    return row.sympy(sympy, *names).subs(dict(zip(names, map(sympy.Rational, args), strict=True)))


@pytest.mark.parametrize("row", NUMBERS, ids=lambda row: row.name)
def test_every_column_agrees_with_the_standard_library(row):
    for args in operands(row):
        expected = INDEPENDENT[row.name](*args)
        assert row.exact(*args) == pytest.approx(expected, rel=1e-15)
        assert row.numpy(numpy, *[numpy.array([x]) for x in args])[0] == pytest.approx(expected, rel=1e-14)
        assert row.sympy is None or float(in_sympy(row, args)) == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize("row", NUMBERS, ids=lambda row: row.name)
def test_what_has_no_value_is_refused_as_the_table_says(row):
    """A ValueError of Python would reach users as a traceback."""
    for args in any_operands(row):
        if not has_value(row, args):
            with pytest.raises(DomainError):
                row.exact(*args)


def test_the_greatest_common_divisor():
    row = FUNCTIONS["gcd"]
    for args in WHOLE:
        assert row.exact(*args) == math.gcd(*args)
        assert row.numpy(numpy, *[numpy.array([x]) for x in args])[0] == math.gcd(*args)
    with pytest.raises(DomainError, match="whole number"):
        row.exact(1.5, 2)


def test_max_and_min_of_many():
    for name, expected in [("max", 4), ("min", 2)]:
        row = FUNCTIONS[name]
        assert row.exact(3, 4, 2) == expected
        assert row.numpy(numpy, *[numpy.array([x]) for x in (3, 4, 2)])[0] == expected
        assert in_sympy(row, (3, 4, 2)) == expected


@given(
    st.lists(st.tuples(st.fractions(-9, 9, max_denominator=5), st.fractions(-9, 9, max_denominator=5)), min_size=1,
             max_size=6, unique_by=lambda point: point[0]),
    st.fractions(-20, 20, max_denominator=6),
)  # fmt: skip
def test_lookup_goes_through_its_points_and_is_straight_between(points, x):
    sizes, values = zip(*sorted(points), strict=True)
    row = FUNCTIONS["lookup"]
    for size, value in points:
        assert row.exact(values, sizes, size) == value
    expected = row.exact(values, sizes, x)
    if len(points) > 1:
        inside = [k for k in range(len(sizes) - 1) if sizes[k] <= x <= sizes[k + 1]]
        k = inside[0] if inside else (0 if x < sizes[0] else len(sizes) - 2)
        (x0, y0), (x1, y1) = (sizes[k], values[k]), (sizes[k + 1], values[k + 1])
        assert (expected - y0) * (x1 - x0) == (y1 - y0) * (x - x0)
    floats = [numpy.array([float(v) for v in column]) for column in (values, sizes)]
    assert row.numpy(numpy, *floats, numpy.array([float(x)]))[0] == pytest.approx(float(expected), rel=1e-9, abs=1e-9)
    name = sympy.Symbol("x")
    symbolic = row.sympy(sympy, *[[sympy.Rational(v) for v in column] for column in (values, sizes)], name)
    assert symbolic.subs(name, sympy.Rational(x)) == expected


@pytest.mark.parametrize(
    ("name", "args", "expected"),
    [
        ("log2", (2**1000,), 1000),
        ("log2", (Fraction(1, 2**70),), -70),
        ("log10", (10**30,), 30),
        ("log10", (Fraction(1, 1000),), -3),
        ("sqrt", (10**60,), 10**30),
        ("sqrt", (0,), 0),
        ("ceil", (Fraction(-7, 2),), -3),
        ("round", (Fraction(7, 2),), 4),
        ("round", (Fraction(5, 2),), 2),
        ("mod", (Fraction(7, 2), -2), Fraction(-1, 2)),
        ("pow", (Fraction(2, 3), -2), Fraction(9, 4)),
    ],
)
def test_exact_where_the_result_is(name, args, expected):
    value = FUNCTIONS[name].exact(*args)
    assert value == expected
    assert not isinstance(value, float)


def test_logarithms_of_giants():
    assert arithmetic.natural_logarithm(10**400) == pytest.approx(400 * math.log(10), rel=1e-15)
    assert arithmetic.natural_logarithm(Fraction(1, 10**400)) == pytest.approx(-400 * math.log(10), rel=1e-15)
    assert arithmetic.decimal_logarithm(2 * 10**400) == pytest.approx(400 + math.log10(2), rel=1e-15)


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("log", (0,)),
        ("log2", (-1,)),
        ("log10", (0.0,)),
        ("sqrt", (-1,)),
        ("mod", (1, 0)),
        ("pow", (0, -1)),
        ("exp", (800,)),
    ],
)
def test_outside_of_the_domain(name, args):
    with pytest.raises(DomainError):
        FUNCTIONS[name].exact(*args)


WHOLE = [(1, 1), (12, 18), (7, 0), (0, 0)]
CACHES = {
    "grid": [(12, 2, 0), (7, 3, 2)],
    "lru_hits": [(0, 1, 1), (9, 2, 8)],
    "random_misses": [(8, 3, 0.5)],
    "sets_touched": [(4, 64, 8, 128, 3)],
    "share_kept": [(1, 64, 4, 0, 1, 8, 0, 64, 6, 0, 0)],
    "share_still_held": [(8, 64, 64, 64, 1, 1, 4, 256, 0, 1, 512, 0)],
    "lines_with_room": [(8, 7.5, 1.2, 0.5)],
}


@pytest.mark.parametrize("row", [row for row in COMPUTED if row.name != "pow"], ids=lambda row: row.name)
def test_what_is_claimed_to_be_known_of_a_result_is_true(row):
    """Traits on constants: an integer result is one, a result not below 0 is none."""
    if row.name == "lookup":
        assert row.traits((7, 7, 7)) == 0
        return
    for args in WHOLE if row.name == "gcd" else CACHES.get(row.name) or operands(row):
        known = row.traits(tuple(graph.number(x).traits for x in args))
        value = row.exact(*args)
        assert value >= 0 or not known & graph.NONNEGATIVE
        assert value == math.floor(value) or not known & graph.INTEGER


def test_arity_in_words():
    assert [FUNCTIONS[name].describe_arity() for name in ("log", "mod", "max")] == [
        "1 argument", "2 arguments", "2 or more arguments"
    ]  # fmt: skip
    assert not FUNCTIONS["log"].accepts(2)
    assert FUNCTIONS["max"].accepts(17)


def test_divisors_of_arrays():
    rule = FUNCTIONS["gcd"].numpy
    found = rule(numpy, numpy.array([12.0, -18.0, 2.0**60, 1.5, numpy.nan, numpy.inf, 2.0**70]), 6.0)
    numpy.testing.assert_array_equal(found, [6, 6, 2, numpy.nan, numpy.nan, numpy.nan, numpy.nan])


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_call_has_as_many_arguments_as_the_function_takes(name):
    """One too few and one too many are refused, with the number that there should be; nothing between them is."""
    row = FUNCTIONS[name]
    most = row.least + 3 if row.most is None else row.most
    for count in (row.least - 1, row.least, most, most + 1):
        written = f"{name}({', '.join(['1'] * count)})"
        text = f"sample v from {written}" if row.random else f"param v = {written}"
        inside, outside = (text, "") if row.random else ("", text)
        model = f"model m {{ {outside} kernel main {{ {inside} execute {{ flops [v] }} }} }}"
        try:
            predict(parse(model), SECONDS)
            codes = []
        except AspenError as error:
            codes = [diagnostic.code for diagnostic in error.diagnostics]
            message = error.diagnostics[0].message
        allowed = row.least <= count and (row.most is None or count <= row.most)
        assert ("wrong-arguments" in codes or "syntax" in codes) is not allowed
        if "wrong-arguments" in codes:
            number = f"{row.least} or more" if row.most is None else str(row.least)
            assert message == f"`{name}` takes {number} argument{'' if number == '1' else 's'}, not {count}"
