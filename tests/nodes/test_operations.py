"""Classes of operations: arithmetic by hand with the rates of a made-up core at 2 GHz."""

from __future__ import annotations

import pytest

from aspenpy import predict
from tests.tiny import application, machine

MACHINE = """
machine m { node n }
node n { socket s }
socket s { core [4] c }
core c {
  property clock [2e9] property issue [1]
  property add_dp_rate [2]
  property add_dp_simd_rate [8]
  property divide_rate [1/5]
  property tensor_fp16_rate [4096]
  property load_rate [2]
  property store_rate [1]
  resource flops(x) [x/(clock*issue)] with dp [base*2], sp [base], simd [base/8], multiply [base*7]
}
"""


def seconds(traits: str) -> float:
    return float(predict(application(f"execute {{ flops [1e6] {traits} }}"), machine(MACHINE)).runtime)


@pytest.mark.parametrize(
    ("traits", "cycles"),
    [
        ("as add, dp", 1e6 / 2),
        ("as dp, add", 1e6 / 2),
        ("as add, fp64", 1e6 / 2),
        ("as add, dp, simd", 1e6 / 8),
        ("as divide", 5e6),
        ("as divide, dp", 5e6),
        ("as tensor, fp16", 1e6 / 4096),
    ],
)
def test_a_class_takes_its_rate(traits: str, cycles: float) -> None:
    assert seconds(traits) == pytest.approx(cycles / 2e9, rel=1e-12)


@pytest.mark.parametrize(
    ("traits", "cycles"),
    [
        ("", 1e6),
        ("as dp", 2e6),
        ("as dp, simd", 2e6 / 8),
        ("as multiply", 7e6),  # a rule of the machine's own
        ("as add, sp", 1e6),  # no rate stated: what others cost
        ("as divide, simd", 1e6 / 8),  # a scalar rate says nothing of vectors
    ],
)
def test_others_cost_what_they_did(traits: str, cycles: float) -> None:
    assert seconds(traits) == pytest.approx(cycles / 2e9, rel=1e-12)


@pytest.mark.parametrize(
    ("flops", "apart", "shared"),
    [
        ("flops [16e6] as add, dp  flops [8e6] as divide, sp", 40e6, 40e6),  # the divider is the longest
        ("flops [16e6] as add, dp  flops [4e6] as fma, dp", 8e6, 9e6),
        ("flops [2e6] as add, dp  flops [8e6] as fma, dp", 2e6, 3e6),
        ("flops [1e6] as add, dp  flops [3e6] as convert, dp  flops [8e6] as fma, dp", 2e6, 4e6),  # with additions
    ],
)
def test_additions_have_pipes_of_their_own_where_a_core_states_them(flops: str, apart: float, shared: float) -> None:
    """Two additions and two fused multiply-adds, four flops, begin in a cycle: the longer counts, or the sum."""
    rated = MACHINE.replace(
        "property add_dp_rate", "property fma_dp_rate [4] property convert_rate [2] property add_dp_rate"
    )
    for text, cycles in ((rated, shared), (rated.replace("core c {", "core c { property adders [2]"), apart)):
        runtime = float(predict(application(f"execute {{ {flops} }}"), machine(text)).runtime)
        assert runtime == pytest.approx(cycles / 2e9, rel=1e-12)


def test_a_rate_that_is_not_stated_is_told() -> None:
    prediction = predict(application("execute { flops [1e6] as square_root, dp }"), machine(MACHINE))
    (warning,) = prediction.tree.warnings
    assert warning.code == "unknown-rate"
    assert "`square_root_dp_rate` or `square_root_rate`" in (warning.hint or "")


@pytest.mark.parametrize(
    ("flops", "cycles"),
    [
        ("flops [1e6] as divide  flops [8e6] as add, dp", 5e6),
        ("flops [1e6] as divide  flops [12e6] as add, dp", 6e6),
        ("flops [1e6] as divide, sp  flops [2e6] as divide, dp  flops [8e6] as add, dp", 15e6),
        ("flops [4e6] as load  flops [3e6] as store", 3e6),
        ("flops [8e6] as load  flops [3e6] as store", 4e6),
    ],
)
def test_units_work_beside_each_other(flops: str, cycles: float) -> None:
    """A division takes five cycles of the divider, an addition half a cycle of the pipes: the longest of the sums."""
    runtime = float(predict(application(f"execute {{ {flops} }}"), machine(MACHINE)).runtime)
    assert runtime == pytest.approx(cycles / 2e9, rel=1e-12)
