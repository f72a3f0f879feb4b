"""Cycles of compiled loops on the core that they are of, and on others."""

import pytest

import aspenpy
from aspenpy.models.library import parse

APPLICATION = """
model loop {
  param n = 1000
  kernel main {
    execute {
      flops [n] as add, dp
      chain [n] as add
      intops [4*n]
      chain [1.5*n] as window, znver4
      DIVISIONS
    }
  }
}
"""

MACHINE = """
machine m { node n }
node n { socket [1] s }
socket s { core [1] c }
core c {
  MODEL
  property clock [1 GHz]
  property issue [1]
  property add_dp_rate [2]
  property divide_dp_rate [1/5]
  resource flops(number) [number/(clock*issue)] with dp [base], sp [base/2]
  resource intops(number) [number/(clock*4)]
  resource chain(number) [number/clock] with add [base*3]
}
"""


def seconds(model: str, divisions: str = "") -> float:
    application = parse(APPLICATION.replace("DIVISIONS", divisions))
    return float(aspenpy.predict(application, parse(MACHINE.replace("MODEL", model))).runtime)


def test_the_named_core_takes_the_cycles_in_place_of_operations() -> None:
    assert seconds("property scheduling_model [znver4]") == pytest.approx(1.5e-6, rel=1e-12)


@pytest.mark.parametrize("model", ["", "property scheduling_model [haswell]"])
def test_another_core_takes_the_operations(model: str) -> None:
    assert seconds(model) == pytest.approx(3e-6, rel=1e-12)  # the chain: three cycles an addition


def test_divisions_count_by_the_rate_of_the_divider() -> None:
    found = seconds("property scheduling_model [znver4]", "flops [n] as divide, dp")
    assert found == pytest.approx(5e-6, rel=1e-12)
