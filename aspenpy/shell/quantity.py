"""Quantities on the command line: `1000J`, `20 MW`, `1.2e9`."""

from __future__ import annotations

from aspenpy.expr import graph
from aspenpy.expr.evaluate import EvaluationError, evaluate
from aspenpy.expr.graph import Expr
from aspenpy.language import nodes
from aspenpy.language.diagnostics import AspenError
from aspenpy.language.dimensions import HERTZ, JOULES, SECONDS, WATTS, Dimension, describe_dimension
from aspenpy.language.infer import dimension_of
from aspenpy.language.lower import Lowering, constant_value
from aspenpy.language.parser import parse_value
from aspenpy.shell.failure import CommandError

EXAMPLES = {JOULES: "1000J", WATTS: "150W", HERTZ: "2.4GHz", SECONDS: "2s"}


def quantity_of(text: str, dimension: Dimension | None, option: str) -> float:
    """The value in base units; positive. A bare number is taken to be in the base unit. Raises CommandError for what
    is no number, or is in units of something else."""
    try:
        node = parse_value(text.strip(), f"<{option}>")
        found = None if isinstance(node, nodes.Array) else dimension_of(node, lambda name: None)
        value = float(evaluate(Lowering(constant_or_failure, {})(node)))
    except (AspenError, EvaluationError, TypeError, OverflowError):
        such_as = EXAMPLES.get(dimension, "1000J or 20MW") if dimension is not None else "1000J or 20MW"
        raise CommandError(f"{option}: expected a quantity, such as {such_as}, not `{text}`") from None
    if dimension is not None and found is not None and found != dimension:
        raise CommandError(
            f"{option}: expected {describe_dimension(dimension)}, not {describe_dimension(found)}: `{text}`"
        )
    if value <= 0:
        raise CommandError(f"{option}: expected more than nothing, not `{text}`")
    return value


def constant_or_failure(node: nodes.Name) -> Expr:
    """What a name stands for where no model is: a constant of the language."""
    return constant_value(node.name) or graph.failure(node.name)
