"""Two machines side by side as a report."""

from __future__ import annotations

from aspenpy.answers.side_by_side import LARGE, Pair, SideBySide
from aspenpy.language.dimensions import readable
from aspenpy.tables.table import Column, Report, Table


def report(found: SideBySide) -> Report:
    """Each property of both, and how far the second is from the first; large changes stand out."""
    first, second = found.titles
    columns = (
        Column("part"),
        Column("property"),
        Column(first, align="right"),
        Column(second, align="right"),
        Column("change", _percent, "right"),
    )
    rows = tuple(
        (pair.part, pair.name, _text(pair, pair.first), _text(pair, pair.second), pair.change) for pair in found.pairs
    )
    marked = frozenset(place for place, pair in enumerate(found.pairs) if abs(pair.change or 0) > LARGE)
    changed = len(marked)
    both = sum(pair.change is not None for pair in found.pairs)
    data = {"machines": [found.first.name, found.second.name], "differ": changed, "compared": both}
    title = f"{first} and {second}: {changed} of {both} properties differ by more than {LARGE:.0%}"
    return Report(title, data, (Table(columns, rows, marked, key="properties"),))


def _percent(value: float) -> str:
    return f"{100 * value:+.0f} %"


def _text(pair: Pair, value: float | None) -> str | None:
    return None if value is None else readable(value, pair.unit)
