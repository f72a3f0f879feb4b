"""The dimensions of a machine: resources turn amounts into seconds, and well-known properties have theirs."""

from __future__ import annotations

from aspenpy.language import nodes
from aspenpy.language.diagnostics import Diagnostic
from aspenpy.language.dimensions import BYTES, DIMENSIONLESS, FLOPS, HERTZ, JOULES, MESSAGES, SECONDS, WATTS
from aspenpy.models.application.dimensions import (
    RESOURCE_DIMENSIONS,
    Contradictions,
    Inference,
    may_carry_units,
    parameters_of,
)

FLOP_CLASSES = (
    *("dp", "sp", "fp16", "bf16", "tf32", "fp8", "int8"),
    *("tensor", "tensor_dp", "tensor_sp", "tensor_fp16", "tensor_bf16", "tensor_tf32", "tensor_fp8", "tensor_int8"),
)
"""Classes of flops whose energy a socket may state: `energy_per_flop_dp`."""

PROPERTY_DIMENSIONS = {
    "capacity": BYTES,
    "cacheline": BYTES,
    "bandwidth": BYTES / SECONDS,
    **dict.fromkeys(
        (
            *("attained_bandwidth", "attained_store_bandwidth", "core_bandwidth", "core_store_bandwidth"),
            *("remote_bandwidth", "write_bandwidth", "client_bandwidth"),
        ),
        BYTES / SECONDS,
    ),
    "latency": SECONDS,
    "barrier_latency": SECONDS,
    "tlb_latency": SECONDS,
    "set_latency": SECONDS,
    "set_store_latency": SECONDS,
    "page": BYTES,
    "far_latency": SECONDS,
    "launch_latency": SECONDS,
    "link_bandwidth": BYTES / SECONDS,
    "hop_latency": SECONDS,
    "message_rate": MESSAGES / SECONDS,
    "reduction_bandwidth": BYTES / SECONDS,
    "total_bandwidth": BYTES / SECONDS,
    "rendezvous_threshold": BYTES,
    "rendezvous_latency": SECONDS,
    "clock": HERTZ,
    "idle": WATTS,
    "tdp": WATTS,
    "idle_power": WATTS,
    "sleep_power": WATTS,
    "power_cap": WATTS,
    "active_core_power": WATTS,
    "uncore_power": WATTS,
    "uncore_clock": HERTZ,
    "uncore_reference": HERTZ,
    "uncore_least": DIMENSIONLESS,
    "uncore_saturation": DIMENSIONLESS,
    "efficiency": DIMENSIONLESS,
    "constant_power": WATTS,
    "energy_per_flop": JOULES / FLOPS,
    **{f"energy_per_flop_{name}": JOULES / FLOPS for name in FLOP_CLASSES},
    "energy_per_byte": JOULES / BYTES,
}
"""What the conventional properties are in; a bare number means that unit, too."""


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
        _component(component, parameters, noted)
    return noted.diagnostics


def _in_time(item: nodes.Resource, names: Inference) -> list[Diagnostic]:
    """What contradicts that the time of a resource is in seconds; of an amount that may be one thing or another,
    only where each of them does."""
    told: list[list[Diagnostic]] = []
    for amount in OPEN_AMOUNTS.get(item.name) or (RESOURCE_DIMENSIONS.get(item.name),):
        noted = Contradictions()
        inner = Inference(names.definitions, {**names.known, item.argument: amount}, noted)
        if amount is None or noted.infer(item.time, inner) != amount:  # `flops(n) [n]` is a second for each flop
            inner.check(item.time, SECONDS, f"the time of `{item.name}`")
        told.append(noted.diagnostics)
    return told[0] if all(told) else []


def _component(node: nodes.Component, parameters: dict[str, nodes.Expression | None], found: Contradictions) -> None:
    properties = [item for item in node.items if isinstance(item, nodes.Property)]
    values = {item.name: item.value for item in properties}
    known = {item.name: PROPERTY_DIMENSIONS[item.name] for item in properties if item.name in PROPERTY_DIMENSIONS}
    names = Inference({**parameters, **values}, known, found)
    for item in node.items:
        if isinstance(item, nodes.Part):
            names.check(item.quantity, DIMENSIONLESS, "a quantity")
        elif isinstance(item, nodes.Property):
            names.check(item.value, PROPERTY_DIMENSIONS.get(item.name), f"the property `{item.name}`")
        elif isinstance(item, nodes.PowerDraw):
            names.check(item.watts, WATTS, "a power")
        elif isinstance(item, nodes.Resource):
            found.add(*_in_time(item, names))
            for trait in item.traits:
                argument = {} if trait.argument is None else {trait.argument: None}
                traits = Inference(names.definitions, {**names.known, "base": None, **argument}, found)
                traits.check(trait.time, SECONDS, f"the time of `{item.name}` with `{trait.name}`")
