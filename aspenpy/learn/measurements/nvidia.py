"""NVIDIA: times and metrics of `nvprof --csv`, metrics of `ncu --csv`, samples of `nvidia-smi --query-gpu
--format=csv` and of DCGM."""

from __future__ import annotations

import re

from aspenpy.language.dimensions import parse_unit
from aspenpy.language.source import Source, Span
from aspenpy.learn.measurements.columns import plain_unit
from aspenpy.learn.measurements.sheet import (
    Cell,
    Row,
    Sheet,
    normalise_cell,
    parse_number,
    read_lines,
    refuse_line,
    require_values,
    require_width,
    tabulate_cells,
)

RAW = re.compile(r'^"ID",.*"Kernel Name",.*"\w+__', re.MULTILINE)
"""The header of `ncu --csv --page raw`: a column for each metric."""

WITH_UNIT = re.compile(r"^(?P<number>[\d.]+(e[+-]?\d+)?)(?P<unit>[A-Za-z]+(/[a-z]+)?)$")
"""How nvprof writes a rate: `12.5GB/s`."""

PROFILER = re.compile(r"^==\d+==|^==PROF==", re.MULTILINE)

SAMPLES = re.compile(r"(?=[^\n]*, )[^\n]*(?:power\.draw|clocks\.|utilization\.|memory\.used)")
"""The header of what `nvidia-smi --query-gpu` writes."""

ENTITIES = re.compile(r"^# ?Entity\b", re.MULTILINE)
"""The header of what `dcgmi dmon` writes."""

SUMMARY = re.compile(r'^("Type",)?"Time\(%\)","Time","Calls","Avg","Min","Max","Name"', re.MULTILINE)
"""The header of what `nvprof --csv` writes where no metrics are asked for; before CUDA 9 without the type."""


def read_nvprof_summary(source: Source) -> Sheet:
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


def read_nvprof(source: Source) -> Sheet:
    """A row for each kernel and device, with the mean of each metric."""
    return read_metric_lines(source, key=("Device", "Kernel"), name="Metric Name", value="Avg", unit=None)


def read_ncu(source: Source) -> Sheet:
    """A row for each launch; a metric in several units is put into the first of them."""
    return read_metric_lines(
        source, key=("ID", "Kernel Name"), name="Metric Name", value="Metric Value", unit="Metric Unit"
    )


LABELS = {"Kernel": "region", "Kernel Name": "region", "Device": "device", "ID": "run"}


def read_metric_lines(source: Source, key: tuple[str, ...], name: str, value: str, unit: str | None) -> Sheet:
    """A table with a line for each metric, with a row for each key."""
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


def read_ncu_raw(source: Source) -> Sheet:
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


def read_smi(source: Source) -> Sheet:
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


def read_dcgm(source: Source) -> Sheet:
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
