"""A Traffic as a report."""

from __future__ import annotations

from typing import Any

from aspenpy.answers.traffic import LevelTotal, Traffic
from aspenpy.cost.prices import MEMORY_RESOURCES
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
ACCESSES = (
    *columns("kernel block resource array", media=DATA),
    Column("level"),
    _number("accesses"),
    Column("hit rate", "share", media=TEXT + JSON),
    _number("misses"),
    Column("fetched", unit="B"),
    Column("written back", unit="B"),
)


def report(traffic: Traffic) -> Report:
    """By level, then by kernel, requirement and level."""
    run = traffic.prediction
    memory = _memory(traffic)
    data = {
        "application": run.application.name,
        "machine": run.machine.name,
        "socket": run.tree.socket,
        "kernel": run.kernel,
        "memory": {"bytes": memory, "unit": "B"},
    }
    moved = quantity("B")(memory)
    headline = f"{run.application.name} on {run.machine.name}: {run.kernel} moves {moved} to and from memory"
    media = TEXT + JSON if traffic.uses else JSON
    parts = (
        table(LEVELS, traffic.totals, "levels", media=media),
        _by_kernel(traffic),
        table(ACCESSES, traffic.uses, "accesses", media=DATA),
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
    for use in traffic.uses:
        names = use.kernel, use.block, f"{use.resource} {use.array}" if use.array else use.resource
        first = names if names != before else (None, None, None)
        before = names
        rows.append((*first, *(column.cell(use) for column in shown)))
    heads = (Column("kernel"), Column("block", wrapped=True), Column("access"), *shown)
    return Table(heads, tuple(rows), media=TEXT)
