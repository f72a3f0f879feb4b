"""Published results beside what the models predict of them, as a report."""

from __future__ import annotations

from aspenpy.answers.published import AIMS, PublishedComparison, PublishedComparisons
from aspenpy.tables.numbers import Amount
from aspenpy.tables.registry import register_report
from aspenpy.tables.table import DATA, JSON, TEXT, Column, Report, make_table


def report_published(comparisons: PublishedComparisons) -> Report:
    """Reports each benchmark with its errors, then the rows, the worst first: rows outside of the aims stand out and
    say why."""
    outside = len(comparisons.outside)
    machines = len({row.published.machine for row in comparisons.rows})
    headline = f"{machines} machines, {len(comparisons.rows)} published results: {outside} outside of the aims"
    marked = frozenset(index for index, row in enumerate(comparisons.rows) if row.outside)
    parts = (
        make_table(SUMMARY, comparisons.summaries, "benchmarks", media=TEXT + JSON),
        make_table(ROWS, comparisons.rows, "results", marked=marked, title="predicted over published"),
    )
    return Report("published/1", headline, {"machines": machines, "outside": outside}, parts)


register_report(PublishedComparisons, report_published)


def _describe(row: PublishedComparison) -> str:
    return f"{row.published.source}: {row.published.why}" if row.outside and row.published.why else row.published.source


SUMMARY = (
    Column("benchmark"),
    Column("half"),
    Column("results", "count", get=lambda item: len(item.rows)),
    Column("median", "ratio", get="median_factor"),
    Column("worst", "ratio", get="worst.factor"),
    Column("of", get="worst.published.machine"),
    Column("aim", "ratio", get=lambda item: 1 + AIMS[item.benchmark]),
    Column("outside", "count"),
)
ROWS = (
    Column("machine", get="published.machine"),
    Column("what", get="published.what"),
    Column("ratio", lambda value: f"{value:.2f}", "right"),
    Column("predicted", "amount", media=TEXT, get=lambda row: Amount(row.predicted, row.published.unit)),
    Column("published", "amount", media=TEXT, get=lambda row: Amount(row.published.value, row.published.unit)),
    Column("predicted", media=DATA),
    Column("published", media=DATA, get="published.value"),
    Column("unit", media=DATA, get="published.unit"),
    Column("half", get="published.half"),
    Column("source", media=DATA, get="published.source"),
    Column("why", media=DATA, get="published.why"),
    Column("source, and why it is off", wrapped=True, media=TEXT, get=_describe),
)
