"""Numbers: the formulas of a page on one machine, each once, and what each is called by where it is used."""

from __future__ import annotations

from collections.abc import Sequence

from aspenpy.answers.prediction import Prediction
from aspenpy.engine.javascript_text import NotInJavaScript, to_javascript
from aspenpy.expr.graph import Expr
from aspenpy.expr.printer import excerpt
from aspenpy.language.diagnostics import fail
from aspenpy.page.inputs import Input


class Numbers:
    """Expressions in the symbols of the models, by their places in the array that the compiled function returns."""

    def __init__(self, prediction: Prediction, inputs: Sequence[Input]) -> None:
        self.prediction = prediction
        self.names = [item.name for item in inputs]
        self.symbols = [item.symbol for item in inputs]
        self._places: dict[Expr, int] = {}

    def add(self, expr: Expr) -> int:
        """The place of the value of an expression."""
        return self._places.setdefault(expr, len(self._places))

    @property
    def exprs(self) -> list[Expr]:
        return list(self._places)

    def formulas(self) -> list[Expr]:
        """The expressions in the inputs alone."""
        return self.prediction.scope.formulas(self.exprs, self.names)

    def function(self, name: str, exprs: Sequence[Expr] | None = None) -> str:
        """The JavaScript of all expressions, or of some. Raises AspenError for what has no form there."""
        formulas = self.formulas() if exprs is None else self.prediction.scope.formulas(exprs, self.names)
        try:
            return to_javascript(formulas, self.symbols, name, self.prediction.seed)
        except NotInJavaScript as error:
            hint = "leave out of --free what it depends on"
            fail("not-compiled", f"the formulas of {self.prediction.where} cannot run in a page: {error}", hint=hint)

    def written(self, expr: Expr, length: int) -> str:
        """The formula in the inputs, cut to so many characters."""
        return excerpt(self.prediction.scope.formulas([expr], self.names)[0], length)
