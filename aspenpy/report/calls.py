"""Calls: which kernel calls which, how often in one run."""

from __future__ import annotations

from typing import Any

from aspenpy.answers.scope import Scope, scope_of
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.language.diagnostics import AspenError
from aspenpy.models.application import flow
from aspenpy.models.application.model import Application
from aspenpy.models.application.total import Leaf, Totals, callees_first, calls_in, run_totals
from aspenpy.record import Record
from aspenpy.report.tree import Tree


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


def call_trees(application: Application) -> list[Tree[Called]]:
    """A tree for each entry kernel; the calls of a kernel are shown once, below its first appearance."""
    return [_tree(application, application.flow(name)) for name in application.entry_kernels()]


def _tree(application: Application, entry: flow.Kernel) -> Tree[Called]:
    totals = run_totals(_Calls(), entry)
    times = dict(zip(totals, _values(application, entry, list(totals.values())), strict=True))
    edges = {kernel: _callees(kernel, times) for kernel in callees_first(entry)}
    root: Tree[Called] = Tree(Called(entry.name, 1, False), [])
    waiting = [(entry, root)]
    shown = {entry}
    while waiting:
        kernel, tree = waiting.pop()
        inner = []
        for callee, number in edges[kernel].items():
            above = callee in shown and bool(edges[callee])
            branch: Tree[Called] = Tree(Called(callee.name, number, above), [])
            tree.branches.append(branch)
            if callee not in shown:
                shown.add(callee)
                inner.append((callee, branch))
        waiting += reversed(inner)
    return root


def _callees(kernel: flow.Kernel, times: dict[Any, Any]) -> dict[flow.Kernel, Any]:
    """The kernels it calls, in the order written, each with the number of calls."""
    callees: dict[flow.Kernel, Any] = {}
    for call in calls_in(kernel.body):
        known, more = callees.get(call.kernel, 0), times.get(call, 0)
        callees[call.kernel] = None if known is None or more is None else known + more
    return callees


def _values(application: Application, entry: flow.Kernel, exprs: list[Expr]) -> list[Any]:
    """The values; None for those that the application alone does not tell."""
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
