"""fft3d: the pencil decomposition's own counts."""

from collections.abc import Callable, Mapping
from math import log2

import pytest

import aspenpy


@pytest.mark.parametrize(("n", "ranks"), [(64, 1), (256, 16), (512, 64)])
def test_flops_are_five_n_cubed_log_n_cubed(n: int, ranks: int) -> None:
    fft3d = aspenpy.load_application("fft3d")
    assert aspenpy.count(fft3d, "flops", set={"n": n, "ranks": ranks}) == 5 * n**3 * log2(n**3)


def test_each_of_five_passes_reads_and_writes_the_field() -> None:
    # Three transforms and two shuffles, 16 bytes a point.
    fft3d = aspenpy.load_application("fft3d")
    assert aspenpy.count(fft3d, "loads", set={"n": 128}) == 5 * 128**3 * 16
    assert aspenpy.count(fft3d, "stores", set={"n": 128}) == 5 * 128**3 * 16


def test_an_exchange_moves_all_but_the_own_share() -> None:
    # On a 4 x 4 grid a rank keeps a quarter of its points and sends three, twice.
    fft3d = aspenpy.load_application("fft3d")
    assert aspenpy.count(fft3d, "messages", set={"n": 128, "ranks": 16}) == 2 * 128**3 * 16 * 3 / 4


@pytest.mark.parametrize(("ranks", "messages"), [(1, 0), (16, 2 * 3), (1024, 2 * 31)])
def test_messages_of_a_rank(
    messages_in_turn: Callable[[str, str, Mapping[str, float]], float], ranks: int, messages: int
) -> None:
    assert messages_in_turn("fft3d", "main", {"n": 1024, "ranks": ranks}) == messages


@pytest.mark.parametrize(("precision", "trait", "word"), [(0, "sp", 8), (1, "dp", 16)])
def test_precision_sets_the_trait_and_the_word(precision: int, trait: str, word: int) -> None:
    fft3d, values = aspenpy.load_application("fft3d"), {"n": 128, "precision": precision}
    assert aspenpy.count(fft3d, "flops", set=values, traits=[trait, "simd"]) == 15 * 128**3 * 7
    assert aspenpy.count(fft3d, "bytes", set=values) == 2 * 5 * 128**3 * word


def test_one_rank_on_the_simple_machine_by_hand() -> None:
    # 64^3 points: a transform takes 5 * 262,144 * 6 flops at 2e9 a second (4 lanes, double precision) and its traffic
    # of 32 bytes a point less at 10 GB/s, so arithmetic bounds it; a shuffle is traffic alone.
    fft3d, simple = aspenpy.load_application("fft3d"), aspenpy.load_machine("simple")
    transform, shuffle = 5 * 64**3 * 6 / 2e9, 32 * 64**3 / 10e9
    runtime = aspenpy.predict(fft3d, simple, set={"n": 64, "ranks": 1}).runtime
    assert runtime == pytest.approx(3 * transform + 2 * shuffle, rel=1e-12)
