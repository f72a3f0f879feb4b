"""Picture of a trace over time: kernels above, and below them what each keeps busy of the machine, as a Gantt chart."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, floor, log10
from typing import TYPE_CHECKING, Any

from aspenpy.answers.timeline import Bar, Gap, Timeline, timeline_of
from aspenpy.language.dimensions import format_quantity
from aspenpy.tables.drawing import GREY, INK, MARKED, SHADE, drop_middle, set_title, use_shared_style
from aspenpy.tables.numbers import format_count, seconds

if TYPE_CHECKING:
    from aspenpy.answers.trace import Trace

MOST_COLOURS = len(MARKED) - 1  # black is for none of them
NARROWEST_GAP, WIDEST_GAP = 0.02, 0.05  # parts of the width; a longer gap is cut to this
TICKS = 8
WIDTH, LANE = 9, 0.38  # inches


class _Axis:
    """Time along the axis, of which long gaps are cut out. `place` is where a time lies, in seconds that are shown."""

    def __init__(self, timeline: Timeline) -> None:
        others: list[Bar | Gap] = [*timeline.kernels, *timeline.gaps]
        alone = [gap for gap in timeline.gaps if not any(_overlap(gap, other) for other in others)]
        drawn, cuts = timeline.end, list[Gap]()
        for gap in sorted(alone, key=lambda gap: gap.start - gap.end):
            if gap.end - gap.start > WIDEST_GAP * drawn:
                cuts.append(gap)
                drawn -= gap.end - gap.start
        self.cut_width = WIDEST_GAP * drawn
        self.cuts = sorted(cuts, key=lambda gap: gap.start)
        self.end = self.place(timeline.end)

    def place(self, time: float) -> float:
        lost = 0.0
        for gap in self.cuts:
            length = gap.end - gap.start
            part = min(max((time - gap.start) / length, 0.0), 1.0)
            lost += part * (length - self.cut_width)
        return time - lost

    def label(self, axis: Any, end: float) -> None:
        """Round times along what is drawn; behind a gap with as many digits as tell them apart."""
        step = _round_step(self.end / TICKS)
        stretches = zip([0.0, *(gap.end for gap in self.cuts)], [*(gap.start for gap in self.cuts), end], strict=True)
        ticks = []
        for low, high in stretches:
            first = floor(low / step) + (low > 0)
            rounded = [number * step for number in range(first, floor(high / step * (1 + 1e-9)) + 1)]
            ticks += rounded or [low] * (high - low > self.cut_width)
        digits = [1 + max(2, floor(log10(tick / step)) + 2) if tick else 1 for tick in ticks]
        names = [format_quantity(float(f"{tick:.12g}"), "s", digit) for tick, digit in zip(ticks, digits, strict=True)]
        axis.set_ticks([self.place(tick) for tick in ticks], names)


def _overlap(gap: Gap, other: Bar | Gap) -> bool:
    """Whether both are under way at once, other than by rounding."""
    return other is not gap and min(gap.end, other.end) - max(gap.start, other.start) > 1e-9 * (gap.end - gap.start)


def _round_step(least: float) -> float:
    size = 10.0 ** floor(log10(least))
    return next(size * step for step in (1, 2, 5, 10) if size * step >= least * (1 - 1e-9))


@use_shared_style
def draw_trace(trace: Trace) -> Any:
    """A matplotlib figure of a trace on a machine. Raises AspenError without one, and where nothing takes time."""
    from matplotlib.figure import Figure

    timeline = timeline_of(trace)
    colours = _colours_of_kernels(timeline.kernels)
    lanes = ("kernels", *timeline.lanes)
    handles = _legend_of(timeline, colours)
    columns = max(1, min(4, int(WIDTH / (0.6 + 0.08 * max(len(handle.get_label()) for handle in handles)))))
    legend = 0.2 * ceil(len(handles) / columns)
    figure = Figure(figsize=(WIDTH, 1 + LANE * len(lanes) + legend), layout="constrained")
    figure.legend(handles=handles, loc="outside lower left", ncols=columns)
    axes = figure.add_subplot()
    axis = _Axis(timeline)
    rows = _rows_of(timeline.kernels)
    height = 0.72 / (1 + max(rows, default=0))
    for bar, row in zip(timeline.kernels, rows, strict=True):
        _draw_bar(axes, bar, axis, colours, (row * height - 0.36, height))
    for bar in timeline.bars:
        _draw_bar(axes, bar, axis, colours, (lanes.index(bar.lane) - 0.36, 0.72))
    for gap in timeline.gaps:
        _draw_gap(axes, gap, axis, len(lanes))
    axes.axhline(0.5, color=GREY, linewidth=0.6, zorder=0.4)
    axes.set_yticks(range(len(lanes)), [drop_middle(lane, 44) for lane in lanes])
    axes.set_ylim(len(lanes) - 0.5, -0.5)
    axes.set_xlim(0, axis.end or 1.0)
    axis.label(axes.xaxis, timeline.end)
    axes.grid(visible=False, axis="y")
    axes.set_xlabel("time since the run begins")
    name = f"{trace.application.name} on {trace.machine.name if trace.machine else None}"
    shown = seconds(timeline.end) if trace.complete else f"the first {seconds(timeline.end)}"
    set_title(axes, f"{name}: what {trace.entry.name} keeps busy, {shown}")
    return figure


def _colours_of_kernels(bars: Sequence[Bar]) -> dict[str, str]:
    """Colours of the kernels that take longest, in the order in which they begin."""
    spent: dict[str, float] = {}
    for bar in bars:
        spent[bar.kernel] = spent.get(bar.kernel, 0.0) + bar.end - bar.start
    longest = sorted(spent, key=spent.__getitem__, reverse=True)[:MOST_COLOURS]
    return dict(zip([name for name in spent if name in longest], MARKED, strict=False))


def _rows_of(bars: Sequence[Bar]) -> list[int]:
    """A row for each bar in which none lies on another, the first that is free."""
    ends: list[float] = []
    rows = []
    for bar in bars:
        slack = bar.start * (1 + 1e-9)
        row = next((number for number, end in enumerate(ends) if end <= slack), len(ends))
        ends[row:] = [bar.end, *ends[row + 1 :]]
        rows.append(row)
    return rows


def _draw_bar(axes: Any, bar: Bar, axis: _Axis, colours: dict[str, str], lies: tuple[float, float]) -> None:
    left, right = axis.place(bar.start), axis.place(bar.end)
    hatch = {"hatch": "/////", "edgecolor": "white", "linewidth": 0.0} if bar.transfer else {}
    axes.broken_barh([(left, right - left)], lies, facecolor=colours.get(bar.kernel, GREY), **hatch)


def _draw_gap(axes: Any, gap: Gap, axis: _Axis, lanes: int) -> None:
    """A band over all lanes, with the number of passes where there is room for it."""
    left, right = axis.place(gap.start), axis.place(gap.end)
    axes.axvspan(left, right, facecolor=SHADE, zorder=0.5)
    if right - left < NARROWEST_GAP * axis.end:
        return
    left_out = f"{format_count(gap.passes)} more: {seconds(gap.end - gap.start)}"
    axes.text((left + right) / 2, (lanes - 1) / 2, left_out, rotation=90, ha="center", va="center", color=INK)


def _legend_of(timeline: Timeline, colours: dict[str, str]) -> list[Any]:
    from matplotlib.patches import Patch

    handles = [Patch(facecolor=colour, label=drop_middle(name)) for name, colour in colours.items()]
    if any(bar.kernel not in colours for bar in timeline.kernels):
        handles.append(Patch(facecolor=GREY, label="other kernels"))
    if any(bar.transfer for bar in timeline.bars):
        handles.append(Patch(facecolor=GREY, hatch="/////", edgecolor="white", linewidth=0, label="transfers"))
    if timeline.gaps:
        handles.append(Patch(facecolor=SHADE, label="more passes of a loop"))
    return handles
