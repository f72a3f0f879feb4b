"""The units of what the user sets: a parameter set to seconds where the model needs bytes is a mistake.

Dimensions are gradual here as everywhere: a setting without a unit, `--set n=20`, is never refused for its dimension.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aspenpy.language import nodes
from aspenpy.language.diagnostics import AspenError, Diagnostic, Related
from aspenpy.language.dimensions import describe_dimension
from aspenpy.language.infer import dimension_of
from aspenpy.models.application.dimensions import Contradictions, Inference, carries_units, parameters_of
from aspenpy.models.application.dimensions import contradictions as application_contradictions
from aspenpy.models.application.model import Application
from aspenpy.models.machine.dimensions import contradictions as machine_contradictions
from aspenpy.models.machine.model import Machine
from aspenpy.record import Record

Declared = nodes.Parameter | nodes.Property


class Written(Record):
    """What the user wrote for a parameter of a model, and the parameter as the model declares it."""

    name: str
    value: nodes.Expression
    declared: Declared


def require_units(model: Application | Machine, written: list[Written]) -> None:
    """Raises AspenError where a setting has another unit than the model's own value, or contradicts how the model
    uses the parameter."""
    if not any(item.value.span is not None and carries_units(item.value.span.text()) for item in written):
        return
    own = parameters_of(model.node.declarations)
    for item in written:
        before, after = _dimension(item.declared.value, own), _dimension(item.value, own)
        if before is not None and after is not None and before != after:
            message = (
                f"`{item.name}` is in {describe_dimension(before)}, and here it is set to {describe_dimension(after)}"
            )
            related = (Related(item.declared.span, "as the model has it"),)
            raise AspenError(Diagnostic("dimensions", message, item.value.span, related))
    changed = {id(item.declared): item.declared.replace(value=item.value) for item in written}
    errors = _contradictions(_exchange_values(model.node, changed))
    if errors:
        names = " and ".join(f"`{item.name}`" for item in written)
        raise AspenError(errors[0].within(f"with {names} as set"))  # one setting contradicts every use of it


def _dimension(node: nodes.Expression | None, own: Mapping[str, nodes.Expression | None]) -> Any:
    """The dimension of a value in the model; None where it is not known or contradicts itself."""
    try:
        return None if node is None else dimension_of(node, Inference(own, {}, Contradictions()))
    except AspenError:
        return None


def _contradictions(node: nodes.Application | nodes.Machine) -> list[Diagnostic]:
    if isinstance(node, nodes.Application):
        return application_contradictions(node)
    return machine_contradictions(node)


def _exchange_values(node: Any, changed: Mapping[int, Declared]) -> Any:
    """The model with other values for some parameters and properties."""
    exchanged = node.replace(declarations=tuple(changed.get(id(item), item) for item in node.declarations))
    if isinstance(node, nodes.Application):
        return exchanged
    return exchanged.replace(
        components=tuple(
            component.replace(items=tuple(changed.get(id(item), item) for item in component.items))
            for component in node.components
        )
    )
