"""Mixtures: classes of operations in proportion, declared once and used as a trait.

    mixture stencil {add [4], multiply [1]}
    ...
    execute { flops [5*n] as stencil, dp, simd }    // flops [4*n] as add, dp, simd and flops [n] as multiply, dp, simd

A mixture belongs to the model or kernel that declares it; what imports the model does not see it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from aspenpy.expr import graph
from aspenpy.language import nodes
from aspenpy.language.diagnostics import Related, fail, suggest_nearest
from aspenpy.language.lower import Lowering, check_value_at, lower_guarded
from aspenpy.language.vocabulary import OPERATION_CLASSES
from aspenpy.models.application import flow

TAKEN = frozenset({*OPERATION_CLASSES, "dp", "sp", "simd", "fmad"})
"""Traits that say something of operations by themselves."""


def check_mixtures(mixtures: Iterable[nodes.Mixture]) -> None:
    """Refuses names that are traits already, classes that do not exist and those that are given twice."""
    for mixture in mixtures:
        if mixture.name in TAKEN:
            message = f"`{mixture.name}` is a trait of operations already, and cannot name a mixture"
            fail("mixture", message, mixture.name_span, hint="give the mixture another name")
        first: dict[str, nodes.Mixed] = {}
        for part in mixture.parts:
            if part.name not in OPERATION_CLASSES:
                known = "the classes are " + ", ".join(OPERATION_CLASSES)
                hint = suggest_nearest(part.name, OPERATION_CLASSES) or known
                fail("mixture", f"there is no class of operations `{part.name}`", part.name_span, hint=hint)
            if part.name in first:
                related = (Related(first[part.name].name_span, "first given here"),)
                fail("mixture", f"the mixture has two parts `{part.name}`", part.name_span, related=related)
            first[part.name] = part


def divide_by_mixture(
    requirement: flow.Requirement, mixtures: Mapping[str, nodes.Mixture], lower: Lowering
) -> list[flow.Requirement]:
    """A requirement as one for each class of the mixture that it names; as it is where it names none."""
    named = [trait for trait in requirement.traits if trait.name in mixtures]
    if not named:
        return [requirement]
    said, *more = named
    if more:
        message = f"`{requirement.resource}` is divided by one mixture only, not by `{more[0].name}` as well"
        fail("mixture", message, more[0].span, related=(Related(said.span, "the first"),))
    if said.arguments:
        fail("mixture", f"the mixture `{said.name}` takes no arguments", said.span, hint=f"write `as {said.name}`")
    parts = mixtures[said.name].parts
    amounts = [
        check_value_at("part", lower_guarded(lower, part.amount), part.amount.span, lower.origins) for part in parts
    ]
    together = graph.add(*amounts)
    requirements = []
    for part, amount in zip(parts, amounts, strict=True):
        share = graph.div(amount, together)
        traits = [trait.replace(name=part.name) if trait is said else trait for trait in requirement.traits]
        quantity, whole = graph.mul(requirement.quantity, share), graph.mul(requirement.amount, share)
        requirements.append(requirement.replace(quantity=quantity, amount=whole, traits=tuple(traits)))
    return requirements
