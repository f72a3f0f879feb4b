"""An Application as a report: its kernels and their calls, data, parameters; what an extraction found."""

from __future__ import annotations

from typing import Any

from aspenpy.answers.scope import Scope, scope_of
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.extract.costs import Hole
from aspenpy.extract.extraction import Extraction
from aspenpy.language.diagnostics import AspenError
from aspenpy.models.application import flow
from aspenpy.models.application.model import Application
from aspenpy.models.application.total import Leaf, Totals, callees_first, calls_in, run_totals
from aspenpy.models.units import Units
from aspenpy.record import Record
from aspenpy.report.listings import Declared, ListingTree, declaration_table, tree_lines
from aspenpy.tables.registry import register_report
from aspenpy.tables.table import JSON, TEXT, Column, Report, Table, make_facts, make_table

# -- which kernel calls which, how often in one run ------------------------------------------------


class Called(Record):
    """A kernel where it is called: how often in a run from there (None where the application alone does not tell
    it), and whether what it calls itself stands further up."""

    kernel: str
    times: Any
    above: bool


class _Calls(Leaf):
    """The leaf that counts how often each call is made."""

    def block(self, block: flow.Block, kernel: flow.Kernel) -> Totals:
        return {}

    def call(self, call: flow.Call, callee: Totals) -> Totals:
        return {**callee, call: graph.ONE}


def call_trees(application: Application) -> list[ListingTree[Called]]:
    """A tree for each entry kernel; the calls of a kernel are shown once, below its first appearance."""
    return [_tree(application, application.flow(name)) for name in application.entry_kernels()]


def _tree(application: Application, entry: flow.Kernel) -> ListingTree[Called]:
    totals = run_totals(_Calls(), entry)
    times = dict(zip(totals, _call_values(application, entry, list(totals.values())), strict=True))
    edges = {kernel: _count_callees(kernel, times) for kernel in callees_first(entry)}
    root: ListingTree[Called] = ListingTree(Called(entry.name, 1, False), [])
    waiting = [(entry, root)]
    shown = {entry}
    while waiting:
        kernel, tree = waiting.pop()
        inner = []
        for callee, number in edges[kernel].items():
            above = callee in shown and bool(edges[callee])
            branch: ListingTree[Called] = ListingTree(Called(callee.name, number, above), [])
            tree.branches.append(branch)
            if callee not in shown:
                shown.add(callee)
                inner.append((callee, branch))
        waiting += reversed(inner)
    return root


def _count_callees(kernel: flow.Kernel, times: dict[Any, Any]) -> dict[flow.Kernel, Any]:
    """The kernels it calls, in the order written, each with the number of calls."""
    callees: dict[flow.Kernel, Any] = {}
    for call in calls_in(kernel.body):
        known, more = callees.get(call.kernel, 0), times.get(call, 0)
        callees[call.kernel] = None if known is None or more is None else known + more
    return callees


def _call_values(application: Application, entry: flow.Kernel, exprs: list[Expr]) -> list[Any]:
    """The values of the expressions; None where a value depends on a machine."""
    scope = scope_of(application, None, entry, roots=exprs)
    try:
        return scope.values(exprs)
    except AspenError:
        return [value_or_none(scope, expr) for expr in exprs]


def value_or_none(scope: Scope, expr: Expr | None) -> Any:
    """The value; None where there is no expression, or where the application alone does not tell it."""
    try:
        return None if expr is None else scope.values([expr])[0]
    except AspenError:
        return None


def report_application(application: Application, summary: str | None = None) -> Report:
    """The calls, the data structures, the parameters; null where the application alone does not tell them."""
    kernels = application.kernels.items()
    trees = call_trees(application)
    data = {
        "application": application.name,
        "summary": summary,
        "kernels": [{"name": name, "arguments": [it.name for it in kernel.formals]} for name, kernel in kernels],
        "calls": [_branch_as_data(tree) for tree in trees],
    }
    parts = (
        _calls_table(application, trees),
        make_table(STRUCTURES, sizes_of(application), "data", media=TEXT + JSON),
        declaration_table("parameters", parameters_of(application)),
    )
    headline = f"application {application.name}: {summary}" if summary else f"application {application.name}"
    return Report("application/1", headline, data, parts, tuple(application.warnings))


register_report(Application, report_application)

STRUCTURES = (
    Column("data", key="name", get=lambda item: item[0]),
    Column("size", unit="B", get=lambda item: item[1]),
    Column("unit", get=lambda item: "B", media=JSON),
    Column("as", get=lambda item: item[2] or None, wrapped=True, media=TEXT),
    Column("definition", get=lambda item: item[2], media=JSON),
)


# -- calls -----------------------------------------------------------------------------------------


def _calls_table(application: Application, trees: list[ListingTree[Called]]) -> Table:
    rows = [
        (prefix + called.kernel, called.times, "its calls stand further up" if called.above else None)
        for tree in trees
        for prefix, called in tree_lines(tree)
    ]
    named = {row[0].rpartition(" ")[2] for row in rows}
    rows += [(name, 0, None) for name in application.kernels if name not in named]
    return Table((Column("kernel"), Column("calls", "count"), Column("")), tuple(rows), media=TEXT)


def _branch_as_data(tree: ListingTree[Called]) -> dict[str, Any]:
    """A kernel with its calls for JSON; of one that stands further up already, its calls are there."""
    called = tree.item
    return {
        "kernel": called.kernel,
        "calls": called.times,
        "callees": [_branch_as_data(inner) for inner in tree.branches],
    }


# -- data and parameters ---------------------------------------------------------------------------


def sizes_of(application: Application) -> list[tuple[str, Any, str]]:
    """Data structures with their bytes and declarations."""
    structures = application.data.values()
    values = _values(application, [data.size for data in structures])
    return [(data.name, value, _shape_text(data.span)) for data, value in zip(structures, values, strict=True)]


def _shape_text(span: Any) -> str:
    """The shape behind the name: `Matrix(n, n, word)`."""
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
        Declared(item.name, value, units.of(item.node.value), low=low, high=high, node=item.node)
        for item, value, low, high in zip(parameters, values, lows, highs, strict=True)
    ]


def _values(application: Application, exprs: list[Expr | None]) -> list[Any]:
    """The values in the scope of the globals; None where the application alone does not tell it."""
    entry = flow.Kernel("", (), (), flow.NOTHING, graph.ZERO, span=None, name_span=None)
    scope = scope_of(application, None, entry)
    return [value_or_none(scope, expr) for expr in exprs]


# -- extractions -----------------------------------------------------------------------------------


def report_extraction(extraction: Extraction) -> Report:
    """The kernels of the model, and the parameters that the source does not say."""
    heads = (
        Column("parameter", get=lambda hole: hole.name),
        Column("value", get=Hole.text),
        Column("stands for", get=lambda hole: str(hole.meaning)),
        Column("set by", get=_describe_origin),
        Column("line", get=_line, align="right"),
    )
    data = {
        "name": extraction.name,
        "level": extraction.level,
        "kernels": list(extraction.kernels),
        "aspen": extraction.text,
    }
    rows = [
        ("kernels", ", ".join(extraction.kernels)),
        ("level", extraction.level),
        ("open parameters", extraction.summary()),
    ]
    if extraction.reconciliation is not None:
        rows.append(("run", extraction.reconciliation.summary()))
    parts = [make_facts(rows), make_table(heads, extraction.holes, "parameters", title="what the source does not say")]
    if extraction.reconciliation is not None:
        parts.append(make_table(LINES, extraction.reconciliation.lines, "lines", title="how often lines run"))
    return Report(
        "extraction/1",
        f"{extraction.name}: {len(extraction.kernels)} kernels",
        data,
        tuple(parts),
        extraction.diagnostics,
    )


LINES = (
    Column("line", get=lambda line: line.place),
    Column("source", get=lambda line: line.text),
    Column("model", get=lambda line: line.model),
    Column("run", get=lambda line: line.run),
    Column("ratio", get=lambda line: line.ratio),
    Column("share of work", "share", get=lambda line: line.share),
)
"""Lines of a program beside a run: passes of loops, how often conditions hold, entries of functions."""

register_report(Extraction, report_extraction)


def _describe_origin(hole: Hole) -> str:
    """The origin of a parameter's value, in words."""
    if hole.fit is not None:
        return f"{hole.fit.runs} runs, within {100 * hole.fit.error:.2g} %"
    return hole.rule or "a person"


def _line(hole: Hole) -> int | None:
    return None if hole.span is None else hole.span.position().line
