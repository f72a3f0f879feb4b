"""An Application as a report: its kernels and their calls, data, parameters."""

from __future__ import annotations

from typing import Any

from aspenpy.answers.scope import scope_of
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.models.application import flow
from aspenpy.models.application.model import Application
from aspenpy.models.units import Units
from aspenpy.report.calls import Called, call_trees, value_or_none
from aspenpy.report.declared import Declared, declared
from aspenpy.report.tree import Tree, lines
from aspenpy.tables.registry import register_report
from aspenpy.tables.table import JSON, TEXT, Column, Report, Table, table


def report_application(application: Application, summary: str | None = None) -> Report:
    """The calls, the data structures, the parameters; null where the application alone does not tell them."""
    kernels = application.kernels.items()
    trees = call_trees(application)
    data = {
        "application": application.name,
        "summary": summary,
        "kernels": [{"name": name, "arguments": [it.name for it in kernel.formals]} for name, kernel in kernels],
        "calls": [_branch(tree) for tree in trees],
    }
    parts = (
        _calls(application, trees),
        table(STRUCTURES, sizes_of(application), "data", media=TEXT + JSON),
        declared("parameters", parameters_of(application)),
    )
    headline = f"application {application.name}: {summary}" if summary else f"application {application.name}"
    return Report(headline, data, parts, tuple(application.warnings))


register_report(Application, report_application)


STRUCTURES = (
    Column("data", key="name", get=lambda item: item[0]),
    Column("size", unit="B", get=lambda item: item[1]),
    Column("unit", get=lambda item: "B", media=JSON),
    Column("as", get=lambda item: item[2] or None, wrapped=True, media=TEXT),
    Column("definition", get=lambda item: item[2], media=JSON),
)


# -- calls -----------------------------------------------------------------------------------------


def _calls(application: Application, trees: list[Tree[Called]]) -> Table:
    rows = [
        (prefix + called.kernel, called.times, "its calls stand further up" if called.above else None)
        for tree in trees
        for prefix, called in lines(tree)
    ]
    named = {row[0].rpartition(" ")[2] for row in rows}
    rows += [(name, 0, None) for name in application.kernels if name not in named]
    return Table((Column("kernel"), Column("calls", "count"), Column("")), tuple(rows), media=TEXT)


def _branch(tree: Tree[Called]) -> dict[str, Any]:
    """What is called further up stands there with its own calls."""
    called = tree.item
    return {"kernel": called.kernel, "calls": called.times, "callees": [_branch(inner) for inner in tree.branches]}


# -- data and parameters ---------------------------------------------------------------------------


def sizes_of(application: Application) -> list[tuple[str, Any, str]]:
    """Each data structure with its bytes and what it is declared as."""
    structures = application.data.values()
    values = _values(application, [data.size for data in structures])
    return [(data.name, value, _shape(data.span)) for data, value in zip(structures, values, strict=True)]


def _shape(span: Any) -> str:
    """What stands behind the name: `Matrix(n, n, word)`."""
    written = " ".join(span.text().split()) if span else ""
    return written.partition(" as ")[2]


def parameters_of(application: Application) -> list[Declared]:
    """The parameters with their values; None where the application alone does not tell it."""
    parameters = application.parameters.values()
    values = _values(application, [item.symbol for item in parameters])
    lows = _values(application, [item.low for item in parameters])
    highs = _values(application, [item.high for item in parameters])
    units = Units({item.name: item.node.value for item in parameters})
    return [
        Declared(item.name, value, units.of(item.node.value), low, high, item.node)
        for item, value, low, high in zip(parameters, values, lows, highs, strict=True)
    ]


def _values(application: Application, exprs: list[Expr | None]) -> list[Any]:
    """The values in the scope of the globals; None where the application alone does not tell it."""
    entry = flow.Kernel("", (), (), flow.NOTHING, graph.ZERO, None, None)
    scope = scope_of(application, None, entry)
    return [value_or_none(scope, expr) for expr in exprs]
