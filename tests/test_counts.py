"""Counts that a program accepts, against a search through the definitions."""

from __future__ import annotations

import pytest

from aspenpy.expr.counts import RULES, Counts, whole_root

DEFINITIONS = {
    "square": lambda number, _: any(root**2 == number for root in range(1, 140)),
    "cube": lambda number, _: any(root**3 == number for root in range(1, 30)),
    "power_of": lambda number, base: any(base**times == number for times in range(10)),
    "divisor_of": lambda number, whole: whole % number == 0,
    "multiple_of": lambda number, unit: number % unit == 0,
}
CASES = [("square", 1), ("cube", 1), *((rule, n) for rule in RULES[2:] for n in (1, 2, 3, 10, 12, 61, 72))]


@pytest.mark.parametrize(("rule", "argument"), CASES)
def test_accepted_numbers_and_those_next_to_any(rule: str, argument: int) -> None:
    counts = Counts(rule, argument)
    accepted = [number for number in range(1, 17_000) if DEFINITIONS[rule](number, argument)]
    for number in range(1, 130):
        below = [each for each in accepted if each <= number]
        above = [each for each in accepted if each >= number]
        assert (number in counts) == (number in accepted)
        assert counts.largest_below(number) == (below[-1] if below else None)
        assert counts.smallest_above(number) == (above[0] if above else None)
        assert counts.nearest_two(number) == sorted({*below[-1:], *above[:1]})
        half = {*[each for each in accepted if each <= number][-1:], *[each for each in accepted if each > number][:1]}
        assert counts.nearest_two(number + 0.5) == sorted(half)


def test_rules_are_all_defined() -> None:
    assert set(DEFINITIONS) == set(RULES)


@pytest.mark.parametrize("root", [1, 2, 99, 10**5 + 3, 10**40 + 1])
@pytest.mark.parametrize("degree", [2, 3])
def test_roots_of_numbers_of_any_length(root: int, degree: int) -> None:
    assert whole_root(root**degree, degree) == root
    assert whole_root(root**degree + 1, degree) == root
    assert whole_root((root + 1) ** degree - 1, degree) == root


def test_nearest_by_ratio() -> None:
    assert Counts("cube").pick_nearest([1, 2, 4, 8, 16, 32, 64, 128, 200], 1, 200) == [1, 8, 27, 64, 125]
    assert Counts("cube").pick_nearest([30, 60], 30, 60) == []
    assert Counts("divisor_of", 12).pick_nearest([1, 2, 4, 8, 16], 1, 16) == [1, 2, 4, 6, 12]


def test_described_in_words() -> None:
    rules = [Counts("cube"), Counts("power_of", 2), Counts("divisor_of", 1024)]
    assert [counts.describe() for counts in rules] == ["cube numbers", "powers of 2", "divisors of 1,024"]
    assert [str(counts) for counts in rules] == ["cube", "power_of(2)", "divisor_of(1024)"]
