"""Reuse distances as a report: histograms in octaves, and what caches of their sizes would miss."""

from __future__ import annotations

from aspenpy.tables.numbers import count
from aspenpy.tables.table import TEXT, Column, Paragraph, Part, Report, Table
from aspenpy.traces.distances import ReuseDistances


def capacity(value: float) -> str:
    """`64 B`, `32 KiB`: the sizes of caches are powers of two."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if value < 1024:
            return f"{value:g} {unit}"
        value /= 1024
    return f"{value:g} TiB"


SUMMARY = (
    Column("references to"),
    Column("addresses"),
    Column("references", "count"),
    Column("first ones", "count"),
    Column("median distance", str, "right"),
)

OCTAVES = (
    Column("distance", str, "right"),
    Column("references", "count"),
    Column("of all", "share"),
    Column("cumulative", "share"),
    Column("cache", capacity, "unit"),
    Column("misses", "share"),
)

ERROR = Column("standard error", "share")  # of the misses, where they are estimated
WHOLE = "all"


def report(found: ReuseDistances) -> Report:
    """The whole trace, then each range. Its JSON and CSV are those of `ReuseDistances`."""
    parts = [found, *found.ranges.values()]
    shown: tuple[Part, ...] = (
        *_sample(found),
        Table(SUMMARY, tuple(_summary(part) for part in parts), media=TEXT),
        *(_octaves(part) for part in parts if part.references),
    )
    return Report(f"reuse distances of {found.source}, in lines of {found.line} B", {}, shown)


def _sample(found: ReuseDistances) -> tuple[Paragraph, ...]:
    if found.rate is None:
        return ()
    return (Paragraph(f"estimated from {100 * found.rate:g} % of the lines; {found.error_told()}"),)


def _summary(part: ReuseDistances) -> tuple[object, ...]:
    addresses = f"{part.part.low:#x} - {part.part.high:#x}" if part.part else None
    return part.name or WHOLE, addresses, part.references, round(part.cold), _median(part)


def _median(part: ReuseDistances) -> str | None:
    """The least distance that half the references do not exceed; first references exceed all."""
    if not part.references:
        return None
    beyond = 2 * part.counts.cumsum() < part.references
    place = int(beyond.sum())
    return count(int(part.distances[place])) if place < len(beyond) else "inf"


def _octaves(part: ReuseDistances) -> Table:
    """Distances 0, 1, 2 to 3, 4 to 7, ...: those of an octave hit first in a cache that is twice as large."""
    rows: list[tuple[object, ...]] = []
    lines, before = 1, 0.0
    longest = int(part.distances[-1]) if len(part.distances) else -1
    while lines // 2 <= longest:
        hits = 1 - part.miss_ratio(lines)
        first, last = lines // 2, lines - 1
        inside = (part.distances >= first) & (part.distances <= last)
        text = count(first) if first == last else f"{count(first)} - {count(last)}"
        row = (text, round(part.counts[inside].sum().item()), hits - before, hits, lines * part.line, 1 - hits)
        rows.append((*row, part.miss_ratio_error(lines)))
        lines, before = lines * 2, hits
    rows.append(("first", round(part.cold), part.cold / part.references, 1.0, None, None, None))
    columns = OCTAVES if part.rate is None else (*OCTAVES, ERROR)
    return Table(
        columns,
        tuple(row[: len(columns)] for row in rows),
        title=f"{part.name or WHOLE} (misses: of a fully associative LRU cache)",
    )
