"""Parallelism as a report."""

from __future__ import annotations

from typing import Any

from aspenpy.answers.parallelism import BlockParallelism, Parallelism
from aspenpy.cost.mapper import warnings_of
from aspenpy.report.tree import in_regions, lines
from aspenpy.tables.numbers import counted
from aspenpy.tables.registry import register_report
from aspenpy.tables.table import CSV, DATA, JSON, TEXT, Column, Report, Table, columns, table

FIELDS = "instances width maps together mean executions"
BLOCKS = (
    Column("path", get=lambda block: list(block.path), media=JSON),
    Column("path", get=lambda block: "/".join(block.path), media=CSV),
    Column("block", get="label"),
    *columns(FIELDS),
    Column("line", get=lambda block: block.span.position().line if block.span else None, media=JSON),
)


def report_parallelism(found: Parallelism) -> Report:
    """The call paths as trees, the blocks as their leaves; what can run most at once stands out."""
    data = {"application": found.application.name, "kernel": found.kernel, "most": found.most}
    headline = f"{found.application.name}: {found.kernel} has {_said(found)}"
    parts = (*((_tree(found),) if found.blocks else ()), table(BLOCKS, found.blocks, "blocks", media=DATA))
    warnings = warnings_of(found.application, found.run.machine, kernel=found.kernel)
    return Report(headline, data, parts, tuple(warnings))


register_report(Parallelism, report_parallelism)


def _tree(found: Parallelism) -> Table:
    rows: list[tuple[Any, ...]] = []
    marked = []
    for prefix, region in lines(in_regions([(block.region, block) for block in found.blocks], found.kernel)):
        block = region.item
        if block is not None and block.together is not None and block.together == found.most:
            marked.append(len(rows))
        rows.append((prefix + region.name, *((None,) * len(FIELDS.split()) if block is None else _cells(block))))
    heads = tuple(
        head.replace(media=DATA) if head.name == "width" and not found.wide else head
        for head in columns(FIELDS, format="count")
    )
    heads = (Column("call path"), *heads)
    return Table(heads, tuple(rows), frozenset(marked), media=TEXT)


def _said(found: Parallelism) -> str:
    if found.most is None:
        return "no block" if not found.blocks else "an unknown number of instances at once"
    instances = counted(found.most, "part" if found.wide else "instance")
    unknown = any(block.together is None for block in found.blocks)
    return f"{instances} or more at once" if unknown else f"up to {instances} at once"


def _cells(block: BlockParallelism) -> tuple[Any, ...]:
    """The mean where it says more."""
    cells = {field: getattr(block, field) for field in FIELDS.split()}
    if block.together is not None and float(block.together) == block.mean:
        cells["mean"] = None
    return tuple(cells.values())
