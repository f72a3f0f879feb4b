"""Declarations: the range, the enum and the dimension that a model gives a parameter, and its value in a prediction."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aspenpy.answers.prediction import Prediction
from aspenpy.expr.counts import CountRule
from aspenpy.expr.graph import Expr
from aspenpy.language import nodes
from aspenpy.language.diagnostics import fail
from aspenpy.language.dimensions import BYTES, DIMENSIONLESS, Dimension
from aspenpy.models.application.model import Application
from aspenpy.models.machine.model import OWNER, Machine
from aspenpy.models.model import Parameter, accepted_counts
from aspenpy.models.units import Units
from aspenpy.record import Record


class Declaration(Record):
    """A model's declaration of a parameter: its range as expressions, or the enum that it is a member of. `known` are
    all parameters of the model."""

    node: nodes.Parameter
    low: Expr | None
    high: Expr | None
    members: tuple[str, ...]
    known: Mapping[str, Parameter]


def find_declaration(name: str, prediction: Prediction) -> Declaration | None:
    """The declaration of the parameter of that name; None for an argument or a name that nobody defines."""
    plain, owner = prediction.scope.symbol(name).payload[:2]
    model: Application | Machine = prediction.machine if owner == OWNER else prediction.application
    parameters = model.parameters
    known = parameters if isinstance(parameters, dict) else {item.name: item for item in parameters}
    if plain not in known:
        return None
    parameter = known[plain]
    enum = model.enums.get(parameter.node.member_of or "")
    return Declaration(parameter.node, parameter.low, parameter.high, enum.members if enum else (), known)


def parameter_dimension(name: str, prediction: Prediction) -> Dimension | None:
    """Dimension of a parameter, as far as its model tells."""
    declaring = find_declaration(name, prediction)
    if declaring is None:
        return None
    return Units({known: item.node.value for known, item in declaring.known.items()}).dimension(declaring.node.value)


def rank_counts(prediction: Prediction, parameter: str) -> CountRule | None:
    """The numbers of ranks that the program accepts; None where its model declares none."""
    scope = prediction.scope
    parameters = prediction.application.parameters.values()
    return accepted_counts(parameters, parameter, lambda exprs: scope.values(exprs, prediction.seed))


def base_value(name: str, prediction: Prediction) -> float:
    """The value of a parameter where nothing is varied."""
    value = prediction.scope.values([prediction.scope.symbol(name)], prediction.seed)[0]
    return plain_number(value, name)


def is_countable(name: str, prediction: Prediction) -> bool:
    """Whether the value of a parameter is a whole number, without a unit or of bytes."""
    return is_count(base_value(name, prediction), parameter_dimension(name, prediction))


def is_count(value: float, dimension: Dimension | None) -> bool:
    """Whether a value is a whole number, without a unit or of bytes, that double precision holds."""
    return dimension in (None, DIMENSIONLESS, BYTES) and float(value).is_integer() and abs(value) < 2**53


def plain_number(value: Any, name: str) -> float:
    """A value of a parameter; raises AspenError for what is no number, or too large a one."""
    if isinstance(value, tuple):
        fail("not-a-number", f"`{name}` is an array, and what is varied is a number")
    try:
        return float(value)
    except OverflowError:
        fail("bad-range", f"a value of `{name}` does not fit into double precision")
