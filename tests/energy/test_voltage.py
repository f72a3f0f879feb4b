"""Voltage over the clock: joules that stop falling at its floor, memory that cores cannot keep busy at low clocks, and
boards of the library whose best clock is not their lowest."""

from pathlib import Path

import pytest

import aspenpy
from aspenpy import AspenError
from aspenpy.answers.checks.machines import check_machine
from aspenpy.answers.energy.account import predict_energy
from aspenpy.answers.energy.optimum import optimum
from aspenpy.answers.energy.voltage import voltage_of
from tests.tiny import application, both

BOARD = """
param speed = 2 GHz in 0.5 GHz .. 2 GHz
machine m { socket s }
socket s {
  core c  memory d
  property idle_power [10 W]
  property voltage [0.5 + 0.5*max(0, speed/(1 GHz) - 1)]
  property voltage_curve [published]
  property bandwidth_share [min(1, speed/(1 GHz))]
  property energy_per_flop [8 nJ/flop*voltage^2]
  property energy_per_byte [1 nJ/B]
}
core c { property clock [speed]  resource flops(x) [x/(clock*1 flop)] }
memory d { property attained_bandwidth [4 GB/s]  resource loads(x) [x/attained_bandwidth] }
"""
FLOPS = "model a { kernel main { execute { flops [2*giga] } } }"
LOADS = "model a { kernel main { execute { loads [4*giga] } } }"


@pytest.mark.parametrize(
    ("clock", "joules", "seconds"),
    [  # 10 W and 2 Gflop of 8 nJ V^2: V is 0.5 up to 1 GHz and 1 at 2 GHz
        (2, 10 + 16, 1),
        (1.5, 10 / 0.75 + 16 * 0.75**2, 1 / 0.75),
        (1, 20 + 4, 2),
        (0.5, 40 + 4, 4),
    ],
)
def test_flops_at_the_square_of_the_voltage(clock: float, joules: float, seconds: float) -> None:
    found = aspenpy.predict(*both(FLOPS, BOARD), set={"speed": clock * 1e9})
    assert float(found.runtime) == pytest.approx(seconds)
    assert predict_energy(*both(FLOPS, BOARD), set={"speed": clock * 1e9}).value == pytest.approx(joules)


@pytest.mark.parametrize(("clock", "seconds"), [(2, 1), (1, 1), (0.5, 2)])
def test_memory_waits_for_slow_cores(clock: float, seconds: float) -> None:
    found = aspenpy.predict(*both(LOADS, BOARD), set={"speed": clock * 1e9})
    assert float(found.runtime) == pytest.approx(seconds)


def test_memory_inside_a_part_of_the_socket() -> None:
    inside = BOARD.replace("core c  memory d", "core c  die [2] half").replace(
        "core c {", "die half { memory d }\ncore c {"
    )
    found = aspenpy.predict(*both(LOADS, inside), set={"speed": 0.5e9})
    assert float(found.runtime) == pytest.approx(2)


@pytest.mark.parametrize(("body", "clock"), [(FLOPS, 2.5 ** (1 / 3) * 1e9), (LOADS, 1e9)])
def test_least_at_the_floor(body: str, clock: float) -> None:
    """Below 1 GHz constant power is paid for longer, and nothing takes less. Of flops E = 20 J/f + 4 J f^2 above, with
    f in GHz: -20/f^2 + 8 f = 0."""
    assert optimum(aspenpy.predict(*both(body, BOARD)), "speed", 5 * 10**8, 2 * 10**9).at == pytest.approx(
        clock, rel=0.02
    )


def test_voltage_at_a_clock() -> None:
    found = aspenpy.predict(*both(FLOPS, BOARD))
    at, low = voltage_of(found), voltage_of(found, 0.7e9)
    assert at is not None
    assert low is not None
    assert (at.value, at.floor, at.is_floor, at.curve) == (1, 0.5, False, "published")
    assert (low.value, low.is_floor) == (0.5, True)
    assert voltage_of(aspenpy.predict(aspenpy.load_application("stream"), aspenpy.load_machine("bluegene_q"))) is None


def test_an_unknown_curve_is_refused() -> None:
    found = aspenpy.predict(*both(FLOPS, BOARD.replace("published", "guessed")))
    with pytest.raises(AspenError, match="unknown voltage_curve `guessed`"):
        voltage_of(found)


def test_the_check_of_a_machine_names_an_unknown_curve(tmp_path: Path) -> None:
    file = tmp_path / "board.aspen"
    file.write_text(BOARD.replace("published", "guessed"), encoding="utf-8")
    found = check_machine(aspenpy.load_machine(str(file)))
    assert [item.code for item in found if item.code.startswith("unknown-voltage")] == ["unknown-voltage_curve"]


def test_more_than_all_of_the_bandwidth_is_refused() -> None:
    with pytest.raises(AspenError, match="a part of the bandwidth of 2 is not above 0 and at most 1"):
        _ = aspenpy.predict(*both(LOADS, BOARD.replace("min(1, speed/(1 GHz))", "speed/(1 GHz)"))).runtime


def test_a_memory_without_bandwidth_is_refused() -> None:
    with pytest.raises(AspenError, match="states a `bandwidth_share`, and the memory no `attained_bandwidth`"):
        aspenpy.predict(
            *both(
                LOADS,
                BOARD.replace(
                    "property attained_bandwidth [4 GB/s]  resource loads(x) [x/attained_bandwidth]",
                    "resource loads(x) [x/(4 GB/s)]",
                ),
            )
        )


MACHINES = {
    "v100": "v100_clock", "a100_80gb": "a100_80gb_clock", "h100": "h100_clock", "mi250x": "mi250x_clock",
    "mi300x": "mi300x_clock", "xeon_platinum_8470": "platinum_8470_clock",
    "grace": "grace_clock",
}  # fmt: skip


@pytest.mark.parametrize(("name", "clock"), MACHINES.items())
@pytest.mark.parametrize("work", ["flops [64e9] as sp, simd, fmad", "loads [64e9]"])
def test_the_lowest_clock_is_not_the_best(name: str, clock: str, work: str) -> None:
    machine = aspenpy.load_machine(name)
    declared = next(each for each in machine.parameters if each.name == clock)
    low, high = (float(end.payload) for end in (declared.low, declared.high) if end is not None)
    found = aspenpy.predict(application(f"execute [1000] {{ {work} }}"), machine)
    best = optimum(found, clock, low, high)
    assert best.at > low * 1.02
    assert best.value < best.value_low * 0.999
