"""Power fits: the constants of power that responds, fitted to measured watts, and their errors on what was left out.

    python -m benchmarks.power_fits DATA

DATA is a folder with the files of LULESH-AD and PMBS23-AD (RRZE) as tables: `lulesh_icelake_kernels.csv`,
`lulesh_icelake_app.csv` and `spechpc_tiny_icelake.csv`; and watts of SPECpower's nodes, `hardware/power_curves.csv`.
Fits are least squares of relative errors. A fold leaves one application out of all that is fitted,
the saturation of the uncore too.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy

from aspenpy.expr.evaluate import evaluate_many
from aspenpy.models.library import library_names, load_machine
from aspenpy.record import Record

CORES = 36  # of a Platinum 8360Y
BASE = 2.4  # GHz
SATURATIONS = (20.0, 30.0, 40.0, 50.0, 60.0, 70.0)  # GB/s of a socket from which on its uncore is at its highest clock


class Sample(Record):
    """A run: application, cores at work, clock (GHz), bytes (GB/s) and the watts of the packages that it occupies."""

    application: str
    cores: int
    clock: float
    bytes_a_second: float
    watts: float
    seconds: float

    @property
    def sockets(self) -> int:
        return 1 if self.cores <= CORES else 2


class Errors(Record):
    """Relative errors in percent: mean and median of their size, standard deviation, and the worst."""

    number: int
    mean: float
    median: float
    deviation: float
    worst: float


def errors_of(predicted: Any, measured: Any) -> Errors:
    relative = 100 * (predicted - measured) / measured
    size = numpy.abs(relative)
    return Errors(len(size), float(size.mean()), float(numpy.median(size)), float(relative.std()), float(size.max()))


# -- Ice Lake ------------------------------------------------------------------------------------------------------


def ice_lake(data: Path) -> list[Sample]:
    """LULESH by kernel and as a whole on 1 to 18 cores and more, at 1 to 2.8 GHz; SPEChpc on 1 to 72 at 2.4 GHz."""
    samples = []
    for row in _rows(data / "lulesh_icelake_kernels.csv") + _rows(data / "lulesh_icelake_app.csv"):
        name = f"LULESH {row['region'].strip()}"
        clock, rate = float(row["clock_MHz"]) / 1e3, float(row["mem_MBs"]) / 1e3
        samples.append(Sample(name, int(row["threads"]), clock, rate, float(row["P_pkg_W"]), float(row["runtime_s"])))
    for row in _rows(data / "spechpc_tiny_icelake.csv"):
        if row["Power [W]"]:
            clock, rate = float(row["Clock [MHz]"]) / 1e3, float(row["Memory bandwidth [MBytes/s]"]) / 1e3
            seconds = float(row["Runtime (RDTSC) [s]"])
            samples.append(Sample(row["app"], int(row["ranks"]), clock, rate, float(row["Power [W]"]), seconds))
    return samples


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def columns(samples: Sequence[Sample], saturation: float) -> Any:
    """What the constants are multiplied with: idle power, the uncore's, a core's static and switched power, J/B."""
    rows = []
    for one in samples:
        least = min(1.0, max(0.0, 12 * one.clock / BASE - 11))
        uncore = min(1.0, least + min(1 - least, one.bytes_a_second / one.sockets / saturation))
        switched = one.cores * (one.clock / BASE) ** 2
        rows.append((one.sockets, one.sockets * uncore, one.cores, switched, one.bytes_a_second))
    return numpy.array(rows)


def fitted(samples: Sequence[Sample]) -> tuple[float, Any]:
    """The saturation (GB/s) with the least error, and the five constants."""
    found = []
    watts = numpy.array([one.watts for one in samples])
    for saturation in SATURATIONS:
        scaled = columns(samples, saturation) / watts[:, None]
        constants, *_ = numpy.linalg.lstsq(scaled, numpy.ones(len(watts)), rcond=None)
        found.append((float(((scaled @ constants - 1) ** 2).sum()), saturation, constants))
    _, saturation, constants = min(found, key=lambda item: item[0])
    return saturation, constants


def left_out(samples: Sequence[Sample]) -> dict[Sample, float]:
    """Watts of each run by a fit without its application."""
    predicted: dict[Sample, float] = {}
    for application in dict.fromkeys(one.application for one in samples):
        held = [one for one in samples if one.application == application]
        saturation, constants = fitted([one for one in samples if one.application != application])
        predicted |= dict(zip(held, map(float, columns(held, saturation) @ constants), strict=True))
    return predicted


# -- whole nodes ---------------------------------------------------------------------------------------------------

BOARD, MEMORY, SUPPLY = 35.0, 12.0, 0.94
"""What stands around the packages, assumed: watts of board, disk and fans, of a socket's memory, and what comes out of
the supply of what goes in."""


def nodes(data: Path) -> list[tuple[str, float, float]]:
    """Nodes at full load of SPECpower_ssj2008, of those alike the median: watts by the library, and measured."""
    measured: dict[str, list[float]] = {}
    for row in _rows(data / "hardware" / "power_curves.csv"):
        if "100%" in row["workload"]:
            measured.setdefault(row["processor"], []).append(float(row["package_W"]))
    found = []
    for name, watts in measured.items():
        socket, sockets = (name[:-3], int(name[-1])) if name[-3:-1] == "_x" else (name, 1)
        machine = socket.removeprefix("intel_").removeprefix("amd_")
        if machine in library_names("machines") and "idle_power" in load_machine(machine).components[socket].properties:
            packages = sockets * (full_load(machine, socket) + MEMORY)
            found.append((name, (packages + BOARD) / SUPPLY, float(numpy.median(watts))))
    return found


def full_load(name: str, socket: str) -> float:
    """Watts of a package with all cores at work at the base clock, and no flops of vectors."""
    machine = load_machine(name)
    declared = machine.components[socket].properties
    places = {place.component.type: place for place in machine.first_places(socket)}
    cores = places["core"].count / places["socket"].count
    laws = [declared[law].symbol for law in ("idle_power", "uncore_power", "active_core_power")]
    idle, uncore, core, number = (float(each) for each in evaluate_many([*laws, cores], None, 0, machine.definitions))
    return idle + uncore + number * core


# -- report --------------------------------------------------------------------------------------------------------


def slopes(samples: Sequence[Sample], predicted: dict[Sample, float], by: Callable[[Sample], Any]) -> tuple[int, int]:
    """Of sweeps over the clock of one application on as many cores: how many rise or fall as measured, of how many."""
    sweeps: dict[Any, list[Sample]] = {}
    for one in samples:
        sweeps.setdefault(by(one), []).append(one)
    ends = [(min(sweep, key=_clock), max(sweep, key=_clock)) for sweep in sweeps.values()]
    wide = [(low, high) for low, high in ends if high.clock > 1.2 * low.clock]
    right = [(high.watts > low.watts) == (predicted[high] > predicted[low]) for low, high in wide]
    return sum(right), len(right)


def _clock(one: Sample) -> float:
    return one.clock


def _said(name: str, errors: Errors) -> str:
    return (
        f"{name:40s} {errors.number:5d} runs: mean {errors.mean:5.2f} %, median {errors.median:5.2f} %, "
        f"deviation {errors.deviation:5.2f} %, worst {errors.worst:5.1f} %"
    )


def main(data: Path) -> None:
    samples = ice_lake(data)
    predicted = left_out(samples)
    measured = numpy.array([one.watts for one in samples])
    print(
        _said(
            "Platinum 8360Y, application left out",
            errors_of(numpy.array([predicted[one] for one in samples]), measured),
        )
    )
    for application in dict.fromkeys(one.application for one in samples):
        own = [one for one in samples if one.application == application]
        errors = errors_of(numpy.array([predicted[one] for one in own]), numpy.array([one.watts for one in own]))
        print(_said(f"  {application}", errors))
    right, number = slopes(samples, predicted, lambda one: (one.application, one.cores))
    print(f"slopes over the clock with the measured sign: {right} of {number}")
    saturation, constants = fitted(samples)
    for name, watts, known in nodes(data):
        print(f"{name:40s} {watts:5.0f} W for {known:5.0f} W, {100 * (watts / known - 1):+5.1f} %")
    print(f"constants of all: saturation {saturation:g} GB/s,", *(f"{value:.4g}" for value in constants))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
