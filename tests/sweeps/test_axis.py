"""What can be swept over, and what is said of what cannot."""

import numpy
import pytest

from aspenpy.language.axis import Axis, parse_axis
from aspenpy.language.diagnostics import AspenError
from aspenpy.sweeps.grid import AxisSpread, axis_values
from tests.tiny import codes


def refused(text):
    raise AssertionError(f"asked for the worth of {text}")


def numbers(text, declared=None):
    return axis_values(parse_axis(text), refused, lambda name: declared).tolist()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("n=1,2,4", [1, 2, 4]),
        ("n = 1k, 2.5M ,1Ki", [1000, 2.5e6, 1024]),
        ("n=1e3,-2", [1000, -2]),
        ("n=0..10:lin:6", [0, 2, 4, 6, 8, 10]),
        ("n=0..10:6", [0, 2, 4, 6, 8, 10]),
        ("n=1..1k:log:4", [1, 10, 100, 1000]),
        ("n=8..100:pow2", [8, 16, 32, 64]),
        ("n=3..5:pow2", [4]),
        ("n=1..4:whole:100", [1, 2, 3, 4]),
        ("n=1..100:log:4:whole", [1, 5, 22, 100]),
        ("n=2.5..4.2:whole", [3, 4]),
        ("n=5..5:lin:1", [5]),
        ("n=7", [7]),
    ],
)
def test_values(text, expected):
    assert numbers(text) == pytest.approx(expected, rel=1e-15)


def test_both_ends_are_hit():
    found = numbers("n=0.1..1.7k:log:333")
    assert (found[0], found[-1], len(found)) == (0.1, 1700.0, 333)
    ratios = numpy.diff(numpy.log(found))
    assert ratios == pytest.approx(numpy.full(332, ratios[0]), rel=1e-9)


def test_a_range_that_the_model_declares():
    assert numbers("n:lin:3", (1.0, 5.0)) == [1, 3, 5]
    assert numbers("n:3", (1.0, 10000.0)) == pytest.approx([1, 100, 10000])
    assert numbers("app:n:pow2", (1.0, 5.0)) == [1, 2, 4]
    assert parse_axis("app:n") == Axis("app:n")
    assert len(numbers("n", (1.0, 2.0))) == 100


def test_an_expression_is_the_languages_business():
    asked = []
    found = axis_values(parse_axis("n=2*k,max(1, 2)"), lambda text: asked.append(text.text()) or 3.0, lambda name: None)
    assert (asked, found.tolist()) == (["2*k", "max(1, 2)"], [3, 3])


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("=3", "bad-axis"),
        ("n=", "bad-axis"),
        ("n=1,,2", "bad-axis"),
        ("n=1..", "bad-axis"),
        ("n=..5", "bad-axis"),
        ("n=1:5", "bad-axis"),
        ("n=1..5:cubic", "bad-axis"),
        ("n=1..5:0", "bad-axis"),
        ("n=1..8:pow2:3", "bad-axis"),
        ("n=1..8:log:lin", "bad-axis"),
        ("n=1..8:3:4", "bad-axis"),
        ("n=1..8:1e400", "bad-axis"),
        ("n=1..1e400", "bad-value"),
        ("n=1..1e400:pow2", "bad-value"),
        ("n=1e400", "bad-value"),
        ("n=5..1", "empty-range"),
        ("n=0..5:log", "bad-range"),
        ("n=-1..5:pow2", "bad-range"),
        ("n=5..7:pow2", "empty-range"),
        ("n=5.2..5.7:whole", "empty-range"),
        ("n=1..2:lin:1e9", "too-long"),
        ("n", "no-range"),
    ],
)
def test_refused(text, code):
    with pytest.raises(AspenError) as error:
        numbers(text)
    assert codes(error.value) == [code]


@pytest.mark.parametrize(("count", "is_refused"), [(99_999_999, False), (10**8, False), (100_000_001, True)])
def test_the_longest_axis(count, is_refused, monkeypatch):
    """A hundred million values, which are not made here."""
    monkeypatch.setattr("aspenpy.sweeps.grid._space_values", lambda low, high, spacing, asked: numpy.array([asked]))
    if is_refused:
        with pytest.raises(AspenError, match="`n` has 100,000,001 values, and an axis at most 100,000,000"):
            numbers(f"n=1..2:lin:{count}")
    else:
        assert numbers(f"n=1..2:lin:{count}") == [count]


PLACES = numpy.arange(1000) / 1000


@pytest.mark.parametrize(
    ("low", "high", "values"),
    [(1, 4, [1, 2, 3, 4]), (0.5, 4.5, [1, 2, 3, 4]), (1.0, 4.999, [1, 2, 3, 4]), (0.001, 4, [1, 2, 3, 4]), (3, 3, [3]),
     (-2.5, 1.5, [-2, -1, 0, 1])],
)  # fmt: skip
def test_whole_numbers_are_drawn_alike_often(low, high, values):
    """Those from one end to the other, and none beside, wherever the ends lie between two."""
    found, counts = numpy.unique(AxisSpread(low, high, whole=True).values_at(PLACES), return_counts=True)
    assert found.tolist() == values
    assert counts.max() - counts.min() <= 1


@pytest.mark.parametrize(("low", "high"), [(1, 4), (0.5, 4.5), (1, 4.999)])
def test_whole_numbers_are_drawn_in_equal_ratios(low, high):
    """As often as the logarithm of what lies between a number and the next, in parts of that of all."""
    found, counts = numpy.unique(AxisSpread(low, high, "log", whole=True).values_at(PLACES), return_counts=True)
    assert found.tolist() == [1, 2, 3, 4]
    assert counts == pytest.approx(1000 * numpy.log2([2, 3 / 2, 4 / 3, 5 / 4]) / numpy.log2(5), abs=1)


@pytest.mark.parametrize(("low", "high"), [(2, 16), (1.1, 31), (2, 31.9), (1.9, 16)])
def test_powers_of_two_are_drawn_alike_often(low, high):
    found, counts = numpy.unique(AxisSpread(low, high, "pow2").values_at(PLACES), return_counts=True)
    assert found.tolist() == [2, 4, 8, 16]
    assert set(counts) == {250}


def test_choices_and_real_numbers_are_drawn_over_all_of_them():
    found, counts = numpy.unique(AxisSpread(choices=(5.0, 2.0, 9.0, 7.0)).values_at(PLACES), return_counts=True)
    assert (found.tolist(), set(counts)) == ([2, 5, 7, 9], {250})
    assert AxisSpread(choices=(5.0, 2.0)).values_at(numpy.array([0, 0.499, 0.5, 0.999])).tolist() == [5, 5, 2, 2]
    assert AxisSpread(2, 10).values_at(numpy.array([0, 0.25, 0.5])) == pytest.approx([2, 4, 6])
    assert AxisSpread(1, 100, "log").values_at(numpy.array([0, 0.25, 0.5])) == pytest.approx([1, 10**0.5, 10])
