"""Measured kernels: time, flops and bytes of each region that a tool has measured, by the counters that the tool names.

Counters are those of `perf list` and LIKWID on Intel (FP_ARITH_INST_RETIRED: an FMA counts twice, a vector once for all
its lanes; Intel SDM 3B, chapter 20) and AMD (PPR of family 19h, event 03h), of PAPI's presets, of `ncu` and `nvprof`
(CUDA profiler guide, metrics of each capability), and of ROCm (ROCm Compute Profiler, "Roofline": 64 lanes a wave, 512
operations a unit of MFMA_MOPS; FETCH_SIZE and WRITE_SIZE are in kilobytes).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from aspenpy.language.diagnostics import Diagnostic, fail, suggest_instead, suggest_nearest
from aspenpy.language.dimensions import BYTES, DIMENSIONLESS, FLOPS, SECONDS, Dimension, describe_dimension, parse_unit
from aspenpy.learn.measurements.columns import plain_unit, recognise_columns
from aspenpy.learn.measurements.conditions import number_in
from aspenpy.learn.measurements.read import read_measurements
from aspenpy.learn.measurements.sheet import Cell, Data, Heading, MeasurementSheet
from aspenpy.record import Record

Weights = Mapping[str, float]
"""Value of one count of each counter, by the counter's name in small letters with `_` for what is no letter."""


def _weigh(names: str, weights: str) -> dict[str, float]:
    """A weight for each name with one of the words in place of `*`; `weights` is such as `fadd=1 ffma=2`."""
    pairs = (text.split("=") for text in weights.split())
    return {names.replace("*", word): float(weight) for word, weight in pairs}


_ARITHMETIC = "fp_arith_inst_retired_*"
_SASS = "smsp_sass_thread_inst_executed_op_*_pred_on_sum"
_WAVES = {
    f"sq_insts_valu_{operation}_f{bits}": 64.0 * weight
    for operation, weight in (("add", 1), ("mul", 1), ("trans", 1), ("fma", 2))
    for bits in (16, 32, 64)
}


class CountedQuantity(Record):
    """A quantity of a kernel: its dimension, and the counters that give it; of several lists the first counts of which
    anything was measured. Those of `needs_all` are halves of one quantity."""

    name: str
    dimension: Dimension
    counters: tuple[Weights, ...]
    needs_all: bool = False


FLOP_COUNTS = CountedQuantity(
    "flops",
    FLOPS,
    (
        {"flops": 1, "flop": 1},
        {"papi_dp_ops": 1, "papi_sp_ops": 1},
        {"papi_fp_ops": 1},
        _weigh(_ARITHMETIC, "scalar_double=1 128b_packed_double=2 256b_packed_double=4 512b_packed_double=8")
        | _weigh(_ARITHMETIC, "scalar_single=1 128b_packed_single=4 256b_packed_single=8 512b_packed_single=16"),
        {"fp_ret_sse_avx_ops_all": 1, "retired_sse_avx_flops_all": 1},
        {"flop_count_dp": 1, "flop_count_sp": 1, "flop_count_hp": 1},
        _weigh(_SASS, "dadd=1 dmul=1 dfma=2 fadd=1 fmul=1 ffma=2 hadd=1 hmul=1 hfma=2"),
        _WAVES | _weigh("sq_insts_valu_mfma_mops_*", "f16=512 bf16=512 f32=512 f64=512"),
    ),
)
BYTE_COUNTS = (
    CountedQuantity("bytes", BYTES, ({"bytes": 1}, {"memory_volume": 1}, {"dram_bytes_sum": 1})),
    CountedQuantity(
        "bytes",
        BYTES,
        (
            {"dram_bytes_read_sum": 1, "dram_bytes_write_sum": 1},
            {"dram_read_bytes": 1, "dram_write_bytes": 1},
            {"unc_m_cas_count_rd": 64, "unc_m_cas_count_wr": 64},
            {"uncore_imc_cas_count_read": 64, "uncore_imc_cas_count_write": 64},
            {"uncore_imc_data_reads": 64, "uncore_imc_data_writes": 64},
            {"fetch_size": 1024, "write_size": 1024},
        ),
        needs_all=True,
    ),
)
TIMES = CountedQuantity("time", SECONDS, ({"runtime": 1}, {"self_time": 1}, {"self_elapsed_time": 1}))
RATES = CountedQuantity(
    "flops a second", FLOPS / SECONDS, ({"flop_rate": 1}, {"gflops": 1e9, "self_gflops": 1e9}, {"dp": 1, "sp": 1})
)
BANDWIDTHS = CountedQuantity("bytes a second", BYTES / SECONDS, ({"memory_bandwidth": 1},))
INTENSITIES = CountedQuantity(
    "intensity", FLOPS / BYTES, ({"intensity": 1, "operational_intensity": 1, "arithmetic_intensity": 1, "self_ai": 1},)
)
QUANTITIES = (FLOP_COUNTS, *BYTE_COUNTS, TIMES, RATES, BANDWIDTHS, INTENSITIES)


class MeasuredKernel(Record):
    """A region as it was measured: the name that its tool gives it (empty for a whole run), seconds, and flops and
    bytes between memory and caches, where they were counted."""

    name: str
    time: float | None = None
    flops: float | None = None
    volume: float | None = None

    @property
    def intensity(self) -> float | None:
        """Flops a byte; None where either was not counted."""
        return self.flops / self.volume if self.flops is not None and self.volume else None


class MeasuredKernels(Record):
    """The regions of some files, and what is to be said of their counts."""

    kernels: tuple[MeasuredKernel, ...]
    diagnostics: tuple[Diagnostic, ...] = ()


def read_kernels(files: Iterable[Data]) -> MeasuredKernels:
    """The regions of files of any tool. Launches of one region add up; of repeated runs the shortest counts, since
    other load on a machine only lengthens runs. Raises AspenError."""
    kernels: list[MeasuredKernel] = []
    notes: list[Diagnostic] = []
    for file in files:
        written = read_measurements(file)
        _refuse_unknown_units(written)
        sheet = recognise_columns(written)
        notes += _note_halves(sheet)
        by_region: dict[str, list[MeasuredKernel]] = {}
        for row in sheet.rows:
            measured_kernel = _read_row(sheet, row)
            by_region.setdefault(measured_kernel.name, []).append(measured_kernel)
        combine = _add_launches if sheet.parts else _choose_shortest
        kernels += [combine(rows) for rows in by_region.values()]
        if not any(part is not None for item in kernels for part in (item.time, item.flops, item.volume)):
            hint = f"there are the columns {', '.join(sheet.names)}"
            fail("no-kernels", "no column holds a time, flops or bytes of kernels", sheet.span, hint=hint)
    return MeasuredKernels(tuple(kernels), tuple(notes))


def _read_row(sheet: MeasurementSheet, row: Mapping[str, Cell]) -> MeasuredKernel:
    name = next((str(row[column].value) for column in ("region", "application") if column in row), "")
    time, flops = (_quantity_in(sheet, row, kind) for kind in (TIMES, FLOP_COUNTS))
    volumes = (_quantity_in(sheet, row, kind) for kind in BYTE_COUNTS)
    volume = next((found for found in volumes if found is not None), None)
    rate, bandwidth, intensity = (_quantity_in(sheet, row, kind) for kind in (RATES, BANDWIDTHS, INTENSITIES))
    if flops is None and rate is not None and time is not None:
        flops = rate * time
    if volume is None and bandwidth is not None and time is not None:
        volume = bandwidth * time
    if volume is None and intensity and flops is not None:
        volume = flops / intensity
    if flops is None and intensity is not None and volume is not None:
        flops = intensity * volume
    return MeasuredKernel(name, time, flops, volume)


def _quantity_in(sheet: MeasurementSheet, row: Mapping[str, Cell], kind: CountedQuantity) -> float | None:
    """The quantity in base units by its first counters that have a value in this row."""
    for weights in kind.counters:
        counted = [
            value * _worth(heading, weights[spelling], kind)
            for heading in sheet.headings
            if (spelling := spell(heading.name)) in weights and (value := number_in(row[heading.name])) is not None
        ]
        if any(value < 0 for value in counted):
            fail("bad-value", f"{kind.name} below zero were measured", sheet.span)
        if counted:
            return sum(counted)
    return None


def _worth(heading: Heading, weight: float, kind: CountedQuantity) -> float:
    """Value of one count in base units; where the tool states a unit, that says it."""
    if not heading.unit:
        return weight
    unit = plain_unit(heading.unit)
    if unit is None or parse_unit(unit).dimension not in (kind.dimension, DIMENSIONLESS):
        message = f"`{heading.written or heading.name}` is in {describe_dimension(kind.dimension)}, not {heading.unit}"
        fail("wrong-unit", message, heading.span)
    return float(parse_unit(unit).size) * (1.0 if parse_unit(unit).dimension == kind.dimension else weight)


def _refuse_unknown_units(sheet: MeasurementSheet) -> None:
    """Raises AspenError for a quantity in a unit that is none: it would count as a base unit."""
    for heading in sheet.headings:
        known = any(spell(heading.name) in weights for kind in QUANTITIES for weights in kind.counters)
        if known and heading.unit and plain_unit(heading.unit) is None:
            fail("wrong-unit", f"`{heading.unit}` behind `{heading.name}` is no unit", heading.span)


def spell(name: str) -> str:
    """The name of a counter in small letters, with `_` for what is no letter or digit."""
    return re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")


def _note_halves(sheet: MeasurementSheet) -> list[Diagnostic]:
    """Warnings of bytes that were counted in one direction only."""
    there = {spell(heading.name) for heading in sheet.headings}
    notes = []
    for weights in (weights for kind in BYTE_COUNTS if kind.needs_all for weights in kind.counters):
        missing = [name for name in weights if name not in there]
        if missing and len(missing) < len(weights):
            message = f"bytes are those of one direction: `{missing[0]}` was not measured"
            notes.append(Diagnostic("half-counted", message, sheet.span, severity="warning"))
    return notes


def _add_launches(rows: Sequence[MeasuredKernel]) -> MeasuredKernel:
    def total(values: Iterable[float | None]) -> float | None:
        known = [value for value in values if value is not None]
        return sum(known) if known else None

    return MeasuredKernel(
        rows[0].name,
        total(row.time for row in rows),
        total(row.flops for row in rows),
        total(row.volume for row in rows),
    )


def _choose_shortest(rows: Sequence[MeasuredKernel]) -> MeasuredKernel:
    return min(rows, key=lambda row: float("inf") if row.time is None else row.time)


# -- names of regions and kernels ------------------------------------------------------------------


_LINE = re.compile(r"_(?:\d{1,9}_gpu|l\d{1,9})\Z")
"""The line that compilers put behind the name of a function: nvfortran's `_12_gpu`, Clang's `_l12`."""

_OFFLOADED = "__omp_offloading_"
"""What Clang puts before it, with the numbers of a device and a file."""


def plain_name(name: str) -> str:
    """The function's name alone: without types, arguments, templates, clones, namespaces, and underscores at its ends,
    in small letters (`void lj::force<double>(double*)` is `force`, as is `force_` of Fortran)."""
    text = _demangle(name.strip())
    depth, kept = 0, []
    for letter in text:
        depth += letter in "<(["
        if not depth:
            kept.append(letter)
        depth -= letter in ">)]"
    words = "".join(kept).split()
    last = (words or [text])[-1].rpartition("::")[2].partition(".")[0]
    if last.startswith(_OFFLOADED):
        last = "_".join(last.removeprefix(_OFFLOADED).split("_")[2:])
    return _LINE.sub("", last).strip("_").lower() or text.lower()


def _demangle(name: str) -> str:
    """The last name in a mangled one of the Itanium C++ ABI (section 5.1.2: lengths before names); others stay."""
    rest = name.removeprefix("_Z").removeprefix("N") if name.startswith("_Z") else ""
    found = ""
    while digits := re.match(r"\d{1,3}", rest):
        end = digits.end() + int(digits[0])
        found, rest = rest[digits.end() : end], rest[end:]
    return found or name


class MatchedProfile(Record):
    """The regions of a profile that have times, the kernels of those that are one, and what is to be said of both."""

    regions: tuple[MeasuredKernel, ...]
    kernels: Mapping[str, str]
    diagnostics: tuple[Diagnostic, ...]


def match_profile(profile: Data, known: Sequence[str], stated: Mapping[str, str]) -> MatchedProfile:
    """The regions of a profile and their kernels, by `match_kernels`. Raises AspenError where the profile has no times,
    or none of its regions is a kernel."""
    read = read_kernels([profile])
    timed = tuple(item for item in read.kernels if item.time)
    if not timed:
        hint = "perf record -e cpu-clock samples time; a table has a column `time`"
        fail("no-time", "the profile has no times", hint=hint)
    found, notes = match_kernels([item.name for item in timed], known, stated)
    if not found:
        names = ", ".join(item.name for item in timed[:5])
        fail("no-such-kernel", f"no region of the profile is a kernel: {names}", hint="--map REGION=KERNEL names them")
    return MatchedProfile(timed, found, (*read.diagnostics, *notes, *_note_untimed(read.kernels, known)))


def _note_untimed(kernels: Sequence[MeasuredKernel], known: Sequence[str]) -> list[Diagnostic]:
    """A note of regions without a time, which nothing is compared with; those that are kernels in front."""
    names = [item.name for item in kernels if not item.time]
    names.sort(key=lambda name: name not in known)
    if not names:
        return []
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    message = f"left out, since the profile has no time of them: {', '.join(names[:3])}{more}"
    hint = "gprof samples every 10 ms; a longer run has some"
    return [Diagnostic("no-time", message, hint=hint, severity="note")]


def match_kernels(
    measured: Sequence[str], known: Sequence[str], stated: Mapping[str, str]
) -> tuple[dict[str, str], list[Diagnostic]]:
    """The kernel of each measured region that has one: as `stated`, else of the same name, else of the same plain name;
    and warnings of those without. Raises AspenError where a statement names what is not there."""
    for region, kernel in stated.items():
        if region not in measured:
            hint = suggest_instead(region, [name for name in measured if name], "regions")
            fail("unknown-region", f"`{region}` was not measured", hint=hint)
        if kernel not in known:
            fail("unknown-kernel", f"there is no kernel `{kernel}`", hint=suggest_instead(kernel, known, "kernels"))
    plain: dict[str, str] = {}
    for name in known:
        plain.setdefault(plain_name(name.rpartition(".")[2]), name)
    found: dict[str, str] = {}
    notes = []
    for region in measured:
        kernel = stated.get(region) or (region if region in known else plain.get(plain_name(region), ""))
        if kernel:
            found[region] = kernel
        elif region and known:
            hint = suggest_nearest(plain_name(region), known) or f"--map '{region}=KERNEL' names its kernel"
            message = f"no kernel of the model is called `{region}`"
            notes.append(Diagnostic("no-such-kernel", message, hint=hint, severity="warning"))
    return found, notes
