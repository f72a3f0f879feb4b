"""The dimensions of a machine: resources turn amounts into seconds, and well-known properties have their own."""

from __future__ import annotations

from aspenpy.language import nodes
from aspenpy.language.diagnostics import Diagnostic
from aspenpy.language.dimensions import BYTES, DIMENSIONLESS, MESSAGES, SECONDS, WATTS
from aspenpy.models.application.dimensions import (
    RESOURCE_DIMENSIONS,
    Contradictions,
    Inference,
    may_carry_units,
    parameters_of,
)
from aspenpy.models.machine.properties import PROPERTY_DIMENSIONS

OPEN_AMOUNTS = {"messages": (BYTES, MESSAGES, DIMENSIONLESS)}
"""Amounts that are what the machine takes them for: a message may be weighed or counted."""


def contradictions(node: nodes.Machine) -> list[Diagnostic]:
    """Every expression of the machine whose known dimensions contradict each other or what is wanted there."""
    if not may_carry_units(node):
        return []
    noted = Contradictions()
    parameters = parameters_of(node.declarations)
    names = Inference(parameters, {}, noted)
    for value in parameters.values():
        names.check(value)
    for component in node.components:
        _check_component(component, parameters, noted)
    return noted.diagnostics


def _check_time(item: nodes.Resource, names: Inference) -> list[Diagnostic]:
    """Contradictions to a resource's time being in seconds; of an amount with several possible dimensions, only where
    each contradicts."""
    contradictions: list[list[Diagnostic]] = []
    for amount in OPEN_AMOUNTS.get(item.name) or (RESOURCE_DIMENSIONS.get(item.name),):
        noted = Contradictions()
        inner = Inference(names.definitions, {**names.known, item.argument: amount}, noted)
        if amount is None or noted.infer(item.time, inner) != amount:  # `flops(n) [n]` is a second for each flop
            inner.check(item.time, SECONDS, f"the time of `{item.name}`")
        contradictions.append(noted.diagnostics)
    return contradictions[0] if all(contradictions) else []


def _check_component(
    node: nodes.Component, parameters: dict[str, nodes.Expression | None], found: Contradictions
) -> None:
    properties = [item for item in node.items if isinstance(item, nodes.Property)]
    values = {item.name: item.value for item in properties}
    dimensions = {item.name: PROPERTY_DIMENSIONS[item.name] for item in properties if item.name in PROPERTY_DIMENSIONS}
    names = Inference({**parameters, **values}, dimensions, found)
    for item in node.items:
        if isinstance(item, nodes.Part):
            names.check(item.quantity, DIMENSIONLESS, "a quantity")
        elif isinstance(item, nodes.Property):
            names.check(item.value, PROPERTY_DIMENSIONS.get(item.name), f"the property `{item.name}`")
        elif isinstance(item, nodes.PowerDraw):
            names.check(item.watts, WATTS, "a power")
        elif isinstance(item, nodes.Resource):
            found.add(*_check_time(item, names))
            for trait in item.traits:
                argument = {} if trait.argument is None else {trait.argument: None}
                traits = Inference(names.definitions, {**names.known, "base": None, **argument}, found)
                traits.check(trait.time, SECONDS, f"the time of `{item.name}` with `{trait.name}`")
