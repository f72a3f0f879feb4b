"""Power-aware speedup: how runtime and speedup go with processors and clock (Ge, Cameron, IPDPS 2007)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from aspenpy.answers.prediction import Prediction
from aspenpy.record import Record


class Work(Record):
    """Workload that so many processors can share (the degree of parallelism): seconds on one processor that go with the
    core clock (ON-chip), at the clock of the model, and seconds that do not (OFF-chip)."""

    degree: float
    on: float
    off: float


class PowerAware(Record):
    """A workload at a core clock (Hz), by degrees of parallelism, and the overhead of running in parallel, in seconds
    ON and OFF the chip."""

    clock: float
    works: tuple[Work, ...]
    overhead_on: float = 0.0
    overhead_off: float = 0.0

    @property
    def off_chip_share(self) -> float:
        """Of the sequential runtime at the clock of the model (equation 6)."""
        return math.fsum(work.off for work in self.works) / self.time(1, self.clock)

    def time(self, processors: int, clock: float) -> float:
        """Seconds (equations 6 and 9). A degree of parallelism above the processors is served in rounds (footnote 2,
        which is about equation 7)."""
        ratio = self.clock / clock
        if processors == 1:
            return math.fsum(work.on * ratio + work.off for work in self.works)
        shared = [(work, _sharing(work.degree, processors)) for work in self.works]
        parallel = math.fsum((work.on * ratio + work.off) / share for work, share in shared)
        return parallel + self.overhead_on * ratio + self.overhead_off

    def speedup(self, processors: int, clock: float, base_clock: float) -> float:
        """Over one processor at the lowest clock (equation 10, D17)."""
        return self.time(1, base_clock) / self.time(processors, clock)


def _sharing(degree: float, processors: int) -> float:
    """Processors that work on it on average: i parts are done in ceil(i/N) rounds."""
    if math.isinf(degree):
        return processors
    return degree / math.ceil(degree / processors)


PERFECT = math.inf
"""The degree of parallelism of work that any number of processors share evenly."""


def fine_grained(counts: Mapping[str, float], seconds: Mapping[str, float], clock: float) -> PowerAware:
    """Of counted instructions by level and seconds for each at a clock (section 5.2, steps 1 and 2): `memory` is
    OFF-chip, every other level ON-chip; all of it is shared evenly (assumption 1)."""
    on = math.fsum(counts[level] * seconds[level] for level in counts if level != "memory")
    return PowerAware(clock, (Work(PERFECT, on, counts.get("memory", 0.0) * seconds.get("memory", 0.0)),))


def levels(
    instructions: float, l1_accesses: float, l1_misses: float, l2_accesses: float, l2_misses: float
) -> dict[str, float]:
    """Instructions by the level that serves them, of PAPI's TOT_INS, L1_DCA, L1_DCM, L2_TCA and L2_TCM (Table 5)."""
    return {
        "registers": instructions - l1_accesses,
        "l1": l1_accesses - l1_misses,
        "l2": l2_accesses - l2_misses,
        "memory": l2_misses,
    }


def of_prediction(prediction: Prediction, clock: float) -> PowerAware:
    """Of an Aspen prediction at a core clock: kernels that wait for what a core or a cache serves go with the clock,
    those that wait for a memory do not, and messages are the overhead of running in parallel."""
    seconds = dict.fromkeys(("on", "memory", "interconnect"), 0.0)
    for kernel in prediction.kernels:
        path = prediction.component_of(kernel.bound_by) if kernel.bound_by else None
        kind = prediction.machine.components[path.rpartition("/")[2]].type if path else ""
        seconds[kind if kind in seconds else "on"] += kernel.exclusive
    return PowerAware(clock, (Work(PERFECT, seconds["on"], seconds["memory"]),), 0.0, seconds["interconnect"])


def relative_power(volts: float, clock: float, volts_at_peak: float, peak_clock: float) -> float:
    """Of a core, over that at its peak: V² f."""
    return (volts / volts_at_peak) ** 2 * clock / peak_clock


class Spot(Record):
    """Processors and a clock (Hz): seconds, speedup, energy and energy-delay product, the last two over those of one
    processor at the highest clock."""

    processors: int
    clock: float
    time: float
    speedup: float
    energy: float | None
    energy_delay: float | None


def surface(
    model: PowerAware, processors: Sequence[int], clocks: Sequence[float], volts: Mapping[float, float] | None = None
) -> tuple[Spot, ...]:
    """Every number of processors at every clock; energies where the voltage of each clock (V) is known."""
    low, high = min(clocks), max(clocks)
    reference = model.time(1, high)
    spots = []
    for count in processors:
        for clock in clocks:
            time = model.time(count, clock)
            energy = None
            if volts is not None:
                energy = count * relative_power(volts[clock], clock, volts[high], high) * time / reference
            delay = None if energy is None else energy * time / reference
            spots.append(Spot(count, clock, time, model.speedup(count, clock, low), energy, delay))
    return tuple(spots)
