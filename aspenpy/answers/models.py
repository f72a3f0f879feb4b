"""Run: the start of analyses without prices: an application, the kernel to run, and the values of names."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from aspenpy.answers.case import Case
from aspenpy.answers.scope import Scope, scope_of
from aspenpy.expr.graph import Expr
from aspenpy.models.application import flow
from aspenpy.models.application.total import callees_first, walk


class Run:
    """A kernel of an application with the user's settings; a machine gives values to names left open."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.application = case.application
        self.machine = case.machine
        self.entry = case.application.flow(case.kernel)

    @cached_property
    def scope(self) -> Scope:
        """Meanings of the names of the run."""
        roots = [expr for kernel in callees_first(self.entry) for expr in expressions(kernel.body)]
        return scope_of(self.application, self.machine, self.entry, self.case.set, roots)

    def values(self, exprs: Sequence[Expr]) -> list[Any]:
        """The values of expressions in which no counter is left."""
        return self.scope.values(exprs, self.case.seed)

    def formulas(self, exprs: Sequence[Expr]) -> list[Expr]:
        """The expressions with the values of all names put in; counters are left."""
        return self.scope.formulas(exprs)


def expressions(node: flow.Flow) -> list[Expr]:
    """All that is computed in a flow; callees are not entered."""
    return [expr for part in walk(node) for expr in _expressions_of_node(part)]


def _expressions_of_node(node: flow.Flow) -> list[Expr]:
    match node:
        case flow.Block():
            width = [] if node.width is None else [node.width]
            return [node.parallelism, *width, *(requirement.amount for requirement in node.requirements)]
        case flow.Repeat():
            return [node.count]
        case flow.Choice():
            return [condition for condition, _ in node.branches]
        case flow.Expectation():
            return [chance for chance, _ in node.cases]
        case flow.Call():
            return [value for _, value in node.arguments]
        case _:
            return []
