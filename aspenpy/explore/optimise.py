"""Optimise: the optimum of a quantity under constraints, or the Pareto front of several."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from itertools import groupby, islice
from typing import Any, Unpack

import numpy

from aspenpy.allowance import one_allowance
from aspenpy.answers.case import Case, CaseOptions, case_of
from aspenpy.answers.prediction import Prediction
from aspenpy.answers.scope import DEFAULT_SEED
from aspenpy.engine.arrays import Floats
from aspenpy.explore.constraint import (
    Constraint,
    Parsed,
    read_constraints,
    read_objective,
    read_quantity,
    refuse_contradiction,
    split_constraints,
)
from aspenpy.explore.problem import Candidate, Problem, refuse_infeasible
from aspenpy.explore.space import Space, Varied, make_space
from aspenpy.expr import graph
from aspenpy.expr.draws import generator_seed
from aspenpy.expr.graph import Expr
from aspenpy.language.diagnostics import fail
from aspenpy.models.application.model import Application
from aspenpy.models.machine.model import Machine
from aspenpy.record import Record
from aspenpy.tables.result import Result

LOOSER = 0.01  # by which part of its bound a binding constraint is loosened, to tell where the optimum goes


class Goal(Record):
    """A quantity that is to be least, or greatest."""

    subject: Parsed
    greatest: bool = False

    def expr(self, prediction: Prediction) -> Expr:
        """The quantity to minimise, in the symbols of the models."""
        subject = read_quantity(self.subject.node, prediction)
        return graph.neg(subject) if self.greatest else subject

    def quantity(self, value: float) -> float:
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


class FrontPoint(Record):
    """A point of several: its values by name, and the quantities there in the order of the goals. `equal` has all the
    values of variables with which, in any combination, the goals and both sides of the constraints are the same."""

    point: dict[str, float | str]
    values: tuple[float, ...]
    equal: dict[str, tuple[float | str, ...]]


class Optimum(Record, Result):
    """The quantity at its best and where that is. `proven` tells that all combinations were `looked_at`; else it is the
    best of local searches, begun at the best of `looked_at` points; `undefined` of them had no value. `bindings` are in
    the order of the constraints; others have room. `best` are the best points that were asked for, that of `value`
    first."""

    goal: Goal
    value: float
    point: dict[str, float | str]
    row: tuple[float, ...]
    bindings: tuple[Binding, ...]
    proven: bool
    looked_at: int
    undefined: int
    space: Space
    best: tuple[FrontPoint, ...] = ()


# -- the answer ------------------------------------------------------------------------------------


def find_optimum(space: Space, goal: Goal, constraints: Sequence[Constraint] = (), count: int = 1) -> Optimum:
    """The best point of a space, with what binds it, and the `count` best ones. Raises AspenError where no point
    satisfies the constraints, which names those that cannot be met."""
    require_scipy()
    for prediction in space.cases:
        for item in constraints:
            refuse_contradiction(item, prediction)
    problem = Problem(space, goal.expr, constraints)
    best = problem.best()
    if best.violation > 0:
        refuse_infeasible(space, constraints)
    bindings = _find_bindings(problem, goal, best)
    point = space.values_at(numpy.array(best.row))
    value = goal.quantity(best.value)
    first_points, found = problem.first_points
    several = _best_points(problem, goal, count) if count > 1 else ()
    return Optimum(
        goal,
        value,
        point=point,
        row=best.row,
        bindings=bindings,
        proven=problem.enumerable,
        looked_at=len(first_points),
        undefined=found.undefined,
        space=space,
        best=several,
    )


Box = tuple[tuple[float, ...], ...]  # values of each variable, of which all combinations are meant


def _best_points(problem: Problem, goal: Goal, count: int) -> tuple[FrontPoint, ...]:
    """The feasible points with the best values, of equal ones the first; points that differ in nothing else than
    variables which change nothing are one. Raises AspenError where variables are real."""
    if not problem.enumerable:
        name = problem.space.variables[problem.real[0]].name
        hint = f"give `{name}` a list of values, such as {name}=1,2,4, or {name}=1..8:whole"
        fail("no-best-points", f"the best {count} points are known of whole numbers and choices alone", hint=hint)
    points, found = problem.first_points
    feasible = numpy.flatnonzero(found.violation == 0)
    order = feasible[numpy.argsort(found.value[feasible], kind="stable")]
    boxes = (
        (places[0], box) for places in _equal_places(problem.combined, order) for box in fold_points(points[places])
    )
    best = []
    for place, box in islice(boxes, count):
        cells = zip(problem.space.variables, box, strict=True)
        values = {item.name: tuple(map(item.label_value, cell)) for item, cell in cells}
        point = {name: cell[0] for name, cell in values.items()}
        equal = {name: cell for name, cell in values.items() if len(cell) > 1}
        best.append(FrontPoint(point, (goal.quantity(float(found.value[place])),), equal))
    return tuple(best)


def _equal_places(quantities: Floats, order: Any) -> Iterator[list[int]]:
    """Places in their order, those together at which all quantities are the same but for rounding."""

    def words(place: int) -> tuple[str, ...]:
        return tuple(f"{value:.11e}" for value in quantities[:, place])

    for _, group in groupby(order, lambda place: words(place)[0]):
        together: dict[tuple[str, ...], list[int]] = {}
        for place in group:
            together.setdefault(words(place), []).append(int(place))
        yield from together.values()


def fold_points(points: Floats) -> list[Box]:
    """Boxes that together hold each of the points once, in the order of their first points."""
    boxes: list[Box] = [tuple((value,) for value in row) for row in points.tolist()]
    for place in range(points.shape[1]):
        merged: dict[tuple[Box, Box], tuple[float, ...]] = {}
        for box in boxes:
            rest = box[:place], box[place + 1 :]
            merged[rest] = merged.get(rest, ()) + box[place]
        boxes = [(*before, cell, *behind) for (before, behind), cell in merged.items()]
    return boxes


def require_scipy() -> None:
    """Raises AspenError where SciPy is not installed."""
    if find_spec("scipy") is None:
        fail("missing-scipy", "an optimum needs SciPy: pip install 'aspenpy[optimise]'")


def _find_bindings(problem: Problem, goal: Goal, best: Candidate) -> tuple[Binding, ...]:
    row = numpy.array(best.row)
    multipliers = None if problem.enumerable else problem.smooth(row).kkt(row[problem.real])
    bindings = []
    for number, item in enumerate(problem.constraints):
        rest = [other for other in problem.constraints if other is not item]
        free = problem.relax(rest).best()
        if not free.value < best.value - 1e-9 * abs(best.value):
            continue
        multiplier = None
        if multipliers is not None and multipliers.multipliers is not None:
            multiplier = _change_by_bound(item, goal, multipliers.multipliers[number])
        bindings.append(_make_binding(problem, goal, best, item, multiplier, free))
    return tuple(bindings)


def _change_by_bound(item: Constraint, goal: Goal, weight: float) -> float:
    """Converts d(least)/d(excess allowed) = -weight into d(quantity)/d(bound)."""
    sign = 1.0 if item.node.operator == ">=" else -1.0
    return sign * (-weight if goal.greatest else weight)


def _make_binding(
    problem: Problem, goal: Goal, best: Candidate, item: Constraint, multiplier: float | None, free: Candidate
) -> Binding:
    space, row = problem.space, numpy.array(best.row)
    left, right = space.evaluator([lambda p: item.sides(p)[0], lambda p: item.sides(p)[1]])(row[None, :])[:, 0]
    looser = None
    if not item.equal:
        slack = LOOSER * max(abs(float(left)), abs(float(right)))
        others = [item.replace(slack=slack) if other is item else other for other in problem.constraints]
        looser = problem.relax(others).best()
    bound, value = _next_combination(problem, best, item, float(right)) if problem.enumerable else (None, None)
    return Binding(
        item,
        float(left),
        float(right),
        multiplier=multiplier,
        without=goal.quantity(free.value),
        looser=None if looser is None else goal.quantity(looser.value),
        point=None if looser is None else space.values_at(numpy.array(looser.row)),
        next_bound=bound,
        next_value=None if value is None else goal.quantity(value),
    )


def _next_combination(
    problem: Problem, best: Candidate, item: Constraint, right: float
) -> tuple[float | None, float | None]:
    """The least loosening of one constraint after which another combination is better, as a bound, and what it is."""
    if item.equal:
        return None, None
    rest = [other for other in problem.constraints if other is not item]
    mine = problem.first_points[1].excess[problem.constraints.index(item)]
    _, without = problem.relax(rest).first_points
    better = (without.violation == 0) & (without.value < best.value - 1e-12 * abs(best.value))
    if not better.any():
        return None, None
    places = numpy.flatnonzero(better)
    place = places[numpy.lexsort((without.value[places], mine[places]))[0]]
    sign = -1.0 if item.node.operator == ">=" else 1.0
    return right + sign * float(mine[place]), float(without.value[place])


POPULATION, GENERATIONS = 128, 100  # of NSGA-II
UNDEFINED_GENERATIONS = 8  # after so many without any point that has a value, eight times those of one goal, it ends
WORST = 1e300  # what NSGA-II is told of a point without a value


class Front(Record, Result):
    """Choices in the order of the first quantity. `proven` tells that all combinations were `looked_at`; else a genetic
    algorithm has come near the front, whose last generation had `looked_at` points."""

    goals: tuple[Goal, ...]
    choices: tuple[FrontPoint, ...]
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
    wanted = [goal.expr for goal in goals]
    if problem.enumerable:
        points, found = problem.first_points
        values = space.at_all_combinations(wanted, points)
    else:
        points = _evolve_population(space, goals, problem, seed)
        found, values = problem.evaluate_points(points), space.evaluator(wanted, missing=True)(points)
    violations = found.violation
    defined = numpy.isfinite(violations) & ~numpy.isnan(values).any(axis=0)
    if not defined.any():
        space.evaluator([*wanted, *problem.quantities])(points[:1])
    feasible = defined & (violations <= problem.tolerance)
    if not feasible.any():
        refuse_infeasible(space, constraints)
    kept, values = points[feasible], values[:, feasible]
    places = non_dominated(values)
    choices = tuple(
        FrontPoint(
            space.values_at(kept[place]),
            tuple(goal.quantity(float(x)) for goal, x in zip(goals, column, strict=True)),
            {},
        )
        for place, column in zip(places, values[:, places].T, strict=True)
    )
    return Front(tuple(goals), choices, problem.enumerable, len(points), space)


def non_dominated(values: Floats) -> list[int]:
    """The columns, in the order of the first row, that no other one equals or beats in every row; of equal ones the
    first."""
    order = numpy.lexsort(values[::-1])
    kept: list[int] = []
    while len(order):
        kept.append(int(order[0]))
        order = order[(values[:, order] < values[:, order[:1]]).any(axis=0)]
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
    defined = 0

    def points(places: Floats) -> Floats:
        return numpy.column_stack([item.values_at(places[:, number]) for number, item in enumerate(variables)])

    class Cube(Searched):  # type: ignore[misc]  # pymoo has no types
        def __init__(self) -> None:
            super().__init__(n_var=len(space.variables), n_obj=len(goals), n_ieq_constr=1, xl=0.0, xu=1.0)

        def _evaluate(self, x: Floats, out: dict[str, Floats]) -> None:
            nonlocal defined
            here = points(x)
            values = evaluate(here).T
            defined += int((~numpy.isnan(values).any(axis=1)).sum())
            out["F"] = numpy.nan_to_num(values, nan=WORST)
            out["G"] = numpy.minimum(problem.evaluate_points(here).violation, WORST)[:, None]

    def end_without_values(algorithm: Any) -> None:
        if not defined and algorithm.n_gen >= UNDEFINED_GENERATIONS:
            algorithm.termination.terminate()

    ends, seeded = ("n_gen", GENERATIONS), generator_seed(seed)
    search = NSGA2(pop_size=POPULATION)
    last = minimize(Cube(), search, ends, seed=seeded, verbose=False, callback=end_without_values)
    return points(numpy.atleast_2d(last.pop.get("X")))


Texts = str | Sequence[str]  # one text, in which commas separate, or several


def goals_of(minimise: Texts, maximise: Texts) -> list[Goal]:
    """The quantities to minimise, then those to maximise."""
    goals = [
        Goal(read_objective(part), greatest)
        for texts, greatest in ((minimise, False), (maximise, True))
        for text in ([texts] if isinstance(texts, str) else texts)
        for part in (split_constraints(text) if text.strip() else [])
    ]
    if not goals:
        fail("no-objective", "no quantity to minimise or maximise", hint="name a quantity, such as runtime")
    return goals


def search_goals(
    space: Space, goals: Sequence[Goal], subject_to: Texts, seed: int = DEFAULT_SEED, best: int = 1
) -> Optimum | Front:
    """The optimum of one goal, or its `best` points; the Pareto front of several."""
    constraints = read_constraints([subject_to] if isinstance(subject_to, str) else subject_to)
    if len(goals) > 1 and best > 1:
        fail("no-best-points", "the best points are those of one quantity; several have a Pareto front")
    return (
        find_optimum(space, goals[0], constraints, best)
        if len(goals) == 1
        else pareto(space, goals, constraints, seed=seed)
    )


@one_allowance
def optimise(
    app: Application | Case,
    machine: Machine | None = None,
    *,
    minimise: Texts = (),
    maximise: Texts = (),
    subject_to: Texts = (),
    vary: Varied,
    best: int = 1,
    **options: Unpack[CaseOptions],
) -> Optimum | Front:
    """Minimise or maximise a quantity under constraints: `optimise(app, machine, minimise="runtime",
    subject_to="cost <= 1000", vary=["clock", "cores=1..16"])`. Several quantities, in `minimise` and `maximise`, have a
    Pareto front.

    A quantity is an expression of metrics (`runtime`, resources, properties summed over the machine) and parameters.
    `vary` is that of `sensitivity`; the `best` best points are listed, where only whole numbers and choices vary; the
    options are those of `Case`.

    :returns: the optimum of one quantity (its value in the unit of the quantity, the parameters, what binds), or
        the Pareto front of several
    :raises AspenError: where no point satisfies the constraints, naming them; for quantities and parameters that are
        unknown
    """
    case = case_of(app, machine, options)
    return search_goals(make_space(case, vary), goals_of(minimise, maximise), subject_to, case.seed, best)
