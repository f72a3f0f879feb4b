"""Application: a loaded application model, its names resolved on demand; and what can be built of one with mistakes."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from graphlib import CycleError, TopologicalSorter

from aspenpy.language.diagnostics import AspenError, Diagnostic
from aspenpy.language.statements import calls
from aspenpy.models.application import flow
from aspenpy.models.application.declarations import Declarations
from aspenpy.models.application.flow import Kernel
from aspenpy.models.application.flow_builder import KernelBuilder, build_kernel


class Application(Declarations):
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
    return {name: [call.kernel for call in calls(node.body) if call.kernel in own] for name, node in own.items()}


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
