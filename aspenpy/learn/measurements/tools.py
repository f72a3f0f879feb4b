"""Tools: what programs that count print.

Lines of `perf stat -x,` and `perf stat -j`, one for each event of a run; tables of LIKWID; times and metrics of
`nvprof --csv`, metrics of `ncu --csv`, samples of `nvidia-smi --query-gpu --format=csv` and of DCGM.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from aspenpy.language.diagnostics import fail
from aspenpy.language.dimensions import parse_unit
from aspenpy.language.source import Source, Span
from aspenpy.learn.measurements.columns import plain_unit
from aspenpy.learn.measurements.sheet import (
    Cell,
    MeasurementSheet,
    Row,
    normalise_cell,
    parse_number,
    read_lines,
    refuse_line,
    require_values,
    require_width,
    tabulate_cells,
)

BEFORE = r"(\s*\d+\.\d+,(?=[\d<]|CPU\d|S\d))?(CPU\d+,|S\d+(-[A-Z]+\d+)*,\d+,)?"
"""Fields before the value of an event: the time of an interval (`-I`), and a core (`-A`, `--per-core`)."""

COMMENTS = re.compile(r"(?:#.*\n|[^\S\n]*\n)*")
"""Lines before the first that says something. Blank ones are taken in one way only: with `\\s*` for the blanks n of
them would be tried in 2^n ways."""

EVENT = re.compile(rf"{BEFORE}[^,\n]*,[^,\d\n]*,[A-Za-z][\w./:=-]*(,[\w=]+)*/?,\d+,\d+(\.\d+)?")
"""Pattern of the first line after comments."""

OF_UNIT = re.compile(r"^(?:cpu|cpu_core|cpu_atom|arm\w*pmu\w*)/([A-Za-z][\w.-]*)/[ukhpGHS]*$")
"""An event of a processor with several kinds of cores: `cpu_core/cycles/u`."""

UNITS = {"msec": "ms", "Joules": "J", "ns": "ns"}
HINT = "a line is `value,unit,event,runtime,share counted`"


def is_perf(head: str) -> bool:
    return EVENT.match(head, skip_comments(head)) is not None


def is_perf_json(head: str) -> bool:
    return head.startswith("{", skip_comments(head)) and '"counter-value"' in head


def skip_comments(head: str) -> int:
    comments = COMMENTS.match(head)
    return 0 if comments is None else comments.end()


def read_perf(source: Source) -> MeasurementSheet:
    """A row with a column for each event; of several lines of one event (a line for each core) the sum."""
    row: Row = {}
    for cells in read_lines(source):
        if str(cells[0].value).startswith("#"):
            continue
        cells = cells[count_leading_cells(cells) :] or cells
        require_values(cells, least=3, what="event of perf", hint=HINT)
        event = str(cells[2].value)
        if event.count("/") == 1:  # cpu/event=0x3c,umask=0x0/
            unit, _, rest = ",".join(str(cell.value) for cell in cells[2:]).partition("/")
            event = f"{unit}/{rest.partition('/')[0]}/"
        add_event(row, event, str(cells[1].value), cells[0])
    return tabulate_cells([row] if row else [], source)


def count_leading_cells(cells: list[Cell]) -> int:
    """Number of cells before the value."""
    match = re.match(BEFORE, ",".join(str(cell.value) for cell in cells))
    return 0 if match is None else match[0].count(",")


def read_perf_json(source: Source) -> MeasurementSheet:
    """Counts of perf as `read_perf` has them, from one JSON object per line; a line with no counter has a metric alone,
    made of the others."""
    row: Row = {}
    start = 0
    for line, text in enumerate(source.text.split("\n"), 1):
        span = Span(source, start, start + len(text))
        start += len(text) + 1
        if not text.strip() or text.startswith("#"):
            continue
        try:
            held = json.loads(re.sub(r",\s*}$", "}", text.strip()))
            if "counter-value" not in held and "metric-value" in held:
                continue
            value, unit, event = held["counter-value"], held.get("unit", ""), held["event"]
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            fail(
                "bad-line",
                f"line {line} is not an event of perf",
                span,
                hint='it is {"counter-value": ..., "event": ...}',
            )
        add_event(row, str(event), str(unit), Cell(str(value), line, span))
    return tabulate_cells([row] if row else [], source)


def add_event(row: Row, event: str, unit: str, cell: Cell) -> None:
    """Adds a count to a row; units of a socket that count the same event are added up."""
    name = re.sub(r":[ukhpGHS]+$", "", OF_UNIT.sub(r"\1", event))
    header = f"{name} [{UNITS.get(unit, unit)}]" if unit else name
    counted = not str(cell.value).startswith("<not")
    value = parse_number(cell) if counted else None
    before = row.get(header)
    if before is not None and before.value != "" and value is not None:
        value += float(before.value)
    elif before is not None and value is None:
        return
    row[header] = cell._replace(value="" if value is None else value)


# LIKWID: the tables that `likwid-perfctr -o x.csv` writes, raw and metrics, of threads and with statistics.


TITLE = re.compile(r"Group \d+ (?P<kind>Raw|Metric)(?P<statistics> Stat| STAT)?$")
LONGEST, MEAN, SUM = "longest", "mean", "sum"
HEADS = ("Event", "Metric", "Region Info")
"""Beginnings of the names of columns; of a region marked in the program its time and its calls come before the
events."""

TABLE_FORM = "a table begins with a line `TABLE,Group 1 Raw,MEM,...` and the names of its columns"


def is_likwid(head: str) -> bool:
    return head.startswith(("STRUCT,", "TABLE,")) or "\nTABLE,Group" in head or "\nTABLE,Region" in head


def read_likwid(source: Source, per_thread: bool = False) -> MeasurementSheet:
    """A row for each region, or for each thread of it; without statistics the values of the threads are put together:
    events and amounts are summed, times are those of the slowest, clocks and ratios are means."""
    regions: dict[str, dict[str, Row]] = {}
    threads: dict[str, int] = {}
    for region, is_raw, header, cells in read_table_lines(source):
        own = regions.setdefault(region, {})
        columns = [str(cell.value) for cell in header]
        first = 2 if columns[:2] == ["Event", "Counter"] else 1
        name, values = str(cells[0].value), cells[first : len(columns)]
        threads[region] = max(threads.get(region, 0), len(values))
        if per_thread:
            for column, cell in zip(columns[first:], values, strict=True):
                row = own.setdefault(
                    column, {"region": Cell(region, cell.row), "hardware_thread": Cell(column, cell.row)}
                )
                row[name] = cell
        else:
            row = own.setdefault("", {"region": Cell(region, cells[0].row)})
            row[name] = cells[0]._replace(value=combine_threads(SUM if is_raw else combining_rule(name), values))
    rows = []
    for region, parts in regions.items():
        for row in parts.values():
            line = next(iter(row.values())).row
            rows.append(row if per_thread else {"threads": Cell(threads[region], line)} | row)
    return tabulate_cells(rows, source)


def read_table_lines(source: Source) -> Iterator[tuple[str, bool, list[Cell], list[Cell]]]:
    """Region, whether the values are events, header and cells of each line of a table that is no statistics: these are
    of the threads' own values."""
    region, header, inside = "", list[Cell](), False
    for cells in read_lines(source):
        while len(cells) > max(len(header), 1) and not cells[-1].value:
            cells.pop()
        first = str(cells[0].value)
        if first in ("TABLE", "STRUCT"):
            texts = [str(cell.value) for cell in cells[1:]]
            title = next((match for text in texts if (match := TITLE.search(text))), None)
            inside, header = first == "TABLE" and title is not None and not title["statistics"], []
            region = next((text.removeprefix("Region ") for text in texts if text.startswith("Region ")), "")
        elif inside and (not header or first in HEADS):
            header = cells
        elif inside:
            require_width(cells, len(header), TABLE_FORM)
            yield region, str(header[0].value) == "Event", header, cells


def combine_threads(rule: str, cells: list[Cell]) -> float | str:
    """The values of the threads combined into one number; blank where there are none."""
    numbers = [value for value in map(parse_number, cells) if value is not None]
    if not numbers:
        return ""
    return max(numbers) if rule == LONGEST else sum(numbers) / len(numbers) if rule == MEAN else sum(numbers)


def combining_rule(name: str) -> str:
    """Rule that combines a metric of threads; metrics without a unit are ratios."""
    unit = re.search(r"\[([^\[\]]*)\]$", name)
    if unit is None:
        return LONGEST if name == "call count" else MEAN
    return {"s": LONGEST, "MHz": MEAN, "GHz": MEAN, "%": MEAN, "C": MEAN}.get(unit[1], SUM)


RAW = re.compile(r'^"ID",.*"Kernel Name",.*"\w+__', re.MULTILINE)
"""The header of `ncu --csv --page raw`: a column for each metric."""

WITH_UNIT = re.compile(r"^(?P<number>[\d.]+(e[+-]?\d+)?)(?P<unit>[A-Za-z]+(/[a-z]+)?)$")
"""A rate as nvprof writes it: `12.5GB/s`."""

PROFILER = re.compile(r"^==\d+==|^==PROF==", re.MULTILINE)

SAMPLES = re.compile(r"(?=[^\n]*, )[^\n]*(?:power\.draw|clocks\.|utilization\.|memory\.used)")
"""The header of what `nvidia-smi --query-gpu` writes."""

ENTITIES = re.compile(r"^# ?Entity\b", re.MULTILINE)
"""The header of what `dcgmi dmon` writes."""

SUMMARY = re.compile(r'^("Type",)?"Time\(%\)","Time","Calls","Avg","Min","Max","Name"', re.MULTILINE)
"""The header of what `nvprof --csv` writes where no metrics are asked for; before CUDA 9 without the type."""


def read_nvprof_summary(source: Source) -> MeasurementSheet:
    """A row for each kernel and copy: calls, the time of all, and the mean, shortest and longest. Times of calls of the
    CUDA library, which the host waits for, are left out: they contain those of the kernels."""
    header: list[str] = []
    rows: list[Row] = []
    on_device = True
    for cells in read_lines(source):
        texts = [str(cell.value) for cell in cells]
        if PROFILER.match(texts[0]):
            on_device, header = "API calls" not in ",".join(texts), []
            continue
        if not header:
            header = texts if SUMMARY.match(",".join(f'"{text}"' for text in texts)) else []
            continue
        require_width(cells, len(header), "each kernel has a value a column")
        if not texts[-1]:
            units = [plain_unit(text) for text in texts]
            header = [f"{name} [{unit}]" if unit else name for name, unit in zip(header, units, strict=True)]
        elif on_device and texts[0] != "API calls":
            held = dict(zip(header, cells, strict=True))
            row = {"region": held["Name"], "calls": held["Calls"]}
            left_out = ("Type", "Time(%)", "Name", "Calls")
            rows.append(row | {name: normalise_cell(cell) for name, cell in held.items() if name not in left_out})
    return tabulate_cells(rows, source)


def read_nvprof(source: Source) -> MeasurementSheet:
    """A row for each kernel and device, with the mean of each metric."""
    return read_metric_lines(source, key=("Device", "Kernel"), name="Metric Name", value="Avg", unit=None)


def read_ncu(source: Source) -> MeasurementSheet:
    """A row for each launch; a metric in several units is put into the first of them."""
    return read_metric_lines(
        source, key=("ID", "Kernel Name"), name="Metric Name", value="Metric Value", unit="Metric Unit"
    )


ADVISOR = re.compile(r'(?:[^\n]*+\n){0,12}?"?ID"?,"?Function Call Sites and Loops"?,')
"""The header of `advisor --report survey --format csv`, behind the name of the tool and its copyright."""

OF_LOOP = re.compile(r"\[loop in (?P<function>[^\n]*?)(?: at [^\s\]]++)?\]\Z")
OF_ADVISOR = {"Self Time": "runtime [s]", "Self GFLOP": "flops [Gflop]", "Self Giga FLOP": "flops [Gflop]"}


def read_advisor(source: Source) -> MeasurementSheet:
    """A row for each loop under the name of its function, and each function, with its own seconds and flops. Versions
    of a loop, whose times are those of the loop, are left out, and bytes: they are those of all loads and stores."""
    header: list[str] = []
    rows: list[Row] = []
    for cells in read_lines(source):
        texts = [str(cell.value) for cell in cells]
        if not header:
            header = texts if "Function Call Sites and Loops" in texts else []
            continue
        require_width(cells, len(header), "each loop has a value a column")
        held = dict(zip(header, cells, strict=True))
        region = held["Function Call Sites and Loops"]
        if str(region.value).startswith(("-", "[child")):
            continue
        loop = OF_LOOP.match(str(region.value))
        row = {"region": region._replace(value=loop["function"]) if loop else region}
        for name, column in OF_ADVISOR.items():
            if name in held:
                number = str(held[name].value).removesuffix("s").lstrip("<~")
                row[column] = normalise_cell(held[name]._replace(value=number))
        rows.append(row)
    return tabulate_cells(rows, source)


LABELS = {"Kernel": "region", "Kernel Name": "region", "Device": "device", "ID": "run"}


def read_metric_lines(
    source: Source, key: tuple[str, ...], name: str, value: str, unit: str | None
) -> MeasurementSheet:
    """Turns the output of a tool with one line per metric into a sheet with one row per key."""
    header: list[str] = []
    rows: dict[tuple[str, ...], Row] = {}
    units: dict[str, str] = {}
    for cells in read_lines(source):
        texts = [str(cell.value) for cell in cells]
        if PROFILER.match(texts[0]) or (not header and name not in texts):
            continue  # of the profiler, or of the program
        if not header or texts == header:
            header = texts
            if missing := [part for part in (*key, name, value, unit) if part is not None and part not in header]:
                refuse_line(cells, f"has no column `{missing[0]}`", "it is the header of the profiler's own CSV")
            continue
        require_width(cells, len(header), "lines of a profiler begin with `==`")
        held = dict(zip(header, cells, strict=True))
        if not held[name].value:
            continue  # advice of ncu
        first = tuple(str(held[part].value) for part in key)
        row = rows.setdefault(first, {LABELS[part]: held[part] for part in key})
        metric, cell = str(held[name].value), normalise_cell(held[value])
        written = WITH_UNIT.match(str(cell.value)) if unit is None else None
        spelled = str(held[unit].value) if unit is not None else written["unit"] if written is not None else None
        said = plain_unit(spelled) if spelled is not None else None
        if written is not None and said is not None:
            cell = cell._replace(value=written["number"])
        if said is not None:
            common = units.setdefault(metric, said)
            if common != said and cell.value != "":
                number = parse_number(cell)
                assert number is not None
                cell = cell._replace(value=number * float(parse_unit(said).size / parse_unit(common).size))
        elif str(cell.value).endswith("%"):
            cell = cell._replace(value=str(cell.value).removesuffix("%"))
        row[f"{metric} [{units[metric]}]" if metric in units else metric] = cell
    return tabulate_cells(rows.values(), source)


def read_ncu_raw(source: Source) -> MeasurementSheet:
    """A row for each launch, of the table with a column for each metric, whose second line holds the units."""
    header: list[str] = []
    rows: list[Row] = []
    for cells in read_lines(source):
        if not header and str(cells[0].value) != "ID":
            continue
        if not header:
            header = [str(cell.value) for cell in cells]
            continue
        require_width(cells, len(header), "each launch has a value a column")
        if not cells[0].value:
            units = [plain_unit(str(cell.value)) for cell in cells]
            header = [f"{name} [{unit}]" if unit else name for name, unit in zip(header, units, strict=True)]
            continue
        rows.append({LABELS.get(name, name): normalise_cell(cell) for name, cell in zip(header, cells, strict=True)})
    return tabulate_cells(rows, source)


def read_smi(source: Source) -> MeasurementSheet:
    """A row for each sample; units in cells (`64.2 W`, `1410 MHz`) belong to the header."""
    header: list[str] = []
    rows: list[Row] = []
    for cells in read_lines(source):
        texts = [str(cell.value) for cell in cells]
        if not header or texts == header:  # a log that was added to has it again
            header = texts
            continue
        require_width(cells, len(header), "each sample has a value a column")
        row: Row = {}
        for name, cell in zip(header, cells, strict=True):
            number, _, unit = str(cell.value).partition(" ")
            has_unit = number.replace(".", "", 1).isdigit() and f"[{unit}]" in name
            row["device" if name in ("name", "gpu_name") else name] = normalise_cell(
                cell._replace(value=number) if has_unit else cell
            )
        rows.append(row)
    return tabulate_cells(rows, source)


def read_dcgm(source: Source) -> MeasurementSheet:
    """Samples of `dcgmi dmon`: columns of text, and lines such as `GPU 0  98  250.1`."""
    header: list[str] = []
    rows: list[Row] = []
    start = 0
    for line, text in enumerate(source.text.split("\n"), 1):
        span = Span(source, start, start + len(text))
        start += len(text) + 1
        words = text.split()
        if text.startswith("#"):
            header = [word for word in text.removeprefix("#").split() if word != "Entity"] or header
        elif words and words[0] in ("GPU", "GPU-I", "GPU-CI"):
            cells = [Cell(word, line, span) for word in words]
            require_values(
                cells, least=len(header) + 2, what="sample of DCGM", hint=f"the columns are {', '.join(header)}"
            )
            named = zip(header, map(normalise_cell, cells[2:]), strict=False)
            rows.append({"device": cells[1]} | {rename_dcgm_field(name): cell for name, cell in named})
    return tabulate_cells(rows, source)


def rename_dcgm_field(name: str) -> str:
    return {
        "POWER": "power [W]",
        "POWR": "power [W]",
        "TOTEC": "energy [mJ]",
        "SMCLK": "core_frequency [MHz]",
        "MMCLK": "memory_frequency [MHz]",
    }.get(name, name)


ROCPROF_STATS = re.compile(r'"Name","Calls","TotalDurationNs"')
"""The header of what `rocprof --stats` and `rocprofv3 --stats` write."""

STARTS = ("BeginNs", "Start_Timestamp")
ENDS = ("EndNs", "End_Timestamp")
KERNELS = ("KernelName", "Kernel_Name")
DISPATCH_FACTS = re.compile(
    r"Index|Kind|Correlation_Id|.*(?:_|-)(?:id|Id)|.*(?:_Size|_Count)(?:_[XYZ])?|grd|wgr|lds|scr|.*_?[vs]gpr|fbar|sig|obj"
    r"|.*Ns|.*_Timestamp|pid|tid|queue-index|wave_size"
)
"""Columns of a dispatch that are no counters: numbers of agents and queues, sizes, registers and times."""


def is_rocprof_trace(head: str) -> bool:
    first = head.partition("\n")[0].replace('"', "").split(",")
    complete = all(any(name in first for name in names) for names in (KERNELS, STARTS, ENDS))
    return complete and "Counter_Name" not in first


def is_rocprof_counters(head: str) -> bool:
    first = head.partition("\n")[0]
    return "Kernel_Name" in first and "Counter_Name" in first and "Counter_Value" in first


def read_rocprof_stats(source: Source) -> MeasurementSheet:
    """A row for each kernel: calls and the seconds of all of them."""
    rows = []
    for held in _read_named(source):
        total = held["TotalDurationNs"]
        rows.append({"region": held["Name"], "calls": held["Calls"], "runtime [s]": _nanoseconds(total)})
    return tabulate_cells(rows, source)


def read_rocprof_trace(source: Source) -> MeasurementSheet:
    """A row for each dispatch, with its time and the counters of rocprof's first version (ROCm, "Using rocprof")."""
    rows = []
    for held in _read_named(source):
        kernel, start, end = (next(held[name] for name in names if name in held) for names in (KERNELS, STARTS, ENDS))
        row = {"region": kernel, "runtime [s]": _nanoseconds(end, start)}
        counters = [name for name in held if name not in KERNELS and not DISPATCH_FACTS.fullmatch(name)]
        rows.append(row | {name: normalise_cell(held[name]) for name in counters})
    return tabulate_cells(rows, source)


def read_rocprof_counters(source: Source) -> MeasurementSheet:
    """A row for each dispatch, with its counters, of which rocprofv3 writes one a line (ROCprofiler-SDK, "Kernel
    counter collection")."""
    rows: dict[tuple[str, str], Row] = {}
    for held in _read_named(source):
        key = str(held["Dispatch_Id"].value) if "Dispatch_Id" in held else "", str(held["Kernel_Name"].value)
        row = rows.setdefault(key, {"region": held["Kernel_Name"]})
        name, cell = str(held["Counter_Name"].value), held["Counter_Value"]
        before = parse_number(row[name]) if name in row else 0.0
        row[name] = cell._replace(value=(before or 0.0) + (parse_number(cell) or 0.0))
        if "Start_Timestamp" in held and "End_Timestamp" in held:
            row["runtime [s]"] = _nanoseconds(held["End_Timestamp"], held["Start_Timestamp"])
    return tabulate_cells(rows.values(), source)


def _nanoseconds(end: Cell, start: Cell | None = None) -> Cell:
    """The seconds from one time to another, both in nanoseconds, of which a float does not hold all digits."""
    try:
        spent = int(str(end.value)[:30]) - (0 if start is None else int(str(start.value)[:30]))
    except ValueError:
        fail("bad-value", f"`{end.value}` is no time in nanoseconds", end.span, parents=end.parents)
    return end._replace(value=spent / 1e9 if spent > 0 else "")


def _read_named(source: Source) -> Iterator[dict[str, Cell]]:
    """The cells of each line by the names in the first."""
    header: list[str] = []
    for cells in read_lines(source):
        if not header:
            header = [str(cell.value) for cell in cells]
            continue
        require_width(cells, len(header), "each line has a value a column")
        yield dict(zip(header, cells, strict=True))
