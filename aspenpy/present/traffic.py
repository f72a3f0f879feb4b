"""A Traffic as a page, as JSON and as rows of CSV."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aspenpy.mapping.cost import MEMORY_RESOURCES
from aspenpy.present.numbers import count, quantity, share
from aspenpy.present.page import Page, Part, Title
from aspenpy.present.table import Column, Table

if TYPE_CHECKING:
    from aspenpy.analysis.traffic import LevelTotal, Traffic, Use

size = quantity("B")


def number(value: float) -> str:
    """An expected count, which need not be whole."""
    return count(round(value)) if value >= 100 else f"{value:.3g}"


LEVELS = (
    Column("level"),
    Column("reads", number, "right"),
    Column("read misses", number, "right"),
    Column("writes", number, "right"),
    Column("write misses", number, "right"),
    Column("hit rate", share, "right"),
    Column("moved below", size, "unit"),
)
USES = (
    Column("kernel"),
    Column("block", wrapped=True),
    Column("access"),
    Column("level"),
    Column("accesses", number, "right"),
    Column("hit rate", share, "right"),
    Column("misses", number, "right"),
    Column("fetched", size, "unit"),
    Column("written back", size, "unit"),
)
RECORDS = tuple(
    map(Column, ("kernel", "block", "resource", "array", "level", "accesses", "misses", "fetched", "written_back"))
)
"""Of the CSV form: a row for each requirement and level; counts and bytes."""


def page(traffic: Traffic) -> Page:
    """By level, then by kernel, requirement and level."""
    run = traffic.prediction
    moved = size(_memory(traffic))
    title = f"{run.application.name} on {run.machine.name}: {run.kernel} moves {moved} to and from memory"
    parts: list[Part] = [Title(title)]
    if traffic.uses:
        parts += [Table(LEVELS, tuple(map(_level, traffic.totals))), Table(USES, _uses(traffic))]
    return tuple(parts)


def _memory(traffic: Traffic) -> float:
    """Bytes between the last cache and memory, those of requirements without a pattern included."""
    resources = traffic.prediction.resources
    plain = sum(use.amount for name, use in resources.items() if name.rpartition(".")[2] in MEMORY_RESOURCES)
    return plain - traffic.patterned_bytes + traffic.totals[-1].bytes


def _level(level: LevelTotal) -> tuple[Any, ...]:
    asked, missed = level.reads + level.writes, level.read_misses + level.write_misses
    rate = 1 - missed / asked if asked else None
    return level.name, level.reads, level.read_misses, level.writes, level.write_misses, rate, level.bytes


def _uses(traffic: Traffic) -> tuple[tuple[Any, ...], ...]:
    """What a row has in common with the one above it is left out."""
    rows: list[tuple[Any, ...]] = []
    before: tuple[Any, ...] = ()
    for use in traffic.uses:
        names = use.kernel, use.block, f"{use.resource} {use.array}" if use.array else use.resource
        first = names if names != before else (None, None, None)
        before = names
        rows.append((*first, use.level, use.accesses, use.hit_rate, use.misses, use.fetched, use.written_back))
    return tuple(rows)


def as_json(traffic: Traffic) -> dict[str, Any]:
    """One object; counts, and bytes."""
    run = traffic.prediction
    return {
        "application": run.application.name,
        "machine": run.machine.name,
        "socket": run.tree.socket,
        "kernel": run.kernel,
        "levels": [
            {
                "name": level.name,
                "reads": level.reads,
                "writes": level.writes,
                "read_misses": level.read_misses,
                "write_misses": level.write_misses,
                "bytes": level.bytes,
            }
            for level in traffic.totals
        ],
        "memory": {"bytes": _memory(traffic), "unit": "B"},
        "accesses": [_use(use) for use in traffic.uses],
        "diagnostics": [diagnostic.to_json() for diagnostic in traffic.diagnostics],
    }


def _use(use: Use) -> dict[str, Any]:
    return {
        "kernel": use.kernel,
        "block": use.block,
        "resource": use.resource,
        "array": use.array,
        "level": use.level,
        "accesses": use.accesses,
        "hit_rate": use.hit_rate,
        "misses": use.misses,
        "fetched": use.fetched,
        "written_back": use.written_back,
    }


def records(traffic: Traffic) -> Table:
    """Rows of `RECORDS`."""
    rows = tuple(
        (
            use.kernel,
            use.block,
            use.resource,
            use.array,
            use.level,
            use.accesses,
            use.misses,
            use.fetched,
            use.written_back,
        )
        for use in traffic.uses
    )
    return Table(RECORDS, rows)
