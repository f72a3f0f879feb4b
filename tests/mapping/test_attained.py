"""`attained(part)`: a requirement that attains a part of its usual rate takes as much longer, and counts the same."""

import pytest

import aspenpy
from aspenpy.language.diagnostics import AspenError

TEXT = """
model attained {{
  param part = 0.25 in 0.01 .. 1
  data x [8e6]
  kernel main {{ execute {{ {requirement} }} }}
}}
"""


def seconds(requirement: str, machine: str = "h100", **values: float) -> float:
    app = aspenpy.parse(TEXT.format(requirement=requirement))
    assert isinstance(app, aspenpy.Application)
    return aspenpy.predict(app, aspenpy.load_machine(machine), set=values).runtime


@pytest.mark.parametrize("machine", ["h100", "epyc_9654"])
@pytest.mark.parametrize("traits", ["tensor, fp16, simd, fmad", "dp, simd", "add, sp"])
def test_flops_take_longer(machine: str, traits: str) -> None:
    whole = seconds(f"flops [1e15] as {traits}", machine)
    for part in (0.25, 0.5):
        slower = seconds(f"flops [1e15] as {traits}, attained(part)", machine, part=part)
        assert slower == pytest.approx(whole / part, rel=1e-5)  # a launch of microseconds beside it


def test_it_counts_the_same() -> None:
    app = aspenpy.parse(TEXT.format(requirement="flops [1e15] as dp, attained(part)"))
    assert isinstance(app, aspenpy.Application)
    assert float(aspenpy.count(app, "flops")) == 1e15


def test_it_needs_its_part() -> None:
    with pytest.raises(AspenError, match="the trait `attained` of `flops` needs an argument"):
        seconds("flops [1e15] as dp, attained")
