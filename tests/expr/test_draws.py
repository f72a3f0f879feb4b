"""Random draws: repeatable, independent, and of the distribution they claim."""

import math
from fractions import Fraction
from statistics import NormalDist

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aspenpy.expr import draws
from aspenpy.expr.evaluate import EvaluationError, evaluate
from aspenpy.expr.graph import array, draw, stream, symbol

COUNT = 20_000


def test_the_generator_is_splitmix64():
    """The first outputs of the reference implementation for seed 1234567 (Rosetta Code, "Splitmix64")."""
    state, outputs = 1234567, []
    for _ in range(3):
        outputs.append(draws.mix_state(state))
        state = (state + 0x9E3779B97F4A7C15) & draws.MASK
    assert outputs == [6457827717110365317, 3203168211198807973, 9817491932198370423]


@given(st.lists(st.integers(0, draws.MASK), min_size=1, max_size=4), st.integers(-(2**70), 2**70))
def test_python_and_numpy_compute_the_same_bits(parts, seed):
    arrays = [numpy.array([part], dtype=numpy.uint64) for part in parts]
    assert int(draws.random_bits(seed, draws.hash_stream(arrays))[0]) == draws.random_bits(
        seed, draws.hash_stream(parts)
    )


@given(st.floats(1e-300, 1, exclude_max=True))
def test_the_normal_quantile_is_that_of_the_standard_library(u):
    expected = NormalDist().inv_cdf(u)
    assert draws.normal_quantile(u) == pytest.approx(expected, rel=1e-14, abs=1e-16)
    assert draws.normal_quantiles(numpy, numpy.array([u]))[0] == pytest.approx(expected, rel=1e-13, abs=1e-16)


def drawn(distribution, *arguments, seed=1):
    node = symbol("number")
    expr = draw(distribution, arguments, stream(7, node))
    return numpy.array([float(evaluate(expr, {node: number}, seed)) for number in range(COUNT)])


def test_uniform_draws():
    sample = drawn("uniform", 2, 5)
    assert 2 <= sample.min() < sample.max() < 5
    assert sample.mean() == pytest.approx(3.5, abs=4 * 3 / math.sqrt(12 * COUNT))
    assert sample.var() == pytest.approx(9 / 12, rel=0.03)
    tenths = numpy.histogram(sample, 10, (2, 5))[0]
    chi_squared = ((tenths - COUNT / 10) ** 2 / (COUNT / 10)).sum()
    assert chi_squared < 27.9  # the 0.1 % point of chi squared with 9 degrees of freedom


def test_normal_draws():
    sample = drawn("normal", 10, 2)
    assert sample.mean() == pytest.approx(10, abs=4 * 2 / math.sqrt(COUNT))
    assert sample.std() == pytest.approx(2, rel=0.02)
    assert (abs(sample - 10) < 2).mean() == pytest.approx(0.6827, abs=0.014)


def test_drawn_indices():
    sample = drawn("cdf", array([Fraction(1, 10), Fraction(4, 10), 1]))
    shares = numpy.bincount(sample.astype(int)) / COUNT
    assert shares == pytest.approx([0.1, 0.3, 0.6], abs=0.015)


def test_streams_are_independent():
    node = symbol("number")
    first, second = (draw("uniform", (0, 1), stream(which, node)) for which in (0, 1))
    pairs = numpy.array([[evaluate(expr, {node: k}) for k in range(2000)] for expr in (first, second)])
    assert abs(numpy.corrcoef(pairs)[0, 1]) < 4 / math.sqrt(2000)
    assert abs(numpy.corrcoef(pairs[0, 1:], pairs[0, :-1])[0, 1]) < 4 / math.sqrt(2000)


def test_a_draw_depends_on_seed_stream_and_arguments_alone():
    value = evaluate(draw("uniform", (0, 1), (1, 2)), seed=3)
    assert evaluate(draw("uniform", (0, 1), (1, 2)), seed=3) == value
    others = [
        draw("uniform", (0, 1), (2, 1)),
        draw("uniform", (0, 1), (1, 2, 0)),
        draw("uniform", (0, 1), (stream(1, 2),)),
    ]
    assert len({value, evaluate(draw("uniform", (0, 1), (1, 2)), seed=4), *[evaluate(o, seed=3) for o in others]}) == 5


def test_degenerate_distributions():
    assert evaluate(draw("uniform", (5, 5), (0,))) == 5
    assert evaluate(draw("normal", (5, 0), (0,))) == 5
    assert evaluate(draw("cdf", (array([1]),), (0,))) == 0


@pytest.mark.parametrize(
    ("expr", "reason"),
    [
        (draw("uniform", (3, 1), (0,)), r"uniform\(3, 1\): the upper bound is below the lower one"),
        (draw("normal", (3, -1), (0,)), r"normal\(3, -1\): the standard deviation is negative"),
        (draw("cdf", (array([0.5, 0.9]),), (0,)), "cumulative probabilities must end with 1, not with 0.9"),
        (draw("cdf", (array([]),), (0,)), "cumulative probabilities must end with 1, not with nothing"),
        (draw("cdf", (array([0.5, 0.4, 1]),), (0,)), "cumulative probabilities must rise, and 0.4 follows 0.5"),
        (draw("uniform", (0, 1), (Fraction(5, 2),)), "a random draw is numbered by whole numbers, not by 2.5"),
    ],
)
def test_what_is_no_distribution_is_refused(expr, reason):
    with pytest.raises(EvaluationError, match=reason):
        evaluate(expr)
