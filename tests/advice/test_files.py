"""Files: the share of I/O is that of the prediction, and the energy of servers is counted where it is stated."""

from __future__ import annotations

import pytest

import aspenpy
from aspenpy.advice.classification import Classified
from aspenpy.answers.case import Case
from aspenpy.answers.energy.account import Energy
from aspenpy.models.application.total import Exclusive
from aspenpy.models.library import load_application, load_machine

MACHINE = """
machine cluster {{ node [8] one  file_system [4] scratch }}
node one {{ socket [1] processor }}
socket processor {{ core [16] unit  memory store
  property idle_power [50 W]  property active_core_power [5 W] }}
core unit {{ resource flops(number) [number/(1e9)] }}
memory store {{ resource loads(volume) [volume/(10e9)]  resource stores(volume) [volume/(10e9)] }}
file_system scratch {{
  {power}
  property latency [10 ms]
  resource read(volume) [latency + volume/(2 GB/s)]
  resource write(volume) [latency + volume/(1 GB/s)]
}}
"""
APPLICATION = """model checkpoints {
  kernel compute { execute [16] { flops [1e9] } }
  kernel save { execute [8] { write [1 GB] } }
  kernel main { call compute()  call save() }
}"""
"""Eight files on four servers: two turns of 10 ms + 1 s. The cores compute for one second. Instances are dealt out
to all eight sockets."""


def classified(power: str) -> Classified:
    application, machine = aspenpy.parse(APPLICATION), aspenpy.parse(MACHINE.format(power=power))
    assert isinstance(application, aspenpy.Application)
    assert isinstance(machine, aspenpy.Machine)
    return Classified(Case(application, machine))


def part(found: Classified, bound: str, of: str = "time") -> float:
    return sum(getattr(item, of) or 0.0 for item in found.classifications[0].shares if item.bound == bound)


def test_the_share_of_files_is_that_of_the_prediction() -> None:
    found = classified("")
    assert part(found, "I/O") == pytest.approx(2.02 / 3.02)
    assert part(found, "latency") == 0
    assert found.prediction.bottleneck is not None
    assert found.prediction.bottleneck.share == pytest.approx(part(found, "I/O"))


def test_the_share_of_checkpoints_of_the_library_agrees() -> None:
    """What `write_checkpoint` takes of the run, its files' latencies with it."""
    case = Case(load_application("jacobi_checkpoint"), load_machine("frontera"))
    found = Classified(case)
    saving = found.prediction.totals[Exclusive("write_checkpoint")]
    assert part(found, "I/O") == pytest.approx(saving / found.prediction.runtime)


@pytest.mark.parametrize(
    ("power", "joules", "left_out"),
    [
        ("", 0.0, ("scratch",)),
        ("dynamic power [20 W]", 20 * 8 * 1.01, ()),  # eight files keep a server busy for 1.01 s each
        ("static power [30 W]  dynamic power [20 W]", 20 * 8 * 1.01, ("scratch",)),
    ],
)
def test_servers_of_files_consume_what_is_stated(power: str, joules: float, left_out: tuple[str, ...]) -> None:
    found = classified(power)
    energy = Energy(found.prediction)
    assert energy.components.get("scratch", 0.0) == pytest.approx(joules)
    assert energy.value == pytest.approx(joules + 8 * 50 * 3.02 + 5 * (16 * 1 + 8 * 2.02))
    assert found.unpowered == left_out
    rest = energy.value - joules
    of_files = joules + (rest - 8 * 50 * 1 - 5 * 16)  # what goes with the time counts for what limits the time
    assert part(found, "I/O", "energy") == pytest.approx(of_files / energy.value)
