"""perf: what `perf stat -x,` and `perf stat -j` write: a line for each event, of one run."""

from __future__ import annotations

import json
import re

from aspenpy.language.diagnostics import fail
from aspenpy.language.source import Source, Span
from aspenpy.studies.empirical.sheet import Cell, Sheet, lines_of
from aspenpy.studies.readers.rows import Row, number, sheet_of_cells, whole_line

EVENT = re.compile(r"(#.*\n|\s*\n)*[^,\n]*,[^,\d\n]*,[A-Za-z][\w./:=-]*,\d+,\d+(\.\d+)?")
"""The first line that is no comment."""

UNITS = {"msec": "ms", "Joules": "J", "ns": "ns"}
HINT = "a line is `value,unit,event,runtime,share counted`"


def is_perf(head: str) -> bool:
    return EVENT.match(head) is not None


def is_perf_json(head: str) -> bool:
    return head.lstrip().startswith("{") and '"counter-value"' in head


def read_perf(source: Source) -> Sheet:
    """A row with a column for each event; of several lines of one event (a line for each core) the sum."""
    row: Row = {}
    for cells in lines_of(source):
        if str(cells[0].value).startswith("#"):
            continue
        whole_line(cells, least=3, what="event of perf", hint=HINT)
        _add(row, str(cells[2].value), str(cells[1].value), cells[0])
    return sheet_of_cells([row] if row else [], source)


def read_perf_json(source: Source) -> Sheet:
    """As `read_perf`, of a JSON object a line."""
    row: Row = {}
    start = 0
    for line, text in enumerate(source.text.split("\n"), 1):
        span = Span(source, start, start + len(text))
        start += len(text) + 1
        if not text.strip():
            continue
        try:
            held = json.loads(text)
            value, unit, event = held["counter-value"], held.get("unit", ""), held["event"]
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            fail(
                "bad-line", f"line {line} is no event of perf", span, hint='it is {"counter-value": ..., "event": ...}'
            )
        _add(row, str(event), str(unit), Cell(str(value), line, span))
    return sheet_of_cells([row] if row else [], source)


def _add(row: Row, event: str, unit: str, cell: Cell) -> None:
    name = re.sub(r":[ukhp]+$", "", event)
    header = f"{name} [{UNITS.get(unit, unit)}]" if unit else name
    counted = not str(cell.value).startswith("<not")
    value = number(cell) if counted else None
    before = row.get(header)
    if before is not None and before.value != "" and value is not None:
        value += float(before.value)
    elif before is not None and value is None:
        return
    row[header] = cell._replace(value="" if value is None else value)
