"""An Application as a page and as JSON: its kernels and their calls, data, parameters."""

from __future__ import annotations

from typing import Any

from aspenpy.application import flow
from aspenpy.application.model import Application
from aspenpy.diagnostics import AspenError
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.mapping.mapper import all_definitions, all_origins
from aspenpy.present import declared
from aspenpy.present.calls import Called, call_trees
from aspenpy.present.declared import Declared
from aspenpy.present.numbers import Amount, amount, count, plain
from aspenpy.present.page import Page, Title
from aspenpy.present.table import Column, Table
from aspenpy.present.tree import Tree, drawn
from aspenpy.present.units import Units
from aspenpy.scope import Scope

CALLS = (Column("kernel"), Column("calls", count, "right"), Column(""))
DATA = (Column("data"), Column("size", amount, "unit"), Column("as", wrapped=True))


def page(application: Application, summary: str | None = None) -> Page:
    """The calls, the data structures, the parameters."""
    tables = (_calls(application), _data(application), declared.table("parameters", _parameters(application)))
    title = f"application {application.name}: {summary}" if summary else f"application {application.name}"
    return (Title(title), *(table for table in tables if table.rows))


def as_json(application: Application, summary: str | None = None) -> dict[str, Any]:
    """One object; numbers in base units, null where the application alone does not tell them."""
    return {
        "application": application.name,
        "summary": summary,
        "kernels": [
            {"name": name, "arguments": [formal.name for formal in kernel.formals]}
            for name, kernel in application.kernels.items()
        ],
        "calls": [_branch(tree) for tree in call_trees(application)],
        "data": [
            {"name": name, "size": plain(size), "unit": "B", "definition": text}
            for name, size, text in _sizes(application)
        ],
        "parameters": declared.objects(_parameters(application)),
    }


# -- calls -----------------------------------------------------------------------------------------


def _calls(application: Application) -> Table:
    rows = [
        (prefix + called.kernel, called.times, "its calls stand further up" if called.above else None)
        for tree in call_trees(application)
        for prefix, called in drawn(tree)
    ]
    called = {row[0].rpartition(" ")[2] for row in rows}
    rows += [(name, 0, None) for name in application.kernels if name not in called]
    return Table(CALLS, tuple(rows))


def _branch(tree: Tree[Called]) -> dict[str, Any]:
    """What is called further up stands there with its own calls."""
    called = tree.item
    return {
        "kernel": called.kernel,
        "calls": plain(called.times),
        "callees": [_branch(inner) for inner in tree.branches],
    }


# -- data and parameters ---------------------------------------------------------------------------


def _data(application: Application) -> Table:
    rows = [
        (name, None if size is None else Amount(size, "B"), text or None) for name, size, text in _sizes(application)
    ]
    return Table(DATA, tuple(rows))


def _sizes(application: Application) -> list[tuple[str, Any, str]]:
    """Each data structure with its bytes and what it is declared as."""
    found = application.data.values()
    values = _values(application, [data.size for data in found])
    return [(data.name, value, _shape(data.span)) for data, value in zip(found, values, strict=True)]


def _shape(span: Any) -> str:
    """What stands behind the name: `Matrix(n, n, word)`."""
    written = " ".join(span.text().split()) if span else ""
    return written.partition(" as ")[2]


def _parameters(application: Application) -> list[Declared]:
    found = application.parameters.values()
    values = _values(application, [item.symbol for item in found])
    lows = _values(application, [item.low for item in found])
    highs = _values(application, [item.high for item in found])
    units = Units({item.name: item.node.value for item in found})
    return [
        Declared(item.name, value, units.of(item.node.value), low, high, item.node)
        for item, value, low, high in zip(found, values, lows, highs, strict=True)
    ]


def _values(application: Application, exprs: list[Expr | None]) -> list[Any]:
    """The values in the scope of the globals; None where the application alone does not tell it."""
    entry = flow.Kernel("", (), (), flow.NOTHING, graph.ZERO, None, None)
    definitions = all_definitions(application, None, entry)
    scope = Scope(application, None, entry, definitions, all_origins(application), {}, ())

    def value(expr: Expr | None) -> Any:
        try:
            return None if expr is None else scope.values([expr])[0]
        except AspenError:
            return None

    return [value(expr) for expr in exprs]
