"""A Traffic as a report."""

from __future__ import annotations

from typing import Any

from aspenpy.answers.traffic import LevelTotal, RangedUse, Traffic
from aspenpy.cost.prices import MEMORY_RESOURCES
from aspenpy.language.dimensions import readable
from aspenpy.report.drawing import BLUE, GREEN, ORANGE, PURPLE, SKY, VERMILION, YELLOW, numbers_in, titled
from aspenpy.report.prediction import subject
from aspenpy.tables.numbers import expected, quantity
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


def report(traffic: Traffic) -> Report:
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


def _memory(traffic: Traffic) -> float:
    """Bytes between the last cache and memory, those of requirements without a pattern included."""
    resources = traffic.prediction.resources
    plain = sum(use.amount for name, use in resources.items() if name.rpartition(".")[2] in MEMORY_RESOURCES)
    return plain - traffic.patterned_bytes + traffic.totals[-1].bytes


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


COLOURS = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, YELLOW, "#999999")  # of accesses, the last for all others


def draw(traffic: Traffic) -> Any:
    """A matplotlib figure: the bytes that each level serves, one bar a level, a part for each access."""
    from matplotlib.figure import Figure

    names = [level.name for level in traffic.levels]
    below = [*names[1:], "memory"]
    figure = Figure(figsize=(9, 1.6 + 0.6 * len(names)), layout="constrained")
    axes = figure.add_subplot()
    starts = [0.0] * len(names)
    labelled: set[str] = set()
    for place, label in enumerate(_labels(traffic)):
        widths = [_bytes(traffic, label, name) for name in names]
        colour = COLOURS[min(place, len(COLOURS) - 1)]
        shown = label if colour not in labelled else None
        labelled.add(colour)
        axes.barh(range(len(names)), widths, left=starts, color=colour, label=shown, height=0.6)
        starts = [start + width for start, width in zip(starts, widths, strict=True)]
    for place, total in enumerate(starts):
        beside: dict[str, Any] = {"xytext": (4, 0), "textcoords": "offset points", "va": "center", "fontsize": 9}
        axes.annotate(readable(total, "B"), (total, place), **beside)
    axes.set_yticks(range(len(names)), [f"{name} – {lower}" for name, lower in zip(names, below, strict=True)])
    axes.invert_yaxis()
    axes.set_xlim(0, 1.15 * max([*starts, 1e-300]))
    numbers_in(axes.xaxis, "B")
    axes.set_xlabel("moved between the two")
    titled(axes, traffic.prediction.where, bold=True)
    axes.spines[["top", "right"]].set_visible(False)
    figure.legend(fontsize=8, loc="outside right upper", frameon=False)
    return figure


def _labels(traffic: Traffic) -> list[str]:
    """The accesses by name, those that move most at the first level first."""
    first = traffic.levels[0].name
    names = dict.fromkeys(_label(use) for use in traffic.uses)
    return sorted(names, key=lambda name: -_bytes(traffic, name, first))


def _bytes(traffic: Traffic, label: str, level: str) -> float:
    return sum(use.bytes for use in traffic.uses if use.level == level and _label(use) == label)


def _label(use: Any) -> str:
    return f"{use.kernel}: {use.resource} {use.array or ''}".rstrip()
