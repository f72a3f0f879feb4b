"""Derivatives of expressions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from types import MappingProxyType
from typing import Any

from aspenpy.expr import graph
from aspenpy.expr.definitions import write_definitions
from aspenpy.expr.functions import FUNCTIONS
from aspenpy.expr.node import Expr


def differentiate(expr: Expr, symbol: Expr, known: Mapping[Expr, Any] = MappingProxyType({})) -> Expr:
    """d expr / d symbol, almost everywhere: `ceil`, `floor` and `round` are flat, `max`, `min` and `if` have the
    slope of what they choose, a sum has the sum of its terms' slopes, its number of terms held fixed.

    A random draw moves with its arguments, its random bits held fixed. A checked value keeps its law. Where the values
    of nodes are `known`, the slope is that at these values: what they do not choose is not looked at.
    """
    (expr,) = write_definitions([expr], symbol)
    slopes: dict[Expr, Expr] = {}
    bent: set[Expr] = set()
    for node in _deciding_nodes(expr, symbol.serial, known):
        if node is symbol:
            slopes[node] = graph.ONE
        elif not slopes.keys().isdisjoint(node.args):
            rule = _RULES.get(node.kind)
            if node.kind == "if_else" or node.payload in ("max", "min") or not bent.isdisjoint(node.args):
                bent.add(node)
            if rule is not None:
                slope = rule(node, [slopes.get(arg, graph.ZERO) for arg in node.args])
                if node.args and node.args[0] in bent and (_is_root(node) or node.payload == "sqrt"):
                    slope = _settle_standing_argument(slopes.get(node.args[0], graph.ZERO), slope)
                if slope is not graph.ZERO:
                    slopes[node] = slope
    return slopes.get(expr, graph.ZERO)


def _deciding_nodes(expr: Expr, since: int, known: Mapping[Expr, Any]) -> list[Expr]:
    """The nodes not older than `since` on which the value depends, each after its arguments."""
    seen = {expr}
    waiting = [expr]
    while waiting:
        for arg in _deciding_args(waiting.pop(), known):
            if arg not in seen and arg.serial >= since:
                seen.add(arg)
                waiting.append(arg)
    return sorted(seen, key=attrgetter("serial"))


def _deciding_args(node: Expr, known: Mapping[Expr, Any]) -> Sequence[Expr]:
    """The arguments that known values leave: the branch that is taken, and of `max` and `min` those that are it."""
    if node.kind == "if_else":
        taken = known.get(node.args[0])
        return node.args if taken is None else node.args[1:2] if taken else node.args[2:]
    if node.payload in ("max", "min") and node in known:
        return [arg for arg in node.args if known.get(arg, known[node]) == known[node]]
    return node.args


def _differentiate_product(node: Expr, slopes: list[Expr]) -> Expr:
    factors = node.args
    terms = [
        graph.mul(*factors[:position], slope, *factors[position + 1 :])
        for position, slope in enumerate(slopes)
        if slope is not graph.ZERO
    ]
    return graph.add(*terms)


def _differentiate_quotient(node: Expr, slopes: list[Expr]) -> Expr:
    top, bottom = node.args
    direct = graph.div(slopes[0], bottom) if slopes[0] is not graph.ZERO else graph.ZERO
    if slopes[1] is graph.ZERO:
        return direct
    return graph.sub(direct, graph.div(graph.mul(top, slopes[1]), graph.power(bottom, 2)))


def _differentiate_power(node: Expr, slopes: list[Expr]) -> Expr:
    base, exponent = node.args
    total = graph.ZERO
    if slopes[0] is not graph.ZERO:
        total = graph.mul(exponent, graph.power(base, graph.sub(exponent, 1)), slopes[0])
    if slopes[1] is not graph.ZERO:
        total = graph.add(total, graph.mul(node, graph.apply("log", base), slopes[1]))
    return total


def _differentiate_call(node: Expr, slopes: list[Expr]) -> Expr:
    rule = FUNCTIONS[node.payload].derivative
    assert rule is not None, node.payload
    total = graph.ZERO
    for partial, slope in zip(rule(graph, *node.args), slopes, strict=True):
        if slope is graph.ZERO:
            continue
        if node.payload == "lookup" and slope is slopes[0]:  # linear in the values
            total = graph.add(total, graph.apply("lookup", slope, *node.args[1:]))
            continue
        if partial is None:
            raise ValueError(f"{node.payload} has no derivative by the sizes of the points it goes through")
        total = graph.add(total, graph.mul(partial, slope))
    return total


def _is_root(node: Expr) -> bool:
    """Whether the node is a power with a constant fractional exponent, whose slope may be infinite at 0."""
    return node.kind == "power" and node.args[1].kind == "number" and type(node.args[1].payload) is not int


def _settle_standing_argument(inner: Expr, slope: Expr) -> Expr:
    """0 where the argument does not move, even at an infinite slope of a root: sqrt(max(0, x)) for a negative x."""
    return graph.if_else(graph.compare("==", inner, graph.ZERO), graph.ZERO, slope)


def _differentiate_draw(node: Expr, slopes: list[Expr]) -> Expr:
    """uniform is low + (high - low) * u, normal is mean + deviation * z, with u and z drawn from the same stream."""
    if node.payload == "cdf":
        return graph.ZERO
    stream, first, second = node.args[0], slopes[1], slopes[2]
    luck = graph.draw(node.payload, (0, 1), stream)
    return graph.add(first, graph.mul(graph.sub(second, first) if node.payload == "uniform" else second, luck))


def _differentiate_array(node: Expr, slopes: list[Expr]) -> Expr:
    return graph.array(slopes)


def _differentiate_element(node: Expr, slopes: list[Expr]) -> Expr:
    if slopes[0] is graph.ZERO:
        return graph.ZERO
    if slopes[0].kind != "array":
        raise ValueError("an array as a whole has no derivative: take that of its elements")
    return graph.index(slopes[0], *node.args[1:])


_RULES: dict[str, Callable[[Expr, list[Expr]], Expr]] = {
    "add": lambda node, slopes: graph.add(*slopes),
    "neg": lambda node, slopes: graph.neg(slopes[0]),
    "mul": _differentiate_product,
    "div": _differentiate_quotient,
    "power": _differentiate_power,
    "apply": _differentiate_call,
    "array": _differentiate_array,
    "index": _differentiate_element,
    "if_else": lambda node, slopes: graph.if_else(node.args[0], slopes[1], slopes[2]),
    "sum": lambda node, slopes: graph.summation(node.args[0], node.args[1], slopes[2]),
    "checked": lambda node, slopes: graph.checked(node.payload, slopes[0], node.args[1]),
    "draw": _differentiate_draw,
}
"""The rule of each kind whose value depends on those of its arguments."""
