"""A Traffic as a report."""

from __future__ import annotations

from typing import Any

from aspenpy.answers.traffic import LevelTotal, RangedUse, Traffic
from aspenpy.cost.prices import MEMORY_RESOURCES
from aspenpy.language.dimensions import format_quantity
from aspenpy.report.prediction import subject
from aspenpy.tables.drawing import EDGE, FILLS, GREY, numbers_in, shortened, styled, titled
from aspenpy.tables.numbers import expected, quantity
from aspenpy.tables.registry import register_report
from aspenpy.tables.table import DATA, JSON, TEXT, Column, Report, Table, columns, table


def _hit_rate(level: LevelTotal) -> float | None:
    accesses, misses = level.reads + level.writes, level.read_misses + level.write_misses
    return 1 - misses / accesses if accesses else None


def _number(header: str, **more: Any) -> Column:
    """An expected count, which need not be whole."""
    return Column(header, expected, "right", **more)


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


def _between(use: RangedUse) -> str | None:
    if use.misses_low == use.misses_high:
        return None
    return f"{expected(use.misses_low)} to {expected(use.misses_high)}"


BETWEEN = Column("range", align="right", get=_between, media=TEXT)
"""The misses of what is near an edge of a cache, or depends on where arrays lie."""

VICTIMS = Column("victims", unit="B")
"""Clean lines that the next level takes."""

ACCESSES = (
    *columns("kernel block resource array", media=DATA),
    Column("level"),
    _number("accesses"),
    Column("hit rate", "share", media=TEXT + JSON),
    MISSES,
    _number("misses low", media=DATA),
    _number("misses high", media=DATA),
    Column("fetched", unit="B"),
    Column("written back", unit="B"),
    Column("victims", unit="B", media=DATA),
)


def report_traffic(traffic: Traffic) -> Report:
    """By level, then by kernel, requirement and level."""
    run = traffic.prediction
    memory, patterned = _memory(traffic), traffic.memory
    low, high = (memory - patterned.misses + side for side in (patterned.low, patterned.high))
    data = {**subject(run), "memory": {"bytes": memory, "low": low, "high": high, "unit": "B"}}
    headline = f"{run.where}: {run.kernel} moves {quantity('B')(memory)} to and from memory"
    if low < high:
        headline += f" ({quantity('B')(low)} to {quantity('B')(high)})"
    media = TEXT + JSON if traffic.uses else JSON
    parts = (
        table(LEVELS, traffic.totals, "levels", media=media),
        _by_kernel(traffic),
        table(ACCESSES, traffic.ranged_uses, "accesses", media=DATA),
    )
    return Report(headline, data, parts, tuple(traffic.diagnostics))


register_report(Traffic, report_traffic)


def _memory(traffic: Traffic) -> float:
    """Bytes between the last cache and memory, those of requirements without a pattern included."""
    return _unpatterned(traffic) + traffic.totals[-1].bytes


def _unpatterned(traffic: Traffic) -> float:
    """Bytes of requirements that do not say how they touch their data: they go past the caches."""
    resources = traffic.prediction.resources
    asked = sum(use.amount for name, use in resources.items() if name.rpartition(".")[2] in MEMORY_RESOURCES)
    return asked - traffic.patterned_bytes


def _by_kernel(traffic: Traffic) -> Table:
    """What a row has in common with the one above it is left out."""
    rows: list[tuple[Any, ...]] = []
    before: tuple[Any, ...] = ()
    shown = [column for column in ACCESSES if "text" in column.media]
    if any(use.misses_low < use.misses_high for use in traffic.ranged_uses):
        shown.insert(shown.index(MISSES) + 1, BETWEEN)
    if any(use.victims for use in traffic.uses):
        shown.append(VICTIMS)
    for use in traffic.ranged_uses:
        names = use.kernel, use.block, f"{use.resource} {use.array}" if use.array else use.resource
        first = names if names != before else (None, None, None)
        before = names
        rows.append((*first, *(column.cell(use) for column in shown)))
    heads = (Column("kernel"), Column("block", wrapped=True), Column("access"), *shown)
    return Table(heads, tuple(rows), media=TEXT)


# -- as a picture ----------------------------------------------------------------------------------


@styled
def draw(traffic: Traffic) -> Any:
    """A matplotlib figure: the bytes that each level serves, one bar a level, a part for each access; and a bar of what
    goes past the caches since nothing says how it touches its data."""
    from matplotlib.figure import Figure

    names = [level.name for level in traffic.levels]
    below = [*names[1:], "memory"]
    labels = [label for label in _labels(traffic) if any(_bytes(traffic, label, name) for name in names)]
    if len(labels) > len(FILLS):
        labels = [*labels[: len(FILLS) - 1], OTHERS]
    figure = Figure(figsize=(9, max(2.2 + 0.5 * len(names), 0.7 + 0.2 * len(labels))), layout="constrained")
    axes = figure.add_subplot()
    starts = [0.0] * len(names)
    totals = {name: sum(use.bytes for use in traffic.uses if use.level == name) for name in names}
    for place, label in enumerate(labels):
        rest = [totals[name] - start for name, start in zip(names, starts, strict=True)]
        widths = rest if label == OTHERS else [_bytes(traffic, label, name) for name in names]
        axes.barh(range(len(names)), widths, left=starts, height=0.6, label=shortened(label), **EDGE, **FILLS[place])
        starts = [start + width for start, width in zip(starts, widths, strict=True)]
    ticks = [f"{shortened(name, 24)} – {shortened(lower, 24)}" for name, lower in zip(names, below, strict=True)]
    if (past := _unpatterned(traffic)) > SMALLEST * max(starts, default=0.0):
        axes.barh(len(names), past, height=0.6, color=GREY)
        starts, ticks = [*starts, past], [*ticks, "without a pattern – memory"]
    for place, total in enumerate(starts):
        axes.annotate(
            format_quantity(total, "B"), (total, place), xytext=(4, 0), textcoords="offset points", va="center"
        )
    axes.set_yticks(range(len(ticks)), ticks)
    axes.set_ylim(len(ticks) - 0.5, -0.5)
    axes.set_xlim(0, 1.15 * max([*starts, 1e-300]))
    axes.grid(visible=False, axis="y")
    numbers_in(axes.xaxis, "B")
    axes.set_xlabel("moved between the two")
    titled(axes, traffic.prediction.where)
    if labels:
        figure.legend(loc="outside right upper")
    return figure


OTHERS = "all others"
SMALLEST = 1e-9  # of the longest bar: what is left of a difference below it is rounding


def _labels(traffic: Traffic) -> list[str]:
    """The accesses by name, those that move most at the first level first."""
    first = traffic.levels[0].name
    names = dict.fromkeys(_label(use) for use in traffic.uses)
    return sorted(names, key=lambda name: -_bytes(traffic, name, first))


def _bytes(traffic: Traffic, label: str, level: str) -> float:
    return sum(use.bytes for use in traffic.uses if use.level == level and _label(use) == label)


def _label(use: Any) -> str:
    return f"{use.kernel}: {use.resource} {use.array or ''}".rstrip()
