"""Checks of an application: errors and probable mistakes."""

from __future__ import annotations

import re
from collections.abc import Mapping

from aspenpy.answers.case import expressions_in_flow
from aspenpy.answers.checks.values import certain_errors, circular_definitions, collect_errors, start_of
from aspenpy.answers.counting import Counts
from aspenpy.answers.data_warnings import warn_of_negative_sizes
from aspenpy.answers.prediction import predict
from aspenpy.answers.scope import DEFAULT_SEED, Setting, circle_mistake
from aspenpy.answers.traffic import Traffic
from aspenpy.answers.uneven_sweeps import warn_of_sweeps
from aspenpy.cost.accesses import histogram_reader
from aspenpy.cost.caches.access import Access
from aspenpy.cost.caches.block_loops import require_same_depth
from aspenpy.cost.caches.level import levels_of
from aspenpy.cost.caches.reading import SENSELESS, TraitReader, read_access
from aspenpy.cost.compute import describe_missing_offer, price_on_lanes
from aspenpy.cost.mapper import all_definitions
from aspenpy.cost.memory import Hierarchy
from aspenpy.cost.operations import warn_of_unknown_trait
from aspenpy.cost.prices import MEMORY_RESOURCES
from aspenpy.cost.residence import collect_placed_data, memory_named
from aspenpy.cost.target import Target, choose_socket, target_of
from aspenpy.cost.trait_names import CACHE_TRAITS
from aspenpy.expr import graph
from aspenpy.expr.evaluate import EvaluationError, ExactEvaluation
from aspenpy.expr.graph import Expr
from aspenpy.language import nodes
from aspenpy.language.diagnostics import AspenError, Diagnostic, Related, drop_repeats, suggest_nearest, warning
from aspenpy.language.source import Span
from aspenpy.language.statements import declarations_by_name, own_names
from aspenpy.models.application import flow
from aspenpy.models.application.flow_builder import callees_first
from aspenpy.models.application.model import Application, own_callees, recover_kernels
from aspenpy.models.application.total import blocks_in
from aspenpy.models.machine.model import Machine
from aspenpy.models.model import enum_constants, range_warnings

ANY_TARGET = frozenset({"flops", "intops", "messages", "intracomm"})
"""Resources whose `to` and `from` often name something that is no data structure."""

MOST_TOLD = 100  # mistakes of one kind that are reported for one model


def check_application(
    application: Application,
    machine: Machine | None = None,
    socket: str | None = None,
    settings: Mapping[str, Setting] | None = None,
) -> list[Diagnostic]:
    """Errors and probable mistakes of an application; with a machine also those of a run on it, with parameters set by
    `settings`."""
    kernels, errors = recover_kernels(application, MOST_TOLD)
    errors += _check_recursion(application)
    diagnostics = [
        *application.warnings,
        *errors,
        *_check_values(application),
        *_check_circles(application),
        *_check_names(application, machine, kernels),
        *_check_ranges(application),
        *_check_sizes(application),
        *_check_unused_parameters(application, kernels, _text_of_broken_kernels(application, errors)),
        *_check_shadowed_names(application),
        *_check_arrays(application, kernels),
    ]
    if machine is None:
        diagnostics += _check_patterns_without_cache(application, kernels)
        diagnostics += _check_counts(application, diagnostics)
        said = [(item.message, item.span) for item in diagnostics]
        return drop_repeats(
            [
                *diagnostics,
                *(item for item in _check_constants(application, kernels) if (item.message, item.span) not in said),
            ]
        )
    return _check_on_machine(application, machine, socket, kernels, diagnostics, settings)


Sockets = tuple[str | None, ...]  # those that an application may run on; None for a machine without any


def _check_on_machine(
    application: Application,
    machine: Machine,
    socket: str | None,
    kernels: list[flow.Kernel],
    found: list[Diagnostic],
    settings: Mapping[str, Setting] | None,
) -> list[Diagnostic]:
    """Findings with those about the machine's resources and about a run. Where the application runs, a mistake in a
    part that no run needs is a warning: only errors of `aspenpy eval` stay errors."""
    sockets = (choose_socket(machine, socket),) if socket is not None else machine.sockets or (None,)
    evaluated = _check_evaluation(application, machine, sockets, settings)
    found = [
        *found,
        *_check_unoffered_resources(machine, kernels, sockets),
        *_check_memories(application, machine, sockets),
        *_check_patterns(application, machine, kernels, sockets),
    ]
    if not any(item.severity == "error" for item in evaluated):
        found = [item.replace(severity="warning") if item.severity == "error" else item for item in found]
    said = {(item.code, item.message) for item in found}
    more = [item for item in evaluated if (item.code, item.message) not in said]
    return drop_repeats([*found, *_check_traits(machine, kernels, sockets), *more])


def _check_evaluation(
    application: Application, machine: Machine, sockets: Sockets, settings: Mapping[str, Setting] | None
) -> list[Diagnostic]:
    """Diagnostics of `aspenpy eval`, and misses near an edge of a cache: errors of the first socket if none runs, else
    the warnings of all."""
    errors: list[tuple[Diagnostic, ...]] = []
    warnings: list[Diagnostic] = []
    for socket in sockets:
        try:
            for kernel in application.entry_kernels():
                prediction = predict(application, machine, socket=socket, kernel=kernel, set=settings)
                warnings += prediction.diagnostics
                if levels_of(machine, prediction.socket):
                    warnings += Traffic(prediction).edge_notes
        except AspenError as error:
            errors.append(error.diagnostics)
    return list(errors[0]) if len(errors) == len(sockets) else drop_repeats(warnings)


def _check_counts(application: Application, diagnostics: list[Diagnostic]) -> list[Diagnostic]:
    """Errors of values that `aspenpy count` would give, in a model without other errors."""
    if any(item.severity == "error" for item in diagnostics):
        return []
    refused: list[Diagnostic] = []
    for name in application.entry_kernels():
        try:
            _ = Counts(application, kernel=name).amounts
        except AspenError as error:
            refused += [item for item in error.diagnostics if item.code == "no-value"]
    return refused


def _check_constants(application: Application, kernels: list[flow.Kernel]) -> list[Diagnostic]:
    """Constants in kernels that have no value: a run may never need them."""
    exprs = [expr for kernel in kernels for expr in _kernel_expressions(kernel)]
    diagnostics = [item for expr in exprs for item in certain_errors(expr, application.origins)]
    return [item.replace(severity="warning") for item in diagnostics]


def _text_of_broken_kernels(application: Application, errors: list[Diagnostic]) -> str:
    """The text of the kernels in which something is wrong: what they use is not known."""
    spans = [kernel.span for kernel in application.kernels.values() if _contains_error(kernel.span, errors)]
    return " ".join(span.source.text[span.start : span.end] for span in spans if span is not None)


def _contains_error(span: Span | None, errors: list[Diagnostic]) -> bool:
    """Whether one of the errors lies in a place."""
    places = [error.span for error in errors if error.span is not None]
    return span is not None and any(span.source == at.source and span.start <= at.start < span.end for at in places)


def _check_recursion(application: Application) -> list[Diagnostic]:
    """Kernels of the application that call themselves; an imported one never calls back."""
    diagnostics: list[Diagnostic] = []
    with collect_errors(diagnostics):
        callees_first(own_callees(application), application.kernels)
    return diagnostics


def _kernel_expressions(kernel: flow.Kernel) -> list[Expr]:
    arguments = [
        argument
        for block in blocks_in(kernel.body)
        for requirement in block.requirements
        for trait in requirement.traits
        for given in trait.arguments
        for argument in ((given.low, given.high) if isinstance(given, flow.Counted) else (given,))
        if isinstance(argument, Expr)
    ]
    return [*expressions_in_flow(kernel.body), *arguments, *(value for _, value in kernel.overrides)]


def _all_expressions(application: Application, kernels: list[flow.Kernel]) -> list[Expr]:
    """The expressions that the application evaluates anywhere."""
    sizes = [data.size for data in application.data.values()]
    values = [parameter.value for parameter in application.parameters.values()]
    ends = [end for item in application.parameters.values() for end in (item.low, item.high, item.counted)]
    bounds = [end for end in ends if end is not None]
    return [*values, *bounds, *sizes, *(expr for kernel in kernels for expr in _kernel_expressions(kernel))]


def _check_values(application: Application) -> list[Diagnostic]:
    """Parameters and data sizes whose value fails whatever the user sets: put-off mistakes, division by zero."""
    named = {parameter.symbol: parameter.value for parameter in application.parameters.values()}
    exprs = [*named.values(), *(data.size for data in application.data.values())]
    return [diagnostic for expr in exprs for diagnostic in certain_errors(expr, application.origins)]


def _check_circles(application: Application) -> list[Diagnostic]:
    definitions = all_definitions(application, None, None)
    return [circle_mistake(found, application, None) for found in circular_definitions(list(definitions), definitions)]


def _check_names(application: Application, machine: Machine | None, kernels: list[flow.Kernel]) -> list[Diagnostic]:
    """Names that nobody defines. A machine may define them, so the hint says how to check on one."""
    formals = {symbol for kernel in kernels for symbol in (*kernel.formals, kernel.context)}
    symbols = graph.free_symbols(graph.array(_all_expressions(application, kernels)))
    definitions = all_definitions(application, machine, None)
    unknown = [symbol for symbol in symbols if symbol not in definitions and symbol not in formals and not symbol.owner]
    return [
        Diagnostic(
            "unknown-name",
            f"unknown name `{symbol.name}`",
            application.origins.get(symbol),
            hint=suggest_nearest(symbol.name, application.known_names())
            or (
                "neither model defines it"
                if machine
                else "the application does not define it; where a machine does, name it with --machine"
            ),
        )
        for symbol in sorted(unknown, key=lambda symbol: start_of(application.origins.get(symbol)))[:MOST_TOLD]
    ]


def _check_ranges(application: Application) -> list[Diagnostic]:
    """Defaults outside the range that their parameter declares, and ranges upside down."""
    run = ExactEvaluation({}, DEFAULT_SEED, all_definitions(application, None, None))
    return range_warnings(application.parameters.values(), run.compute)


def _check_sizes(application: Application) -> list[Diagnostic]:
    """Data that the defaults of the parameters give a size below zero; one that nobody can change is an error."""
    changing = [data for data in application.data.values() if graph.free_symbols(data.size)]
    return warn_of_negative_sizes(changing, all_definitions(application, None, None), application.origins, DEFAULT_SEED)


def _check_unused_parameters(application: Application, kernels: list[flow.Kernel], broken: str) -> list[Diagnostic]:
    """Global parameters and kernel arguments that nothing depends on; what stands in a `broken` text may be used."""
    words = set(re.findall(r"\w+", broken))
    used = graph.free_symbols(graph.array(_all_expressions(application, kernels)))
    unused = [
        warning("unused-parameter", f"parameter `{node.name}` is never used", node.name_span)
        for node in application.declared.values()
        if graph.symbol(application.prefix + node.name) not in used and node.name not in words
    ]
    for kernel in kernels:
        own = graph.free_symbols(graph.array(_kernel_expressions(kernel)))
        written = [formal for formal in application.kernels[kernel.name].formals if formal.kind == "param"]
        unused += [
            warning("unused-parameter", f"argument `{formal.name}` of kernel `{kernel.name}` is never used", node.span)
            for formal, node in zip(kernel.formals, written, strict=True)
            if formal not in own and formal.name not in words
        ]
    return unused


def _check_shadowed_names(application: Application) -> list[Diagnostic]:
    """Names of a kernel that hide a global one."""
    places = {node.name: node.name_span for node in application.declared.values()}
    for enum in application.enums.values():
        places |= dict.fromkeys(enum_constants([enum]), enum.name_span)
    return [
        warning(
            "shadowed-name",
            f"{noun} `{name}` hides the global of that name in kernel `{kernel.name}`",
            span,
            related=(Related(places[name], "the global one"),),
        )
        for kernel in application.kernels.values()
        for noun, name, span in own_names(kernel)
        if name in places
    ]


def _check_arrays(application: Application, kernels: list[flow.Kernel]) -> list[Diagnostic]:
    """`to` and `from` data structures that nobody declares."""
    unknown = []
    for kernel in kernels:
        node = application.kernels[kernel.name.removeprefix(application.prefix)]
        local = {f"{kernel.name}.{name}" for name in declarations_by_name(nodes.Data, node.declarations)}
        declared = {*application.data, *kernel.arrays, *local}
        unknown += [
            warning(
                "unknown-data",
                f"no data structure `{item.target}` is declared",
                item.target_span or item.span,
                hint=suggest_nearest(item.target, declared),
            )
            for item in _list_requirements([kernel])
            if item.target is not None and item.target not in declared and item.resource not in ANY_TARGET
        ]
    return unknown


def _list_requirements(kernels: list[flow.Kernel]) -> list[flow.Requirement]:
    return [item for kernel in kernels for block in blocks_in(kernel.body) for item in block.requirements]


def _check_unoffered_resources(machine: Machine, kernels: list[flow.Kernel], sockets: Sockets) -> list[Diagnostic]:
    """Requirements that no part of the machine serves, whichever of the sockets is chosen."""
    targets = [target_of(machine, socket, asked=_list_requirements(kernels)) for socket in sockets]
    return [
        describe_missing_offer(item, targets[0])
        for item in _list_requirements(kernels)
        if not any(item.resource in where.offers for where in targets)
    ]


def _check_memories(application: Application, machine: Machine, sockets: Sockets) -> list[Diagnostic]:
    """Data that lie in a memory that the machine does not have, whichever socket is chosen."""
    warnings = []
    for node in collect_placed_data(application).values():
        missing: list[Diagnostic] = []
        for socket in sockets if node.memory is not None else ():
            with collect_errors(missing):
                memory_named(machine, socket, node)
        warnings += missing[:1] if len(missing) == len(sockets) else []
    return warnings


def _check_traits(machine: Machine, kernels: list[flow.Kernel], sockets: Sockets) -> list[Diagnostic]:
    """Warns of traits that change nothing on this machine: no socket that serves the requirement prices them, and no
    cache reads them."""
    targets = [target_of(machine, socket, asked=_list_requirements(kernels)) for socket in sockets]
    of_caches = CACHE_TRAITS if any(levels_of(machine, socket) for socket in sockets) else frozenset()
    warnings: list[Diagnostic] = []
    for block in (block for kernel in kernels for block in blocks_in(kernel.body)):
        for requirement in block.requirements:
            serving = [where for where in targets if requirement.resource in where.offers]
            ignored = [_find_ignored_traits(requirement, block, where) for where in serving]
            resources = [where.offers[requirement.resource].resource for where in serving]
            of_cache = of_caches if requirement.resource in MEMORY_RESOURCES else frozenset()
            warnings += [
                warn_of_unknown_trait(machine, requirement, trait, resources)
                for trait in requirement.traits
                if serving and trait.name not in of_cache and all(trait.name in names for names in ignored)
            ]
    return warnings


def _find_ignored_traits(requirement: flow.Requirement, block: flow.Block, where: Target) -> tuple[str, ...]:
    """The traits that the price of a requirement ignores; none where it has no price, which is an error of its own."""
    unpriced: list[Diagnostic] = []
    with collect_errors(unpriced):
        return price_on_lanes(requirement, where.instances(block), where, origins={}).ignored
    return ()


def _check_patterns(
    application: Application, machine: Machine, kernels: list[flow.Kernel], sockets: Sockets
) -> list[Diagnostic]:
    """Patterns of access that the machine's caches cannot make sense of."""
    warnings: list[Diagnostic] = []
    for socket in sockets:
        where = target_of(machine, socket)
        for kernel in kernels:
            hierarchy = Hierarchy(
                machine, socket, application, kernel, definitions=all_definitions(application, machine, kernel)
            )
            for block in blocks_in(kernel.body) if hierarchy.levels else ():
                with collect_errors(warnings):
                    hierarchy.traffic(block, where.instances, where.find_offer)
    return list(dict.fromkeys(warnings))


def _check_patterns_without_cache(application: Application, kernels: list[flow.Kernel]) -> list[Diagnostic]:
    """Patterns that make sense to no cache, by their values, and counts that are no whole number of sweeps.

    A trait that is written in another way, or touches data of unknown size, may be one of the machine's own. Where a
    value is not written in the trait but computed, a block that never runs may have it: a warning.
    """
    definitions = all_definitions(application, None, None)
    run = ExactEvaluation({}, DEFAULT_SEED, definitions)
    sizes = {name: data.size for name, data in application.data.items()}
    reader = TraitReader(sizes, {}, definitions, histogram_reader(application))
    warnings: dict[Diagnostic, None] = {}
    for block in (block for kernel in kernels for block in blocks_in(kernel.body)):
        accesses: list[Access] = []
        for requirement in block.requirements:
            try:
                access = read_access(requirement, reader, frozenset())
                if access is not None:
                    accesses.append(access)
                    run.compute([access.check])
                    warnings |= dict.fromkeys(warn_of_sweeps([access], sizes, lambda expr: run.compute([expr])[0]))
            except AspenError as error:
                warnings |= dict.fromkeys(item for item in error.diagnostics if item.code == SENSELESS)
            except EvaluationError as error:
                if isinstance(error.payload, Diagnostic) and error.payload.code == SENSELESS:
                    warnings[error.payload.replace(severity="warning")] = None
        try:
            require_same_depth([access for access in accesses if not access.streaming])
        except AspenError as error:
            warnings |= dict.fromkeys(error.diagnostics)
    return list(warnings)
