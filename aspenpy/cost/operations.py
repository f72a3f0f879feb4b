"""Operations: what a core takes for a class of them, by precision and width, where the machine states its rate.

    property divide_dp_rate [1/4]        // one scalar division in four cycles
    property divide_dp_simd_rate [8/16]  // eight lanes in sixteen
    property compare_rate [2]            // in any precision

A rate counts operations that one core completes in a cycle with independent operands, lanes included; `fma` and
`tensor` count flops, two for each fused multiply-add. Beside a peak may stand which part of it real code attains,
`property tensor_dp_attained [0.9]`, or `tensor_attained` for any precision: it then takes as much longer.

Products of matrices, `as tensor, dp`, run on fused multiply-adds of vectors where a core has no units of their own for
the precision; what is attained is that of products there, too.

A format that a core has no rate for is computed in single precision where that holds its values exactly (`tf32`,
`bf16`, `fp16`), and refused where it does not (`fp8`). Operations of a format without a class are multiply-adds
where they are `fmad`, half as many others. What a core with the flag `simt` states for its vectors is shared out evenly
to its lanes.

    intops [n] as logic, int8, simd     // n bytes: and, or, exclusive or
    intops [2*n] as dot, int8, simd     // n products of bytes that are summed

Of whole numbers a core states what begins in a cycle: of scalars `shift_rate`, of one width `shift_int64_rate`,
`shift_int8_simd_rate` with lanes counted in; of whole vectors of any width `shift_vectors`, each of as many bytes as
its lanes of single precision have (uops.info: reciprocal throughputs). Products that are summed count two for each
pair, as fused multiply-adds do.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from aspenpy.cost.trait_names import EXCHANGES, SHARED
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.language.diagnostics import Diagnostic, suggest_nearest, warning
from aspenpy.language.vocabulary import INTEGER_WIDTHS, OPERATION_CLASSES
from aspenpy.models.application import flow
from aspenpy.models.machine.model import Component, Machine, Resource
from aspenpy.record import Record

INTOPS = "intops"

STEMS = {
    **dict.fromkeys(("integer", "add", "address"), "integer"),
    "compare": "integer_compare",
    "multiply": "integer_multiply",
    **{name: name for name in ("logic", "shift", "minmax", "permute", "dot", "integer_compare", "integer_multiply")},
}
"""By the trait what properties of its rates begin with. Additions are integers without more."""

LIKE_OTHERS = {
    **dict.fromkeys(("logic", "shift", "minmax", "integer_compare"), ("integer",)),
    "permute": ("shift", "integer"),
}
"""Classes whose rate is that of others where a core states none of their own."""

BYTES_OF_LANE, DEFAULT_WIDTH = 4, "int32"


def integer_traits(requirement: flow.Requirement) -> frozenset[str]:
    """The traits that say which operations of whole numbers these are."""
    said = {trait.name for trait in requirement.traits}
    return frozenset(said & {*STEMS, *INTEGER_WIDTHS, WIDE})


def integer_class(requirement: flow.Requirement) -> str:
    said = (STEMS.get(trait.name) for trait in requirement.traits)
    return next((stem for stem in said if stem is not None), "integer")


def rate_of_integers(requirement: flow.Requirement, core: Component) -> Expr | None:
    """Operations a cycle of a requirement of whole numbers; None where they do not follow from what a core states."""
    said = {trait.name for trait in requirement.traits}
    stem, wide = integer_class(requirement), WIDE in said
    width = next((name for name in INTEGER_WIDTHS if name in said), DEFAULT_WIDTH if wide else None)
    stems = [stem, *LIKE_OTHERS.get(stem, ())]
    return next((rate for name in stems for rate in _rates(name, width, core, wide=wide)), None)


def _rates(stem: str, width: str | None, core: Component, *, wide: bool) -> Iterator[Expr]:
    """The rates of a class that a core states, or that follow, the most particular first."""
    ending = f"_{WIDE}_rate" if wide else "_rate"
    for name in ([f"{stem}_{width}{ending}"] if width else []) + [f"{stem}{ending}"]:
        rate = core.value(name)
        if rate is not None:
            yield rate
    vectors, lanes = core.value(f"{stem}_vectors"), core.value("simd_width")
    if wide and vectors is not None and lanes is not None and width is not None:
        operations = 2 if stem == "dot" else 1
        yield graph.mul(vectors, lanes, graph.number(BYTES_OF_LANE * operations * 8) / int(width.removeprefix("int")))


CLASSES = OPERATION_CLASSES
"""What tells operations apart that a core completes at different rates."""

ADDERS = "adders"
"""The property of a core whose additions begin in pipes of their own, beside those of products and of fused
multiply-adds: AMD's since Zen (software optimization guides of families 17h and 19h: FADD in FP2 and FP3, FMUL in FP0
and FP1), Intel's before Haswell (Fog, microarchitecture: port 1 and port 0)."""

ADDED = ("add", "convert")
"""What begins in these pipes: conversions do, too (FCVT in FP2 and FP3, CVTSI2SD in port 1: the same sources)."""

UNITS = {"divide": "divider", "square_root": "divider", "load": "load ports", "store": "store ports"}
"""Units that work beside the pipes of a core and beside each other (Fog, microarchitecture; uops.info): the divider is
busy for many cycles while the pipes go on with others. Times on different units are not added."""

NARROW = ("tf32", "bf16", "fp16", "fp8", "fp4", "int8")
"""Formats narrower than single precision, which few cores know."""

PRECISIONS = {"fp64": "dp", "fp32": "sp"} | {name: name for name in ("dp", "sp", *NARROW)}
"""The traits of precision, and what names of properties call them."""

WIDE = "simd"
FUSED = "fmad"

SIMT = "simt"
"""The flag of a core whose lanes have a part of the work each."""

PRODUCT, MULTIPLY_ADD = "tensor", "fma"
"""The class of products of matrices, and that in which they are counted where a core has no units for them."""

PIPED = ("add", "multiply")
"""Classes that a pipe of fused multiply-adds begins as often as those: half of its flops."""

FLOPS = "flops"
"""The resource whose traits name precisions."""

HELD_BY_SINGLE = ("tf32", "bf16", "fp16")
"""Formats whose products single precision holds exactly: 24 bits of significand for their 11 (IEEE 754; bfloat16)."""

REFUSED = {*NARROW} - {*HELD_BY_SINGLE}
"""Formats that a core which tells precisions apart refuses where it has no units for them."""


class ClassTime(Record):
    """Seconds that a requirement takes on one core by the rate of its class, the traits that this takes in, the first
    of them, which names the class, and the `unit` of the core that works on it beside all others."""

    name: str
    unit: str
    seconds: Expr
    traits: frozenset[str]


class InterpretedRequirement(Record):
    """A requirement as the component that serves it understands it: in words that the resource has rules for, with its
    time by the rate of its class or format, the formats that it is not computed in, and why it is refused."""

    requirement: flow.Requirement
    operation: ClassTime | None = None
    ignored: tuple[str, ...] = ()
    refused: Diagnostic | None = None


def read_operation(
    requirement: flow.Requirement, amount: Expr, component: Component, resource: Resource
) -> InterpretedRequirement:
    """The requirement as a component understands its traits."""
    known = translate_traits(requirement, component, resource) if requirement.resource == FLOPS else requirement
    if isinstance(known, Diagnostic):
        return InterpretedRequirement(requirement, refused=known)
    kept = {trait.name for trait in known.traits}
    lost = tuple(trait.name for trait in requirement.traits if trait.name in NARROW and trait.name not in kept)
    return InterpretedRequirement(known, classify_requirement(known, amount, component, resource), lost)


def classify_requirement(
    requirement: flow.Requirement, amount: Expr, component: Component, resource: Resource
) -> ClassTime | None:
    """Reads a requirement that says its class, or a format narrower than single precision; None where it says neither,
    and where the machine states no rate for it, has no clock, or has a rule of its own for a trait of that name."""
    name, clock = operation_class(requirement, resource), component.value("clock")
    if requirement.resource == INTOPS and clock is not None:
        return _classify_integers(requirement, amount, component, clock)
    rate = None if clock is None else rate_of_class(requirement, name, component, resource)
    if clock is None or rate is None:
        return None
    name = name or str(narrow_format(requirement, resource))
    attained = first_stated(component, rate_properties(requirement, name, "attained"))
    if attained is not None:
        rate = graph.mul(rate, attained)
    said = {trait.name for trait in requirement.traits}
    fused = {FUSED} if name in (PRODUCT, MULTIPLY_ADD, *NARROW) else set()
    taken_in = frozenset({name, WIDE, *fused, *PRECISIONS} & said)
    return ClassTime(name, _unit_of(name, component), graph.div(amount, graph.mul(clock, rate)), taken_in)


def _unit_of(name: str, core: Component) -> str:
    """The unit of a core that a class keeps busy beside others; a GPU divides and adds on the pipes of its lanes."""
    if SIMT in core.properties:
        return ""
    return ADDERS if name in ADDED and core.value(ADDERS) is not None else UNITS.get(name, "")


def _classify_integers(
    requirement: flow.Requirement, amount: Expr, component: Component, clock: Expr
) -> ClassTime | None:
    """Operations of whole numbers; None where they are plain ones, which the resource prices."""
    traits, rate = integer_traits(requirement), rate_of_integers(requirement, component)
    if not traits or rate is None:
        return None
    seconds = graph.div(amount, graph.mul(clock, rate))
    return ClassTime(integer_class(requirement), "", seconds, traits)


def rate_of_class(
    requirement: flow.Requirement, name: str | None, component: Component, resource: Resource
) -> Expr | None:
    """Operations a cycle of a class, or of a format where there is none, that follow from what a core states."""
    said = {trait.name for trait in requirement.traits}
    if name == PRODUCT:
        on_units = first_stated(component, rate_properties(requirement, PRODUCT))
        return on_units or first_stated(component, _vector_properties(rate_properties(requirement, MULTIPLY_ADD)))
    known = None if name is None else _rate_on_core(component, rate_properties(requirement, name), said)
    if known is None and narrow_format(requirement, resource) is not None and name in (None, *PIPED):
        precise = rate_properties(requirement, MULTIPLY_ADD)[:1]
        flops = _rate_on_core(component, precise, said)
        if flops is not None:
            known = flops if name is None and FUSED in said else graph.div(flops, 2)
    return known


def _rate_on_core(component: Component, names: Sequence[str], said: set[str]) -> Expr | None:
    """The rate that a core states, or the part of one lane in what it states for all."""
    rate, lanes = first_stated(component, names), component.value("simd_width")
    if rate is None and WIDE not in said and SIMT in component.properties and lanes is not None:
        of_all = first_stated(component, _vector_properties(names))
        rate = None if of_all is None else graph.div(of_all, lanes)
    return rate


def _vector_properties(names: Sequence[str]) -> tuple[str, ...]:
    """The names of the properties of vectors that correspond to these of scalars."""
    return tuple(name if f"_{WIDE}_" in name else name.replace("_rate", f"_{WIDE}_rate") for name in names)


def has_product_units(requirement: flow.Requirement, component: Component, resource: Resource) -> bool:
    """Whether a core has units of their own, or a rule, for products of matrices in the precision of a requirement."""
    return PRODUCT in resource.traits or first_stated(component, rate_properties(requirement, PRODUCT)) is not None


def is_attained_product(requirement: flow.Requirement, component: Component) -> bool:
    """Whether a requirement is a product of matrices at a rate that large ones in memory attain."""
    said = any(trait.name == PRODUCT for trait in requirement.traits)
    return said and first_stated(component, rate_properties(requirement, PRODUCT, "attained")) is not None


def narrow_format(requirement: flow.Requirement, resource: Resource) -> str | None:
    """The format of a requirement that is narrower than single precision and that the resource has no rule for."""
    names = (trait.name for trait in requirement.traits if requirement.resource == FLOPS)
    return next((name for name in names if name in NARROW and name not in resource.traits), None)


def translate_traits(
    requirement: flow.Requirement, component: Component, resource: Resource
) -> flow.Requirement | Diagnostic:
    """A requirement in the words that the resource of a core has rules for: `fp64` is `dp`, `fp32` is `sp`, a format
    without a rate is the single precision that holds its values, and products of matrices are fused multiply-adds of
    vectors. What no precision of the core can hold is refused by the diagnostic."""
    if not {"sp", "dp"} & resource.traits.keys():  # the core does not tell precisions apart
        return requirement
    format_name = narrow_format(requirement, resource)
    name = operation_class(requirement, resource)
    unknown = format_name is not None and rate_of_class(requirement, name, component, resource) is None
    if unknown and format_name not in HELD_BY_SINGLE:
        return _warn_without_units(requirement, str(format_name), component)
    renamed = {
        each: PRECISIONS[each]
        for each in ("fp64", "fp32")
        if each not in resource.traits and PRECISIONS[each] in resource.traits
    }
    if unknown:
        renamed |= {str(format_name): "sp"}
    traits = [each.replace(name=renamed.get(each.name, each.name)) for each in requirement.traits]
    requirement = requirement.replace(traits=tuple(traits))
    if name == PRODUCT and rate_of_class(requirement, name, component, resource) is None:
        return _read_as_vectors(requirement, resource)
    return requirement


def _read_as_vectors(requirement: flow.Requirement, resource: Resource) -> flow.Requirement:
    """A product of matrices as fused multiply-adds of vectors, as far as the resource has rules for them."""
    product = next(trait for trait in requirement.traits if trait.name == PRODUCT)
    words = [word for word in (WIDE, FUSED) if word in resource.traits]
    if not words:
        return requirement
    kept = [trait for trait in requirement.traits if trait is not product]
    added = [product.replace(name=word) for word in words if word not in {each.name for each in requirement.traits}]
    return requirement.replace(traits=(*kept, *added))


def _warn_without_units(requirement: flow.Requirement, name: str, component: Component) -> Diagnostic:
    trait = next(trait for trait in requirement.traits if trait.name == name)
    return Diagnostic(
        "no-format",
        f"core `{component.name}` has no units for `{name}`",
        trait.span,
        hint=f"a core that has them states `property tensor_{name}_rate` or `property fma_{name}_{WIDE}_rate`, "
        "operations a cycle; or count the operations in a precision that it has",
    )


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


def is_priced_without(requirement: flow.Requirement, trait: str) -> bool:
    """Whether a requirement says beside a class what it is on a core that states no rate of it: of products of
    matrices, fused multiply-adds of vectors."""
    return trait == PRODUCT and {WIDE, FUSED} <= {each.name for each in requirement.traits}


def first_stated(component: Component, names: Sequence[str]) -> Expr | None:
    """The value of the first of these properties that a component has."""
    values = (component.value(name) for name in names)
    return next((value for value in values if value is not None), None)


def tensor_rates(component: Component) -> dict[tuple[str, ...], Expr]:
    """Peak flops per cycle of a core's units for products of matrices, by traits."""
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


def warn_of_unknown_trait(
    machine: Machine, requirement: flow.Requirement, trait: flow.Trait, resources: Sequence[Resource]
) -> Diagnostic:
    """A warning of a trait that none of the resources knows: it changes nothing."""
    server = f"machine `{machine.name}`"
    if len(machine.sockets) > 1:
        server = f"`{resources[0].component}` of {server}"
    if trait.name in HELD_BY_SINGLE and any("sp" in resource.traits for resource in resources):
        message = f"{server} states no rate of `{trait.name}`: it is computed in single precision"
        stated = rate_properties(requirement, operation_class(requirement, resources[0]) or MULTIPLY_ADD)[0]
        needed = f"a core that has units for it states `property {stated}`, operations a cycle"
        return warning("unknown-rate", message, trait.span, hint=needed)
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
    alike = f"did you mean `{meant}`?" if meant in known else suggest_nearest(trait.name, [*known, *exchanges])
    hint = alike or ("it knows " + ", ".join(known) if known else None)
    return warning("unknown-trait", message, trait.span, hint=hint)
