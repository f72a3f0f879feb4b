"""matmul: the plain product on one rank, Cannon's algorithm on several."""

from collections.abc import Callable, Mapping

import pytest

import aspenpy

N = 480


@pytest.mark.parametrize("ranks", [1, 4, 9, 144])
def test_flops_are_two_n_cubed_on_any_number_of_ranks(ranks: int) -> None:
    matmul = aspenpy.load_application("matmul")
    assert aspenpy.count(matmul, "flops", set={"n": N, "ranks": ranks}) == pytest.approx(2 * N**3, rel=1e-12)


def test_compulsory_traffic_reads_three_matrices_and_writes_one() -> None:
    matmul = aspenpy.load_application("matmul")
    assert aspenpy.count(matmul, "loads", set={"n": N}) == 3 * N**2 * 8
    assert aspenpy.count(matmul, "stores", set={"n": N}) == N**2 * 8


@pytest.mark.parametrize(("precision", "trait", "word"), [(0, "sp", 4), (1, "dp", 8)])
def test_precision_sets_the_trait_and_the_word(precision: int, trait: str, word: int) -> None:
    matmul, values = aspenpy.load_application("matmul"), {"n": N, "precision": precision}
    assert aspenpy.count(matmul, "flops", set=values, traits=[trait, "simd", "fmad"]) == 2 * N**3
    assert aspenpy.count(matmul, "loads", set=values) == 3 * N**2 * word
    assert aspenpy.count(matmul, "stores", set=values) == N**2 * word


def test_tiles_read_both_operands_once_a_tile() -> None:
    # 480/48 = 10 tiles along an edge: A and B are read ten times, C once.
    matmul = aspenpy.load_application("matmul")
    assert aspenpy.count(matmul, "loads", set={"n": N, "tile": 48}) == (10 + 10 + 1) * N**2 * 8


def test_each_rank_passes_two_blocks_in_each_but_the_last_step() -> None:
    # 9 ranks in a 3 x 3 grid: 2 passes of 2 blocks of 160 x 160 doubles by each of them.
    matmul = aspenpy.load_application("matmul")
    assert aspenpy.count(matmul, "messages", set={"n": N, "ranks": 9}) == 9 * 2 * 2 * 160**2 * 8


@pytest.mark.parametrize(("ranks", "messages"), [(1, 0), (9, 4), (64, 14)])
def test_messages_of_a_rank(
    messages_in_turn: Callable[[str, str, Mapping[str, float]], float], ranks: int, messages: int
) -> None:
    assert messages_in_turn("matmul", "main", {"n": N, "ranks": ranks}) == messages


def test_one_rank_on_the_simple_machine_by_hand() -> None:
    # A core does 1 flop a cycle at 1 GHz, times 4 lanes, times 2 for fused multiply-add, halved for double
    # precision: 4e9 flop/s. 2 * 1000^3 flops take half a second; 32 MB take 3.2 ms and are hidden.
    matmul, simple = aspenpy.load_application("matmul"), aspenpy.load_machine("simple")
    assert aspenpy.predict(matmul, simple, set={"n": 1000}).runtime == pytest.approx(0.5, rel=1e-12)


def test_small_tiles_make_it_bound_by_memory() -> None:
    # (2 * 1000^3/2 + 2 * 1000^2) words of 8 B at 10 GB/s.
    matmul, simple = aspenpy.load_application("matmul"), aspenpy.load_machine("simple")
    runtime = aspenpy.predict(matmul, simple, set={"n": 1000, "tile": 2}).runtime
    assert runtime == pytest.approx((1000**3 + 2 * 1000**2) * 8 / 10e9, rel=1e-12)


@pytest.mark.parametrize("kernel", ["naive", "blocked"])
def test_variants_on_one_rank_do_the_same_work(kernel: str) -> None:
    matmul = aspenpy.load_application("matmul")
    assert aspenpy.count(matmul, "flops", kernel=kernel, set={"n": N}) == 2 * N**3
    assert aspenpy.count(matmul, "stores", kernel=kernel, set={"n": N}) == N**2 * 8


@pytest.mark.parametrize(("precision", "trait", "word"), [(0, "sp", 4), (1, "dp", 8)])
def test_the_naive_product_loads_a_row_and_a_column_an_element(precision: int, trait: str, word: int) -> None:
    matmul, values = aspenpy.load_application("matmul"), {"n": N, "precision": precision}
    assert aspenpy.count(matmul, "loads", kernel="naive", set=values) == 2 * N**3 * word
    assert aspenpy.count(matmul, "flops", kernel="naive", set=values, traits=[trait]) == 2 * N**3


@pytest.mark.parametrize(("precision", "trait", "word"), [(0, "sp", 4), (1, "dp", 8)])
def test_the_blocked_product_loads_both_operands_once_a_tile(precision: int, trait: str, word: int) -> None:
    # 480/48 = 10 tiles along an edge: 10^3 products of tiles, two of 48 x 48 words each.
    matmul, values = aspenpy.load_application("matmul"), {"n": N, "cache_tile": 48, "precision": precision}
    assert aspenpy.count(matmul, "loads", kernel="blocked", set=values) == 10**3 * 2 * 48**2 * word
    assert aspenpy.count(matmul, "flops", kernel="blocked", set=values, traits=[trait, "simd", "fmad"]) == 2 * N**3


def test_blocking_turns_a_product_bound_by_memory_into_one_bound_by_arithmetic() -> None:
    # 2 * 1000^3 words at 10 GB/s take 1.6 s; scalar flops at 5e8 a second 4 s, so with a fast clock memory decides.
    matmul, simple = aspenpy.load_application("matmul"), aspenpy.load_machine("simple")
    values = {"n": 1000, "simple_clock": 4e9}
    naive = aspenpy.predict(matmul, simple, kernel="naive", set=values).runtime
    blocked = aspenpy.predict(matmul, simple, kernel="blocked", set=values).runtime
    assert naive == pytest.approx((2 * 1000**3 + 1000**2) * 8 / 10e9, rel=1e-12)
    assert blocked == pytest.approx(2 * 1000**3 / 16e9, rel=1e-12)
