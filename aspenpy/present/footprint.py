"""A Footprint as a page, as JSON and as rows of CSV."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aspenpy.dimensions import readable
from aspenpy.present.numbers import count, plain, quantity, share
from aspenpy.present.page import Page, Part, Title
from aspenpy.present.table import Column, Table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aspenpy.analysis.footprint import Capacity, Footprint

size = quantity("B")

REGIONS = (
    Column("kernel"),
    Column("inclusive", size, "unit"),
    Column("exclusive", size, "unit"),
    Column("own data", wrapped=True),
)
DATA = (Column("data"), Column("size", size, "unit"), Column("loaded", size, "unit"), Column("stored", size, "unit"))
RECORDS = tuple(map(Column, ("kernel", "region", "inclusive", "exclusive", "own", "touched")))
"""Of the CSV form: a row for each kernel and region; bytes."""


def page(footprint: Footprint) -> Page:
    """What is touched in all and whether it fits, by kernel and region, by data structure."""
    title = f"{footprint.application.name}: {footprint.kernel} touches {size(footprint.total)}"
    parts: list[Part] = [Title(title)]
    if footprint.capacities:
        parts.append(_capacities(footprint))
    if footprint.regions:
        parts += [_regions(footprint), _data(footprint)]
    return tuple(parts)


def _capacities(footprint: Footprint) -> Table:
    """The memories; where there are several, each with the data that lie in it."""
    facts = [fact for found in footprint.capacities for fact in _facts(found, len(footprint.capacities) > 1)]
    return Table((Column(""), Column("", wrapped=True)), tuple(facts))


def _facts(memory: Capacity, one_of_several: bool) -> Iterator[tuple[str, str]]:
    yield "memory", f"{memory.memory}, {count(memory.count)} in all"
    if memory.size is None:
        yield "capacity", "not stated (property capacity)"
    else:
        verdict = f"{share(float(memory.held) / float(memory.size))} of it is touched" if memory.fits else "too small"
        yield "capacity", f"{readable(memory.size, 'B')} in all, {verdict}"
    if one_of_several:
        yield "holds", ", ".join(memory.data) or "nothing that is touched"


def _regions(footprint: Footprint) -> Table:
    """Regions stand below their kernel, set in."""
    rows = tuple(
        ("  " * (len(use.name) - 1) + use.name[-1], use.inclusive, use.exclusive, ", ".join(use.own) or None)
        for use in footprint.regions
    )
    return Table(REGIONS, rows)


def _data(footprint: Footprint) -> Table:
    return Table(DATA, tuple((use.name, use.size, use.loads, use.stores) for use in footprint.data.values()))


def as_json(footprint: Footprint) -> dict[str, Any]:
    """One object; bytes."""
    found = footprint.capacity
    return {
        "application": footprint.application.name,
        "kernel": footprint.kernel,
        "footprint": {"value": plain(footprint.total), "unit": "B"},
        "memory": None
        if found is None
        else {
            "component": found.memory,
            "count": plain(found.count),
            "capacity": plain(found.size),
            "unit": "B",
            "fits": footprint.fits,
        },
        "memories": [
            {
                "component": memory.memory,
                "capacity": plain(memory.size),
                "held": plain(memory.held),
                "unit": "B",
                "data": list(memory.data),
                "fits": memory.fits,
            }
            for memory in footprint.capacities
        ],
        "regions": [
            {
                "kernel": use.name[0],
                "labels": [label.strip('"') for label in use.name[1:]],
                "inclusive": plain(use.inclusive),
                "exclusive": plain(use.exclusive),
                "own": list(use.own),
                "touched": list(use.touched),
            }
            for use in footprint.regions
        ],
        "data": [
            {"name": use.name, "size": plain(use.size), "loads": plain(use.loads), "stores": plain(use.stores)}
            for use in footprint.data.values()
        ],
        "diagnostics": [diagnostic.to_json() for diagnostic in footprint.diagnostics],
    }


def records(footprint: Footprint) -> Table:
    """Rows of `RECORDS`."""
    rows = tuple(
        (
            use.name[0],
            "/".join(label.strip('"') for label in use.name[1:]),
            use.inclusive,
            use.exclusive,
            " ".join(use.own),
            " ".join(use.touched),
        )
        for use in footprint.regions
    )
    return Table(RECORDS, rows)
