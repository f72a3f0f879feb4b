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


WAITING = """
machine m { node n }
node n { socket [1] s }
socket s { core [1] c  cache [1] outer  memory [1] dram }
core c {
  property scheduling_model [znver4]
  property clock [1 GHz]
  property issue [1]
  property load_latency [4]
  property mispredict_penalty [20]
  resource flops(number) [number/(clock*issue)] with dp [base]
  resource chain(number) [number/clock] with load [base*load_latency]
  resource branches(number) [number/clock] with mispredicted(rate) [base*rate*mispredict_penalty]
  conflict flops, branches
  cache inner
}
cache inner { property capacity [32 KiB] property associativity [8] property cacheline [64 B] property latency [4 ns] }
cache outer { property capacity [32 MiB] property associativity [16] property cacheline [64 B]
  property latency [14 ns] property bandwidth [1000 GB/s] }
memory dram { property latency [100 ns] property attained_bandwidth [1000 GB/s]
  resource loads(volume) [volume/attained_bandwidth] }
"""


def wait(*requirements: str) -> float:
    """Nanoseconds of a block with 1,500 cycles, a load of each of whose 1,000 passes waits for the one before."""
    block = " ".join(["chain [1500] as window, znver4", *requirements])
    text = f"model w {{ data a [64 KiB] data b [16 MiB] kernel main {{ execute {{ {block} }} }} }}"
    return 1e9 * float(aspenpy.predict(parse(text), parse(WAITING)).runtime)


def test_wrong_guesses_add_to_the_cycles() -> None:
    assert wait("branches [100] as mispredicted(1)") == pytest.approx(1500 + 100 * 20, rel=1e-9)


def test_loads_that_are_waited_for_add_what_the_first_cache_does_not_hold() -> None:
    """Half of a table of 64 KiB is in 32 KiB: the others take 10 cycles more than those in the window. Of the two parts
    of the loads from `a` the second, of 32 times the size, finds 1/64 of its lines there."""
    near = "loads [1000] of size [8] from a as gather(64 KiB), warm"
    far = "loads [1000] of size [8] from a as gather(64*32 KiB), warm"
    waiting = "chain [1000] from a as load"
    assert wait(near, waiting) == pytest.approx(1500 + 1000 * 0.5 * 10, rel=0.05)
    assert wait(far, waiting) == pytest.approx(1500 + 1000 * 63 / 64 * 10, rel=0.05)
    both = wait(near.replace("1000", "500"), far.replace("1000", "500"), waiting)
    assert both == pytest.approx(1500 + 1000 * (0.5 + 63 / 64) / 2 * 10, rel=0.1)
