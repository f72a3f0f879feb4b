"""Equation 3.8 in its three readings, on table 3.5's expressions: Umar, dissertation 2018, figures 3.14 and 3.15."""

import math

import pytest

from aspenpy.answers.energy.account import predict_energy
from aspenpy.answers.energy.options import EnergyOptions, NicMode
from tests.tiny import both

VOLUME = 2**48 * 16
"""Bytes: n^3 complex doubles with n = 2^16."""

LINK, WATTS = 4e9, 9.69
"""Bytes a second of QDR InfiniBand, and what an adapter draws (table 3.4)."""

EXCHANGE = "model exchange {{ kernel main {{ execute {{ messages [{volume}] }} }} }}"
NETWORK = """
param P = {processors}
machine net {{ interconnect [P] port }}
interconnect port {{
  property bandwidth [4 GB/s]
  resource messages(volume) [volume/({links}*bandwidth)]
  dynamic power [9.69 W]
}}
"""
LINKS = {"torus": "(2*P^(2/3))", "mesh": "P^(2/3)", "hypercube": "(P/2)"}

SECONDS = {
    (1_000, "torus"): 5629.500, (1_000, "mesh"): 11258.999, (1_000, "hypercube"): 2251.800,
    (10_000, "torus"): 1212.839, (10_000, "mesh"): 2425.678, (10_000, "hypercube"): 225.180,
    (100_000, "torus"): 261.298, (100_000, "mesh"): 522.596, (100_000, "hypercube"): 22.518,
}  # fmt: skip
"""Worked out by hand from the expressions of table 3.5."""

SINGLE = {
    (1_000, "torus"): 54549.9, (1_000, "mesh"): 109099.7, (1_000, "hypercube"): 21819.9,
    (10_000, "torus"): 11752.4, (10_000, "mesh"): 23504.8, (10_000, "hypercube"): 2182.0,
    (100_000, "torus"): 2532.0, (100_000, "mesh"): 5064.0, (100_000, "hypercube"): 218.2,
}  # fmt: skip
"""9.69 W in that time."""


def joules(topology: str, processors: int, mode: NicMode) -> tuple[float, float]:
    machine = NETWORK.format(processors=processors, links=LINKS[topology])
    found = predict_energy(*both(EXCHANGE.format(volume=VOLUME), machine), options=EnergyOptions(nic=mode))
    return found.runtime, found.value


@pytest.mark.parametrize(("processors", "topology"), SECONDS)
def test_figures(processors: int, topology: str) -> None:
    seconds, single = joules(topology, processors, "single_nic")
    assert seconds == pytest.approx(SECONDS[processors, topology], abs=5e-4)
    assert single == pytest.approx(SINGLE[processors, topology], abs=0.051)
    assert joules(topology, processors, "all_nics")[1] == pytest.approx(processors * single, rel=1e-12)
    assert joules(topology, processors, "eq3.8")[1] == pytest.approx(VOLUME / LINK * WATTS, rel=1e-14)


def test_scaling() -> None:
    # By the letter of equation 3.8 nothing changes with P; one adapter's energy falls; that of all adapters rises on
    # torus and mesh by P^(1/3) and stays on the hypercube.
    _, few = joules("torus", 1_000, "all_nics")
    _, many = joules("torus", 8_000, "all_nics")
    assert many / few == pytest.approx(2, rel=1e-12)
    assert joules("hypercube", 8_000, "all_nics")[1] == pytest.approx(joules("hypercube", 1_000, "all_nics")[1])
    assert math.isclose(joules("mesh", 10**4, "single_nic")[1], 2 * joules("torus", 10**4, "single_nic")[1])


LATENCY = """
machine net { interconnect [4] port }
interconnect port { resource messages(volume) [1 + volume/2]  dynamic power [10 W] }
"""


@pytest.mark.parametrize(("mode", "joule"), [("eq3.8", 8 * 6 / 2 * 10), ("single_nic", 2 * 4 * 10), ("all_nics", 320)])
def test_many_messages(mode: NicMode, joule: float) -> None:
    # Eight messages of six bytes on four adapters: two rounds of 1 + 6/2 seconds. No bandwidth is declared, so that
    # equation 3.8 takes that of the straight line.
    app, machine = both("model a { kernel main { execute [8] { messages [6] } } }", LATENCY)
    assert predict_energy(app, machine, options=EnergyOptions(nic=mode)).value == pytest.approx(joule)
