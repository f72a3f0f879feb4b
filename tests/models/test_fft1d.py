"""fft1d: Cooley and Tukey's count on one rank, Bailey's six steps on many."""

from collections.abc import Callable, Mapping

import pytest

import aspenpy

POINTS = 2**20


@pytest.mark.parametrize("exponent", [4, 10, 20])
def test_flops_of_one_rank_are_five_n_log_n(exponent: int) -> None:
    fft1d = aspenpy.load_application("fft1d")
    assert aspenpy.count(fft1d, "flops", set={"n": 2**exponent}) == 5 * 2**exponent * exponent


@pytest.mark.parametrize(("cache_points", "passes"), [(2**20, 1), (2**19, 2), (2**10, 2), (2**7, 3), (2**5, 4)])
def test_passes_over_memory_by_hand(cache_points: int, passes: int) -> None:
    # 20 stages, log2(cache_points) of them a pass; each pass reads and writes 16 bytes a point.
    fft1d = aspenpy.load_application("fft1d")
    volume = aspenpy.count(fft1d, "bytes", set={"n": POINTS, "cache_points": cache_points})
    assert volume == passes * POINTS * 32


def test_six_steps_add_a_complex_product_a_point() -> None:
    fft1d = aspenpy.load_application("fft1d")
    assert aspenpy.count(fft1d, "flops", set={"n": POINTS, "ranks": 64}) == (5 * 20 + 6) * POINTS


def test_six_steps_pass_memory_six_times() -> None:
    # Three transpositions, two rounds of rows that fit the cache, twiddle factors.
    fft1d = aspenpy.load_application("fft1d")
    assert aspenpy.count(fft1d, "bytes", set={"n": POINTS, "ranks": 64}) == 6 * 32 * POINTS


def test_each_transposition_sends_all_but_the_own_share() -> None:
    fft1d = aspenpy.load_application("fft1d")
    assert aspenpy.count(fft1d, "messages", set={"n": POINTS, "ranks": 64}) == 3 * 16 * POINTS * 63 // 64


@pytest.mark.parametrize(("ranks", "messages"), [(1, 0), (2, 3), (64, 3 * 63)])
def test_messages_of_a_rank(
    messages_in_turn: Callable[[str, str, Mapping[str, float]], float], ranks: int, messages: int
) -> None:
    assert messages_in_turn("fft1d", "main", {"n": POINTS, "ranks": ranks}) == messages


def test_one_rank_on_the_simple_machine_by_hand() -> None:
    # 100 flops a point at 2e9 a second (4 lanes, double precision); 32 bytes a point at 10 GB/s are hidden.
    fft1d, simple = aspenpy.load_application("fft1d"), aspenpy.load_machine("simple")
    runtime = aspenpy.predict(fft1d, simple, set={"n": POINTS, "cache_points": POINTS}).runtime
    assert runtime == pytest.approx(100 * POINTS / 2e9, rel=1e-12)
