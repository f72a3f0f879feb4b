"""Structures that were swept side by side: what a cache still holds, in numbers and as other functions define it."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aspenpy.expr import graph
from aspenpy.expr.arithmetic import DomainError
from aspenpy.expr.cache_sweeps import Between, share_still_held
from aspenpy.expr.definitions import write_definitions
from aspenpy.expr.evaluate import EvaluationError, evaluate

L1 = 8, 64, 64, 64  # ways, bytes of a line, sets: a way divides a page
L2 = 16, 64, 1024, 1024  # each structure begins anywhere

structures = st.tuples(st.sampled_from([*Between]), st.integers(0, 40_000), st.integers(0, 3_000), st.booleans())


def arguments(cache, in_step, crowding, *terms):
    return (*cache, int(in_step), crowding, *(number for term in terms for number in term))


@given(
    st.sampled_from([L1, L2, (12, 64, 64, 64), (3, 32, 100, 100)]),
    st.booleans(),
    st.sampled_from([1, 1, Fraction(3, 2), 8]),
    st.lists(structures, min_size=1, max_size=8),
)
def test_the_law_is_its_definition(cache, in_step, crowding, drawn):
    """The law decides many cases by the least and the most lines; its definition computes each moment."""
    terms = [
        ((-1 - rule if beside and place else int(rule)), lines, part)
        for place, (rule, lines, part, beside) in enumerate(drawn)
    ]
    numbers = arguments(cache, in_step, crowding, *terms)
    (defined,) = write_definitions(
        [graph.intern_node("apply", tuple(map(graph.number, numbers)), "share_still_held", 0)]
    )
    assert float(share_still_held(*numbers)) == pytest.approx(float(evaluate(defined)), abs=1e-12)


def test_what_fits_is_held_and_what_does_not_is_gone():
    array = (Between.ALL_BUT_V_TO_U, 256, 0)
    assert share_still_held(*arguments(L1, True, 1, array)) == 1
    assert share_still_held(*arguments(L1, True, 1, (Between.ALL_BUT_V_TO_U, 64 * 9, 0))) == 0
    assert share_still_held(*arguments(L1, True, 1, array, (Between.ALL, 64 * 5, 0))) == 0
    assert share_still_held(*arguments(L1, True, 1, array, (Between.ALL, 64 * 4, 0))) == 1


def test_lines_of_the_pass_push_out_what_comes_late():
    """Of 8 ways an array has 4, and what a pass touches of another, v of 512 lines, 8 v: there is room for half of it.
    Of the eight moments 1/16 .. 7/16 find room in all sets, 9/16 in those that it has not come to: 4.5 lines, 4 in half
    of the sets."""
    array, other = (Between.ALL_BUT_V_TO_U, 256, 0), (Between.PASSED, 512, 0)
    assert share_still_held(*arguments(L1, True, 1, array, other)) == pytest.approx((4 + 0.5) / 8)


def test_lines_behind_a_place_are_whole_in_each_set():
    """An array that was swept along and is not touched now: behind u lie 1 - u of its 4 lines in a set, rounded up. Of
    8 ways the array has 5, so that 3 are left: for u above 1/4."""
    array, other = (Between.ALL_BUT_V_TO_U, 320, 0), (Between.BEHIND, 256, 0)
    assert share_still_held(*arguments(L1, True, 1, array, other)) == 6 / 8


def test_a_crowded_array_has_more_lines_in_a_set():
    array = (Between.ALL_BUT_V_TO_U, 256, 0)
    assert share_still_held(*arguments(L1, True, 2, array)) == 1
    assert share_still_held(*arguments(L1, True, Fraction(9, 4), array)) == 0


def test_a_second_term_belongs_to_the_structure_before_it():
    """In caches where each begins anywhere, 7.5 and 7.5 lines in a set of two structures are 7 or 8 of each, which
    beside one line find room in 16 ways but where both are 8; of one structure they are 15."""
    array, half = (Between.ALL, 1024, 0), (Between.ALL, 1024 * 7.5, 0)
    apart = share_still_held(*arguments(L2, True, 1, array, half, half))
    beside = share_still_held(*arguments(L2, True, 1, array, half, (-1, 1024 * 7.5, 0)))
    assert apart == pytest.approx(3 / 4)
    assert beside == 1


@pytest.mark.parametrize("terms", [(), (0, 5), (0, 5, 0, 0), (7, 5, 0), (-1, 5, 0), (2.5, 5, 0)])
def test_terms_are_triples(terms):
    with pytest.raises(DomainError, match="takes triples"):
        share_still_held(*L1, 1, 1, *terms)


def test_a_name_does_not_tell_terms_apart():
    """Numbers do, so that a program knows which lines to count; with a value for the name there is one."""
    rule = graph.symbol("rule")
    node = graph.apply("share_still_held", *L1, 1, 1, rule, 256, 0)
    (defined,) = write_definitions([node])
    assert evaluate(node, {rule: 0}) == 1
    with pytest.raises(EvaluationError, match="takes triples"):
        evaluate(defined, {rule: 0})
