"""Rewritings of a formula before it becomes a program: unrolled short loops, and fractions as quotients of whole
numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from aspenpy.expr import graph
from aspenpy.expr.graph import Expr

STEPS = frozenset({"floor", "ceil", "round", "mod", "gcd", "grid", "sets_touched", "share_kept"})
"""Functions that jump at whole numbers, or take only whole numbers."""

MOST_UNROLLED = 8192  # limit of the nodes in the terms of one unrolled loop
DEEPEST = 4  # depth of nested loops that are unrolled


def unroll_loops(roots: Sequence[Expr]) -> list[Expr]:
    """The expressions with short loops written as sums of terms in the order of the passes. Parts that do not depend on
    the pass are then computed once, and the code is vectorised over points."""
    exprs = list(roots)
    for _ in range(DEEPEST):
        before = exprs
        exprs = _unroll_once(exprs)
        if exprs == before:
            break
    return exprs


def _unroll_once(roots: Sequence[Expr]) -> list[Expr]:
    def written(node: Expr, args: tuple[Expr, ...]) -> Expr | None:
        if node.kind != "sum":
            return None
        made = graph.rebuild(node, args) if args != node.args else node
        terms = _terms(made) if made.kind == "sum" else None
        return made if terms is None else graph.add(*terms)

    return graph.rewrite(roots, written)


def _terms(total: Expr) -> list[Expr] | None:
    """The terms of a short loop, one a pass; None for a long loop and for a variable number of passes."""
    counter, count, body = total.args
    if count.kind != "number":
        return None
    passes = max(0, math.ceil(count.payload))
    if passes * len(graph.topological_order(body, since=counter.serial)) > MOST_UNROLLED:
        return None
    return [graph.substitute([body], {counter: graph.number(number)})[0] for number in range(passes)]


def exact_at_steps(roots: Sequence[Expr]) -> list[Expr]:
    """The expressions with `x*0.1` written as `x*1/10`, wherever a step depends on it.

    A fraction such as 1/10 is no float: rounded, it takes 0.1*30 over the step of a `ceil`. Its numerator and
    denominator are floats, and a quotient that is a whole number is rounded to it.
    """
    order = graph.topological_order(*roots)
    near = set[Expr]()
    for node in reversed(order):
        if node in near or node.kind == "compare" or graph.is_call(node, STEPS):
            near.update(node.args)
        elif node.kind in ("index", "sum"):
            near.update(node.args[1:2] if node.kind == "sum" else node.args[1:])

    def written(node: Expr, args: tuple[Expr, ...]) -> Expr | None:
        return _use_whole_constants(node.kind, args) if node in near and node.kind in ("mul", "div") else None

    return graph.rewrite(roots, written)


def _use_whole_constants(kind: str, args: tuple[Expr, ...]) -> Expr:
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
    """Whether the node is a fraction that is no float, with numerator and denominator that are."""
    value = node.payload
    return (
        node.kind == "number"
        and type(value) is Fraction
        and value.denominator & (value.denominator - 1) != 0
        and max(abs(value.numerator), value.denominator) < 2**53
    )
