"""A picture of changes: how many times each number is what it was, those that changed most on top."""

from __future__ import annotations

from collections.abc import Sequence
from math import log
from typing import Any

from aspenpy.answers.side_by_side import SideBySide
from aspenpy.explore.changes import VersionChanges
from aspenpy.report.changes import heading
from aspenpy.tables.drawing import EDGE, FILLS, drop_middle, label_axis, set_title, use_shared_style

MOST_BARS = 24
LEAST_FACTOR = 1.005  # either way, from which a bar can be seen


@use_shared_style
def draw_changes(changes: VersionChanges) -> Any:
    """A matplotlib figure of two versions: counts, and times and energies by machine."""
    rows = [
        (
            f"{item.kernel or 'all'}: {item.quantity}{item.machine and f', {item.machine}'}",
            item.before,
            item.after,
        )
        for item in changes.found
    ]
    return _draw_factors(heading(changes).partition(",")[0], rows)


@use_shared_style
def draw_side_by_side(compared: SideBySide) -> Any:
    """A matplotlib figure of two machines: the properties that both state."""
    rows = [(f"{pair.part}: {pair.name}", pair.first or 0.0, pair.second or 0.0) for pair in compared.pairs]
    return _draw_factors(f"{compared.titles[1]}, relative to {compared.titles[0]}", rows)


def _draw_factors(title: str, rows: Sequence[tuple[str, float, float]]) -> Any:
    """Bars from 1 to now/before on a logarithmic axis; numbers that are new, gone or as before have none."""
    from matplotlib.figure import Figure

    factors = [(name, after / before) for name, before, after in rows if before > 0 and after > 0]
    changed = [row for row in factors if max(row[1], 1 / row[1]) >= LEAST_FACTOR]
    bars = sorted(changed, key=lambda row: -abs(log(row[1])))[:MOST_BARS][::-1]
    figure = Figure(figsize=(7, 1.4 + 0.26 * max(3, len(bars))), layout="constrained")
    axes = figure.add_subplot()
    axes.set_xscale("log")
    for index, (_, factor) in enumerate(bars):
        axes.barh(index, factor - 1, left=1, height=0.62, **EDGE, **FILLS[4 if factor > 1 else 0])
        side = ("left", 4) if factor > 1 else ("right", -4)
        axes.annotate(
            f"{factor:.3g}", (factor, index), (side[1], 0), textcoords="offset points", ha=side[0], va="center"
        )
    axes.axvline(1, color="black", linewidth=1)
    axes.set_yticks(range(len(bars)), [drop_middle(name, 44) for name, _ in bars])
    axes.set_ylim(-0.6, max(3, len(bars)) - 0.4)
    ends = [factor for _, factor in bars] or [1.0]
    low, high = min(0.8, *ends), max(1.25, *ends)
    room = (high / low) ** 0.15  # for the numbers beside the bars
    axes.set_xlim(low / room, high * room)
    label_axis(axes.xaxis)
    new = sum(not before > 0 and after > 0 for _, before, after in rows)
    gone = sum(before > 0 and not after > 0 for _, before, after in rows)
    left_out = {"more change less": len(changed) - len(bars), "new": new, "gone": gone}
    said = ", ".join(f"{count} {what}" for what, count in left_out.items() if count)
    axes.set_xlabel(f"now / before{said and f' (not drawn: {said})'}")
    axes.grid(visible=False, axis="y")
    set_title(axes, title)
    return figure
