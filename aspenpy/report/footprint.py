"""A Footprint as a report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aspenpy.answers.footprint import Capacity, Footprint
from aspenpy.language.dimensions import format_quantity
from aspenpy.tables.numbers import Amount, count, quantity, share
from aspenpy.tables.registry import register_report
from aspenpy.tables.table import CSV, DATA, JSON, TEXT, Column, Report, facts, table

if TYPE_CHECKING:
    from collections.abc import Iterator


REGIONS = (
    Column("kernel", get=lambda use: "  " * (len(use.name) - 1) + use.name[-1], media=TEXT),
    Column("kernel", get=lambda use: use.name[0], media=DATA),
    Column("labels", get=lambda use: [label.strip('"') for label in use.name[1:]], media=JSON),
    Column("region", get=lambda use: "/".join(label.strip('"') for label in use.name[1:]), media=CSV),
    Column("inclusive", unit="B"),
    Column("exclusive", unit="B"),
    Column("own data", key="own", get=lambda use: ", ".join(use.own) or None, wrapped=True, media=TEXT),
    Column("own", media=DATA),
    Column("touched", media=DATA),
)
"""Regions stand below their kernel, set in."""

STRUCTURES = (
    Column("data", key="name"),
    Column("size", unit="B"),
    Column("loaded", unit="B", key="loads"),
    Column("stored", unit="B", key="stores"),
)
MEMORIES = (
    Column("component", get="memory"),
    Column("capacity", get="size", unit="B"),
    Column("held", unit="B"),
    Column("fullest", unit="B"),
    Column("unit", get=lambda memory: "B"),
    Column("data"),
    Column("fits"),
)


def report_footprint(footprint: Footprint) -> Report:
    """What is touched in all and whether it fits, by kernel and region, by data structure."""
    data = {
        "application": footprint.application.name,
        "kernel": footprint.kernel,
        "footprint": Amount(footprint.total, "B"),
        "memory": footprint.capacity and _memory(footprint.capacity, footprint),
    }
    several = len(footprint.capacities) > 1
    parts = (
        facts(fact for found in footprint.capacities for fact in _facts(found, several)),
        table(REGIONS, footprint.regions, "regions"),
        table(STRUCTURES, footprint.data.values() if footprint.regions else (), "data"),
        table(MEMORIES, footprint.capacities, "memories", media=JSON),
    )
    headline = f"{footprint.application.name}: {footprint.kernel} touches {quantity('B')(footprint.total)}"
    return Report(headline, data, parts, tuple(footprint.diagnostics))


register_report(Footprint, report_footprint)


def _memory(found: Capacity, footprint: Footprint) -> dict[str, Any]:
    return {
        "component": found.memory,
        "count": found.count,
        "capacity": found.size,
        "unit": "B",
        "fits": footprint.fits,
    }


def _facts(memory: Capacity, one_of_several: bool) -> Iterator[tuple[str, str]]:
    yield "memory", f"{memory.memory}, {count(memory.count)} in all"
    if memory.fullest is not None:
        yield "on one of them", f"{format_quantity(memory.fullest, 'B')} at most, the share of the ranks there"
    if memory.size is None:
        yield "capacity", "not stated (property capacity)"
    else:
        verdict = f"{share(float(memory.held) / float(memory.size))} of it is touched" if memory.fits else "too small"
        yield "capacity", f"{format_quantity(memory.size, 'B')} in all, {verdict}"
    if one_of_several:
        yield "holds", ", ".join(memory.data) or "nothing that is touched"
