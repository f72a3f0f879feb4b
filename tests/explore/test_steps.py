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
