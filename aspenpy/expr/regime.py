"""The regime around some values: an expression with its decisions taken, as a polynomial where it is one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from aspenpy.expr import graph
from aspenpy.expr.arithmetic import Number
from aspenpy.expr.evaluate import ExactEvaluation
from aspenpy.expr.functions import FUNCTIONS
from aspenpy.expr.graph import Expr
from aspenpy.expr.node import topological_order
from aspenpy.expr.polynomial import (
    ARITHMETIC,
    Exact,
    Monomial,
    Polynomial,
    Term,
    as_term,
    atom_polynomial,
    combine_parts,
    constant_polynomial,
    multiply_polynomials,
)

STAIRCASES = frozenset(name for name, function in FUNCTIONS.items() if function.piecewise_constant)
"""Factors of ranks, and functions of a cache's sets that stay as they are until their arguments have moved far: their
values replace them."""

LARGEST_DENOMINATOR = 10_000

MOST_TERMS = 500  # a product with more terms is not multiplied out

HIGHEST_POWER = 8


def simplify_around(expr: Expr, values: Mapping[Expr, Number], seed: int = 0) -> Expr:
    """The expression around some values of its symbols: each `if`, `max` and `min` is what it chooses there, what is
    rounded there to itself is not rounded, shares of a cache's sets are constants. Equal to the expression at the
    values; terms are gathered, the highest powers first. Raises `EvaluationError` where there is no value."""
    run = ExactEvaluation(values, seed)
    run.compute([expr])
    forms: dict[Expr, Exact] = {}
    for node in topological_order(expr):
        if node in run.known:
            forms[node] = _form_of_node(node, forms, run.known)
    return _write_form(forms[expr])


def _form_of_node(node: Expr, forms: Mapping[Expr, Exact], known: Mapping[Expr, Any]) -> Exact:
    name = node.payload if node.kind == "apply" else node.kind
    if name in ARITHMETIC:
        form = combine_parts(name, [forms[arg] for arg in node.args], MOST_TERMS)
    else:
        form = _RULES[name](node, forms, known) if name in _RULES else None
    return _make_atom(node, forms, known) if form is None else form


def _write_form(form: Exact) -> Expr:
    """An expression of a polynomial, its highest powers first."""
    ordered = sorted(form.terms.items(), key=lambda term: (-sum(power for _, power in term[0]), len(term[0])))
    return graph.add(*(_write_term(coefficient, powers) for powers, coefficient in ordered))


def _write_term(coefficient: Fraction, powers: Monomial) -> Expr:
    """A coefficient that a reader cannot take in as a quotient is written with a decimal point."""
    if coefficient.denominator <= LARGEST_DENOMINATOR:
        return Term(coefficient, powers).expression()
    return graph.mul(graph.number(float(coefficient)), Term(Fraction(1), powers).expression())


# -- rules -----------------------------------------------------------------------------------------

Rule = Callable[[Expr, Mapping[Expr, Exact], Mapping[Expr, Any]], "Exact | None"]


def _make_atom(node: Expr, forms: Mapping[Expr, Exact], known: Mapping[Expr, Any]) -> Exact:
    """A node as an atom, its arguments written anew where they are numbers; a constant where nothing in it is free."""
    if not graph.free_symbols(node):
        return constant_polynomial(known[node]) if not isinstance(known[node], tuple) else atom_polynomial(node)
    if node.kind not in ("apply", "mul", "power", "div") or any(arg not in forms for arg in node.args):
        return atom_polynomial(node)
    rebuilt = as_term(graph.rebuild(node, tuple(_write_form(forms[arg]) for arg in node.args)))
    return Polynomial({rebuilt.powers: rebuilt.coefficient})


def _raise_form(node: Expr, forms: Mapping[Expr, Exact], known: Mapping[Expr, Any]) -> Exact | None:
    base, times = forms[node.args[0]], graph.whole_number(node.args[1])
    if times is None or not 0 <= times <= HIGHEST_POWER:
        return None
    return multiply_polynomials([constant_polynomial(1), *[base] * times], MOST_TERMS)


def _choose_branch(node: Expr, forms: Mapping[Expr, Exact], known: Mapping[Expr, Any]) -> Exact:
    condition, then, otherwise = node.args
    return forms[then if known[condition] else otherwise]


def _choose_argument(node: Expr, forms: Mapping[Expr, Exact], known: Mapping[Expr, Any]) -> Exact:
    """The argument that equals the value, the shortest if several do; the value itself if none does."""
    equal = [forms[arg] for arg in node.args if known[arg] == known[node]]
    return min(equal, key=len) if equal else constant_polynomial(known[node])


def _round_argument(node: Expr, forms: Mapping[Expr, Exact], known: Mapping[Expr, Any]) -> Exact | None:
    (arg,) = node.args
    return forms[arg] if known[arg] == known[node] else None


_RULES: dict[str, Rule] = {
    "number": lambda node, forms, known: constant_polynomial(node.payload),
    "power": _raise_form,
    "if_else": _choose_branch,
    "checked": lambda node, forms, known: forms[node.args[0]],
    "abs": lambda node, forms, known: forms[node.args[0]] if known[node.args[0]] >= 0 else -forms[node.args[0]],
    **dict.fromkeys(("max", "min", "gcd"), _choose_argument),
    **dict.fromkeys(("ceil", "floor", "round"), _round_argument),
    **dict.fromkeys(STAIRCASES, lambda node, forms, known: constant_polynomial(known[node])),
}
"""Rules by kind of node, and by name of a function."""
