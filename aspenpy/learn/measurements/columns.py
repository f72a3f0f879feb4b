"""Columns: what models that learn ask measurements for, under the names that tools give it, as arrays in base units.

Formulas over columns, such as `cycles/runtime` or `ceil(threads/36)`, are in the Aspen language.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NoReturn

from aspenpy.engine.python import PreparedExpressions
from aspenpy.expr import graph
from aspenpy.expr.evaluate import EvaluationError
from aspenpy.expr.graph import Expr
from aspenpy.language import nodes
from aspenpy.language.diagnostics import fail, suggest_instead, suggest_nearest
from aspenpy.language.dimensions import (
    BYTES,
    DIMENSIONLESS,
    HERTZ,
    JOULES,
    SECONDS,
    UNITS,
    WATTS,
    Dimension,
    describe_dimension,
    parse_unit,
)
from aspenpy.language.lower import Lowering, constant_value
from aspenpy.language.parser import parse_value
from aspenpy.learn.measurements.conditions import number_in
from aspenpy.learn.measurements.sheet import Cell, Heading, MeasurementSheet
from aspenpy.record import Record
from aspenpy.tables.numbers import RESOURCE_UNITS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class KnownColumn(Record):
    """A column with a meaning: its dimension, how tools spell it (in small letters, what is no letter or digit as `_`),
    and whether it must be above zero. A `text` says what ran or where."""

    spellings: str
    dimension: Dimension = DIMENSIONLESS
    positive: bool = False
    text: bool = False


PER_SECOND = BYTES / SECONDS

LEAST, MOST = 1e-60, 1e60
"""Limits of measured numbers, between which squares and products of several stay within floating point."""

KNOWN: Mapping[str, KnownColumn] = {
    "run": KnownColumn("run id run_id", text=True),
    "application": KnownColumn("application app appname app_name benchmark code program", text=True),
    "region": KnownColumn("region kernel phase loop function hotspot name", text=True),
    "input": KnownColumn("input size argno problem dataset", text=True),
    "device": KnownColumn("device gpu cluster machine host hardware", text=True),
    "threads": KnownColumn("threads thread_count ranks processes processors cores num_threads", positive=True),
    "core_frequency": KnownColumn(
        "core_frequency core_clock f_core fcore coref fc clock frequency freq clocks_sm clocks_current_sm "
        "clocks_gr clocks_current_graphics",
        HERTZ,
        True,
    ),
    "memory_frequency": KnownColumn(
        "memory_frequency memory_clock mem_freq f_mem fmem memf fm uncore_clock uncore_frequency clocks_mem "
        "clocks_current_memory",
        HERTZ,
        True,
    ),
    "memory_bandwidth": KnownColumn("memory_bandwidth mem mem_bw bandwidth dram_bandwidth", PER_SECOND),
    "runtime": KnownColumn(
        "runtime time elapsed elapsed_time duration duration_time runtime_rdtsc rdtsc_runtime wall_time "
        "gpu_time_duration_sum t",
        SECONDS,
        True,
    ),
    "stall_time": KnownColumn("stall_time t_s ts stalled", SECONDS),
    "energy": KnownColumn("energy e_pkg package_energy energy_pkg power_energy_pkg pkg_energy", JOULES, True),
    "dram_energy": KnownColumn("dram_energy e_dram energy_dram power_energy_ram", JOULES, True),
    "power": KnownColumn(
        "power p_pkg watts package_power power_draw power_pkg power_draw_instant power_draw_average", WATTS, True
    ),
    "dram_power": KnownColumn("dram_power p_dram power_dram", WATTS, True),
    "memory_volume": KnownColumn("memory_volume memory_data_volume mem dram_bytes", BYTES),
    "instructions": KnownColumn("instructions instr instr_retired_any papi_tot_ins inst_executed inst_retired_any"),
    "cycles": KnownColumn("cycles cpu_clk_unhalted_core papi_tot_cyc cpu_cycles"),
    "stall_cycles": KnownColumn(
        "stall_cycles papi_res_stl papi_mem_scy stalled_cycles_backend cycle_activity_stalls_mem_any "
        "cycle_activity_stalls_l3_miss cycle_activity_cycles_no_execute"
    ),
    "leading_load_cycles": KnownColumn("leading_load_cycles leading_loads llc_leading_load_cycles"),
    "read_cycles": KnownColumn("read_cycles offcore_requests_outstanding_cycles_with_data_rd"),
    "llc_misses": KnownColumn("llc_misses llcm llc_load_misses cache_misses papi_l3_tcm papi_l2_tcm l2m l3_misses"),
    "bus_accesses": KnownColumn("bus_accesses bus_trans_any papi_bus"),
}
"""Columns with a meaning; all others are counters under their own names."""

SAME_UNIT = {
    "MBytes/s": "MB/s", "GBytes/s": "GB/s", "MBytes": "MB", "GBytes": "GB", "KBytes": "kB", "Bytes": "B", "bytes": "B",
    "MFLOP/s": "Mflop/s", "GFLOP/s": "Gflop/s", "MFLOPS": "Mflop/s", "GFLOPS": "Gflop/s", "TFLOPS": "Tflop/s",
    "FLOP": "flop", "GFLOP": "Gflop", "FLOP/Byte": "flop/B", "FLOP/byte": "flop/B", "MBs": "MB/s", "GBs": "GB/s",
    "sec": "s", "seconds": "s", "msec": "ms", "usecond": "us",
    "msecond": "ms", "second": "s", "nsecond": "ns", "Joules": "J", "Watts": "W", "hertz": "Hz", "byte": "B",
    "Mbyte": "MB", "Gbyte": "GB", "Kbyte": "kB", "Gbyte/second": "GB/s", "Mbyte/second": "MB/s", "byte/second": "B/s",
    "cycle/nsecond": "GHz", "cycle/usecond": "MHz", "KiB": "KiB", "%": "",
}  # fmt: skip
"""Units as tools spell them, and as the language does."""

BEHIND = re.compile(r"(?:\((?P<round>[^()]*+)\)|\[(?P<square>[^\[\]]*+)\]|[/_](?P<joined>[A-Za-z]++))\Z")
"""A unit behind a name: `runtime [s]`, `Runtime (s)`, `time/ms`, `clock_MHz`."""


def plain_unit(text: str | None) -> str | None:
    """A unit as the language spells it; None for what is no unit."""
    unit = SAME_UNIT.get((text or "").strip(), (text or "").strip())
    try:
        parse_unit(unit)
        return unit
    except KeyError:
        return None


def recognise_columns(sheet: MeasurementSheet) -> MeasurementSheet:
    """The sheet with known columns under the names they have here; all others stay as they are. Where two mean the
    same, the first is taken."""
    headings, taken = [], {heading.name for heading in sheet.headings if heading.name in KNOWN}
    for heading in sheet.headings:
        column = None if heading.name in taken else recognise_heading(heading)
        new = heading._replace(unit=plain_unit(heading.unit)) if column is None or column.name in taken else column
        _require_unit(heading, new.name)
        taken.add(new.name)
        headings.append(new._replace(written=heading.written or heading.name))
    if [heading.name for heading in headings] == sheet.names:
        return sheet._replace(headings=tuple(headings))
    renamed = list(zip(headings, sheet.names, strict=True))
    rows = tuple({new.name: row[old] for new, old in renamed} for row in sheet.rows)
    return MeasurementSheet(tuple(headings), rows, sheet.span, sheet.parts)


def _require_unit(heading: Heading, name: str) -> None:
    """Raises AspenError for a unit that is none, behind what has a dimension: it would count as a base unit."""
    known = KNOWN.get(name)
    measured = name in RESOURCE_UNITS or (known is not None and known.dimension != DIMENSIONLESS)
    if measured and heading.unit and plain_unit(heading.unit) is None:
        hint = suggest_nearest(heading.unit, UNITS) or "units are such as s, ms, J, MB, GB/s"
        fail("wrong-unit", f"`{heading.unit}` behind `{heading.name}` is no unit", heading.span, hint=hint)


def recognise_heading(heading: Heading) -> Heading | None:
    """The heading of a known column; None for any other."""
    readings = [(heading.name, plain_unit(heading.unit))]
    if heading.unit is None and (behind := BEHIND.search(heading.name)):
        unit = plain_unit(behind["round"] or behind["square"] or behind["joined"])
        readings += [(heading.name[: behind.start()].rstrip(), unit)] if unit else []
    for name, unit in readings:
        spelling = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")
        for known, facts in KNOWN.items():
            fits = unit is None or facts.dimension == parse_unit(unit).dimension
            if fits and spelling in (known, *facts.spellings.split()):
                return Heading(known, unit, heading.span)
    return None


def require_columns(sheet: MeasurementSheet, names: Iterable[str], what: str) -> None:
    """Raises AspenError where a column is missing; `what` wants them."""
    for name in names:
        if name not in sheet.names:
            hint = f"give another column that name: --column '{name}=HEADER'"
            fail("no-column", f"{what} needs a column `{name}`", sheet.span, hint=hint)


def read_numbers(sheet: MeasurementSheet, name: str, *, blank: bool = False) -> NDArray[np.float64]:
    """A column in base units; a unit that is none of the language's is left as it is. With `blank`, cells in which
    nothing stands are nan. Raises AspenError for what is no number, is below zero where that cannot be, or has its own
    unit in a cell."""
    import numpy as np

    try:
        heading = sheet.heading(name)
    except KeyError:
        hint = suggest_instead(name, sheet.names, "columns")
        fail("unknown-column", f"there is no column `{name}`", sheet.span, hint=hint)
    known, name = KNOWN.get(heading.name), heading.name
    size = unit_size(heading, known)
    values = np.empty(len(sheet.rows))
    for index, row in enumerate(sheet.rows):
        value = number_in(row[name])
        if value is None and blank and is_blank(row[name]):
            value = math.nan
        elif value is None:
            _refuse_cell(row[name], name)
        if known is not None and known.positive and value <= 0:
            fail("not-positive", f"the {name} is {row[name].value}, and must be above zero", row[name].span,
                 parents=row[name].parents)  # fmt: skip
        if abs(value) > MOST or 0 < abs(value) < LEAST:
            hint = f"a measurement lies between {LEAST:g} and {MOST:g}"
            fail("implausible", f"the {name} {row[name].value} is not a plausible measurement", row[name].span,
                 parents=row[name].parents, hint=hint)  # fmt: skip
        values[index] = value
    return values * size


def unit_size(heading: Heading, column: KnownColumn | None) -> float:
    """Size of a column's unit in base units."""
    unit = plain_unit(heading.unit)
    if unit is None:
        return 1.0
    if column is not None and not column.text and parse_unit(unit).dimension != column.dimension:
        wanted, given = map(describe_dimension, (column.dimension, parse_unit(unit).dimension))
        message = f"`{heading.name}` is in {wanted}, and `{unit}` is {given}"
        fail("wrong-unit", message, heading.span)
    return float(parse_unit(unit).size)


def _refuse_cell(cell: Cell, name: str) -> NoReturn:
    text = str(cell.value).strip()
    _number, _, unit = text.partition(" ")
    if unit in UNITS or unit in SAME_UNIT:
        hint = f"one unit holds for the whole column: `{name} [{unit}]` in the first line, and plain numbers below"
        fail("mixed-units", f"`{text}` has a unit of its own", cell.span, hint=hint, parents=cell.parents)
    instead = f"`{text}` is none" if text and cell.value is not None else "nothing stands here"
    hint = "leave such rows out with a condition, or the column with --predictors"
    fail("bad-value", f"a value of `{name}` is a number, and {instead}", cell.span, hint=hint, parents=cell.parents)


def is_blank(cell: Cell) -> bool:
    """Whether a cell is empty."""
    return cell.value is None or (isinstance(cell.value, str) and cell.value in ("", "-"))


def is_numeric(sheet: MeasurementSheet, name: str) -> bool:
    """Whether numbers stand in a column: at least one, and no text."""
    others = [row[name] for row in sheet.rows if number_in(row[name]) is None]
    return len(others) < len(sheet.rows) and all(str(cell.value).lower() in ("", "nan", "none", "-") for cell in others)


def row_keys(sheet: MeasurementSheet, names: Iterable[str]) -> list[tuple[str, ...]]:
    """Contents of some columns, row by row; missing columns are left out."""
    there = [name for name in names if name in sheet.names]
    return [tuple(str(row[name].value) for name in there) for row in sheet.rows]


# -- base runs, with which runs are compared that differ only in a clock ------------------------------


WHAT_RAN = ("application", "region", "input", "device")
"""Columns that say what ran, and on what."""


def find_base_rows(
    sheet: MeasurementSheet, clock: str, alike: Sequence[str], end: Literal["lowest", "highest"]
) -> NDArray[np.int64]:
    """Index of the base sample of each row: the row with the lowest or highest `clock` among those with a known runtime
    that have the same in the columns `alike`. Raises AspenError where there is none."""
    import numpy as np

    clocks = read_numbers(sheet, clock) * (1 if end == "lowest" else -1)
    known = np.isfinite(read_numbers(sheet, "runtime", blank=True))
    bases = np.zeros(len(sheet.rows), dtype=np.int64)
    for key, indices in rows_by_key(row_keys(sheet, alike)).items():
        measured = [index for index in indices if known[index]]
        if not measured:
            what = " ".join(key) or "the code"
            hint = f"its runtime at the {end} {clock} is what predictions start from"
            fail("no-base", f"{what} has no base sample: no runtime was measured", sheet.span, hint=hint)
        bases[indices] = min(measured, key=clocks.__getitem__)
    return bases


def find_key_problem(alike: Sequence[str], codes: Sequence[Sequence[Any]]) -> str | None:
    """Why what was learnt of some codes does not fit the columns that tell them apart; None where it does."""
    if not codes:
        return "it has learnt no code"
    return None if {len(key) for key, _ in codes} == {len(alike)} else "its codes do not fit its columns"


def rows_by_key(keys: Sequence[tuple[str, ...]]) -> dict[tuple[str, ...], list[int]]:
    """The numbers of the rows that have each key, from 0 on."""
    rows: dict[tuple[str, ...], list[int]] = {}
    for index, key in enumerate(keys):
        rows.setdefault(key, []).append(index)
    return rows


def find_columns(text: str, sheet: MeasurementSheet) -> list[str]:
    """The columns that a formula, or the name of a column, depends on. Raises AspenError for a name that is none."""
    try:
        return [sheet.heading(text).name]
    except KeyError:
        return [symbol.name for symbol in sorted_symbols(lower_formula(text, sheet))]


def evaluate_formula(text: str, sheet: MeasurementSheet) -> NDArray[np.float64]:
    """The values of a formula, or of a column, row by row, in base units."""
    import numpy as np

    try:
        return read_numbers(sheet, sheet.heading(text).name)
    except KeyError:
        expr = lower_formula(text, sheet)
    symbols = sorted_symbols(expr)
    values = [read_numbers(sheet, symbol.name) for symbol in symbols]
    prepared = PreparedExpressions([expr], symbols)
    found = np.empty(len(sheet.rows))
    for index, row in enumerate(zip(*values, strict=True) if values else [()] * len(sheet.rows)):
        try:
            found[index] = prepared(*map(float, row))[0]
        except EvaluationError as error:
            line = next(iter(sheet.rows[index].values()))
            fail("no-value", f"`{text}` has no value: {error}", line.span, parents=line.parents)
    return found


def lower_formula(text: str, sheet: MeasurementSheet) -> Expr:
    """A predictor such as `cycles/instructions` as an expression of columns. Raises AspenError for unknown names."""

    def resolve(node: nodes.Name) -> Expr:
        try:
            return graph.symbol(sheet.heading(node.name).name, "column")
        except KeyError:
            known = constant_value(node.name)
        if known is None:
            hint = suggest_instead(node.name, sheet.names, "columns")
            fail("unknown-column", f"there is no column `{node.name}`", node.span, hint=hint)
        return known

    node = parse_value(text, "<predictor>")
    if isinstance(node, nodes.Array):
        fail("bad-predictor", "a predictor is one number a row, not an array", node.span)
    return Lowering(resolve, {})(node)


def sorted_symbols(expr: Expr) -> list[Expr]:
    symbols: Iterable[Expr] = graph.free_symbols(expr)
    return sorted(symbols, key=lambda symbol: str(symbol.payload))
