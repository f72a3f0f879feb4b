"""Power-aware speedup: how runtime and speedup go with processors and clock (Ge, Cameron, IPDPS 2007)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import product

from aspenpy.answers.prediction import Prediction
from aspenpy.language.dimensions import readable
from aspenpy.record import Record
from aspenpy.tables.table import Column, Table, table


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


Watts = Callable[[int, float], float | None]
"""The power of so many processors at a clock, in any unit; None where it is not known."""


def surface(
    model: PowerAware, processors: Sequence[int], clocks: Sequence[float], volts: Mapping[float, float] | None = None
) -> tuple[Spot, ...]:
    """Every number of processors at every clock; energies where the voltage of each clock (V) is known."""
    high = max(clocks)

    def watts(count: int, clock: float) -> float | None:
        return None if volts is None else count * relative_power(volts[clock], clock, volts[high], high)

    return spots(model.time, processors, clocks, watts)


def spots(
    time: Callable[[int, float], float], processors: Sequence[int], clocks: Sequence[float], watts: Watts
) -> tuple[Spot, ...]:
    """Every number of processors at every clock, of the time that they take and the power that they draw."""
    low, high = min(clocks), max(clocks)
    longest, reference, power = time(1, low), time(1, high), watts(1, high)
    found = []
    for count, clock in product(processors, clocks):
        here, drawn = time(count, clock), watts(count, clock)
        energy = None if drawn is None or power is None else drawn / power * here / reference
        delay = None if energy is None else energy * here / reference
        found.append(Spot(count, clock, here, longest / here, energy, delay))
    return tuple(found)


def sweet_spots(found: Sequence[Spot]) -> tuple[tuple[str, Spot], ...]:
    """Where the time, the energy and the energy-delay product are least; none without energies."""
    known = [spot for spot in found if spot.energy is not None]
    aims = ("time", "energy", "energy_delay") if known else ()
    return tuple((aim.replace("_", "-"), min(known, key=lambda spot: float(getattr(spot, aim)))) for aim in aims)


# -- as tables -------------------------------------------------------------------------------------

SWEET = (
    Column("least", get=lambda pair: pair[0]),
    Column("processors", "count", get=lambda pair: pair[1].processors),
    Column("clock", unit="Hz", get=lambda pair: pair[1].clock),
    Column("time", unit="s", get=lambda pair: pair[1].time),
    Column("speedup", "ratio", get=lambda pair: pair[1].speedup),
    Column("energy", "ratio", get=lambda pair: pair[1].energy),
    Column("energy-delay", "ratio", key="energy_delay", get=lambda pair: pair[1].energy_delay),
)


def surface_tables(found: Sequence[Spot], what: str, key: str = "") -> tuple[Table, ...]:
    """The speedups, and the sweet spots where there are energies."""
    clocks = list(dict.fromkeys(spot.clock for spot in found))
    columns = (Column("processors", "count"), *(Column(readable(clock, "Hz"), "ratio") for clock in clocks))
    counts = dict.fromkeys(spot.processors for spot in found)
    rows = tuple((count, *(spot.speedup for spot in found if spot.processors == count)) for count in counts)
    speedups = Table(columns, rows, title=f"speedup of {what}", key=f"speedup{key}")
    best = sweet_spots(found)
    if not best:
        return (speedups,)
    title = f"sweet spots of {what}, energies over those of one processor at the highest clock"
    return speedups, table(SWEET, best, f"sweet_spots{key}", title=title)
