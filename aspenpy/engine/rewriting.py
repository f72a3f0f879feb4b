"""What is written otherwise before a formula becomes a program: short loops, and constants that are no floats."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from aspenpy.expr import graph
from aspenpy.expr.graph import Expr

STEPS = frozenset({"floor", "ceil", "round", "mod", "gcd", "sets_touched"})
"""Functions that leap where their argument passes a whole number, or take no other."""

MOST_UNROLLED = 8192
"""Nodes that the terms of one loop may come to."""

DEEPEST = 4
"""Loops within loops that are written out."""


def unrolled(roots: Sequence[Expr]) -> list[Expr]:
    """The expressions with loops of few passes written as sums of terms, in the order of the passes: what does not
    depend on the pass is then computed once, and processors add up several points at a time."""
    found = list(roots)
    for _ in range(DEEPEST):
        before = found
        found = _unrolled_once(found)
        if found == before:
            break
    return found


def _unrolled_once(roots: Sequence[Expr]) -> list[Expr]:
    def written(node: Expr, args: tuple[Expr, ...]) -> Expr | None:
        if node.kind != "sum":
            return None
        made = graph.rebuilt(node, args) if args != node.args else node
        terms = _terms(made) if made.kind == "sum" else None
        return made if terms is None else graph.add(*terms)

    return graph.rewritten(roots, written)


def _terms(total: Expr) -> list[Expr] | None:
    """What the passes of a short loop add; None for a long one, or one whose length varies."""
    counter, count, body = total.args
    if count.kind != "number":
        return None
    passes = max(0, math.ceil(count.payload))
    if passes * len(graph.topological(body, since=counter.serial)) > MOST_UNROLLED:
        return None
    return [graph.substitute([body], {counter: graph.number(number)})[0] for number in range(passes)]


def exact_at_steps(roots: Sequence[Expr]) -> list[Expr]:
    """The expressions with `x*0.1` written as `x*1/10`, wherever that leads to a step.

    A fraction such as 1/10 is no float: rounded, it takes 0.1*30 over the step of a `ceil`. Its numerator and
    denominator are floats, and a quotient that is a whole number is rounded to it.
    """
    order = graph.topological(*roots)
    near = set[Expr]()
    for node in reversed(order):
        if node in near or node.kind == "compare" or graph.is_call(node, STEPS):
            near.update(node.args)
        elif node.kind in ("index", "sum"):
            near.update(node.args[1:2] if node.kind == "sum" else node.args[1:])

    def written(node: Expr, args: tuple[Expr, ...]) -> Expr | None:
        return _with_whole_constants(node.kind, args) if node in near and node.kind in ("mul", "div") else None

    return graph.rewritten(roots, written)


def _with_whole_constants(kind: str, args: tuple[Expr, ...]) -> Expr:
    if kind == "div":
        top, bottom = args
        if _is_fraction(bottom):
            numerator, denominator = bottom.payload.as_integer_ratio()
            return graph.div(graph.mul(top, denominator), numerator)
        return graph.div(top, bottom)
    if not any(map(_is_fraction, args)):
        return graph.mul(*args)
    product, below = args[0], 1
    if _is_fraction(product):
        product, below = graph.number(product.payload.numerator), product.payload.denominator
    for factor in args[1:]:
        if _is_fraction(factor):
            product = graph.div(graph.mul(product, factor.payload.numerator), factor.payload.denominator)
        else:
            product = graph.mul(product, factor)
    return graph.div(product, below)


def _is_fraction(node: Expr) -> bool:
    """A constant that is no float, of whole numbers that are."""
    value = node.payload
    return (
        node.kind == "number"
        and type(value) is Fraction
        and value.denominator & (value.denominator - 1) != 0
        and max(abs(value.numerator), value.denominator) < 2**53
    )
