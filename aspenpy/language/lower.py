"""From the syntax tree of an expression to a node of the expression graph, names resolved on the way."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from typing import Any

from aspenpy.expr import graph
from aspenpy.expr.functions import FUNCTIONS
from aspenpy.expr.graph import Expr
from aspenpy.language import nodes
from aspenpy.language.diagnostics import AspenError, Diagnostic, fail, require_known
from aspenpy.language.source import Span
from aspenpy.language.statements import walk_nodes
from aspenpy.language.vocabulary import SI_CONSTANTS
from aspenpy.record import Record

Origins = dict[Expr, Span]  # where a node of the graph was first written in a model: what an evaluation error points at

MORE_CONSTANTS: dict[str, tuple[int, int]] = {
    "pico": (10, -12), "femto": (10, -15), "zetta": (10, 21), "yotta": (10, 24),
    "kibi": (2, 10), "mebi": (2, 20), "gibi": (2, 30), "tebi": (2, 40), "pebi": (2, 50),
}  # fmt: skip
"""Constants that stand behind every other name: a model may define its own."""


def constant_value(name: str) -> Expr | None:
    """The value of an SI or binary constant, exactly."""
    if name in SI_CONSTANTS:
        return graph.power(graph.number(10), graph.number(SI_CONSTANTS[name]))
    if name in MORE_CONSTANTS:
        base, exponent = MORE_CONSTANTS[name]
        return graph.power(graph.number(base), graph.number(exponent))
    return None


def carry_origin(origins: Origins) -> Callable[[Expr, Expr], None]:
    """A callback for `graph.substitute` that gives each rebuilt node the place of the old one."""

    def carry(old: Expr, new: Expr) -> None:
        if old in origins:
            origins.setdefault(new, origins[old])

    return carry


# -- random draws: each is told from the others of its kernel by its place among them, not by its place in the text, so
# that a model draws the same numbers after it was laid out anew, commented, or given another kernel

Draw = nodes.Apply | nodes.Sample


def draw_sites(trees: Mapping[str, Any]) -> dict[int, str]:
    """The site of each draw in some trees that have names, by the identity of its node: `main 0`, `main 1`, ..."""
    sites: dict[int, str] = {}
    for name, tree in trees.items():
        draws = [node for node in walk_nodes(tree) if _is_draw(node)]
        sites |= {id(node): f"{name} {number}" for number, node in enumerate(draws)}
    return sites


def site_in_text(node: Draw) -> str:
    """The site of a draw in a text of its own, such as a setting: its position there."""
    return str(node.span.start if node.span else 0)


def _is_draw(node: Record) -> bool:
    if isinstance(node, nodes.Apply):
        return node.function in FUNCTIONS and FUNCTIONS[node.function].random
    return isinstance(node, nodes.Sample)


# -- expressions ---------------------------------------------------------------------------------


class Lowering(Record):
    """Lowers expressions in one scope.

    `resolve` turns a name into its node. `stream` and `site` tell random draws apart: the kernel call and the loop
    passes around them, and which draw of the model it is.
    """

    resolve: Callable[[nodes.Name], Expr]
    origins: Origins
    stream: tuple[Expr, ...] = ()
    site: Callable[[Draw], str] = site_in_text

    def __call__(self, node: nodes.Expression | nodes.Condition) -> Expr:
        """The node of the graph for an expression or a condition; raises AspenError at what is wrong in it."""
        expr: Expr = _RULES[type(node)](self, node)
        if node.span is not None:
            self.origins.setdefault(expr, node.span)
        return expr

    def lower_all(self, items: tuple[Any, ...]) -> list[Expr]:
        return [self(item) for item in items]

    def draw(self, distribution: str, node: Draw, span: Span | None) -> Expr:
        """A random draw; its site tells it from the other draws of the same pass."""
        _check_function(distribution, len(node.arguments), span, span, random=True)
        site = graph.number(zlib.crc32(f"{distribution}@{self.site(node)}".encode()))
        drawn = graph.draw(distribution, tuple(self.lower_all(node.arguments)), (*self.stream, site))
        if span is not None:
            self.origins.setdefault(drawn, span)
        return drawn


def _lower_chain(lower: Lowering, node: nodes.Chain) -> Expr:
    """Sums gather into one n-ary node; products keep the order of their divisions."""
    first = lower(node.first)
    if node.rest[0][0] in "+-":
        terms = [lower(term) if operator == "+" else graph.neg(lower(term)) for operator, term in node.rest]
        return graph.add(first, *terms)
    result = first
    for operator, factor in node.rest:
        result = graph.mul(result, lower(factor)) if operator == "*" else graph.div(result, lower(factor))
        if operator == "/" and node.span is not None:
            lower.origins.setdefault(result, node.span)
    return result


def _lower_call(lower: Lowering, node: nodes.Apply) -> Expr:
    if node.function in FUNCTIONS and FUNCTIONS[node.function].random:
        return lower.draw(node.function, node, node.span)
    _check_function(node.function, len(node.arguments), node.name_span or node.span, node.span, random=False)
    return graph.apply(node.function, *lower.lower_all(node.arguments))


def _check_function(name: str, count: int, name_span: Span | None, span: Span | None, *, random: bool) -> None:
    """Raises AspenError unless the function is in the table, of the right kind, and takes `count` arguments."""
    kind = "distribution" if random else "function"
    known = [other for other, row in FUNCTIONS.items() if row.random or not random]
    require_known(name, known, f"unknown-{kind}", f"unknown {kind} `{name}`", name_span, listed=f"the {kind}s are")
    if not FUNCTIONS[name].accepts(count):
        fail("wrong-arguments", f"`{name}` takes {FUNCTIONS[name].describe_arity()}, not {count}", span)


def _lower_junction(lower: Lowering, node: nodes.Junction) -> Expr:
    result = lower(node.first)
    for operator, condition in node.rest:
        result = graph.junction(operator, result, lower(condition))
    return result


_RULES: dict[type, Callable[[Lowering, Any], Expr]] = {
    nodes.Number: lambda _, node: graph.number(node.value),
    nodes.Name: lambda lower, node: lower.resolve(node),
    nodes.Negation: lambda lower, node: graph.neg(lower(node.operand)),
    nodes.Chain: _lower_chain,
    nodes.Power: lambda lower, node: graph.power(lower(node.base), lower(node.exponent)),
    nodes.Apply: _lower_call,
    nodes.Index: lambda lower, node: graph.index(lower(node.array), *lower.lower_all(node.indices)),
    nodes.Array: lambda lower, node: graph.array(lower.lower_all(node.elements)),
    nodes.Comparison: lambda lower, node: graph.compare(node.operator, lower(node.left), lower(node.right)),
    nodes.Junction: _lower_junction,
}


def failure_node(code: str, message: str, span: Span | None) -> Expr:
    """A node that is wrong only when its value is needed."""
    return graph.failure(Diagnostic(code, message, span))


def check_value_at(law: str, value: Expr, span: Span | None, origins: Origins) -> Expr:
    """A value held to a law, which says where it is broken."""
    result = graph.checked(law, value)
    if span is not None:
        origins.setdefault(result, span)
    return result


def lower_guarded(lower: Callable[[Any], Expr], node: Any) -> Expr:
    """Lowers, and puts off a mistake until the value is needed: what is never used may be wrong."""
    try:
        return lower(node)
    except AspenError as error:
        return graph.failure(error.diagnostics[0])


def find_place(node: Expr, origins: Mapping[Expr, Span]) -> Span | None:
    """The span of a node in the text. One that a mapping made has the place of what it is made of, the last operand
    first: the divisor of a quotient. Numbers have no place there: equal ones are one node."""
    left, seen = [node], {node}
    for each in left:
        if each in origins and (each is node or each.kind != "number"):
            return origins[each]
        operands = [arg for arg in reversed(each.args) if arg not in seen]
        seen.update(operands)
        left += operands
    return None
