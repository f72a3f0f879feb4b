"""PowerAwareSpeedup: runtimes on any number of processors at any clock, from those on one processor at each clock and
those at the lowest clock on each number (Ge, Cameron, IPDPS 2007, section 5.1); and a prediction split into what goes
with the clock and what does not, with its surface of speedups.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

from aspenpy.answers.energy.account import Energy
from aspenpy.answers.energy.cap import LOWEST, clock_range
from aspenpy.answers.prediction import Prediction
from aspenpy.language.diagnostics import AspenError, fail
from aspenpy.language.dimensions import format_quantity
from aspenpy.learn.estimators.model import Constant, LearntModel
from aspenpy.learn.measurements.columns import WHAT_RAN, find_key_problem, read_numbers, row_keys, rows_by_key
from aspenpy.learn.measurements.sheet import MeasurementSheet
from aspenpy.record import Record
from aspenpy.tables.result import Result
from aspenpy.tables.table import Column, Table, make_table

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class ParallelWork(Record):
    """Workload of one degree of parallelism, the number of processors that can share it: seconds on one processor that
    go with the core clock (ON-chip), at the clock of the model, and seconds that do not (OFF-chip)."""

    degree: float
    on: float
    off: float


class PowerAware(Record):
    """A workload at a core clock (Hz), by degrees of parallelism, and the overhead of running in parallel, in seconds
    ON and OFF the chip."""

    clock: float
    works: tuple[ParallelWork, ...]
    overhead_on: float = 0.0
    overhead_off: float = 0.0

    @property
    def off_chip_share(self) -> float:
        """Share of OFF-chip time in the sequential runtime at the clock of the model (equation 6)."""
        return math.fsum(work.off for work in self.works) / self.time(1, self.clock)

    def time(self, processors: int, clock: float) -> float:
        """Seconds (equations 6 and 9). A degree of parallelism above the processors is served in rounds (footnote 2,
        which is about equation 7)."""
        ratio = self.clock / clock
        if processors == 1:
            return math.fsum(work.on * ratio + work.off for work in self.works)
        shared = [(work, mean_sharers(work.degree, processors)) for work in self.works]
        parallel = math.fsum((work.on * ratio + work.off) / share for work, share in shared)
        return parallel + self.overhead_on * ratio + self.overhead_off

    def speedup(self, processors: int, clock: float, base_clock: float) -> float:
        """Speedup over one processor at the lowest clock (equation 10, D17)."""
        return self.time(1, base_clock) / self.time(processors, clock)


def mean_sharers(degree: float, processors: int) -> float:
    """Average number of processors that share the work: i parts are done in ceil(i/N) rounds."""
    if math.isinf(degree):
        return processors
    return degree / math.ceil(degree / processors)


PERFECT = math.inf
"""The degree of parallelism of work that any number of processors share evenly."""


def predicted_workload(prediction: Prediction, clock: float) -> PowerAware:
    """Workload of an Aspen prediction at a core clock: kernels bound by a core or a cache scale with the clock, those
    bound by memory do not, and messages are the parallel overhead."""
    seconds = dict.fromkeys(("on", "memory", "interconnect"), 0.0)
    for kernel in prediction.kernels:
        path = prediction.component_of(kernel.bound_by) if kernel.bound_by else None
        kind = prediction.machine.components[path.rpartition("/")[2]].type if path else ""
        seconds[kind if kind in seconds else "on"] += kernel.exclusive
    return PowerAware(clock, (ParallelWork(PERFECT, seconds["on"], seconds["memory"]),), 0.0, seconds["interconnect"])


def relative_power(volts: float, clock: float, volts_at_peak: float, peak_clock: float) -> float:
    """Power of a core relative to its peak: V² f."""
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
"""The power of a number of processors at a clock, in any unit; None where it is not known."""


def speedup_surface(
    model: PowerAware, processors: Sequence[int], clocks: Sequence[float], volts: Mapping[float, float] | None = None
) -> tuple[Spot, ...]:
    """Predictions at every number of processors and every clock; with energies where `volts` gives voltages by
    clock."""
    high = max(clocks)

    def watts(count: int, clock: float) -> float | None:
        return None if volts is None else count * relative_power(volts[clock], clock, volts[high], high)

    return compute_spots(model.time, processors, clocks, watts)


def compute_spots(
    time: Callable[[int, float], float], processors: Sequence[int], clocks: Sequence[float], watts: Watts
) -> tuple[Spot, ...]:
    """Spots of every number of processors at every clock, from functions for their time and power."""
    low, high = min(clocks), max(clocks)
    longest, reference, power = time(1, low), time(1, high), watts(1, high)
    spots = []
    for count, clock in product(processors, clocks):
        seconds, drawn = time(count, clock), watts(count, clock)
        energy = None if drawn is None or power is None else drawn / power * seconds / reference
        delay = None if energy is None else energy * seconds / reference
        spots.append(Spot(count, clock, seconds, speedup=longest / seconds, energy=energy, energy_delay=delay))
    return tuple(spots)


def find_sweet_spots(spots: Sequence[Spot]) -> tuple[tuple[str, Spot], ...]:
    """Spots of least time, energy and energy-delay product; none without energies."""
    metered = [spot for spot in spots if spot.energy is not None]
    aims = ("time", "energy", "energy_delay") if metered else ()
    return tuple((aim.replace("_", "-"), min(metered, key=lambda spot: float(getattr(spot, aim)))) for aim in aims)


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


def surface_tables(spots: Sequence[Spot], what: str, key: str = "") -> tuple[Table, ...]:
    """Tables of speedups and, where there are energies, of sweet spots."""
    clocks = list(dict.fromkeys(spot.clock for spot in spots))
    columns = (Column("processors", "count"), *(Column(format_quantity(clock, "Hz"), "ratio") for clock in clocks))
    counts = dict.fromkeys(spot.processors for spot in spots)
    rows = tuple((count, *(spot.speedup for spot in spots if spot.processors == count)) for count in counts)
    speedups = Table(columns, rows, title=f"speedup of {what}", key=f"speedup{key}")
    best = find_sweet_spots(spots)
    if not best:
        return (speedups,)
    title = f"sweet spots of {what}, energies over those of one processor at the highest clock"
    return speedups, make_table(SWEET, best, f"sweet_spots{key}", title=title)


SAME_CLOCK = 0.01
"""Clocks that differ by less are one setting: a measured clock is never quite the one that was set."""


class PowerAwareSpeedup(LearntModel):
    """T_N(f) = T_1(f)/N + [T_N(f0) - T_1(f0)/N] (equation 18): the simplified parameterisation. T_1 at a clock that was
    not measured is a + b/f (equation 6), OFF-chip and ON-chip. Power, where it was measured (a column `power` or
    `energy`), makes sweet spots of energy and delay known."""

    kind = "power-aware"
    about = "runtime and speedup by processors and core clock (Power-Aware Speedup)"
    needs = ("threads", "core_frequency")

    def learn(self, sheet: MeasurementSheet) -> dict[str, Any]:
        threads, clocks, runtimes = (read_numbers(sheet, name) for name in ("threads", "core_frequency", "runtime"))
        there = [name for name in WHAT_RAN if name in sheet.names]
        learnt = []
        for key, indices in rows_by_key(row_keys(sheet, WHAT_RAN)).items():
            what = " ".join(key) or "the application"
            alone = [index for index in indices if threads[index] == 1]
            if not alone:
                hint = "equation 18 starts from one processor at each clock, and each number of them at the lowest"
                fail("no-sequential", f"{what} was not measured on one processor", sheet.span, hint=hint)
            lowest = min(clocks[alone])
            if all(is_same_clock(clocks[index], lowest) for index in alone):
                hint = "one clock cannot tell time on the chip, which goes with the clock, from time off it"
                fail("one-clock", f"{what} was measured on one processor at one clock only", sheet.span, hint=hint)
            if not any(threads[index] > 1 and is_same_clock(clocks[index], lowest) for index in indices):
                fail("no-parallel", f"{what} was not measured on several processors at the lowest clock", sheet.span)
            held = fit_code(indices, threads, clocks, runtimes, lowest)
            learnt.append([list(key), held | {"watts": read_powers(sheet, indices, threads, clocks)}])
        return {"alike": there, "codes": learnt}

    def state_shape(self) -> Any:
        code = {
            **dict.fromkeys(("on", "off", "lowest"), float),
            "sequential": [(float, float)],
            "overheads": [(float, float)],
            "watts": [(float, float, float)],
        }
        return {"alike": [str], "codes": [([str], code)]}

    def state_problem(self) -> str | None:
        for _, held in self.state["codes"]:
            clocks = [held["lowest"], *(clock for clock, _ in held["sequential"])]
            counts = [count for count, _ in held["overheads"]]
            times = [time for _, time in held["sequential"]]
            if not times or min(clocks + times) <= 0 or min(counts, default=1) < 1:
                return "clocks, runtimes and numbers of processors are above zero"
        return find_key_problem(self.state["alike"], self.state["codes"])

    def values(self, sheet: MeasurementSheet) -> NDArray[np.float64]:
        import numpy as np

        threads, clocks = read_numbers(sheet, "threads"), read_numbers(sheet, "core_frequency")
        codes = {tuple(key): held for key, held in self.state["codes"]}
        predicted = []
        for key, count, clock in zip(row_keys(sheet, self.state["alike"]), threads, clocks, strict=True):
            if key not in codes:
                fail("not-learnt", f"the model has not learnt {' '.join(key)}", sheet.span)
            predicted.append(predict_time(codes[key], float(count), float(clock), " ".join(key) or "the application"))
        return np.array(predicted)

    def base_rows(self, sheet: MeasurementSheet) -> Sequence[int]:
        """Runs on one processor, and those at the lowest clock: the measurements of steps 1 and 3."""
        threads, clocks = read_numbers(sheet, "threads"), read_numbers(sheet, "core_frequency")
        rows = []
        for indices in rows_by_key(row_keys(sheet, WHAT_RAN)).values():
            alone = [clocks[index] for index in indices if threads[index] == 1]
            lowest = min(alone, default=0.0)
            rows += [index for index in indices if threads[index] == 1 or is_same_clock(clocks[index], lowest)]
        return sorted(rows)

    def columns_used(self, sheet: MeasurementSheet) -> Iterable[str]:
        return self.needs

    def findings(self) -> tuple[Table, ...]:
        names = self.state["alike"]
        columns = (
            *map(Column, names),
            Column("on-chip cycles", "ratio"),
            Column("off-chip", unit="s"),
            Column("lowest clock", unit="Hz"),
        )
        rows = tuple((*key, held["on"], held["off"], held["lowest"]) for key, held in self.state["codes"])
        alone = Table(columns, rows, title="one processor: T = off-chip + on-chip cycles/f", key="sequential")
        keys = ["_".join(["", *key]) for key, _ in self.state["codes"]]
        surfaces = zip(self.surfaces(), keys, strict=True)
        return alone, *(part for (what, spots), key in surfaces for part in surface_tables(spots, what, key))

    def constants(self) -> tuple[Constant, ...]:
        constants = []
        for key, held in self.state["codes"]:
            constants += [
                Constant((*key, "on_chip"), held["on"], "cycles on one processor"),
                Constant((*key, "off_chip"), held["off"], "s, whatever the core clock"),
            ]
            for count, seconds in held["overheads"]:
                constants.append(Constant((*key, f"overhead_{count:g}"), seconds, f"s more than shared by {count:g}"))
        return tuple(constants)

    def surfaces(self) -> tuple[tuple[str, tuple[Spot, ...]], ...]:
        """Speedup surfaces by code, over all processors and clocks that were measured: speedup over one processor at
        the lowest clock (equation 10), and energies where its power was measured."""
        return tuple((" ".join(key) or "the application", measured_surface(held)) for key, held in self.state["codes"])


def is_same_clock(one: float, other: float) -> bool:
    return abs(one - other) <= SAME_CLOCK * other


def fit_code(
    indices: Sequence[int],
    threads: NDArray[np.float64],
    clocks: NDArray[np.float64],
    runtimes: NDArray[np.float64],
    lowest: float,
) -> dict[str, Any]:
    """Sequential runtimes by clock, their line over 1/f, the overhead of each number of processors (equation 17)."""
    import numpy as np

    alone = [index for index in indices if threads[index] == 1]
    sequential = [[float(clocks[index]), float(runtimes[index])] for index in alone]
    matrix = np.array([1 / clocks[alone], 1 + 0 * clocks[alone]]).T
    on, off = np.linalg.lstsq(matrix * [lowest, 1], runtimes[alone], rcond=None)[0]
    first = float(np.mean([runtimes[index] for index in alone if is_same_clock(clocks[index], lowest)]))
    overheads = [
        [float(threads[index]), float(runtimes[index] - first / threads[index])]
        for index in indices
        if threads[index] > 1 and is_same_clock(clocks[index], lowest)
    ]
    return {
        "on": float(on * lowest),
        "off": float(off),
        "lowest": float(lowest),
        "sequential": sequential,
        "overheads": overheads,
    }


def read_powers(
    sheet: MeasurementSheet, indices: Sequence[int], threads: NDArray[np.float64], clocks: NDArray[np.float64]
) -> list[list[float]]:
    """Threads, clock and power of the runs whose power was measured, or their energy."""
    if "power" in sheet.names:
        watts = read_numbers(sheet, "power", blank=True)
    elif "energy" in sheet.names:
        watts = read_numbers(sheet, "energy", blank=True) / read_numbers(sheet, "runtime")
    else:
        return []
    return [[float(values[index]) for values in (threads, clocks, watts)] for index in indices if watts[index] > 0]


def measured_surface(held: Mapping[str, Any]) -> tuple[Spot, ...]:
    """Times and energies at all clocks and counts of processors that were measured."""
    clocks = sorted({clock for clock, _ in held["sequential"]})
    counts = [1, *sorted({int(count) for count, _ in held["overheads"]})]
    return compute_spots(
        lambda count, clock: predict_time(held, count, clock, "the application"),
        counts,
        clocks,
        lambda count, clock: estimate_power(held, count, clock),
    )


def estimate_power(held: Mapping[str, Any], count: int, clock: float) -> float | None:
    """Measured mean power; elsewhere that of one processor at the clock, times its growth with processors at the lowest
    clock. None where one of these was not measured."""
    if (known := _mean_power(held, count, clock)) is not None:
        return known
    parts = [(1, clock), (count, held["lowest"]), (1, held["lowest"])]
    alone, parallel, base = (_mean_power(held, *part) for part in parts)
    return None if alone is None or parallel is None or base is None else alone * parallel / base


def _mean_power(held: Mapping[str, Any], count: int, clock: float) -> float | None:
    powers = [watts for known, at, watts in held.get("watts", ()) if known == count and is_same_clock(at, clock)]
    return sum(powers) / len(powers) if powers else None


def predict_time(held: Mapping[str, Any], count: float, clock: float, what: str) -> float:
    """Runtime in seconds by equation 18."""
    near = [time for known, time in held["sequential"] if is_same_clock(known, clock)]
    alone = sum(near) / len(near) if near else held["off"] + held["on"] / clock
    if count == 1:
        return float(alone)
    overheads = [overhead for known, overhead in held["overheads"] if known == count]
    if not overheads:
        known = ", ".join(f"{number:g}" for number, _ in held["overheads"])
        message = f"{what} was not measured on {count:g} processors at the lowest clock"
        fail("no-parallel", message, hint=f"the overhead is known on {known}")
    return float(alone / count + sum(overheads) / len(overheads))


POINTS = 5
"""Number of clocks over the parameter's range where none are given."""


class Dvfs(Record, Result):
    """The workload of a prediction at its clock, and its spots at other clocks and on several such machines."""

    prediction: Prediction
    workload: PowerAware
    spots: tuple[Spot, ...]


def predict_dvfs(
    prediction: Prediction, processors: Sequence[int], clocks: Sequence[float] = (), volts: Sequence[float] = ()
) -> Dvfs:
    """Speedup and energy at clocks and processors, from a prediction for one processor. Each processor draws the
    machine's power at the clock, or V² f where voltages are given. Raises AspenError where the cores declare no
    clock."""
    parameter, lowest, declared = clock_range(prediction)
    if not clocks and lowest * LOWEST <= declared:
        message = f"`{parameter.removeprefix('machine:')}` has no range of clocks"
        fail("no-range", message, hint="say which: --clocks 1GHz,2GHz")
    asked = list(clocks) or [lowest + (declared - lowest) * step / (POINTS - 1) for step in range(POINTS)]
    workload = predicted_workload(prediction, declared)
    if volts and len(volts) != len(asked):
        fail("wrong-length", f"there are {len(volts)} voltages for {len(asked)} clocks", hint="each clock has one")
    if volts:
        high = asked.index(max(asked))
        at_peak = volts[high], asked[high]
        powers: dict[float, float | None] = {
            clock: relative_power(volt, clock, *at_peak) for clock, volt in zip(asked, volts, strict=True)
        }
    else:
        powers = {clock: predict_power(prediction, parameter, clock) for clock in asked}

    def watts(count: int, clock: float) -> float | None:
        alone = powers[clock]
        return None if alone is None else count * alone

    return Dvfs(prediction, workload, compute_spots(workload.time, processors, asked, watts))


def predict_power(prediction: Prediction, parameter: str, clock: float) -> float | None:
    """Power at a clock (W); None where the machine states no power."""
    try:
        return Energy(Prediction(prediction.case.with_set({parameter: clock}))).power
    except AspenError as error:
        if error.diagnostics[0].code == "no-power":
            return None
        raise
