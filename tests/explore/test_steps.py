"""Optima of models whose formulas climb in steps."""

import pytest

import aspenpy

TRIAD = aspenpy.parse(
    """model triad {
  param n = 1e7 in 1e3 .. 1e9
  kernel main { execute [n] { loads [16] stores [8] } }
}"""
)


def test_the_largest_vector_within_a_time_is_found_through_the_steps() -> None:
    # 24 bytes an element at 10 GB/s: 100 ms are 41,666,666.7 elements.
    simple = aspenpy.load_machine("simple")
    found = aspenpy.optimise(TRIAD, simple, maximise="n", vary="n=1e6..1e9", subject_to="runtime <= 100 ms")
    assert found.point["n"] == pytest.approx(0.1 * 10e9 / 24, rel=1e-7)


PAIR = aspenpy.parse(
    """model pair {
  param n = 1e7 in 1 .. 1e9
  param m = 1e6 in 1 .. 1e8
  param share = 0.5 in 0.1 .. 0.9
  kernel main { execute [n] { loads [24] } execute [m] { loads [24*(1 + (share - 0.3)^2)] } }
}"""
)


def test_what_is_searched_as_real_numbers_is_whole_at_the_optimum() -> None:
    # 24 bytes at 10 GB/s are 2.4 ns: n + m <= 41,666,666.67, of which the product is greatest at two halves. Whole
    # numbers with that sum at most: 20,833,333 each.
    simple = aspenpy.load_machine("simple")
    sides = {"subject_to": ["n + m <= 0.1*10e9/24"], "vary": ["n=1..1e9", "m=1..1e8"]}
    found = aspenpy.optimise(PAIR, simple, maximise="n*m", **sides)
    assert found.point == {"n": 20_833_333, "m": 20_833_333}
    assert all(isinstance(value, int) for value in found.point.values())


def test_real_variables_beside_whole_ones_are_searched_again() -> None:
    simple = aspenpy.load_machine("simple")
    found = aspenpy.optimise(PAIR, simple, minimise="runtime", vary=["m=2500001..1e8", "share=0.1..0.9"])
    assert found.point["m"] == 2_500_001
    assert found.point["share"] == pytest.approx(0.3, abs=1e-4)


def test_a_bound_between_whole_numbers_is_not_crossed() -> None:
    # 0.1 s at 2.4 ns an element beside a million others: 41,666,666.67 - 1,000,000; 1e-7 of it is 4 elements.
    simple = aspenpy.load_machine("simple")
    found = aspenpy.optimise(
        PAIR, simple, maximise="n", vary="n=1..1e9", subject_to="runtime <= 100 ms", set={"share": 0.3}
    )
    assert found.value == found.point["n"] == 40_666_666
    assert "40,666,666" in str(found)


def test_a_front_has_whole_numbers_where_there_are_millions_of_them() -> None:
    pytest.importorskip("pymoo")
    simple = aspenpy.load_machine("simple")
    vary = ["n=1..1e9", "share=0.1..0.9"]
    found = aspenpy.optimise(PAIR, simple, minimise="runtime", maximise="n", vary=vary, set={"m": 5})
    assert all(isinstance(choice.point["n"], int) for choice in found.choices)


def test_a_front_of_real_numbers_under_a_constraint() -> None:
    """Of x and y, each as small as can be while x*y >= 9: the front is the hyperbola, from 1.5 to 6."""
    app = aspenpy.parse(
        "model m { param x = 4.5 in 1.5 .. 16.5 param y = 4.5 in 1.5 .. 16.5 kernel main { execute { flops [x*y] } } }"
    )
    found = aspenpy.optimise(
        app, aspenpy.load_machine("simple"), minimise=["x", "y"], vary=["x", "y"], subject_to="flops >= 9"
    )
    ends = [choice.point["x"] for choice in found.choices]
    products = sorted(choice.point["x"] * choice.point["y"] for choice in found.choices)
    assert products[0] >= 9 * (1 - 1e-6)
    assert products[len(products) // 2] < 9.2  # the search comes near, at most places
    assert min(ends) < 1.7
    assert max(ends) > 5.5
    assert len(ends) >= 10
