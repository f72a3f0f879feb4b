"""Amounts of resources, without a machine."""

import pytest

import aspenpy
from aspenpy import AspenError
from tests.tiny import application, codes

BODY = """
  execute [4] { flops [10] as dp, simd flops [3] as dp loads [n] of size [8] }
  iterate i [3] { execute { flops [i] stores [16] } }
  probability { [0.25] { execute { flops [100] as sp } } }
  call work(2)
"""
KERNELS = "kernel work(param m) { execute [m] { flops [n] as simd } }"


@pytest.mark.parametrize(
    ("resource", "traits", "amount"),
    [
        # dp simd: 4 * 10; dp: 4 * 3; loop: 0 + 1 + 2; probability: 25; work: 2 * 6
        ("flops", (), 40 + 12 + 3 + 25 + 12),
        ("flops", ("dp",), 40 + 12),
        ("flops", ("dp", "simd"), 40),
        ("flops", ("simd",), 40 + 12),
        ("flops", ("sp",), 3 + 25 + 12),  # everything that is not dp
        ("flops", ("sp", "simd"), 12),
        ("flops", ("fmad",), 0),
        ("loads", (), 4 * 6 * 8),
        ("stores", (), 3 * 16),
        ("bytes", (), 4 * 6 * 8 + 3 * 16),
    ],
)
def test_an_amount_is_that_of_all_instances(resource: str, traits: tuple[str, ...], amount: float) -> None:
    app = application(BODY, "param n = 6", KERNELS)
    assert aspenpy.count(app, resource, traits=traits) == amount


def test_counts_follow_settings_and_the_kernel_asked_for() -> None:
    app = application(BODY, "param n = 6", KERNELS)
    assert aspenpy.count(app, "loads", set={"n": "2*5"}) == 4 * 10 * 8
    assert aspenpy.count(app, "flops", kernel="work", set={"m": 3}) == 18


def test_a_count_of_nothing_is_an_error() -> None:
    with pytest.raises(AspenError) as refusal:
        aspenpy.count(application(BODY, "param n = 6", KERNELS), "flop")
    assert codes(refusal.value) == ["unknown-resource"]
    assert "did you mean `flops`?" in str(refusal.value)


def test_exact_counts_stay_exact() -> None:
    app = application("iterate i [10^12] { execute { flops [i^3] } }")
    half = 10**12 * (10**12 - 1) // 2
    assert aspenpy.count(app, "flops") == half**2  # Nicomachus: the cubes add up to the square of the sum
