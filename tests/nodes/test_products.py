"""Products of matrices on cores with and without units for them, against arithmetic by hand."""

from pathlib import Path

import pytest

import aspenpy

MACHINE = """
machine m { core [1] c }
core c {
  property clock [1 GHz]
  RATES
  resource flops(n) [n/1e9] with dp [base*2], simd [base/4], fmad [base/2]
}
"""
UNITS = "property tensor_dp_rate [100]  property fma_dp_simd_rate [8]"
LANES = "property fma_dp_simd_rate [8]"
ATTAINED = "property tensor_dp_attained [0.5]"


@pytest.mark.parametrize(
    ("rates", "traits", "seconds"),
    [
        (UNITS, "tensor, dp, simd, fmad", 1 / 100),
        (UNITS + ATTAINED, "tensor, dp, simd, fmad", 1 / 50),
        (LANES, "tensor, dp, simd, fmad", 1 / 8),
        (LANES + ATTAINED, "tensor, dp, simd, fmad", 1 / 4),
        (LANES + ATTAINED, "fma, dp, simd, fmad", 1 / 8),  # what products attain says nothing of other flops
        (LANES, "tensor, dp", 1 / 8),  # a product needs no word of vectors
        (LANES + ATTAINED, "tensor, fp64", 1 / 4),
        ("", "tensor, dp", 2 / 4 / 2),
        ("", "tensor, dp, simd, fmad", 2 / 4 / 2),
    ],
)
def test_products_take_the_units_there_are(tmp_path: Path, rates: str, traits: str, seconds: float) -> None:
    (tmp_path / "m.aspen").write_text(MACHINE.replace("RATES", rates), encoding="utf-8")
    (tmp_path / "p.aspen").write_text(
        f"model p {{ kernel main {{ execute {{ flops [1e9] as {traits} }} }} }}", encoding="utf-8"
    )
    app, machine = aspenpy.load_application(tmp_path / "p.aspen"), aspenpy.load_machine(tmp_path / "m.aspen")
    prediction = aspenpy.predict(app, machine)
    assert prediction.runtime == pytest.approx(seconds, rel=1e-12)
    assert not prediction.diagnostics
