"""Expansion: an expression multiplied out into a polynomial, and written from one."""

from __future__ import annotations

from functools import lru_cache

from aspenpy.expr import graph
from aspenpy.expr.node import Expr, topological_order
from aspenpy.expr.polynomial import (
    ARITHMETIC,
    Exact,
    Term,
    atom_polynomial,
    combine_parts,
    constant_polynomial,
    multiply_polynomials,
)

MOST_TERMS = 500
"""A product with more terms is not multiplied out."""

HIGHEST_POWER = 8


@lru_cache(maxsize=4096)
def multiply_out(expr: Expr) -> Exact:
    """An expression multiplied out; what is no sum, product or quotient is an atom."""
    forms: dict[Expr, Exact] = {}
    for node in topological_order(expr):
        form: Exact | None = None
        if graph.is_exact(node):
            form = constant_polynomial(node.payload)
        elif node.kind == "checked":
            form = forms[node.args[0]]
        elif node.kind in ARITHMETIC:
            form = combine_parts(node.kind, [forms[arg] for arg in node.args], MOST_TERMS)
        elif node.kind == "power" and (times := graph.whole_number(node.args[1]) or 0) in range(1, HIGHEST_POWER + 1):
            form = multiply_polynomials([forms[node.args[0]]] * times, MOST_TERMS)
        forms[node] = atom_polynomial(node) if form is None else form
    return forms[expr]


def write_form(form: Exact) -> Expr:
    return graph.add(*(Term(factor, monomial).expression() for monomial, factor in form.terms.items()))


def gather_terms(expr: Expr) -> Expr:
    """The same with equal terms gathered."""
    return write_form(multiply_out(expr))
