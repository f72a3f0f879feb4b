"""Numbers of a machine that are only assumed, and how much a runtime depends on them."""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite
from typing import Any

from aspenpy.answers.evaluation import Evaluation
from aspenpy.expr.derivative import differentiate
from aspenpy.expr.evaluate import EvaluationError, evaluate
from aspenpy.expr.graph import Expr
from aspenpy.language import nodes
from aspenpy.models.machine.model import OWNER, Machine
from aspenpy.models.machine.texts import provenance
from aspenpy.record import Record

DECIDES = 0.25
"""Least sensitivity at which an assumed number decides a runtime: 10 % of the number are 2.5 % of the runtime."""


class DecidingAssumption(Record):
    """An assumed number of the component that bounds a run, by its full name, with the reason that its comment gives.
    `sensitivity` is the relative change of the runtime by that of the number, at first order: d ln T / d ln number."""

    name: str
    reason: str
    sensitivity: float


def deciding_assumptions(evaluation: Evaluation) -> tuple[DecidingAssumption, ...]:
    """The assumed numbers of what bounds a run that decide its runtime, the one it depends on most first. A number that
    the user sets is none. Other components are not looked at: at first order they change nothing while it bounds."""
    bottleneck = evaluation.bottleneck
    if bottleneck is None:
        return ()
    paths = {evaluation.component_of(resource) or "" for resource in bottleneck.group}
    names = tuple(path.rpartition("/")[2] + "." for path in paths)
    set_by_user = evaluation.scope.overridden
    bounding = [symbol for symbol in evaluation.used if symbol.owner == OWNER and symbol.name.startswith(names)]
    behind = {
        symbol: [each for each in evaluation.scope.needed([symbol], set_by_user) if _may_be_assumed(evaluation, each)]
        for symbol in bounding
        if symbol not in set_by_user
    }
    asked = {each.name for chain in behind.values() for each in chain}
    stated = {name: _stated_name(evaluation.machine, name) for name in asked}
    origins = provenance(evaluation.machine, {*stated.values()})
    told = {item.name: item.comment for item in origins if item.known == "assumed"}
    comments = {name: told[origin] for name, origin in stated.items() if origin in told}
    sensitivities: dict[str, float] = {}
    for symbol, chain in behind.items():
        assumed = [each for each in reversed(chain) if each.name in comments]
        direct = _sensitivity(evaluation, evaluation.tree.runtime, symbol, evaluation.runtime) if assumed else 0.0
        for each in assumed if direct else ():
            name = each.name
            inner = 1.0 if each is symbol else _sensitivity_behind(evaluation, symbol, each)
            sensitivities[name] = sensitivities.get(name, 0.0) + direct * inner
    order = sorted(sensitivities, key=lambda name: -round(abs(sensitivities[name]), 9))  # else the nearer first
    return tuple(
        DecidingAssumption(name, _reason(comments[name]), sensitivities[name])
        for name in order
        if abs(sensitivities[name]) >= DECIDES
    )


def _may_be_assumed(evaluation: Evaluation, symbol: Expr) -> bool:
    """Whether a symbol is a number of its own: no part that a law reduces at other clocks, as `min(1, ...)`, which is
    the whole as things are, and no formula of a family, which its numbers stand behind."""
    if evaluation.scope.definitions[symbol].kind == "number":
        return True
    is_own = _stated_name(evaluation.machine, symbol.name) == symbol.name
    return is_own and evaluation.scope.values_if_known([symbol], evaluation.seed) != [1]


def _stated_name(machine: Machine, name: str) -> str:
    """The name of a property where it is stated: in the component itself, or in the nearest one that it is `like`."""
    component, dot, own = name.partition(".")
    known = {node.name: node for node in machine.node.components}
    node = known.get(component)
    while node is not None and not any(isinstance(item, nodes.Property) and item.name == own for item in node.items):
        node = known.get(node.base or "")
    return name if node is None else f"{node.name}{dot}{own}"


def _sensitivity(evaluation: Evaluation, expr: Expr, symbol: Expr, value: float) -> float:
    """The logarithmic derivative of an expression of that value; 0 where it has none, as a table or a word."""
    try:
        formula = differentiate(expr, symbol, evaluation.scope.known)
        slope, at = evaluation.scope.values_if_known([formula, symbol], evaluation.seed) or (0, 0)
    except ValueError:
        return 0.0
    return _as_finite(slope, at, value)


def _sensitivity_behind(evaluation: Evaluation, symbol: Expr, inner: Expr) -> float:
    """The sensitivity of a property to a number that its definition depends on, directly or through others."""
    (formula,) = evaluation.scope.formulas([symbol], [evaluation.scope.display_name(inner)])
    at, value = evaluation.scope.values_if_known([inner, symbol], evaluation.seed) or (0, 0)
    try:
        slope = evaluate(differentiate(formula, inner), {inner: at}, evaluation.seed)
    except (EvaluationError, ValueError):
        return 0.0
    return _as_finite(slope, at, value)


def _as_finite(slope: Any, at: Any, value: Any) -> float:
    if any(isinstance(item, tuple) for item in (slope, at, value)) or not value:
        return 0.0
    sensitivity = float(slope) * float(at) / float(value)
    return sensitivity if isfinite(sensitivity) else 0.0


def _reason(comment: str) -> str:
    """The part of a comment that says by what rule a number is assumed; the whole where no part does."""
    parts: Iterator[str] = (part.strip() for part in comment.split("; "))
    stated = next((part for part in parts if part.lower().startswith("assumed:")), comment)
    return stated.partition(":")[2].strip() if stated.lower().startswith("assumed:") else stated
