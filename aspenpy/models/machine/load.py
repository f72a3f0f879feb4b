"""From a file to a Machine, its tree checked, and its dimensions unless that was done when it was read before."""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter

from aspenpy.language import nodes
from aspenpy.language.diagnostics import AspenError, Diagnostic, Related, fail, join_chain, suggest_nearest
from aspenpy.language.files import Reader
from aspenpy.language.parser import parse_file
from aspenpy.language.source import Source, Span
from aspenpy.language.trees import mark_checked
from aspenpy.models.application.load import warn_of_redefinitions
from aspenpy.models.machine.model import Machine
from aspenpy.models.machine.variants import bases_of, write_out_variants


def read_machine(source: Source, reader: Reader | None = None) -> Machine:
    """The machine model in a source; raises AspenError with everything that is wrong with its tree."""
    warnings: list[Diagnostic] = []
    node = parse_file(source, reader or Reader(), warnings)
    if not isinstance(node, nodes.Machine):
        message = f"`{source.name}` is an application model, not a machine model"
        fail("not-a-machine", message, node.name_span, hint="a machine model has a component `machine NAME { ... }`")
    return link_machine(node, warnings, source)


def link_machine(node: nodes.Machine, warnings: list[Diagnostic], source: Source | None = None) -> Machine:
    """The machine of a syntax tree, once its components are known, of the type said, and a tree, and its
    dimensions agree; with the source that it was read from, where that may have been checked."""
    machine = assemble_machine(node, warnings)
    if source is not None and source.checked:
        return machine
    from aspenpy.models.machine.dimensions import contradictions

    errors = contradictions(machine.node)
    if errors:
        raise AspenError(*errors)
    if source is not None:
        mark_checked(source, node)
    return machine


def assemble_machine(node: nodes.Machine, warnings: list[Diagnostic]) -> Machine:
    """The machine, without a check of its dimensions."""
    complete = write_out_variants(node)
    components = {component.name: component for component in complete.components}
    errors = _root_errors(complete, components) + _part_errors(components) or _cycle_errors(components)
    if errors:
        raise AspenError(*errors)
    once = nodes.Resource | nodes.Property  # in a component; parts may be listed twice
    inside = (tuple(item for item in component.items if isinstance(item, once)) for component in node.components)
    scopes = (node.declarations, node.components, *inside)
    redefined = (warning for scope in scopes for warning in warn_of_redefinitions(scope))
    return Machine(complete, (*warnings, *redefined), bases_of(node))


def _root_errors(node: nodes.Machine, components: dict[str, nodes.Component]) -> list[Diagnostic]:
    roots = [component for component in components.values() if component.type == "machine"]
    if len(roots) == 1:
        return []
    if roots:
        related = tuple(Related(root.name_span, "another one") for root in roots[1:])
        message = "a file holds one component of type `machine`, not " + str(len(roots))
        return [Diagnostic("many-machines", message, roots[0].name_span, related)]
    first = node.components[0] if node.components else None
    place: Span | None = first.type_span if first else node.span
    hint = "the tree begins with `machine NAME { node [1] ... }`"
    return [Diagnostic("no-machine", "there is no component of type `machine`", place, hint=hint)]


def _part_errors(components: dict[str, nodes.Component]) -> list[Diagnostic]:
    errors = []
    for component in components.values():
        for part in component.items:
            if not isinstance(part, nodes.Part):
                continue
            if part.name not in components:
                hint = suggest_nearest(part.name, components)
                message = f"unknown component `{part.name}`"
                errors.append(Diagnostic("unknown-component", message, part.name_span or part.span, hint=hint))
            elif components[part.name].type != part.type:
                actual = components[part.name]
                message = f"`{part.name}` is a {actual.type}, not a {part.type}"
                related = (Related(actual.name_span, f"declared as a {actual.type} here"),)
                errors.append(Diagnostic("wrong-type", message, part.span, related))
    return errors


def _cycle_errors(components: dict[str, nodes.Component]) -> list[Diagnostic]:
    parts = {
        name: [item for item in component.items if isinstance(item, nodes.Part)]
        for name, component in components.items()
    }
    try:
        TopologicalSorter({name: [part.name for part in inner] for name, inner in parts.items()}).prepare()
    except CycleError as error:
        cycle: list[str] = error.args[1][::-1]
        part = next(part for part in parts[cycle[0]] if part.name == cycle[1])
        return [Diagnostic("component-cycle", "a component is part of itself: " + join_chain(cycle), part.span)]
    return []
