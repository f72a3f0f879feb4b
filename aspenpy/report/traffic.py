"""Traffic through caches, and histograms of reuse distances, as reports."""

from __future__ import annotations

from itertools import cycle
from typing import Any

from aspenpy.answers.traffic import LevelTotal, RangedUse, Traffic
from aspenpy.cost.prices import MEMORY_RESOURCES
from aspenpy.language.dimensions import format_quantity
from aspenpy.report.prediction_data import subject_as_data
from aspenpy.tables.drawing import (
    EDGE,
    FILLS,
    GREY,
    LONGEST_TITLE,
    STYLES,
    drop_middle,
    label_axis,
    set_title,
    use_shared_style,
)
from aspenpy.tables.numbers import format_count, format_expected, make_formatter
from aspenpy.tables.registry import register_report
from aspenpy.tables.table import DATA, JSON, TEXT, Column, Paragraph, Part, Report, Table, make_columns, make_table
from aspenpy.traces.distances import ReuseDistances


def _hit_rate(level: LevelTotal) -> float | None:
    accesses, misses = level.reads + level.writes, level.read_misses + level.write_misses
    return 1 - misses / accesses if accesses else None


def _number(header: str, **more: Any) -> Column:
    """An expected count, which need not be whole."""
    return Column(header, format_expected, "right", **more)


LEVELS = (
    Column("level", key="name"),
    _number("reads"),
    _number("read misses"),
    _number("writes"),
    _number("write misses"),
    Column("hit rate", "share", get=_hit_rate, media=TEXT),
    Column("moved below", unit="B", key="bytes"),
)
MISSES = _number("misses")


def _describe_range(use: RangedUse) -> str | None:
    if use.misses_low == use.misses_high:
        return None
    return f"{format_expected(use.misses_low)} to {format_expected(use.misses_high)}"


BETWEEN = Column("range", align="right", get=_describe_range, media=TEXT)
"""The misses of what is near an edge of a cache, or depends on where arrays lie."""

VICTIMS = Column("victims", unit="B")
"""Clean lines that the next level takes."""

WARM = Column("found warm", unit="B", get=lambda use: use.warm or None)
"""What is there as earlier blocks of the run left it."""

ACCESSES = (
    *make_columns("kernel block resource array", media=DATA),
    Column("level"),
    _number("accesses"),
    Column("hit rate", "share", media=TEXT + JSON),
    MISSES,
    _number("misses low", media=DATA),
    _number("misses high", media=DATA),
    Column("fetched", unit="B"),
    Column("written back", unit="B"),
    Column("victims", unit="B", media=DATA),
    Column("warm", unit="B", media=JSON),
)


def report_traffic(traffic: Traffic) -> Report:
    """Report of traffic by level, then by kernel, requirement and level."""
    run = traffic.prediction
    memory, patterned = _bytes_without_pattern(traffic) + traffic.totals[-1].bytes, traffic.memory
    low, high = (memory - patterned.misses + side for side in (patterned.low, patterned.high))
    data = {**subject_as_data(run), "memory": {"bytes": memory, "low": low, "high": high, "unit": "B"}}
    headline = f"{run.where}: {run.kernel} moves {make_formatter('B')(memory)} to and from memory"
    if traffic.simulation is not None:
        data["simulated"] = {"references": traffic.simulation.references}
        headline += f", counted by making {format_count(traffic.simulation.references)} references"
    elif low < high:
        headline += f" ({make_formatter('B')(low)} to {make_formatter('B')(high)})"
    media = TEXT + JSON if traffic.uses else JSON
    parts = (
        make_table(LEVELS, traffic.totals, "levels", media=media),
        group_by_kernel(traffic),
        make_table(ACCESSES, traffic.ranged_uses, "accesses", media=DATA),
    )
    return Report("traffic/1", headline, data, parts, tuple(traffic.diagnostics))


register_report(Traffic, report_traffic)


def _bytes_without_pattern(traffic: Traffic) -> float:
    """Bytes of requirements that do not say how they touch their data: they go past the caches."""
    resources = traffic.prediction.resources
    asked = sum(use.amount for name, use in resources.items() if name.rpartition(".")[2] in MEMORY_RESOURCES)
    return asked - traffic.patterned_bytes


def group_by_kernel(traffic: Traffic) -> Table:
    """Rows by kernel; what a row has in common with the one above it is left out."""
    rows: list[tuple[Any, ...]] = []
    before: tuple[Any, ...] = ()
    shown = [column for column in ACCESSES if "text" in column.media]
    if any(use.misses_low < use.misses_high for use in traffic.ranged_uses):
        shown.insert(shown.index(MISSES) + 1, BETWEEN)
    if any(use.victims for use in traffic.uses):
        shown.append(VICTIMS)
    if any(use.warm for use in traffic.uses):
        shown.append(WARM)
    for use in traffic.ranged_uses:
        names = use.kernel, use.block, f"{use.resource} {use.array}" if use.array else use.resource
        first = names if names != before else (None, None, None)
        before = names
        rows.append((*first, *(column.cell(use) for column in shown)))
    heads = (Column("kernel"), Column("block", wrapped=True), Column("access"), *shown)
    return Table(heads, tuple(rows), media=TEXT)


# -- as a picture ----------------------------------------------------------------------------------


@use_shared_style
def draw_traffic(traffic: Traffic) -> Any:
    """A matplotlib figure: the bytes that each level serves, one bar a level, a part for each access; and a bar of what
    goes past the caches since nothing says how it touches its data."""
    from matplotlib.figure import Figure

    names = [level.name for level in traffic.levels]
    below = [*names[1:], "memory"]
    labels = [label for label in _labels_of_accesses(traffic) if any(_bytes(traffic, label, name) for name in names)]
    if len(labels) > len(FILLS):
        labels = [*labels[: len(FILLS) - 1], OTHERS]
    figure = Figure(figsize=(9, max(2.2 + 0.5 * len(names), 0.7 + 0.2 * len(labels))), layout="constrained")
    axes = figure.add_subplot()
    starts = [0.0] * len(names)
    totals = {name: sum(use.bytes for use in traffic.uses if use.level == name) for name in names}
    for index, label in enumerate(labels):
        rest = [totals[name] - start for name, start in zip(names, starts, strict=True)]
        widths = rest if label == OTHERS else [_bytes(traffic, label, name) for name in names]
        axes.barh(range(len(names)), widths, left=starts, height=0.6, label=drop_middle(label), **EDGE, **FILLS[index])
        starts = [start + width for start, width in zip(starts, widths, strict=True)]
    ticks = [f"{drop_middle(name, 24)} – {drop_middle(lower, 24)}" for name, lower in zip(names, below, strict=True)]
    if (past := _bytes_without_pattern(traffic)) > SMALLEST * max(starts, default=0.0):
        axes.barh(len(names), past, height=0.6, color=GREY)
        starts, ticks = [*starts, past], [*ticks, "without a pattern – memory"]
    for index, total in enumerate(starts):
        axes.annotate(
            format_quantity(total, "B"), (total, index), xytext=(4, 0), textcoords="offset points", va="center"
        )
    axes.set_yticks(range(len(ticks)), ticks)
    axes.set_ylim(len(ticks) - 0.5, -0.5)
    axes.set_xlim(0, 1.15 * max([*starts, 1e-300]))
    axes.grid(visible=False, axis="y")
    label_axis(axes.xaxis, "B")
    axes.set_xlabel("moved between the two")
    set_title(axes, traffic.prediction.where)
    if labels:
        figure.legend(loc="outside right upper")
    return figure


OTHERS = "all others"
SMALLEST = 1e-9  # of the longest bar: what is left of a difference below it is rounding


def _labels_of_accesses(traffic: Traffic) -> list[str]:
    """Names of the accesses, by the bytes that they move at the first level, largest first."""
    first = traffic.levels[0].name
    names = dict.fromkeys(_label_of_access(use) for use in traffic.uses)
    return sorted(names, key=lambda name: -_bytes(traffic, name, first))


def _bytes(traffic: Traffic, label: str, level: str) -> float:
    return sum(use.bytes for use in traffic.uses if use.level == level and _label_of_access(use) == label)


def _label_of_access(use: Any) -> str:
    return f"{use.kernel}: {use.resource} {use.array or ''}".rstrip()


# -- reuse distances -------------------------------------------------------------------------------


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


def report_reuse(reuse_distances: ReuseDistances) -> Report:
    """The whole trace, then each range. Its JSON and CSV are those of `ReuseDistances`."""
    parts = [reuse_distances, *reuse_distances.ranges.values()]
    shown: tuple[Part, ...] = (
        *_describe_sample(reuse_distances),
        Table(SUMMARY, tuple(_summary_row(part) for part in parts), media=TEXT),
        *(_octaves_table(part) for part in parts if part.references),
    )
    return Report(
        "reuse_distances/1",
        f"reuse distances of {reuse_distances.source}, in lines of {reuse_distances.line} B",
        reuse_distances.to_json(),
        shown,
    )


register_report(ReuseDistances, report_reuse)


def _describe_sample(reuse_distances: ReuseDistances) -> tuple[Paragraph, ...]:
    if reuse_distances.rate is None:
        return ()
    return (
        Paragraph(f"estimated from {100 * reuse_distances.rate:g} % of the lines; {reuse_distances.error_in_words()}"),
    )


def _summary_row(part: ReuseDistances) -> tuple[object, ...]:
    addresses = f"{part.part.low:#x} - {part.part.high:#x}" if part.part else None
    return part.name or WHOLE, addresses, part.references, round(part.cold), _median_distance(part)


def _median_distance(part: ReuseDistances) -> str | None:
    """The least distance that half the references do not exceed; first references exceed all."""
    if not part.references:
        return None
    beyond = 2 * part.counts.cumsum() < part.references
    index = int(beyond.sum())
    return format_count(int(part.distances[index])) if index < len(beyond) else "inf"


def _octaves_table(part: ReuseDistances) -> Table:
    """Distances 0, 1, 2 to 3, 4 to 7, ...: those of an octave hit first in a cache that is twice as large."""
    rows: list[tuple[object, ...]] = []
    lines, before = 1, 0.0
    longest = int(part.distances[-1]) if len(part.distances) else -1
    while lines // 2 <= longest:
        hits = 1 - part.miss_ratio(lines)
        first, last = lines // 2, lines - 1
        inside = (part.distances >= first) & (part.distances <= last)
        text = format_count(first) if first == last else f"{format_count(first)} - {format_count(last)}"
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


@use_shared_style
def draw_reuse(distances: ReuseDistances) -> Any:
    """A matplotlib figure: the histogram, and the miss ratio over the size of the cache."""
    from matplotlib.figure import Figure

    parts = [part for part in (distances, *distances.ranges.values()) if part.references]
    figure = Figure(figsize=(11, 4.6), layout="constrained")
    figure.suptitle(drop_middle(f"reuse distances of {distances.source}", LONGEST_TITLE), x=0.02, ha="left")
    left, right = figure.subplots(1, 2)
    octaves = 1 + max((int(part.distances[-1]).bit_length() for part in parts if len(part.distances)), default=0)
    _draw_histogram(left, parts, octaves)
    _draw_misses(right, parts, octaves)
    left.grid(visible=False, axis="x")
    if len(parts) > 1:
        left.legend()
        right.legend()
    return figure


def _draw_histogram(axes: Any, parts: list[ReuseDistances], octaves: int) -> None:
    """Draws one group of bars for each of the distances 0, 1, 2 to 3, 4 to 7, ..., and one for first references."""
    import numpy as np

    names = ["0", *(_name_octave(number) for number in range(1, octaves)), "first"]
    width = 0.86 / len(parts)
    for number, (part, fill) in enumerate(zip(parts, cycle(FILLS), strict=False)):
        misses = part.miss_ratio(np.concatenate(([0], 2 ** np.arange(octaves))))
        shares = [*(-np.diff(misses)), part.cold / part.references]
        places = np.arange(len(shares)) + (number - (len(parts) - 1) / 2) * width
        axes.bar(places, 100 * np.array(shares), width, label=drop_middle(part.name or WHOLE), **EDGE, **fill)
    axes.set_xticks(range(len(names)), names, rotation=60, ha="right", rotation_mode="anchor")
    axes.set_xlabel(f"distance (other lines of {parts[0].line} B in between)")
    axes.set_ylabel("references (%)")


def _name_octave(number: int) -> str:
    """`4-7`; of large ones the beginning."""
    first, last = 2 ** (number - 1), 2**number - 1
    if first == last:
        return str(first)
    return f"{first}-{last}" if number <= OCTAVES_IN_FULL else f"2{str(number - 1).translate(RAISED)}-"


def _draw_misses(axes: Any, parts: list[ReuseDistances], octaves: int) -> None:
    """Draws the misses of a fully associative LRU cache, with its size in lines; the axis is labelled in bytes."""
    import numpy as np

    powers = np.arange(0, octaves + 1 / POINTS_AN_OCTAVE, 1 / POINTS_AN_OCTAVE)
    sizes = np.unique(np.round(2**powers)).astype(np.int64)
    for part, style in zip(parts, cycle(STYLES), strict=False):
        misses = 100 * part.miss_ratio(sizes)
        axes.step(sizes * part.line, misses, where="post", label=drop_middle(part.name or WHOLE), **style)
    axes.set_xscale("log", base=2)
    axes.set_ylim(0)
    axes.xaxis.set_major_formatter(lambda value, _: capacity(value))
    axes.set_xlabel("size of a fully associative LRU cache")
    axes.set_ylabel("misses (%)")
