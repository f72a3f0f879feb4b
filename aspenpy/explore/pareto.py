"""Pareto: the points of a space at which no quantity can be better without another being worse."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec

import numpy

from aspenpy.answers.scope import DEFAULT_SEED
from aspenpy.engine.arrays import Floats
from aspenpy.explore.constraint import Constraint, refuse_contradiction
from aspenpy.explore.optimise import Goal
from aspenpy.explore.problem import Problem, refuse_infeasible
from aspenpy.explore.space import Space
from aspenpy.expr.draws import generator_seed
from aspenpy.language.diagnostics import fail
from aspenpy.record import Record
from aspenpy.tables.result import Result

POPULATION, GENERATIONS = 128, 100  # of NSGA-II
WORST = 1e300  # what NSGA-II is told of a point without a value


class Choice(Record):
    """A point of the front: its values by name, and the quantities there in the order of the goals."""

    point: dict[str, float | str]
    values: tuple[float, ...]


class Front(Record, Result):
    """Choices in the order of the first quantity. `proven` tells that all combinations were looked at; else a genetic
    algorithm has come near the front."""

    goals: tuple[Goal, ...]
    choices: tuple[Choice, ...]
    proven: bool
    looked_at: int
    space: Space


def pareto(
    space: Space, goals: Sequence[Goal], constraints: Sequence[Constraint] = (), *, seed: int = DEFAULT_SEED
) -> Front:
    """The front of two quantities or more: of whole numbers and choices exactly; where real variables are among them
    by NSGA-II (Deb et al. 2002) of pymoo, the same for the same seed. Raises AspenError."""
    if len(goals) < 2:
        fail("one-objective", "a Pareto front needs two quantities to minimise or maximise, not one")
    for prediction in space.cases:
        for item in constraints:
            refuse_contradiction(item, prediction)
    problem = Problem(space, goals[0].expr, constraints)
    evaluate = space.evaluator([goal.expr for goal in goals], missing=True)
    points = problem.all_points if problem.enumerable else _evolve_population(space, goals, problem, seed)
    _, violations, _ = problem.look(points)
    values = evaluate(points)
    defined = numpy.isfinite(violations) & ~numpy.isnan(values).any(axis=0)
    if not defined.any():
        space.evaluator([*(goal.expr for goal in goals), *(item.excess for item in constraints)])(points[:1])
    feasible = defined & (violations <= problem.tolerance)
    if not feasible.any():
        refuse_infeasible(space, constraints)
    kept, values = points[feasible], values[:, feasible]
    places = non_dominated(values)
    choices = tuple(
        Choice(space.named(kept[place]), tuple(goal.worth(float(x)) for goal, x in zip(goals, column, strict=True)))
        for place, column in zip(places, values[:, places].T, strict=True)
    )
    looked_at = len(points) if problem.enumerable else problem.looked_at
    return Front(tuple(goals), choices, problem.enumerable, looked_at, space)


def non_dominated(values: Floats) -> list[int]:
    """The columns, in the order of the first row, that no other one equals or beats in every row; of equal ones the
    first."""
    order = numpy.lexsort(values[::-1])
    kept: list[int] = []
    front = numpy.empty((len(values), 0))
    for place in order.tolist():
        column = values[:, place : place + 1]
        if not (front <= column).all(axis=0).any():
            kept.append(place)
            front = numpy.hstack([front, column])
    return kept


def _evolve_population(space: Space, goals: Sequence[Goal], problem: Problem, seed: int) -> Floats:
    """The last population of NSGA-II over the unit cube, each generation evaluated at once."""
    if find_spec("pymoo") is None:
        message = "several objectives with real variables need pymoo: pip install 'aspenpy[optimise]'"
        hint = "give lists of values, such as clock=1 GHz,2 GHz, and nothing more is needed"
        fail("missing-pymoo", message, hint=hint)
    from pymoo.algorithms.moo.nsga2 import NSGA2
    from pymoo.core.problem import Problem as Searched
    from pymoo.optimize import minimize

    evaluate = space.evaluator([goal.expr for goal in goals], missing=True)
    variables = [item.sampled for item in space.variables]

    def points(places: Floats) -> Floats:
        return numpy.column_stack([item.at(places[:, number]) for number, item in enumerate(variables)])

    class Cube(Searched):  # type: ignore[misc]  # pymoo has no types
        def __init__(self) -> None:
            super().__init__(n_var=len(space.variables), n_obj=len(goals), n_ieq_constr=1, xl=0.0, xu=1.0)

        def _evaluate(self, x: Floats, out: dict[str, Floats]) -> None:
            here = points(x)
            out["F"] = numpy.nan_to_num(evaluate(here).T, nan=WORST)
            out["G"] = numpy.minimum(problem.look(here)[1], WORST)[:, None]

    ends, seeded = ("n_gen", GENERATIONS), generator_seed(seed)
    last = minimize(Cube(), NSGA2(pop_size=POPULATION), ends, seed=seeded, verbose=False)
    return points(numpy.atleast_2d(last.pop.get("X")))
