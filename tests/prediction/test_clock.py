"""The clock of one core that works alone: machines state that of all cores, and what one may have."""

import pytest

import aspenpy
from aspenpy.answers.prediction import RaisedClock

MACHINE = """
param c_clock = 2 GHz in 1 GHz .. 3.5 GHz
machine m { node n }
node n { socket s }
socket s { core [CORES] c }
core c { property clock [c_clock]  property issue [1 flop]  resource flops(number) [number/(clock*issue)] }
"""


@pytest.mark.parametrize(
    ("cores", "instances", "settings", "told"),
    [("4", "1", {}, True), ("1", "1", {}, False), ("4", "3", {}, False), ("4", "1", {"c_clock": "3 GHz"}, False)],
)
def test_one_core_alone_may_have_a_higher_clock(
    cores: str, instances: str, settings: dict[str, str], told: bool
) -> None:
    app = aspenpy.parse(f"model a {{ kernel main {{ execute [{instances}] {{ flops [1e9] }} }} }}")
    machine = aspenpy.parse(MACHINE.replace("CORES", cores))
    found = aspenpy.predict(app, machine, set=settings)
    assert found.raised_clock == (RaisedClock(parameter="c_clock", now=2e9, highest=3.5e9) if told else None)
    assert ("one alone may have up to 3.5 GHz: --set c_clock=3.5e+09" in str(found)) is told
