"""Optimise: the values of variables at which a quantity is least, or greatest, while constraints hold."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec

import numpy

from aspenpy.answers.prediction import Prediction
from aspenpy.explore.constraint import Constraint, Parsed, quantity, refuse_contradiction
from aspenpy.explore.problem import Candidate, Problem, refuse_infeasible
from aspenpy.explore.space import Space
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.language.diagnostics import fail
from aspenpy.record import Record
from aspenpy.tables.result import Result

LOOSER = 0.01  # by which part of its bound a binding constraint is loosened, to tell where the optimum goes


class Goal(Record):
    """A quantity that is to be least, or greatest."""

    subject: Parsed
    greatest: bool = False

    def expr(self, prediction: Prediction) -> Expr:
        """What is to be least."""
        subject = quantity(self.subject.node, prediction)
        return graph.neg(subject) if self.greatest else subject

    def worth(self, value: float) -> float:
        """The quantity itself."""
        return -value if self.greatest else value


class Binding(Record):
    """A constraint that keeps the optimum from being better.

    `multiplier` is by how much the quantity changes with the constraint's bound, in their units, None where it goes in
    steps. `without` is the quantity at the optimum without the constraint, None where there is none. `looser` is it
    with a bound that is looser by 1 %, at `point`. `next_bound` is the first bound, looser than this one, from which on
    it is better, and `next_value` what it is there: known where all combinations have been looked at.
    """

    constraint: Constraint
    left: float
    right: float
    multiplier: float | None
    without: float | None
    looser: float | None
    point: dict[str, float | str] | None
    next_bound: float | None
    next_value: float | None


class Optimum(Record, Result):
    """The quantity at its best and where that is. `proven` tells that all combinations were looked at; else it is the
    best of several local searches; `undefined` of them had no value. `bindings` are in the order of the constraints;
    others have room."""

    goal: Goal
    value: float
    point: dict[str, float | str]
    row: tuple[float, ...]
    bindings: tuple[Binding, ...]
    proven: bool
    looked_at: int
    undefined: int
    space: Space


# -- the answer ------------------------------------------------------------------------------------


def optimise(space: Space, goal: Goal, constraints: Sequence[Constraint] = ()) -> Optimum:
    """The best point of a space, with what binds it. Raises AspenError where no point satisfies the constraints, which
    names those that cannot be met."""
    require_scipy()
    for prediction in space.cases:
        for item in constraints:
            refuse_contradiction(item, prediction)
    problem = Problem(space, goal.expr, constraints)
    best = problem.best()
    if best.violation > 0:
        refuse_infeasible(space, constraints)
    undefined = problem.undefined
    bindings = _bindings(problem, goal, best)
    point = space.named(numpy.array(best.row))
    value = goal.worth(best.value)
    looked_at = problem.combinations if problem.enumerable else problem.looked_at
    return Optimum(goal, value, point, best.row, bindings, problem.enumerable, looked_at, undefined, space)


def require_scipy() -> None:
    """Raises AspenError where SciPy is not installed."""
    if find_spec("scipy") is None:
        fail("missing-scipy", "an optimum needs SciPy: pip install 'aspenpy[optimise]'")


def _bindings(problem: Problem, goal: Goal, best: Candidate) -> tuple[Binding, ...]:
    row = numpy.array(best.row)
    multipliers = None if problem.enumerable else problem.smooth(row).kkt(row[problem.real])
    bindings = []
    for number, item in enumerate(problem.constraints):
        rest = [other for other in problem.constraints if other is not item]
        free = Problem(problem.space, problem.goal, rest).best()
        if not free.value < best.value - 1e-9 * abs(best.value):
            continue
        multiplier = None
        if multipliers is not None and multipliers.multipliers is not None:
            multiplier = _by_bound(item, goal, multipliers.multipliers[number])
        bindings.append(_binding(problem, goal, best, item, multiplier, free))
    return tuple(bindings)


def _by_bound(item: Constraint, goal: Goal, weight: float) -> float:
    """From d(least)/d(excess allowed) = -weight to d(quantity)/d(bound)."""
    sign = 1.0 if item.node.operator == ">=" else -1.0
    return sign * (-weight if goal.greatest else weight)


def _binding(
    problem: Problem, goal: Goal, best: Candidate, item: Constraint, multiplier: float | None, free: Candidate
) -> Binding:
    space, row = problem.space, numpy.array(best.row)
    left, right = space.evaluator([lambda p: item.sides(p)[0], lambda p: item.sides(p)[1]])(row[None, :])[:, 0]
    looser = None
    if not item.equal:
        slack = LOOSER * max(abs(float(left)), abs(float(right)))
        others = [item.replace(slack=slack) if other is item else other for other in problem.constraints]
        looser = Problem(space, problem.goal, others).best()
    bound, value = _next(problem, best, item, float(right)) if problem.enumerable else (None, None)
    return Binding(
        item,
        float(left),
        float(right),
        multiplier,
        goal.worth(free.value),
        None if looser is None else goal.worth(looser.value),
        None if looser is None else space.named(numpy.array(looser.row)),
        bound,
        None if value is None else goal.worth(value),
    )


def _next(problem: Problem, best: Candidate, item: Constraint, right: float) -> tuple[float | None, float | None]:
    """The least loosening of one constraint after which another combination is better, as a bound, and what it is."""
    if item.equal:
        return None, None
    rest = [other for other in problem.constraints if other is not item]
    values, violations, _ = Problem(problem.space, problem.goal, rest).look(problem.all_points)
    _, _, excess = problem.look(problem.all_points)
    mine = excess[problem.constraints.index(item)]
    better = (violations == 0) & (values < best.value - 1e-12 * abs(best.value))
    if not better.any():
        return None, None
    places = numpy.flatnonzero(better)
    place = places[numpy.lexsort((values[places], mine[places]))[0]]
    sign = -1.0 if item.node.operator == ">=" else 1.0
    return right + sign * float(mine[place]), float(values[place])
