"""Traits that say nothing on a machine."""

from __future__ import annotations

from collections.abc import Sequence

from aspenpy.cost.caches.names import SHARED
from aspenpy.cost.operations import CLASSES, rate_properties
from aspenpy.language.diagnostics import Diagnostic, nearest
from aspenpy.models.application import flow
from aspenpy.models.machine.model import Machine, Resource


def unknown_trait(
    machine: Machine, requirement: flow.Requirement, trait: flow.Trait, resources: Sequence[Resource]
) -> Diagnostic:
    """A warning of a trait that none of the resources knows: it changes nothing."""
    if trait.name in CLASSES:
        message = f"machine `{machine.name}` states no rate of `{trait.name}`: these operations cost what others do"
        rates = " or ".join(f"`{name}`" for name in rate_properties(requirement, trait.name))
        needed = f"a core states it as the property {rates}, operations a cycle"
        return Diagnostic("unknown-rate", message, trait.span, hint=needed, severity="warning")
    if trait.name == SHARED:
        silent = f"machine `{machine.name}` does not say how long a line takes between cores"
        message = f"{silent}: `{SHARED}` stores wait for none"
        needed = "state it as `property transfer_latency [50 ns]` of the socket, or of a cache that cores share"
        return Diagnostic("unknown-latency", message, trait.span, hint=needed, severity="warning")
    known = list(dict.fromkeys(name for resource in resources for name in resource.traits))
    message = f"machine `{machine.name}` knows no trait `{trait.name}` of `{requirement.resource}`"
    hint = nearest(trait.name, known) or ("it knows " + ", ".join(known) if known else None)
    return Diagnostic("unknown-trait", message, trait.span, hint=hint, severity="warning")
