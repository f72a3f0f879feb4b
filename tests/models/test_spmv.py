"""spmv: the code balance of Kreutzer et al., the padding of ELLPACK, the band's messages."""

from collections.abc import Callable, Mapping

import pytest

import aspenpy

ELLPACK = 1


def balance(**values: float) -> float:
    """Bytes a flop of one product."""
    spmv = aspenpy.load_application("spmv")
    volume = aspenpy.count(spmv, "bytes", kernel="multiply", set=values)
    return float(volume) / float(aspenpy.count(spmv, "flops", kernel="multiply", set=values))


@pytest.mark.parametrize("nonzeros", [5, 7, 27, 140])
@pytest.mark.parametrize("alpha", [0.25, 1, 8])
def test_code_balance_of_compressed_rows(nonzeros: int, alpha: float) -> None:
    # Kreutzer et al. 2014: (8 + 4 + 8 alpha + 20/nonzeros)/2 bytes a flop.
    found = balance(nonzeros_per_row=nonzeros, alpha=alpha)
    assert found == pytest.approx((12 + 8 * alpha + 20 / nonzeros) / 2, rel=1e-12)


def test_compulsory_traffic_loads_each_element_of_x_once() -> None:
    # 1000 rows of 10: 12 bytes a nonzero; x, y in, y out and a start of 4 bytes a row.
    values = {"rows": 1000, "nonzeros_per_row": 10}
    volume = aspenpy.count(aspenpy.load_application("spmv"), "bytes", kernel="multiply", set=values)
    assert volume == pytest.approx(1000 * (10 * 12 + 3 * 8 + 4), rel=1e-12)


def test_ellpack_multiplies_its_padding() -> None:
    # 1000 rows padded from 10 to 16: 16 values and columns a row, no starts.
    spmv = aspenpy.load_application("spmv")
    values = {"storage": ELLPACK, "rows": 1000, "nonzeros_per_row": 10, "longest_row": 16}
    assert aspenpy.count(spmv, "flops", kernel="multiply", set=values) == 2 * 16 * 1000
    volume = aspenpy.count(spmv, "bytes", kernel="multiply", set=values)
    assert volume == pytest.approx(1000 * (16 * 12 + 3 * 8), rel=1e-12)


def test_a_band_of_a_cube_is_one_plane() -> None:
    # 100^3 rows; 4 ranks send 100^2 elements to either side.
    spmv = aspenpy.load_application("spmv")
    assert aspenpy.count(spmv, "messages", kernel="multiply", set={"ranks": 4}) == pytest.approx(4 * 2 * 8e4, rel=1e-12)


@pytest.mark.parametrize(("ranks", "messages"), [(1, 0), (4, 200)])
def test_messages_of_a_run(
    messages_in_turn: Callable[[str, str, Mapping[str, float]], float], ranks: int, messages: int
) -> None:
    assert messages_in_turn("spmv", "main", {"ranks": ranks}) == messages


def test_one_rank_on_the_simple_machine_is_bound_by_memory() -> None:
    spmv, simple = aspenpy.load_application("spmv"), aspenpy.load_machine("simple")
    runtime = aspenpy.predict(spmv, simple, kernel="multiply").runtime
    assert runtime == pytest.approx(1e6 * (27 * 12 + 28) / 10e9, rel=1e-12)
