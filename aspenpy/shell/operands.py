"""Operands: what words of a command line stand for: cases, machines, kernels, quantities such as `1000J` or `20 MW`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aspenpy.answers.case import Case
from aspenpy.answers.scope import DEFAULT_SEED
from aspenpy.cost.placement_options import PlacementOptions
from aspenpy.expr import graph
from aspenpy.expr.evaluate import EvaluationError, evaluate
from aspenpy.expr.graph import Expr
from aspenpy.language import nodes
from aspenpy.language.axis import Axis, parse_axis
from aspenpy.language.diagnostics import AspenError, fail
from aspenpy.language.dimensions import HERTZ, JOULES, SECONDS, WATTS, Dimension, describe_dimension
from aspenpy.language.lower import Lowering, constant_value
from aspenpy.language.opening import read_standard_input
from aspenpy.language.parser import parse_value
from aspenpy.language.source import Source
from aspenpy.models.application.model import Application
from aspenpy.models.library import load_application, load_machine
from aspenpy.models.machine.model import Machine
from aspenpy.shell.failure import CommandError
from aspenpy.shell.option import Arguments, split_words
from aspenpy.shell.options import machine_names, settings_of


def case_of_arguments(arguments: Arguments, kernel: str | None = None) -> Case:
    """The case of a command line; `kernel` instead of the only one that it can be. MODEL, VALUES and OUTSIDE are among
    the command's options; those of a machine, its ranks, SEED and PAR may be."""
    application = load_application(arguments.model, allow_outside=arguments.allow_outside)
    machine = machine_named(arguments.machine, arguments) if getattr(arguments, "machine", None) else None
    return Case(
        application,
        machine,
        getattr(arguments, "socket", None),
        kernel=kernel or only_entry(application, arguments.kernel),
        set=settings_of(arguments),
        seed=getattr(arguments, "seed", DEFAULT_SEED),
        overlap=getattr(arguments, "par", "add") == "overlap",
        **placement_arguments(arguments),
    )


def placement_arguments(arguments: Arguments) -> dict[str, Any]:
    """Placement of ranks on a command line, by the names that `Case` has for it."""
    return {name: getattr(arguments, name, None) for name in PlacementOptions._fields}


def machine_named(name: str, arguments: Arguments) -> Machine:
    """A machine that a command line names."""
    return load_machine(name, allow_outside=arguments.allow_outside)


def machines_of(arguments: Arguments) -> list[tuple[Machine, str | None]]:
    """The machines of a command that takes several with their sockets, paired in order; a single machine takes all the
    sockets."""
    machines = [machine_named(name, arguments) for name in machine_names(arguments.machines)]
    sockets: list[str | None] = [*split_words(arguments.sockets)] or [None]
    if len(machines) == 1 and sockets == [None]:
        sockets = list(machines[0].sockets)
    if len(machines) == 1:
        machines *= len(sockets)
    if len(sockets) == 1:
        _require_socket_everywhere(machines, sockets[0])
        sockets *= len(machines)
    if len(machines) != len(sockets):
        raise CommandError(f"{len(machines)} machines and {len(sockets)} sockets: give one socket for each machine")
    return list(zip(machines, sockets, strict=True))


def _require_socket_everywhere(machines: Sequence[Machine], socket: str | None) -> None:
    """Refuses one socket for several machines, or none, where a machine has no such socket, or several kinds."""
    for machine in machines if len(machines) > 1 else ():
        names = ", ".join(f"`{name}`" for name in machine.sockets)
        hint = f"name one for each machine: --socket {','.join(each.sockets[-1] for each in machines if each.sockets)}"
        if socket is None and len(machine.sockets) > 1:
            message = f"machine `{machine.name}` has several kinds of sockets: {names}"
            fail("which-socket", message, machine.root.name_span, hint=hint)
        if socket is not None and socket not in machine.sockets:
            message = f"machine `{machine.name}` has no socket `{socket}`"
            fail("unknown-socket", message, machine.root.name_span, hint=hint)


def entry_kernels(application: Application, kernel: str | None) -> list[str]:
    """The kernels to evaluate: the one asked for, else `main`, else each that has no arguments."""
    kernels = [kernel] if kernel else application.entry_kernels()
    if not kernels:
        message = f"application `{application.name}` has no kernel `main`, and every kernel has arguments"
        hint = "choose one with --kernel, its arguments with --set: " + ", ".join(application.kernels)
        fail("no-entry", message, application.node.name_span, hint=hint)
    return kernels


def only_entry(application: Application, kernel: str | None) -> str:
    """The kernel to evaluate where there can be only one."""
    kernels = entry_kernels(application, kernel)
    if len(kernels) > 1:
        message = f"application `{application.name}` has no kernel `main`"
        hint = "choose one with --kernel: " + ", ".join(kernels)
        fail("which-kernel", message, application.node.name_span, hint=hint)
    return kernels[0]


EXAMPLES = {JOULES: "1000J", WATTS: "150W", HERTZ: "2.4GHz", SECONDS: "2s"}


def quantity_of(text: str, dimension: Dimension | None, option: str) -> float:
    """The value in base units; positive. A bare number is taken to be in the base unit. Raises CommandError for what
    is no number, or is in units of something else."""
    from aspenpy.language.infer import dimension_of

    try:
        node = parse_value(text.strip(), f"<{option}>")
        found = None if isinstance(node, nodes.Array) else dimension_of(node, lambda name: None)
        value = float(evaluate(Lowering(constant_or_failure, {})(node)))
    except (AspenError, EvaluationError, TypeError, OverflowError):
        such_as = EXAMPLES.get(dimension, "1000J or 20MW") if dimension is not None else "1000J or 20MW"
        raise CommandError(f"{option}: expected a quantity, such as {such_as}, not `{text}`") from None
    if dimension is not None and found is not None and found != dimension:
        raise CommandError(
            f"{option}: expected {describe_dimension(dimension)}, not {describe_dimension(found)}: `{text}`"
        )
    if value <= 0:
        raise CommandError(f"{option}: expected more than nothing, not `{text}`")
    return value


def constant_or_failure(node: nodes.Name) -> Expr:
    """The value of a name where no model is: a constant of the language."""
    return constant_value(node.name) or graph.failure(node.name)


def standard_input() -> Source:
    return Source(read_standard_input(), "<standard input>")


def axes_of(texts: Sequence[str]) -> dict[str, Axis]:
    """The axes of `--over` by name; two of one name are refused."""
    axes: dict[str, Axis] = {}
    for axis in (parse_axis(text, "<--over>") for text in texts):
        if axis.name in axes:
            raise CommandError(f"--over: there are two axes `{axis.name}`")
        axes[axis.name] = axis
    return axes
