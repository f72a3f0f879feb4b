"""Reuse distances as a page: histograms in octaves, and what caches of their sizes would miss."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aspenpy.present.numbers import count, share
from aspenpy.present.page import Page, Paragraph, Title
from aspenpy.present.table import Column, Table

if TYPE_CHECKING:
    from aspenpy.reuse.distances import ReuseDistances


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
    Column("references", count, "right"),
    Column("first ones", count, "right"),
    Column("median distance", str, "right"),
)

OCTAVES = (
    Column("distance", str, "right"),
    Column("references", count, "right"),
    Column("of all", share, "right"),
    Column("cumulative", share, "right"),
    Column("cache", capacity, "unit"),
    Column("misses", share, "right"),
)

WHOLE = "all"


def page(found: ReuseDistances) -> Page:
    """The whole trace, then each range."""
    parts = [found, *found.ranges.values()]
    return (
        Title(f"reuse distances of {found.source}, in lines of {found.line} B"),
        *_sample(found),
        Table(SUMMARY, tuple(_summary(part) for part in parts)),
        *(_octaves(part) for part in parts if part.references),
    )


def _sample(found: ReuseDistances) -> tuple[Paragraph, ...]:
    if found.rate is None:
        return ()
    text = f"estimated from {100 * found.rate:g} % of the lines; standard error of a share: at most"
    return (Paragraph(f"{text} {100 * (found.error or 0):.2g} %"),)


def _summary(part: ReuseDistances) -> tuple[object, ...]:
    addresses = f"{part.part.low:#x} - {part.part.high:#x}" if part.part else None
    return part.name or WHOLE, addresses, part.references, round(part.cold), _median(part)


def _median(part: ReuseDistances) -> str | None:
    """The least distance that half the references do not exceed; first references exceed all."""
    if not part.references:
        return None
    shares = 1 - part.miss_ratio(part.distances + 1)
    place = int((shares < 0.5).sum())
    return count(int(part.distances[place])) if place < len(shares) else "inf"


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
        rows.append((text, round(part.counts[inside].sum().item()), hits - before, hits, lines * part.line, 1 - hits))
        lines, before = lines * 2, hits
    rows.append(("first", round(part.cold), part.cold / part.references, 1.0, None, None))
    return Table(OCTAVES, tuple(rows), title=f"{part.name or WHOLE} (misses: of a fully associative LRU cache)")
