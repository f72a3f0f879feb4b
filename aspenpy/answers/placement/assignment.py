"""Assignment: on which socket each kernel runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NoReturn

from aspenpy.cost.compute import choose_socket
from aspenpy.language.diagnostics import Related, fail, nearest
from aspenpy.models.application import flow
from aspenpy.models.application.model import Application
from aspenpy.models.application.total import callees_first, calls_in
from aspenpy.models.machine.model import Machine


def assigned(
    application: Application,
    machine: Machine,
    entry: flow.Kernel,
    chosen: Mapping[str, str],
    indifferent: Callable[[flow.Kernel], bool],
) -> dict[str, str]:
    """The socket of every kernel that the entry reaches: the one chosen, else that of the kernels that call it; the
    entry's is the first. Raises AspenError for names that are not there, and for callers that disagree about a kernel
    that is not `indifferent` to where it runs."""
    check_names(application, machine, entry, chosen)
    found = {entry.name: chosen.get(entry.name, machine.sockets[0])}
    callers: dict[str, dict[str, flow.Call]] = {}
    for kernel in reversed(callees_first(entry)):
        if kernel.name in chosen:
            found[kernel.name] = chosen[kernel.name]
        elif kernel is not entry:
            first, *others = callers[kernel.name]
            if others and not indifferent(kernel):
                _refuse(kernel, callers[kernel.name])
            found[kernel.name] = first
        for call in calls_in(kernel.body):
            callers.setdefault(call.kernel.name, {}).setdefault(found[kernel.name], call)
    return found


def _refuse(kernel: flow.Kernel, callers: Mapping[str, flow.Call]) -> NoReturn:
    first, second, *_ = callers
    message = f"kernel `{kernel.name}` is called from kernels on `{first}` and on `{second}`"
    related = tuple(Related(callers[socket].span, f"from `{socket}`") for socket in (first, second))
    hint = f"say where it runs: {kernel.name}={first}"
    fail("which-socket", message, kernel.name_span, related=related, hint=hint)


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
