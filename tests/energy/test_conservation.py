"""What holds of every energy: kernels add up to the whole, components add up to it and to each kernel."""

from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import aspenpy
from aspenpy.answers.energy.account import Energy
from aspenpy.answers.energy.options import LITERAL, EnergyOptions
from tests.random_models import applications
from tests.thorough import examples
from tests.tiny import both

FEW = settings(max_examples=examples(12), phases=[Phase.explicit, Phase.reuse, Phase.generate])
"""Not shrunk: texts of this size would shrink for minutes."""

MACHINE = """
param clock = 2
param seats = 6
machine m { node [3] box  interconnect [3] port  property efficiency [0.9] }
node box { socket [2] s  static power [5 W] }
socket s { property rank  core [4] c  memory d  static power [8 W]  dynamic power [40 W]
  property constant_power [7 W]  property energy_per_flop [2 J/flop]  property energy_per_byte [3 J/B]
  property active_core_power [1 W]  property idle_power [6 W]  property sleep_power [2 W]
  property uncore_power [4 W]  property uncore_saturation [0.5]  property uncore_least [0.25]
  property power_cap [20 W] }
core c { resource flops(x) [x/clock] with simd [base/4], dp [base*2], stride(k) [base*k] }
memory d { resource loads(x) [x/3] with stride(k) [base*k]  resource stores(x) [x/3]  conflict loads, stores
  static power [1 W]  dynamic power [2 W] }
interconnect port { resource messages(x) [1 + x/7]  dynamic power [10 W] }
"""

CHARGED, NIC = ["socket", "cores_used", "machine"], st.sampled_from(["eq3.8", "single_nic", "all_nics"])
OPTIONS = st.one_of(
    st.builds(
        EnergyOptions, law=st.just("aeem"), charged=st.sampled_from(CHARGED), nic=NIC, active_cores=st.booleans()
    ),
    st.builds(EnergyOptions, law=st.just("roofline"), charged=st.sampled_from(CHARGED), nic=NIC),
    st.builds(
        EnergyOptions, law=st.just("responding"), charged=st.sampled_from([*CHARGED, "auto", "nodes_used"]), nic=NIC
    ),
)
SETTINGS = st.fixed_dictionaries({"n": st.integers(0, 6), "r": st.sampled_from([0, 1, 3])})


def close(expected: float) -> Any:
    return pytest.approx(expected, rel=1e-11, abs=1e-12)


@st.composite
def energies(draw: Any) -> Energy:
    app, machine = both(draw(applications()), MACHINE)
    found = aspenpy.predict(app, machine, overlap=draw(st.booleans()), set=draw(SETTINGS))
    return Energy(found, draw(OPTIONS))


@FEW
@given(energies())
def test_everything_adds_up(energy: Energy) -> None:
    assert sum(kernel.energy for kernel in energy.kernels) == close(energy.value)
    assert sum(energy.components.values()) == close(energy.value)
    assert sum(use.energy for use in energy.terms) == close(energy.value)
    for use in energy.terms:
        assert sum(kernel.by_term.get(use.key, 0.0) for kernel in energy.kernels) == close(use.energy)
        if use.rate is not None and use.amount is not None:
            assert use.rate * use.amount == close(use.energy)
    for kernel in energy.kernels:
        assert sum(kernel.by_term.values()) == close(kernel.energy)
        if kernel.per_call is not None:
            assert kernel.calls * kernel.per_call == close(kernel.energy)


@FEW
@given(energies())
def test_idle_power_is_a_floor(energy: Energy) -> None:
    elapsed = sum(
        use.rate * use.amount for use in energy.terms if use.term and use.term.elapsed if use.rate and use.amount
    )
    assert energy.value >= elapsed * (1 - 1e-12)
    if energy.options.law == "aeem" and energy.options.charged == "socket" and not energy.options.active_cores:
        assert elapsed == close((8 + 1) * energy.runtime)


@FEW
@given(applications(), SETTINGS)
def test_twice_the_watts_are_twice_the_energy(app_text: str, changes: dict[str, float]) -> None:
    doubled = MACHINE
    for watts in ("5", "8", "40", "1", "2", "10"):
        doubled = doubled.replace(f"power [{watts} W]", f"power [2*{watts} W]")
    once, twice = (
        Energy(aspenpy.predict(*both(app_text, machine), set=changes), LITERAL).value for machine in (MACHINE, doubled)
    )
    assert twice == close(2 * once)
