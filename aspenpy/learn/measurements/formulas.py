"""Formulas over columns: predictors such as `cycles/runtime` or `ceil(threads/36)`, in the Aspen language."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from aspenpy.engine.python import Prepared
from aspenpy.expr import graph
from aspenpy.expr.evaluate import EvaluationError
from aspenpy.expr.graph import Expr
from aspenpy.language import nodes
from aspenpy.language.diagnostics import fail, suggest_instead
from aspenpy.language.lower import Lowering, constant_value
from aspenpy.language.parser import parse_value
from aspenpy.learn.measurements.columns import read_numbers
from aspenpy.learn.measurements.sheet import Sheet

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def find_columns(text: str, sheet: Sheet) -> list[str]:
    """The columns that a formula, or the name of a column, depends on. Raises AspenError for a name that is none."""
    try:
        return [sheet.heading(text).name]
    except KeyError:
        return [symbol.payload[0] for symbol in sorted_symbols(lower_formula(text, sheet))]


def evaluate_formula(text: str, sheet: Sheet) -> NDArray[np.float64]:
    """The values of a formula, or of a column, row by row, in base units."""
    import numpy as np

    try:
        return read_numbers(sheet, sheet.heading(text).name)
    except KeyError:
        expr = lower_formula(text, sheet)
    symbols = sorted_symbols(expr)
    values = [read_numbers(sheet, symbol.payload[0]) for symbol in symbols]
    prepared = Prepared([expr], symbols)
    found = np.empty(len(sheet.rows))
    for place, row in enumerate(zip(*values, strict=True) if values else [()] * len(sheet.rows)):
        try:
            found[place] = prepared(*map(float, row))[0]
        except EvaluationError as error:
            line = next(iter(sheet.rows[place].values()))
            fail("no-value", f"`{text}` has no value: {error}", line.span, parents=line.parents)
    return found


def lower_formula(text: str, sheet: Sheet) -> Expr:
    def resolve(node: nodes.Name) -> Expr:
        try:
            return graph.symbol(sheet.heading(node.name).name, "column")
        except KeyError:
            known = constant_value(node.name)
        if known is None:
            hint = suggest_instead(node.name, sheet.names, "columns")
            fail("unknown-column", f"there is no column `{node.name}`", node.span, hint=hint)
        return known

    node = parse_value(text, "<predictor>")
    if isinstance(node, nodes.Array):
        fail("bad-predictor", "a predictor is one number a row, not an array", node.span)
    return Lowering(resolve, {})(node)


def sorted_symbols(expr: Expr) -> list[Expr]:
    found: Iterable[Expr] = graph.free_symbols(expr)
    return sorted(found, key=lambda symbol: str(symbol.payload))
