"""Integers: operations of whole numbers by class, width and lanes, where a core states their rates.

    intops [n] as logic, int8, simd     // n bytes: and, or, exclusive or
    intops [2*n] as dot, int8, simd     // n products of bytes that are summed

A core states what begins in a cycle: of scalars `shift_rate`, of one width `shift_int64_rate`, `shift_int8_simd_rate`
with lanes counted in; of whole vectors of any width `shift_vectors`, each of as many bytes as its lanes of single
precision have (uops.info: reciprocal throughputs). Products that are summed count two for each pair, as fused
multiply-adds do.
"""

from __future__ import annotations

from collections.abc import Iterator

from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.language.vocabulary import INTEGER_WIDTHS
from aspenpy.models.application import flow
from aspenpy.models.machine.model import Component

INTOPS = "intops"

STEMS = {
    **dict.fromkeys(("integer", "add", "address"), "integer"),
    "compare": "integer_compare",
    "multiply": "integer_multiply",
    **{name: name for name in ("logic", "shift", "minmax", "dot", "integer_compare", "integer_multiply")},
}
"""By the trait what properties of its rates begin with. Additions are integers without more."""

LIKE_ADDITIONS = ("logic", "shift", "minmax", "integer_compare")
"""Classes whose rate is that of additions where a core states none of their own."""

WIDE = "simd"
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
    stems = [stem, "integer"] if stem in LIKE_ADDITIONS else [stem]
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
