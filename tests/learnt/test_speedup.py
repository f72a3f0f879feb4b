"""Power-aware speedup against the numbers of Ge and Cameron (2007), which their own tables give (Tables 2, 5 and 6)."""

from __future__ import annotations

import math

import pytest

import aspenpy
from aspenpy.learn.estimators.speedup import (
    PERFECT,
    ParallelWork,
    PowerAware,
    PowerAwareSpeedup,
    find_sweet_spots,
    predicted_workload,
    relative_power,
    speedup_surface,
)

CLOCKS = (600e6, 800e6, 1000e6, 1200e6, 1400e6)
ON = dict(zip(CLOCKS, (3.65e-9, 2.74e-9, 2.19e-9, 1.83e-9, 1.56e-9), strict=True))
OFF = dict(zip(CLOCKS, (140e-9, 140e-9, 110e-9, 110e-9, 110e-9), strict=True))
VOLTS = dict(zip(CLOCKS, (0.956, 1.180, 1.308, 1.436, 1.484), strict=True))
LU = {"registers": 145e9, "l1": 175e9, "l2": 4.71e9, "memory": 3.97e9}


def lu(clock: float) -> PowerAware:
    """Counted instructions by level, each at its seconds (section 5.2, steps 1 and 2); all of it is shared evenly."""
    on_chip = math.fsum(LU[level] * ON[clock] for level in ("registers", "l1", "l2"))
    return PowerAware(clock, (ParallelWork(PERFECT, on_chip, LU["memory"] * OFF[clock]),))


def test_the_levels_are_those_of_table_5() -> None:
    total = sum(LU.values())
    on = total - LU["memory"]
    assert on / total == pytest.approx(0.98792, abs=5e-6)
    assert [LU[level] / on for level in ("registers", "l1", "l2")] == pytest.approx(
        [0.44655, 0.53894, 0.01451], abs=1e-5
    )


def test_sequential_times_of_lu() -> None:
    assert [lu(clock).time(1, clock) for clock in CLOCKS] == pytest.approx(
        [1740.99, 1445.51, 1147.81, 1030.92, 943.25], abs=0.006
    )
    shares = [lu(clock).off_chip_share for clock in CLOCKS]
    assert shares == pytest.approx([0.3192, 0.3845, 0.3805, 0.4236, 0.4630], abs=1e-4)
    base = lu(CLOCKS[0]).time(1, CLOCKS[0])
    speedups = [base / lu(clock).time(1, clock) for clock in CLOCKS]
    assert speedups == pytest.approx([1, 1.2044, 1.5168, 1.6888, 1.8457], abs=1e-4)


def test_embarrassingly_parallel() -> None:
    """Equation 12: N f/f0, 37.33 where 36.5 was measured."""
    ep = PowerAware(600e6, (ParallelWork(PERFECT, 100.0, 0.0),))
    predicted = ep.speedup(16, 1400e6, 600e6)
    assert predicted == pytest.approx(16 * 1400 / 600)
    assert predicted / 36.5 - 1 == pytest.approx(0.02283, abs=1e-5)


def test_energy_and_delay_of_ep() -> None:
    """V² f of Table 2, and what it makes of a run that only computes."""
    powers = [relative_power(VOLTS[clock], clock, VOLTS[1400e6], 1400e6) for clock in CLOCKS]
    assert powers == pytest.approx([0.1779, 0.3613, 0.5549, 0.8026, 1], abs=1e-4)
    spots = speedup_surface(PowerAware(600e6, (ParallelWork(PERFECT, 100.0, 0.0),)), [1], CLOCKS, VOLTS)
    assert [spot.energy for spot in spots] == pytest.approx([0.4150, 0.6323, 0.7769, 0.9364, 1], abs=1e-4)
    assert [spot.energy_delay for spot in spots] == pytest.approx([0.9683, 1.1065, 1.0876, 1.0924, 1], abs=1e-4)


@pytest.mark.parametrize(("processors", "parts"), [(2, 2), (3, 2), (4, 1), (8, 1)])
def test_degrees_of_parallelism_above_the_processors(processors: int, parts: int) -> None:
    """Footnote 2: four equal parts on N processors take ceil(4/N) rounds."""
    model = PowerAware(1e9, (ParallelWork(4, 8.0, 4.0),), 0.5, 0.25)
    assert model.time(processors, 2e9) == pytest.approx((8 / 2 + 4) / 4 * parts + 0.5 / 2 + 0.25)


def test_simplified_parameterisation_is_equation_18() -> None:
    alone, parallel = {600e6: 100.0, 1200e6: 60.0}, {2: 55.0, 4: 31.0}
    rows = [{"threads": 1, "core_frequency": clock, "runtime": time} for clock, time in alone.items()]
    rows += [{"threads": count, "core_frequency": 600e6, "runtime": time} for count, time in parallel.items()]
    model = PowerAwareSpeedup().fit(rows)
    asked = [{"threads": count, "core_frequency": 1200e6} for count in parallel]
    assert model.predict(asked) == pytest.approx([60 / 2 + (55 - 100 / 2), 60 / 4 + (31 - 100 / 4)])
    unmeasured = model.predict([{"threads": 1, "core_frequency": 900e6}])
    assert unmeasured == pytest.approx([20 + 80 * 600 / 900]), "equation 6 through 100 s and 60 s: 20 s are OFF-chip"


def test_an_aspen_prediction_is_split() -> None:
    prediction = aspenpy.predict(aspenpy.load_application("comd"), aspenpy.load_machine("haswell"))
    model = predicted_workload(prediction, 3.5e9)
    assert model.time(1, 3.5e9) + model.overhead_off == pytest.approx(prediction.runtime)
    memory = math.fsum(kernel.exclusive for kernel in prediction.kernels if kernel.bound_by in ("loads", "stores"))
    assert model.works[0].off == pytest.approx(memory)
    assert model.time(1, 1.75e9) == pytest.approx(2 * model.works[0].on + model.works[0].off)


def test_sweet_spots_of_measured_power() -> None:
    """Power that was not measured grows with processors as at the lowest clock: 4 processors at 2 GHz draw 80·30/10."""
    rows = [(1, 1e9, 100.0, 10.0), (1, 2e9, 50.0, 80.0), (4, 1e9, 30.0, 30.0)]
    names = ("threads", "core_frequency", "runtime", "power")
    model = PowerAwareSpeedup().fit([dict(zip(names, row, strict=True)) for row in rows])
    ((_, found),) = model.surfaces()
    here = {(spot.processors, spot.clock): spot for spot in found}
    assert here[4, 2e9].time == pytest.approx(50 / 4 + 30 - 100 / 4)
    assert here[4, 2e9].energy == pytest.approx(240 * 17.5 / (80 * 50))
    assert here[4, 1e9].energy_delay == pytest.approx(30 * 30**2 / (80 * 50**2))
    best = {aim: (spot.processors, spot.clock) for aim, spot in find_sweet_spots(found)}
    assert best == {"time": (4, 2e9), "energy": (4, 1e9), "energy-delay": (4, 1e9)}
    without = PowerAwareSpeedup().fit([dict(zip(names[:3], row[:3], strict=True)) for row in rows])
    assert find_sweet_spots(without.surfaces()[0][1]) == ()
