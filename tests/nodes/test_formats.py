"""Formats of numbers on cores with and without units for them, against arithmetic by hand."""

from pathlib import Path

import pytest

import aspenpy

MACHINE = """
machine m { socket s }
socket s { core [1] c  property idle_power [0 W]  ENERGY }
core c {
  FLAGS
  property clock [1 GHz]
  property simd_width [4]
  RATES
  resource flops(n) [n/1e9] with sp [base], dp [base*2], simd [base/4], fmad [base/2]
  resource chain(n) [n/1e9] with fma [base*5]
}
"""
HALF = "property fma_fp16_simd_rate [16]"
BYTE = "property tensor_int8_rate [64]"


def models(
    folder: Path, traits: str, rates: str = "", flags: str = "", energy: str = ""
) -> tuple[aspenpy.Application, aspenpy.Machine]:
    text = MACHINE.replace("RATES", rates).replace("FLAGS", flags).replace("ENERGY", energy)
    (folder / "m.aspen").write_text(text, encoding="utf-8")
    (folder / "f.aspen").write_text(f"model f {{ kernel main {{ execute {{ {traits} }} }} }}", encoding="utf-8")
    return aspenpy.load_application(folder / "f.aspen"), aspenpy.load_machine(folder / "m.aspen")


def run(folder: Path, traits: str, rates: str = "", flags: str = "") -> aspenpy.Prediction:
    return aspenpy.predict(*models(folder, traits, rates, flags))


@pytest.mark.parametrize(
    ("rates", "flags", "traits", "seconds"),
    [
        # sixteen flops of half precision a cycle, multiply-adds; additions alone, half as many
        (HALF, "", "as fp16, simd, fmad", 1 / 16),
        (HALF, "", "as fp16, simd", 1 / 8),
        (HALF, "", "as add, fp16, simd", 1 / 8),
        (HALF, "", "as multiply, fp16, simd", 1 / 8),
        (HALF, "", "as fma, fp16, simd, fmad", 1 / 16),
        (HALF, "", "as tensor, fp16", 1 / 16),
        # a lane of four
        (HALF, "property simt", "as fp16, fmad", 1 / 4),
        (HALF, "property simt", "as fp16", 1 / 2),
        # no rate: four lanes of single precision, two flops for each
        ("", "", "as fp16, simd, fmad", 1 / 8),
        ("", "", "as bf16, simd", 1 / 4),
        ("", "", "as tf32", 1.0),
        ("", "", "as tensor, tf32", 1 / 8),
        ("property tensor_sp_rate [32]", "", "as tensor, tf32", 1 / 32),
        ("property tensor_sp_rate [32] property tensor_sp_attained [0.5]", "", "as tensor, bf16", 1 / 16),
        # other names of the same
        ("", "", "as fp64", 2.0),
        ("", "", "as fp32", 1.0),
        ("", "", "as fp64, simd, fmad", 2 / 8),
        (BYTE, "", "as tensor, int8", 1 / 64),
        # divisions on all lanes of a GPU, and on one of them
        ("property divide_dp_simd_rate [2]", "property simt", "as divide, dp, simd", 1 / 2),
        ("property divide_dp_simd_rate [2]", "property simt", "as divide, fp64", 2.0),
    ],
)
def test_seconds_of_a_format(tmp_path: Path, rates: str, flags: str, traits: str, seconds: float) -> None:
    assert run(tmp_path, f"flops [1e9] {traits}", rates, flags).runtime == pytest.approx(seconds, rel=1e-12)


@pytest.mark.parametrize(
    "traits", ["tensor, int8", "fma, int8, simd, fmad", "int8", "fp8, simd, fmad", "add, fp8", "tensor, fp4"]
)
def test_a_format_that_no_unit_can_hold_is_refused(tmp_path: Path, traits: str) -> None:
    with pytest.raises(aspenpy.AspenError, match=r"core `c` has no units for `(int8|fp8|fp4)`") as refused:
        run(tmp_path, f"flops [1] as {traits}", HALF).runtime  # noqa: B018
    assert refused.value.diagnostics[0].span is not None
    assert "fma_" in (refused.value.diagnostics[0].hint or "")


def test_a_core_that_tells_no_precisions_apart_takes_any(tmp_path: Path) -> None:
    (tmp_path / "m.aspen").write_text("machine m { core c } core c { resource flops(n) [n/1e9] }", encoding="utf-8")
    (tmp_path / "f.aspen").write_text("model f { kernel main { execute { flops [1e9] as int8 } } }", encoding="utf-8")
    prediction = aspenpy.predict(
        aspenpy.load_application(tmp_path / "f.aspen"), aspenpy.load_machine(tmp_path / "m.aspen")
    )
    assert prediction.runtime == 1
    assert [each.message for each in prediction.diagnostics] == ["machine `m` knows no trait `int8` of `flops`"]


def test_a_warning_says_in_what_it_is_computed(tmp_path: Path) -> None:
    warned = run(tmp_path, "flops [1] as fp16, simd, fmad").diagnostics
    assert [each.message for each in warned] == [
        "machine `m` states no rate of `fp16`: it is computed in single precision"
    ]
    assert not run(tmp_path, "flops [1] as fp16, simd, fmad", HALF).diagnostics


def test_latencies_know_no_formats(tmp_path: Path) -> None:
    """A chain of a thousand million multiply-adds, five cycles each, at any width of the numbers."""
    assert run(tmp_path, "chain [1e9] as fma, fp16", HALF).runtime == pytest.approx(5, rel=1e-12)


def test_divisions_of_a_gpu_share_its_pipes(tmp_path: Path) -> None:
    """They are sequences of multiply-adds there: 1e9 divisions, two a cycle, and 8e9 flops, eight a cycle, add up;
    beside the pipes of another core stands a divider."""
    body = "flops [1e9] as divide, dp, simd  flops [8e9] as fma, dp, simd, fmad"
    rates = "property divide_dp_simd_rate [2] property fma_dp_simd_rate [8]"
    assert run(tmp_path, body, rates, "property simt").runtime == pytest.approx(0.5 + 1, rel=1e-12)
    assert run(tmp_path, body, rates).runtime == pytest.approx(1, rel=1e-12)


def test_a_product_on_vectors_takes_their_energy(tmp_path: Path) -> None:
    energy = "property energy_per_flop [2 pJ/flop] property energy_per_flop_dp [4 pJ/flop] "
    energy += "property energy_per_flop_tensor [1 pJ/flop]"
    for rates, traits, joules in [
        (BYTE, "tensor, int8", 1e-12),
        (BYTE, "tensor, dp, simd, fmad", 4e-12),
        ("", "tensor, tf32", 2e-12),
    ]:
        found = aspenpy.energy(*models(tmp_path, f"flops [1e12] as {traits}", rates, energy=energy))
        assert found.value == pytest.approx(1e12 * joules, rel=1e-12), traits
