"""Application: a loaded application model, its names resolved on demand; what can be built of one with mistakes; and
the data structures that array arguments of its kernels stand for.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from graphlib import CycleError, TopologicalSorter

from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.language import nodes
from aspenpy.language.diagnostics import AspenError, Diagnostic
from aspenpy.language.lower import Lowering, Origins, lower_guarded
from aspenpy.language.statements import calls_in_statements, declarations_by_name
from aspenpy.models.application import flow
from aspenpy.models.application.declarations import Declarations
from aspenpy.models.application.flow import Kernel
from aspenpy.models.application.flow_builder import KernelBuilder, build_kernel
from aspenpy.models.application.total import callees_first, calls_in
from aspenpy.tables.result import Result


class Application(Declarations, Result):
    """An application model with the models it imports. Immutable; equal when the models' texts say the same.

    `prefix` stands before the names of an imported model (`fft3d.`); it is empty for the model itself. With
    `reads_outside` the files of data that it names may lie anywhere.
    """

    def flow(self, name: str = "main") -> Kernel:
        """A kernel as a tree of control flow, names resolved, with all the kernels it calls."""
        return build_kernel(self, name)


def recover_kernels(application: Application, most: int) -> tuple[list[flow.Kernel], list[Diagnostic]]:
    """The application's own kernels, and what is wrong in them; none is built further behind `most` mistakes.

    A call that closes a circle is left out: that is a mistake of its own (`flow_builder.callees_first`).
    """
    own = application.kernels
    flows: dict[str, flow.Kernel] = {}
    mistakes: list[Diagnostic] = []
    for name in _callees_first(own_callees(application)):
        if len(mistakes) >= most:
            break
        try:
            flows[application.prefix + name] = KernelBuilder(application, own[name], flows, mistakes).build(application)
        except AspenError as error:  # in what the kernel declares
            mistakes += error.diagnostics
    built = (flows.get(application.prefix + name) for name in own)
    return [kernel for kernel in built if kernel is not None], mistakes


def own_callees(application: Application) -> dict[str, list[str]]:
    """The application's own kernels that each of them calls."""
    own = application.kernels
    return {
        name: [call.kernel for call in calls_in_statements(node.body) if call.kernel in own]
        for name, node in own.items()
    }


def _callees_first(callees: Mapping[str, list[str]]) -> list[str]:
    """All names, each behind those that it calls as far as there are no circles."""
    sorter = TopologicalSorter(callees)
    order: dict[str, None] = {}
    with suppress(CycleError):  # what is free of circles is still handed out
        sorter.prepare()
    while ready := sorter.get_ready():
        order |= dict.fromkeys(ready)
        sorter.done(*ready)
    return list(order | dict.fromkeys(callees))


ArrayArguments = dict[str, dict[str, dict[str, None]]]
"""By kernel, which data structures each of its array arguments stands for over all calls."""


def array_arguments(entry: flow.Kernel) -> ArrayArguments:
    """Array arguments of an entry kernel and of all that it calls."""
    order = callees_first(entry)
    arrays: ArrayArguments = {kernel.name: {} for kernel in order}
    for kernel in reversed(order):
        own = arrays[kernel.name]
        for call in calls_in(kernel.body):
            for formal, actual in call.arrays:
                arrays[call.kernel.name].setdefault(formal, {}).update(own.get(actual, {actual: None}))
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
