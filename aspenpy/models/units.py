"""The units of what a model declares, as far as it says, and of what is set from outside."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, Literal

from aspenpy.language import nodes
from aspenpy.language.diagnostics import AspenError, Diagnostic, Related
from aspenpy.language.dimensions import (
    DIMENSIONLESS,
    Dimension,
    carries_units,
    describe_dimension,
    parse_unit,
    unit_symbol,
)
from aspenpy.language.infer import dimension_of
from aspenpy.language.source import Span
from aspenpy.language.statements import walk_statements
from aspenpy.models.application.dimensions import Contradictions, Inference, parameters_of
from aspenpy.models.application.dimensions import contradictions as application_contradictions
from aspenpy.models.application.model import Application
from aspenpy.models.machine.dimensions import contradictions as machine_contradictions
from aspenpy.models.machine.model import Machine
from aspenpy.record import Record


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
        """The dimension of an expression; None for an array, and where the model does not say."""
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


Declared = nodes.Parameter | nodes.Property


class Written(Record):
    """A user's text for a parameter, and the parameter as the model declares it."""

    name: str
    value: nodes.Expression
    declared: Declared


def require_units(model: Application | Machine, written: list[Written]) -> None:
    """Raises AspenError where a setting has another unit than the model's own value, or contradicts how the model
    uses the parameter."""
    if not any(item.value.span is not None and carries_units(item.value.span.text()) for item in written):
        return
    own = parameters_of(model.node.declarations)
    for item in written:
        before, after = _dimension_in_model(item.declared.value, own), _dimension_in_model(item.value, own)
        if before is not None and after is not None and before != after:
            message = (
                f"`{item.name}` is in {describe_dimension(before)}, and here it is set to {describe_dimension(after)}"
            )
            related = (Related(item.declared.span, "as the model has it"),)
            raise AspenError(Diagnostic("dimensions", message, item.value.span, related))
    changed = {id(item.declared): item.declared.replace(value=item.value) for item in written}
    errors = _find_contradictions(_exchange_values(model.node, changed))
    if errors:
        names = " and ".join(f"`{item.name}`" for item in written)
        raise AspenError(errors[0].with_circumstance(f"with {names} as set"))  # one setting contradicts every use of it
    for item in written:
        _require_plain(model.node, item)


def _dimension_in_model(node: nodes.Expression | None, own: Mapping[str, nodes.Expression | None]) -> Any:
    """The dimension of a value in the model; None where it is not known or contradicts itself."""
    try:
        return None if node is None else dimension_of(node, Inference(own, {}, Contradictions()))
    except AspenError:
        return None


def _find_contradictions(node: nodes.Application | nodes.Machine) -> list[Diagnostic]:
    if isinstance(node, nodes.Application):
        return application_contradictions(node)
    return machine_contradictions(node)


def _exchange_values(node: Any, changed: Mapping[int, Declared]) -> Any:
    """The model with other values for some parameters and properties."""
    exchanged = node.replace(declarations=tuple(changed.get(id(item), item) for item in node.declarations))
    if isinstance(node, nodes.Application):
        return exchanged
    return exchanged.replace(
        components=tuple(
            component.replace(items=tuple(changed.get(id(item), item) for item in component.items))
            for component in node.components
        )
    )


# -- what a number without a unit becomes ------------------------------------------------------------

Carried = Dimension | Literal["bare"] | None
"""What an expression is in, "bare" where it has numbers without a unit alone; None where that is not certain."""


class Carrier:
    """Follows the dimension that a user gave a parameter through the expressions of a model.

    `infer` knows nothing of a product with a number without a unit, which may be in anything. Here such a factor
    changes no dimension, since nobody multiplies by a number per byte; a divisor may be any. `misused` are the places
    that want another dimension than they get, and what they get.
    """

    def __init__(self, definitions: Mapping[str, nodes.Expression | None], known: Mapping[str, Carried]) -> None:
        self.definitions = definitions
        self.known: dict[str, Carried] = dict(known)
        self.misused: list[tuple[Span | None, Dimension]] = []

    def __call__(self, node: nodes.Expression) -> Carried:
        match node:
            case nodes.Number():
                return "bare" if node.unit is None else parse_unit(node.unit).dimension
            case nodes.Name():
                return self._find(node.name)
            case nodes.Negation():
                return self(node.operand)
            case nodes.Chain():
                operands = [("*", self(node.first)), *((operator, self(operand)) for operator, operand in node.rest)]
                return (
                    _dimension_of_product(operands)
                    if node.rest[0][0] in "*/"
                    else _common_dimension([each for _, each in operands])
                )
            case nodes.Power():
                return self._power(node)
            case nodes.Apply(function="floor" | "ceil" | "round" | "abs" | "max" | "min"):
                return _common_dimension([self(argument) for argument in node.arguments])
        return None

    def _find(self, name: str) -> Carried:
        if name not in self.known:
            self.known[name] = None  # while it is followed: a circle has no dimension
            definition = self.definitions.get(name)
            self.known[name] = None if definition is None else self(definition)
        return self.known[name]

    def _power(self, node: nodes.Power) -> Carried:
        self.require_plain(node.exponent)
        base, exponent = self(node.base), self._constant(node.exponent)
        if base is None or base == "bare" or base == DIMENSIONLESS:
            return base
        if exponent is None:
            self.misused.append((node.base.span, base))
            return None
        return base**exponent

    def _constant(self, node: nodes.Expression | None) -> int | Fraction | None:
        """The value of a number, its negative, or a parameter that is one; None for another expression."""
        match node:
            case nodes.Number():
                return node.value
            case nodes.Negation():
                value = self._constant(node.operand)
                return None if value is None else -value
            case nodes.Name():
                definition = self.definitions.get(node.name)
                return None if isinstance(definition, nodes.Name) else self._constant(definition)
        return None

    def require_plain(self, node: nodes.Expression) -> None:
        """Notes the place where a number of something certainly has a dimension."""
        carrier = self(node)
        if isinstance(carrier, Dimension) and carrier != DIMENSIONLESS:
            self.misused.append((node.span, carrier))


def _common_dimension(parts: Sequence[Carried]) -> Carried:
    """Dimension of a sum: that of all terms, or none for bare numbers."""
    return next((one for one in parts if isinstance(one, Dimension)), None if None in parts else "bare")


def _dimension_of_product(operands: Sequence[tuple[str, Carried]]) -> Carried:
    result: Carried = "bare"
    for operator, operand in operands:
        if result is None or operand is None:
            return None
        if isinstance(result, Dimension) and isinstance(operand, Dimension):
            result = result * operand if operator == "*" else result / operand
        elif operator == "*":
            result = operand if result == "bare" else result
        elif {result, operand} != {"bare"}:
            return None
    return result


def _require_plain(model: nodes.Application | nodes.Machine, item: Written) -> None:
    """Raises AspenError where a unit is given to a parameter without one, and some number of instances, passes or parts
    would be in it."""
    own = parameters_of(model.declarations)
    declared = item.declared
    stated = (declared.value, *((declared.low, declared.high) if isinstance(declared, nodes.Parameter) else ()))
    given = Carrier(own, {})(item.value)
    if not isinstance(given, Dimension) or given == DIMENSIONLESS:
        return
    if any(Carrier(own, {})(value) != "bare" for value in stated if value is not None):
        return
    for definitions, hidden, counted in _walk_counts(model):
        names = {node.name for node in counted if isinstance(node, nodes.Name)}
        plain = {name for name in names if isinstance(definitions.get(name), nodes.Number)}
        known = {**dict.fromkeys(plain, DIMENSIONLESS), **dict.fromkeys(hidden), declared.name: given}
        carrier = Carrier(definitions, known)
        for node in counted:
            carrier.require_plain(node)
        if carrier.misused:
            place, dimension = carrier.misused[0]
            value = declared.value
            noun = "count" if isinstance(value, nodes.Number) and value.value == int(value.value) else "plain number"
            text = item.value.span.text() if item.value.span is not None else "this"
            message = f"`{item.name}` is a {noun}; {text} is an amount of {describe_dimension(given)}"
            related = (
                Related(declared.span, "the model has it without a unit"),
                Related(place, f"this would be in {describe_dimension(dimension)}"),
            )
            raise AspenError(Diagnostic("dimensions", message, item.value.span, related))


Counted = tuple[Mapping[str, nodes.Expression | None], set[str], list[nodes.Expression]]


def _walk_counts(model: nodes.Application | nodes.Machine) -> Iterator[Counted]:
    """Per kernel or component: definitions, names that these leave open, and the numbers of instances,
    passes, parts."""
    own = parameters_of(model.declarations)
    if isinstance(model, nodes.Machine):
        for component in model.components:
            properties = {each.name: each.value for each in component.items if isinstance(each, nodes.Property)}
            parts = [each.quantity for each in component.items if isinstance(each, nodes.Part)]
            yield {**own, **properties}, set(), [each for each in parts if each is not None]
        return
    for kernel in model.kernels:
        hidden = {formal.name for formal in kernel.formals}
        counted: list[nodes.Expression | None] = []
        for statement in walk_statements(kernel.body):
            match statement:
                case nodes.Execute():
                    counted += [statement.parallelism, statement.width]
                    hidden |= {statement.counter} if statement.counter else set()
                case nodes.Loop():
                    counted.append(statement.count)
                    hidden |= {statement.counter} if statement.counter else set()
                case nodes.Sample():
                    hidden.add(statement.name)
        yield {**own, **parameters_of(kernel.declarations)}, hidden, [each for each in counted if each is not None]
