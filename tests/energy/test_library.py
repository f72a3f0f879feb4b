"""The library's machines declare enough: an energy on every socket, whoever is charged, and sensible limits to it."""

import pytest

import aspenpy
from aspenpy.answers.energy.account import Energy
from aspenpy.answers.energy.options import CHOICES, EnergyOptions
from aspenpy.models.library import names

POWERLESS = {"cachegrind"}
"""Machines that stand for no hardware and draw nothing."""


def test_a_simulator_has_no_energy() -> None:
    found = aspenpy.predict(aspenpy.load_application("matmul"), aspenpy.load_machine("cachegrind"))
    with pytest.raises(aspenpy.AspenError, match="socket `simulated_socket` declares no static power"):
        Energy(found)


@pytest.mark.parametrize("name", sorted({*names("machines")} - POWERLESS))
def test_every_socket_has_an_energy(name: str) -> None:
    app, machine = aspenpy.load_application("matmul"), aspenpy.load_machine(name)
    for socket in machine.sockets:
        found = aspenpy.predict(app, machine, socket=socket)
        by_charge = [Energy(found, EnergyOptions(charged=charged)).value for charged in CHOICES["charged"]]  # type: ignore[arg-type]
        one, used, everything = by_charge
        assert 0 < used <= one * (1 + 1e-12)  # on one core: the socket's dynamic power, or a part of it
        assert used <= everything * (1 + 1e-12)


def test_messages_cost_on_every_system() -> None:
    app = aspenpy.load_application("comd")
    for name in ("haswell", "keeneland", "fugaku", "frontier", "cori_knl"):
        machine = aspenpy.load_machine(name)
        energy = Energy(aspenpy.predict(app, machine, socket=machine.sockets[0]))
        assert sum(use.energy for use in energy.terms if use.key.cause == "messages") > 0
