"""Assignment: on which socket each kernel runs."""

from __future__ import annotations

from collections.abc import Mapping

from aspenpy.application import flow
from aspenpy.application.model import Application
from aspenpy.application.total import callees_first, calls_in
from aspenpy.diagnostics import Related, fail, nearest
from aspenpy.machine.model import Machine
from aspenpy.mapping.compute import choose_socket


def assigned(
    application: Application, machine: Machine, entry: flow.Kernel, chosen: Mapping[str, str]
) -> dict[str, str]:
    """The socket of every kernel that the entry reaches: the one chosen, else that of the kernels that call it; the
    entry's is the first. Raises AspenError for names that are not there, and for callers that disagree."""
    kernels = callees_first(entry)
    check_names(application, machine, entry, chosen)
    found = {entry.name: chosen.get(entry.name, machine.sockets[0])}
    callers: dict[str, dict[str, flow.Call]] = {}
    for kernel in reversed(kernels):
        if kernel.name in chosen:
            found[kernel.name] = chosen[kernel.name]
        elif kernel is not entry:
            found[kernel.name] = _inherited(kernel, callers[kernel.name])
        for call in calls_in(kernel.body):
            callers.setdefault(call.kernel.name, {}).setdefault(found[kernel.name], call)
    return found


def _inherited(kernel: flow.Kernel, callers: Mapping[str, flow.Call]) -> str:
    """The one socket that a kernel is called from."""
    first, *others = callers
    if others:
        message = f"kernel `{kernel.name}` is called from kernels on `{first}` and on `{others[0]}`"
        related = tuple(Related(callers[socket].span, f"from `{socket}`") for socket in (first, others[0]))
        hint = f"say where it runs: {kernel.name}={first}"
        fail("which-socket", message, kernel.name_span, related=related, hint=hint)
    return first


def check_names(application: Application, machine: Machine, entry: flow.Kernel, chosen: Mapping[str, str]) -> None:
    """Refuses kernels that the run does not reach, and sockets that the machine does not have."""
    names = [kernel.name for kernel in reversed(callees_first(entry))]
    for name, socket in chosen.items():
        if name not in names:
            if name in application.kernels:
                message = f"kernel `{entry.name}` does not call `{name}`, so it cannot be placed"
                fail("unknown-kernel", message, application.kernels[name].name_span)
            hint = nearest(name, names) or "the kernels are " + ", ".join(names[:12])
            message = f"application `{application.name}` has no kernel `{name}`"
            fail("unknown-kernel", message, application.node.name_span, hint=hint)
        choose_socket(machine, socket)
