"""What is run: the kernel asked for, `main`, or whatever can be."""

from __future__ import annotations

from aspenpy.application.model import Application
from aspenpy.diagnostics import fail


def entries(application: Application, kernel: str | None) -> list[str]:
    """The kernels to evaluate: the one asked for, else `main`, else each that has no arguments."""
    found = [kernel] if kernel else application.entry_kernels()
    if not found:
        message = f"application `{application.name}` has no kernel `main`, and every kernel has arguments"
        hint = "choose one with --kernel, its arguments with --set: " + ", ".join(application.kernels)
        fail("no-entry", message, application.node.name_span, hint=hint)
    return found


def only_entry(application: Application, kernel: str | None) -> str:
    """The kernel to evaluate where there can be only one."""
    found = entries(application, kernel)
    if len(found) > 1:
        message = f"application `{application.name}` has no kernel `main`"
        hint = "choose one with --kernel: " + ", ".join(found)
        fail("which-kernel", message, application.node.name_span, hint=hint)
    return found[0]
