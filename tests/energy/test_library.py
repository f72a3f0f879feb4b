"""The library's machines declare enough: an energy on every socket, by each model and whoever is charged."""

import pytest

import aspenpy
from aspenpy.answers.energy.account import Energy
from aspenpy.answers.energy.options import EnergyOptions
from aspenpy.models.library import library_names
from tests.machines import machine_of_library

POWERLESS = {"cachegrind"}
"""Machines that stand for no hardware and draw nothing."""

LITERAL_ONLY = {
    "ibm_bluegene_q", "intel_pentium_m", "intel_xeon_x5660", "intel_xeon_x5670", "nvidia_m2070", "nvidia_m2090",
    "intel_xeon_e5_2620_as_modelled", "intel_xeon_e5_2637_as_modelled", "nvidia_k20c_as_modelled", "simple_socket",
    "discrete_multicore", "discrete_accelerator", "heterogeneous_wide", "heterogeneous_narrow", "exascale_chip",
    "integrated_multicore", "integrated_accelerator",
}  # fmt: skip
"""Before 2012, of the dissertation's tables, or of no hardware."""


def test_a_simulator_has_no_energy() -> None:
    found = aspenpy.predict(aspenpy.load_application("matmul"), aspenpy.load_machine("cachegrind"))
    with pytest.raises(aspenpy.AspenError, match="socket `simulated_socket` declares no static power"):
        Energy(found)


@pytest.mark.parametrize("name", sorted({*library_names("machines")} - POWERLESS))
def test_every_socket_has_an_energy(name: str) -> None:
    app, machine = aspenpy.load_application("matmul"), aspenpy.load_machine(name)
    for socket in machine.sockets:
        found = aspenpy.predict(app, machine, socket=socket)
        one, used, everything = (
            Energy(found, EnergyOptions(law="aeem", charged=charged)).value  # type: ignore[arg-type]
            for charged in ("socket", "cores_used", "machine")
        )
        assert 0 < used <= one * (1 + 1e-12)  # on one core: the socket's dynamic power, or a part of it
        assert used <= everything * (1 + 1e-12)
        default = Energy(found)
        assert default.options.law == ("aeem" if socket in LITERAL_ONLY else "responding")
        if socket in LITERAL_ONLY:
            continue
        assert Energy(found, EnergyOptions(active_cores=True)).value >= one
        partners = Energy(found, EnergyOptions(charged="nodes_used")).value
        assert default.value <= partners * (1 + 1e-12)
        if "uncore_power" in machine.components[socket].properties:
            assert Energy(found, EnergyOptions(uncore=True)).value > one


PROCESSORS = {
    socket: name
    for name in library_names("machines")
    for machine in [machine_of_library(name)]
    for socket in machine.sockets
    if "uncore_power" in machine.components[socket].properties
}
MEASURED = {"intel_xeon_platinum_8470", "intel_xeon_platinum_8480plus", "ibm_power9"}
"""Processors whose watts are fitted to runs, and the one that has them of another."""

PRODUCT = aspenpy.parse(
    """model product {
      param n = 4096
      data A as Matrix(n, n, 8)
      kernel main { execute [n^2] { flops [2*n] as dp, simd, fmad  loads [16*n/128] from A  stores [8] to A } }
    }"""
)


@pytest.mark.parametrize("socket", sorted(PROCESSORS))
def test_no_code_of_a_processor_at_its_base_clock_needs_more_than_its_cap(socket: str) -> None:
    """Packages are taken to draw less than their thermal design power under STREAM, and all of it in a product of
    matrices. A64FX and KNL have memory in the package."""
    machine = aspenpy.load_machine(PROCESSORS[socket])
    stream = aspenpy.predict(aspenpy.load_application("stream"), machine, socket=socket, kernel="triad")
    product = aspenpy.predict(PRODUCT, machine, socket=socket)
    assert not stream.cap_warnings
    assert not product.cap_warnings
    highest = 1 if socket in MEASURED else 0.9
    assert 0.7 <= package_share(stream, socket) <= highest
    assert 0.78 <= package_share(product, socket) <= 1


def package_share(found: aspenpy.Prediction, socket: str) -> float:
    """The watts of a socket at work, as a part of its cap."""
    energy = Energy(found)
    joules = sum(use.energy for use in energy.terms if use.key.component == socket)
    idle = next(use for use in energy.terms if use.key.component == socket and use.key.cause == "idle")
    cap = found.machine.components[socket].properties["power_cap"]
    return joules / idle.amount / float(found.scope.values([cap.value])[0])


def test_messages_cost_on_every_system() -> None:
    app = aspenpy.load_application("comd")
    for name in ("haswell", "keeneland", "fugaku", "frontier", "cori_knl"):
        machine = aspenpy.load_machine(name)
        energy = Energy(aspenpy.predict(app, machine, socket=machine.sockets[0]))
        assert sum(use.energy for use in energy.terms if use.key.cause == "messages") > 0
