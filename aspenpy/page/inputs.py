"""Input: a parameter that the reader of a page can change: its value, range and unit, and where it is declared."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any

from aspenpy.answers.prediction import Prediction
from aspenpy.answers.scope import as_float
from aspenpy.engine.javascript_text import NotInJavaScript, to_javascript
from aspenpy.explore.problem_size import sizes_per_rank
from aspenpy.expr.graph import Expr, free_symbols
from aspenpy.expr.printer import shorten_text
from aspenpy.language import nodes
from aspenpy.language.diagnostics import AspenError, fail
from aspenpy.language.dimensions import parse_unit
from aspenpy.language.dimensions import unit_symbol as symbol_of_unit
from aspenpy.language.source import Span
from aspenpy.models.machine.model import OWNER
from aspenpy.models.machine.properties import PROPERTY_DIMENSIONS
from aspenpy.models.model import range_of_symbol
from aspenpy.record import Record

MOST_INPUTS = 40  # of one model that are free without being asked for
WIDE = 100  # a slider over a range whose ends are so many times apart goes in equal ratios
REACH = 100  # how many times less and more than its value a parameter without a declared range goes


class SourceLine(Record):
    """A place in a source: file with line, and the line itself."""

    where: str
    line: str


class SliderInput(Record):
    """A parameter of the application (`machine` is None), or of the machine at that position. `symbol` is its own in
    every model. The slider goes from `low` to `high`, in equal ratios if `log`, over whole numbers if `whole`; one of
    `choices`, the members of an enum, is chosen from a list. A size `per_rank` is that of one rank's problem."""

    name: str
    symbol: Expr
    machine: int | None
    value: float
    low: float
    high: float
    log: bool
    whole: bool
    unit: str
    place: SourceLine | None
    choices: tuple[str, ...] = ()
    per_rank: bool = False


def place_of(span: Span | None) -> SourceLine | None:
    """The place with the whole line, without what is indented; None for what was made in Python. Of a file of the user
    only its name is told: a page is sent to others."""
    if span is None:
        return None
    source, start, _ = span.resolve()
    line = source.text[source.text.rfind("\n", 0, start) + 1 :].partition("\n")[0]
    name = source.in_library or os.path.basename(source.name)
    return SourceLine(f"{name}:{span.position().line}", " ".join(line.split()))


def inputs_of(predictions: Sequence[Prediction], names: Sequence[str] = ()) -> list[SliderInput]:
    """The inputs of those names, or without any the parameters that the runtime depends on and that are plain numbers.
    Raises AspenError for a name that no model has, and for what is no number."""
    inputs: dict[tuple[Expr, int | None], SliderInput] = {}
    for number, prediction in enumerate(predictions):
        symbols = _find_symbols(predictions, prediction, names) if names else _constants(prediction)
        for symbol in symbols:
            machine = number if symbol.owner == OWNER else None
            if (symbol, machine) not in inputs:
                inputs[symbol, machine] = _input(prediction, symbol, machine)
    return sorted(inputs.values(), key=lambda item: -1 if item.machine is None else item.machine)


def _find_symbols(predictions: Sequence[Prediction], prediction: Prediction, names: Sequence[str]) -> Iterator[Expr]:
    """The symbols of the names that this prediction has; one of them all must have each."""
    for name in dict.fromkeys(names):
        try:
            yield prediction.scope.symbol(name)
        except AspenError:
            if not any(_has(other, name) for other in predictions):
                raise


def _has(prediction: Prediction, name: str) -> bool:
    try:
        prediction.scope.symbol(name)
    except AspenError:
        return False
    return True


def _constants(prediction: Prediction) -> list[Expr]:
    """Numbers that nothing else decides, the first of each model."""
    scope = prediction.scope
    used = [item for item in scope.used_parameters([prediction.tree.runtime]) if _is_number(scope.definitions[item])]
    own = [symbol for symbol in used if symbol.owner != OWNER]
    return own[:MOST_INPUTS] + [symbol for symbol in used if symbol.owner == OWNER][:MOST_INPUTS]


def _is_number(expr: Expr) -> bool:
    return expr.kind not in ("array", "draw", "boolean") and not free_symbols(expr)


def _input(prediction: Prediction, symbol: Expr, machine: int | None) -> SliderInput:
    scope, name = prediction.scope, prediction.scope.display_name(symbol)
    node = _node(prediction, symbol)
    span = None if node is None else node.span
    (exact,) = scope.values([symbol], prediction.seed)
    value = as_float(exact, f"`{name}`", span)
    whole = isinstance(exact, int) or value.is_integer()
    choices = _choices(prediction, symbol)
    low, high, logarithmic = (0.0, len(choices) - 1.0, False) if choices else _ends_of(prediction, symbol, value, whole)
    return SliderInput(
        name,
        symbol,
        machine,
        value=value,
        low=low,
        high=high,
        log=logarithmic,
        whole=whole,
        unit=_unit(prediction, symbol),
        place=place_of(span),
        choices=choices,
        per_rank=machine is None and name in sizes_per_rank(prediction.application),
    )


def _choices(prediction: Prediction, symbol: Expr) -> tuple[str, ...]:
    """The members of the enum that a parameter is declared in, whose values are 0, 1, 2, ..."""
    node = _node(prediction, symbol)
    member_of = node.member_of if isinstance(node, nodes.Parameter) else None
    model = prediction.machine if symbol.owner == OWNER else prediction.application
    return () if member_of is None else model.enums[member_of].members


def _node(prediction: Prediction, symbol: Expr) -> nodes.Parameter | nodes.Property | None:
    """The declaration; None for an argument of a kernel."""
    if symbol.owner == OWNER:
        return prediction.machine.declaration(symbol.name)
    return next((item.node for item in prediction.application.parameters.values() if item.symbol is symbol), None)


def _ends_of(prediction: Prediction, symbol: Expr, value: float, whole: bool) -> tuple[float, float, bool]:
    """The declared range, widened to the value; without one, `REACH` to both sides of the value."""
    parameters = [*prediction.application.parameters.values(), *prediction.machine.parameters]
    ends = range_of_symbol(symbol, parameters)
    if ends is not None:
        low, high = (as_float(end, "the end of a range", None) for end in prediction.scope.values(ends))
        if low < high:
            low, high = min(low, value), max(high, value)
            return low, high, high >= WIDE * low > 0
    if value == 0:
        return 0.0, 10.0, False
    if value < 0:
        return 2 * value, 0.0, False
    low, high = value / REACH, value * REACH
    return (max(1.0, float(round(low))) if whole else low), high, True


def _unit(prediction: Prediction, symbol: Expr) -> str:
    """The unit that its value is written with, or that of the property that it is the value of; else none."""
    node = _node(prediction, symbol)
    value: Any = None if node is None else node.value
    if isinstance(value, nodes.Number) and value.unit:
        return symbol_of_unit(parse_unit(value.unit).dimension)
    for component in prediction.machine.components.values():
        for item in component.properties.values():
            if symbol in (item.symbol, item.value) and item.name in PROPERTY_DIMENSIONS:
                return symbol_of_unit(PROPERTY_DIMENSIONS[item.name])
    return ""


def refuse_arrays(predictions: Sequence[Prediction], names: Sequence[str]) -> None:
    """A slider moves one number."""
    for prediction in predictions:
        for name in names:
            if _has(prediction, name) and prediction.scope.is_array(prediction.scope.symbol(name)):
                fail("not-a-number", f"`{name}` is an array, and a slider moves one number")


class PageExpressions:
    """Expressions in the symbols of the models, by their places in the array that the compiled function returns."""

    def __init__(self, prediction: Prediction, inputs: Sequence[SliderInput]) -> None:
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

    def write_formula(self, expr: Expr, length: int) -> str:
        """The formula in the inputs, cut to `length` characters."""
        return shorten_text(self.prediction.scope.formulas([expr], self.names)[0], length)
