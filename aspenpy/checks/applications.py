"""What is wrong with an application, and what is probably a mistake in it."""

from __future__ import annotations

from collections.abc import Iterator

from aspenpy.application import flow
from aspenpy.application.flow_builder import callees_first, calls, check_arguments, own_names
from aspenpy.application.model import Application, enum_constants
from aspenpy.application.total import blocks_in, walk
from aspenpy.checks.values import circles, failures, start_of
from aspenpy.diagnostics import AspenError, Diagnostic, Related, nearest
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.machine.model import Machine
from aspenpy.mapping.compute import nobody_offers, target
from aspenpy.mapping.mapper import all_definitions
from aspenpy.scope import Scope, circular
from aspenpy.syntax import nodes

ANY_TARGET = frozenset({"flops", "intops", "messages", "intracomm"})
"""Resources whose `to` and `from` often name something that is no data structure."""


def check_application(application: Application, machine: Machine | None = None) -> list[Diagnostic]:
    """What is wrong with an application, on a machine if one is given, and what is probably a mistake in it."""
    kernels, errors = _flows(application)
    return [
        *application.warnings,
        *errors,
        *_broken_values(application),
        *_circles(application),
        *_unknown_names(application, machine, kernels),
        *_ranges(application),
        *_unused_parameters(application, kernels),
        *_shadowed(application),
        *_unknown_arrays(application, kernels),
        *(_unoffered(machine, kernels) if machine is not None else []),
        *(_unknown_traits(machine, kernels) if machine is not None else []),
    ]


def _flows(application: Application) -> tuple[list[flow.Kernel], list[Diagnostic]]:
    """The application's own kernels, built, and what was wrong with the others."""
    built: list[flow.Kernel] = []
    errors = _wrong_calls(application) + _recursion(application)
    for name in application.kernels:
        try:
            built.append(application.flow(name))
        except AspenError as error:
            errors += [diagnostic for diagnostic in error.diagnostics if diagnostic not in errors]
    return built, errors


def _wrong_calls(application: Application) -> list[Diagnostic]:
    """Calls of kernels that there are not, or with other arguments than they take."""
    found: list[Diagnostic] = []
    for kernel in application.kernels.values():
        for call in calls(kernel.body):
            try:
                _, target = application.find_kernel(call.kernel, kernel.name, call.name_span or call.span)
                check_arguments(call, target)
            except AspenError as error:
                found += error.diagnostics
    return found


def _recursion(application: Application) -> list[Diagnostic]:
    """Kernels of the application that call themselves; an imported one never calls back."""
    own = application.kernels
    callees = {name: [call.kernel for call in calls(node.body) if call.kernel in own] for name, node in own.items()}
    try:
        callees_first(callees, own)
    except AspenError as error:
        return list(error.diagnostics)
    return []


def _expressions(node: flow.Flow) -> Iterator[Expr]:
    """The expressions of a flow and of all inside it; callees are not entered."""
    for part in walk(node):
        if isinstance(part, flow.Block):
            yield part.parallelism
            for requirement in part.requirements:
                yield requirement.amount
                yield from (item for trait in requirement.traits for item in trait.arguments if isinstance(item, Expr))
        elif isinstance(part, flow.Repeat):
            yield part.count
        elif isinstance(part, flow.Choice):
            yield from (condition for condition, _ in part.branches)
        elif isinstance(part, flow.Expectation):
            yield from (probability for probability, _ in part.cases)
        elif isinstance(part, flow.Call):
            yield from (value for _, value in part.arguments)


def _kernel_expressions(kernel: flow.Kernel) -> list[Expr]:
    return [*_expressions(kernel.body), *(value for _, value in kernel.overrides)]


def _everything(application: Application, kernels: list[flow.Kernel]) -> list[Expr]:
    """Every expression that the application evaluates somewhere."""
    sizes = [data.size for data in application.data.values()]
    values = [parameter.value for parameter in application.parameters.values()]
    bounds = [bound for item in application.parameters.values() for bound in (item.low, item.high) if bound is not None]
    return [*values, *bounds, *sizes, *(expr for kernel in kernels for expr in _kernel_expressions(kernel))]


def _broken_values(application: Application) -> list[Diagnostic]:
    """Parameters and data sizes whose value fails whatever the user sets: put-off mistakes, division by zero."""
    named = {parameter.symbol: parameter.value for parameter in application.parameters.values()}
    exprs = [*named.values(), *(data.size for data in application.data.values())]
    return [diagnostic for expr in exprs for diagnostic in failures(expr, application.origins)]


def _circles(application: Application) -> list[Diagnostic]:
    definitions = all_definitions(application, None, None)
    return [circular(found, application, None) for found in circles(list(definitions), definitions)]


def _unknown_names(application: Application, machine: Machine | None, kernels: list[flow.Kernel]) -> list[Diagnostic]:
    """Names that nobody defines: the machine may, so without one this is only a warning."""
    formals = {symbol for kernel in kernels for symbol in (*kernel.formals, kernel.context)}
    symbols = graph.free_symbols(graph.array(_everything(application, kernels)))
    known = all_definitions(application, machine, None)
    unknown = [symbol for symbol in symbols if symbol not in known and symbol not in formals and not symbol.payload[1]]
    return [
        Diagnostic(
            "unknown-name",
            f"unknown name `{symbol.payload[0]}`",
            application.origins.get(symbol),
            hint=nearest(symbol.payload[0], application.known_names())
            or (
                "neither model defines it"
                if machine
                else "the application does not define it; the machine may, or --set"
            ),
            severity="error" if machine else "warning",
        )
        for symbol in sorted(unknown, key=lambda symbol: start_of(application.origins.get(symbol)))
    ]


def _ranges(application: Application) -> list[Diagnostic]:
    """Defaults outside the range that their parameter declares, and ranges upside down."""
    found: list[Diagnostic] = []
    for parameter in application.parameters.values():
        if parameter.low is None or parameter.high is None:
            continue
        entry = flow.Kernel("", (), (), flow.NOTHING, graph.ZERO, None, None)
        scope = Scope(application, None, entry, all_definitions(application, None, None), application.origins, {}, ())
        try:
            value, low, high = scope.values([parameter.symbol, parameter.low, parameter.high])
        except AspenError:
            continue
        name, span = parameter.name, parameter.node.name_span
        if low > high:
            message = f"the range of `{name}` is empty: {float(low):.6g} is above {float(high):.6g}"
            found.append(Diagnostic("empty-range", message, span, severity="warning"))
        elif not isinstance(value, tuple) and not low <= value <= high:
            message = f"`{name}` is {float(value):.6g}, outside its range {float(low):.6g} .. {float(high):.6g}"
            found.append(Diagnostic("outside-range", message, span, severity="warning"))
    return found


def _unused_parameters(application: Application, kernels: list[flow.Kernel]) -> list[Diagnostic]:
    """Global parameters and kernel arguments that nothing depends on."""
    used = graph.free_symbols(graph.array(_everything(application, kernels)))
    found = [
        Diagnostic("unused-parameter", f"parameter `{node.name}` is never used", node.name_span, severity="warning")
        for node in application.declared.values()
        if graph.symbol(application.prefix + node.name) not in used
    ]
    for kernel in kernels:
        own = graph.free_symbols(graph.array(_kernel_expressions(kernel)))
        found += [
            Diagnostic(
                "unused-parameter",
                f"argument `{formal.payload[0]}` of kernel `{kernel.name}` is never used",
                node.span,
                severity="warning",
            )
            for formal, node in zip(kernel.formals, _parameters_of(application.kernels[kernel.name]), strict=True)
            if formal not in own
        ]
    return found


def _parameters_of(kernel: nodes.Kernel) -> list[nodes.Formal]:
    return [formal for formal in kernel.formals if formal.kind == "param"]


def _shadowed(application: Application) -> list[Diagnostic]:
    """Names of a kernel that hide a global one."""
    places = {node.name: node.name_span for node in application.declared.values()}
    for enum in application.enums.values():
        places |= dict.fromkeys(enum_constants([enum]), enum.name_span)
    return [
        Diagnostic(
            "shadowed-name",
            f"{noun} `{name}` hides the global of that name in kernel `{kernel.name}`",
            span,
            related=(Related(places[name], "the global one"),),
            severity="warning",
        )
        for kernel in application.kernels.values()
        for noun, name, span in own_names(kernel)
        if name in places
    ]


def _unknown_arrays(application: Application, kernels: list[flow.Kernel]) -> list[Diagnostic]:
    """`to` and `from` data structures that nobody declares."""
    found = []
    for kernel in kernels:
        node = application.kernels[kernel.name.removeprefix(application.prefix)]
        local = {f"{kernel.name}.{item.name}" for item in node.declarations if isinstance(item, nodes.Data)}
        known = {*application.data, *kernel.arrays, *local}
        for block in blocks_in(kernel.body):
            found += [
                Diagnostic(
                    "unknown-data",
                    f"no data structure `{requirement.target}` is declared",
                    requirement.target_span or requirement.span,
                    hint=nearest(requirement.target, known),
                    severity="warning",
                )
                for requirement in block.requirements
                if requirement.target is not None
                and requirement.target not in known
                and requirement.resource not in ANY_TARGET
            ]
    return found


def _unoffered(machine: Machine, kernels: list[flow.Kernel]) -> list[Diagnostic]:
    """Requirements that no part of the machine serves, whichever socket is chosen."""
    targets = [target(machine, socket) for socket in machine.sockets or (None,)]
    return [
        nobody_offers(requirement, targets[0])
        for kernel in kernels
        for block in blocks_in(kernel.body)
        for requirement in block.requirements
        if not any(requirement.resource in where.offers for where in targets)
    ]


def _unknown_traits(machine: Machine, kernels: list[flow.Kernel]) -> list[Diagnostic]:
    """Traits that no component serving the resource knows: they change nothing on this machine."""
    offers = [target(machine, socket).offers for socket in machine.sockets or (None,)]
    found = []
    for requirement in (item for kernel in kernels for block in blocks_in(kernel.body) for item in block.requirements):
        resources = [offer[requirement.resource].resource for offer in offers if requirement.resource in offer]
        for trait in requirement.traits:
            known = [name for resource in resources for name in resource.traits]
            if resources and trait.name not in known:
                message = f"machine `{machine.name}` knows no trait `{trait.name}` of `{requirement.resource}`"
                hint = nearest(trait.name, known) or ("it knows " + ", ".join(dict.fromkeys(known)) if known else None)
                found.append(Diagnostic("unknown-trait", message, trait.span, hint=hint, severity="warning"))
    return found
