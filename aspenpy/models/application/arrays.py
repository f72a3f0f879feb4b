"""Arrays: the data structures that the array arguments of kernels stand for, and the sizes of kernels' own."""

from __future__ import annotations

from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.language import nodes
from aspenpy.language.lower import Lowering, Origins, lower_guarded
from aspenpy.language.statements import declarations_by_name
from aspenpy.models.application import flow
from aspenpy.models.application.model import Application
from aspenpy.models.application.total import callees_first, calls_in

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
