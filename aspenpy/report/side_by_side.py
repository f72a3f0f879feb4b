"""Two machines side by side as a report."""

from __future__ import annotations

from aspenpy.answers.side_by_side import LARGE, Pair, SideBySide
from aspenpy.language.dimensions import format_quantity
from aspenpy.tables.registry import register_report
from aspenpy.tables.table import DATA, TEXT, Column, Report, table


def report_side_by_side(found: SideBySide) -> Report:
    """Each property of both, and how far the second is from the first; large changes stand out."""
    first, second = found.titles
    columns = (
        Column("part"),
        Column("property", get="name"),
        Column(first, align="right", media=TEXT, get=lambda pair: _text(pair, pair.first)),
        Column(second, align="right", media=TEXT, get=lambda pair: _text(pair, pair.second)),
        Column(first, media=DATA, get="first"),
        Column(second, media=DATA, get="second"),
        Column("unit", media=DATA),
        Column("change", _percent, "right"),
    )
    marked = frozenset(place for place, pair in enumerate(found.pairs) if abs(pair.change or 0) > LARGE)
    changed = len(marked)
    both = sum(pair.change is not None for pair in found.pairs)
    data = {"machines": [found.first.name, found.second.name], "differ": changed, "compared": both}
    title = f"{first} and {second}: {changed} of {both} properties differ by more than {LARGE:.0%}"
    return Report(title, data, (table(columns, found.pairs, "properties", marked=marked),))


register_report(SideBySide, report_side_by_side)


def _percent(value: float) -> str:
    return f"{100 * value:+.0f} %"


def _text(pair: Pair, value: float | None) -> str | None:
    return None if value is None else format_quantity(value, pair.unit)
