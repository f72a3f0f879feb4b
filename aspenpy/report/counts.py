"""Counts, their inverse, and the data that kernels touch, as reports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aspenpy.answers.counting import Counts, Inverse, KernelCount, intensity
from aspenpy.answers.evaluation import amount_of
from aspenpy.answers.footprint import Capacity, Footprint
from aspenpy.expr import graph
from aspenpy.language.dimensions import format_quantity
from aspenpy.tables.numbers import (
    Amount,
    format_amount,
    format_count,
    format_setting,
    format_share,
    make_formatter,
    plain_number,
    unit_of_resource,
)
from aspenpy.tables.registry import register_report
from aspenpy.tables.table import (
    CSV,
    DATA,
    JSON,
    TEXT,
    Column,
    Paragraph,
    Part,
    Report,
    Table,
    make_columns,
    make_facts,
    make_table,
)

if TYPE_CHECKING:
    from collections.abc import Iterator


LONG = make_columns("kernel resource calls inclusive exclusive unit")
OBJECTS = (
    *make_columns("name calls inclusive exclusive"),
    Column("intensity", get=lambda kernel: intensity(kernel.exclusive)),
)
ROOTS = (Column("parameter"), Column("from"), Column("to"), *make_columns("resource amount unit", media=CSV))


def report_counts(counts: Counts, resource: str | None = None) -> Report:
    """The amounts in all and by kernel: of each resource in the kernels' own blocks, or of one with its callees'."""
    if resource is not None:
        amount_of(dict.fromkeys(counts.amounts, graph.ZERO), resource)  # refuses one that the kernel does not need
    names = [resource] if resource else list(counts.amounts)
    kernels = [kernel.replace(**_amounts_of_kernel(kernel, names)) for kernel in counts.kernels]
    rows = [
        (kernel.name, name, kernel.calls, kernel.inclusive[name], kernel.exclusive[name], unit_of_resource(name))
        for kernel in counts.kernels
        for name in names
    ]
    data = {
        **_headline_values(counts),
        "resources": {name: {"amount": counts.amounts[name], "unit": unit_of_resource(name)} for name in names},
        "intensity": intensity(counts.amounts),
    }
    shown = [_table_of_one(counts, resource)] if resource else [_totals_table(counts), _table_of_all(counts)]
    parts = (*shown, make_table(OBJECTS, kernels, "kernels", media=JSON), Table(LONG, tuple(rows), media=CSV))
    return Report("counts/1", _write_headline(counts, resource), data, parts, counts.diagnostics)


register_report(Counts, report_counts)


def _headline_values(counts: Counts) -> dict[str, Any]:
    return {"application": counts.application.name, "kernel": counts.entry.name, "traits": list(counts.traits)}


def _amounts_of_kernel(kernel: KernelCount, names: list[str]) -> dict[str, Any]:
    return {field: {name: getattr(kernel, field)[name] for name in names} for field in ("inclusive", "exclusive")}


def _write_headline(counts: Counts, resource: str | None) -> str:
    asked = _traits_in_words(counts)
    if resource is not None:
        total = format_amount(Amount(counts.amounts[resource], unit_of_resource(resource)))
        return f"{counts.application.name}: {counts.entry.name} asks for {total} ({resource}{asked})"
    ratio = intensity(counts.amounts)
    said = f"; {ratio:.3g} flop/B" if ratio else ""
    return f"{counts.application.name}: what {counts.entry.name} asks for{asked}{said}"


def _traits_in_words(counts: Counts) -> str:
    return f" as {', '.join(counts.traits)}" if counts.traits else ""


def _totals_table(counts: Counts) -> Table:
    rows = tuple((name, Amount(total, unit_of_resource(name))) for name, total in counts.amounts.items())
    return Table((Column("resource"), Column("amount", "amount")), rows, media=TEXT)


def _table_of_all(counts: Counts) -> Table:
    """Every resource in the kernels' own blocks, which add up to what is asked for in all."""

    def make_column(name: str) -> Column:
        unit = unit_of_resource(name)
        return Column(
            name, "amount", get=lambda kernel: Amount(kernel.exclusive[name], unit) if kernel.exclusive[name] else None
        )

    heads = (
        Column("kernel", get="name"),
        Column("calls", "count"),
        *map(make_column, counts.amounts),
        Column("flop/B", "ratio", get=lambda kernel: intensity(kernel.exclusive)),
    )
    return make_table(heads, _kernels_that_ran(counts), title="in their own blocks", media=TEXT)


def _table_of_one(counts: Counts, resource: str) -> Table:
    total, unit = counts.amounts[resource], unit_of_resource(resource)
    heads = (
        Column("kernel", get="name"),
        Column("calls", "count"),
        Column("inclusive", "amount", get=lambda kernel: Amount(kernel.inclusive[resource], unit)),
        Column("exclusive", "amount", get=lambda kernel: Amount(kernel.exclusive[resource], unit)),
        Column("share", "share", get=lambda kernel: float(kernel.exclusive[resource]) / float(total) if total else 0.0),
    )
    return make_table(heads, _kernels_that_ran(counts), media=TEXT)


def _kernels_that_ran(counts: Counts) -> list[KernelCount]:
    return [kernel for kernel in counts.kernels if kernel.calls]


# -- the inverse -----------------------------------------------------------------------------------


def report_inverse(counts: Counts, inverse: Inverse) -> Report:
    """The values that meet the target, or those next to where it would be. Values between two leaps do not meet it."""
    unit = unit_of_resource(inverse.resource)
    data = {
        **_headline_values(counts),
        "parameter": inverse.parameter,
        "resource": inverse.resource,
        "target": Amount(inverse.target, unit),
        "range": {"low": inverse.low, "high": inverse.high, "declared": inverse.declared},
        "whole": inverse.whole,
    }
    target = f"{write_exactly(inverse.target)} {unit}".rstrip()
    resource = f"{inverse.resource}{_traits_in_words(counts)}"
    asks = f"{counts.application.name}: {counts.entry.name} asks for {target} ({resource})"
    roots = tuple(
        (inverse.parameter, item.low, item.high, inverse.resource, inverse.target, unit) for item in inverse.solutions
    )
    solutions = Table(
        (ROOTS[0].replace(media=CSV), *(column.replace(media=DATA) for column in ROOTS[1:3]), *ROOTS[3:]),
        roots,
        key="solutions",
        media=DATA,
    )
    return Report(
        "inverse/1",
        f"{asks} {_describe_interval(inverse)}",
        data,
        (solutions, *_roots_and_leaps(inverse, unit)),
        counts.diagnostics,
    )


def _roots_and_leaps(inverse: Inverse, unit: str) -> list[Part]:
    name = inverse.parameter
    parts: list[Part] = []
    if len(inverse.solutions) > 1:
        rows = tuple((exactly_between(item.low, item.high),) for item in inverse.solutions)
        parts.append(Table((Column(name, align="right"),), rows, media=TEXT))
    header = f"{inverse.resource} [{unit}]" if unit else inverse.resource
    heads = (
        Column(name, write_exactly, "right", key="before"),
        Column(header, "count", key="amount_before"),
        Column(f"next {name}", write_exactly, "right", key="behind"),
        Column(header, "count", key="amount_behind"),
    )
    title = "leaps over it" if inverse.solutions else "comes closest"
    whose = "the range it declares" if inverse.declared else "not a range that it declares"
    numbers = "whole numbers only" if inverse.whole else "all real numbers"
    tried = f"{name} from {write_exactly(inverse.low)} to {write_exactly(inverse.high)}, {whose}"
    return [*parts, make_table(heads, inverse.leaps, "leaps", title=title), Paragraph(f"Tried: {tried}; {numbers}.")]


def _describe_interval(inverse: Inverse) -> str:
    if not inverse.solutions:
        return f"at no {'whole ' if inverse.whole else ''}{inverse.parameter}"
    if len(inverse.solutions) > 1:
        return f"at {len(inverse.solutions)} values of {inverse.parameter}, or ranges of them"
    (only,) = inverse.solutions
    joint = "=" if only.low == only.high else "from"
    return f"at {inverse.parameter} {joint} {exactly_between(only.low, only.high).replace(' .. ', ' to ')}"


def exactly_between(low: Any, high: Any) -> str:
    return write_exactly(low) if low == high else f"{write_exactly(low)} .. {write_exactly(high)}"


def write_exactly(value: Any) -> str:
    """Digits enough to be given to `--set`."""
    return format_setting(plain_number(value))


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
    """Reports the bytes touched in all and whether they fit, by kernel and region, by data structure."""
    data = {
        "application": footprint.application.name,
        "kernel": footprint.kernel,
        "footprint": Amount(footprint.total, "B"),
        "memory": footprint.capacity and _memory_as_data(footprint.capacity, footprint),
    }
    several = len(footprint.capacities) > 1
    parts = (
        make_facts(fact for capacity in footprint.capacities for fact in _facts_of_memory(capacity, several)),
        make_table(REGIONS, footprint.regions, "regions"),
        make_table(STRUCTURES, footprint.data.values() if footprint.regions else (), "data"),
        make_table(MEMORIES, footprint.capacities, "memories", media=JSON),
    )
    headline = f"{footprint.application.name}: {footprint.kernel} touches {make_formatter('B')(footprint.total)}"
    return Report("footprint/1", headline, data, parts, tuple(footprint.diagnostics))


register_report(Footprint, report_footprint)


def _memory_as_data(capacity: Capacity, footprint: Footprint) -> dict[str, Any]:
    return {
        "component": capacity.memory,
        "count": capacity.count,
        "capacity": capacity.size,
        "unit": "B",
        "fits": footprint.fits,
    }


def _facts_of_memory(memory: Capacity, one_of_several: bool) -> Iterator[tuple[str, str]]:
    yield "memory", f"{memory.memory}, {format_count(memory.count)} in all"
    if memory.fullest is not None:
        yield "on one of them", f"{format_quantity(memory.fullest, 'B')} at most, the share of the ranks there"
    if memory.size is None:
        yield "capacity", "not stated (property capacity)"
    else:
        verdict = (
            f"{format_share(float(memory.held) / float(memory.size))} of it is touched" if memory.fits else "too small"
        )
        yield "capacity", f"{format_quantity(memory.size, 'B')} in all, {verdict}"
    if one_of_several:
        yield "holds", ", ".join(memory.data) or "nothing that is touched"
