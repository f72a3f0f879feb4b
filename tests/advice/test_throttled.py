"""Restrictions piece by piece and noise: against arithmetic by hand, a search of clocks, and samples of numpy's own."""

from __future__ import annotations

import numpy
import pytest

from aspenpy.advice.throttled import Throttled
from aspenpy.answers.case import Case
from aspenpy.answers.energy.account import predict_energy
from aspenpy.answers.prediction import predict
from aspenpy.models.library import load_application, load_machine, parse

FLOPS, BYTES, CLOCK, RATE = 4e9, 32e9, 2e9, 64e9
APPLICATION = f"""model work {{
  kernel main {{
    execute [1] {{ flops [{FLOPS}] }}
    execute [1] {{ loads [{BYTES}] }}
  }}
}}"""
MACHINE = f"""param rate = {CLOCK} Hz in 1 GHz .. 4 GHz
machine box {{ node box_node }}
node box_node {{ socket [1] chip }}
socket chip {{ core [4] unit memory ram static power [10 W] dynamic power [40 W] }}
core unit {{ property clock [rate] property issue [1 flop] resource flops(x) [x/(clock*issue)] }}
memory ram {{
  property bandwidth [{RATE} B/s]
  resource loads(x) [x/bandwidth]
  static power [1 W]
  dynamic power [2 W]
}}"""


def seconds(clock: float = 1.0, rate: float = 1.0) -> float:
    """With these parts left: flops over the clock, then bytes over the bandwidth."""
    return FLOPS / (CLOCK * clock) + BYTES / (RATE * rate)


def test_pieces_by_hand() -> None:
    """Idle power all of the time, that of the chip with flops, that of the memory with bytes."""
    throttled = Throttled(Case(parse(APPLICATION), parse(MACHINE)), pieces=4)
    found = {item.component: item for item in throttled.restrictions}
    assert set(found) == {"clock", "memory_bandwidth"}
    for component, item in found.items():
        name = {"clock": "clock", "memory_bandwidth": "rate"}[component]
        assert item.parts == (1, 0.75, 0.5, 0.25)
        assert item.runtimes == pytest.approx([seconds(**{name: part}) for part in item.parts])
        assert item.losses == pytest.approx([seconds(**{name: part}) / seconds() for part in item.parts])
        joules = [
            11 * seconds(**{name: part})
            + 40 * FLOPS / (CLOCK * (part if name == "clock" else 1))
            + 2 * BYTES / (RATE * (part if name == "rate" else 1))
            for part in item.parts
        ]
        assert item.energies == pytest.approx(joules)


def test_what_is_below_the_declared_range_is_said() -> None:
    """2 GHz in 1 .. 4 GHz: at half of it the clock is the lowest, at a quarter below it."""
    case = Case(parse(APPLICATION), parse(MACHINE))
    said = "Extrapolated, below the lowest that the machine declares: clock below 1 GHz."
    for pieces, expected in ((2, False), (4, True)):
        assert (said in "\n".join(map(str, Throttled(case, pieces=pieces).report().parts))) == expected


def test_noise_against_samples_by_numpy() -> None:
    """Each loses the size of a normal draw: mean and quantiles of a million samples, within four standard errors of a
    thousand."""
    throttled = Throttled(Case(parse(APPLICATION), parse(MACHINE)), noise=0.1)
    draws = numpy.abs(numpy.random.default_rng(1).standard_normal((2, 10**6))) * 0.1
    every = FLOPS / (CLOCK * (1 - draws[0])) + BYTES / (RATE * (1 - draws[1]))
    runtime, energy = throttled.noisy
    assert runtime.stated == pytest.approx(seconds())
    assert abs(runtime.mean - every.mean()) < 4 * every.std() / runtime.count**0.5
    for found, part in ((runtime.low, 0.025), (runtime.high, 0.975)):
        # the standard error of a quantile by the density there, from the distance of two quantiles beside it
        density = 0.02 / float(numpy.diff(numpy.quantile(every, (part - 0.01, part + 0.01)))[0])
        assert abs(found - numpy.quantile(every, part)) < 4 * (part * (1 - part) / runtime.count) ** 0.5 / density
    assert energy is not None
    assert energy.low > energy.stated


def test_caps_of_power_against_a_search_of_clocks() -> None:
    """At each cap the highest clock, to a MHz, at which no kernel of a run draws more in its socket."""
    case = Case(
        load_application("montecarlo"), load_machine("haswell"), set={"haswell_nodes": 1, "ranks": 8}, ranks_on="core"
    )
    power = Throttled(case, pieces=20).restrictions[-1]
    assert power.component == "power"

    def watts(clock: float) -> float:
        found = predict_energy(case.with_set({"haswell_clock": clock}))
        own = "intel_xeon_haswell"
        chip = [
            (it.time, [joules for key, joules in it.by_term.items() if key.component == own]) for it in found.kernels
        ]
        return max(sum(joules) / time for time, joules in chip if time)

    assert power.values[0] == pytest.approx(watts(3.5e9))
    for part, cap, runtime in list(zip(power.parts, power.values, power.runtimes, strict=True))[1:3]:
        low, high = 1.2e9, 3.5e9
        while high - low > 1e6:
            middle = (low + high) / 2
            low, high = (middle, high) if watts(middle) <= cap else (low, middle)
        assert cap == pytest.approx(part * watts(3.5e9))
        assert runtime == pytest.approx(predict(case.with_set({"haswell_clock": low})).runtime, rel=1e-3)


def test_restrictions_of_what_is_set() -> None:
    case = Case(parse(APPLICATION), parse(MACHINE), set={"rate": 4e9})
    item = next(item for item in Throttled(case, pieces=2).restrictions if item.component == "clock")
    assert item.values == (4e9, 2e9)
    assert item.runtimes == pytest.approx((seconds(2), seconds(1)))
