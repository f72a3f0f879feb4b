"""Which values of a parameter meet a target: closed forms, and trying them all."""

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import aspenpy
from aspenpy import AspenError
from aspenpy.answers.counting import Counts, Inverse
from tests.random_models import expression
from tests.thorough import examples
from tests.tiny import application, codes


def solved(flops: str, target: Any, within: tuple[Any, Any] = (1, 1000), **options: Any) -> Inverse:
    app = application(f"execute {{ flops [{flops}] }}", "param n = 1")
    return Counts(app).solve("n", target, within=within, **options)


def pairs(inverse: Inverse) -> list[tuple[Any, Any]]:
    return [(item.low, item.high) for item in inverse.solutions]


def test_a_cube_root() -> None:
    (found,) = solved("2*n^3", 10**12, (1, 10**6)).solutions
    assert found.low == found.high
    assert float(found.low) == pytest.approx((10**12 / 2) ** (1 / 3), rel=1e-13)


def test_whole_numbers_are_exact_beyond_floating_point() -> None:
    n = 10**15 + 7
    assert pairs(solved("n^3 + n", n**3 + n, (1, 10**18), whole=True)) == [(n, n)]
    assert solved("n^3 + n", n**3 + n + 1, (1, 10**18), whole=True).solutions == ()


def test_next_to_a_target_that_no_whole_number_meets() -> None:
    (leap,) = solved("2*n^3", 10**12, (1, 10**6), whole=True).leaps
    assert (leap.before, leap.behind) == (7937, 7938)
    assert (leap.amount_before, leap.amount_behind) == (2 * 7937**3, 2 * 7938**3)


def test_a_step_is_met_along_its_length() -> None:
    assert pairs(solved("100*ceil(n/4)", 300, whole=True)) == [(9, 12)]
    ((low, high),) = pairs(solved("100*ceil(n/4)", 300))
    assert float(low) == pytest.approx(8, rel=1e-14)
    assert low > 8
    assert high == 12


def test_a_step_over_the_target() -> None:
    found = solved("100*ceil(n/4)", 250)
    assert found.solutions == ()
    (leap,) = found.leaps
    assert (leap.before, leap.amount_before, leap.amount_behind) == (8, 200, 300)


def test_several_values() -> None:
    """n (100 - n) = 900 at 10 and 90; the parabola touches 2500 in one point."""
    assert pairs(solved("n*(100 - n)", 900, (0, 100), whole=True)) == [(10, 10), (90, 90)]
    assert [float(low) for low, _ in pairs(solved("n*(100 - n)", 900, (0, 100)))] == pytest.approx([10, 90], rel=1e-12)
    assert pairs(solved("n*(100 - n)", 2500, (0, 100), whole=True)) == [(50, 50)]


def test_every_leap_is_told() -> None:
    """n (1000 - n) passes 90 001 between 100 and 101, and again between 899 and 900."""
    found = solved("n*(1000 - n)", 90_001, (0, 1000), whole=True)
    assert [(leap.before, leap.behind) for leap in found.leaps] == [(100, 101), (899, 900)]


def test_a_leap_between_two_halves() -> None:
    """The range is halved between 500 and 501, which is where the amount leaps."""
    app = application("if (n <= 500) { execute { flops [10] } } else { execute { flops [20] } }", "param n = 1")
    (leap,) = Counts(app).solve("n", 15, within=(0, 1000), whole=True).leaps
    assert (leap.before, leap.amount_before, leap.behind, leap.amount_behind) == (500, 10, 501, 20)


def test_falling() -> None:
    assert pairs(solved("1000/n", 8, whole=True)) == [(125, 125)]


def test_a_choice() -> None:
    app = application("if (n < 10) { execute { flops [n] } } else { execute { flops [20 - n] } }", "param n = 1")
    found = Counts(app).solve("n", 7, within=(0, 20), whole=True)
    assert pairs(found) == [(7, 7), (13, 13)]


@pytest.mark.parametrize(("b", "c"), [(1, 1), (9, 21), (12, 37)])
def test_bounds_that_only_parts_of_the_range_have(b: int, c: int) -> None:
    """The interval of n^2 - b n + c holds 0 over the whole range, and nowhere over small parts; with a root at 10 the
    other is at b - 10."""
    roots = sorted({n for n in (10, b - 10) if 1 <= n <= 20})
    found = pairs(solved(f"1e6/(n^2 - {b}*n + {c})", 1e6 / (100 - 10 * b + c), (1, 20)))
    assert [float(end) for ends in found for end in ends] == pytest.approx([n for n in roots for _ in "ab"], rel=1e-12)


def test_a_loop_without_closed_form() -> None:
    """1 + 1 + 2 + 2 + ...: after 2k passes k (k + 1)."""
    app = application("iterate i [n] { execute { flops [ceil((i + 1)/2)] } }", "param n = 1 in 1 .. 100")
    assert pairs(Counts(app).solve("n", 30, whole=True)) == [(10, 10)]


def test_dependants_follow() -> None:
    app = application("execute { flops [m] }", "param n = 1 in 1 .. 99  param m = 3*n + k  param k = 1")
    assert pairs(Counts(app, set={"k": 5}).solve("n", 65)) == [(20, 20)]


def test_bytes_and_traits() -> None:
    app = application("execute { loads [8*n] stores [4*n] flops [n] as dp flops [n] as sp }", "param n = 1 in 1 .. 99")
    assert pairs(Counts(app).solve("n", 120, "bytes")) == [(10, 10)]
    assert pairs(Counts(app, traits=("dp",)).solve("n", 10)) == [(10, 10)]


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"parameter": "n", "target": 10**30}, "out-of-reach"),
        ({"parameter": "k", "target": 5}, "no-effect"),
        ({"parameter": "m", "target": 5}, "unknown-parameter"),
        ({"parameter": "n", "target": 5, "within": (5, 1)}, "empty-range"),
        ({"parameter": "n", "target": 5, "within": (Fraction(1, 3), Fraction(1, 2)), "whole": True}, "empty-range"),
        ({"parameter": "n", "target": 5, "resource": "flop"}, "unknown-resource"),
    ],
)
def test_mistakes(options: dict[str, Any], code: str) -> None:
    app = application("execute { flops [n] }", "param n = 1 in 1 .. 100  param k = 2")
    with pytest.raises(AspenError) as refusal:
        Counts(app).solve(**options)
    assert codes(refusal.value) == [code]


def test_a_value_that_fails_on_the_way_is_located() -> None:
    app = application("execute { flops [10/(n - 5)] }", "param n = 1 in 5 .. 9")
    with pytest.raises(AspenError, match=r"division by zero[\s\S]*with `n` = 5"):
        Counts(app).solve("n", 10, whole=True)


def test_what_cannot_be_proven_is_not_answered() -> None:
    """7919 n modulo 1009 is 5 at n = 211 and, 1009 further, at 1220; in between real numbers it leaps all the time."""
    with pytest.raises(AspenError) as refusal:
        solved("mod(7919*n, 1009)", 5, (1, 2000))
    assert codes(refusal.value) == ["not-proven"]
    assert pairs(solved("mod(7919*n, 1009)", 5, (1, 2000), whole=True)) == [(211, 211), (1220, 1220)]


@settings(max_examples=examples(60))
@given(st.data(), st.integers(0, 40))
def test_all_whole_numbers_are_found(data: st.DataObject, some: int) -> None:
    text = expression(data.draw, ("n",), 3)
    app = application(f"execute {{ flops [{text}] }}", "param n = 1 " + TABLES)
    counted = {n: aspenpy.count(app, "flops", set={"n": n}) for n in range(41)}
    target = counted[some]
    if len(set(counted.values())) == 1:
        return
    found = Counts(app).solve("n", target, within=(0, 40), whole=True)
    met = [n for n, amount in counted.items() if amount == target]
    assert [n for low, high in pairs(found) for n in range(low, high + 1)] == met
    leaps = [n for n in range(40) if (counted[n] - target) * (counted[n + 1] - target) < 0]
    assert [leap.before for leap in found.leaps] == leaps


TABLES = "param t[] = {3, 5, 1/2, 8} param tt[][] = {{1, 2}, {1, 5}} param u[] = {0, 1, 2.5, 10}"
