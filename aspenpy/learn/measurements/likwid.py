"""LIKWID: the tables that `likwid-perfctr -o x.csv` writes, raw and metrics, of threads and with statistics."""

from __future__ import annotations

import re
from collections.abc import Iterator

from aspenpy.language.source import Source
from aspenpy.learn.measurements.sheet import Cell, Row, Sheet, lines_of, malformed, number, sheet_of_cells

TITLE = re.compile(r"Group \d+ (?P<kind>Raw|Metric)(?P<statistics> Stat| STAT)?$")
LONGEST, MEAN, SUM = "longest", "mean", "sum"
HEADS = ("Event", "Metric", "Region Info")
"""How the names of columns begin; of a region marked in the program its time and its calls come before the events."""

HINT = "a table begins with a line `TABLE,Group 1 Raw,MEM,...` and the names of its columns"


def is_likwid(head: str) -> bool:
    return head.startswith(("STRUCT,", "TABLE,")) or "\nTABLE,Group" in head or "\nTABLE,Region" in head


def read_likwid(source: Source, per_thread: bool = False) -> Sheet:
    """A row for each region, or for each thread of it; without statistics the values of the threads are put together:
    events and amounts are summed, times are those of the slowest, clocks and ratios are means."""
    regions: dict[str, dict[str, Row]] = {}
    threads: dict[str, int] = {}
    for region, is_raw, header, cells in _values(source):
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
            row[name] = cells[0]._replace(value=_together(SUM if is_raw else _rule(name), values))
    rows = []
    for region, parts in regions.items():
        for row in parts.values():
            line = next(iter(row.values())).row
            rows.append(row if per_thread else {"threads": Cell(threads[region], line)} | row)
    return sheet_of_cells(rows, source)


def _values(source: Source) -> Iterator[tuple[str, bool, list[Cell], list[Cell]]]:
    """Region, whether the values are events, header and cells of each line of a table that is no statistics: these are
    of the threads' own values."""
    region, header, inside = "", list[Cell](), False
    for cells in lines_of(source):
        while len(cells) > max(len(header), 1) and not cells[-1].value:
            cells.pop()
        first = str(cells[0].value)
        if first in ("TABLE", "STRUCT"):
            texts = [str(cell.value) for cell in cells[1:]]
            title = next((found for text in texts if (found := TITLE.search(text))), None)
            inside, header = first == "TABLE" and title is not None and not title["statistics"], []
            region = next((text.removeprefix("Region ") for text in texts if text.startswith("Region ")), "")
        elif inside and (not header or first in HEADS):
            header = cells
        elif inside:
            if len(cells) != len(header):
                malformed(cells, f"has {len(cells)} values for {len(header)} columns", HINT)
            yield region, str(header[0].value) == "Event", header, cells


def _together(rule: str, cells: list[Cell]) -> float | str:
    """What the threads have measured, as one number."""
    found = [value for value in map(number, cells) if value is not None]
    if not found:
        return ""
    return max(found) if rule == LONGEST else sum(found) / len(found) if rule == MEAN else sum(found)


def _rule(name: str) -> str:
    """How a metric of threads becomes that of the run: what has no unit is a ratio."""
    unit = re.search(r"\[([^\[\]]*)\]$", name)
    if unit is None:
        return LONGEST if name == "call count" else MEAN
    return {"s": LONGEST, "MHz": MEAN, "GHz": MEAN, "%": MEAN, "C": MEAN}.get(unit[1], SUM)
