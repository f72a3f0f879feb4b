"""The file of a reuse-distance histogram: what `aspenpy rdd` writes, and what a model's `rdd("file.csv")` reads.

    # line_bytes: 64
    distance,count,cumulative
    0,6,0.6
    2,3,0.9
    inf,1,1

A distance is the number of other lines touched between two references to a line: 0 for a line that is touched twice
in a row. In a fully associative LRU cache of n lines those below n hit. `inf` is the first reference to a line. A
row's `cumulative` is the part of all references that have its distance or a smaller one; the last is 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from math import inf, isfinite, isnan
from typing import TYPE_CHECKING

from aspenpy.language.diagnostics import fail, require_known
from aspenpy.language.files import Reader
from aspenpy.language.source import Source, Span, trim_span
from aspenpy.record import Record

if TYPE_CHECKING:
    from pathlib import Path

DISTANCE, COUNT, CUMULATIVE = COLUMNS = ("distance", "count", "cumulative")

LINE_BYTES = "line_bytes"  # the remark that a reader understands; all others are for people

TOLERANCE = 1e-6
"""Amount by which cumulative shares may miss 1, and what the counts say: files are written with few digits by hand."""

MEANING = "distance: other lines touched since the last reference to the line; inf: the first reference to it"


class DistanceDistribution(Record):
    """Reuse distances of a file, in lines, ascending and finite, and the part of all references up to each; `cold` is
    the part that has none, the first references. `line_bytes` is None where the file does not tell."""

    distances: tuple[float, ...]
    cumulative: tuple[float, ...]
    cold: float
    line_bytes: int | None


class _Cell(Record):
    """A number of the file, and where it stands."""

    value: float
    span: Span


# -- writing ---------------------------------------------------------------------------------------


def format_histogram(
    remarks: Iterable[tuple[str, object]], distances: Sequence[float], counts: Sequence[float], cold: float
) -> str:
    """The text of such a file; a remark is a name and what it says. Counts need not be whole."""
    total = sum(counts) + cold
    lines = [f"# {name}: {_escape_controls(value)}" for name, value in remarks]
    lines += [f"# {MEANING}", ",".join(COLUMNS)]
    running: float = 0
    for distance, count in zip(distances, counts, strict=True):
        running += count
        lines.append(f"{distance},{count!r},{running / total!r}")
    lines.append(f"inf,{cold!r},1")
    return "\n".join(lines) + "\n"


def _escape_controls(value: object) -> str:
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in str(value))


# -- reading ---------------------------------------------------------------------------------------


def read_histogram(path: Path | str) -> DistanceDistribution:
    """Reads such a file. AspenError, with the place, for what cannot be a distribution."""
    return parse_histogram(Reader().read(path))


def parse_histogram(source: Source) -> DistanceDistribution:
    """The distribution that a text holds. Columns may stand in any order, `count` may be missing, and so may the row
    `inf`, where nothing is cold."""
    line_bytes: int | None = None
    header: list[str] | None = None
    rows: list[list[_Cell]] = []
    lines = _split_span(Span(source, 0, len(source.text)), "\n")
    for span in lines:
        text = span.text()
        if not text:
            continue
        if text.startswith("#"):
            line_bytes = _parse_line_bytes(span) or line_bytes
        elif header is None:
            header = _parse_header(span)
        else:
            rows.append(_parse_row(span, header))
    if header is None or not rows:
        fail("empty-histogram", f"`{source.name}` holds no distances", hint=f"columns are {', '.join(COLUMNS)}")
    columns = dict(zip(header, zip(*rows, strict=True), strict=True))
    _require_increasing(columns[DISTANCE])
    _require_shares(columns[CUMULATIVE])
    if COUNT in columns:
        _require_agreement(columns[COUNT], columns[CUMULATIVE])
    distances = [cell.value for cell in columns[DISTANCE]]
    shares = [cell.value for cell in columns[CUMULATIVE]]
    finite = len(distances) - (distances[-1] == inf)
    before = shares[finite - 1] if finite else 0.0
    return DistanceDistribution(tuple(distances[:finite]), tuple(shares[:finite]), shares[-1] - before, line_bytes)


def _split_span(span: Span, separator: str) -> Iterator[Span]:
    """The spans between separators, without the blanks around them."""
    offset = span.start
    for text in span.text().split(separator):
        yield trim_span(Span(span.source, offset, offset + len(text)))
        offset += len(text) + 1


def _parse_line_bytes(span: Span) -> int | None:
    name, colon, value = span.text().lstrip("# ").partition(":")
    if name.strip() != LINE_BYTES or not colon:
        return None
    if not value.strip().isdecimal() or not int(value):
        fail("histogram-line", f"`{LINE_BYTES}` is not a number of bytes", span, hint="such as 64")
    return int(value)


def _parse_header(span: Span) -> list[str]:
    cells = list(_split_span(span, ","))
    names = [cell.text() for cell in cells]
    for name, cell in zip(names, cells, strict=True):
        message = f"there is no column `{name}` in a histogram"
        require_known(name, COLUMNS, "histogram-column", message, cell, listed="columns are")
        if names.count(name) > 1:
            fail("histogram-column", f"there are two columns `{name}`", cell)
    for name in (DISTANCE, CUMULATIVE):
        if name not in names:
            fail("histogram-column", f"a column `{name}` is missing", span, hint=f"columns are {', '.join(COLUMNS)}")
    return names


def _parse_row(span: Span, header: Sequence[str]) -> list[_Cell]:
    cells = list(_split_span(span, ","))
    if len(cells) != len(header):
        fail("histogram-row", f"a row has {len(header)} numbers, this one {len(cells)}", span)
    return [_parse_cell(cell, name) for cell, name in zip(cells, header, strict=True)]


def _parse_cell(span: Span, column: str) -> _Cell:
    try:
        value = float(span.text())
    except ValueError:
        fail("histogram-number", f"this {column} is not a number", span)
    if isnan(value) or (column != DISTANCE and not isfinite(value)):
        fail("histogram-number", f"this {column} is not a finite number", span)
    if value < 0:
        fail("histogram-negative", f"this {column} is negative", span)
    return _Cell(value, span)


def _require_increasing(cells: Sequence[_Cell]) -> None:
    for before, cell in pairwise(cells):
        if cell.value <= before.value:
            message = f"distances do not increase: {before.span.text()}, then {cell.span.text()}"
            fail("histogram-order", message, cell.span)


def _require_shares(cells: Sequence[_Cell]) -> None:
    for before, cell in pairwise(cells):
        if cell.value < before.value:
            message = f"cumulative shares decrease: {before.span.text()}, then {cell.span.text()}"
            fail("histogram-decreasing", message, cell.span)
    if abs(cells[-1].value - 1) > TOLERANCE:
        hint = "the last row is for all references: a share of 1"
        message = f"the cumulative shares end at {cells[-1].span.text()}, not at 1"
        fail("histogram-end", message, cells[-1].span, hint=hint)


def _require_agreement(counts: Sequence[_Cell], shares: Sequence[_Cell]) -> None:
    total = sum(cell.value for cell in counts)
    if not total:
        fail("empty-histogram", "all counts are 0", counts[0].span)
    running = 0.0
    for count, share in zip(counts, shares, strict=True):
        running += count.value
        if abs(running / total - share.value) > TOLERANCE:
            message = f"the counts up to here are {running / total:.6g} of all, not {share.span.text()}"
            fail("histogram-counts", message, share.span)
