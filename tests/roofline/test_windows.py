"""Kernels whose cycles are those of a compiled loop have their points: flops over bytes, and flops over their time."""

import pytest

import aspenpy

APP = """model app {
  param n = 1e6
  data a as Array(n, 8)
  kernel work {
    execute {
      flops [n] as add, dp
      chain [3*n] as window, znver5
      loads [n] of size [8] from a as stream
    }
  }
  kernel main { call work }
}"""


@pytest.mark.parametrize("machine", ["epyc_9755", "epyc_9654"], ids=["its own processor", "another"])
def test_a_kernel_with_cycles_of_a_compiled_loop(machine):
    app, known = aspenpy.parse(APP), aspenpy.load_machine(machine)
    (work,) = [point for point in aspenpy.roofline(known, [app]).points if point.kernel == "work"]
    assert (work.flops, work.volume, work.intensity) == (1e6, 8e6, 1 / 8)
    assert work.predicted == pytest.approx(1e6 / aspenpy.predict(app, known).runtime, rel=1e-12)
    assert work.predicted <= work.attainable * (1 + 1e-12)
