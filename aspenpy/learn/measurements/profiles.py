"""Profiles: the flat profile of gprof, and the report of perf.

gprof: `% time`, cumulative and self seconds, calls and the name (GNU gprof manual, section 5.1, "The Flat Profile").
`perf report --stdio`: the share of each symbol in the count of an event, which counts nanoseconds where the event is
cpu-clock or task-clock (perf-report(1), perf-record(1)).
"""

from __future__ import annotations

import re

from aspenpy.language.diagnostics import fail
from aspenpy.language.source import Source, Span
from aspenpy.learn.measurements.sheet import Cell, MeasurementSheet, Row, tabulate_cells

GPROF = re.compile(r"(?:[^\n]*+\n){0,8}?\s{1,9}time\s{1,9}seconds\s{1,9}seconds\s[^\n]*\bname\b")
GPROF_LINE = re.compile(
    r"\s*+(?P<share>[\d.]++)\s++[\d.]++\s++(?P<own>[\d.]++)(?:\s++(?P<calls>\d++)\s++[\d.]++\s++[\d.]++)?+\s++(?P<name>\S.*)"
)

PERF_REPORT = re.compile(r"(?:#[^\n]*+\n|\n){0,40}?# +(?:Children +Self|Overhead)\b")
PERF_LINE = re.compile(r"\s*+(?:[\d.]++%\s++(?=[\d.]++%))?+(?P<share>[\d.]++)%\s++(?P<rest>\S.*)")
SYMBOL = re.compile(r"\[[.kguHh]\]\s")
EVENT_COUNT = re.compile(
    r"# Samples: [^\n]* of event '(?P<event>[^'\n]++)'[^#]*# Event count \(approx\.\): (?P<count>\d{1,30})"
)
CLOCKS = ("cpu-clock", "task-clock")
"""Events that count nanoseconds."""


def read_gprof(source: Source) -> MeasurementSheet:
    """One row per function with its own seconds, without those of what it calls, and its calls."""
    rows: list[Row] = []
    inside, start = False, 0
    for number, line in enumerate(source.text.split("\n"), 1):
        span = Span(source, start, start + len(line))
        start += len(line) + 1
        if not inside:
            inside = line.split()[:3] == ["time", "seconds", "seconds"]
            continue
        match = GPROF_LINE.match(line)
        if match is None:
            break
        row = {"region": Cell(match["name"].strip(), number, span)}
        row["runtime [s]"] = Cell(_blank_zero(match["own"]), number, span)
        rows.append(row | ({"calls": Cell(match["calls"], number, span)} if match["calls"] else {}))
    return tabulate_cells(rows, source)


def read_perf_report(source: Source) -> MeasurementSheet:
    """One row per symbol with its share, and its seconds where a clock was sampled. Raises AspenError for several
    events in one report."""
    counted = EVENT_COUNT.findall(source.text)
    whole = Span(source, 0, len(source.text.partition("\n")[0]))
    if len(counted) > 1:
        fail("several-events", f"`{source.name}` reports several events", whole, hint="perf record -e cpu-clock")
    event, count = counted[0] if counted else ("", "0")
    rows: dict[str, Row] = {}
    start = 0
    for number, line in enumerate(source.text.split("\n"), 1):
        span = Span(source, start, start + len(line))
        start += len(line) + 1
        match = PERF_LINE.match(line) if not line.startswith("#") else None
        symbol = SYMBOL.search(match["rest"]) if match else None
        if match is None or symbol is None:
            continue
        name, share = match["rest"][symbol.end() :].strip(), float(match["share"]) / 100
        row = rows.setdefault(name, {"region": Cell(name, number, span), "share": Cell(0.0, number, span)})
        row["share"] = row["share"]._replace(value=row["share"].value + share)
        if event.partition(":")[0] in CLOCKS:
            row["runtime [s]"] = Cell(row["share"].value * int(count) / 1e9 or "", number, span)
    return tabulate_cells(rows.values(), source)


def _blank_zero(text: str) -> str:
    return text if float(text) else ""
