"""Axes of parameters that are fitted: in equal ratios from three decades on, their starts within their ranges."""

import pytest

import aspenpy
from aspenpy.learn.fitting.responses import FitAxis, make_axis
from tests.tiny import application, codes, machine


def axis(declared: str, whole: bool = False) -> FitAxis:
    app = application("execute { flops [n] }", f"param m = 9 in 1 .. 10 param n = {declared}")
    scope = aspenpy.predict(app, machine()).scope
    return make_axis(app.parameters["n"], scope, ["m", "n"], whole)


@pytest.mark.parametrize(
    ("declared", "whole", "low", "high", "start", "log"),
    [
        ("5 in 1 .. 1000", False, 1, 1000, 5, True),
        ("5 in 1 .. 999", False, 1, 999, 5, False),
        ("5 in 0 .. 1000", False, 0, 1000, 5, False),
        ("5 in -1000 .. 1000", False, -1000, 1000, 5, False),
        ("5.5 in 1.5 .. 9.5", True, 2, 9, 5.5, False),
        ("3 in 3 .. 3.5", True, 3, 3, 3, False),
        ("1 in 1 .. 8", False, 1, 8, 1, False),
        ("8 in 1 .. 8", False, 1, 8, 8, False),
    ],
)
def test_axes(declared: str, whole: bool, low: float, high: float, start: float, log: bool) -> None:
    found = axis(declared, whole)
    assert (found.low, found.high, found.start, found.log, found.whole) == (low, high, start, log, whole)


def test_places_of_an_axis() -> None:
    """In equal ratios half of the way from 1 to 10^4 is 100, and d/dp of 10^(4p) is 4 ln(10) 10^(4p)."""
    found = axis("5 in 1 .. 1e4")
    assert found.value(0.5) == pytest.approx(100, rel=1e-12)
    assert found.place(100) == pytest.approx(0.5)
    assert found.place(0.25) == 0  # below the range
    assert found.slope(100) == pytest.approx((found.value(0.5 + 1e-6) - found.value(0.5 - 1e-6)) / 2e-6, rel=1e-6)
    even = axis("5 in 1 .. 9")
    assert (even.value(0.5), even.place(7), even.slope(7)) == (5, 0.75, 8)


@pytest.mark.parametrize(
    ("declared", "whole", "code"),
    [
        ("5 in 2.2 .. 2.8", True, "empty-range"),
        ("5 in 1 .. m", False, "moving-range"),
        ("5 in m .. 100", False, "moving-range"),
    ],
)
def test_refused(declared: str, whole: bool, code: str) -> None:
    with pytest.raises(aspenpy.AspenError) as error:
        axis(declared, whole)
    assert codes(error.value) == [code]
