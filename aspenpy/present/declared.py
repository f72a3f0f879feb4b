"""What a model declares by name: its parameters and properties with their values, units and ranges."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from aspenpy.present.numbers import Amount, plain, worth
from aspenpy.present.table import Column, Table
from aspenpy.record import Record
from aspenpy.source import Span
from aspenpy.syntax import nodes

COLUMNS = (Column("name"), Column("value"), Column("range"), Column("defined as", wrapped=True))


class Declared(Record):
    """A name with its value in base units (None where the model alone does not tell it), the base unit (empty for a
    plain number), the ends of its range if it has one, and how it was written."""

    name: str
    value: Any
    unit: str
    low: Any
    high: Any
    node: nodes.Parameter | nodes.Property


def table(title: str, found: Iterable[Declared]) -> Table:
    """The names with their values; columns that no row fills are left out."""
    rows = [(item.name, _value(item), _range(item), _definition(item.node)) for item in found]
    kept = [place for place in range(len(COLUMNS)) if any(row[place] is not None for row in rows)]
    return Table(
        tuple(COLUMNS[place] for place in kept), tuple(tuple(row[place] for place in kept) for row in rows), title=title
    )


def objects(found: Iterable[Declared]) -> list[dict[str, Any]]:
    """The same for JSON, numbers in base units."""
    return [
        {
            "name": item.name,
            "value": plain(item.value),
            "unit": item.unit,
            "range": None if item.low is None or item.high is None else [plain(item.low), plain(item.high)],
            "definition": _definition(item.node),
        }
        for item in found
    ]


def _value(item: Declared) -> str | None:
    """A literal in the spelling of its author, who prefers 32 KiB to 32.8 kB."""
    if isinstance(item.node.value, nodes.Number):
        return item.node.value.spelling
    return None if item.value is None else worth(Amount(item.value, item.unit))


def _range(item: Declared) -> str | None:
    """In the spelling of its author."""
    node = item.node
    if isinstance(node, nodes.Property):
        return None
    if node.member_of is not None:
        return node.member_of
    return None if node.low is None or node.high is None else f"{_text(node.low.span)} .. {_text(node.high.span)}"


def _definition(node: nodes.Parameter | nodes.Property) -> str | None:
    """The expression, in the spelling of its author; nothing for a plain number."""
    if node.value is None or isinstance(node.value, nodes.Number):
        return None
    return _text(node.value.span)


def _text(span: Span | None) -> str:
    return " ".join(span.text().split()) if span else ""
