"""Published results of benchmarks on the library's machines, and what their models predict of the same runs.

The rows stand in `models/published/results.csv`, each with its source and with how it was run.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Callable, Collection
from io import StringIO
from math import inf
from statistics import median

from aspenpy.allowance import separate_allowance
from aspenpy.answers.case import Case
from aspenpy.answers.energy.account import predict_energy
from aspenpy.answers.energy.options import EnergyOptions
from aspenpy.answers.prediction import predict
from aspenpy.language.files import models_folder
from aspenpy.language.opening import read_text_file
from aspenpy.models.application.model import Application
from aspenpy.models.library import load_application, load_machine, parse
from aspenpy.record import Record
from aspenpy.tables.result import Result

AIMS = {"triad": 0.10, "product": 0.10, "Linpack": 0.25, "HPCG": 0.60, "power": 0.30}
"""By how much each benchmark may be off at worst, either way."""

UNITS = {"GB/s": ("B/s", 1e9), "Tflop/s": ("flop/s", 1e12), "Pflop/s": ("flop/s", 1e15), "kW": ("W", 1e3)}
"""The base unit and the size of each unit of the file."""

ELEMENTS, ROWS = 200_000_000, 16384
"""Of an array of the triad, and of a matrix of the products."""

PRODUCT = """model product {
  param n = 16384
  kernel main { execute [1] of [(n/128)^2] { flops [2*n^3] as tensor, PRECISION, simd, fmad } }
}"""
"""A product of large matrices on a core's units for it, in tiles of 128 rows."""


class PublishedResult(Record):
    """A row of the file: `what` was measured (`product bf16`), its value in its base unit, and the run behind it.

    `half` is `stated` where the machine takes a number from this very measurement, which then proves nothing but that
    it is used, `held back` where nobody looked at it while machine and application were written, else `seen`. `why`
    says why a row outside of the aims stays there."""

    machine: str
    what: str
    value: float
    unit: str
    half: str
    socket: str | None
    bind: str | None
    settings: dict[str, str]
    source: str
    why: str

    @property
    def benchmark(self) -> str:
        return self.what.partition(" ")[0]


class PublishedComparison(Record):
    """A published result beside what the model predicts of it."""

    published: PublishedResult
    predicted: float

    @property
    def ratio(self) -> float:
        """Predicted over published."""
        return self.predicted / self.published.value

    @property
    def factor(self) -> float:
        """The ratio or its inverse, whichever is larger."""
        return max(self.ratio, 1 / self.ratio) if self.ratio else inf

    @property
    def outside(self) -> bool:
        """Whether it is off by more than the aim of its benchmark."""
        return self.factor > 1 + AIMS[self.published.benchmark]


class PublishedSummary(Record):
    """The comparisons of a benchmark that have one `half`."""

    benchmark: str
    half: str
    rows: tuple[PublishedComparison, ...]

    @property
    def median_factor(self) -> float:
        return median(row.factor for row in self.rows)

    @property
    def worst(self) -> PublishedComparison:
        return max(self.rows, key=lambda row: row.factor)

    @property
    def outside(self) -> int:
        """Rows outside of the aim."""
        return sum(row.outside for row in self.rows)


class PublishedComparisons(Record, Result):
    """All comparisons, the worst first; comparisons with measurements come before those with stated figures."""

    rows: tuple[PublishedComparison, ...]

    @property
    def outside(self) -> tuple[PublishedComparison, ...]:
        return tuple(row for row in self.rows if row.outside)

    @property
    def summaries(self) -> tuple[PublishedSummary, ...]:
        """Summaries by benchmark, in the order of the aims, and by half."""
        groups: dict[tuple[str, str], list[PublishedComparison]] = {}
        for row in self.rows:
            groups.setdefault((row.published.benchmark, row.published.half), []).append(row)
        order = [(name, half) for name in AIMS for half in ("seen", "held back", "stated")]
        return tuple(PublishedSummary(*key, tuple(groups[key])) for key in order if key in groups)


def published_results(machines: Collection[str] = ()) -> list[PublishedResult]:
    """The rows of the file, of these machines or of all."""
    text = read_text_file(os.path.join(models_folder(), "published", "results.csv"))
    return [_read_row(row) for row in csv.DictReader(StringIO(text)) if not machines or row["machine"] in machines]


def _read_row(row: dict[str, str]) -> PublishedResult:
    number, unit = row["value"].split()
    base, size = UNITS[unit]
    return PublishedResult(
        machine=row["machine"],
        what=row["what"],
        value=float(number) * size,
        unit=base,
        half=row["half"],
        socket=row["socket"] or None,
        bind=row["on"] or None,
        settings=dict(pair.split("=", 1) for pair in row["set"].split("; ") if pair),
        source=row["source"],
        why=row["why"],
    )


def compare_with_published(
    machines: Collection[str] = (), watch: Callable[[str, float], None] = lambda machine, part: None
) -> PublishedComparisons:
    """Predicts the published results of these machines, or of all. `watch` is called before each with
    its machine and the part that is done."""
    published, rows = published_results(machines), []
    for done, row in enumerate(published):
        watch(row.machine, done / len(published))
        with separate_allowance():
            rows.append(PublishedComparison(row, _predict(row)))
    return PublishedComparisons(tuple(sorted(rows, key=lambda row: (row.published.half == "stated", -row.factor))))


def _predict(row: PublishedResult) -> float:
    """The same by the model, in its base unit."""
    if row.benchmark == "triad":
        run = predict(_case(row, load_application("stream"), "triad", n=str(ELEMENTS)))
        moved = 4 if "write-allocate" in row.what else 3  # words; what is written is read before, and not counted
        return 3 * 8 * ELEMENTS / (run.runtime * moved / 3)
    if row.benchmark == "product":
        app = parse(PRODUCT.replace("PRECISION", row.what.partition(" ")[2]))
        assert isinstance(app, Application)
        return 2 * ROWS**3 / predict(_case(row, app)).runtime
    if row.benchmark == "HPCG":
        run = predict(_case(row, load_application("hpcg")))
        return run.resources["flops"].amount / (run.capped_runtime or run.runtime)
    case = _case(row, load_application("hpl"))
    if row.benchmark == "power":
        return predict_energy(case, options=EnergyOptions(charged="machine")).power or 0.0
    order, run = float(row.settings["n"]), predict(case)
    return (2 / 3 * order**3 + 3 / 2 * order**2) / (run.capped_runtime or run.runtime)  # flops by its own count


def _case(row: PublishedResult, app: Application, kernel: str = "main", **values: str) -> Case:
    machine = load_machine(row.machine)
    return Case(app, machine, row.socket, kernel, {**row.settings, **values}, bind=row.bind)
