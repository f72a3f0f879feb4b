"""Operations: what a core takes for a class of them, by precision and width, where the machine states its rate.

    property divide_dp_rate [1/4]        // one scalar division in four cycles
    property divide_dp_simd_rate [8/16]  // eight lanes in sixteen
    property compare_rate [2]            // in any precision

A rate counts operations that one core completes in a cycle with independent operands, lanes included; `fma` and
`tensor` count flops, two for each fused multiply-add. Beside a peak may stand which part of it real code attains,
`property tensor_dp_attained [0.9]`, or `tensor_attained` for any precision: it then takes as much longer.

Products of matrices, `as tensor, dp, simd, fmad`, run on fused multiply-adds of vectors where a core has no units of
their own for the precision; what is attained is that of products there, too.
"""

from __future__ import annotations

from collections.abc import Sequence

from aspenpy.cost.caches.names import SHARED
from aspenpy.cost.exchanges import EXCHANGES
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.language.diagnostics import Diagnostic, nearest, warning
from aspenpy.language.vocabulary import OPERATION_CLASSES
from aspenpy.models.application import flow
from aspenpy.models.machine.model import Component, Machine, Resource
from aspenpy.record import Record

CLASSES = OPERATION_CLASSES
"""What tells operations apart that a core completes at different rates."""

UNITS = {"divide": "divider", "square_root": "divider", "load": "load ports", "store": "store ports"}
"""Units that work beside the pipes of a core and beside each other (Fog, microarchitecture; uops.info): the divider is
busy for many cycles while the pipes go on with others. Times on different units are not added."""

PRECISIONS = {"fp64": "dp", "fp32": "sp"} | {name: name for name in ("dp", "sp", "tf32", "bf16", "fp16", "fp8", "int8")}
"""The traits of precision, and what names of properties call them."""

WIDE = "simd"
FUSED = "fmad"

SIMT = "simt"
"""The flag of a core whose lanes have a part of the work each."""

PRODUCT, MULTIPLY_ADD = "tensor", "fma"
"""The class of products of matrices, and that in which they are counted where a core has no units for them."""


class Classified(Record):
    """Seconds that a requirement takes on one core by the rate of its class, the traits that this takes in, the first
    of them, which names the class, and the `unit` of the core that works on it beside all others."""

    name: str
    unit: str
    seconds: Expr
    traits: frozenset[str]


def classified(
    requirement: flow.Requirement, amount: Expr, component: Component, resource: Resource
) -> Classified | None:
    """What so much of a requirement takes that says its class; None where it says none, and where the machine states no
    rate for it, has no clock, or has a rule of its own for a trait of that name."""
    name, clock = operation_class(requirement, resource), component.value("clock")
    if name is None or clock is None:
        return None
    rate = first_stated(component, rate_properties(requirement, name))
    if rate is None and name == PRODUCT and any(trait.name == WIDE for trait in requirement.traits):
        rate = first_stated(component, rate_properties(requirement, MULTIPLY_ADD))
    if rate is None:
        return None
    attained = first_stated(component, rate_properties(requirement, name, "attained"))
    if attained is not None:
        rate = graph.mul(rate, attained)
    fused = {FUSED} if name in (PRODUCT, MULTIPLY_ADD) else set()
    taken_in = frozenset({name, WIDE, *fused, *PRECISIONS} & {trait.name for trait in requirement.traits})
    return Classified(name, UNITS.get(name, ""), graph.div(amount, graph.mul(clock, rate)), taken_in)


def spread_over_lanes(requirement: flow.Requirement, component: Component) -> flow.Requirement:
    """The flops of a rank that shares its work out, on a core with the flag `simt`: each lane has a part of its own,
    and loops that a compiler leaves scalar elsewhere run on all of them. Lanes are taken to be filled."""
    if SIMT not in component.properties or any(trait.name == WIDE for trait in requirement.traits):
        return requirement
    return requirement.replace(traits=(*requirement.traits, flow.Trait(WIDE, (), requirement.span)))


def operation_class(requirement: flow.Requirement, resource: Resource) -> str | None:
    """The class that a requirement says, where the resource has no rule for a trait of that name."""
    names = (trait.name for trait in requirement.traits)
    return next((name for name in names if name in CLASSES and name not in resource.traits), None)


def priced_without(requirement: flow.Requirement, trait: str) -> bool:
    """Whether a requirement says beside a class what it is on a core that states no rate of it: of products of
    matrices, fused multiply-adds of vectors."""
    return trait == PRODUCT and {WIDE, FUSED} <= {each.name for each in requirement.traits}


def first_stated(component: Component, names: Sequence[str]) -> Expr | None:
    """The value of the first of these properties that a component has."""
    values = (component.value(name) for name in names)
    return next((value for value in values if value is not None), None)


def tensor_rates(component: Component) -> dict[tuple[str, ...], Expr]:
    """By their traits the flops a cycle that a core's units for products of matrices do at their peak."""
    rates = {name: component.value(f"tensor_{name}_rate") for name in dict.fromkeys(PRECISIONS.values())}
    return {("tensor", name): rate for name, rate in rates.items() if rate is not None}


def rate_properties(requirement: flow.Requirement, name: str, ending: str = "rate") -> tuple[str, ...]:
    """The properties in which a core may state the rate of a requirement's class, the most particular first. Units for
    products of matrices know no other width."""
    traits = [trait.name for trait in requirement.traits]
    width = (WIDE,) if WIDE in traits and name != PRODUCT else ()
    precision = [PRECISIONS[trait] for trait in traits if trait in PRECISIONS][:1]
    return tuple(dict.fromkeys("_".join([name, *part, *width, ending]) for part in (precision, [])))


_ELSEWHERE = {
    **dict.fromkeys(("double", "fp64", "float64"), "dp"),
    **dict.fromkeys(("single", "float", "fp32", "float32"), "sp"),
    **dict.fromkeys(("vector", "vectorized", "vectorised"), "simd"),
}
"""What other tools call a trait of `flops`, in lower case."""


def unknown_trait(
    machine: Machine, requirement: flow.Requirement, trait: flow.Trait, resources: Sequence[Resource]
) -> Diagnostic:
    """A warning of a trait that none of the resources knows: it changes nothing."""
    server = f"machine `{machine.name}`"
    if len(machine.sockets) > 1:
        server = f"`{resources[0].component}` of {server}"
    if trait.name in CLASSES:
        message = f"{server} states no rate of `{trait.name}`: they are priced as plain ones"
        rates = " or ".join(f"`{name}`" for name in rate_properties(requirement, trait.name))
        needed = f"a core states it as the property {rates}, operations a cycle"
        return warning("unknown-rate", message, trait.span, hint=needed)
    if trait.name == SHARED:
        silent = f"machine `{machine.name}` states no `transfer_latency` between cores"
        message = f"{silent}: `{SHARED}` stores wait for none"
        needed = "state it as `property transfer_latency [50 ns]` of the socket, or of a cache that cores share"
        return warning("unknown-latency", message, trait.span, hint=needed)
    known = list(dict.fromkeys(name for resource in resources for name in resource.traits))
    message = f"{server} knows no trait `{trait.name}` of `{requirement.resource}`"
    exchanges = EXCHANGES if requirement.resource == "messages" else ()
    meant = _ELSEWHERE.get(trait.name.lower())
    alike = f"did you mean `{meant}`?" if meant in known else nearest(trait.name, [*known, *exchanges])
    hint = alike or ("it knows " + ", ".join(known) if known else None)
    return warning("unknown-trait", message, trait.span, hint=hint)
