"""Arrays: the data structures that the array arguments of kernels stand for, the sizes of kernels' own, and which
of them a run has touched when a block begins."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce

from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.language import nodes
from aspenpy.language.lower import Lowering, Origins, lower_guarded
from aspenpy.language.statements import declarations_by_name
from aspenpy.models.application import flow
from aspenpy.models.application.model import Application
from aspenpy.models.application.total import callees_first, calls_in, inside

ArrayArguments = dict[str, dict[str, dict[str, None]]]
"""By kernel, which data structures each of its array arguments stands for over all calls."""


def array_arguments(entry: flow.Kernel) -> ArrayArguments:
    """Array arguments of an entry kernel and of all that it calls."""
    order = callees_first(entry)
    arrays: ArrayArguments = {kernel.name: {} for kernel in order}
    for kernel in reversed(order):
        known = arrays[kernel.name]
        for call in calls_in(kernel.body):
            for formal, actual in call.arrays:
                arrays[call.kernel.name].setdefault(formal, {}).update(known.get(actual, {actual: None}))
    return arrays


def size_in_arguments(application: Application, kernel: str, data: str, origins: Origins) -> Expr | None:
    """The bytes of a kernel's own data structure, in the kernel's arguments and the globals; `origins` is told where
    they were written."""
    model, node = application.find_kernel(kernel)
    wanted = data.rpartition(".")[2]
    declared = declarations_by_name(nodes.Data, node.declarations)
    if wanted not in declared:
        return None
    full_name = model.prefix + node.name
    formals = {formal.name: graph.symbol(formal.name, full_name) for formal in node.formals if formal.kind == "param"}
    local = {item.name: item.value for item in node.declarations if isinstance(item, nodes.Parameter)}

    def resolve(name: nodes.Name) -> Expr:
        if name.name in formals:
            return formals[name.name]
        return lower_guarded(lower, local[name.name]) if name.name in local else model.resolve(name)

    lower = Lowering(resolve, origins)
    return model.data_of(declared[wanted], lower).size


Names = frozenset[str | None]
"""Data structures by their full names; None for one that a requirement does not name, which may be any."""

Order = tuple[Names, ...]
"""Data structures by when they were touched last, those of one block together, the latest last."""


class History:
    """Which data structures requirements of some resources touch in an entry kernel and all that it calls, and when."""

    def __init__(self, entry: flow.Kernel, resources: tuple[str, ...]) -> None:
        self._resources = resources
        self._arguments = array_arguments(entry)
        self._orders: dict[flow.Flow, Order] = {}
        self._kernels: dict[flow.Kernel, Order] = {}
        for kernel in callees_first(entry):
            self._kernels[kernel] = self._order(kernel.body, kernel)
        self.all: Names = frozenset().union(*self._kernels[entry])
        self._before: dict[tuple[flow.Requirement, ...], tuple[flow.Kernel, Order]] = {}
        entering: dict[flow.Kernel, Order] = dict.fromkeys(self._kernels, ())
        for kernel in reversed(self._kernels):
            self._walk(kernel.body, kernel, entering[kernel], entering)

    def kernel(self, block: flow.Block) -> flow.Kernel:
        """The one that a block stands in."""
        return self._before[block.requirements][0]

    def before(self, block: flow.Block) -> Order:
        """Data structures touched before a block, a pass of the loops around it included; of several calls of its
        kernel the oldest touch counts."""
        return self._before[block.requirements][1]

    def named(self, kernel: flow.Kernel, name: str) -> list[str]:
        """The data structures that a name of a kernel stands for: its array arguments, for one in each call."""
        return list(self._arguments[kernel.name].get(name, (name,)))

    def _order(self, node: flow.Flow, kernel: flow.Kernel) -> Order:
        """Order in which a part of a kernel touches data structures, calls included."""
        if isinstance(node, flow.Call):
            return self._kernels[node.kernel]
        if node not in self._orders:
            if isinstance(node, flow.Block):
                needs = (need for need in node.requirements if need.resource in self._resources)
                touched = frozenset(name for need in needs for name in self._of(need, kernel))
                self._orders[node] = (touched,) if touched else ()
            else:
                self._orders[node] = reduce(_join_orders, (self._order(part, kernel) for part in inside(node)), ())
        return self._orders[node]

    def _of(self, need: flow.Requirement, kernel: flow.Kernel) -> Iterable[str | None]:
        if need.target is None:
            return [None]
        looked_up = (argument for trait in need.traits if trait.name == "gather" for argument in trait.arguments)
        names = (need.target, *(table for table in looked_up if isinstance(table, str)))
        return [full for name in names for full in self.named(kernel, name)]

    def _walk(self, node: flow.Flow, kernel: flow.Kernel, before: Order, entering: dict[flow.Kernel, Order]) -> None:
        """Notes what was touched before each block of a part of a kernel, and before the kernels that it calls."""
        if isinstance(node, flow.Block):
            self._before[node.requirements] = kernel, before
        elif isinstance(node, flow.Call):
            entering[node.kernel] = _join_orders(entering[node.kernel], before)
        elif isinstance(node, flow.Repeat):
            self._walk(node.body, kernel, _join_orders(before, self._order(node.body, kernel)), entering)
        else:
            in_turn = isinstance(node, flow.Sequence | flow.Parallel)
            for part in inside(node):
                self._walk(part, kernel, before, entering)
                before = _join_orders(before, self._order(part, kernel)) if in_turn else before


def _join_orders(first: Order, second: Order) -> Order:
    """The order after both."""
    if first == second or not second:
        return first
    again = frozenset().union(*second)
    return (*(left for names in first if (left := names - again)), *second)
