"""Counts, and their inverse, as pages, as JSON and as rows of CSV."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aspenpy.analysis.counting import intensity
from aspenpy.present.numbers import Amount, Real, amount, count, plain, setting, share, unit_of_resource
from aspenpy.present.page import Page, Paragraph, Part, Title
from aspenpy.present.table import Column, Table

if TYPE_CHECKING:
    from aspenpy.analysis.counting import Counts, Inverse, KernelCount

RECORDS = tuple(map(Column, ("kernel", "resource", "calls", "inclusive", "exclusive", "unit")))
"""Of the CSV form: a row for each kernel and resource, in the resource's base unit."""

ROOTS = tuple(map(Column, ("parameter", "from", "to", "resource", "amount", "unit")))
"""Of the CSV form of an inverse: a row for each value, or interval of values, that meets the target."""


# -- counts ----------------------------------------------------------------------------------------


def page(counts: Counts, resource: str | None = None) -> Page:
    """The amounts in all and by kernel: of each resource in the kernels' own blocks, or of one with its callees'."""
    asked = f" as {', '.join(counts.traits)}" if counts.traits else ""
    if resource is not None:
        total = amount(Amount(counts.amounts[resource], unit_of_resource(resource)))
        title = f"{counts.application.name}: {counts.entry.name} asks for {total} ({resource}{asked})"
        return (Title(title), _of_one(counts, resource))
    found = intensity(counts.amounts)
    said = f"; {_ratio(found)} flop/B" if found else ""
    title = f"{counts.application.name}: what {counts.entry.name} asks for{asked}{said}"
    return (Title(title), _in_all(counts), _of_all(counts))


def _in_all(counts: Counts) -> Table:
    columns = (Column("resource"), Column("amount", amount, "unit"))
    rows = tuple((name, Amount(worth, unit_of_resource(name))) for name, worth in counts.amounts.items())
    return Table(columns, rows)


def _of_all(counts: Counts) -> Table:
    """Every resource in the kernels' own blocks, which add up to what is asked for in all."""
    resources = list(counts.amounts)
    columns = (
        Column("kernel"),
        Column("calls", count, "right"),
        *(Column(name, amount, "unit") for name in resources),
        Column("flop/B", _ratio, "right"),
    )
    rows = tuple(
        (
            kernel.name,
            kernel.calls,
            *(_worth(kernel.exclusive[name], name) for name in resources),
            intensity(kernel.exclusive),
        )
        for kernel in counts.kernels
        if kernel.calls
    )
    return Table(columns, rows, title="in their own blocks")


def _ratio(value: Real) -> str:
    return f"{float(value):.3g}"


def _worth(worth: Any, resource: str) -> Amount | None:
    return Amount(worth, unit_of_resource(resource)) if worth else None


def _of_one(counts: Counts, resource: str) -> Table:
    columns = (
        Column("kernel"),
        Column("calls", count, "right"),
        Column("inclusive", amount, "unit"),
        Column("exclusive", amount, "unit"),
        Column("share", share, "right"),
    )
    total, unit = counts.amounts[resource], unit_of_resource(resource)
    rows = tuple(
        (
            kernel.name,
            kernel.calls,
            Amount(kernel.inclusive[resource], unit),
            Amount(kernel.exclusive[resource], unit),
            float(kernel.exclusive[resource]) / float(total) if total else 0.0,
        )
        for kernel in counts.kernels
        if kernel.calls
    )
    return Table(columns, rows)


def as_json(counts: Counts, resource: str | None = None) -> dict[str, Any]:
    """One object; amounts in base units, whole ones exact."""
    names = [resource] if resource else list(counts.amounts)
    return {
        "application": counts.application.name,
        "kernel": counts.entry.name,
        "traits": list(counts.traits),
        "resources": {name: {"amount": plain(counts.amounts[name]), "unit": unit_of_resource(name)} for name in names},
        "intensity": intensity(counts.amounts),
        "kernels": [_object(kernel, names) for kernel in counts.kernels],
        "diagnostics": [diagnostic.to_json() for diagnostic in counts.application.warnings],
    }


def _object(kernel: KernelCount, names: list[str]) -> dict[str, Any]:
    return {
        "name": kernel.name,
        "calls": plain(kernel.calls),
        "inclusive": {name: plain(kernel.inclusive[name]) for name in names},
        "exclusive": {name: plain(kernel.exclusive[name]) for name in names},
        "intensity": intensity(kernel.exclusive),
    }


def records(counts: Counts, resource: str | None = None) -> Table:
    """Rows of `RECORDS`."""
    rows = tuple(
        (kernel.name, name, kernel.calls, kernel.inclusive[name], kernel.exclusive[name], unit_of_resource(name))
        for kernel in counts.kernels
        for name in ([resource] if resource else counts.amounts)
    )
    return Table(RECORDS, rows)


# -- the inverse -----------------------------------------------------------------------------------


def inverse_page(counts: Counts, inverse: Inverse) -> Page:
    """The values that meet the target, or those next to where it would be."""
    name, unit = inverse.parameter, unit_of_resource(inverse.resource)
    target = f"{_exactly(inverse.target)} {unit}".rstrip()
    asked = f" as {', '.join(counts.traits)}" if counts.traits else ""
    asks = f"{counts.application.name}: {counts.entry.name} asks for {target} ({inverse.resource}{asked})"
    parts: list[Part] = [Title(f"{asks} {_where(inverse)}")]
    if len(inverse.solutions) > 1:
        rows = tuple((_interval(item.low, item.high),) for item in inverse.solutions)
        parts.append(Table((Column(name, align="right"),), rows))
    if inverse.leaps:
        amounts = Column(f"{inverse.resource} [{unit}]" if unit else inverse.resource, count, "right")
        columns = (Column(name, _exactly, "right"), amounts, Column(f"next {name}", _exactly, "right"), amounts)
        leaps = tuple((item.before, item.amount_before, item.behind, item.amount_behind) for item in inverse.leaps)
        parts.append(Table(columns, leaps, title="leaps over it" if inverse.solutions else "comes closest"))
    whose = "the range it declares" if inverse.declared else "not a range that it declares"
    numbers = "whole numbers only" if inverse.whole else "all real numbers"
    tried = f"{name} from {_exactly(inverse.low)} to {_exactly(inverse.high)}, {whose}"
    parts.append(Paragraph(f"Tried: {tried}; {numbers}."))
    return tuple(parts)


def _where(inverse: Inverse) -> str:
    if not inverse.solutions:
        return f"at no {'whole ' if inverse.whole else ''}{inverse.parameter}"
    if len(inverse.solutions) > 1:
        return f"at {len(inverse.solutions)} values of {inverse.parameter}, or ranges of them"
    (found,) = inverse.solutions
    joint = "=" if found.low == found.high else "from"
    return f"at {inverse.parameter} {joint} {_interval(found.low, found.high).replace(' .. ', ' to ')}"


def _interval(low: Any, high: Any) -> str:
    return _exactly(low) if low == high else f"{_exactly(low)} .. {_exactly(high)}"


def _exactly(value: Any) -> str:
    """Digits enough to be given to `--set`."""
    return setting(plain(value))


def inverse_json(counts: Counts, inverse: Inverse) -> dict[str, Any]:
    """One object; amounts in base units. Values between two leaps do not meet the target."""
    return {
        "application": counts.application.name,
        "kernel": counts.entry.name,
        "traits": list(counts.traits),
        "parameter": inverse.parameter,
        "resource": inverse.resource,
        "target": {"value": plain(inverse.target), "unit": unit_of_resource(inverse.resource)},
        "range": {"low": plain(inverse.low), "high": plain(inverse.high), "declared": inverse.declared},
        "whole": inverse.whole,
        "solutions": [{"from": plain(item.low), "to": plain(item.high)} for item in inverse.solutions],
        "leaps": [
            {field: plain(getattr(item, field)) for field in ("before", "amount_before", "behind", "amount_behind")}
            for item in inverse.leaps
        ],
    }


def inverse_records(inverse: Inverse) -> Table:
    """Rows of `ROOTS`."""
    unit = unit_of_resource(inverse.resource)
    rows = tuple(
        (inverse.parameter, item.low, item.high, inverse.resource, inverse.target, unit) for item in inverse.solutions
    )
    return Table(ROOTS, rows)
