"""Warnings of `aspenpy check` about operations, held against the properties of the cores that state their rates."""

from __future__ import annotations

import pytest

import aspenpy
from aspenpy.answers.checks.applications import check_application
from aspenpy.models.library import library_names
from aspenpy.models.machine.model import Place
from aspenpy.shell.main import main
from tests.tiny import application

CLASSES = ("add", "fma", "divide", "square_root", "compare", "convert")
PRECISIONS = ("dp", "sp")


@pytest.mark.parametrize("name", library_names("machines"))
def test_a_rate_that_a_core_states_is_not_missed(name: str) -> None:
    """What a core states is not said to be missing, and `check` warns of what `eval` warns of on some socket."""
    where = aspenpy.load_machine(name)
    for each in CLASSES:
        for precision in PRECISIONS:
            app = application(f"execute {{ flops [1] as {precision}, {each} }}")
            told = {
                socket: {item.code for item in aspenpy.predict(app, where, socket=socket).diagnostics}
                for socket in where.sockets
            }
            stated = {socket for socket in told if states_rate(where.first_core(socket), each, precision)}
            assert not any("unknown-rate" in told[socket] for socket in stated), (each, precision)
            found = {item.code for item in check_application(app, where)}
            assert ("unknown-rate" in found) == any("unknown-rate" in codes for codes in told.values())


def states_rate(core: Place | None, each: str, precision: str) -> bool:
    assert core is not None
    component = core.component
    rates = (component.value(f"{each}_{precision}_rate"), component.value(f"{each}_rate"))
    known = component.value("clock") is not None and any(rate is not None for rate in rates)
    return known or each in component.resources["flops"].traits


def test_values_of_the_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "hpcg", "--machine", "h100", "--set", "ranks=4"]) == 2
    assert "4 ranks, and `h100` has places for 1" in capsys.readouterr().out
    assert main(["check", "hpcg", "--machine", "h100", "--set", "ranks=4", "--set", "h100_boards=4"]) == 0
    assert main(["check", "hpcg", "--set", "ranks=4"]) == 2
    assert "name the machine with --machine" in capsys.readouterr().err
