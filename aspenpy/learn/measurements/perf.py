"""perf: what `perf stat -x,` and `perf stat -j` write: a line for each event, of one run."""

from __future__ import annotations

import json
import re

from aspenpy.language.diagnostics import fail
from aspenpy.language.source import Source, Span
from aspenpy.learn.measurements.sheet import Cell, Row, Sheet, lines_of, number, sheet_of_cells, whole_line

BEFORE = r"(\s*\d+\.\d+,(?=[\d<]|CPU\d|S\d))?(CPU\d+,|S\d+(-[A-Z]+\d+)*,\d+,)?"
"""What stands before the value of an event: the time of an interval (`-I`), and a core (`-A`, `--per-core`)."""

COMMENTS = re.compile(r"(?:#.*\n|[^\S\n]*\n)*")
"""Lines before the first that says something. Blank ones are taken in one way only: with `\\s*` for the blanks n of
them would be tried in 2^n ways."""

EVENT = re.compile(rf"{BEFORE}[^,\n]*,[^,\d\n]*,[A-Za-z][\w./:=-]*(,[\w=]+)*/?,\d+,\d+(\.\d+)?")
"""The first line that is no comment."""

OF_UNIT = re.compile(r"^(?:cpu|cpu_core|cpu_atom|arm\w*pmu\w*)/([A-Za-z][\w.-]*)/[ukhpGHS]*$")
"""An event of a processor with several kinds of cores: `cpu_core/cycles/u`."""

UNITS = {"msec": "ms", "Joules": "J", "ns": "ns"}
HINT = "a line is `value,unit,event,runtime,share counted`"


def is_perf(head: str) -> bool:
    return EVENT.match(head, _after_comments(head)) is not None


def is_perf_json(head: str) -> bool:
    return head.startswith("{", _after_comments(head)) and '"counter-value"' in head


def _after_comments(head: str) -> int:
    found = COMMENTS.match(head)
    return 0 if found is None else found.end()


def read_perf(source: Source) -> Sheet:
    """A row with a column for each event; of several lines of one event (a line for each core) the sum."""
    row: Row = {}
    for cells in lines_of(source):
        if str(cells[0].value).startswith("#"):
            continue
        cells = cells[_before(cells) :] or cells
        whole_line(cells, least=3, what="event of perf", hint=HINT)
        event = str(cells[2].value)
        if event.count("/") == 1:  # cpu/event=0x3c,umask=0x0/
            unit, _, rest = ",".join(str(cell.value) for cell in cells[2:]).partition("/")
            event = f"{unit}/{rest.partition('/')[0]}/"
        _add(row, event, str(cells[1].value), cells[0])
    return sheet_of_cells([row] if row else [], source)


def _before(cells: list[Cell]) -> int:
    """How many cells stand before the value."""
    found = re.match(BEFORE, ",".join(str(cell.value) for cell in cells))
    return 0 if found is None else found[0].count(",")


def read_perf_json(source: Source) -> Sheet:
    """As `read_perf`, of a JSON object a line; a line with no counter has a metric alone, made of the others."""
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
        _add(row, str(event), str(unit), Cell(str(value), line, span))
    return sheet_of_cells([row] if row else [], source)


def _add(row: Row, event: str, unit: str, cell: Cell) -> None:
    name = re.sub(r":[ukhpGHS]+$", "", OF_UNIT.sub(r"\1", event))
    header = f"{name} [{UNITS.get(unit, unit)}]" if unit else name
    counted = not str(cell.value).startswith("<not")
    value = number(cell) if counted else None
    before = row.get(header)
    if before is not None and before.value != "" and value is not None:
        value += float(before.value)
    elif before is not None and value is None:
        return
    row[header] = cell._replace(value="" if value is None else value)
