"""Reuse distances as a report: histograms in octaves, and what caches of their sizes would miss."""

from __future__ import annotations

from itertools import cycle
from typing import Any

from aspenpy.tables.drawing import EDGE, FILLS, LONGEST_TITLE, STYLES, shortened, styled
from aspenpy.tables.numbers import count
from aspenpy.tables.registry import register_report
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


def report_reuse(found: ReuseDistances) -> Report:
    """The whole trace, then each range. Its JSON and CSV are those of `ReuseDistances`."""
    parts = [found, *found.ranges.values()]
    shown: tuple[Part, ...] = (
        *_sample(found),
        Table(SUMMARY, tuple(_summary(part) for part in parts), media=TEXT),
        *(_octaves(part) for part in parts if part.references),
    )
    return Report(f"reuse distances of {found.source}, in lines of {found.line} B", {}, shown)


register_report(ReuseDistances, report_reuse)


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


# -- as a picture ----------------------------------------------------------------------------------


RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
OCTAVES_IN_FULL = 12  # of the histogram, those whose first and last distance are written out
POINTS_AN_OCTAVE = 16  # sizes of the cache at which the miss ratio is drawn


@styled
def draw(distances: ReuseDistances) -> Any:
    """A matplotlib figure: the histogram, and the miss ratio over the size of the cache."""
    from matplotlib.figure import Figure

    parts = [part for part in (distances, *distances.ranges.values()) if part.references]
    figure = Figure(figsize=(11, 4.6), layout="constrained")
    figure.suptitle(shortened(f"reuse distances of {distances.source}", LONGEST_TITLE), x=0.02, ha="left")
    left, right = figure.subplots(1, 2)
    octaves = 1 + max((int(part.distances[-1]).bit_length() for part in parts if len(part.distances)), default=0)
    _histogram(left, parts, octaves)
    _misses(right, parts, octaves)
    left.grid(visible=False, axis="x")
    if len(parts) > 1:
        left.legend()
        right.legend()
    return figure


def _histogram(axes: Any, parts: list[ReuseDistances], octaves: int) -> None:
    """A group of bars for 0, 1, 2 to 3, 4 to 7, ... and for the first references."""
    import numpy as np

    names = ["0", *(_octave(number) for number in range(1, octaves)), "first"]
    width = 0.86 / len(parts)
    for number, (part, fill) in enumerate(zip(parts, cycle(FILLS), strict=False)):
        misses = part.miss_ratio(np.concatenate(([0], 2 ** np.arange(octaves))))
        shares = [*(-np.diff(misses)), part.cold / part.references]
        places = np.arange(len(shares)) + (number - (len(parts) - 1) / 2) * width
        axes.bar(places, 100 * np.array(shares), width, label=shortened(part.name or WHOLE), **EDGE, **fill)
    axes.set_xticks(range(len(names)), names, rotation=60, ha="right", rotation_mode="anchor")
    axes.set_xlabel(f"distance (other lines of {parts[0].line} B in between)")
    axes.set_ylabel("references (%)")


def _octave(number: int) -> str:
    """`4-7`; of large ones the beginning."""
    first, last = 2 ** (number - 1), 2**number - 1
    if first == last:
        return str(first)
    return f"{first}-{last}" if number <= OCTAVES_IN_FULL else f"2{str(number - 1).translate(RAISED)}-"


def _misses(axes: Any, parts: list[ReuseDistances], octaves: int) -> None:
    """Of a fully associative LRU cache, with its size in lines; the axis is labelled in bytes."""
    import numpy as np

    powers = np.arange(0, octaves + 1 / POINTS_AN_OCTAVE, 1 / POINTS_AN_OCTAVE)
    sizes = np.unique(np.round(2**powers)).astype(np.int64)
    for part, style in zip(parts, cycle(STYLES), strict=False):
        misses = 100 * part.miss_ratio(sizes)
        axes.step(sizes * part.line, misses, where="post", label=shortened(part.name or WHOLE), **style)
    axes.set_xscale("log", base=2)
    axes.set_ylim(0)
    axes.xaxis.set_major_formatter(lambda value, _: capacity(value))
    axes.set_xlabel("size of a fully associative LRU cache")
    axes.set_ylabel("misses (%)")
