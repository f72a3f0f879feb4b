"""The units of what a model declares, as far as it tells them."""

from __future__ import annotations

from collections.abc import Mapping

from aspenpy.language import nodes
from aspenpy.language.diagnostics import AspenError
from aspenpy.language.dimensions import Dimension, unit_symbol
from aspenpy.language.infer import dimension_of
from aspenpy.models.application.model import Application
from aspenpy.models.machine.model import Machine


class Units:
    """The base units of expressions, given what the names in them stand for."""

    def __init__(self, named: Mapping[str, nodes.Expression]) -> None:
        self.named = named
        self._known: dict[str, Dimension | None] = {}

    def of(self, node: nodes.Expression) -> str:
        """`B/s`, `Hz`; empty for a plain number, and where the model does not say."""
        dimension = self.dimension(node)
        return "" if dimension is None else unit_symbol(dimension)

    def dimension(self, node: nodes.Expression) -> Dimension | None:
        """None for an array, and where the model does not say."""
        return None if isinstance(node, nodes.Array) else self._infer_dimension(node)

    def _infer_dimension(self, node: nodes.Expression) -> Dimension | None:
        """A contradiction is for `check` to report; here it is a unit that nobody knows."""
        try:
            return dimension_of(node, self._of_name)
        except AspenError:
            return None

    def _of_name(self, name: str) -> Dimension | None:
        if name not in self._known:
            self._known[name] = None
            self._known[name] = self._infer_dimension(self.named[name]) if name in self.named else None
        return self._known[name]


def unit_of_parameter(name: str, *models: Application | Machine) -> str:
    """The base unit that the first model which declares the parameter gives it; empty for a plain number."""
    for model in models:
        if name in model.declared:
            return Units({known: node.value for known, node in model.declared.items()}).of(model.declared[name].value)
    return ""
