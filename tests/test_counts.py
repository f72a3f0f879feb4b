"""Counts that a program accepts, against a search through the definitions."""

from __future__ import annotations

import pytest

from aspenpy.expr.counts import RULES, CountRule, counts_accepted_by_all, nearest_of, read_counts, whole_root
from aspenpy.expr.evaluate import evaluate
from aspenpy.expr.graph import symbol

DEFINITIONS = {
    "square": lambda number, _: any(root**2 == number for root in range(1, 140)),
    "cube": lambda number, _: any(root**3 == number for root in range(1, 30)),
    "power_of": lambda number, base: any(base**times == number for times in range(10)),
    "divisor_of": lambda number, whole: whole % number == 0,
    "multiple_of": lambda number, unit: number % unit == 0,
    "at_most": lambda number, most: number <= most,
    "grid": lambda number, ratio: (number, ratio) in GRIDS,
}
CASES = [("square", 1), ("cube", 1), *((rule, n) for rule in RULES[2:] for n in (1, 2, 3, 10, 12, 61, 72))]
GRIDS = {
    (long * middle * wide, ratio)
    for ratio in {n for rule, n in CASES if rule == "grid"}
    for wide in range(1, 26)
    for middle in range(wide, min(ratio * wide, 17_000 // wide) + 1)
    for long in range(middle, min(ratio * wide, 17_000 // (wide * middle)) + 1)
}
"""All numbers up to 17,000 with a grid that is no more than so many times as long as wide."""


@pytest.mark.parametrize(("rule", "argument"), CASES)
def test_accepted_numbers_and_those_next_to_any(rule: str, argument: int) -> None:
    counts = CountRule(rule, argument)
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
    cubes = CountRule("cube").between(1, 200)
    assert nearest_of(cubes, [1, 2, 4, 8, 16, 32, 64, 128, 200]) == [1, 8, 27, 64, 125]
    assert nearest_of(CountRule("cube").between(30, 60), [30, 60]) == []
    assert nearest_of(CountRule("divisor_of", 12).between(1, 16), [1, 2, 4, 8, 16]) == [1, 2, 4, 6, 12]


@pytest.mark.parametrize("others", [(), *(((rule, n),) for rule, n in CASES), (("multiple_of", 4), ("multiple_of", 6))])
@pytest.mark.parametrize("case", CASES)
def test_numbers_that_several_rules_accept(case: tuple[str, int], others: tuple[tuple[str, int], ...]) -> None:
    rules = [case, *others]
    accepted = [each for each in range(7, 131) if all(DEFINITIONS[rule](each, n) for rule, n in rules)]
    assert [*counts_accepted_by_all([CountRule(*each) for each in rules], 7, 130)] == accepted


def test_no_rule_accepts_all() -> None:
    assert [*counts_accepted_by_all([], 7, 9)] == [7, 8, 9]


@pytest.mark.parametrize(("rule", "argument"), [case for case in CASES if case[0] != "grid"])
def test_the_largest_up_to_a_formula(rule: str, argument: int) -> None:
    """As by definition; where the smallest of all is too large, that one."""
    counts, most = CountRule(rule, argument), symbol("most")
    formula = counts.largest_up_to(most)
    for number in range(1, 260):
        below = [each for each in range(1, number + 1) if DEFINITIONS[rule](each, argument)]
        smallest = argument if rule == "multiple_of" else 1
        assert evaluate(formula, {most: number}) == max([*below, smallest]), number


@pytest.mark.parametrize("ratio", [1, 2, 8])
def test_a_large_grid_up_to_a_formula(ratio: int) -> None:
    """The number itself if it is accepted, else one from the largest cube on; of 8 within a fifth of the most."""
    most = symbol("most")
    formula = CountRule("grid", ratio).largest_up_to(most)
    for number in range(1, 3000):
        found, best = evaluate(formula, {most: number}), CountRule("grid", ratio).largest_below(number)
        assert found in CountRule("grid", ratio)
        assert best is not None
        assert whole_root(number, 3) ** 3 <= found <= best
        assert found == number or best < number
        assert ratio < 8 or found >= 0.8 * best


@pytest.mark.parametrize("root", [10, 100, 999, 2154, 9999])
def test_the_largest_cube_and_square_of_large_numbers(root: int) -> None:
    most = symbol("most")
    for name, degree in (("square", 2), ("cube", 3)):
        formula = CountRule(name).largest_up_to(most)
        for number, edge in ((root**degree, root), (root**degree - 1, root - 1), (root**degree + 1, root)):
            assert evaluate(formula, {most: number}) == edge**degree


def test_read_as_written() -> None:
    for rule, argument in CASES:
        assert read_counts(str(CountRule(rule, argument))) == CountRule(rule, argument)
    assert read_counts(" multiple_of( 56 ) ") == CountRule("multiple_of", 56)
    for wrong in ("", "cubes", "cube(2)", "power_of", "power_of(0)", "power_of(x)", "power_of(2", "power_of(2.5)"):
        assert read_counts(wrong) is None, wrong


def test_described_in_words() -> None:
    rules = [CountRule("cube"), CountRule("power_of", 2), CountRule("divisor_of", 1024)]
    assert CountRule("grid", 8).describe() == "numbers whose grid is at most 8 times as long as wide"
    assert [counts.describe() for counts in rules] == ["cube numbers", "powers of 2", "divisors of 1,024"]
    assert [str(counts) for counts in rules] == ["cube", "power_of(2)", "divisor_of(1024)"]
