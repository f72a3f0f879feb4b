"""Constraint: what a solution has to keep to, in the language's own words: `energy <= 1000 J`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from aspenpy.answers.metrics import find_metric, has_metric, metric_names
from aspenpy.answers.prediction import Prediction
from aspenpy.expr.graph import Expr
from aspenpy.language import nodes
from aspenpy.language.diagnostics import AspenError, fail, suggest_nearest
from aspenpy.language.dimensions import Dimension, parse_unit, unit_symbol
from aspenpy.language.infer import dimension_of
from aspenpy.language.lower import Lowering, constant_value
from aspenpy.language.parser import parse_condition, parse_value
from aspenpy.language.source import Source, Span, split_at_commas
from aspenpy.record import Record
from aspenpy.sweeps.declarations import parameter_dimension

OPERATORS = ("<=", ">=", "==")


class Constraint(Record):
    """A comparison of two quantities. `slack` widens it: the side that is to be the smaller may exceed the other by
    that much."""

    text: str
    node: nodes.Comparison
    slack: float = 0.0

    @property
    def equal(self) -> bool:
        return self.node.operator == "=="

    def sides(self, prediction: Prediction) -> tuple[Expr, Expr]:
        """The left and the right side, in the symbols of the models."""
        return read_quantity(self.node.left, prediction), read_quantity(self.node.right, prediction)

    def excess(self, left: Any, right: Any) -> Any:
        """An amount that is at most 0 where the constraint holds (exactly 0 for `==`), of the values or expressions
        of its sides."""
        small, large = (right, left) if self.node.operator == ">=" else (left, right)
        return small - large - self.slack if self.slack else small - large


class Parsed(NamedTuple):
    """A text with the syntax tree of the quantity that it is."""

    text: str
    node: nodes.Expression


def read_constraints(texts: Sequence[str]) -> list[Constraint]:
    """The constraints of several texts, in each of which commas and `and` join them. Raises AspenError."""
    return [found for text in texts for part in split_constraints(text) for found in _parse_joined(part)]


def split_constraints(text: str) -> list[str]:
    """Splits constraints at the commas that stand in no brackets."""
    return [part.text() for part in split_at_commas(Span(Source(text), 0, len(text)))] or [""]


def _parse_joined(text: str) -> list[Constraint]:
    node = parse_condition(text, "<subject-to>")
    comparisons = [node]
    if isinstance(node, nodes.Junction):
        comparisons = [node.first, *(item for _, item in node.rest)]
        if any(word == "or" for word, _ in node.rest):
            fail("bad-constraint", "constraints hold together: `or` is not allowed", node.span)
    for item in comparisons:
        if isinstance(item, nodes.Junction):
            fail("bad-constraint", "a constraint is one comparison; join several by commas", item.span)
        if item.operator not in OPERATORS:
            hint = f"write `{item.operator}=`" if item.operator in "<>" else "write `==`, `<=` or `>=`"
            fail("bad-constraint", f"a constraint cannot say `{item.operator}`", item.span, hint=hint)
    plain = [item for item in comparisons if isinstance(item, nodes.Comparison)]
    if len(plain) == 1:
        return [Constraint(text, plain[0])]
    return [Constraint(str(item) if item.span is None else item.span.text().strip(), item) for item in plain]


def read_objective(text: str) -> Parsed:
    """The quantity that is to be least or greatest: a metric, a parameter, or an expression of such."""
    node = parse_value(text, "<objective>")
    if isinstance(node, nodes.Array):
        fail("bad-objective", "an array cannot be least: name a quantity", node.span)
    return Parsed(text.strip(), node)


# -- names -----------------------------------------------------------------------------------------


def read_quantity(node: nodes.Expression, prediction: Prediction) -> Expr:
    """An expression of metrics, parameters and constants, lowered. Raises AspenError at an unknown name, and where
    units contradict each other."""
    dimension_of(node, lambda name: _dimension_of_name(name, prediction))  # for its error alone
    return Lowering(lambda item: _resolve_name(item, prediction), {})(node)


def refuse_contradiction(constraint: Constraint, prediction: Prediction) -> None:
    """Raises AspenError where the sides are in different units."""
    dimension_of(constraint.node, lambda name: _dimension_of_name(name, prediction))  # for its error alone


def _resolve_name(node: nodes.Name, prediction: Prediction) -> Expr:
    parameter = _symbol_of_parameter(node.name, prediction)
    if has_metric(prediction, node.name):
        if parameter is not None:
            message = f"`{node.name}` is a metric and a parameter"
            fail("ambiguous-name", message, node.span, hint="give the parameter another name in its model")
        return find_metric(node.name).expr(prediction)
    expr = parameter or constant_value(node.name)
    if expr is None:
        metrics = metric_names(prediction)
        hint = suggest_nearest(node.name, [*metrics, *prediction.scope.names()]) or "the metrics are " + ", ".join(
            metrics
        )
        fail("unknown-name", f"neither a metric nor a parameter is called `{node.name}`", node.span, hint=hint)
    return expr


def _symbol_of_parameter(name: str, prediction: Prediction) -> Expr | None:
    try:
        return prediction.scope.symbol(name)
    except AspenError as error:
        if error.diagnostics[0].code == "unknown-parameter":
            return None
        raise


def unit_of_quantity(node: nodes.Expression, prediction: Prediction) -> str:
    """The base unit, where it is known; empty for a plain number."""

    dimension = dimension_of(node, lambda name: _dimension_of_name(name, prediction))
    return "" if dimension is None else unit_symbol(dimension)


def _dimension_of_name(name: str, prediction: Prediction) -> Dimension | None:
    if not has_metric(prediction, name):
        return None if _symbol_of_parameter(name, prediction) is None else parameter_dimension(name, prediction)
    unit = find_metric(name).unit
    try:
        return parse_unit(unit).dimension if unit else None
    except KeyError:  # such as J*s, which no literal is in
        return None
