"""Parallelism as a page, as JSON and as rows of CSV."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aspenpy.present.numbers import count, plain
from aspenpy.present.page import Page, Title
from aspenpy.present.regions import in_regions
from aspenpy.present.table import Column, Table
from aspenpy.present.tree import drawn

if TYPE_CHECKING:
    from aspenpy.analysis.parallelism import BlockParallelism, Parallelism

BLOCKS = (
    Column("call path"),
    Column("instances", count, "right"),
    Column("maps", count, "right"),
    Column("together", count, "right"),
    Column("mean", count, "right"),
    Column("executions", count, "right"),
)
FIELDS = ("instances", "maps", "together", "mean", "executions")
RECORDS = tuple(map(Column, ("path", "block", *FIELDS)))
"""Of the CSV form: a row for each block on each call path."""


def page(found: Parallelism) -> Page:
    """The call paths as trees, the blocks as their leaves; what can run most at once stands out."""
    most = found.most
    rows: list[tuple[Any, ...]] = []
    marked = []
    for prefix, region in drawn(in_regions([(block.region, block) for block in found.blocks], found.kernel)):
        block = region.item
        if block is not None and block.together is not None and block.together == most:
            marked.append(len(rows))
        cells = (None,) * len(FIELDS) if block is None else _cells(block)
        rows.append((prefix + region.name, *cells))
    title = Title(f"{found.application.name}: {found.kernel} has {_said(found)}")
    return (title, Table(BLOCKS, tuple(rows), frozenset(marked))) if found.blocks else (title,)


def _said(found: Parallelism) -> str:
    if found.most is None:
        return "no block" if not found.blocks else "an unknown number of instances at once"
    instances = f"{count(found.most)} instance{'' if found.most == 1 else 's'}"
    unknown = any(block.together is None for block in found.blocks)
    return f"{instances} or more at once" if unknown else f"up to {instances} at once"


def _cells(block: BlockParallelism) -> tuple[Any, ...]:
    """The mean where it says more."""
    cells = {field: getattr(block, field) for field in FIELDS}
    if block.together is not None and float(block.together) == block.mean:
        cells["mean"] = None
    return tuple(cells.values())


def as_json(found: Parallelism) -> dict[str, Any]:
    """One object; null for what differs from pass to pass in a way that has no largest value."""
    return {
        "application": found.application.name,
        "kernel": found.kernel,
        "most": plain(found.most),
        "blocks": [
            {"path": list(block.path), "block": block.label}
            | {field: plain(getattr(block, field)) for field in FIELDS}
            | {"line": block.span.position().line if block.span else None}
            for block in found.blocks
        ],
        "diagnostics": [diagnostic.to_json() for diagnostic in found.application.warnings],
    }


def records(found: Parallelism) -> Table:
    """Rows of `RECORDS`."""
    rows = tuple(
        ("/".join(block.path), block.label, *(getattr(block, field) for field in FIELDS)) for block in found.blocks
    )
    return Table(RECORDS, rows)
