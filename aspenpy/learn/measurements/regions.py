"""Profiles of annotated regions: Caliper's JSON of `hatchet-region-profile`, TAU's `profile.0.0.0`, and the JSON of
PAPI's high-level interface.

Caliper: rows of values by `columns`; a path is the number of a node, which names its region (Caliper's documentation,
"JSON split format", which hatchet reads). TAU: name, calls, calls that it makes, exclusive and inclusive microseconds
(TAU User Guide, "Profile data format"). What event-based sampling found in a timer stands as `[SAMPLE] function`, a row
for each line of the source, their sum as `[CONTEXT] timer`, and the timer still has all of it: in hatchet's example of
LULESH, 239.7 of 241.5 s. PAPI: regions by thread, which may lie in one another, with the nanoseconds and counts between
begin and end (manual page PAPI_hl_region_end(3)).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from aspenpy.language.diagnostics import fail
from aspenpy.language.schema import parse_json
from aspenpy.language.source import Source, Span
from aspenpy.learn.measurements.sheet import Cell, MeasurementSheet, Row, tabulate_cells

CALIPER = re.compile(r'\s*+\{\s*+"data"\s*+:\s*+\[\s*+\[')

TAU = re.compile(r"\d{1,9} templated_functions")
TAU_LINE = re.compile(
    r'"(?P<name>[^"\n]{1,4000})" (?P<calls>[\d.eE+-]{1,24}) [\d.eE+-]{1,24} (?P<own>[\d.eE+-]{1,24}) '
    r"(?P<inclusive>[\d.eE+-]{1,24}) "
)
CALL_PATH = " => "
"""In the names of functions as they were called by others, which TAU counts by themselves as well."""


def read_caliper(source: Source) -> MeasurementSheet:
    """One row per region with its own seconds, those of all its paths together; of several ranks the mean."""
    whole = Span(source, 0, len(source.text.partition("\n")[0]))
    try:
        held = parse_json(source.text)
        times = _time_of_regions(held)
    except (ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError) as error:
        hint = "CALI_CONFIG=hatchet-region-profile writes one"
        fail("no-profile", f"`{source.name}` is no profile of Caliper: {type(error).__name__}", whole, hint=hint)
    rows = [{"region": Cell(name, 1, whole), "runtime [s]": Cell(time or "", 1, whole)} for name, time in times.items()]
    return tabulate_cells(rows, source)


def _time_of_regions(held: Mapping[str, Any]) -> dict[str, float]:
    columns, about = list(held["columns"]), held.get("column_metadata", [])
    units = [str(each.get("attribute.unit", "")) for each in about]
    timed = [index for index, unit in enumerate(units) if unit.startswith("sec")]
    timed += [index for index, name in enumerate(columns) if "time" in name and index not in timed]
    own = [index for index in timed if "inc" not in columns[index].lower()] or timed
    place, rank = columns.index("path"), columns.index("mpi.rank") if "mpi.rank" in columns else None
    ranks = {row[rank] for row in held["data"]} if rank is not None else {0}
    times: dict[str, float] = {}
    for row in held["data"]:
        if row[place] is not None and row[own[0]] is not None:
            name = str(held["nodes"][row[place]]["label"])
            times[name] = times.get(name, 0.0) + float(row[own[0]]) / len(ranks)
    return times


def read_tau(source: Source) -> MeasurementSheet:
    """One row per function with its own seconds, without those of what it calls and what was sampled in it, and its
    calls."""
    rows: dict[str, Row] = {}
    times: dict[str, float] = {}
    start = 0
    for number, line in enumerate(source.text.split("\n"), 1):
        span = Span(source, start, start + len(line))
        start += len(line) + 1
        found = TAU_LINE.match(line)
        if found is None or CALL_PATH in found["name"] or found["name"].startswith("[UNWIND] "):
            continue
        name = found["name"].partition(" [{")[0].strip()
        timer = name.removeprefix("[CONTEXT] ")
        if timer != name:
            times[timer] = times.get(timer, 0.0) - float(found["inclusive"])
            continue
        name = name.removeprefix("[SAMPLE] ")
        times[name] = times.get(name, 0.0) + float(found["own"])
        rows.setdefault(name, {"region": Cell(name, number, span), "calls": Cell(found["calls"], number, span)})
    for name, row in rows.items():
        row["runtime [s]"] = row["region"]._replace(value=max(times[name], 0.0) / 1e6 or "")
    return tabulate_cells(list(rows.values()), source)


PAPI = re.compile(r'\s*+\{\s*+"papi_version"\s*+:')


def read_papi(source: Source) -> MeasurementSheet:
    """One row per region with its own seconds and counts in all its passes, of several threads those of each."""
    whole = Span(source, 0, len(source.text.partition("\n")[0]))
    try:
        sums = _sums_of_regions(parse_json(source.text))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        hint = "a program with PAPI_hl_region_begin writes one into papi_hl_output"
        fail("no-profile", f"`{source.name}` is no report of PAPI: {type(error).__name__}", whole, hint=hint)
    rows = [
        {"region": Cell(name, 1, whole)} | {key: Cell(max(value, 0.0) or "", 1, whole) for key, value in own.items()}
        for name, own in sums.items()
    ]
    return tabulate_cells(rows, source)


def _sums_of_regions(held: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    """Seconds and counts by region, without those of regions inside."""
    sums: dict[str, dict[str, float]] = {}
    counters = [name for name, about in held["event_definitions"].items() if about["type"] == "delta"]
    for regions in (thread["regions"] for thread in held["threads"].values()):
        for region in regions.values():
            own = {"runtime [s]": float(region["real_time_nsec"]) / 1e9}
            own |= {name: float(region[name]) for name in counters}
            parent = regions.get(region["parent_region_id"], {"name": ""})["name"]
            for name, sign in ((region["name"], 1.0), (parent, -1.0)):
                at = sums.setdefault(name, {})
                at |= {column: at.get(column, 0.0) + sign * value for column, value in own.items()}
    return {name: own for name, own in sums.items() if name}
