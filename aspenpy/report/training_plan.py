"""Training plans of COS as reports: which configurations to measure."""

from __future__ import annotations

from collections import Counter

from aspenpy.learn.estimators.cos_trace import THROTTLING_PLANS, Plan
from aspenpy.tables.table import CSV, JSON, TEXT, Column, Report, Table

COUNTS = ("training", "space", "tests")


def report_plan(plan: Plan) -> Report:
    """Counts, and the configurations to measure, by threads and memory clock."""
    counts = len(plan.training), len(plan.space), plan.tests
    heading = f"cos: {counts[0]} of {counts[1]} configurations to measure, {counts[2]} to predict"
    memory, threads = Column("memory clock", unit="Hz", key="memory_frequency"), Column("threads", "count")
    core = Column("core clock", unit="Hz", key="core_frequency")
    lowest = {(memory_clock, count): clock for clock, memory_clock, count in reversed(plan.training)}
    groups = Counter((memory_clock, count) for _, memory_clock, count in plan.training)
    summed = tuple(
        (count, clock or None, number, lowest[clock, count])
        for (clock, count), number in sorted(groups.items(), key=lambda item: (item[0][1], item[0][0]))
    )
    columns = (threads, memory, Column("core clocks", "count"), Column("from", unit="Hz"))
    shown = Table(columns, summed, title="to measure", media=TEXT, sparse=True)
    rows = tuple((clock, memory_clock or None, count) for clock, memory_clock, count in plan.training)
    every = Table((core, memory, threads), rows, key="configurations", media=JSON + CSV)
    return Report(heading, dict(zip(COUNTS, counts, strict=True)), (shown, every))


def report_throttling_plan() -> Report:
    """Table 3."""
    columns = (
        Column("of"),
        Column("idle cycles", key="idle_cycles"),
        Column("threads"),
        Column("configurations", "count"),
    )
    rows = tuple(
        (plan.of, _ends(plan.idle_cycles), _ends(plan.threads), plan.configurations) for plan in THROTTLING_PLANS
    )
    heading = "cos-throttling: configurations to measure on Blue Gene/Q"
    return Report(heading, {}, (Table(columns, rows, title="Table 3 of Li and others (2017)", key="plans"),))


def _ends(values: range) -> str:
    steps = f" by {values.step}" if values.step > 1 else ""
    return f"{values[0]} to {values[-1]}{steps}"
