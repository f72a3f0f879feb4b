"""The regime that some values lie in: an expression without its decisions, as a polynomial where it is one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from aspenpy.expr import graph
from aspenpy.expr.arithmetic import Number
from aspenpy.expr.evaluate import Evaluation
from aspenpy.expr.graph import Expr
from aspenpy.expr.monomial import Monomial, as_expression, monomial
from aspenpy.expr.node import topological

Powers = tuple[tuple[Expr, int], ...]
Polynomial = dict[Powers, Fraction]

STAIRCASES = ("sets_touched", "lines_with_room")
"""Functions that are what they are until their arguments have moved far: their values stand for them."""

LARGEST_DENOMINATOR = 10_000

MOST_TERMS = 500
"""A product with more terms stays one."""


def regime(expr: Expr, values: Mapping[Expr, Number], seed: int = 0) -> Expr:
    """What the expression is around some values of its symbols: each `if`, `max` and `min` is what it chooses there,
    what is rounded there to itself is not rounded, shares of a cache's sets are as they are. Equal to the expression
    at the values; terms are gathered, the highest powers first. Raises `EvaluationError` where there is no value."""
    run = Evaluation(values, seed)
    run.compute([expr])
    found: dict[Expr, Polynomial] = {}
    for node in topological(expr):
        if node in run.known:
            found[node] = _rule(node, found, run.known)
    return _written(found[expr])


def _rule(node: Expr, found: Mapping[Expr, Polynomial], known: Mapping[Expr, Any]) -> Polynomial:
    if node.kind == "apply":
        rule = _FUNCTIONS.get(node.payload, _atom)
        return _constant(known[node]) if node.payload in STAIRCASES else rule(node, found, known)
    return _KINDS.get(node.kind, _atom)(node, found, known)


# -- polynomials -----------------------------------------------------------------------------------


def _constant(value: Any) -> Polynomial:
    return {(): Fraction(value)} if value else {}


def _single(base: Expr) -> Polynomial:
    return {((base, 1),): Fraction(1)}


def _sum(parts: list[Polynomial]) -> Polynomial:
    total: Polynomial = {}
    for part in parts:
        for powers, coefficient in part.items():
            total[powers] = total.get(powers, Fraction(0)) + coefficient
    return {powers: coefficient for powers, coefficient in total.items() if coefficient}


def _product(first: Polynomial, second: Polynomial) -> Polynomial:
    if len(first) * len(second) > MOST_TERMS:
        return _single(graph.mul(_written(first), _written(second)))
    return _sum([
        {_multiplied(left, right): left_coefficient * right_coefficient}
        for left, left_coefficient in first.items()
        for right, right_coefficient in second.items()
    ])  # fmt: skip


def _multiplied(first: Powers, second: Powers, sign: int = 1) -> Powers:
    exponents = dict(first)
    for base, exponent in second:
        exponents[base] = exponents.get(base, 0) + sign * exponent
    return tuple(sorted(((base, power) for base, power in exponents.items() if power), key=lambda pair: pair[0].serial))


def _written(terms: Polynomial) -> Expr:
    """The highest powers first."""
    ordered = sorted(terms.items(), key=lambda term: (-sum(power for _, power in term[0]), len(term[0])))
    return graph.add(*(_term(coefficient, powers) for powers, coefficient in ordered))


def _term(coefficient: Fraction, powers: Powers) -> Expr:
    """A coefficient that a reader cannot take in as a quotient is written with a decimal point."""
    if coefficient.denominator <= LARGEST_DENOMINATOR:
        return as_expression(Monomial(coefficient, powers))
    return graph.mul(graph.number(float(coefficient)), as_expression(Monomial(Fraction(1), powers)))


# -- rules -----------------------------------------------------------------------------------------

Rule = Callable[[Expr, Mapping[Expr, Polynomial], Mapping[Expr, Any]], Polynomial]


def _atom(node: Expr, found: Mapping[Expr, Polynomial], known: Mapping[Expr, Any]) -> Polynomial:
    """A node with its arguments written anew, where they are numbers; a constant where nothing in it is free."""
    if not graph.free_symbols(node):
        return _constant(known[node]) if not isinstance(known[node], tuple) else _single(node)
    if node.kind not in ("apply", "power", "div") or any(arg not in found for arg in node.args):
        return _single(node)
    rebuilt = graph.rebuilt(node, tuple(_written(found[arg]) for arg in node.args))
    return {monomial(rebuilt).powers: monomial(rebuilt).coefficient}


def _number(node: Expr, found: Mapping[Expr, Polynomial], known: Mapping[Expr, Any]) -> Polynomial:
    return _constant(node.payload)


def _add(node: Expr, found: Mapping[Expr, Polynomial], known: Mapping[Expr, Any]) -> Polynomial:
    return _sum([found[arg] for arg in node.args])


def _mul(node: Expr, found: Mapping[Expr, Polynomial], known: Mapping[Expr, Any]) -> Polynomial:
    total = _constant(1)
    for arg in node.args:
        total = _product(total, found[arg])
    return total


def _neg(node: Expr, found: Mapping[Expr, Polynomial], known: Mapping[Expr, Any]) -> Polynomial:
    return {powers: -coefficient for powers, coefficient in found[node.args[0]].items()}


def _div(node: Expr, found: Mapping[Expr, Polynomial], known: Mapping[Expr, Any]) -> Polynomial:
    over, under = (found[arg] for arg in node.args)
    if len(under) != 1:
        return _atom(node, found, known)
    ((powers, coefficient),) = under.items()
    return {_multiplied(above, powers, -1): worth / coefficient for above, worth in over.items()}


def _power(node: Expr, found: Mapping[Expr, Polynomial], known: Mapping[Expr, Any]) -> Polynomial:
    exponent = known[node.args[1]]
    if node.args[1].kind != "number" or type(exponent) is not int or not 0 <= exponent <= 8:
        return _atom(node, found, known)
    total = _constant(1)
    for _ in range(exponent):
        total = _product(total, found[node.args[0]])
    return total


def _if_else(node: Expr, found: Mapping[Expr, Polynomial], known: Mapping[Expr, Any]) -> Polynomial:
    condition, then, otherwise = node.args
    return found[then if known[condition] else otherwise]


def _checked(node: Expr, found: Mapping[Expr, Polynomial], known: Mapping[Expr, Any]) -> Polynomial:
    return found[node.args[0]]


def _chosen(node: Expr, found: Mapping[Expr, Polynomial], known: Mapping[Expr, Any]) -> Polynomial:
    """The argument that is the value, the shortest of equals; the value itself where none is."""
    equal = [found[arg] for arg in node.args if known[arg] == known[node]]
    return min(equal, key=len) if equal else _constant(known[node])


def _rounded(node: Expr, found: Mapping[Expr, Polynomial], known: Mapping[Expr, Any]) -> Polynomial:
    whole = known[node.args[0]] == known[node]
    return found[node.args[0]] if whole else _atom(node, found, known)


def _absolute(node: Expr, found: Mapping[Expr, Polynomial], known: Mapping[Expr, Any]) -> Polynomial:
    inner = found[node.args[0]]
    return inner if known[node.args[0]] >= 0 else {powers: -coefficient for powers, coefficient in inner.items()}


_KINDS: dict[str, Rule] = {
    "number": _number,
    "add": _add,
    "mul": _mul,
    "neg": _neg,
    "div": _div,
    "power": _power,
    "if_else": _if_else,
    "checked": _checked,
}
_FUNCTIONS: dict[str, Rule] = {
    **dict.fromkeys(("max", "min", "gcd"), _chosen),
    **dict.fromkeys(("ceil", "floor", "round"), _rounded),
    "abs": _absolute,
}
